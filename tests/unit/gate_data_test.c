/* The gate's data: within the declared range, new every time, and poison that is noticed. */
#include "base/err.h"
#include "gate/compare.h"
#include "gate/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 5000 };

#define TASK_FORMAT                                                                                \
    "name: test\nfamily: elementwise\nsummary: a test\ndtype: float32\naxes: [n]\nargs:\n"         \
    "  - {name: x, role: in, shape: [n], dtype: %s, draw: %s}\n"                                   \
    "  - {name: y, role: out, shape: [n]}\nflops: n\nprecision: normal\n"                          \
    "cases:\n  - {n: 64}\nheld_out:\n  - {n: 65}\n"

static const struct task *parse(struct arena *arena, const char *draw, const char *dtype)
{
    static const char reference[] = "void test(const real *x, real *y, int64_t n) { for (int64_t i "
                                    "= 0; i < n; i++) y[i] = x[i]; }";
    const struct task *task = NULL;
    struct err err = {0};
    char *yaml = arena_printf(arena, TASK_FORMAT, dtype, draw);
    if (!task_parse(yaml, strlen(yaml), reference, "", arena, &task, &err))
        fail_msg("%s", err.message);
    return task;
}

static void data_fill__uniform_draw__stays_in_range_in_every_distribution(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: uniform, low: 0.5, high: 2}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(1));
    float x[COUNT];
    for (unsigned d = 0; d < DISTRIBUTION_SPECIAL; d++) {
        data_begin(data);
        data_fill(data, 0, (enum distribution)d, x, COUNT);
        data_change(data, 0, x, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            assert_true(x[i] >= 0.5F && x[i] <= 2);
    }
}

static void data_fill__integer_draw__gives_whole_numbers_in_range(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: integer, low: -3, high: 4}", "int8");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(2));
    int8_t x[COUNT];
    bool seen[8] = {false};
    for (unsigned d = 0; d < DISTRIBUTION_SPECIAL; d++) {
        data_fill(data, 0, (enum distribution)d, x, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            assert_in_range(x[i] + 3, 0, 7);
            seen[x[i] + 3] = true;
        }
    }
    for (size_t i = 0; i < 8; i++)
        assert_true(seen[i]);
}

static void data_fill__normal_draw__has_the_declared_moments(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 3, deviation: 2}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(3));
    float x[COUNT];
    double sum = 0, squares = 0;
    data_fill(data, 0, DISTRIBUTION_DECLARED, x, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        sum += (double)x[i];
        squares += ((double)x[i] - 3) * ((double)x[i] - 3);
    }
    assert_true(fabs(sum / COUNT - 3) < 0.2);
    assert_true(fabs(sqrt(squares / COUNT) - 2) < 0.2);
}

static void data_fill__twice__is_never_the_same(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 0, deviation: 1}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(4));
    float x[COUNT], y[COUNT];
    data_fill(data, 0, DISTRIBUTION_DECLARED, x, COUNT);
    data_fill(data, 0, DISTRIBUTION_DECLARED, y, COUNT);
    size_t same = 0;
    for (size_t i = 0; i < COUNT; i++)
        same += memcmp(&x[i], &y[i], sizeof *x) == 0;
    assert_true(same < COUNT / 100);
}

static void data_fill__exact_integers__sum_exactly_in_float(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 0, deviation: 1}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(5));
    float x[COUNT], narrow = 0;
    double wide = 0;
    data_fill(data, 0, DISTRIBUTION_INTEGERS, x, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        narrow += x[i];
        wide += (double)x[i];
        /* Twelve bits: the eleven of tf32 and of half precision lose the last. */
        const float scaled = ldexpf(x[i], 11 - ilogbf(x[i]));
        assert_true(scaled == nearbyintf(scaled) && fmodf(scaled, 2) != 0);
    }
    assert_true((double)narrow == wide);
}

static void data_fill__special_values__present_and_only_with_leave(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 0, deviation: 1}", "real");
    assert_true(distribution_applies(DISTRIBUTION_SPECIAL, task));
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(6));
    float x[COUNT];
    size_t nan = 0, infinite = 0;
    for (int round = 0; round < 20; round++) {
        data_begin(data);
        data_fill(data, 0, DISTRIBUTION_SPECIAL, x, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            nan += isnan(x[i]) != 0;
            infinite += isinf(x[i]) != 0;
        }
    }
    assert_true(nan > 0 && infinite > 0);
    for (size_t turn = 0; turn < 6; turn++) {
        size_t seen[3] = {0};
        data_choose_special(data, turn);
        data_begin(data);
        data_fill(data, 0, DISTRIBUTION_ONE_SPECIAL, x, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            if (!isfinite(x[i]))
                seen[isnan(x[i]) ? 0 : x[i] > 0 ? 1 : 2]++;
        for (size_t kind = 0; kind < 3; kind++)
            assert_int_equal(seen[kind] > 0, kind == turn % 3);
    }
    struct task finite = *task;
    finite.finite_only = true;
    assert_false(distribution_applies(DISTRIBUTION_SPECIAL, &finite));
}

