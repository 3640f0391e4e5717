#include "engine_winners.h"

#include "engine/opening.h"

/* What the last find found. */
static const struct opening *openings;
static size_t count;

static int make_place(void **state)
{
    *state = open_place("kope-opening");
    return 0;
}

/* Of the run's own task, with what it knows of it. */
static void find(struct place *p)
{
    struct graph_decisions related;
    assert_ok(p, run_record_subject(&p->run, &p->err));
    assert_ok(p, graph_related(p->run.memory.graph, p->run.task->id.text, p->run.features->id.text,
                               20, &p->arena, &related, &p->err));
    assert_ok(p, openings_find(&p->run, &related, &p->arena, &openings, &count, &p->err));
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
    assert_int_equal(count, 1);
    const struct opening *o = &openings[0];
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
    assert_int_equal(count, 1);
    assert_int_equal(openings[0].move_count, 1);
    assert_null(strstr(openings[0].text, "vectorize"));
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
    assert_int_equal(count, 1);
    assert_int_equal(openings[0].votes, 2);
    assert_string_equal(openings[0].moves[0], "nest-vectors-2");
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
    assert_int_equal(count, 2);
    assert_string_equal(openings[0].moves[0], "nest-vectors-2");
    assert_string_equal(openings[1].from->task_name, "entropy");
    assert_int_equal(openings[1].move_count, 2);
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
    assert_int_equal(count, 1);
    assert_null(strstr(openings[0].text, "reciprocal,"));
    for (size_t i = 0; i < openings[0].move_count; i++)
        assert_string_not_equal(openings[0].moves[i], "reciprocal");
    assert_string_equal(openings[0].moves[openings[0].move_count - 1], "unroll-4");
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
    assert_int_equal(count, 1);
    assert_int_equal(openings[0].move_count, 2);
    assert_string_equal(openings[0].moves[1], "unroll-16");
}

static void promise(struct place *p, const char *move, double log_ratio)
{
    struct move *moves =
        arena_memdup(&p->arena, p->run.catalogue, p->run.catalogue_count * sizeof *moves);
    for (size_t i = 0; i < p->run.catalogue_count; i++)
        if (str_equal(moves[i].name, move))
            moves[i].prior_log_ratio = log_ratio;
    p->run.catalogue = moves;
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
    promise(p, "nest-vectors-4", 3.0);
    find(p);
    assert_int_equal(count, 1);
    assert_string_equal(openings[0].moves[0], "nest-vectors-4");
    assert_string_equal(openings[0].moves[1], "unroll-16");
}

/* What promises more by what is read off the loops lost on relatives, where it was measured: what
 * won there stays. */
static void openings_find__ones_own_was_measured_and_lost__the_winner_stays(void **state)
{
    struct place *p = *state;
    static const char *const names[] = {"rows", "columns"};
    promise(p, "nest-vectors-4", 3.0);
    promise(p, "nest-vectors-1", 2.5);
    for (size_t i = 0; i < 2; i++) {
        const char *run = other_task(p, names[i], "elementwise");
        const char *first = judged(p, run, names[i], "", "nest-vectors-4", 1.0);
        (void)judged(p, run, names[i], first, "nest-vectors-1", 1.4);
        (void)judged(p, run, names[i], "", "unroll-4", 0.1);
    }
    find(p);
    assert_int_equal(count, 1);
    assert_int_equal(openings[0].votes, 2);
    assert_string_equal(openings[0].moves[0], "nest-vectors-1");
}

/* Three relatives won in two ways, two of them in the same with other flags; both have measured the
 * other way too. The better way comes first, then the other, then the first with other flags. */
static void
openings_find__several_ways__the_better_first_and_none_again_before_another(void **state)
{
    struct place *p = *state;
    static const struct {
        const char *name, *nest, *flag, *other;
        double other_loss;
    } relatives[] = {{"rows", "nest-vectors-1", "unroll-4", "nest-vectors-2", 0.3},
                     {"columns", "nest-vectors-1", "unroll-16", "nest-vectors-2", 0.3},
                     {"planes", "nest-vectors-2", "unroll-4", "nest-vectors-1", 0.05}};
    for (size_t i = 0; i < 3; i++) {
        const char *run = other_task(p, relatives[i].name, "elementwise");
        const char *first = judged(p, run, relatives[i].name, "", relatives[i].other,
                                   2.0 - relatives[i].other_loss);
        const char *nest = judged(p, run, relatives[i].name, first, relatives[i].nest, 2.0);
        (void)judged(p, run, relatives[i].name, nest, relatives[i].flag, 2.01);
    }
    find(p);
    assert_int_equal(count, 3);
    assert_string_equal(openings[0].moves[0], "nest-vectors-1");
    assert_string_equal(openings[1].moves[0], "nest-vectors-2");
    assert_string_equal(openings[2].moves[0], "nest-vectors-1");
    assert_true(openings[0].promise >= openings[2].promise);
    assert_true(openings[2].promise > openings[1].promise);
}

/* No loop here is put into vectors: what flags promise is all there is. */
static void openings_find__flags_alone__by_what_they_promise(void **state)
{
    struct place *p = *state;
    static const struct {
        const char *name, *move;
        double log_ratio;
    } relatives[] = {{"rows", "tune-haswell", 0.02}, {"columns", "reassociate", 1.4}};
    for (size_t i = 0; i < 2; i++)
        (void)judged(p, other_task(p, relatives[i].name, "elementwise"), relatives[i].name, "",
                     relatives[i].move, relatives[i].log_ratio);
    find(p);
    assert_int_equal(count, 2);
    assert_string_equal(openings[0].moves[0], "reassociate");
}

/* A flag for next to nothing is no second opinion on the loops; and what flags promise for plain
 * loops adds nothing to vectors. */
static void openings_find__a_poor_way__comes_after_all_good_ones(void **state)
{
    struct place *p = *state;
    static const char *const names[] = {"rows", "columns"};
    const char *both = other_task(p, "planes", "elementwise");
    (void)judged(p, other_task(p, "line", "elementwise"), "line", "", "tune-haswell", 0.05);
    for (size_t i = 0; i < 2; i++) {
        const char *run = other_task(p, names[i], "elementwise");
        const char *nest = judged(p, run, names[i], "", "nest-vectors-4", 1.3);
        if (i == 1)
            (void)judged(p, run, names[i], nest, "unroll-4", 1.31);
    }
    (void)judged(p, both, "planes", judged(p, both, "planes", "", "nest-vectors-4", 1.0),
                 "vectorize", 1.01);
    find(p);
    assert_int_equal(count, 4);
    assert_string_equal(openings[3].moves[0], "tune-haswell");
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(openings[i].moves[0], "nest-vectors-4");
    assert_true(openings[0].promise < openings[2].promise + 0.5);
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
    assert_int_equal(count, 1);
    assert_int_equal(openings[0].move_count, 2);
    assert_true(str_starts_with(openings[0].moves[0], "nest-vectors-"));
    assert_string_equal(openings[0].moves[1], "unroll-16");
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
    assert_int_equal(count, 0);
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
            openings_find__ones_own_was_measured_and_lost__the_winner_stays, make_place,
            remove_place),
        cmocka_unit_test_setup_teardown(
            openings_find__several_ways__the_better_first_and_none_again_before_another, make_place,
            remove_place),
        cmocka_unit_test_setup_teardown(openings_find__flags_alone__by_what_they_promise,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(openings_find__a_poor_way__comes_after_all_good_ones,
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
