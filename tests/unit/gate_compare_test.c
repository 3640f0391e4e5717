/* The precision classes: honest variants pass, shortcuts do not. */
#include "base/rng.h"
#include "gate/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 15, MOST = 4096 };

/* A kernel from `inputs` floats to `outputs` floats, with its oracle. */
struct kernel {
    size_t inputs, outputs;
    void (*baseline)(const struct kernel *k, const float *x, float *y);
    void (*oracle)(const struct kernel *k, const double *x, double *y);
};

/* Inputs, and the yardstick that the gate would make of them. */
struct bench {
    float *x, *base;
    double *want, *unit;
    struct yardstick yardstick;
};

static void *get(size_t count, size_t bytes)
{
    void *out = calloc(count, bytes);
    assert_non_null(out);
    return out;
}

static void run_oracle(const struct kernel *k, const float *x, double *want)
{
    double *wide = get(k->inputs, sizeof *wide);
    for (size_t i = 0; i < k->inputs; i++)
        wide[i] = (double)x[i];
    k->oracle(k, wide, want);
    free(wide);
}

static struct bench bench_open(const struct kernel *k, const float *x)
{
    struct rng rng = rng_seeded(7);
    struct bench b = {.x = get(k->inputs, sizeof *b.x),
                      .base = get(k->outputs, sizeof *b.base),
                      .want = get(k->outputs, sizeof *b.want),
                      .unit = get(k->outputs, sizeof *b.unit)};
    float *moved = get(k->inputs, sizeof *moved), *base = get(k->outputs, sizeof *base);
    double *want = get(k->outputs, sizeof *want);
    double *errors[RUNS];
    memcpy(b.x, x, k->inputs * sizeof *x);
    k->baseline(k, x, b.base);
    run_oracle(k, x, b.want);
    for (size_t run = 0; run < RUNS; run++) {
        errors[run] = get(k->outputs, sizeof(double));
        for (size_t i = 0; i < k->inputs; i++)
            moved[i] = nextafterf(x[i], rng_next(&rng) >> 63 ? HUGE_VALF : -HUGE_VALF);
        k->baseline(k, moved, base);
        run_oracle(k, moved, want);
        for (size_t i = 0; i < k->outputs; i++) {
            b.unit[i] += (want[i] - b.want[i]) * (want[i] - b.want[i]);
            errors[run][i] = (double)base[i] - want[i];
        }
    }
    b.yardstick = (struct yardstick){.dtype = DTYPE_F32,
                                     .count = k->outputs,
                                     .precision = PRECISION_NORMAL,
                                     .base = b.base,
                                     .want = b.want,
                                     .unit = b.unit};
    b.yardstick.unit_rms = yardstick_units(DTYPE_F32, b.want, b.unit, k->outputs, RUNS);
    error_profile_add(&b.yardstick.own, DTYPE_F32, DTYPE_F32, b.base, b.want, b.unit, k->outputs);
    for (size_t run = 0; run < RUNS; run++) {
        error_profile_add_errors(&b.yardstick.own, errors[run], b.unit, k->outputs);
        free(errors[run]);
    }
    free(moved);
    free(base);
    free(want);
    return b;
}

static void bench_close(struct bench *b)
{
    free(b->x);
    free(b->base);
    free(b->want);
    free(b->unit);
}

/* --- kernels: dot products of rows, softmax of rows; 64 columns to a row by default ----------- */

enum { ROWS = 48, COLS = 512 };

/* The first COLS inputs are the vector, then ROWS rows. */
static void dot_f32(const struct kernel *k, const float *x, float *y)
{
    for (size_t r = 0; r < k->outputs; r++) {
        float sum = 0;
        for (size_t i = 0; i < COLS; i++)
            sum += x[i] * x[COLS * (r + 1) + i];
        y[r] = sum;
    }
}

static void dot_f64(const struct kernel *k, const double *x, double *y)
{
    for (size_t r = 0; r < k->outputs; r++) {
        double sum = 0;
        for (size_t i = 0; i < COLS; i++)
            sum += x[i] * x[COLS * (r + 1) + i];
        y[r] = sum;
    }
}

