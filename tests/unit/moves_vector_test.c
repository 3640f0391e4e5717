/* Vector code from loops: what vectorize and regtile print and refuse, and that gcc's result of it
 * is the reference's. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "moves/moves.h"
#include "moves/nest/pattern.h"
#include "moves/nest_move.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct task plain = {.name = "f",
                                  .entry = "f",
                                  .dtype = DTYPE_F32,
                                  .accumulate = DTYPE_F32,
                                  .precision = PRECISION_NORMAL,
                                  .allow_reassociate = true,
                                  .args = {{.name = "a", .rank = 2, .shape_text = {"n", "m"}},
                                           {.name = "b", .rank = 2, .shape_text = {"n", "m"}},
                                           {.name = "c", .rank = 2, .shape_text = {"m", "n"}},
                                           {.name = "x", .rank = 1, .shape_text = {"n"}},
                                           {.name = "y", .rank = 1, .shape_text = {"n"}}},
                                  .arg_count = 5};

#define HEAD                                                                                       \
    "void f(real *a, const real *b, const real *c, real *x, const real *y, int64_t n, int64_t "    \
    "m)\n"

static const struct nest_target avx2 = {.vector_bytes = 32, .family = "gcc"};

/* The file after the steps; or the refusal. It reads back as it is, with all of it understood. */
static const char *after(struct arena *arena, const struct task *task, const char *body,
                         const char *steps)
{
    CLEANUP(buf_free) struct buf text = {0};
    CLEANUP(buf_free) struct buf second = {0};
    struct nest *nest = NULL;
    struct nest *out = NULL;
    struct nest *again = NULL;
    const char *why = NULL;
    const char *source = arena_printf(arena, HEAD "{\n%s\n}\n", body);
    if (!nest_read(task, source, arena, &nest, &why))
        fail_msg("'%s' was refused: %s", body, why);
    if (!nest_apply(nest, steps, &avx2, arena, &out, &why))
        return why;
    nest_print(out, &text);
    assert_true(nest_read(task, buf_text(&text), arena, &again, &why));
    assert_int_equal(again->opaque_count, out->opaque_count);
    assert_true(again->opaque_count == 0 || strstr(buf_text(&text), "vreal_transpose(") ||
                strstr(buf_text(&text), "__builtin_prefetch(") ||
                strstr(buf_text(&text), "vreal_stream("));
    nest_print(again, &second);
    assert_string_equal(buf_text(&second), buf_text(&text));
    return arena_strdup(arena, buf_text(&text));
}

static void must_hold(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

static void vectorize__elementwise__vectors_then_single_ones_then_scalars(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain,
                             "    for (int64_t i = 0; i < n; i++)\n"
                             "        x[i] = 2 * y[i] + x[i];",
                             "vectorize(i:16)");
    (void)state;
    must_hold(text, "vector_size(32)");
    must_hold(text, "i += 16) {\n"
                    "        vreal_at(x, i) = (real)2 * vreal_at(y, i) + vreal_at(x, i);\n"
                    "        vreal_at(x, i + 8) = (real)2 * vreal_at(y, i + 8) + "
                    "vreal_at(x, i + 8);\n"
                    "    }\n");
    must_hold(text, "+= 8) {\n");
    must_hold(text, "++) {\n        x[");
}

static void vectorize__sum_and_maximum__have_accumulators(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain,
                             "    for (int64_t i = 0; i < n; i++) {\n"
                             "        real s = 0;\n"
                             "        real max = b[i * m];\n"
                             "        for (int64_t j = 0; j < m; j++) {\n"
                             "            if (b[i * m + j] > max)\n"
                             "                max = b[i * m + j];\n"
                             "            s += b[i * m + j];\n"
                             "        }\n"
                             "        a[i] = s * max;\n"
                             "    }",
                             "vectorize(j:16)");
    (void)state;
    must_hold(text, "vreal max_1 = vreal_of(max);");
    must_hold(text, "s_1 += vreal_at(b, i * m + (j + 8));");
    must_hold(text, "s += vreal_sum(");
    must_hold(text, "max = vreal_largest(vreal_max(");
}

static void regtile__product__is_named_variables(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain,
                             "    for (int64_t i = 0; i < n; i++) {\n"
                             "        for (int64_t j = 0; j < m; j++) {\n"
                             "            real s = 0;\n"
                             "            for (int64_t p = 0; p < n; p++)\n"
                             "                s += b[p * m + j] * c[i * n + p];\n"
                             "            a[i * m + j] = s;\n"
                             "        }\n"
                             "    }",
                             "regtile(j:16,i:3)");
    (void)state;
    /* rows that fill no tile: one that begins earlier, where there are enough */
    must_hold(text, "for (int64_t j = 0; j < j_end; j += 16) {\n"
                    "        if (n >= 3) {\n"
                    "            for (int64_t i = 0; i < n; i += 3) {\n"
                    "                const int64_t i_at = i + 3 <= n ? i : n - 3;\n");
    must_hold(text, "s_1_2 += ");
    /* columns that fill no vector likewise, in place of scalars */
    must_hold(text, "if (m >= 8) {\n");
    must_hold(text, "_at = j2 + 8 <= m ? j2 : m - 8;\n");
    must_hold(text, "vreal_at(a, (i_at + 2) * m + (j + 8)) = s_1_2;");
}

static void regtile__rows_add_to_what_is_there__none_is_done_twice(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain,
                             "    for (int64_t i = 0; i < n; i++) {\n"
                             "        for (int64_t j = 0; j < m; j++)\n"
                             "            a[i * m + j] += b[i * m + j];\n"
                             "    }",
                             "regtile(i:3,j:16)");
    (void)state;
    must_hold(text, "const int64_t i_end = n / 3 * 3;\n");
    assert_null(strstr(text, "_at ="));
}

