/* Predicates on recorded failures, and on sources that pass: the examples and honest kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "os/file.h"
#include "rule/cluster.h"
#include "rule/predicate.h"

#include <string.h>

#define DIAGNOSTICS KOPE_SOURCE_DIR "/tests/diagnostics"

static char *read_file(const char *folder, const char *name, struct arena *arena)
{
    char *text = NULL;
    struct err err;
    return os_read_file(os_path_join(arena, folder, name), 1 << 20, arena, &text, NULL, &err)
               ? text
               : NULL;
}

static bool holds(const char *predicate, const char *source)
{
    struct arena arena = {0};
    static const char *const flags[] = {"-O3", "-march=native"};
    const struct rule_candidate candidate = {.source = source,
                                             .compiler_family = "gcc",
                                             .isa = "avx,avx2,fma",
                                             .flags = flags,
                                             .flag_count = 2};
    struct err err = {0};
    if (!rule_predicate_valid(predicate, &err))
        fail_msg("%s", err.message);
    const bool result = rule_predicate_holds(predicate, rule_source_read(&candidate, &arena));
    arena_free(&arena);
    return result;
}

static void assert_holds(const char *predicate, const char *source)
{
    if (!holds(predicate, source))
        fail_msg("'%s' does not hold for: %s", predicate, source);
}

static void assert_not(const char *predicate, const char *source)
{
    if (holds(predicate, source))
        fail_msg("'%s' holds for: %s", predicate, source);
}

/* Every look that a rule may be made of, on each source: which of them holds. */
static const char *const all_looks[] = {
    "open-brace",       "extra-brace",         "open-parenthesis", "open-comment",
    "open-literal",     "open-conditional",    "stray-character",  "undeclared-name",
    "undeclared-label", "undeclared-function", "unknown-type",     "missing-semicolon",
    "redefinition",     "write-to-const",      "argument-count",   "language CUDA",
    "language C++",     "language OpenCL"};

static void check_looks(const char *source, const char *path)
{
    struct arena arena = {0};
    const struct rule_source *read =
        rule_source_read(&(struct rule_candidate){.source = source}, &arena);
    for (size_t k = 0; k < sizeof all_looks / sizeof *all_looks; k++) {
        if (rule_predicate_holds(all_looks[k], read))
            fail_msg("'%s' holds for %s", all_looks[k], path);
    }
    arena_free(&arena);
}

static size_t check_honest(const char *folder, struct arena *arena)
{
    struct err err;
    char **names = NULL;
    size_t count = 0, checked = 0;
    if (!os_list_dir(folder, arena, &names, &count, &err))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const char *path = os_path_join(arena, folder, names[i]);
        if (os_path_is_dir(path)) {
            checked += check_honest(path, arena);
            continue;
        }
        const char *source =
            str_ends_with(names[i], ".c") ? read_file(folder, names[i], arena) : NULL;
        if (source)
            check_looks(source, path);
        checked += source != NULL;
    }
    return checked;
}

static void predicate_holds__kernels_that_pass__no_look_fires(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_true(check_honest(KOPE_SOURCE_DIR "/examples", &arena) >= 12);
    assert_true(check_honest(KOPE_SOURCE_DIR "/src", &arena) > 100);
    assert_true(check_honest(KOPE_SOURCE_DIR "/tests/honest", &arena) > 0);
    arena_free(&arena);
}