static void softmax_f32(const struct kernel *k, const float *x, float *y)
{
    for (size_t r = 0; r < k->outputs / COLS; r++) {
        float max = x[r * COLS], sum = 0;
        for (size_t i = 0; i < COLS; i++)
            max = fmaxf(max, x[r * COLS + i]);
        for (size_t i = 0; i < COLS; i++)
            sum += y[r * COLS + i] = expf(x[r * COLS + i] - max);
        for (size_t i = 0; i < COLS; i++)
            y[r * COLS + i] /= sum;
    }
}

static void softmax_f64(const struct kernel *k, const double *x, double *y)
{
    for (size_t r = 0; r < k->outputs / COLS; r++) {
        double max = x[r * COLS], sum = 0;
        for (size_t i = 0; i < COLS; i++)
            max = fmax(max, x[r * COLS + i]);
        for (size_t i = 0; i < COLS; i++)
            sum += y[r * COLS + i] = exp(x[r * COLS + i] - max);
        for (size_t i = 0; i < COLS; i++)
            y[r * COLS + i] /= sum;
    }
}

static void sum_f32(const struct kernel *k, const float *x, float *y)
{
    float sum = 0;
    for (size_t i = 0; i < k->inputs; i++)
        sum += x[i];
    *y = sum;
}

static void sum_f64(const struct kernel *k, const double *x, double *y)
{
    double sum = 0;
    for (size_t i = 0; i < k->inputs; i++)
        sum += x[i];
    *y = sum;
}

static const struct kernel dot = {COLS * (ROWS + 1), ROWS, dot_f32, dot_f64};
static const struct kernel softmax = {COLS * 8, COLS * 8, softmax_f32, softmax_f64};
static const struct kernel sum = {100000, 1, sum_f32, sum_f64};

static struct bench normal_bench(const struct kernel *k, double deviation, uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    float *x = get(k->inputs, sizeof *x);
    for (size_t i = 0; i < k->inputs; i++)
        x[i] = (float)(deviation * rng_normal(&rng));
    const struct bench b = bench_open(k, x);
    free(x);
    return b;
}

/* Keeps `bits` of the mantissa, as a cut to bf16 (8), tf32 (11) or half (11) would. */
static float cut(float value, unsigned bits)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    word += UINT32_C(1) << (23 - bits);
    word &= ~((UINT32_C(1) << (24 - bits)) - 1);
    memcpy(&value, &word, sizeof value);
    return value;
}

static struct comparison judge_cut_inputs(const struct kernel *k, unsigned bits)
{
    struct bench b = normal_bench(k, 1, 1);
    float *y = get(k->outputs, sizeof *y);
    for (size_t i = 0; i < k->inputs; i++)
        b.x[i] = cut(b.x[i], bits);
    k->baseline(k, b.x, y);
    const struct comparison found = compare_output(&b.yardstick, y);
    free(y);
    bench_close(&b);
    return found;
}

/* --- tests ---------------------------------------------------------------------------------- */

static void compare_output__the_baseline_itself__passes(void **state)
{
    (void)state;
    const struct kernel *const all[] = {&dot, &softmax, &sum};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct bench b = normal_bench(all[i], 2, i);
        b.yardstick.precision = PRECISION_STRICT;
        const struct comparison found = compare_output(&b.yardstick, b.base);
        assert_int_equal(found.fault, COMPARISON_OK);
        assert_true(found.error <= 1.5);
        bench_close(&b);
    }
}

static void dot_in_lanes(const struct kernel *k, const float *x, float *y, size_t lanes)
{
    for (size_t r = 0; r < k->outputs; r++) {
        float part[16] = {0};
        for (size_t i = 0; i < COLS; i++)
            part[i % lanes] = fmaf(x[i], x[COLS * (r + 1) + i], part[i % lanes]);
        y[r] = 0;
        for (size_t lane = 0; lane < lanes; lane++)
            y[r] += part[lane];
    }
}

