/* What a move is worth where another of its group is in place: by what relatives measured, and by
 * what this run did. Winners of other tasks are written by hand. */
#include "engine_winners.h"

#include "base/str.h"
#include "base/vec.h"
#include "engine/rivals.h"
#include "engine/sequence.h"

#include <math.h>

static int make_place(void **state)
{
    struct place *p = open_place("kope-rivals");
    struct run *run = &p->run;
    assert_ok(p, run_record_subject(run, &p->err));
    assert_ok(p, search_open(&(struct search_opts){.seed = 1}, &run->search, &p->err));
    run->nodes =
        vec_reserve_one(run->nodes, run->node_count, &run->node_capacity, sizeof *run->nodes);
    run->nodes[run->node_count++] = (struct run_node){
        .decision_id = "", .moves = "", .is_timed = true, .candidate = {.recipe = ""}};
    *state = p;
    return 0;
}

/* A relative on which what goes past the caches is slower by a half, in log-ratio. */
static void relative(struct place *p, const char *name)
{
    const char *run = other_task(p, name, "elementwise");
    const char *vectors = judged(p, run, name, "", "nest-vectors-4", 1.0);
    const char *flag = judged(p, run, name, vectors, "unroll-4", 1.0);
    (void)judged(p, run, name, flag, "nest-vectors-4-stream", 0.5);
    (void)judged(p, run, name, vectors, "nest-vectors-4-stream", 0.5);
}

/* A candidate of the run itself. */
static int node(struct place *p, int parent, const char *moves, double log_ratio)
{
    const struct run_node made = {.decision_id = "d",
                                  .code_id = "",
                                  .candidate = {.recipe = moves},
                                  .step = "small",
                                  .moves = moves,
                                  .is_timed = true,
                                  .log_ratio = log_ratio};
    return step_adopt(&p->run, parent, &made);
}

#define BEFORE 0.77 /* believed without rivals */

static struct move_belief believed(struct place *p, int at, const char *move)
{
    const size_t count = p->run.catalogue_count;
    struct move_belief *beliefs = arena_array(&p->arena, count, sizeof *beliefs);
    for (size_t i = 0; i < count; i++)
        beliefs[i] =
            (struct move_belief){.move = p->run.catalogue[i].name, .mean = BEFORE, .sd = 0.6};
    assert_ok(p, rivals_believe(&p->run, at, &p->arena, beliefs, count, &p->err));
    for (size_t i = 0; i < count; i++) {
        if (str_equal(beliefs[i].move, move))
            return beliefs[i];
    }
    fail_msg("there is no move '%s'", move);
    return beliefs[0];
}

static void rivals_believe__none_in_place__believed_as_before(void **state)
{
    struct place *p = *state;
    relative(p, "rows");
    const int other = node(p, SEARCH_ROOT, "unroll-4", 0.1);
    assert_true(fabs(believed(p, SEARCH_ROOT, "nest-vectors-4-stream").mean - BEFORE) < 1e-12);
    assert_true(fabs(believed(p, other, "nest-vectors-4-stream").mean - BEFORE) < 1e-12);
    assert_true(fabs(believed(p, other, "unroll-16").mean) < 0.1);
    /* Options that add up have no rivals. */
    const int math = node(p, other, "reassociate", 0.2);
    assert_true(fabs(believed(p, math, "no-trapping").mean - BEFORE) < 1e-12);
}

static void rivals_believe__slower_on_relatives__is_a_loss_here(void **state)
{
    struct place *p = *state;
    const int vectors = node(p, SEARCH_ROOT, "nest-vectors-4", 1.0);
    const double alone = believed(p, vectors, "nest-vectors-4-stream").mean;
    rivals_close(&p->run.rivals); /* it is read once */
    relative(p, "rows");
    relative(p, "columns");
    const struct move_belief stream = believed(p, vectors, "nest-vectors-4-stream");
    assert_true(alone > -0.4);
    assert_true(stream.mean < -0.35);
    assert_true(stream.sd < 0.15);
    assert_true(fabs(believed(p, vectors, "nest-vectors-2").mean) < 0.15);
    assert_true(fabs(believed(p, vectors, "nest-vectors-4").mean) < 1e-12);
    /* From plain loops it may still be tried. */
    assert_true(fabs(believed(p, SEARCH_ROOT, "nest-vectors-4-stream").mean - BEFORE) < 1e-12);
}

static void rivals_believe__this_run_says_otherwise__it_is_believed(void **state)
{
    struct place *p = *state;
    relative(p, "rows");
    const int vectors = node(p, SEARCH_ROOT, "nest-vectors-4", 1.0);
    const int flag = node(p, vectors, "unroll-4", 1.0);
    for (int i = 0; i < 3; i++)
        (void)node(p, i == 0 ? vectors : flag, "nest-vectors-4-stream", 1.4);
    assert_true(believed(p, vectors, "nest-vectors-4-stream").mean > 0.1);
}