static void regtile__rows_spread_over_threads__none_is_done_twice(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain,
                             "    #pragma omp parallel for\n"
                             "    for (int64_t i = 0; i < n; i++) {\n"
                             "        for (int64_t j = 0; j < m; j++) {\n"
                             "            real s = 0;\n"
                             "            for (int64_t p = 0; p < n; p++)\n"
                             "                s += b[p * m + j] * c[i * n + p];\n"
                             "            a[i * m + j] = s;\n"
                             "        }\n"
                             "    }",
                             "regtile(i:3,j:16)");
    (void)state;
    must_hold(text, "#pragma omp parallel for\n    for (int64_t i = 0; i < i_end; i += 3) {\n");
    must_hold(text, " + 8 <= m ? j"); /* columns are of one thread */
}

static void regtile__loops_collapsed_over_threads__are_refused(void **state)
{
    static const struct {
        const char *pragma, *steps;
    } rows[] = {
        {"#pragma omp parallel for collapse(2)", "regtile(j:3,k:8)"},
        {"#pragma omp parallel for collapse (3) schedule(static)", "vectorize(k:8)"},
        {"#pragma omp parallel for collapse(1 + 1)", "regtile(j:3,k:8)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *body = arena_printf(&arena,
                                        "    %s\n"
                                        "    for (int64_t i = 0; i < n; i++)\n"
                                        "        for (int64_t j = 0; j < n; j++)\n"
                                        "            for (int64_t k = 0; k < m; k++)\n"
                                        "                a[(i * n + j) * m + k] = b[j * m + k];",
                                        rows[i].pragma);
        const char *text = after(&arena, &plain, body, rows[i].steps);
        if (strchr(text, '\n'))
            fail_msg("'%s' below '%s' was not refused:\n%s", rows[i].steps, rows[i].pragma, text);
        must_hold(text, "is one with others by 'collapse'");
    }
}

static void regtile__a_loop_below_the_collapsed_ones__is_cut(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain,
                             "    #pragma omp parallel for collapse(2)\n"
                             "    for (int64_t h = 0; h < n; h++)\n"
                             "        for (int64_t i = 0; i < n; i++)\n"
                             "            for (int64_t j = 0; j < n; j++)\n"
                             "                for (int64_t k = 0; k < m; k++)\n"
                             "                    a[((h * n + i) * n + j) * m + k] = b[k];",
                             "regtile(j:3,k:8)");
    (void)state;
    must_hold(text, "j_at = j + 3 <= n ? j : n - 3;\n");
}

static void regtile__results_across_memory__are_stored_lane_by_lane(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain,
                             "    for (int64_t i = 0; i < m; i++) {\n"
                             "        for (int64_t j = 0; j < n; j++) {\n"
                             "            real s = 0;\n"
                             "            for (int64_t p = 0; p < m; p++)\n"
                             "                s += c[p * n + j] * b[i];\n"
                             "            a[j * m + i] = s;\n"
                             "        }\n"
                             "    }",
                             "regtile(i:2,j:16)");
    (void)state;
    must_hold(text, ") * m + i_at] = vreal_lane(s_0_0, lane");
    must_hold(text, ") * m + (i_at + 1)] = vreal_lane(s_1_1, lane");
}

static const char rows_of_sums[] = "    for (int64_t i = 0; i < n; i++) {\n"
                                   "        real s = 0;\n"
                                   "        for (int64_t j = 0; j < m; j++)\n"
                                   "            s += b[i * m + j];\n"
                                   "        for (int64_t j = 0; j < m; j++)\n"
                                   "            a[i * m + j] = b[i * m + j] - s * y[j];\n"
                                   "    }";

static void prefetch__rows__each_line_of_a_later_row_once(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text =
        after(&arena, &plain, rows_of_sums, "vectorize(j2:16);prefetch(j,i:3);prefetch(j2,i:1)");
    (void)state;
    must_hold(text, "__builtin_prefetch(&b[(i + 3) * m + j]);");
    must_hold(text, "__builtin_prefetch(&b[(i + 1) * m + j2]);\n            vreal_at(a, ");
    assert_null(strstr(text, "prefetch(&y"));
    text = after(&arena, &plain, rows_of_sums, "vectorize(j:32);prefetch(j,j:2)");
    must_hold(text, "__builtin_prefetch(&b[i * m + (j + 64)]);\n");
    must_hold(text, "__builtin_prefetch(&b[i * m + (j + 80)]);\n");
}

static void stream__results_in_vectors__past_the_caches_and_one_fence(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain, rows_of_sums, "vectorize(j2:16);stream(j2)");
    (void)state;
    must_hold(text, "            vreal_stream(&a[i * m + j2], vreal_at(b, ");
    must_hold(text, "#if __has_builtin(__builtin_nontemporal_store)\n");
    must_hold(text, "    }\n    __atomic_thread_fence(__ATOMIC_SEQ_CST);\n}\n");
    const char *first = strstr(text, "__atomic_thread_fence");
    assert_null(strstr(first + 1, "__atomic_thread_fence"));
}

static void reciprocal__a_divisor_that_stays__is_inverted_once(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain,
                             "    const real s = sqrt(b[0]);\n"
                             "    for (int64_t i = 0; i < n; i++) {\n"
                             "        x[i] = (y[i] - s) / s + y[i] / s / y[i];\n"
                             "        x[i] /= s;\n"
                             "    }",
                             "reciprocal(i)");
    (void)state;
    must_hold(text, "    const real inverse = (real)1 / s;\n    for (");
    must_hold(text, "x[i] = (y[i] - s) * inverse + y[i] * inverse / y[i];\n"
                    "        x[i] *= inverse;\n");
}

