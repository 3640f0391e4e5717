/* Candidates and verdicts: ids, flags, copies, names, summaries. */
#include "base/str.h"
#include "task/candidate.h"
#include "task/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static struct candidate example(void)
{
    return (struct candidate){
        .source = "void f(void) {}",
        .compiler = "clang-19",
        .flags = {"-O3", "-march=native", "-mllvm", "-polly"},
        .flag_count = 4,
        .recipe = "compiler=clang-19 polly=1",
    };
}

static void candidate_id__source_compiler_or_flags_differ__differs(void **state)
{
    const struct candidate base = example();
    struct candidate other[6];
    (void)state;
    for (size_t i = 0; i < 6; i++)
        other[i] = base;
    other[0].source = "void f(void) { }";
    other[1].compiler = NULL;
    other[2].flag_count = 3;
    other[3].flags[0] = "-O2";
    other[4].flags[0] = "-march=native";
    other[4].flags[1] = "-O3";
    other[5].recipe = NULL;
    const struct hash_id id = candidate_id(&base);
    assert_int_equal(strlen(id.text), HASH_ID_CHARS);
    for (size_t i = 0; i < 5; i++)
        assert_string_not_equal(candidate_id(&other[i]).text, id.text);
    assert_string_equal(candidate_id(&other[5]).text, id.text); /* how it was made is no part */
}