static void rivals_believe__from_the_plain_reference_again__nothing_is_in_place(void **state)
{
    struct place *p = *state;
    const int vectors = node(p, SEARCH_ROOT, "nest-vectors-4", 1.0);
    const struct run_node made = {.decision_id = "d",
                                  .code_id = "",
                                  .candidate = {.recipe = "again"},
                                  .step = "large",
                                  .moves = "unroll-4",
                                  .is_restart = true,
                                  .is_timed = true,
                                  .log_ratio = 0.1};
    const int again = step_adopt(&p->run, vectors, &made);
    assert_true(fabs(believed(p, again, "nest-vectors-2").mean - BEFORE) < 1e-12);
}

static void assert_words(struct place *p, const char *moves, const char *derived_from,
                         const char *wanted, bool is_known)
{
    struct sequence_words words;
    assert_ok(
        p, sequence_of_step(p->run.memory.graph, moves, derived_from, &p->arena, &words, &p->err));
    assert_string_equal(words.text, wanted);
    assert_int_equal(words.is_known, is_known);
}

/* A run began with another run's best, and a third run with what came of that. */
static void sequence_of_step__made_of_another_runs_best__the_way_to_it(void **state)
{
    struct place *p = *state;
    const char *run = p->run.task->id.text; /* any */
    const char *first = judged(p, run, "rows", "", "nest-vectors-4", 1.0);
    const char *second = judged(p, run, "rows", first, "unroll-4", 1.1);
    assert_words(p, "", second, "nest-vectors-4 unroll-4", true);
    assert_words(p, "width-256", second, "width-256", true);
    assert_words(p, "", "", "", false);
    assert_words(p, "", "no-such-decision", "", false);
    const char *again = began_with(p, run, "rows", second, 1.1);
    const char *third = judged(p, run, "rows", again, "width-256", 1.2);
    const char *later = began_with(p, run, "rows", third, 1.2);
    assert_words(p, "", later, "nest-vectors-4 unroll-4 width-256", true);
    /* A text of which nobody says how it was made. */
    const char *text = judged(p, run, "rows", "", NULL, 1.3);
    assert_words(p, "", judged(p, run, "rows", text, "unroll-4", 1.3), "", false);
}

static double effect_of(struct place *p, const char *move)
{
    struct rivals_effects effects;
    rivals_close(&p->run.rivals); /* it is read once */
    assert_ok(p, rivals_effects(&p->run, &p->arena, &effects, &p->err));
    for (size_t i = 0; i < p->run.catalogue_count; i++) {
        if (str_equal(p->run.catalogue[i].name, move))
            return effects.gains[i];
    }
    fail_msg("there is no move '%s'", move);
    return 0.0;
}

/* A relative whose second run began with the best of the first, and a model's text beside it: what
 * is known of moves is what it was. */
static void rivals_effects__rows_without_moves__say_nothing_or_what_they_are_made_of(void **state)
{
    struct place *p = *state;
    const char *run = other_task(p, "rows", "elementwise");
    (void)judged(p, run, "rows", "", "nest-vectors-4", 1.0);
    const char *best = judged(p, run, "rows", "", "nest-vectors-1", 1.3);
    const double once = effect_of(p, "nest-vectors-1") - effect_of(p, "nest-vectors-4");
    assert_true(once > 0.0); /* -0.3 by what is read off */
    const char *again = run_on(p, "rows", p->run.features->id.text);
    const char *begun = began_with(p, again, "rows", best, 1.3);
    (void)judged(p, again, "rows", begun, "unroll-4", 1.35);
    (void)judged(p, again, "rows", begun, "nest-vectors-4", 1.0);
    assert_true(effect_of(p, "nest-vectors-1") - effect_of(p, "nest-vectors-4") > once - 0.02);
    const char *text = judged(p, again, "rows", "", NULL, 1.2);
    (void)judged(p, again, "rows", text, "unroll-16", 1.25);
    assert_true(effect_of(p, "nest-vectors-1") - effect_of(p, "nest-vectors-4") > once - 0.02);
}

/* One relative against four of another family. */
static void rivals_effects__another_family_says_otherwise__ones_own_is_believed(void **state)
{
    struct place *p = *state;
    const char *run = other_task(p, "rows", "elementwise");
    (void)judged(p, run, "rows", "", "nest-vectors-8", 1.0);
    (void)judged(p, run, "rows", "", "nest-vectors-2", 1.25);
    static const char *const strangers[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        run = other_task(p, strangers[i], "loss");
        (void)judged(p, run, strangers[i], "", "nest-vectors-2", 1.0);
        (void)judged(p, run, strangers[i], "", "nest-vectors-8", 1.25);
    }
    assert_true(effect_of(p, "nest-vectors-2") > effect_of(p, "nest-vectors-8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rivals_believe__none_in_place__believed_as_before,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(rivals_believe__slower_on_relatives__is_a_loss_here,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(rivals_believe__this_run_says_otherwise__it_is_believed,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(sequence_of_step__made_of_another_runs_best__the_way_to_it,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(
            rivals_effects__rows_without_moves__say_nothing_or_what_they_are_made_of, make_place,
            remove_place),
        cmocka_unit_test_setup_teardown(
            rivals_effects__another_family_says_otherwise__ones_own_is_believed, make_place,
            remove_place),
        cmocka_unit_test_setup_teardown(
            rivals_believe__from_the_plain_reference_again__nothing_is_in_place, make_place,
            remove_place),
    };
    return cmocka_run_group_tests_name("engine_rivals", tests, NULL, NULL);
}
