/* Does choosing between two measured candidates by a size pay? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "search/regime.h"

#include <math.h>
#include <string.h>

enum { CASES = 4, MOST = 3 };

struct place {
    struct arena arena;
    struct task task;
    struct case_result results[MOST][CASES];
    struct regime_candidate candidates[MOST];
    size_t count;
    struct regime_split split;
    const char *why;
};

/* A task over m and n: 16x16, 16x64, 256x64, 256x1024; the last is held out where asked for. */
static struct place make_place(void)
{
    static const char *const names[CASES] = {"a", "b", "c", "d"};
    static const int64_t axes[CASES][2] = {{16, 16}, {16, 64}, {256, 64}, {256, 1024}};
    struct place p = {.task = {.axis_count = 2, .case_count = CASES, .arg_count = 1}, .why = ""};
    p.task.axes[0] = (struct task_axis){.name = "m", .minimum = 1, .maximum = INT64_C(1) << 40};
    p.task.axes[1] = p.task.axes[0];
    p.task.axes[1].name = "n";
    p.task.args[0] = (struct task_arg){.rank = 2, .shape_text = {"m", "n"}};
    for (size_t c = 0; c < CASES; c++)
        p.task.cases[c] =
            (struct task_case){.name = names[c], .axes = {axes[c][0], axes[c][1]}, .weight = 1.0};
    return p;
}

/* Speedups in the cases; 0: not timed there. */
static void add(struct place *p, size_t flags, const double *speedups)
{
    struct case_result *results = p->results[p->count];
    size_t timed = 0;
    for (size_t c = 0; c < CASES; c++) {
        if (!(speedups[c] > 0.0))
            continue;
        results[timed++] = (struct case_result){.name = p->task.cases[c].name,
                                                .held_out = p->task.cases[c].held_out,
                                                .log_ratio = log(speedups[c]),
                                                .log_low = log(speedups[c]) - 0.01,
                                                .log_high = log(speedups[c]) + 0.01};
    }
    p->candidates[p->count++] =
        (struct regime_candidate){.cases = results, .case_count = timed, .flags = flags};
}

static bool find(struct place *p, double best_speedup)
{
    return regime_find(&p->task, p->candidates, p->count, log(best_speedup), &p->arena, &p->split,
                       &p->why);
}

static void assert_none(struct place *p, double best_speedup, const char *words)
{
    assert_false(find(p, best_speedup));
    if (!strstr(p->why, words))
        fail_msg("'%s' is not in '%s'", words, p->why);
    arena_free(&p->arena);
}

static void regime_find__each_wins_at_its_sizes__split_at_the_geometric_middle(void **state)
{
    struct place p = make_place();
    (void)state;
    add(&p, 0, (double[]){1.0, 1.0, 4.0, 4.0});
    add(&p, 0, (double[]){2.0, 2.0, 2.0, 2.0});
    assert_true(find(&p, 2.0));
    assert_int_equal(p.split.low, 1);
    assert_int_equal(p.split.high, 0);
    assert_int_equal(p.split.factor_count, 1);
    assert_int_equal(p.split.factors[0], 0); /* m: 16 against 256; n has no gap at all */
    assert_int_equal(p.split.most, 64);
    assert_true(fabs(p.split.log_ratio - (log(2.0) + log(4.0)) / 2) < 1e-12);
    assert_true(fabs(p.split.gain - log(4.0) / 4) < 1e-12);
    assert_string_equal(regime_size_text(&p.task, &p.split, &p.arena), "m");
    assert_string_equal(regime_condition(&p.task, &p.split, &p.arena), "m <= 64");
    arena_free(&p.arena);
}

/* 64x16 and 16x256 are of one side: neither axis alone tells them from 64x64 and 256x32. */
static void make_product(struct place *p)
{
    static const int64_t axes[CASES][2] = {{64, 16}, {16, 256}, {64, 128}, {256, 32}};
    for (size_t c = 0; c < CASES; c++)
        memcpy(p->task.cases[c].axes, axes[c], sizeof axes[c]);
    add(p, 0, (double[]){3.0, 3.0, 1.0, 1.0});
    add(p, 0, (double[]){1.0, 1.0, 3.0, 3.0});
}

static void regime_find__only_a_product_separates__is_taken(void **state)
{
    struct place p = make_place();
    (void)state;
    make_product(&p);
    assert_true(find(&p, sqrt(3.0)));
    assert_int_equal(p.split.factor_count, 2);
    assert_int_equal(p.split.most, 5792); /* of 4096 and 8192 */
    assert_string_equal(regime_size_text(&p.task, &p.split, &p.arena), "m*n");
    assert_string_equal(regime_condition(&p.task, &p.split, &p.arena), "m * n <= 5792");
    /* Of no argument, and sizes up to 2^40 each: it must not overflow. */
    p.task.args[0].shape_text[1] = "m";
    assert_string_equal(regime_condition(&p.task, &p.split, &p.arena),
                        "(double)m * (double)n <= 5792.0");
    p.task.axes[0].maximum = p.task.axes[1].maximum = 4096;
    assert_string_equal(regime_condition(&p.task, &p.split, &p.arena), "m * n <= 5792");
    arena_free(&p.arena);
}

static void regime_find__a_pitch_would_separate__is_no_size(void **state)
{
    struct place p = make_place();
    (void)state;
    p.task.args[0].has_ld = true;
    p.task.args[0].ld = 0;
    add(&p, 0, (double[]){1.0, 1.0, 4.0, 4.0});
    add(&p, 0, (double[]){2.0, 2.0, 2.0, 2.0});
    assert_none(&p, 2.0, "no size is smaller");
}