static void argmax__what_is_another_search__is_refused_in_words(void **state)
{
    static const struct {
        const char *condition, *then, *refusal;
    } rows[] = {
        {"b[i * m + j] >= b[i * m + best]", "best = j;", "does not search where"},
        {"b[i * m + j] > b[i * m + best + 1]", "best = j;", "does not search where"},
        {"b[i * m + j] > c[i * m + best]", "best = j;", "does not search where"},
        {"b[i * m + j] > most", "best = j;", "does not search where"},
        {"b[i * m + j] > most", "most = b[i * m + j]; best = j + 1;", "does not search where"},
        {"b[j * m + i] > b[best * m + i]", "best = j;", "no neighbours"},
        {"b[i * m + 2 * j] > most", "most = b[i * m + 2 * j]; best = j;", "no neighbours"},
        {"b[i * m + j] > b[i * m + small]", "small = j;", "holds fewer places"},
        {"b[i * m + j] > b[i * m + best]", "best = (uint16_t)j;", "holds fewer places"},
        {"b[i * m + j] > b[i * m + best]", "best = (real)j;", "holds fewer places"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *body = arena_printf(&arena,
                                        "    for (int64_t i = 0; i < n; i++) {\n"
                                        "        int64_t best = 0;\n"
                                        "        uint8_t small = 0;\n"
                                        "        real most = 0;\n"
                                        "        for (int64_t j = 0; j < m; j++)\n"
                                        "            if (%s) { %s }\n"
                                        "        a[i] = best;\n"
                                        "    }",
                                        rows[i].condition, rows[i].then);
        const char *text = after(&arena, &plain, body, "argmax(j)");
        if (strchr(text, '\n'))
            fail_msg("'%s' was not refused:\n%s", rows[i].condition, text);
        must_hold(text, rows[i].refusal);
    }
}

/* A variable that takes something off its value, or keeps one that changes, is not that value. */
static void vectorize__whole_number_that_is_not_its_value__stays_a_variable(void **state)
{
    static const struct {
        const char *declared, *added;
    } rows[] = {
        {"const int64_t t = y[i];", "vreal_at(b, j) + (real)t4;"},
        {"const int8_t t = 100 * i;", "vreal_at(b, j) + (real)t4;"},
        {"const size_t t = i - 1;", "vreal_at(b, j) + (real)t4;"},
        {"int64_t w = i; const int64_t t = w; w = 5;", "vreal_at(b, j) + (real)t4;"},
        {"const size_t t = i * m;", "vreal_at(b, j) + (real)(i * m);"},
        {"const int32_t t = i - 1;", "vreal_at(b, j) + (real)(i - 1);"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *body =
            arena_printf(&arena,
                         "    for (int64_t i = 0; i < n; i++)\n"
                         "        for (int64_t j = 0; j < m; j++) { %s a[i * m + j] = b[j] + t; }",
                         rows[i].declared);
        must_hold(after(&arena, &plain, body, "vectorize(j:8)"), rows[i].added);
    }
}

static void vectorize__what_it_cannot_do__is_refused_in_words(void **state)
{
    static const struct {
        const char *body, *steps, *refusal;
    } rows[] = {
        {"for (int64_t i = 1; i < n; i++) x[i] = x[i - 1] + y[i];", "vectorize(i:8)", "x"},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[i];", "vectorize(i:12)", "8 lanes"},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[2 * i];", "vectorize(i:8)", "neighbours"},
        {"for (int64_t i = 0; i < n; i++) x[i] = i;", "vectorize(i:8)", "counter"},
        {"for (int64_t i = 0; i < n; i++) x[i] = cbrt(y[i]);", "vectorize(i:8)", "'cbrt'"},
        {"for (int64_t i = 0; i < n; i++) if (y[i] > 0) x[i] = 1;", "vectorize(i:8)", "condition"},
        {"for (int64_t i = n - 1; i >= 0; i--) x[i] = y[i];", "vectorize(i:8)", "by 1"},
        {"real s = 0; for (int64_t i = 0; i < n; i++) { s += y[i]; x[i] = s; }", "vectorize(i:8)",
         "s"},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[i];", "vectorize(i:8);vectorize(i:8)",
         "vectorize(i:8)"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m - i; j++) a[i * m + j] = 0;",
         "regtile(i:2,j:8)", "bounds"},
        {"for (int64_t i = 0; i < n; i++) a[i] = 0; for (int64_t j = 0; j < n; j++) a[j] = 1;",
         "regtile(i:2,j:8)", "directly"},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[i] / x[0];", "reciprocal(i)", "divides"},
        {"const real *q = x; for (int64_t i = 0; i < n; i++) x[i] = y[i] / q[0];", "reciprocal(i)",
         "divides"},
        {"for (int64_t i = 0; i < n; i++) { const real d = y[i]; x[i] = 1 / d; }", "reciprocal(i)",
         "divides"},
        {"for (int64_t i = 0; i < n; i++) x[i] = i / m;", "reciprocal(i)", "divides"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i * m + j] = b[i * m + "
         "j];",
         "transpose(i,j)", "neighbours"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i * m + j] = 1;",
         "transpose(i,j)", "one copy"},
        {"double s = 0; for (int64_t i = 0; i < n; i++) s += y[i]; x[0] = s;", "vectorize(i:8)",
         "type 'double'"},
        {"double t[64]; for (int64_t i = 0; i < 64; i++) t[i] = y[i];", "vectorize(i:8)",
         "type 'double'"},
        {"for (int64_t i = 0; i < n; i++) x[i] = (double)y[i];", "vectorize(i:8)", "conversion"},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[i];", "pack(y:j)", "no loop 'j'"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) x[j] += y[j] * y[i];",
         "pack(y:i)", "one form"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) x[j] += x[i];",
         "pack(x:i)", "only read"},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[i];", "pack(y:i)", "one element"},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[i];", "stream(i)", "sets no vectors"},
        {"for (int64_t i = 0; i < n; i++) x[i] += y[i];", "vectorize(i:8);stream(i)",
         "sets no vectors"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) x[j] = y[j];",
         "stream(i)", "not innermost"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) x[j] = y[j];",
         "prefetch(j,i:1)", "nothing that loop 'j' reads moves with loop 'i'"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) x[j] = y[i];",
         "prefetch(i,i:1)", "not innermost"},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[i]; for (int64_t j = 0; j < m; j++) x[j] = "
         "y[j];",
         "prefetch(j,i:1)", "not innermost in loop 'i'"},
        {"for (int64_t i = 0; i < n; i++) { const real t = y[i]; for (int64_t j = 0; j < m; j++) "
         "a[i * m + j] += t; }",
         "vectorize(j:8);reverse(i)", "dependence"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) x[j] = y[j] / x[0];",
         "vectorize(j:8)", "x"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) x[i] += b[i * m + j];",
         "strip(j:16);pack(b:j_s,i)", "what is read of 'b' changes in loop 'i'"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i] += a[j];",
         "strip(j:16);pack(a:j_s,i)", "not only read"},
        {"for (int64_t i = 0; i < n; i++) { x[i] = y[i]; for (int64_t j = 0; j < m; j++) a[j] += "
         "x[j]; }",
         "strip(j:16);pack(x:j_s,i)", "more with 'x' than to read it"},
        {"for (int64_t i = 0; i < n; i++) { const int64_t q = i / 2; for (int64_t j = 0; j < m; "
         "j++) a[j] += y[j + q]; }",
         "strip(j:16);pack(y:j_s,i)", "what is read of 'y' changes in loop 'i'"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t p = 0; p < n; p++) for (int64_t j = 0; j < "
         "m; j++) a[i] += y[j];",
         "strip(j:16);pack(y:j_s,i)", "not directly in loop 'i'"},
        {"for (int64_t i = 0; i < n; i++) x[0] += y[0];", "vectorize(i:8)",
         "several rounds assign to the same element of 'x'"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) if (y[j] > 0) x[j] += "
         "y[j];",
         "vectorize(i:8)", "several rounds assign to the same element of 'x'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *text = after(&arena, &plain, rows[i].body, rows[i].steps);
        if (strchr(text, '\n'))
            fail_msg("'%s' was not refused:\n%s", rows[i].body, text);
        must_hold(text, rows[i].refusal);
    }
}