static void compare_output__sums_in_lanes_with_fma__pass(void **state)
{
    (void)state;
    float y[ROWS];
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct bench b = normal_bench(&dot, 1, seed);
        for (size_t lanes = 1; lanes <= 16; lanes *= 2) {
            dot_in_lanes(&dot, b.x, y, lanes);
            assert_int_equal(compare_output(&b.yardstick, y).fault, COMPARISON_OK);
        }
        bench_close(&b);
    }
}

static void compare_output__single_sum_with_lucky_baseline__passes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct bench b = normal_bench(&sum, 1, seed);
        float part[4] = {0};
        for (size_t i = 0; i < sum.inputs; i++)
            part[i % 4] += b.x[i];
        const float y = part[0] + part[1] + (part[2] + part[3]);
        const struct comparison found = compare_output(&b.yardstick, &y);
        assert_int_equal(found.fault, COMPARISON_OK);
        bench_close(&b);
    }
}

/* Softmax with every element up to `ulps` units in the last place off. */
static struct comparison judge_noise(double ulps)
{
    struct bench b = normal_bench(&softmax, 2, 3);
    struct rng rng = rng_seeded(4);
    float *y = get(softmax.outputs, sizeof *y);
    for (size_t i = 0; i < softmax.outputs; i++) {
        const double ulp = fabs((double)b.base[i]) * 0x1p-23;
        y[i] = (float)((double)b.base[i] + ulps * ulp * (2 * rng_uniform(&rng) - 1));
    }
    const struct comparison found = compare_output(&b.yardstick, y);
    free(y);
    bench_close(&b);
    return found;
}

static void compare_output__functions_of_four_ulp__pass(void **state)
{
    (void)state;
    assert_int_equal(judge_noise(4).fault, COMPARISON_OK);
    assert_int_equal(judge_noise(100).fault, COMPARISON_PRECISION);
}

static void compare_output__lower_precision__fails(void **state)
{
    (void)state;
    for (unsigned bits = 8; bits <= 14; bits++) {
        assert_int_equal(judge_cut_inputs(&dot, bits).fault, COMPARISON_PRECISION);
        assert_int_equal(judge_cut_inputs(&softmax, bits).fault, COMPARISON_PRECISION);
    }
    const struct comparison bf16 = judge_cut_inputs(&dot, 8);
    assert_true(bf16.error > 100);
}

static void compare_output__tails_of_softmax_zeroed__fails(void **state)
{
    (void)state;
    struct bench b = normal_bench(&softmax, 4, 5);
    float *y = get(softmax.outputs, sizeof *y);
    for (size_t i = 0; i < softmax.outputs; i++)
        y[i] = b.base[i] < 1e-9F ? 0 : b.base[i];
    const struct comparison found = compare_output(&b.yardstick, y);
    assert_int_equal(found.fault, COMPARISON_PRECISION);
    assert_true(found.got == 0);
    assert_true(found.want > 0 && found.want < 1e-9);
    free(y);
    bench_close(&b);
}

static void compare_output__one_element_off__fails(void **state)
{
    (void)state;
    struct bench b = normal_bench(&softmax, 2, 6);
    float *y = get(softmax.outputs, sizeof *y);
    memcpy(y, b.base, softmax.outputs * sizeof *y);
    y[1234] *= 1.0001F;
    const struct comparison found = compare_output(&b.yardstick, y);
    assert_int_equal(found.fault, COMPARISON_PRECISION);
    assert_int_equal(found.index, 1234);
    assert_string_equal(found.criterion, "largest");
    free(y);
    bench_close(&b);
}

static void compare_output__half_the_sum_rescaled__fails(void **state)
{
    (void)state;
    struct bench b = normal_bench(&dot, 1, 8);
    float y[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        y[r] = 0;
        for (size_t i = 0; i < COLS; i += 2)
            y[r] += 2 * b.x[i] * b.x[COLS * (r + 1) + i];
    }
    assert_int_equal(compare_output(&b.yardstick, y).fault, COMPARISON_PRECISION);
    bench_close(&b);
}

static void compare_output__nan_or_infinity__fails_by_class(void **state)
{
    (void)state;
    struct bench b = normal_bench(&dot, 1, 9);
    float y[ROWS];
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(y, b.base, sizeof y);
        y[17] = bad[i];
        const struct comparison found = compare_output(&b.yardstick, y);
        assert_int_equal(found.fault, COMPARISON_CLASS);
        assert_int_equal(found.index, 17);
    }
    bench_close(&b);
}

