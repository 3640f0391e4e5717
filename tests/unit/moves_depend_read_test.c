/* Constraints read without isl's reader: the same sets and maps as by it. */
#include "base/arena.h"
#include "moves/nest/depend_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

/* What is left to isl's reader: floor, a union, a number past 32 bits. Compared with itself it
 * would always be equal. */
static bool is_linear(const char *text)
{
    return !strstr(text, "floor") && !strstr(text, " or ") && !strstr(text, "281474976710657");
}

static void depend_read_set__constraints__are_what_isl_reads(void **state)
{
    static const char *const texts[] = {
        "{ [] : 0 = 0 }",
        "{ [s_i] : s_i < 0 and s_i >= 0 }",
        "[p_n] -> { [s_i] : 0 = 0 and s_i < p_n and s_i >= 0 and (s_i - (0)) mod 64 = 0 }",
        "[p_n, p_m] -> { [s_i, s_j] : 2 s_i - s_j + 3 <= p_n and s_j > -p_m and s_i = 7 s_j - 1 }",
        "[p_n, p_s] -> { [s_i] : s_i < p_s + 64 and s_i < p_n and s_i >= p_s and p_n >= 1 and "
        "p_n <= 1099511627776 and p_s >= 0 and (p_s - (0)) mod 64 = 0 and "
        "(s_i - (p_s)) mod 3 = 0 }",
        "[p_n__p_m] -> { L12[t_i] : t_i - 1 >= 0 and t_i - 1 < p_n__p_m }",
        /* not linear: isl's own reader does it */
        "[p_n] -> { [s_i] : s_i = floor((p_n - (1)) / 4) }",
        "[p_n] -> { [s_i] : s_i < p_n or s_i > 2 }",
        "[p_n] -> { [s_i] : 281474976710657 s_i < p_n }",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct depend d = {.arena = &arena, .isl = isl_ctx_alloc()};
        isl_set *ours = depend_read_set(&d, texts[i]);
        isl_set *theirs = isl_set_read_from_str(d.isl, texts[i]);
        assert_non_null(ours);
        if (isl_set_is_equal(ours, theirs) != isl_bool_true)
            fail_msg("another set: %s", texts[i]);
        if ((d.read_by_isl == 0) != is_linear(texts[i]))
            fail_msg("read by %s: %s", d.read_by_isl == 0 ? "ours" : "isl's reader", texts[i]);
        (void)isl_set_free(ours);
        (void)isl_set_free(theirs);
        isl_ctx_free(d.isl);
    }
}

static void depend_read_map__constraints__are_what_isl_reads(void **state)
{
    static const char *const texts[] = {
        "{ L0[] -> L1[t_i] : t_i >= 0 }",
        "[p_n] -> { L0[s_i, s_j] -> L0[t_i, t_j] : 0 = 0 and s_i < p_n and s_i >= 0 and "
        "t_i < p_n and t_i >= 0 and (s_i - (0)) mod 4 = 0 and (t_i - (0)) mod 4 = 0 and "
        "s_j = t_j and s_i + s_j + 1 = t_i + t_j }",
        "[p_n] -> { L3[s_i] -> L10[t_j] : s_i - p_n = t_j - p_n and s_i > 5 }",
        "[p_n] -> { L3[s_i] -> L10[t_j] : t_j = floor((s_i - (p_n)) / 8) }",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct depend d = {.arena = &arena, .isl = isl_ctx_alloc()};
        isl_map *ours = depend_read_map(&d, texts[i]);
        isl_map *theirs = isl_map_read_from_str(d.isl, texts[i]);
        assert_non_null(ours);
        if (isl_map_is_equal(ours, theirs) != isl_bool_true)
            fail_msg("another map: %s", texts[i]);
        if ((d.read_by_isl == 0) != is_linear(texts[i]))
            fail_msg("read by %s: %s", d.read_by_isl == 0 ? "ours" : "isl's reader", texts[i]);
        (void)isl_map_free(ours);
        (void)isl_map_free(theirs);
        isl_ctx_free(d.isl);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depend_read_set__constraints__are_what_isl_reads),
        cmocka_unit_test(depend_read_map__constraints__are_what_isl_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
