#include "engine_place.h"

#include "engine/opening.h"

#include <stdlib.h>

/* A memory with winners of other tasks, written by hand, and a run on the task of engine_place.h.
 */
struct place {
    struct arena arena;
    struct err err;
    char *dir;
    struct run run;
    const struct opening *openings;
    size_t count;
};

#define assert_ok(p, call)                                                                         \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", (p)->err.message);                                                      \
    } while (0)

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    assert_ok(p, os_make_temp_dir("kope-opening", &p->arena, &p->dir, &p->err));
    p->run.arena = &p->arena;
    p->run.opts = (struct optimize_opts){.task_path = write_task(&p->arena, p->dir),
                                         .memory_dir = os_path_join(&p->arena, p->dir, "memory"),
                                         .target = "fake"};
    assert_ok(p, run_open_for_context(&p->run, &p->err));
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    run_close(&p->run);
    const bool ok = os_remove_tree(p->dir, &p->err);
    arena_free(&p->arena);
    free(p);
    return ok ? 0 : -1;
}

static const char *append(struct place *p, const char *kind, struct buf *body)
{
    struct hash_id id;
    assert_ok(p, memory_append(&p->run.memory, kind, body, &id, &p->err));
    buf_free(body);
    return arena_strdup(&p->arena, id.text);
}

static const char *run_on(struct place *p, const char *task, const char *target)
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
static const char *other_task(struct place *p, const char *name, const char *family)
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
    const char *run, *task, *parent, *intent, *moves[4], *recipe;
    const char *target; /* NULL: this one */
    double log_ratio;
};