static void data_fill__constant__is_one_value_whose_sums_are_exact(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 0.3, deviation: 1}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(10));
    float x[COUNT], last = 0;
    size_t changes = 0;
    for (int round = 0; round < 20; round++) {
        float narrow = 0;
        data_begin(data);
        data_fill(data, 0, DISTRIBUTION_CONSTANT, x, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(x[i] == x[0]);
            narrow += x[i];
        }
        assert_true((double)narrow == COUNT * (double)x[0]);
        assert_true(x[0] != 0 && fabs((double)x[0] - 0.3) < 1.1);
        changes += x[0] != last;
        last = x[0];
    }
    assert_true(changes > 10);
}

/* In every few hundred elements; their neighbours are as drawn. */
static void data_fill__clustered__maxima_lie_side_by_side(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: uniform, low: -1, high: 3}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(11));
    float x[COUNT];
    data_fill(data, 0, DISTRIBUTION_CLUSTERED, x, COUNT);
    size_t high = 0, clusters = 0, pairs = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const bool is_high = x[i] >= 2.998F;
        high += is_high;
        clusters += is_high && (i == 0 || x[i - 1] < 2.998F);
        pairs += is_high && i > 0 && x[i - 1] >= 2.998F;
    }
    assert_in_range(high, COUNT / 512, COUNT / 16);
    assert_in_range(clusters, COUNT / 512, COUNT / 512 + 10);
    assert_true(pairs > clusters);
}

static void data_fill__sorted__rises_or_falls(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 0, deviation: 1}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(12));
    float x[COUNT];
    size_t rising = 0, falling = 0;
    for (int round = 0; round < 20; round++) {
        data_begin(data);
        data_fill(data, 0, DISTRIBUTION_SORTED, x, COUNT);
        const bool rises = x[COUNT - 1] > x[0];
        for (size_t i = 1; i < COUNT; i++)
            assert_true(rises ? x[i] >= x[i - 1] : x[i] <= x[i - 1]);
        rising += rises;
        falling += !rises;
    }
    assert_true(rising > 0 && falling > 0);
}

static void data_fill__spikes__few_and_at_both_ends(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: uniform, low: -2, high: 2}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(13));
    float x[COUNT];
    size_t low = 0, high = 0;
    data_fill(data, 0, DISTRIBUTION_SPIKES, x, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        low += x[i] == -2;
        high += x[i] == 2;
    }
    assert_in_range(low, 1, COUNT / 64);
    assert_in_range(high, 1, COUNT / 64);
}

static void data_fill__tiny__holds_denormals_and_zeros_of_both_signs(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 0, deviation: 1}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(14));
    float x[COUNT];
    size_t denormals = 0, plus = 0, minus = 0;
    data_fill(data, 0, DISTRIBUTION_TINY, x, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        denormals += fpclassify(x[i]) == FP_SUBNORMAL;
        plus += x[i] == 0 && !signbit(x[i]);
        minus += x[i] == 0 && signbit(x[i]);
        assert_true(fabsf(x[i]) < 1e-5F);
    }
    assert_true(denormals > 0 && plus > 0 && minus > 0);
}

