/* What the tests of graph/ share: a memory written by hand, event by event, with short names. */
#ifndef KOPE_TESTS_GRAPH_FIXTURE_H
#define KOPE_TESTS_GRAPH_FIXTURE_H

#include "journal_fixture.h"

#include "base/rng.h"
#include "graph/graph.h"

enum { WORLD_MAX = 256 };

/* Events in the order in which they were made, and a graph that they are applied to. */
struct world {
    struct fixture *f;
    struct event events[WORLD_MAX];
    size_t count;
    int64_t now;
};

/* The id of an event is the hash of its kind, time and body, as in a journal. */
static inline const char *world_add(struct world *w, const char *kind, struct buf *body)
{
    struct arena *arena = &w->f->arena;
    struct event *event = &w->events[w->count++];
    const char *parts[] = {kind, arena_printf(arena, "%ld", (long)++w->now), buf_text(body)};
    *event = (struct event){
        .id = hash_strings(parts, 3), .kind = kind, .wall_ms = w->now, .writer = "test"};
    event->text = arena_strdup(arena, buf_text(body));
    assert_ok(w->f, json_parse(event->text, body->length, kind, arena, &event->body, &w->f->err));
    buf_free(body);
    return event->id.text;
}

static inline void world_task(struct world *w, const char *id, const char *name, const char *family,
                              const char *features)
{
    struct buf body = {0};
    event_write_task(&(struct task_event){.task_id = id,
                                          .name = name,
                                          .family = family,
                                          .dtype = "float32",
                                          .features = features},
                     &body);
    (void)world_add(w, EVENT_TASK, &body);
}

static inline const char *world_run(struct world *w, const char *task, const char *target)
{
    struct buf body = {0};
    event_write_run(&(struct run_event){.task_id = task,
                                        .target_id = target,
                                        .policy = "mcts",
                                        .proposer = "offline",
                                        .seed = UINT64_MAX - 1,
                                        .budget = 40},
                    &body);
    return world_add(w, EVENT_RUN, &body);
}

static inline void world_exchange(struct world *w, const char *run, const char *role,
                                  int64_t tokens_in)
{
    struct buf body = {0};
    event_write_exchange(
        &(struct exchange_event){
            .run_id = run, .role = role, .model = "m", .tokens_in = tokens_in, .cost_usd = 0.25},
        &body);
    (void)world_add(w, EVENT_EXCHANGE, &body);
}

static inline void world_run_end(struct world *w, const char *run, const char *reason,
                                 const char *best)
{
    struct buf body = {0};
    event_write_run_end(&(struct run_end_event){.run_id = run,
                                                .reason = reason,
                                                .best_decision = best,
                                                .best_log_ratio = 0.5,
                                                .evaluations = 7,
                                                .wall_ns = 9},
                        &body);
    (void)world_add(w, EVENT_RUN_END, &body);
}

struct
try {
    const char *run, *parent, *intent;
    int64_t sequence;
    const char *moves[3];
    const char *recipe;
};

static inline const char *world_decision(struct world *w, const struct try *try)
{
    struct buf body = {0};
    struct decision_event e = {.run_id = try->run,
                               .parent = try->parent,
                               .sequence = try->sequence,
                               .step = "small",
                               .proposer = "offline",
                               .intent = try->intent,
                               .recipe = try->recipe,
                               .candidate_id = try->recipe};
    while (e.move_count < 3 && try->moves[e.move_count]) {
        e.moves[e.move_count] = try->moves[e.move_count];
        e.move_count++;
    }
    event_write_decision(&e, &body);
    return world_add(w, EVENT_DECISION, &body);
}

struct found {
    const char *decision, *task, *target;
    enum verdict_kind kind;
    double log_ratio;
    bool is_win, is_confirmation;
    const char *evidence, *code;
};

static inline void world_outcome(struct world *w, const struct found *found)
{
    struct buf body = {0};
    struct case_result cases[] = {
        {.name = "n=1",
         .weight = 1.0,
         .log_ratio = found->log_ratio,
         .log_low = found->log_ratio - 0.01,
         .log_high = found->log_ratio + 0.01,
         .pairs = 40,
         .baseline_ns = 1000,
         .candidate_ns = 500,
         .cold = {found->is_confirmation ? 6 : 0, found->log_ratio / 2, -0.5, 0.5, 3000, 2000}},
        {.name = "n=2", .weight = 2.0, .error = 3.5}};
    struct outcome_event e = {.run_id = "",
                              .decision_id = found->decision,
                              .task_id = found->task,
                              .target_id = found->target,
                              .is_confirmation = found->is_confirmation};
    e.run_id = "run";
    e.verdict = (struct verdict){.kind = found->kind,
                                 .evidence = found->evidence,
                                 .log_ratio = found->log_ratio,
                                 .log_low = found->log_ratio - 0.01,
                                 .log_high = found->log_ratio + 0.01,
                                 .is_win = found->is_win,
                                 .gate_id = hash_content("gate", 4)};
    if (found->code)
        e.verdict.code_id = hash_content(found->code, strlen(found->code));
    if (found->kind == VERDICT_TIMED) {
        e.verdict.cases = cases;
        e.verdict.case_count = 2;
    }
    event_write_outcome(&e, &body);
    (void)world_add(w, EVENT_OUTCOME, &body);
}

static inline void world_finding(struct world *w, const char *run, const char *decision)
{
    struct buf body = {0};
    event_write_finding(&(struct finding_event){.run_id = run,
                                                .decision_id = decision,
                                                .bottleneck = "memory",
                                                .text = "waits for loads",
                                                .number = 0.5,
                                                .line = 3},
                        &body);
    (void)world_add(w, EVENT_FINDING, &body);
}

