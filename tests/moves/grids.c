#include "grids.h"

#include "program.h"
#include "random_nest.h"

#include "moves/nest_move.h"

#include <stdio.h>

enum { MOST_SEQUENCES = 8 };

#define TIME(steps, body) "for (int64_t t = 0; t < " steps "; t++) { " body " }"
#define IJ(from, statement)                                                                        \
    "for (int64_t i = " from "; i < n - " from "; i++) for (int64_t j = " from "; j < m - " from   \
    "; j++) " statement " "
#define MEAN(x)                                                                                    \
    "(real)0.2 * (" x "[i * m + j] + " x "[i * m + j - 1] + " x "[i * m + j + 1] + " x             \
    "[(i - 1) * m + j] + " x "[(i + 1) * m + j]);"

static const struct grid {
    const char *body;
    const char *sequences[MOST_SEQUENCES];
} grids[] = {
    /* Jacobi: ten sweeps */
    {TIME("5", IJ("1", "b[i * m + j] = " MEAN("a")) IJ("1", "a[i * m + j] = " MEAN("b"))),
     {"skew(t:2,i:3)", "skew(t:5,i:4)", "skew(t:4,i:16,2)", "skew(t:8,i:7)", "skew(t:3,i:5,j:8)",
      "skew(t:5,i:8);vectorize(j:16);vectorize(j2:16)",
      "skew(t:2,i:6);regtile(i:2,j:16);regtile(i2:2,j2:16)",
      "skew(t:4,i:8,j:9,2);unroll(j:4);peel(j2:1)"}},
    /* ... with a copy back, in steps of a size */
    {TIME("n - 4", IJ("2", "b[i * m + j] = " MEAN("a")) IJ("2", "a[i * m + j] = b[i * m + j];")),
     {"skew(t:2,i:3)", "skew(t:7,i:4)", "skew(t:3,i:16)", "skew(t:6,i:5,j:4)",
      "skew(t:4,i:3);vectorize(j:8);vectorize(j2:24)", "skew(t:4,i:4);regtile(i:4,j:8)"}},
    /* Gauss and Seidel: in place */
    {TIME("m - 2", IJ("1", "a[i * m + j] = " MEAN("a"))),
     {"skew(t:2,i:3)", "skew(t:9,i:8)", "skew(t:4,i:2,j:5)", "skew(t:4,i:6,j:3,2)"}},
    /* two rows, neighbours at two places */
    {TIME("n", "for (int64_t i = 2; i < m - 2; i++) c[i] = a[i - 2] + (real)0.5 * a[i + 2]; "
               "for (int64_t i = 2; i <= m - 3; i++) a[i] = c[i] - (real)0.5 * c[i + 1];"),
     {"skew(t:2,i:3,2)", "skew(t:6,i:17,2)", "skew(t:3,i:30,3)",
      "skew(t:3,i:20,2);vectorize(i:8);vectorize(i2:8)"}},
    /* sweeps over different parts of the grid */
    {TIME("6", IJ("2", "a[i * m + j] += (real)0.25 * b[(i + 1) * m + j];")
                   IJ("1", "b[i * m + j] -= (real)0.5 * a[i * m + j - 1];")),
     {"skew(t:4,i:3)", "skew(t:2,i:5,j:7)", "skew(t:3,i:4);vectorize(j:8);vectorize(j2:8)"}},
};

/* Sums with borders, whose weights are x, y and the first rows of c: c is m by n. */
#define WINDOW(sum)                                                                                \
    "for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) { real s = y[i]; for "        \
    "(int64_t "                                                                                    \
    "p = 0; p < 3; p++) for (int64_t q = 0; q < 3; q++) { const int64_t r = i + p - 1; const "     \
    "int64_t t = j + q - 1; if (r >= 0 && r < n && 0 <= t && t <= m - 1) " sum                     \
    " } a[i * m + j] = s; }"

static const struct grid borders[] = {
    {WINDOW("s += b[r * m + t] * c[p * n + q];"),
     {"pad(b,i)", "pad(b,i);vectorize(j:8)", "pad(b,i);regtile(i:2,j:8)", "pad(b,i);peel(i:1)"}},
    {"for (int64_t o = 0; o < 3; o++) " WINDOW("s += c[p * n + o] * b[r * m + t] * x[q];"),
     {"pad(b:o)", "pad(b,o);interchange(o,i);vectorize(j:8)", "pad(b:o);unroll(q:3)"}},
    /* along rows only, two beyond one end and none beyond the other */
    {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) { real s = 0; for (int64_t q "
     "= "
     "0; q < 3; q++) if (j + q < m) s += (real)0.5 * b[i * m + j + q]; a[i * m + j] = s; }",
     {"pad(b:i)", "pad(b,i);vectorize(j:16)"}},
    /* into memory, and with a condition that stays */
    {"for (int64_t i = 0; i < n; i++) for (int64_t q = 0; q < 5; q++) { const int64_t r = i - q; "
     "if (r "
     ">= 0 && q != 2) y[i] += x[q] * b[r * m]; }",
     {"pad(b,i)", "pad(b,i);unroll(q:5)", "pad(b,i);reverse(i)"}},
};

static bool add_variant(struct program *p, const struct nest *nest, int reference,
                        const char *steps, bool has_infinity)
{
    static const struct nest_target target = {.vector_bytes = 32, .family = "gcc"};
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf text = {0};
    struct nest *out = NULL;
    const char *why = NULL;
    if (!nest_apply(nest, steps, &target, &arena, &out, &why)) {
        (void)printf("grid %d: %s is refused: %s\n", reference, steps, why);
        return false;
    }
    nest_print(out, &text);
    program_add_variant(
        p, buf_text(&text),
        &(struct variant){
            .reference = reference, .is_real = true, .has_infinity = has_infinity, .steps = steps});
    return true;
}

static bool add_grid(struct program *p, const struct grid *grid, bool has_infinity)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = NULL;
    const char *why = NULL;
    const char *source = arena_printf(
        &arena,
        "#include <stdint.h>\nvoid f(real *a, real *b, real *c, real *x, real *y, const "
        "int32_t *k, int64_t n, int64_t m)\n{\n%s\n}\n",
        grid->body);
    if (!nest_read(&random_nest_task, source, &arena, &nest, &why)) {
        (void)printf("not read: %s\n%s\n", why, source);
        return false;
    }
    bool ok = true;
    const int reference = program_add_reference(p, source);
    for (size_t i = 0; i < MOST_SEQUENCES && grid->sequences[i]; i++)
        ok = add_variant(p, nest, reference, grid->sequences[i], has_infinity) && ok;
    return ok;
}

bool check_grids(const char *compiler, const char *dir)
{
    struct program program = {0};
    bool ok = true;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        ok = add_grid(&program, &grids[i], false) && ok;
    for (size_t i = 0; i < 2 * (sizeof borders / sizeof *borders); i++)
        ok = add_grid(&program, &borders[i / 2], i % 2 == 1) && ok;
    const bool is_kept = program_run(&program, compiler, dir, "grids");
    (void)printf("%zu sequences on grids: %s\n", program.variant_count,
                 !ok       ? "SOME ARE REFUSED"
                 : is_kept ? "all give the reference's result"
                           : "SOME DIFFER");
    program_free(&program);
    return ok && is_kept;
}
