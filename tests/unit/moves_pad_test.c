/* Padded copies: the text that comes out, and what is refused with its reason. */
#include "base/arena.h"
#include "base/buf.h"
#include "moves/nest/seed.h"
#include "moves/nest_move.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct task plain = {
    .name = "f",
    .entry = "f",
    .dtype = DTYPE_F32,
    .precision = PRECISION_NORMAL,
    .allow_reassociate = true,
    .axes = {{.name = "n", .minimum = 1, .maximum = 4096},
             {.name = "m", .minimum = 5, .maximum = 4096},
             {.name = "k", .minimum = 1, .maximum = 64}},
    .axis_count = 3,
    .args = {{.name = "x", .rank = 2, .shape_text = {"n", "m"}, .role = ARG_IN},
             {.name = "w", .rank = 3, .shape_text = {"k", "3", "3"}, .role = ARG_IN},
             {.name = "y", .rank = 3, .shape_text = {"k", "n", "m"}, .role = ARG_OUT},
             {.name = "v", .rank = 1, .shape_text = {"n"}, .role = ARG_IN}},
    .arg_count = 4};

#define HEAD                                                                                       \
    "void f(const real *x, const real *w, real *y, const real *v, int64_t n, int64_t m, int64_t "  \
    "k)\n"

/* The text after the steps, or the refusal. */
static const char *after(struct arena *arena, const struct task *task, const char *body,
                         const char *steps)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct nest *nest = NULL;
    struct nest *out = NULL;
    const char *refusal = NULL;
    if (!nest_read(task, arena_printf(arena, HEAD "{\n%s\n}\n", body), arena, &nest, &refusal))
        fail_msg("'%s' was not read: %s", body, refusal);
    if (!nest_apply(nest, steps, NULL, arena, &out, &refusal))
        return refusal;
    nest_print(out, &text);
    assert_true(nest_read(task, buf_text(&text), arena, &nest, &refusal));
    assert_int_equal(nest->opaque_count, 0);
    return arena_strdup(arena, buf_text(&text));
}

#define ROWS "for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) "

static void pad__one_dimension__copy_in_each_round(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    assert_string_equal(
        after(&arena, &plain,
              ROWS "{ real sum = 0; for (int64_t q = 0; q < 3; q++) { const int64_t s = j + q - 2; "
                   "if (s >= 0) sum += x[i * m + s] * w[q]; } y[i * m + j] = sum; }",
              "pad(x:i)"),
        HEAD "{\n"
             "    int32_t odd = 0;\n"
             "    for (int64_t e2 = 0; e2 < k * 3 * 3; e2++) {\n"
             "        odd += w[e2] - w[e2] == 0 ? 0 : 1;\n"
             "    }\n"
             "    if (m + 2 <= 4096 && odd == 0) {\n"
             "        for (int64_t i = 0; i < n; i++) {\n"
             "            _Alignas(64) real x_pad[4096];\n"
             "            for (int64_t e = 0; e < m + 2; e++) {\n"
             "                x_pad[e] = 0;\n"
             "            }\n"
             "            for (int64_t q3 = 0; q3 < m; q3++) {\n"
             "                x_pad[q3 + 2] = x[i * m + q3];\n"
             "            }\n"
             "            for (int64_t j = 0; j < m; j++) {\n"
             "                real sum = 0;\n"
             "                for (int64_t q = 0; q < 3; q++) {\n"
             "                    sum += x_pad[j + q] * w[q];\n"
             "                }\n"
             "                y[i * m + j] = sum;\n"
             "            }\n"
             "        }\n"
             "    } else {\n"
             "        for (int64_t i2 = 0; i2 < n; i2++) {\n"
             "            for (int64_t j2 = 0; j2 < m; j2++) {\n"
             "                real sum2 = 0;\n"
             "                for (int64_t q2 = 0; q2 < 3; q2++) {\n"
             "                    const int64_t s2 = j2 + q2 - 2;\n"
             "                    if (s2 >= 0) {\n"
             "                        sum2 += x[i2 * m + s2] * w[q2];\n"
             "                    }\n"
             "                }\n"
             "                y[i2 * m + j2] = sum2;\n"
             "            }\n"
             "        }\n"
             "    }\n"
             "}\n");
}

/* A sum of the rows and columns around (i, j). */
#define WINDOW(guard, sum)                                                                         \
    "for (int64_t o = 0; o < k; o++) " ROWS "{ real s = 0; for (int64_t p = 0; p < 3; p++) for "   \
    "(int64_t q = 0; q < 3; q++) { const int64_t r = i + p - 1; const int64_t c = j + q - 1; if "  \
    "(" guard ") " sum " } y[(o * n + i) * m + j] = s; }"
#define INSIDE "r >= 0 && r < n && c >= 0 && c < m"
#define PRODUCT "s += x[r * m + c] * w[(o * 3 + p) * 3 + q];"

struct answer {
    const char *body, *steps, *words;
};