static const char *won(struct place *p, const struct winner *w)
{
    struct buf body = {0};
    struct decision_event decision = {.run_id = w->run,
                                      .parent = w->parent,
                                      .sequence = 1,
                                      .step = "large",
                                      .proposer = "offline",
                                      .intent = w->intent ? w->intent : "a test",
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

/* Of the run's own task, with what it knows of it. */
static void find(struct place *p)
{
    struct graph_decisions related;
    assert_ok(p, run_record_subject(&p->run, &p->err));
    assert_ok(p, graph_related(p->run.memory.graph, p->run.task->id.text, p->run.features->id.text,
                               20, &p->arena, &related, &p->err));
    assert_ok(p, openings_find(&p->run, &related, &p->arena, &p->openings, &p->count, &p->err));
}

/* A nest move has other steps here, since the loops have other names; a suggestion too. */
static void openings_find__steps_of_another_nest__are_built_on_this_one(void **state)
{
    struct place *p = *state;
    const char *run = other_task(p, "rows", "elementwise");
    const char *first = won(p, &(struct winner){.run = run,
                                                .task = "rows",
                                                .parent = "",
                                                .moves = {"nest-vectors-4", "width-256"},
                                                .recipe = "nest=vectorize(row:32)",
                                                .log_ratio = 1.0});
    (void)won(p, &(struct winner){.run = run,
                                  .task = "rows",
                                  .parent = first,
                                  .moves = {"unroll-4", "peel(row:1)", "no-such-move"},
                                  .recipe = "nest=vectorize(row:32) unroll=4",
                                  .log_ratio = 1.2});
    find(p);
    assert_int_equal(p->count, 1);
    const struct opening *o = &p->openings[0];
    assert_non_null(strstr(o->text, "vectorize(i:32)"));
    assert_non_null(strstr(o->text, "unroll=4"));
    assert_int_equal(o->move_count, 3);
    assert_string_equal(o->moves[0], "nest-vectors-4");
    assert_string_equal(o->from->task_name, "rows");
    assert_true(o->expected > 0.0 && o->expected < 1.2);
}

static void openings_find__a_step_from_the_plain_reference__forgets_what_was_before(void **state)
{
    struct place *p = *state;
    const char *run = other_task(p, "rows", "elementwise");
    const char *first = won(p, &(struct winner){.run = run,
                                                .task = "rows",
                                                .parent = "",
                                                .moves = {"nest-vectors-4"},
                                                .recipe = "a",
                                                .log_ratio = 0.5});
    (void)won(p, &(struct winner){.run = run,
                                  .task = "rows",
                                  .parent = first,
                                  .intent = "from the plain reference again: unrolls loops",
                                  .moves = {"unroll-4"},
                                  .recipe = "b",
                                  .log_ratio = 1.2});
    find(p);
    assert_int_equal(p->count, 1);
    assert_int_equal(p->openings[0].move_count, 1);
    assert_null(strstr(p->openings[0].text, "vectorize"));
}

/* Two of the family agree; one of another family gained more, and is not asked. */
static void
openings_find__two_relatives_agree__speak_for_it_together_and_no_stranger_does(void **state)
{
    struct place *p = *state;
    static const char *const names[] = {"rows", "columns"};
    for (size_t i = 0; i < 2; i++)
        (void)won(p, &(struct winner){.run = other_task(p, names[i], "elementwise"),
                                      .task = names[i],
                                      .parent = "",
                                      .moves = {"nest-vectors-2"},
                                      .recipe = names[i],
                                      .log_ratio = 0.9 + 0.1 * (double)i});
    (void)won(p, &(struct winner){.run = other_task(p, "product", "contraction"),
                                  .task = "product",
                                  .parent = "",
                                  .moves = {"no-trapping"},
                                  .recipe = "c",
                                  .log_ratio = 3.0});
    find(p);
    assert_int_equal(p->count, 1);
    assert_int_equal(p->openings[0].votes, 2);
    assert_string_equal(p->openings[0].moves[0], "nest-vectors-2");
}

/* A task of no family here won with a move on loops of the same kind: it is asked, after relatives;
 * not one whose move is clearly less than what these loops promise. */
static void openings_find__a_stranger_with_the_same_loops__is_asked_after_relatives(void **state)
{
    struct place *p = *state;
    (void)won(p, &(struct winner){.run = other_task(p, "rows", "elementwise"),
                                  .task = "rows",
                                  .parent = "",
                                  .moves = {"nest-vectors-2"},
                                  .recipe = "a",
                                  .log_ratio = 1.0});
    (void)won(p, &(struct winner){.run = other_task(p, "entropy", "loss"),
                                  .task = "entropy",
                                  .parent = "",
                                  .moves = {"nest-vectors-4", "unroll-16"},
                                  .recipe = "b",
                                  .log_ratio = 1.5});
    (void)won(p, &(struct winner){.run = other_task(p, "product", "contraction"),
                                  .task = "product",
                                  .parent = "",
                                  .moves = {"nest-pack-8x2", "nest-pack-8x3", "unroll-4"},
                                  .recipe = "c",
                                  .log_ratio = 3.0});
    find(p);
    assert_int_equal(p->count, 2);
    assert_string_equal(p->openings[0].moves[0], "nest-vectors-2");
    assert_string_equal(p->openings[1].from->task_name, "entropy");
    assert_int_equal(p->openings[1].move_count, 2);
}

/* Reciprocals gain next to nothing, and make other kernels wrong; reassociation is what vectors
 * need. */
static void openings_find__looser_arithmetic_for_nothing__is_left_to_the_search(void **state)
{
    struct place *p = *state;
    (void)won(p,
              &(struct winner){.run = other_task(p, "rows", "elementwise"),
                               .task = "rows",
                               .parent = "",
                               .moves = {"nest-vectors-2", "reciprocal", "reassociate", "unroll-4"},
                               .recipe = "a",
                               .log_ratio = 1.0});
    find(p);
    assert_int_equal(p->count, 1);
    assert_null(strstr(p->openings[0].text, "reciprocal,"));
    for (size_t i = 0; i < p->openings[0].move_count; i++)
        assert_string_not_equal(p->openings[0].moves[i], "reciprocal");
    assert_string_equal(p->openings[0].moves[p->openings[0].move_count - 1], "unroll-4");
}

/* Of two sizes of unrolling the later one stands; the first is no part of what won. */
static void openings_find__a_later_move_takes_one_back__it_is_left_out(void **state)
{
    struct place *p = *state;
    (void)won(p, &(struct winner){.run = other_task(p, "rows", "elementwise"),
                                  .task = "rows",
                                  .parent = "",
                                  .moves = {"unroll-4", "nest-vectors-2", "unroll-16"},
                                  .recipe = "a",
                                  .log_ratio = 1.2});
    find(p);
    assert_int_equal(p->count, 1);
    assert_int_equal(p->openings[0].move_count, 2);
    assert_string_equal(p->openings[0].moves[1], "unroll-16");
}

/* What a relative did to its nest gives way to what promises more here; its flags stay. */
static void openings_find__a_weaker_nest_move__gives_way_to_ones_own(void **state)
{
    struct place *p = *state;
    (void)won(p, &(struct winner){.run = other_task(p, "rows", "elementwise"),
                                  .task = "rows",
                                  .parent = "",
                                  .moves = {"nest-vectors-1", "unroll-16"},
                                  .recipe = "a",
                                  .log_ratio = 0.5});
    /* Here vectors, four at once, are sure. */
    struct move *moves =
        arena_memdup(&p->arena, p->run.catalogue, p->run.catalogue_count * sizeof *moves);
    for (size_t i = 0; i < p->run.catalogue_count; i++)
        if (str_equal(moves[i].name, "nest-vectors-4"))
            moves[i].prior_log_ratio = 3.0;
    p->run.catalogue = moves;
    find(p);
    assert_int_equal(p->count, 1);
    assert_string_equal(p->openings[0].moves[0], "nest-vectors-4");
    assert_string_equal(p->openings[0].moves[1], "unroll-16");
}

/* What a relative did to its nest is not here: its flags alone would be nothing. */
static void openings_find__its_nest_move_is_not_here__ones_own_takes_its_place(void **state)
{
    struct place *p = *state;
    (void)won(p, &(struct winner){.run = other_task(p, "product", "elementwise"),
                                  .task = "product",
                                  .parent = "",
                                  .moves = {"nest-pack-8x2", "unroll-16"},
                                  .recipe = "c",
                                  .log_ratio = 3.0});
    find(p);
    assert_int_equal(p->count, 1);
    assert_int_equal(p->openings[0].move_count, 2);
    assert_true(str_starts_with(p->openings[0].moves[0], "nest-vectors-"));
    assert_string_equal(p->openings[0].moves[1], "unroll-16");
}

/* Nothing of it is here: there is nothing to begin with. */
static void openings_find__no_move_is_here__finds_none(void **state)
{
    struct place *p = *state;
    (void)won(p, &(struct winner){.run = other_task(p, "product", "elementwise"),
                                  .task = "product",
                                  .parent = "",
                                  .moves = {"nest-pack-8x2"},
                                  .recipe = "c",
                                  .log_ratio = 3.0});
    find(p);
    assert_int_equal(p->count, 0);
}

static void know_machine(struct place *p, const char *id, int64_t vector_bytes)
{
    const struct target_features *here = p->run.features;
    struct buf body = {0};
    event_write_target(&(struct target_event){.target_id = id,
                                              .name = "fake",
                                              .arch = here->arch,
                                              .vector_bytes = vector_bytes,
                                              .peak_gflops_f32 = 100,
                                              .memory_gbs = 10},
                       &body);
    (void)append(p, EVENT_TARGET, &body);
}

static void remember_elsewhere__won_on_three_machines__the_others_by_distance(void **state)
{
    struct place *p = *state;
    static const struct {
        const char *id;
        int64_t vector_bytes;
    } machines[] = {{"far", 256}, {"near", 32}, {"idle", 32}};
    assert_ok(p, run_record_subject(&p->run, &p->err));
    const char *task = p->run.task->id.text;
    for (size_t i = 0; i < 3; i++)
        know_machine(p, machines[i].id, machines[i].vector_bytes);
    know_machine(p, p->run.features->id.text, 16);
    const char *const won_on[] = {"far", "near", p->run.features->id.text};
    for (size_t i = 0; i < 3; i++)
        (void)won(p, &(struct winner){.run = run_on(p, task, won_on[i]),
                                      .task = task,
                                      .parent = "",
                                      .target = won_on[i],
                                      .moves = {"unroll-4"},
                                      .recipe = "unroll=4",
                                      .log_ratio = 2.0 - 0.5 * (double)i});
    struct graph_decisions elsewhere;
    assert_ok(p, remember_elsewhere(&p->run, &p->arena, &elsewhere, &p->err));
    assert_int_equal(elsewhere.count, 2);
    assert_string_equal(elsewhere.items[0].target_id, "near");
    assert_string_equal(elsewhere.items[1].target_id, "far");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(openings_find__steps_of_another_nest__are_built_on_this_one,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(
            openings_find__a_step_from_the_plain_reference__forgets_what_was_before, make_place,
            remove_place),
        cmocka_unit_test_setup_teardown(
            openings_find__two_relatives_agree__speak_for_it_together_and_no_stranger_does,
            make_place, remove_place),
        cmocka_unit_test_setup_teardown(
            openings_find__a_stranger_with_the_same_loops__is_asked_after_relatives, make_place,
            remove_place),
        cmocka_unit_test_setup_teardown(
            openings_find__looser_arithmetic_for_nothing__is_left_to_the_search, make_place,
            remove_place),
        cmocka_unit_test_setup_teardown(openings_find__a_later_move_takes_one_back__it_is_left_out,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(openings_find__a_weaker_nest_move__gives_way_to_ones_own,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(
            openings_find__its_nest_move_is_not_here__ones_own_takes_its_place, make_place,
            remove_place),
        cmocka_unit_test_setup_teardown(openings_find__no_move_is_here__finds_none, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(
            remember_elsewhere__won_on_three_machines__the_others_by_distance, make_place,
            remove_place),
    };
    return cmocka_run_group_tests_name("engine_opening", tests, NULL, NULL);
}
