/*
 * What the tests of what is begun with and of what is believed share: a memory with winners of
 * other tasks, written by hand, and a run on the task of engine_place.h.
 */
#ifndef KOPE_TESTS_ENGINE_WINNERS_H
#define KOPE_TESTS_ENGINE_WINNERS_H

#include "engine_place.h"

#include "engine/internal.h"

#include <stdlib.h>

struct place {
    struct arena arena;
    struct err err;
    char *dir;
    struct run run;
};

#define assert_ok(p, call)                                                                         \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", (p)->err.message);                                                      \
    } while (0)

static inline struct place *open_place(const char *prefix)
{
    struct place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    assert_ok(p, os_make_temp_dir(prefix, &p->arena, &p->dir, &p->err));
    p->run.arena = &p->arena;
    p->run.opts = (struct optimize_opts){.task_path = write_task(&p->arena, p->dir),
                                         .memory_dir = os_path_join(&p->arena, p->dir, "memory"),
                                         .target = "fake"};
    assert_ok(p, run_open_for_context(&p->run, &p->err));
    return p;
}

static inline int remove_place(void **state)
{
    struct place *p = *state;
    run_close(&p->run);
    const bool ok = os_remove_tree(p->dir, &p->err);
    arena_free(&p->arena);
    free(p);
    return ok ? 0 : -1;
}

static inline const char *append(struct place *p, const char *kind, struct buf *body)
{
    struct hash_id id;
    assert_ok(p, memory_append(&p->run.memory, kind, body, &id, &p->err));
    buf_free(body);
    return arena_strdup(&p->arena, id.text);
}

static inline const char *run_on(struct place *p, const char *task, const char *target)
{
    struct buf body = {0};
    event_write_run(&(struct run_event){.task_id = task,
                                        .target_id = target,
                                        .policy = "mcts",
                                        .proposer = "offline",
                                        .budget = 4},
                    &body);
    return append(p, EVENT_RUN, &body);
}

/* A task of which nothing but its name and family is known, with a run. */
static inline const char *other_task(struct place *p, const char *name, const char *family)
{
    struct buf body = {0};
    event_write_task(
        &(struct task_event){
            .task_id = name, .name = name, .family = family, .dtype = "float32", .features = ""},
        &body);
    (void)append(p, EVENT_TASK, &body);
    return run_on(p, name, p->run.features->id.text);
}

struct winner {
    const char *derived_from; /* NULL: "" */
    const char *run, *task, *parent, *intent, *moves[4], *recipe;
    const char *target; /* NULL: this one */
    double log_ratio;
};

static inline const char *won(struct place *p, const struct winner *w)
{
    struct buf body = {0};
    struct decision_event decision = {.run_id = w->run,
                                      .parent = w->parent,
                                      .sequence = 1,
                                      .step = "large",
                                      .proposer = "offline",
                                      .intent = w->intent ? w->intent : "a test",
                                      .derived_from = w->derived_from ? w->derived_from : "",
                                      .recipe = w->recipe};
    while (decision.move_count < 4 && w->moves[decision.move_count]) {
        decision.moves[decision.move_count] = w->moves[decision.move_count];
        decision.move_count++;
    }
    event_write_decision(&decision, &body);
    const char *id = append(p, EVENT_DECISION, &body);
    struct outcome_event outcome = {.run_id = w->run,
                                    .decision_id = id,
                                    .target_id = w->target ? w->target : p->run.features->id.text,
                                    .task_id = w->task};
    outcome.verdict = (struct verdict){.kind = VERDICT_TIMED,
                                       .log_ratio = w->log_ratio,
                                       .log_low = w->log_ratio - 0.01,
                                       .log_high = w->log_ratio + 0.01,
                                       .is_win = true};
    event_write_outcome(&outcome, &body);
    (void)append(p, EVENT_OUTCOME, &body);
    return id;
}

/* By one move; NULL: nobody says how. */
static inline const char *judged(struct place *p, const char *run, const char *task,
                                 const char *parent, const char *move, double log_ratio)
{
    return won(p, &(struct winner){.run = run,
                                   .task = task,
                                   .parent = parent,
                                   .moves = {move},
                                   .recipe = move ? move : "",
                                   .log_ratio = log_ratio});
}

/* The first step of a run that begins with what another one ended with. */
static inline const char *began_with(struct place *p, const char *run, const char *task,
                                     const char *decision, double log_ratio)
{
    return won(p, &(struct winner){.run = run,
                                   .task = task,
                                   .parent = "",
                                   .derived_from = decision,
                                   .recipe = "as it was",
                                   .log_ratio = log_ratio});
}

#endif