static void regime_find__an_unclear_case_between__follows_the_bound(void **state)
{
    struct place p = make_place();
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        p.task.cases[c].axes[0] = (int64_t)1 << (2 * c);
        p.task.cases[c].axes[1] = 7;
    }
    add(&p, 0, (double[]){1.0, 2.0, 3.0, 4.0});
    add(&p, 0, (double[]){2.0, 2.01, 3.01, 2.0});
    assert_true(find(&p, 2.0));
    assert_string_equal(regime_condition(&p.task, &p.split, &p.arena), "m <= 8");
    assert_true(fabs(p.split.log_ratio - (log(2.0) + log(2.01) + log(3.0) + log(4.0)) / 4) < 1e-12);
    arena_free(&p.arena);
}

static void regime_find__weights__count_as_in_a_verdict(void **state)
{
    struct place p = make_place();
    (void)state;
    p.task.cases[0].weight = p.task.cases[1].weight = 0.01;
    add(&p, 0, (double[]){1.0, 1.0, 4.0, 4.0});
    add(&p, 0, (double[]){2.0, 2.0, 2.0, 2.0});
    assert_none(&p, 3.95, "3 % are asked for");
}

static void regime_find__the_smaller_loses_in_the_middle__is_not_separable(void **state)
{
    struct place p = make_place();
    (void)state;
    add(&p, 0, (double[]){4.0, 1.0, 4.0, 1.0});
    add(&p, 0, (double[]){1.0, 4.0, 1.0, 4.0});
    for (size_t c = 0; c < CASES; c++)
        p.task.cases[c].axes[0] = p.task.cases[c].axes[1] = (int64_t)c + 1;
    assert_none(&p, 2.0, "no size is smaller in all cases");
}

static void regime_find__gain_too_small__says_how_much(void **state)
{
    struct place p = make_place();
    (void)state;
    add(&p, 0, (double[]){2.0, 2.0, 2.0, 2.0});
    add(&p, 0, (double[]){2.1, 2.1, 1.5, 1.5});
    assert_none(&p, 2.0, "2.5 % faster than the best alone");
}

static void regime_find__intervals_overlap__is_no_preference(void **state)
{
    struct place p = make_place();
    (void)state;
    add(&p, 0, (double[]){2.0, 2.0, 2.0, 2.0});
    add(&p, 0, (double[]){2.03, 2.03, 1.0, 1.0});
    assert_none(&p, 2.0, "of no two candidates");
}

/* 10 % are asked for in place of 3 %, and so much less it counts against a pair of the same flags.
 */
static void regime_find__other_flags__have_to_promise_more(void **state)
{
    struct place p = make_place();
    (void)state;
    add(&p, 0, (double[]){1.0, 1.0, 2.2, 2.2});
    add(&p, 1, (double[]){2.0, 2.0, 2.0, 2.0});
    assert_false(find(&p, 2.0));
    assert_non_null(strstr(p.why, "4.9 % faster than the best alone; 3 % are asked for, 10 % where "
                                  "their flags differ"));
    assert_true(find(&p, 1.9)); /* 10.4 % over it */
    add(&p, 0, (double[]){1.98, 1.98, 1.98, 1.98});
    assert_true(find(&p, 1.9));
    assert_int_equal(p.split.low, 2);
    assert_int_equal(p.split.high, 0);
    arena_free(&p.arena);
}

static void regime_find__other_compilers__refused(void **state)
{
    struct place p = make_place();
    (void)state;
    add(&p, 0, (double[]){1.0, 1.0, 4.0, 4.0});
    add(&p, 0, (double[]){2.0, 2.0, 2.0, 2.0});
    p.candidates[1].compiler = 1;
    assert_none(&p, 2.0, "built by different compilers");
}

static void regime_find__a_race_was_lost__is_not_looked_at(void **state)
{
    struct place p = make_place();
    (void)state;
    add(&p, 0, (double[]){1.0, 1.0, 4.0, 4.0});
    add(&p, 0, (double[]){2.0, 0.0, 2.0, 2.0});
    assert_none(&p, 2.0, "no two candidates that were timed in every case");
}

static void regime_find__one_case_and_one_held_out__is_none(void **state)
{
    struct place p = make_place();
    (void)state;
    for (size_t c = 1; c < CASES; c++)
        p.task.cases[c].held_out = true;
    add(&p, 0, (double[]){1.0, 1.0, 4.0, 4.0});
    add(&p, 0, (double[]){2.0, 2.0, 2.0, 2.0});
    assert_none(&p, 1.0, "one case only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regime_find__each_wins_at_its_sizes__split_at_the_geometric_middle),
        cmocka_unit_test(regime_find__only_a_product_separates__is_taken),
        cmocka_unit_test(regime_find__a_pitch_would_separate__is_no_size),
        cmocka_unit_test(regime_find__an_unclear_case_between__follows_the_bound),
        cmocka_unit_test(regime_find__weights__count_as_in_a_verdict),
        cmocka_unit_test(regime_find__the_smaller_loses_in_the_middle__is_not_separable),
        cmocka_unit_test(regime_find__gain_too_small__says_how_much),
        cmocka_unit_test(regime_find__intervals_overlap__is_no_preference),
        cmocka_unit_test(regime_find__other_flags__have_to_promise_more),
        cmocka_unit_test(regime_find__other_compilers__refused),
        cmocka_unit_test(regime_find__a_race_was_lost__is_not_looked_at),
        cmocka_unit_test(regime_find__one_case_and_one_held_out__is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
