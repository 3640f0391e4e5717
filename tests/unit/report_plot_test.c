/* Axes, ticks, labels, escaping and the layout of the tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "report/internal.h"

#include <math.h>
#include <string.h>

static void plot_ticks__any_axis__round_ascending_and_within(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(2);
    for (int i = 0; i < 20000; i++) {
        double ticks[PLOT_MAX_TICKS];
        const bool is_log = i % 2 == 0;
        const double low = exp(rng_uniform(&rng) * 60 - 30);
        const double high = low * exp(rng_uniform(&rng) * (i % 3 ? 2 : 40) + 1e-3);
        const struct plot_axis axis = {.low = low, .high = high, .is_log = is_log};
        const size_t count = plot_ticks(&axis, ticks);
        assert_true(count <= PLOT_MAX_TICKS);
        if (high / low > 1.05)
            assert_true(count >= 1);
        const double slack = 1e-6 * (is_log ? low : high - low);
        for (size_t k = 0; k < count; k++) {
            assert_true(ticks[k] >= low - slack && ticks[k] <= high + 1e-6 * high);
            assert_true(k == 0 || ticks[k] > ticks[k - 1]);
        }
    }
}

static void assert_ticks(double low, double high, const char *expected)
{
    double ticks[PLOT_MAX_TICKS];
    CLEANUP(buf_free) struct buf text = {0};
    const size_t count =
        plot_ticks(&(struct plot_axis){.low = low, .high = high, .is_log = true}, ticks);
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(&text, "%s%s", i ? " " : "", plot_tick_text(ticks[i]).text);
    assert_string_equal(buf_text(&text), expected);
}

static void plot_ticks__log_axis__what_a_person_would_choose(void **state)
{
    (void)state;
    assert_ticks(0.9, 1.1, "0.9 0.95 1 1.05 1.1");
    assert_ticks(0.9, 4.2, "1 1.5 2 3 4");
    assert_ticks(0.3, 12, "0.5 1 2 5 10");
    assert_ticks(0.001, 1000, "0.001 0.01 0.1 1 10 100 1000");
    assert_ticks(1e-12, 1e12, "1e-12 1e-09 1e-06 0.001 1 1000 1e+06 1e+09 1e+12");
}

static void plot_at__value_is_outside_or_nan__stays_on_the_axis(void **state)
{
    (void)state;
    const struct plot_axis axis = {
        .low = 1, .high = 100, .at_low = 50, .at_high = 250, .is_log = true};
    assert_true(fabs(plot_at(&axis, 10) - 150) < 1e-9);
    assert_true(plot_at(&axis, 0) == 50);
    assert_true(plot_at(&axis, (double)INFINITY) == 250);
    assert_true(plot_at(&axis, (double)NAN) == 50);
}

static void labels__numbers__read_as_a_person_would_write_them(void **state)
{
    (void)state;
    assert_string_equal(label_ratio(log(8.416)).text, "8.42×");
    assert_string_equal(label_ratio(log(9.999)).text, "10.0×");
    assert_string_equal(label_ratio(log(123.4)).text, "123×");
    assert_string_equal(label_ratio(log(0.0123)).text, "0.012×");
    assert_string_equal(label_ratio((double)NAN).text, "–");
    assert_string_equal(label_ratio(800).text, "–");
    assert_string_equal(label_interval(0, (double)INFINITY).text, "–");
    assert_string_equal(label_duration(12345).text, "12.3\xC2\xA0µs");
    assert_string_equal(label_duration(999999).text, "1.00\xC2\xA0ms");
    assert_string_equal(label_duration(INT64_C(83400000000)).text, "1\xC2\xA0min\xC2\xA0"
                                                                   "23\xC2\xA0s");
    assert_string_equal(label_duration(INT64_C(7500000000000)).text, "2\xC2\xA0h\xC2\xA0"
                                                                     "05\xC2\xA0min");
    assert_string_equal(label_duration(0).text, "–");
    assert_true(strlen(label_duration(INT64_MAX).text) > 0);
    assert_string_equal(label_count(1234567).text, "1\xE2\x80\xAF"
                                                   "234\xE2\x80\xAF"
                                                   "567");
    assert_string_equal(label_count(-123).text, "-123");
    assert_true(strlen(label_count(INT64_MIN).text) < sizeof(struct label));
    assert_string_equal(label_date(INT64_C(1764434880000)).text, "2025-11-29 16:48 UTC");
    assert_string_equal(label_date(INT64_MAX).text, "–");
}

static void assert_markup(const char *text, const char *expected)
{
    CLEANUP(buf_free) struct buf out = {0};
    markup_text(&out, text);
    assert_string_equal(buf_text(&out), expected);
}

static void markup_text__any_bytes__become_safe_text(void **state)
{
    (void)state;
    assert_markup("<a b=\"c\">&'", "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
    assert_markup("\xC3\xA4 \xF0\x9F\x90\x90", "\xC3\xA4 \xF0\x9F\x90\x90");
    assert_markup("\xC0\xBC", "\xEF\xBF\xBD\xEF\xBF\xBD");                 /* overlong '<' */
    assert_markup("\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"); /* a surrogate */
    assert_markup("\xF0\x9F", "\xEF\xBF\xBD\xEF\xBF\xBD");                 /* cut off */
    assert_markup("a\x1b[31m", "a\xEF\xBF\xBD[31m");
    assert_markup("a\r\nb\rc", "a\nb\xEF\xBF\xBD"
                               "c");
    assert_markup("x\xE2\x80\xAEy", "x[U+202E]y");
    assert_markup(NULL, "");
}