static void vectorize__the_task_keeps_its_sums__is_refused(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct task strict = plain;
    static const char sum[] = "    real s = 0;\n"
                              "    for (int64_t i = 0; i < n; i++)\n"
                              "        s += y[i];\n"
                              "    x[0] = s;";
    static const char largest[] = "    real s = y[0];\n"
                                  "    for (int64_t i = 0; i < n; i++)\n"
                                  "        s = y[i] > s ? y[i] : s;\n"
                                  "    x[0] = s;";
    (void)state;
    strict.precision = PRECISION_STRICT;
    strict.allow_reassociate = false;
    static const char tenth[] = "    for (int64_t i = 0; i < n; i++)\n"
                                "        x[i] = 0.1 * y[i];";
    assert_null(strchr(after(&arena, &strict, sum, "vectorize(i:8)"), '\n'));
    assert_non_null(strchr(after(&arena, &plain, sum, "vectorize(i:8)"), '\n'));
    strict.precision = PRECISION_EXACT;
    assert_null(strchr(after(&arena, &strict, tenth, "vectorize(i:8)"), '\n'));
    assert_non_null(strchr(after(&arena, &plain, tenth, "vectorize(i:8)"), '\n'));
    assert_non_null(strchr(after(&arena, &plain, largest, "vectorize(i:8)"), '\n'));
}

/* --- gcc's result ------------------------------------------------------------------------------
 */