/* The sources of tests/diagnostics whose cause a predicate foretells without more samples. */
static void predicate_propose__one_recorded_failure__foretells_it(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err;
    char **names = NULL;
    size_t count = 0, failures = 0;
    assert_true(os_list_dir(DIAGNOSTICS, &arena, &names, &count, &err));
    for (size_t i = 0; i < count; i++) {
        if (!str_ends_with(names[i], ".gcc-12.txt"))
            continue;
        const size_t stem = strcspn(names[i], ".");
        const char *source =
            read_file(DIAGNOSTICS, arena_printf(&arena, "%.*s.c", (int)stem, names[i]), &arena);
        const struct failure failure = {.kind = VERDICT_BUILD_FAILED,
                                        .mechanism = "compiler",
                                        .entry = "f",
                                        .diagnostics = read_file(DIAGNOSTICS, names[i], &arena)};
        if (!strstr(failure.diagnostics, "error"))
            continue;
        const struct cause cause = cause_of(&failure, &arena);
        const struct rule_sample sample = {
            rule_source_read(&(struct rule_candidate){.source = source}, &arena), cause.line,
            cause.column};
        size_t covered = 0;
        const char *predicate = rule_find_predicate(&cause, &sample, 1, NULL, 0, &covered, &arena);
        failures++;
        if (!predicate)
            fail_msg("%s: none for '%s'", names[i], cause.key);
        assert_true(rule_predicate_valid(predicate, &err));
        assert_true(rule_predicate_holds(predicate, sample.source));
    }
    assert_true(failures > 30);
    arena_free(&arena);
}

static void predicate_holds__each_look__on_what_it_is_for(void **state)
{
    (void)state;
    assert_holds("open-brace", "void f(void)\n{\n    if (1) {\n}\n");
    assert_holds("extra-brace", "void f(void) { } }");
    assert_not("open-brace", "#if A\nvoid f(void) {\n#else\nvoid f(int x) {\n#endif\n}\n");
    assert_holds("open-parenthesis", "void f(void) { g((1); }");
    assert_not("open-parenthesis", "void f(void) { g(\"(\"); /* ( */ }");
    assert_holds("undeclared-name", "void f(float *y) { totl = y[0]; }");
    assert_not("undeclared-name", "void f(float *y) { float totl; totl = y[0]; }");
    assert_not("undeclared-name", "enum { first = 1, second };");
    assert_not("undeclared-name", "#include <stdio.h>\nvoid f(void) { totl = 1; }");
    assert_holds("undeclared-function", "void f(float *y) { y[0] = fast(y[1]); }");
    assert_not("undeclared-function",
               "static float fast(float); void f(float *y) { y[0] = fast(1); }");
    assert_not("undeclared-function", "void f(float *y) { y[0] = expf(y[1]); }");
    assert_not("undeclared-function", "#define fast(x) (x)\nvoid f(float *y) { y[0] = fast(1); }");
    assert_holds("unknown-type", "void f(void) { vec8 v; }");
    assert_not("unknown-type", "typedef float vec8; void f(void) { vec8 v; }");
    assert_holds("missing-semicolon", "void f(float *y) { float a = y[0]\n y[1] = a; }");
    assert_holds("missing-semicolon", "void f(float *y) { float a = y[0] * 2.0f\n return; }");
    assert_holds("missing-semicolon", "void f(float *y) { y[0] = y[1] }");
    assert_not("missing-semicolon", "enum { A, B }; float t[] = {1, 2}; struct s { int a; };");
    assert_not("missing-semicolon", "typedef float v; void f(void) { v a = (v){x}; v b; }");
    assert_holds("redefinition", "void f(void) { int a = 1; a++; int a = 2; }");
    assert_not("redefinition", "void f(void) { { int a = 1; } { int a = 2; } }");
    assert_holds("write-to-const", "void f(const float *x) { x[0] = 1; }");
    assert_not("write-to-const", "void f(const float *x, float *y) { y[0] = x[0]; }");
    assert_holds("argument-count", "int g(int a, int b) { return a; } void f(void) { g(1); }");
    assert_not("argument-count",
               "int g(int a, int b) { return a; } void f(void) { g(1, h(2, 3)); }");
    assert_holds("undeclared-label", "void f(void) { goto out; }");
    assert_not("undeclared-label", "void f(void) { goto out; out:; }");
    assert_holds("language CUDA", "__global__ void f(void) { }");
    assert_not("language C++", "/* template */ void f(void) { }");
    assert_holds("stray-character", "int a \xe2\x88\x92 b;");
    assert_not("stray-character", "/* \xe2\x88\x92 */ int a;");
}

