#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "moves/inverse.h"
#include "moves/moves.h"

#include <string.h>

struct list {
    struct arena arena;
    struct inverse_edit edits[INVERSE_MAX_EDITS];
    size_t count;
};

static void take(struct list *list, const char *text)
{
    *list = (struct list){0};
    list->count = inverse_list(text, &list->arena, list->edits);
}

/* The text without that mechanism; NULL where it cannot be taken out. */
static const char *without(const struct list *list, enum mechanism mechanism, const char *what)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->edits[i].mechanism == mechanism && str_equal(list->edits[i].what, what))
            return list->edits[i].text;
    }
    return NULL;
}

static void assert_without(const char *text, enum mechanism mechanism, const char *what,
                           const char *want)
{
    struct list list;
    take(&list, text);
    const char *got = without(&list, mechanism, what);
    if (!got)
        fail_msg("%s of '%s' was not found", mechanism_name(mechanism), text);
    else
        assert_string_equal(got, want);
    arena_free(&list.arena);
}

static void inverse_list__each_mechanism__is_taken_out(void **state)
{
    (void)state;
    static const struct {
        enum mechanism mechanism;
        const char *what, *text, *want;
    } cases[] = {
        {MECHANISM_PREFETCH, "", "void f(void) { __builtin_prefetch(x + (n), 0, 3); g(); }",
         "void f(void) { ; g(); }"},
        {MECHANISM_STREAM_STORE, "", "__builtin_ia32_movntps256(y + j, v);",
         "__builtin_memcpy(y + j, &v, sizeof v);"},
        {MECHANISM_PIN, "", "__asm__ volatile(\"\" : \"+x\"(v)); v++;", "; v++;"},
        {MECHANISM_HINT, "", "if (__builtin_expect(a(1, 2) > b, 1)) c();",
         "if ((a(1, 2) > b)) c();"},
        {MECHANISM_UNROLL, "", "#pragma GCC unroll 4\nfor (;;) ;", "\nfor (;;) ;"},
        {MECHANISM_SIMD, "", "#  pragma omp  simd reduction(+:s)\nx;", "\nx;"},
        {MECHANISM_SIZE, "LANES", "enum { LANES = 16, ONE = 1, ROWS = 4 };",
         "enum { LANES = 1, ONE = 1, ROWS = 4 };"},
        {MECHANISM_SIZE, "ROWS", "enum { LANES = 16, ONE = 1, ROWS = 4 };",
         "enum { LANES = 16, ONE = 1, ROWS = 1 };"},
        {MECHANISM_RESTRICT, "", "void f(float *restrict x);", "void f(float * x);"},
        {MECHANISM_RECIPROCAL, "inv", "float inv = 1.0f / s; y *= inv; z = a * inv;",
         "float inv =  s; y /= inv; z = a / inv;"},
        {MECHANISM_VECTOR_MATH, "",
         "#include <math.h>\nfloat vexpf(float x) { return x; }\nvoid f(void) { y = vexpf(x); }",
         "#include <math.h>\nfloat vexpf(float x) { return x; }\nvoid f(void) { y = expf(x); }"},
        {MECHANISM_LOOP_ORDER, "i,p",
         "for (int i = 0; i < n; i++) for (int p = 0; p < k; p++) a[i] += b[p];",
         "for (int p = 0; p < k; p++) for (int i = 0; i < n; i++) a[i] += b[p];"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_without(cases[i].text, cases[i].mechanism, cases[i].what, cases[i].want);
}

static void inverse_list__what_is_not_safe__stays(void **state)
{
    (void)state;
    struct list list;
    static const char *const texts[] = {
        "/* #pragma omp simd restrict __builtin_prefetch(x); */ \"restrict\"",
        "float inv = 1.0f / s; y = inv + 1;", /* used in another way */
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[j] = 0;",
        "for (int i = 0; i < n; i++) { s = 0; for (int j = 0; j < n; j++) s += a[j]; }",
        "enum { ONE = 1, ZERO = 0 };",
        "float vexpf(float x) { return x; }",
        "unclosed ( [",
        "",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        take(&list, texts[i]);
        if (list.count != 0)
            fail_msg("'%s' gives %s: %s", texts[i], mechanism_name(list.edits[0].mechanism),
                     list.edits[0].text);
        arena_free(&list.arena);
    }
}

static void moves_change_of_flag__is_what_the_recipe_says(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(moves_change_of_flag("-fno-math-errno", &arena), "fast=no-errno");
    assert_string_equal(moves_change_of_flag("-funroll-loops", &arena), "unroll=loops");
    assert_null(moves_change_of_flag("-fno-such-flag", &arena));
    arena_free(&arena);
}

static void moves_check_changes__hostile_words__are_refused(void **state)
{
    (void)state;
    struct err err;
    static const char *const good[] = {"", "fast=no-errno,associative?", "compiler=gcc-12 strip=64",
                                       "simd=map?,reduce? restrict=1",
                                       "do=vectorize,nest-vectors-4 compiler=clang-19"};
    static const char *const bad[] = {"x",
                                      "=",
                                      "fast=",
                                      "fast=no-errno,",
                                      "fast=sudo",
                                      "strip=63",
                                      "strip=16,32",
                                      "fast=no-errno,no-errno",
                                      "nest=boom(i)",
                                      "nest=",
                                      "opt=3 =",
                                      "do=",
                                      "do=a,",
                                      "do=a,,b",
                                      "do=a;b",
                                      "do=a do=b",
                                      "strip=64 do=a",
                                      "do=a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a",
                                      "fast"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!moves_check_changes(good[i], &err))
            fail_msg("refused: '%s'", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (moves_check_changes(bad[i], &err))
            fail_msg("not refused: '%s'", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse_list__each_mechanism__is_taken_out),
        cmocka_unit_test(inverse_list__what_is_not_safe__stays),
        cmocka_unit_test(moves_change_of_flag__is_what_the_recipe_says),
        cmocka_unit_test(moves_check_changes__hostile_words__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