/* Kernels on whole numbers, whose sums are exact in any order, at sizes with every kind of rest. */
static const struct {
    const char *body, *steps;
} exact[] = {
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        for (int64_t j = 0; j < m; j++) {\n"
     "            real s = b[i * m + j];\n"
     "            for (int64_t p = 0; p < n; p++)\n"
     "                s += b[p * m + j] * c[i * n + p];\n"
     "            a[i * m + j] = s;\n"
     "        }\n"
     "    }",
     "regtile(j:16,i:3)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        for (int64_t j = 0; j < m; j++) {\n"
     "            real s = 0;\n"
     "            for (int64_t p = 0; p < n; p++)\n"
     "                s += b[p * m + j] * c[i * n + p];\n"
     "            a[i * m + j] = s;\n"
     "        }\n"
     "    }",
     "strip(j:16);interchange(i,j_s);pack(b:j_s);regtile(i:4,j:16)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        for (int64_t j = 0; j < m; j++) {\n"
     "            real s = 0;\n"
     "            for (int64_t p = 0; p < n; p++)\n"
     "                s += b[j * n + p] * c[i * n + p];\n"
     "            a[i * m + j] = s;\n"
     "        }\n"
     "    }",
     "strip(j:16);interchange(i,j_s);pack(b:j_s);interchange(p3,j3);transpose(j3,p3);"
     "regtile(i:4,j:16)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        for (int64_t j = 0; j < m; j++) {\n"
     "            real s = 0;\n"
     "            for (int64_t p = 0; p < n; p++)\n"
     "                s += b[j * n + p] * c[i * n + p];\n"
     "            a[i * m + j] = s;\n"
     "        }\n"
     "    }",
     "strip(i:4);strip(j:16);interchange(i,j_s);pack(b:j_s,i_s);interchange(p3,j3);"
     "transpose(j3,p3);regtile(i:4,j:16)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        for (int64_t j = 0; j < m; j++) {\n"
     "            real s = 1;\n"
     "            for (int64_t p = 0; p < 100 * n; p++)\n"
     "                s += b[p + j] * c[i + p];\n"
     "            a[i * m + j] = s;\n"
     "        }\n"
     "    }",
     "strip(i:4);strip(j:16);interchange(i,j_s);pack(b:j_s,i_s);regtile(i:4,j:16)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        for (int64_t j = 0; j < m; j++) {\n"
     "            real s = 0;\n"
     "            for (int64_t p = 0; p < n; p++) {\n"
     "                const int64_t at = p * m + j;\n"
     "                s += b[at] * c[i * n + p];\n"
     "            }\n"
     "            a[i * m + j] += s;\n"
     "        }\n"
     "    }",
     "regtile(i:4,j:16)"},
    {"    for (int64_t i = 0; i < m; i++) {\n"
     "        for (int64_t j = 0; j < n; j++)\n"
     "            a[j * m + i] = c[i * n + j];\n"
     "    }",
     "transpose(i,j)"},
    {"    for (int64_t j = 0; j < n; j++) {\n"
     "        for (int64_t i = 0; i < m; i++)\n"
     "            a[j * m + i] = c[i * n + j];\n"
     "    }",
     "interchange(j,i);strip(j:8);interchange(i,j_s);transpose(i,j)"},
    {"    for (int64_t j = 0; j < n; j++) {\n"
     "        for (int64_t i = 0; i < m; i++)\n"
     "            a[j * m + i] = c[i * n + j];\n"
     "    }",
     "interchange(j,i);strip(j:8);interchange(i,j_s);transpose(i,j);stream(j)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        real s = 0;\n"
     "        real max = b[i * m];\n"
     "        real min = b[i * m];\n"
     "        for (int64_t j = 1; j < m; j++) {\n"
     "            if (b[i * m + j] > max)\n"
     "                max = b[i * m + j];\n"
     "            min = b[i * m + j] < min ? b[i * m + j] : min;\n"
     "            s += b[i * m + j] * 2 - max * 0;\n"
     "        }\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] = b[i * m + j] > 3 ? s - max : -b[i * m + j] * min;\n"
     "    }",
     "vectorize(j2:16)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        real s = 0;\n"
     "        real max = b[i * m];\n"
     "        for (int64_t j = 1; j < m; j++) {\n"
     "            if (b[i * m + j] > max)\n"
     "                max = b[i * m + j];\n"
     "            s -= b[i * m + j];\n"
     "        }\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] = max + s;\n"
     "    }",
     "vectorize(j:32);vectorize(j2:8)"},
    {"    for (int64_t i = 0; i < m; i++) {\n"
     "        for (int64_t j = 0; j < n; j++) {\n"
     "            real s = 0;\n"
     "            for (int64_t p = 0; p < m; p++)\n"
     "                s += c[p * n + j] * b[i];\n"
     "            a[j * m + i] = s;\n"
     "        }\n"
     "    }",
     "regtile(i:3,j:8)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        int32_t best = 0;\n"
     "        for (int64_t j = 1; j < m; j++)\n"
     "            if (b[i * m + j] > b[i * m + best])\n"
     "                best = (int32_t)j;\n"
     "        a[i] = best;\n"
     "    }",
     "argmax(j)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        real least = 3;\n"
     "        int64_t at = -1;\n"
     "        for (int64_t j = 0; j <= m - 1; j++)\n"
     "            if (least > c[i * m + j]) {\n"
     "                at = j;\n"
     "                least = c[i * m + j];\n"
     "            }\n"
     "        a[2 * i] = least;\n"
     "        a[2 * i + 1] = at;\n"
     "    }",
     "argmax(j)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        const int32_t q = (int32_t)i;\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] += q;\n"
     "    }",
     "vectorize(j:8)"},
    {"    for (int64_t i = 0; i < n; i += 2) {\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] = b[i * m + j];\n"
     "    }",
     "regtile(i:2,j:8)"},
    {"    for (int64_t i = 0; i < 7; i += 2) {\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] = b[i * m + j];\n"
     "    }",
     "regtile(i:3,j:8)"},
    {"    const uint64_t lo = n / 6;\n"
     "    for (int64_t i = 0; i < n; i++) {\n"
     "        int64_t best = 0;\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] = b[i * m + j] > 9 ? b[i * m + j] : b[i * m + j] * 0 / 0;\n"
     "        for (int64_t j = lo; j < m; j++)\n"
     "            if (a[i * m + j] > a[i * m + best])\n"
     "                best = j;\n"
     "        a[i * m] = best;\n"
     "    }",
     "argmax(j2)"},
    {"    const uint64_t lo = n / 6;\n"
     "    for (int64_t i = 0; i < n; i++) {\n"
     "        int64_t best = 0;\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] = j > 0 ? b[i * m + j] : b[i * m + j] * 0 / 0;\n"
     "        for (int64_t j = lo; j < m; j++)\n"
     "            if (a[i * m + j] > a[i * m + best])\n"
     "                best = j;\n"
     "        a[i * m] = best;\n"
     "    }",
     "argmax(j2)"},
    {"    const uint64_t lo = n / 6;\n"
     "    for (int64_t i = 0; i < n; i++) {\n"
     "        int64_t best = 0;\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] = j != m / 2 ? b[i * m + j] : b[i * m + j] * 0 / 0;\n"
     "        for (int64_t j = lo; j < m; j++)\n"
     "            if (a[i * m + j] > a[i * m + best])\n"
     "                best = j;\n"
     "        a[i * m] = best;\n"
     "    }",
     "argmax(j2)"},
    {"    const uint64_t lo = n / 6;\n"
     "    for (int64_t i = 0; i < n; i++) {\n"
     "        int64_t best = 0;\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] = j < m - 1 ? b[i * m + j] : b[i * m + j] * 0 / 0;\n"
     "        for (int64_t j = lo; j < m; j++)\n"
     "            if (a[i * m + j] > a[i * m + best])\n"
     "                best = j;\n"
     "        a[i * m] = best;\n"
     "    }",
     "argmax(j2)"},
    {"    const uint64_t lo = n / 6;\n"
     "    const real zero = b[0] - b[0];\n"
     "    for (int64_t i = 0; i < n; i++) {\n"
     "        real most = 1 / zero;\n"
     "        int64_t at = -2;\n"
     "        for (int64_t j = lo; j < m; j++)\n"
     "            if (b[i * m + j] > most) {\n"
     "                most = b[i * m + j];\n"
     "                at = j;\n"
     "            }\n"
     "        a[i] = at;\n"
     "    }",
     "argmax(j)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        real s = 0;\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            s += b[i * m + j];\n"
     "        for (int64_t j = 0; j < m; j++)\n"
     "            a[i * m + j] = b[i * m + j] - s;\n"
     "    }",
     "vectorize(j:16);vectorize(j2:16);prefetch(j,i:2);stream(j2);stream(j22)"},
    {"    for (int64_t i = 0; i < n; i++) {\n"
     "        for (int64_t j = 0; j < m; j++) {\n"
     "            const real x = fabs(b[i * m + j]);\n"
     "            a[i * m + j] = x * x;\n"
     "            if (n > 7)\n"
     "                a[i * m + j] += sqrt(x * x);\n"
     "        }\n"
     "    }",
     "regtile(i:2,j:8)"},
};