static void pad__what_could_differ__is_refused(void **state)
{
    static const struct answer cases[] = {
        {WINDOW(INSIDE, PRODUCT), "pad(x:o)", "x_pad[(i + p) * (m + 2) + (j + q)]"},
        {WINDOW("0 <= r && n > r && c > -1 && c <= m - 1", PRODUCT), "pad(x,o)",
         "x_pad[(i + p) * (m + 2) + (j + q)]"},
        {WINDOW(INSIDE " && p != q", PRODUCT), "pad(x:o)", "if (p != q) {"},
        {WINDOW(INSIDE, PRODUCT), "pad(w:o)", "'w' is not read beyond its edges"},
        {WINDOW(INSIDE, PRODUCT), "pad(x:i)", "beyond its edges in dimension 1 is not known"},
        {WINDOW(INSIDE, PRODUCT), "pad(x)", "is not of the form pad("},
        {WINDOW(INSIDE, PRODUCT), "pad(x:z)", "there is no loop 'z'"},
        {WINDOW(INSIDE, PRODUCT), "pad(y:o)", "'y' is no argument that is only read"},
        /* one side is not asked for */
        {WINDOW("r >= 0 && r < n && c < m", PRODUCT), "pad(x:o)",
         "beyond its edges in dimension 2 is not known"},
        /* the condition is an alternative, or of something else */
        {WINDOW("r >= 0 || r < n", PRODUCT), "pad(x:o)", "is not known"},
        {WINDOW("r >= 0 && r < n && c >= 0 && c < n", PRODUCT), "pad(x:o)", "is not known"},
        /* it keeps another array from the same */
        {WINDOW(INSIDE, "s += x[r * m + c] * v[r];"), "pad(x:o)",
         "the condition may keep 'v' from being used beyond its edges"},
        {WINDOW(INSIDE, "y[(o * n + r) * m + c] += x[r * m + c];"), "pad(x:o)",
         "the condition may keep 'y' from being used beyond its edges"},
        /* what is no sum of products */
        {WINDOW(INSIDE, "s = x[r * m + c] * w[q];"), "pad(x:o)", "is not added up"},
        {WINDOW(INSIDE, "s += x[r * m + c] + w[q];"), "pad(x:o)", "is not added up"},
        {WINDOW(INSIDE, "s += x[r * m + c] * y[q];"), "pad(x:o)", "is not added up"},
        {"int32_t whole = 0; " WINDOW(INSIDE, "whole += x[r * m + c] * w[q];"), "pad(x:o)",
         "is not added up"},
        {"for (int64_t i = 0; i < n; i++) { real s = 0; for (int64_t q = 0; q < 3; q++) { const "
         "int8_t r = i + q; if (r < n) s += x[r * m]; } y[i * m] = s; }",
         "pad(x,i)", "a subscript of 'x' is no sum of counters and sizes"},
        {WINDOW(INSIDE, "s += expf(x[r * m + c]);"), "pad(x:o)", "is not added up"},
        {WINDOW(INSIDE, "s += 1e30f * x[r * m + c];"), "pad(x:o)", "is not added up"},
        {WINDOW(INSIDE, "s += x[r * m + c] * x[r * m + c];"), "pad(x:o)", "reads 'x' in 2 places"},
        {WINDOW(INSIDE, "{ " PRODUCT " s += 1; }"), "pad(x:o)", "no condition stands around"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *got = after(&arena, &plain, cases[i].body, cases[i].steps);
        if (!strstr(got, cases[i].words))
            fail_msg("%s of '%s': '%s' has no '%s'", cases[i].steps, cases[i].body, got,
                     cases[i].words);
    }
}

/* -0 and 0 add up to 0: not where results must be the same bit for bit. */
static void pad__exact_task__is_refused(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct task exact = plain;
    (void)state;
    exact.precision = PRECISION_EXACT;
    exact.allow_reassociate = false;
    assert_non_null(strstr(after(&arena, &exact, WINDOW(INSIDE, PRODUCT), "pad(x:o)"),
                           "results must stay the same bit for bit"));
}

static void nest_seeds__borders__padded_tiles_among_them(void **state)
{
    static const struct nest_target target = {.vector_bytes = 32, .family = "gcc"};
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_seed out[NEST_MAX_SEEDS];
    struct nest *nest = NULL;
    const char *why = NULL;
    const char *source = HEAD "{\n" WINDOW(INSIDE, PRODUCT) "\n}\n";
    const char *steps = NULL;
    (void)state;
    assert_true(nest_read(&plain, source, &arena, &nest, &why));
    const size_t count = nest_seeds(nest, &target, &arena, out);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(out[i].name, "pad-tile-8x2") == 0)
            steps = out[i].steps;
    }
    assert_non_null(steps);
    assert_string_equal(steps, "pad(x,o);interchange(o,i);regtile(o:8,j:16)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pad__one_dimension__copy_in_each_round),
        cmocka_unit_test(pad__what_could_differ__is_refused),
        cmocka_unit_test(pad__exact_task__is_refused),
        cmocka_unit_test(nest_seeds__borders__padded_tiles_among_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