static void markup_clipped__long_text__is_cut_between_characters(void **state)
{
    (void)state;
    CLEANUP(buf_free) struct buf out = {0};
    assert_true(markup_clipped(&out, "\xC3\xA4\xC3\xB6\xC3\xBC", 2));
    assert_string_equal(out.data, "\xC3\xA4\xC3\xB6…");
    buf_clear(&out);
    assert_false(markup_clipped(&out, "ab", 2));
    assert_string_equal(out.data, "ab");
}

static void tree_lay_out__random_trees__no_two_nodes_overlap(void **state)
{
    (void)state;
    enum { NODES = 120 };
    struct rng rng = rng_seeded(3);
    for (int round = 0; round < 60; round++) {
        struct arena arena = {0};
        size_t parents[NODES] = {0};
        const uint64_t reach = 1 + rng_below(&rng, 20); /* small: deep trees */
        for (size_t i = 1; i < NODES; i++)
            parents[i] = i - 1 - (size_t)rng_below(&rng, i < reach ? i : reach);
        const struct tree_layout layout = tree_lay_out(parents, NODES, &arena);
        for (size_t i = 0; i < NODES; i++) {
            assert_true(layout.places[i].row > -1e-9 && layout.places[i].row <= layout.rows);
            for (size_t k = 0; k < i; k++) {
                if (layout.places[i].depth == layout.places[k].depth)
                    assert_true(fabs(layout.places[i].row - layout.places[k].row) > 1 - 1e-9);
            }
        }
        arena_free(&arena);
    }
}

static void tree_lay_out__three_leaves__parent_is_centred(void **state)
{
    (void)state;
    struct arena arena = {0};
    const size_t parents[] = {0, 0, 0, 0};
    const struct tree_layout layout = tree_lay_out(parents, 4, &arena);
    assert_true(layout.places[0].row == 1 && layout.places[1].row == 0);
    assert_true(layout.places[2].row == 1 && layout.places[3].row == 2);
    assert_int_equal(layout.depth, 1);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plot_ticks__any_axis__round_ascending_and_within),
        cmocka_unit_test(plot_ticks__log_axis__what_a_person_would_choose),
        cmocka_unit_test(plot_at__value_is_outside_or_nan__stays_on_the_axis),
        cmocka_unit_test(labels__numbers__read_as_a_person_would_write_them),
        cmocka_unit_test(markup_text__any_bytes__become_safe_text),
        cmocka_unit_test(markup_clipped__long_text__is_cut_between_characters),
        cmocka_unit_test(tree_lay_out__random_trees__no_two_nodes_overlap),
        cmocka_unit_test(tree_lay_out__three_leaves__parent_is_centred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