/* --- what is worth trying ----------------------------------------------------------------------
 */

static size_t patterns_of(struct arena *arena, const char *body, struct nest_pattern *out)
{
    struct nest *nest = NULL;
    const char *why = NULL;
    assert_true(
        nest_read(&plain, arena_printf(arena, HEAD "{\n%s\n}\n", body), arena, &nest, &why));
    return nest_patterns(nest, &avx2, arena, out);
}

static void nest_patterns__a_product__packed_tiles_come_first(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_pattern out[NEST_MAX_PATTERNS];
    const size_t count = patterns_of(&arena, exact[1].body, out);
    (void)state;
    assert_true(count > 4);
    assert_string_equal(out[0].name, "nest-pack-6x2");
    assert_string_equal(out[0].steps,
                        "strip(j:16);interchange(i,j_s);pack(b:j_s);regtile(i:6,j:16)");
    bool has_strips = false;
    for (size_t i = 0; i < count; i++)
        has_strips = has_strips || str_equal(out[i].name, "nest-pack-256-6x2");
    assert_true(has_strips);
    for (size_t i = 1; i < count; i++)
        assert_true(out[i].prior_log_ratio <= out[i - 1].prior_log_ratio);
}

/* The second factor lies with its rows along the sum: the copy is a transposition. */
static void nest_patterns__a_product_of_rows__the_copy_is_turned_in_registers(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_pattern out[NEST_MAX_PATTERNS];
    const size_t count = patterns_of(&arena, exact[2].body, out);
    (void)state;
    assert_true(count > 4);
    assert_string_equal(out[0].name, "nest-pack-6x2");
    assert_string_equal(out[0].steps,
                        "strip(j:16);interchange(i,j_s);pack(b:j_s);interchange(p3,j3);"
                        "transpose(j3,p3);regtile(i:6,j:16)");
}

static void nest_patterns__rows__all_their_loops_in_vectors(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_pattern out[NEST_MAX_PATTERNS];
    const size_t count = patterns_of(&arena, exact[sizeof exact / sizeof *exact - 2].body, out);
    (void)state;
    assert_true(count >= 3);
    assert_string_equal(out[0].name, "nest-vectors-4");
    assert_string_equal(out[0].steps, "vectorize(j:32);vectorize(j2:32)");
}

/* Five points of a grid, as a stencil is written: rows share what they read. */
static const char five_points[] =
    "    for (int64_t i = 0; i < n - 2; i++)\n"
    "        for (int64_t j = 0; j < m - 2; j++)\n"
    "            a[i * m + j] = b[i * m + j + 1] + b[(i + 1) * m + j] + b[(i + 1) * m + j + 2] +\n"
    "                           b[(i + 2) * m + j + 1];";

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

static void regtile__rows_of_a_stencil__the_same_element_is_loaded_once(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain, five_points, "regtile(i:4,j:8)");
    (void)state;
    /* 16 reads in four rounds; rows 2 to 5 have their middle read by the round two before, too. */
    const char *tile = strstr(text, "for (int64_t j = 0; j < j_end; j += 8) {\n");
    assert_non_null(tile);
    const char *end = strchr(tile, '}');
    assert_non_null(end);
    tile = arena_strndup(&arena, tile, (size_t)(end - tile));
    assert_int_equal(count_of(tile, "const vreal b_"), 14);
    assert_int_equal(count_of(tile, "vreal_at(a, "), 4);
}

static void nest_patterns__a_stencil__tiles_that_share_what_they_read(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_pattern out[NEST_MAX_PATTERNS];
    size_t count = patterns_of(&arena, five_points, out);
    (void)state;
    assert_true(count > 4);
    assert_string_equal(out[0].name, "nest-stencil-1x4x2");
    assert_string_equal(out[0].steps, "regtile(i:4,j:16)");
    /* Rows that have nothing in common are none. */
    count = patterns_of(&arena,
                        "    for (int64_t i = 0; i < n; i++)\n"
                        "        for (int64_t j = 0; j < m - 1; j++)\n"
                        "            a[i * m + j] = b[i * m + j] + b[i * m + j + 1];",
                        out);
    for (size_t i = 0; i < count; i++)
        assert_false(str_starts_with(out[i].name, "nest-stencil"));
}