static void candidate_flags__to_text_and_back__are_the_same(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct candidate base = example();
    struct candidate back = {0};
    (void)state;
    assert_string_equal(candidate_flags_text(&base, &arena), "-O3 -march=native -mllvm -polly");
    assert_true(candidate_parse_flags("  -O3\t-march=native -mllvm\n-polly ", &arena, &back));
    assert_int_equal(back.flag_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(back.flags[i], base.flags[i]);
    assert_string_equal(candidate_flags_text(&(struct candidate){0}, &arena), "");
    assert_true(candidate_parse_flags("", &arena, &back));
    assert_int_equal(back.flag_count, 0);
}

static void candidate_parse_flags__too_many__is_refused_and_untouched(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char text[4 * (CANDIDATE_MAX_FLAGS + 1) + 1] = "";
    struct candidate out = example();
    (void)state;
    for (int i = 0; i < CANDIDATE_MAX_FLAGS; i++)
        memcpy(text + 4 * i, "-fx ", 5);
    assert_true(candidate_parse_flags(text, &arena, &out));
    assert_int_equal(out.flag_count, CANDIDATE_MAX_FLAGS);
    memcpy(text + (size_t)4 * CANDIDATE_MAX_FLAGS, "-fx ", 5);
    out = example();
    assert_false(candidate_parse_flags(text, &arena, &out));
    assert_int_equal(out.flag_count, 4);
    assert_string_equal(out.flags[0], "-O3");
}

static void candidate_copy__original_is_gone__stays(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct arena gone = {0};
    const struct candidate base = example();
    const struct candidate first = candidate_copy(&base, &gone);
    const struct candidate copy = candidate_copy(&first, &arena);
    (void)state;
    arena_free(&gone);
    assert_string_equal(candidate_id(&copy).text, candidate_id(&base).text);
    assert_string_equal(copy.recipe, base.recipe);
    assert_null(candidate_copy(&(struct candidate){.source = ""}, &arena).compiler);
}

static void verdict_names__every_kind__goes_round(void **state)
{
    enum verdict_kind kind = VERDICT_TIMED;
    (void)state;
    for (int i = 0; i < VERDICT_COUNT; i++) {
        assert_true(verdict_kind_from_name(verdict_kind_name((enum verdict_kind)i), &kind));
        assert_int_equal(kind, i);
    }
    assert_string_equal(verdict_kind_name(VERDICT_TOO_NOISY), "too-noisy");
    kind = VERDICT_WRONG;
    assert_false(verdict_kind_from_name("fine", &kind));
    assert_int_equal(kind, VERDICT_WRONG);
    assert_int_equal(verdict_kind_exit_code(VERDICT_TIMED), 0);
    assert_int_equal(verdict_kind_exit_code(VERDICT_BUILD_FAILED), 20);
    assert_int_equal(verdict_kind_exit_code(VERDICT_WRONG), 22);
}

/* A timed verdict with this ratio and interval. */
static struct verdict timed(double ratio, double low, double high, bool is_win)
{
    static struct case_result one = {.name = "n=1", .weight = 1.0};
    return (struct verdict){.kind = VERDICT_TIMED,
                            .cases = &one,
                            .case_count = 1,
                            .log_ratio = log(ratio),
                            .log_low = log(low),
                            .log_high = log(high),
                            .is_win = is_win};
}

static void verdict_summary__timed__says_faster_slower_or_neither(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct verdict v = timed(1.87, 1.84, 1.90, true);
    (void)state;
    assert_string_equal(verdict_summary(&v, &arena), "timed: 1.87x faster [1.84, 1.90]");
    v.has_held_out = true;
    v.held_out_log_ratio = log(1.5);
    v.held_out_low = log(1.4);
    v.held_out_high = log(1.6);
    assert_string_equal(verdict_summary(&v, &arena),
                        "timed: 1.87x faster [1.84, 1.90], held out 1.50x [1.40, 1.60]");
    v = timed(0.85, 0.84, 0.86, false);
    assert_string_equal(verdict_summary(&v, &arena), "timed: 0.85x, slower [0.84, 0.86]");
    v = timed(1.0, 0.99, 1.01, false);
    assert_string_equal(verdict_summary(&v, &arena), "no difference 1.00x [0.99, 1.01]");
    v = (struct verdict){.kind = VERDICT_TIMED};
    assert_string_equal(verdict_summary(&v, &arena), "right, not timed");
}

static void verdict_summary__failed__is_kind_and_evidence_on_one_line(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char text[400];
    struct verdict v = {.kind = VERDICT_WRONG, .mechanism = "M9", .evidence = "y[3] is 1\nnot 2"};
    (void)state;
    assert_string_equal(verdict_summary(&v, &arena), "wrong: y[3] is 1 not 2");
    v = (struct verdict){.kind = VERDICT_REJECTED, .mechanism = "seccomp", .evidence = ""};
    assert_string_equal(verdict_summary(&v, &arena), "rejected: seccomp");
    v = (struct verdict){.kind = VERDICT_CRASHED};
    assert_string_equal(verdict_summary(&v, &arena), "crashed");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    v = (struct verdict){.kind = VERDICT_BUILD_FAILED, .evidence = text};
    const char *summary = verdict_summary(&v, &arena);
    assert_true(strlen(summary) < 300);
    assert_true(str_ends_with(summary, "xxx..."));
}

static void verdict_copy__original_is_gone__stays(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct arena gone = {0};
    struct case_result cases[2] = {{.name = "a", .pairs = 3}, {.name = "b", .pairs = 4}};
    struct verdict v = timed(2.0, 1.9, 2.1, true);
    (void)state;
    v.cases = cases;
    v.case_count = 2;
    v.evidence = "fine";
    v.diagnostics = "";
    const struct verdict first = verdict_copy(&v, &gone);
    const struct verdict copy = verdict_copy(&first, &arena);
    arena_free(&gone);
    assert_string_equal(copy.evidence, "fine");
    assert_string_equal(copy.diagnostics, "");
    assert_null(copy.mechanism);
    assert_string_equal(copy.cases[1].name, "b");
    assert_int_equal(copy.cases[1].pairs, 4);
    assert_ptr_not_equal(copy.cases, cases);
    const struct verdict empty = {.kind = VERDICT_CRASHED};
    assert_null(verdict_copy(&empty, &arena).cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidate_id__source_compiler_or_flags_differ__differs),
        cmocka_unit_test(candidate_flags__to_text_and_back__are_the_same),
        cmocka_unit_test(candidate_parse_flags__too_many__is_refused_and_untouched),
        cmocka_unit_test(candidate_copy__original_is_gone__stays),
        cmocka_unit_test(verdict_names__every_kind__goes_round),
        cmocka_unit_test(verdict_summary__timed__says_faster_slower_or_neither),
        cmocka_unit_test(verdict_summary__failed__is_kind_and_evidence_on_one_line),
        cmocka_unit_test(verdict_copy__original_is_gone__stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