static void predicate_holds__words_and_sequences__match(void **state)
{
    (void)state;
    assert_holds("uses _mm512_*", "void f(void) { _mm512_setzero_ps(); }");
    assert_holds("uses _mm512_*; lacks immintrin.h", "void f(void) { _mm512_setzero_ps(); }");
    assert_not("uses _mm512_*; lacks immintrin.h", "#include <immintrin.h>\nint _mm512_x;");
    assert_holds("includes cblas.h", "#  include   <cblas.h>\n");
    assert_holds("calls printf", "void f(void) { printf(\"x\"); }");
    assert_holds("calls g with 2", "void f(void) { g(h(1, 2), 3); }");
    assert_not("calls g with 2", "void f(void) { g(h(1, 2)); }");
    assert_holds("calls g with 0", "void f(void) { g(); }");
    assert_holds("flag -march=*", "");
    assert_not("flag -O2", "");
    assert_holds("isa-off avx512", "");
    assert_not("isa-off fma", "");
    assert_not("isa-off avx512", "__attribute__((target(\"avx512f\"))) void f(void) { }");
    assert_holds("sequence float $name = _mm256_* (", "float t = _mm256_loadu_ps(x);");
    assert_not("sequence float $name = _mm256_* (", "__m256 t = _mm256_loadu_ps(x);");
    assert_holds("sequence $name $end return $number", "x; return 3;");
    assert_holds("undefined FLT_MAX", "float f(void) { return FLT_MAX; }");
    assert_not("undefined FLT_MAX", "#define FLT_MAX 3\nfloat f(void) { return FLT_MAX; }");
}

static void predicate_valid__hostile_text__is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "uses",
        "uses a b",
        "open-brace; ",
        "; open-brace",
        "flag",
        "calls a with",
        "calls a with x",
        "sequence a",
        "open brace",
        "uses a; b",
        "run rm",
        "sequence a b c d e f g h i j k l m n o p q r s t u v w x y z"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        if (rule_predicate_valid(bad[i], &err))
            fail_msg("'%s' is valid", bad[i]);
        assert_int_equal(err.kind, ERR_BAD_INPUT);
    }
}

/* Flags decide whether an instruction set is there, in the order in which they stand. */
static void predicate_holds__isa_off__follows_the_flags(void **state)
{
    (void)state;
    const struct {
        const char *flags[3], *feature;
        bool is_off;
    } rows[] = {
        {{"-O3"}, "avx", true},
        {{"-march=x86-64-v3"}, "avx", false},
        {{"-march=x86-64-v3"}, "avx512", true},
        {{"-march=x86-64-v4"}, "avx512", false},
        {{"-march=native"}, "fma", false},
        {{"-march=native", "-mno-fma"}, "fma", true},
        {{"-mavx2"}, "avx", false},
        {{"-mavx512f", "-mno-avx2"}, "avx512", true},
        {{"-march=x86-64-v4", "-mno-avx512f"}, "avx", false},
        {{"-march=x86-64-v4", "-mno-avx512f"}, "avx512", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        size_t count = 0;
        while (count < 3 && rows[i].flags[count])
            count++;
        const struct rule_candidate candidate = {
            .source = "", .isa = "avx,avx2,fma", .flags = rows[i].flags, .flag_count = count};
        const char *predicate = arena_printf(&arena, "isa-off %s", rows[i].feature);
        if (rule_predicate_holds(predicate, rule_source_read(&candidate, &arena)) != rows[i].is_off)
            fail_msg("row %zu", i);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predicate_holds__kernels_that_pass__no_look_fires),
        cmocka_unit_test(predicate_holds__each_look__on_what_it_is_for),
        cmocka_unit_test(predicate_holds__words_and_sequences__match),
        cmocka_unit_test(predicate_holds__isa_off__follows_the_flags),
        cmocka_unit_test(predicate_valid__hostile_text__is_refused),
        cmocka_unit_test(predicate_propose__one_recorded_failure__foretells_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