static void nest_patterns__a_recurrence__none(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_pattern out[NEST_MAX_PATTERNS];
    (void)state;
    assert_int_equal(
        patterns_of(&arena, "for (int64_t i = 1; i < n; i++) x[i] = x[i - 1] + y[i];", out), 0);
}

static void write_file(struct arena *arena, const char *folder, const char *name, const char *text)
{
    FILE *out = fopen(arena_printf(arena, "%s/%s", folder, name), "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

/* The kernel before and after, in a file of its own: each brings its types and helpers. */
static void write_kernel(struct arena *arena, const char *folder, size_t i)
{
    const char *text = after(arena, &plain, exact[i].body, exact[i].steps);
    if (!strchr(text, '\n'))
        fail_msg("'%s' was refused: %s", exact[i].steps, text);
    write_file(arena, folder, arena_printf(arena, "k%zu.c", i),
               arena_printf(arena,
                            "#include <math.h>\n#include <stdint.h>\n#define real float\n"
                            "#define f before_%zu\n" HEAD "{\n%s\n}\n"
                            "#undef f\n#define f after_%zu\n%s",
                            i, exact[i].body, i, text));
}

/* Runs every kernel at several sizes, and prints what differs first. */
static void write_main(struct arena *arena, const char *folder)
{
    const size_t count = sizeof exact / sizeof *exact;
    const char *pairs = "";
    const char *declared = "";
    for (size_t i = 0; i < count; i++) {
        pairs = arena_printf(arena, "%s{before_%zu, after_%zu},", pairs, i, i);
        declared = arena_printf(arena, "%skernel before_%zu, after_%zu;\n", declared, i, i);
    }
    write_file(
        arena, folder, "main.c",
        arena_printf(
            arena,
            "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n#define real float\n"
            "typedef void kernel(real *, const real *, const real *, real *, const real *, "
            "int64_t, int64_t);\n%s"
            "static kernel *const pairs[][2] = {%s};\n"
            "static real a[2][4000], b[4000], c[4000];\n"
            "int main(void)\n{\n"
            "    for (int i = 0; i < 4000; i++)\n"
            "        b[i] = i * 7 %% 11 - 5, c[i] = i * 5 %% 13 - 6;\n"
            "    for (int k = 0; k < %zu; k++)\n"
            "        for (int64_t n = 1; n < 12; n++)\n"
            "            for (int64_t m = 1; m < 90; m += 1 + m / 9) {\n"
            "                memset(a, 0, sizeof a);\n"
            "                for (int v = 0; v < 2; v++)\n"
            "                    pairs[k][v](a[v], b, c, 0, 0, n, m);\n"
            "                if (memcmp(a[0], a[1], sizeof a[0]))\n"
            "                    return printf(\"kernel %%d at %%d, %%d\\n\", k, (int)n, (int)m);\n"
            "            }\n"
            "    return 0;\n}\n",
            declared, pairs, count));
}

static void vector_code__whole_numbers__is_exactly_the_references(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char folder[] = "/tmp/kope-vector-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        write_kernel(&arena, folder, i);
    write_main(&arena, folder);
    const int end = system(arena_printf(
        &arena, "cd %s && gcc -std=gnu17 -O1 -w -Wno-psabi *.c -o t -lm && ./t", folder));
    assert_int_equal(system(arena_printf(&arena, "rm -rf %s", folder)), 0);
    assert_int_equal(end, 0);
}

/* The last tile ends with the last round: where it begins is a variable of the loop. A variable
 * without a value in the body is none to ask by. */
static void prefetch__place_declared_in_the_loop__is_asked_for_behind_it(void **state)
{
    static const char body[] = "    for (int64_t i = 0; i < n; i++)\n"
                               "        for (int64_t j = 0; j < m; j++)\n"
                               "            a[i * m + j] = 2 * b[i * m + j];";
    CLEANUP(arena_free) struct arena arena = {0};
    const char *text = after(&arena, &plain, body, "vectorize(j:16);prefetch(j2,i:1)");
    (void)state;
    must_hold(text, "j2_at = ");
    must_hold(text, "__builtin_prefetch(&b[(i + 1) * m + j2_at]);\n");
    assert_true(strstr(text, "j2_at = ") < strstr(text, "__builtin_prefetch("));
    text = after(&arena, &plain,
                 "    for (int64_t i = 0; i < n; i++)\n"
                 "        for (int64_t j = 0; j < m; j++) {\n"
                 "            if (j > 0) {\n"
                 "                const int64_t at = m - 1 - j;\n"
                 "                a[i * m + j] = b[i * m + at];\n"
                 "            }\n"
                 "        }",
                 "prefetch(j,i:1)");
    must_hold(text, "is known from 'at' only, which has no value before");
}

/* A read of memory, a call and a division by the counter may go wrong past its bound, and what
 * guards them does not guard what asks. */
static void prefetch__place_is_not_known_so_early__is_not_asked_for(void **state)
{
    static const struct {
        const char *body, *steps, *asked; /* NULL: refused */
    } rows[] = {
        {"for (int64_t i = 0; i < n; i++) x[i] = y[(int64_t)a[i]];", "prefetch(i,i:5000)",
         "(&a[i + 5000]);\n        x[i] = y["},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[m / (n - i)];", "prefetch(i,i:1)", NULL},
        {"for (int64_t i = 0; i < n; i++) x[i] = y[i / 2];", "prefetch(i,i:2)", "&y[(i + 2) / 2]"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) x[j] = b[i * m + "
         "(int64_t)a[j]];",
         "prefetch(j,i:1)", "&b[(i + 1) * m + (int64_t)a[j]]"},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) if (j > 0) x[j] = b[i * "
         "m + (int64_t)a[j - 1]];",
         "prefetch(j,i:1)", NULL},
        {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) x[j] = j > 0 ? b[i * m + "
         "(int64_t)a[j - 1]] : 0;",
         "prefetch(j,i:1)", NULL},
        {"for (int64_t i = 0; i < n; i++) { int64_t at = 0; for (int64_t j = 0; j < m; j++) { if "
         "(b[i * m + at] < b[i * m + j]) at = j; } x[i] = b[i * m + at]; }",
         "prefetch(j,i:1)", "&b[(i + 1) * m + j]"},
        {"for (int64_t i = 0; i < n; i++) { int64_t at = 0; for (int64_t j = 0; j < m; j++) { x[j] "
         "= b[i * m + at]; at = j; } }",
         "prefetch(j,i:1)", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *text = after(&arena, &plain, rows[i].body, rows[i].steps);
        if (rows[i].asked) {
            must_hold(text, rows[i].asked);
            continue;
        }
        if (strchr(text, '\n'))
            fail_msg("'%s' was not refused:\n%s", rows[i].body, text);
        must_hold(text, "is not known so early");
    }
}

/* Text is not rewritten: what it names stays what it is. */
static void expand__named_in_kept_text__is_refused(void **state)
{
    static const char picks[] = "for (int64_t i = 0; i < n; i++) { real s = b[i * m]; for (int64_t "
                                "j = 0; j < m; j++) a[i * m + j] = b[i * m + j] * s; }";
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    must_hold(after(&arena, &plain, picks, "vectorize(j:8);stream(j);strip(i:4);expand(s,i)"),
              "'s' is named in a statement of loop 'i' that is kept as text");
    const char *text =
        after(&arena, &plain, picks, "vectorize(j:8);prefetch(j,i:1);strip(i:4);expand(s,i)");
    must_hold(text, "s_x[i - i_s] = b[i * m];");
    must_hold(text, "__builtin_prefetch(&b[(i + 1) * m + j]);");
}

/* What lives across rounds, and what a round loads once; for whatever the width asks of a machine.
 */
static void pin__vectors_in_variables__stay_in_registers(void **state)
{
    static const char sum[] =
        "for (int64_t i = 0; i < n; i++) { real s = 0;\n"
        "for (int64_t j = 0; j < m; j++) { const real t = b[i * m + j]; s += t * t; }\n"
        "x[i] = s; }";
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    const char *text = after(&arena, &plain, sum, "vectorize(j:16);pin(j)");
    assert_non_null(strstr(text, "#if defined __AVX__\n    __asm__(\"\" : \"+v\"(x));"));
    assert_non_null(strstr(text, " = vreal_pin(vreal_at(b, i * m + j));"));
    assert_non_null(strstr(text, "            s_1 = vreal_pin(s_1);\n        }\n"));
    assert_string_equal(after(&arena, &plain, sum, "pin(j)"),
                        "loop 'j' has no vectors in variables");
    assert_string_equal(after(&arena, &plain, sum, "vectorize(j:16);pin(i)"),
                        "pin(i): loop 'i' is not innermost");
    assert_string_equal(after(&arena, &plain, sum, "vectorize(j:16);pin(j);pin(j)"),
                        "pin(j): the vectors of loop 'j' are in registers already");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectorize__elementwise__vectors_then_single_ones_then_scalars),
        cmocka_unit_test(vectorize__sum_and_maximum__have_accumulators),
        cmocka_unit_test(regtile__product__is_named_variables),
        cmocka_unit_test(regtile__rows_add_to_what_is_there__none_is_done_twice),
        cmocka_unit_test(regtile__rows_spread_over_threads__none_is_done_twice),
        cmocka_unit_test(regtile__loops_collapsed_over_threads__are_refused),
        cmocka_unit_test(regtile__a_loop_below_the_collapsed_ones__is_cut),
        cmocka_unit_test(regtile__results_across_memory__are_stored_lane_by_lane),
        cmocka_unit_test(prefetch__rows__each_line_of_a_later_row_once),
        cmocka_unit_test(prefetch__place_declared_in_the_loop__is_asked_for_behind_it),
        cmocka_unit_test(prefetch__place_is_not_known_so_early__is_not_asked_for),
        cmocka_unit_test(expand__named_in_kept_text__is_refused),
        cmocka_unit_test(stream__results_in_vectors__past_the_caches_and_one_fence),
        cmocka_unit_test(reciprocal__a_divisor_that_stays__is_inverted_once),
        cmocka_unit_test(argmax__what_is_another_search__is_refused_in_words),
        cmocka_unit_test(vectorize__whole_number_that_is_not_its_value__stays_a_variable),
        cmocka_unit_test(vectorize__what_it_cannot_do__is_refused_in_words),
        cmocka_unit_test(vectorize__the_task_keeps_its_sums__is_refused),
        cmocka_unit_test(nest_patterns__a_product__packed_tiles_come_first),
        cmocka_unit_test(nest_patterns__a_product_of_rows__the_copy_is_turned_in_registers),
        cmocka_unit_test(nest_patterns__rows__all_their_loops_in_vectors),
        cmocka_unit_test(nest_patterns__a_stencil__tiles_that_share_what_they_read),
        cmocka_unit_test(regtile__rows_of_a_stencil__the_same_element_is_loaded_once),
        cmocka_unit_test(nest_patterns__a_recurrence__none),
        cmocka_unit_test(vector_code__whole_numbers__is_exactly_the_references),
        cmocka_unit_test(pin__vectors_in_variables__stay_in_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
