/* Edits of the reference's text: golden results on tricky sources, and refusals where a dependence
 * is possible. */
#include "moves_fixture.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The source of `reference` under the options of `recipe`. */
static const char *edited(const char *reference, const char *recipe, struct arena *arena)
{
    const struct task task = fixture_task("f", reference);
    const struct moves_env env = fixture_env(&task);
    const struct recipe *parsed = NULL;
    struct candidate candidate;
    struct err err = {0};
    if (!recipe_parse(&env, arena_printf(arena, "compiler=gcc-12 %s", recipe), arena, &parsed,
                      &err) ||
        !recipe_candidate(&env, parsed, arena, &candidate, &err))
        fail_msg("%s", err.message);
    return candidate.source;
}

struct edit_case {
    const char *before, *after;
};

static void check_cases(const struct edit_case *cases, size_t count, const char *recipe)
{
    for (size_t i = 0; i < count; i++) {
        struct arena arena = {0};
        assert_string_equal(edited(cases[i].before, recipe, &arena), cases[i].after);
        arena_free(&arena);
    }
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void edit_restrict__tricky_sources__only_the_entrys_pointers(void **state)
{
    (void)state;
    static const struct edit_case cases[] = {
        {"void f(const real *x, real *y, int64_t n)\n{\n}\n",
         "void f(const real *restrict x, real *restrict y, int64_t n)\n{\n}\n"},
        /* the name in comments, strings, macros, calls and declarations */
        {"/* void f(real *a) { */ // f(real *b) {\n#define f2(x) f(x) \\\n  void f(real *z) {\n"
         "void f(real *x);\nstatic const char *s = \"void f(real *x) {\";\n"
         "static void g(real *x)\n{\n    f(x);\n}\nvoid f(real *x)\n{\n}\n",
         "/* void f(real *a) { */ // f(real *b) {\n#define f2(x) f(x) \\\n  void f(real *z) {\n"
         "void f(real *x);\nstatic const char *s = \"void f(real *x) {\";\n"
         "static void g(real *x)\n{\n    f(x);\n}\nvoid f(real *restrict x)\n{\n}\n"},
        /* a parameter named like the entry; K&R braces; a comment within; qualified and restrict
           already */
        {"void f(real *f, real * /* * out */ y, real *const z, const real *restrict w) {\n}\n",
         "void f(real *restrict f, real *restrict  /* * out */ y, real *restrict const z, const "
         "real "
         "*restrict w) {\n}\n"},
        /* arrays, pointers to pointers and to functions */
        {"void f(real x[], real **p, void (*g)(real *), real y[4][4])\n{\n}\n",
         "void f(real x[restrict], real **restrict p, void (*g)(real *), real y[4][4])\n{\n}\n"},
        {"void f(real *x) __attribute__((noinline));\nvoid f(real *x) __attribute__((hot))\n{\n}\n",
         "void f(real *x) __attribute__((noinline));\nvoid f(real *restrict x) "
         "__attribute__((hot))\n{\n}\n"},
        /* not found, or not lexed: left alone */
        {"#define ENTRY void f(real *x) {\nENTRY }\n",
         "#define ENTRY void f(real *x) {\nENTRY }\n"},
        {"void f(real *x) { /* open\n", "void f(real *x) { /* open\n"},
        {"void f(real *x) { )\n", "void f(real *x) { )\n"},
        {"char *s = \"open\nvoid f(real *x) {}\n", "char *s = \"open\nvoid f(real *x) {}\n"},
    };
    check_cases(cases, COUNT(cases), "restrict=1");
}

#define BODY(code) "void f(const real *x, real *y, const real *z, int64_t n)\n{\n" code "}\n"
#define FOR "    for (int64_t i = 0; i < n; i++)"

static void edit_simd__reductions__are_marked(void **state)
{
    (void)state;
    static const struct edit_case cases[] = {
        {BODY("    real s = 0;\n" FOR "\n        s += x[i];\n"),
         BODY("    real s = 0;\n    #pragma omp simd reduction(+:s)\n" FOR
              "\n        s += x[i];\n")},
        {BODY("    real s = 1;\n" FOR
              " {\n        const real d = x[i] - 1;\n        s *= d;\n    }\n"),
         BODY("    real s = 1;\n    #pragma omp simd reduction(*:s)\n" FOR
              " {\n        const real d = x[i] - 1;\n        s *= d;\n    }\n")},
        {BODY("    real m = x[0];\n" FOR "\n        m = x[i] > m ? x[i] : m;\n"),
         BODY("    real m = x[0];\n    #pragma omp simd reduction(max:m)\n" FOR
              "\n        m = x[i] > m ? x[i] : m;\n")},
        {BODY("    real m = x[0];\n" FOR "\n        m = (m < x[i]) ? m : x[i];\n"),
         BODY("    real m = x[0];\n    #pragma omp simd reduction(min:m)\n" FOR
              "\n        m = (m < x[i]) ? m : x[i];\n")},
        {BODY("    real m = x[0];\n" FOR
              " {\n        if (m <= x[i]) {\n            m = x[i];\n        }\n    }\n"),
         BODY("    real m = x[0];\n    #pragma omp simd reduction(max:m)\n" FOR
              " {\n        if (m <= x[i]) {\n            m = x[i];\n        }\n    }\n")},
        {BODY("    real m = x[0];\n" FOR "\n        m = fmax(m, x[i]);\n"),
         BODY("    real m = x[0];\n    #pragma omp simd reduction(max:m)\n" FOR
              "\n        m = fmax(m, x[i]);\n")},
        /* not the first of its line; two reductions */
        {BODY("    real s = 0, t = 0; if (n) for (int64_t i = 0; i < n; ++i) { s += x[i]; t -= "
              "z[i]; }\n"),
         BODY("    real s = 0, t = 0; if (n) _Pragma(\"omp simd reduction(+:s) reduction(+:t)\") "
              "for "
              "(int64_t i = 0; i < n; ++i) { s += x[i]; t -= z[i]; }\n")},
        {BODY("    real s = 0;\n" FOR " {\n        s += x[i];\n        y[i] = s;\n    }\n"),
         BODY("    real s = 0;\n    #pragma omp simd reduction(inscan, +:s)\n" FOR
              " {\n        s += x[i];\n        #pragma omp scan inclusive(s)\n        y[i] = s;\n  "
              "  }\n")},
        {BODY("    real s = 0;\n" FOR " {\n        s += x[i];\n        const real t = s + 1;\n"
              "        y[i] = t;\n    }\n"),
         BODY("    real s = 0;\n    #pragma omp simd reduction(inscan, +:s)\n" FOR
              " {\n        s += x[i];\n        #pragma omp scan inclusive(s)\n        { const real "
              "t = s + 1;\n        y[i] = t;\n    } }\n")},
    };
    check_cases(cases, COUNT(cases), "simd=map,reduce,extremum,scan");
}

static void edit_simd__maps__are_marked(void **state)
{
    (void)state;
    static const struct edit_case cases[] = {
        {BODY(FOR "\n        y[i] = exp(x[i]) + z[i + 1];\n"),
         BODY("    #pragma omp simd\n" FOR "\n        y[i] = exp(x[i]) + z[i + 1];\n")},
        {BODY("    real *out = y + 4;\n" FOR "\n        out[2 * i] = x[i];\n"),
         BODY("    real *out = y + 4;\n    #pragma omp simd\n" FOR
              "\n        out[2 * i] = x[i];\n")},
        {BODY(FOR " {\n        if (x[i] > 0)\n            y[i] += z[i];\n    }\n"),
         BODY("    #pragma omp simd\n" FOR
              " {\n        if (x[i] > 0)\n            y[i] += z[i];\n    }\n")},
    };
    check_cases(cases, COUNT(cases), "simd=map");
}

/* Each of these has, or may have, a dependence that a simd pragma would break. */
static void edit_simd__possible_dependence__left_alone(void **state)
{
    (void)state;
    static const char *const sources[] = {
        BODY(FOR "\n        y[i + 1] = y[i] + x[i];\n"),
        BODY(FOR "\n        y[0] = x[i];\n"),
        BODY(FOR "\n        y[i % 4] = x[i];\n"),
        BODY(FOR "\n        y[i / 2] = x[i];\n"),
        BODY(FOR "\n        y[(int64_t)x[i]] = x[i];\n"),
        BODY("    real *a = y, *b = y;\n" FOR "\n        a[i] = b[i + 1];\n"),
        BODY("    real *a = y;\n    real *b = y + 1;\n" FOR "\n        a[i] = b[i];\n"),
        BODY("    real *a = n > 3 ? y : y + 1;\n    a = y;\n" FOR "\n        a[i] = x[i];\n"),
        BODY(FOR "\n        *y += x[i];\n"),
        BODY(FOR "\n        *y++ = x[i];\n"),
        BODY(FOR " {\n        if (x[i] < 0)\n            break;\n        y[i] = x[i];\n    }\n"),
        BODY(FOR " {\n        y[i] = g(x[i]);\n    }\n"),
        BODY("    real s = 0;\n" FOR "\n        s = s * x[i] + 1;\n"),
        BODY("    real s = 0;\n" FOR " {\n        s += x[i] * s;\n    }\n"),
        BODY("    int64_t last = 0;\n" FOR "\n        if (x[i] > 0)\n            last = i;\n"),
        BODY("    real m = 0;\n" FOR "\n        if (i == 0 || x[i] > m)\n            m = x[i];\n"),
        BODY("    real m = 0;\n" FOR "\n        if (x[i] > m)\n            m = z[i];\n"),
        BODY("    real m = 0;\n" FOR
             "\n        if (x[i] > m)\n            m = x[i];\n        else\n            m = 0;\n"),
        BODY("    int64_t best = 0;\n" FOR
             "\n        if (x[i] > x[best])\n            best = i;\n"),
        BODY("    real s = 0;\n" FOR " {\n        s += x[i];\n        n = n - 1;\n    }\n"),
        BODY("    real s = 0;\n" FOR " {\n        s += x[i];\n        i += 1;\n    }\n"),
        BODY("    #pragma omp simd\n" FOR "\n        y[i] = x[i];\n"),
        BODY(FOR " {\n#ifdef A\n        y[i] = x[i];\n#endif\n    }\n"),
        BODY("    for (int64_t i = 0, j = 0; i < n; i++)\n        y[i] = x[i];\n"),
        BODY("    for (int64_t i = 0; i < n && x[i] > 0; i++)\n        y[i] = x[i];\n"),
        BODY("    int64_t i;\n    for (i = 0; i < n; i++)\n        y[i] = x[i];\n"),
        BODY("    /* for (int64_t i = 0; i < n; i++) y[i] = x[i]; */\n"),
        BODY("    volatile real s = 0;\n" FOR
             " {\n        volatile real t = x[i];\n        y[i] = t;\n    }\n"),
    };
    for (size_t i = 0; i < COUNT(sources); i++) {
        struct arena arena = {0};
        assert_string_equal(edited(sources[i], "simd=map,reduce,extremum,scan", &arena),
                            sources[i]);
        arena_free(&arena);
    }
}

static const char matmul[] =
    "void f(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)\n"
    "{\n"
    "    for (int64_t i = 0; i < m; i++)\n"
    "        for (int64_t j = 0; j < n; j++) {\n"
    "            real sum = 0;\n"
    "            for (int64_t p = 0; p < k; p++)\n"
    "                sum += a[i * k + p] * b[p * n + j];\n"
    "            c[i * n + j] = sum; // sum\n"
    "        }\n"
    "}\n";

static void edit_strip__matmul__sums_a_row_in_order(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(
        edited(matmul, "strip=64", &arena),
        "void f(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)\n"
        "{\n"
        "    for (int64_t i = 0; i < m; i++)\n"
        "        for (int64_t j_strip = 0; j_strip < n; j_strip += 64) {\n"
        "            const int64_t j_end = (n) - j_strip < 64 ? (n) : j_strip + 64;\n"
        "            real sum_strip[64];\n"
        "            for (int64_t j = j_strip; j < j_end; j++)\n"
        "                sum_strip[j - j_strip] = 0;\n"
        "            for (int64_t p = 0; p < k; p++)\n"
        "                for (int64_t j = j_strip; j < j_end; j++)\n"
        "                    sum_strip[j - j_strip] += a[i * k + p] * b[p * n + j];\n"
        "            for (int64_t j = j_strip; j < j_end; j++) {\n"
        "                c[i * n + j] = sum_strip[j - j_strip]; // sum\n"
        "            }\n"
        "        }\n"
        "}\n");
    arena_free(&arena);
}

#define CONV(condition)                                                                            \
    "void f(const real *x, const real *w, real *y, int64_t n)\n"                                   \
    "{\n"                                                                                          \
    "    for (int64_t j = 0; j < n; j++) {\n"                                                      \
    "        real sum = 1;\n"                                                                      \
    "        for (int64_t d = 0; d < 3; d++) {\n"                                                  \
    "            const int64_t s = j + d - 1;\n"                                                   \
    "            if (" condition ")\n"                                                             \
    "                sum += x[s] * w[d];\n"                                                        \
    "        }\n"                                                                                  \
    "        y[j] = sum;\n"                                                                        \
    "    }\n"                                                                                      \
    "}\n"

static void edit_strip__padded_convolution__bounds_replace_the_test(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *text = edited(CONV("s >= 0 && s < n && d != 7"), "strip=16 simd=map", &arena);
    assert_non_null(strstr(text, "if (j_low < (0) - ( 0 + d - 1))\n"));
    assert_non_null(strstr(text, "if (j_high > (n) - ( 0 + d - 1))\n"));
    assert_non_null(
        strstr(text, "#pragma omp simd\n            for (int64_t j = j_low; j < j_high; j++) {"));
    assert_non_null(strstr(text, "if (d != 7)\n"));
    text = edited(CONV("s >= 0 && n > s"), "strip=16", &arena);
    assert_non_null(strstr(text, "if (n > s)\n"));
    assert_null(strstr(text, "if (j_high"));
    text = edited(CONV("s >= 0 && s < n"), "strip=16", &arena);
    assert_null(strstr(text, "if (s"));
    /* A disjunction, and a value that is not of j's type, keep the test. */
    text = edited(CONV("s >= 0 || s < n"), "strip=16", &arena);
    assert_non_null(strstr(text, "if (s >= 0 || s < n)\n"));
    text = edited(CONV("s >= 0 && s < 3.5"), "strip=16", &arena);
    assert_non_null(strstr(text, "if (s < 3.5)\n"));
    arena_free(&arena);
}

#define NEST(before, inner, after)                                                                 \
    "void f(const real *a, real *c, int64_t n, int64_t k)\n"                                       \
    "{\n" before "    for (int64_t j = 0; j < n; j++) {\n"                                         \
    "        real sum = 0;\n"                                                                      \
    "        for (int64_t p = 0; p < k; p++)\n"                                                    \
    "            " inner "\n"                                                                      \
    "        " after "\n"                                                                          \
    "    }\n"                                                                                      \
    "}\n"

static void edit_strip__not_sound_or_no_gain__left_alone(void **state)
{
    (void)state;
    static const char *const sources[] = {
        NEST("", "sum += a[j * k + p];", "c[j] = sum;"),       /* a column would be read */
        NEST("", "sum += c[p * n + j];", "c[j] = sum;"),       /* reads what it wrote */
        NEST("", "sum += a[p * n + j] * sum;", "c[j] = sum;"), /* not a plain sum */
        NEST("", "sum = a[p * n + j];", "c[j] = sum;"),
        NEST("    real t = 0;\n", "sum += a[p * n + j] * t;",
             "t = sum;"), /* the next needs the last */
        NEST("    real t = 0;\n", "{ sum += a[p * n + j]; t += 1; }", "c[j] = sum + t;"),
        NEST("", "{ if (a[p * n + j] < 0) break; sum += a[p * n + j]; }", "c[j] = sum;"),
        NEST("", "sum += g(a[p * n + j]);", "c[j] = sum;"),
        NEST("", "sum += a[p * n + j];", "*c++ = sum;"),
        NEST("    real *d = c;\n    const real *e = c;\n", "sum += e[p * n + j];", "d[j] = sum;"),
        NEST("    int64_t j_end = 3;\n", "sum += a[p * j_end + j];",
             "c[j] = sum;"), /* a name is taken */
    };
    for (size_t i = 0; i < COUNT(sources); i++) {
        struct arena arena = {0};
        assert_string_equal(edited(sources[i], "strip=64", &arena), sources[i]);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edit_restrict__tricky_sources__only_the_entrys_pointers),
        cmocka_unit_test(edit_simd__reductions__are_marked),
        cmocka_unit_test(edit_simd__maps__are_marked),
        cmocka_unit_test(edit_simd__possible_dependence__left_alone),
        cmocka_unit_test(edit_strip__matmul__sums_a_row_in_order),
        cmocka_unit_test(edit_strip__padded_convolution__bounds_replace_the_test),
        cmocka_unit_test(edit_strip__not_sound_or_no_gain__left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
