/* The diff against what a reader expects, and against the longest common subsequence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "report/report.h"

#include <string.h>

static void assert_diff(const char *before, const char *after, const char *expected)
{
    struct arena arena = {0};
    assert_string_equal(report_diff(before, after, &arena), expected);
    arena_free(&arena);
}

static void report_diff__equal_texts__only_context(void **state)
{
    (void)state;
    assert_diff("a\nb\n", "a\nb\n", " a\n b\n");
    assert_diff("", "", "");
    assert_diff(NULL, NULL, "");
}

static void report_diff__one_side_is_empty__all_added_or_removed(void **state)
{
    (void)state;
    assert_diff("", "a\nb\n", "+a\n+b\n");
    assert_diff("a\nb", "", "-a\n-b\n");
}

static void report_diff__last_line_without_newline__is_the_same_line(void **state)
{
    (void)state;
    assert_diff("a\nb", "a\nb\n", " a\n b\n");
}

static void report_diff__changed_lines__removed_before_added(void **state)
{
    (void)state;
    assert_diff("a\nb\nc\nd\n", "a\nx\ny\nd\n", " a\n-b\n-c\n+x\n+y\n d\n");
    assert_diff("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n",
                "-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c\n");
}

static void report_diff__only_a_brace_matches_between_changes__counts_as_changed(void **state)
{
    (void)state;
    assert_diff("a\n}\nb\n", "x\n}\ny\n", "-a\n-}\n-b\n+x\n+}\n+y\n");
    assert_diff("a\n}\n", "x\n}\n", "-a\n+x\n }\n");
}

static size_t common_subsequence(const char *a, size_t n, const char *b, size_t m)
{
    size_t table[33][33] = {{0}};
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            const size_t longer =
                table[i - 1][j] > table[i][j - 1] ? table[i - 1][j] : table[i][j - 1];
            table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : longer;
        }
    }
    return table[n][m];
}

/* A text of `n` one-letter lines. */
static void draw_lines(struct rng *rng, size_t n, char *letters, char *text)
{
    for (size_t i = 0; i < n; i++) {
        letters[i] = (char)('a' + rng_below(rng, 4));
        text[2 * i] = letters[i];
        text[2 * i + 1] = '\n';
    }
    text[2 * n] = '\0';
}

/* Rebuilds both texts from the diff and counts the lines that it kept. */
static size_t apply(const char *diff, char *before, char *after)
{
    size_t kept = 0;
    for (; *diff; diff += 3) {
        if (*diff != '+') {
            *before++ = diff[1];
            *before++ = '\n';
        }
        if (*diff != '-') {
            *after++ = diff[1];
            *after++ = '\n';
        }
        kept += *diff == ' ';
    }
    *before = *after = '\0';
    return kept;
}

static void report_diff__random_texts__rebuild_and_are_shortest(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(1);
    for (int round = 0; round < 3000; round++) {
        char a[32];
        char b[32];
        char before[65];
        char after[65];
        char again_before[65];
        char again_after[65];
        struct arena arena = {0};
        const size_t n = (size_t)rng_below(&rng, 33);
        const size_t m = (size_t)rng_below(&rng, 33);
        draw_lines(&rng, n, a, before);
        draw_lines(&rng, m, b, after);
        const size_t kept = apply(report_diff(before, after, &arena), again_before, again_after);
        assert_string_equal(again_before, before);
        assert_string_equal(again_after, after);
        assert_int_equal(kept, common_subsequence(a, n, b, m));
        arena_free(&arena);
    }
}

static void report_diff__thousands_of_different_lines__replaced_as_a_whole(void **state)
{
    (void)state;
    enum { LINES = 4000 };
    struct arena arena = {0};
    CLEANUP(buf_free) struct buf before = {0};
    CLEANUP(buf_free) struct buf after = {0};
    for (int i = 0; i < LINES; i++) {
        assert_true(buf_printf(&before, "before %d\n", i));
        assert_true(buf_printf(&after, "after %d\n", i));
    }
    const char *diff = report_diff(before.data, after.data, &arena);
    assert_int_equal(strncmp(diff, "-before 0\n-before 1\n", 20), 0);
    assert_int_equal(strlen(diff), before.length + after.length + (size_t)LINES * 2);
    assert_true(arena.used_bytes < (size_t)32 * 1024 * 1024);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_diff__equal_texts__only_context),
        cmocka_unit_test(report_diff__one_side_is_empty__all_added_or_removed),
        cmocka_unit_test(report_diff__last_line_without_newline__is_the_same_line),
        cmocka_unit_test(report_diff__changed_lines__removed_before_added),
        cmocka_unit_test(report_diff__only_a_brace_matches_between_changes__counts_as_changed),
        cmocka_unit_test(report_diff__random_texts__rebuild_and_are_shortest),
        cmocka_unit_test(report_diff__thousands_of_different_lines__replaced_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