/* One NaN in each fill, at random places; then every element; then another draw. */
static void data_fill__declared_situations__are_as_declared(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *plain = parse(&arena, "{kind: normal, mean: 0, deviation: 1}", "real");
    assert_false(distribution_applies(DISTRIBUTION_SITUATION, plain));
    struct task task = *plain;
    task.special_count = 3;
    task.specials[0].args[0] = (struct special_arg){.kind = SPECIAL_ONE, .value = (double)NAN};
    task.specials[1].args[0] = (struct special_arg){.kind = SPECIAL_VALUE, .value = -HUGE_VAL};
    task.specials[2].args[0] =
        (struct special_arg){.kind = SPECIAL_DRAWN, .draw = {DRAW_UNIFORM, 1e4, 1e4 + 1}};
    assert_true(distribution_applies(DISTRIBUTION_SITUATION, &task));
    CLEANUP(data_close) struct data *data = data_open(&task, rng_seeded(15));
    float x[COUNT];
    size_t nan = 0;
    data_fill(data, 0, DISTRIBUTION_SITUATION, x, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        nan += isnan(x[i]) != 0;
    assert_int_equal(nan, 1);
    data_choose_situation(data, 1);
    data_fill(data, 0, DISTRIBUTION_SITUATION, x, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(isinf(x[i]) && x[i] < 0);
    data_choose_situation(data, 2);
    data_fill(data, 0, DISTRIBUTION_SITUATION, x, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(x[i] >= 1e4F && x[i] <= 1e4F + 1);
}

static void data_perturb__float__moves_each_by_one_ulp(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 0, deviation: 1}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(7));
    float x[COUNT], y[COUNT];
    size_t up = 0;
    data_fill(data, 0, DISTRIBUTION_DECLARED, x, COUNT);
    x[0] = 0;
    data_perturb(data, 0, x, y, COUNT);
    assert_true(y[0] == 0);
    for (size_t i = 1; i < COUNT; i++) {
        assert_true(y[i] == nextafterf(x[i], HUGE_VALF) || y[i] == nextafterf(x[i], -HUGE_VALF));
        up += y[i] > x[i];
    }
    assert_in_range(up, COUNT / 3, COUNT * 2 / 3);
}

static void data_poison__nan_kind__is_nan_in_both_float_types(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 0, deviation: 1}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(8));
    double room[COUNT];
    data_poison(data, POISON_NAN, data_poison_place(data), 0, room, sizeof room);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(isnan(room[i]));
    for (size_t i = 0; i < 2 * (size_t)COUNT; i++)
        assert_true(isnan(dtype_element(DTYPE_F32, room, i)));
    data_poison(data, POISON_NUMBER, data_poison_place(data), 0, room, sizeof room);
    for (size_t i = 0; i < 2 * (size_t)COUNT; i++)
        assert_true(fabs(dtype_element(DTYPE_F32, room, i)) > 1e37 &&
                    isfinite(dtype_element(DTYPE_F32, room, i)));
}

static void data_poison_intact__one_byte_changed__is_found(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct task *task = parse(&arena, "{kind: normal, mean: 0, deviation: 1}", "real");
    CLEANUP(data_close) struct data *data = data_open(task, rng_seeded(9));
    enum { BYTES = 200000 };
    char *room = malloc(BYTES);
    assert_non_null(room);
    const size_t place = data_poison_place(data);
    size_t where = 0;
    data_poison(data, POISON_BYTES, place, 0, room, BYTES);
    assert_true(data_poison_intact(data, POISON_BYTES, place, 0, room, BYTES, &where));
    assert_true(data_poison_intact(data, POISON_BYTES, place, 1000, room + 1000, 5, &where));
    room[123456] ^= 1;
    assert_false(
        data_poison_intact(data, POISON_BYTES, place, 100, room + 100, BYTES - 100, &where));
    assert_int_equal(where, 123356);
    free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_fill__uniform_draw__stays_in_range_in_every_distribution),
        cmocka_unit_test(data_fill__integer_draw__gives_whole_numbers_in_range),
        cmocka_unit_test(data_fill__normal_draw__has_the_declared_moments),
        cmocka_unit_test(data_fill__twice__is_never_the_same),
        cmocka_unit_test(data_fill__exact_integers__sum_exactly_in_float),
        cmocka_unit_test(data_fill__special_values__present_and_only_with_leave),
        cmocka_unit_test(data_fill__constant__is_one_value_whose_sums_are_exact),
        cmocka_unit_test(data_fill__clustered__maxima_lie_side_by_side),
        cmocka_unit_test(data_fill__sorted__rises_or_falls),
        cmocka_unit_test(data_fill__spikes__few_and_at_both_ends),
        cmocka_unit_test(data_fill__tiny__holds_denormals_and_zeros_of_both_signs),
        cmocka_unit_test(data_fill__declared_situations__are_as_declared),
        cmocka_unit_test(data_perturb__float__moves_each_by_one_ulp),
        cmocka_unit_test(data_poison__nan_kind__is_nan_in_both_float_types),
        cmocka_unit_test(data_poison_intact__one_byte_changed__is_found),
    };
    return cmocka_run_group_tests_name("gate_data", tests, NULL, NULL);
}
