/* The quick look at large outputs never says more than the full measurement. */
#include "base/rng.h"
#include "gate/compare.h"
#include "gate/quick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 140001 }; /* enough for two threads */

struct fixture {
    float base[COUNT], got[COUNT], delta[COUNT], inverse[COUNT];
    double want[COUNT], unit[COUNT];
    struct yardstick with, without; /* the arrays of a quick look */
    struct rng rng;
};

/* A baseline that errs by about half a unit, on values of many sizes. */
static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->rng = rng_seeded(11);
    double squares = 0;
    for (size_t i = 0; i < COUNT; i++) {
        f->want[i] = ldexp(rng_normal(&f->rng), (int)rng_below(&f->rng, 20) - 10);
        f->unit[i] = fabs(f->want[i]) * 0x1p-24 + 0x1p-60;
        f->base[i] = (float)(f->want[i] + f->unit[i] * rng_normal(&f->rng) / 2);
        squares += f->unit[i] * f->unit[i];
    }
    f->without = (struct yardstick){.dtype = DTYPE_F32,
                                    .accumulate = DTYPE_F32,
                                    .count = COUNT,
                                    .precision = PRECISION_NORMAL,
                                    .base = f->base,
                                    .want = f->want,
                                    .unit = f->unit,
                                    .unit_rms = sqrt(squares / COUNT)};
    error_profile_add(&f->without.own, DTYPE_F32, DTYPE_F32, f->base, f->want, f->unit, COUNT);
    assert_true(quick_prepare(f->base, f->want, f->unit, COUNT, f->delta, f->inverse));
    f->with = f->without;
    f->with.delta = f->delta;
    f->with.inverse = f->inverse;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

/* An output whose errors are `times` those of the baseline. */
static void err_by(struct fixture *f, double times)
{
    for (size_t i = 0; i < COUNT; i++)
        f->got[i] = (float)(f->want[i] + times * f->unit[i] * rng_normal(&f->rng) / 2);
}

static void assert_same_verdict(struct fixture *f, enum comparison_fault fault)
{
    const struct comparison quick = compare_output(&f->with, f->got);
    const struct comparison full = compare_output(&f->without, f->got);
    assert_int_equal(full.fault, fault);
    assert_int_equal(quick.fault, fault);
    if (fault == COMPARISON_OK)
        return;
    assert_string_equal(quick.criterion, full.criterion);
    assert_int_equal(quick.index, full.index);
    assert_true(!(quick.error < full.error) && !(quick.error > full.error));
}

static void compare_output__large_and_right__passes_with_about_the_same_error(void **state)
{
    struct fixture *f = *state;
    err_by(f, 1.5);
    const struct comparison quick = compare_output(&f->with, f->got);
    const struct comparison full = compare_output(&f->without, f->got);
    assert_int_equal(full.fault, COMPARISON_OK);
    assert_int_equal(quick.fault, COMPARISON_OK);
    assert_true(quick.error > 0.7 * full.error && quick.error < 1.4 * full.error);
}

/* From far inside of the class to far outside: both say the same, at every step. */
static void compare_output__errors_grow__quick_look_never_passes_what_fails(void **state)
{
    struct fixture *f = *state;
    size_t passed = 0, failed = 0;
    for (double times = 1; times < 40; times *= 1.1) {
        err_by(f, times);
        const struct comparison full = compare_output(&f->without, f->got);
        assert_int_equal(compare_output(&f->with, f->got).fault, full.fault);
        passed += full.fault == COMPARISON_OK;
        failed += full.fault != COMPARISON_OK;
    }
    assert_true(passed > 5 && failed > 5);
}

static void compare_output__one_element_of_many_is_dropped__wrong(void **state)
{
    struct fixture *f = *state;
    err_by(f, 1);
    f->got[rng_below(&f->rng, COUNT)] = 0;
    assert_same_verdict(f, COMPARISON_PRECISION);
}

static void compare_output__small_errors_behind_a_large_element__wrong(void **state)
{
    struct fixture *f = *state;
    err_by(f, 1);
    for (size_t i = 0; i < COUNT; i += 20) /* a twentieth, each by less than the largest may err */
        f->got[i] = (float)(f->want[i] + 30 * f->unit[i]);
    assert_same_verdict(f, COMPARISON_PRECISION);
}

static void compare_output__nan_and_infinity__only_where_the_baseline_has_them(void **state)
{
    struct fixture *f = *state;
    f->base[100] = NAN;
    f->base[5000] = HUGE_VALF;
    f->base[39999] = -HUGE_VALF;
    f->want[100] = (double)NAN;
    f->want[5000] = HUGE_VAL;
    f->want[39999] = -HUGE_VAL;
    f->unit[100] = f->unit[5000] = f->unit[39999] = 1;
    assert_true(quick_prepare(f->base, f->want, f->unit, COUNT, f->delta, f->inverse));
    err_by(f, 1);
    f->got[100] = -NAN;
    f->got[5000] = HUGE_VALF;
    f->got[39999] = -HUGE_VALF;
    assert_same_verdict(f, COMPARISON_OK);
    f->got[39999] = HUGE_VALF;
    assert_same_verdict(f, COMPARISON_CLASS);
    f->got[39999] = -HUGE_VALF;
    f->got[100] = 1;
    assert_same_verdict(f, COMPARISON_CLASS);
    f->got[100] = NAN;
    f->got[7] = NAN;
    assert_same_verdict(f, COMPARISON_CLASS);
}

static void compare_output__only_poison__wrong(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < COUNT; i++)
        f->got[i] = NAN;
    assert_same_verdict(f, COMPARISON_CLASS);
    for (size_t i = 0; i < COUNT; i++)
        f->got[i] = 3e38f;
    assert_same_verdict(f, COMPARISON_PRECISION);
}

static void quick_prepare__unit_too_small_for_float__refuses(void **state)
{
    struct fixture *f = *state;
    f->unit[3] = 1e-40;
    assert_false(quick_prepare(f->base, f->want, f->unit, COUNT, f->delta, f->inverse));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(compare_output__large_and_right__passes_with_about_the_same_error),
        CASE(compare_output__errors_grow__quick_look_never_passes_what_fails),
        CASE(compare_output__one_element_of_many_is_dropped__wrong),
        CASE(compare_output__small_errors_behind_a_large_element__wrong),
        CASE(compare_output__nan_and_infinity__only_where_the_baseline_has_them),
        CASE(compare_output__only_poison__wrong),
        CASE(quick_prepare__unit_too_small_for_float__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