static void compare_output__special_values_of_the_baseline__must_be_the_same(void **state)
{
    (void)state;
    const float base[] = {1, NAN, INFINITY, -INFINITY};
    const double want[] = {1, (double)NAN, HUGE_VAL, -HUGE_VAL};
    const double unit[] = {1e-7, 1, 1, 1};
    const struct yardstick y = {.dtype = DTYPE_F32,
                                .count = 4,
                                .precision = PRECISION_NORMAL,
                                .base = base,
                                .want = want,
                                .unit = unit,
                                .unit_rms = 1e-7};
    assert_int_equal(compare_output(&y, base).fault, COMPARISON_OK);
    const float finite[] = {1, 0, INFINITY, -INFINITY};
    assert_int_equal(compare_output(&y, finite).fault, COMPARISON_CLASS);
    const float sign[] = {1, NAN, INFINITY, INFINITY};
    const struct comparison found = compare_output(&y, sign);
    assert_int_equal(found.fault, COMPARISON_CLASS);
    assert_int_equal(found.index, 3);
}

static void compare_output__exact_class__ignores_payload_and_sign_of_zero(void **state)
{
    (void)state;
    const float base[] = {0.0F, NAN, 3};
    const float same[] = {-0.0F, -NAN, 3};
    const float other[] = {0.0F, NAN, 3.0000002F};
    const struct yardstick y = {
        .dtype = DTYPE_F32, .count = 3, .precision = PRECISION_EXACT, .base = base};
    assert_int_equal(compare_output(&y, same).fault, COMPARISON_OK);
    assert_int_equal(compare_output(&y, other).fault, COMPARISON_VALUE);
}

static void compare_output__integers__must_be_equal(void **state)
{
    (void)state;
    const int64_t base[] = {1, INT64_C(1) << 60, -5};
    int64_t got[] = {1, (INT64_C(1) << 60) + 1, -5};
    const struct yardstick y = {
        .dtype = DTYPE_I64, .count = 3, .precision = PRECISION_NORMAL, .base = base};
    assert_int_equal(compare_output(&y, base).fault, COMPARISON_OK);
    const struct comparison found = compare_output(&y, got);
    assert_int_equal(found.fault, COMPARISON_VALUE);
    assert_int_equal(found.index, 1);
}

static void error_profile_quantile__known_errors__within_a_quarter_octave(void **state)
{
    (void)state;
    struct error_profile profile = {0};
    double errors[100], unit[100];
    for (size_t i = 0; i < 100; i++) {
        errors[i] = (double)(i + 1);
        unit[i] = 1;
    }
    error_profile_add_errors(&profile, errors, unit, 100);
    const double median = error_profile_quantile(&profile, 0.5);
    assert_true(median >= 50 && median <= 50 * 1.26);
    assert_true(error_profile_quantile(&profile, 1) == 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compare_output__the_baseline_itself__passes),
        cmocka_unit_test(compare_output__sums_in_lanes_with_fma__pass),
        cmocka_unit_test(compare_output__single_sum_with_lucky_baseline__passes),
        cmocka_unit_test(compare_output__functions_of_four_ulp__pass),
        cmocka_unit_test(compare_output__lower_precision__fails),
        cmocka_unit_test(compare_output__tails_of_softmax_zeroed__fails),
        cmocka_unit_test(compare_output__one_element_off__fails),
        cmocka_unit_test(compare_output__half_the_sum_rescaled__fails),
        cmocka_unit_test(compare_output__nan_or_infinity__fails_by_class),
        cmocka_unit_test(compare_output__special_values_of_the_baseline__must_be_the_same),
        cmocka_unit_test(compare_output__exact_class__ignores_payload_and_sign_of_zero),
        cmocka_unit_test(compare_output__integers__must_be_equal),
        cmocka_unit_test(error_profile_quantile__known_errors__within_a_quarter_octave),
    };
    return cmocka_run_group_tests_name("gate_compare", tests, NULL, NULL);
}