/* A graph in memory with the events of the world. */
static inline struct graph *world_graph(struct world *w)
{
    struct graph *graph = NULL;
    assert_ok(w->f, graph_open(":memory:", &graph, &w->f->err));
    for (size_t i = 0; i < w->count; i++)
        assert_ok(w->f, graph_apply(graph, &w->events[i], &w->f->err));
    return graph;
}

static inline struct hash_id digest(struct fixture *f, struct graph *graph)
{
    struct hash_id id;
    assert_ok(f, graph_digest(graph, &id, &f->err));
    return id;
}

static inline struct hash_id world_digest(struct world *w)
{
    struct graph *graph = world_graph(w);
    const struct hash_id id = digest(w->f, graph);
    graph_close(&graph);
    return id;
}

/* Its events in many other orders make the same graph. They stay in the last one. */
static inline void assert_any_order(struct world *w, uint64_t seed, int rounds)
{
    const struct hash_id want = world_digest(w);
    struct rng rng = rng_seeded(seed);
    for (int round = 0; round < rounds; round++) {
        for (size_t i = w->count - 1; i > 0; i--) {
            const size_t j = (size_t)rng_below(&rng, i + 1);
            const struct event swap = w->events[i];
            w->events[i] = w->events[j];
            w->events[j] = swap;
        }
        assert_string_equal(world_digest(w).text, want.text);
    }
}

static inline struct world *world_new(struct fixture *f)
{
    struct world *w = arena_alloc(&f->arena, sizeof *w);
    w->f = f;
    return w;
}

/* Two tasks of a family, one of another, two targets, wins, failures and a refuted win. */
struct small_world {
    const char *run1, *run2, *run3, *run4;
    const char *tile, *vector, *both, *wrong, *noisy, *refuted, *other, *far;
};

static inline struct small_world world_fill(struct world *w)
{
    struct small_world s = {0};
    world_task(w, "t-softmax", "softmax", "normalization", "exp rows cols sum max");
    world_task(w, "t-layer", "layer_norm", "normalization", "sqrt rows cols sum");
    world_task(w, "t-sum", "sum", "reduction", "sum rows");
    world_task(w, "t-conv", "conv", "contraction", "window channels");
    s.run1 = world_run(w, "t-softmax", "zen3");
    s.tile = world_decision(w, &(struct try){s.run1, "", "tile the rows", 1, {"tile"}, "tile(i)"});
    world_outcome(w, &(struct found){s.tile, "t-softmax", "zen3", VERDICT_TIMED, 0.2, true, false,
                                     "", "code-tile"});
    s.vector = world_decision(
        w, &(struct try){s.run1, s.tile, "use vectors", 2, {"vectorize"}, "tile(i);vec(j)"});
    world_outcome(w, &(struct found){s.vector, "t-softmax", "zen3", VERDICT_TIMED, 0.7, true, false,
                                     "", "code-vector"});
    world_outcome(w, &(struct found){s.vector, "t-softmax", "zen3", VERDICT_TIMED, 0.69, true, true,
                                     "", "code-vector"});
    s.both = world_decision(
        w, &(struct try){
               s.run1, s.vector, "unroll and prefetch", 3, {"unroll", "prefetch", "unroll"}, "r3"});
    world_outcome(w, &(struct found){s.both, "t-softmax", "zen3", VERDICT_TIMED, 0.9, true, false,
                                     "", "code-both"});
    world_outcome(w, &(struct found){s.both, "t-softmax", "zen3", VERDICT_TIMED, 0.0, false, true,
                                     "", "code-both"});
    s.wrong = world_decision(w, &(struct try){s.run1, s.tile, "fast exp", 4, {"vectorize"}, ""});
    world_outcome(w, &(struct found){s.wrong, "t-softmax", "zen3", VERDICT_WRONG, 0, false, false,
                                     "element 17 is NaN after the polynomial", "code-wrong"});
    s.noisy = world_decision(w, &(struct try){s.run1, s.tile, "pin", 5, {"tile"}, ""});
    world_outcome(w, &(struct found){s.noisy, "t-softmax", "zen3", VERDICT_TOO_NOISY, 0, false,
                                     false, "the host is loaded", "code-noisy"});
    world_finding(w, s.run1, s.tile);
    world_exchange(w, s.run1, "propose", 120);
    world_exchange(w, s.run1, "repair", 30);
    world_run_end(w, s.run1, "budget", s.vector);
    s.run2 = world_run(w, "t-layer", "zen3");
    s.other = world_decision(w, &(struct try){s.run2, "", "tile", 1, {"tile"}, "tile(j)"});
    world_outcome(w, &(struct found){s.other, "t-layer", "zen3", VERDICT_TIMED, 0.4, true, false,
                                     "", "code-other"});
    s.run3 = world_run(w, "t-sum", "spr");
    s.far = world_decision(w, &(struct try){s.run3, "", "tile", 1, {"tile"}, "tile(n)"});
    world_outcome(
        w, &(struct found){s.far, "t-sum", "spr", VERDICT_TIMED, 1.5, true, false, "", "code-far"});
    s.run4 = world_run(w, "t-conv", "zen3");
    s.refuted = world_decision(w, &(struct try){s.run4, "", "pack", 1, {"pack"}, "pack(a)"});
    world_outcome(w, &(struct found){s.refuted, "t-conv", "zen3", VERDICT_TIMED, 0.3, true, false,
                                     "", "code-refuted"});
    return s;
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

#endif
