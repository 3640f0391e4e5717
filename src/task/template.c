/*
 * The task that `kope task new` writes: complete, commented, and working as it is.
 */
#include "base/buf.h"
#include "base/str.h"
#include "os/file.h"
#include "task/internal.h"

#include <string.h>

/* Where the name of the new task goes. */
static const char placeholder[] = "@name@";

/* clang-format off */
static const char *const yaml_lines[] = {
    "# A task for kope: the kernel to optimize. Replace this one, y = scale * A x, by yours.\n",
    "# Unknown keys and misspelt words are errors with line and column: 'kope check' reads this file.\n",
    "\n",
    "name: @name@ # identifier; also the C function, unless 'entry: ...' names another\n",
    "family: contraction # reduction, normalization, contraction, elementwise, scan, stencil, ...\n",
    "level: \"\" # a free label of your own\n",
    "summary: product of a matrix and a vector, scaled\n",
    "\n",
    "# What 'real' is in the baseline: float32, float64, float16, bfloat16, int8, int16, int32, int64,\n",
    "# uint8 or bool. In the oracle of a float task it is double.\n",
    "dtype: float32\n",
    "# What sums are kept in, 'real_acc': of float16 and bfloat16 float32, of narrow integers int32, else\n",
    "# the dtype itself; float64 may be asked for in a float32 task, int64 in one of integers.\n",
    "# accumulate: float32\n",
    "\n",
    "# Sizes, int64_t in C, from 1 on: a kernel is checked at small and odd ones too. {name: n, min: 0}\n",
    "# may be zero as well; {name: n, min: 8, max: 4096, multiple: 8} promises such values only.\n",
    "axes: [m, n]\n",
    "\n",
    "# Constants of the operator, passed by value: type real or int.\n",
    "attrs:\n",
    "  - {name: scale, type: real, value: 0.5}\n",
    "\n",
    "# Buffers, in the order of the C declaration.\n",
    "#   role:  in, out (starts as poison: write every element), inout\n",
    "#   dtype: real (unless given), or one of the dtypes above\n",
    "#   shape: expressions over axes and attributes, outermost first; [] is one element. There are\n",
    "#          + - * / % ( ), min(a, b), max(a, b), ceildiv(a, b); quote one that has a comma.\n",
    "#   ld:    an axis, where rows lie that far apart in memory: a[i * lda + j] with shape: [m, n], ld: lda.\n",
    "#          What lies between the rows must stay as it is.\n",
    "#   alias: of an output: the input whose buffer it takes, with the same shape and ld: in place\n",
    "#   draw:  the values that inputs get:\n",
    "#          {kind: normal, mean: 0, deviation: 1}, {kind: uniform, low: 0, high: 1},\n",
    "#          {kind: integer, low: -8, high: 8}, {kind: constant, value: 1}\n",
    "args:\n",
    "  - {name: a, role: in, shape: [m, n], draw: {kind: normal, mean: 0, deviation: 1}}\n",
    "  - {name: x, role: in, shape: [n], draw: {kind: uniform, low: -1, high: 1}}\n",
    "  - {name: y, role: out, dtype: real, shape: [m]}\n",
    "\n",
    "# Work of one call, for the roofline. 'bytes' is the least traffic; leave it out for the sum of the\n",
    "# buffers.\n",
    "flops: 2 * m * n\n",
    "bytes: 4 * (m * n + m + n)\n",
    "\n",
    "# How much larger than the baseline's own error a result's error may be:\n",
    "#   exact (the same bits), strict (2 x), normal (8 x: another order of sums, fused operations),\n",
    "#   relaxed (64 x: approximate functions)\n",
    "precision: normal\n",
    "reassociate: true # may the order of sums change? true unless exact or strict\n",
    "finite_only: false # true: inputs never hold NaN or infinity\n",
    "# special: [{x: nan, y: nan}] # what must come out beyond the drawn inputs\n",
    "threads: 1 # that a kernel may use\n",
    "\n",
    "# What is measured, best 0.1 to 10 ms a call. Odd and prime sizes keep kernels honest.\n",
    "# 'weight' counts in the geometric mean, 'name' is for reports.\n",
    "cases:\n",
    "  - {m: 512, n: 512, name: square, weight: 2}\n",
    "  - {m: 1023, n: 257}\n",
    "  - {m: 64, n: 4099}\n",
    "\n",
    "# Never shown to the search; a winner is judged on them too.\n",
    "held_out:\n",
    "  - {m: 301, n: 1021}\n",
    "\n",
    "reference: reference.c # plain loops; beside this file\n",
};

static const char *const reference_lines[] = {
    "/*\n",
    " * y = scale * A x, as plain loops: the definition of what is right, and the baseline to beat.\n",
    " *\n",
    " * 'real' is a macro for the type: float where this is timed, double where it is the oracle. So write\n",
    " * (real)0.5 for constants, and the functions of <tgmath.h>: exp() is then expf() for float. Of\n",
    " * float16 and bfloat16 it is storage only: compute in 'real_acc', with real_load(x[i]) and\n",
    " * y[i] = real_store(sum).\n",
    " */\n",
    "#include <stdint.h>\n",
    "#include <tgmath.h>\n",
    "\n",
    "void @name@(const real *a, const real *x, real *y, real scale, int64_t m, int64_t n)\n",
    "{\n",
    "    for (int64_t i = 0; i < m; i++) {\n",
    "        real sum = 0;\n",
    "        for (int64_t j = 0; j < n; j++)\n",
    "            sum += a[i * n + j] * x[j];\n",
    "        y[i] = scale * sum;\n",
    "    }\n",
    "}\n",
};
/* clang-format on */

static void fill(const char *const *lines, size_t count, const char *name, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *rest = lines[i];
        for (const char *at = strstr(rest, placeholder); at; at = strstr(rest, placeholder)) {
            (void)buf_append(out, rest, (size_t)(at - rest));
            (void)buf_append_str(out, name);
            rest = at + sizeof placeholder - 1;
        }
        (void)buf_append_str(out, rest);
    }
}

/* Writes one file of the folder. */
static bool write_in(const char *dir, const char *name, const struct buf *text, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    return os_write_file(os_path_join(&arena, dir, name), text->data, text->length, false, err);
}

bool task_write_template(const char *dir, const char *name, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf yaml = {0};
    CLEANUP(buf_free) struct buf reference = {0};
    const struct task *task = NULL;
    if (os_path_exists(dir)) {
        (void)err_set(err, ERR_BAD_INPUT, "'%s' already exists", dir);
        return err_hint(err, "choose a new folder");
    }
    if (!str_is_identifier(name)) {
        (void)err_set(err, ERR_BAD_INPUT, "'%s' cannot be the name of a task", name);
        return err_hint(err, "use letters, digits and underscore, not beginning with a digit");
    }
    fill(yaml_lines, sizeof yaml_lines / sizeof *yaml_lines, name, &yaml);
    fill(reference_lines, sizeof reference_lines / sizeof *reference_lines, name, &reference);
    /* A name that C reserves is found out before anything is written. */
    if (!task_parse(buf_text(&yaml), yaml.length, buf_text(&reference), dir, &arena, &task, err))
        return false;
    if (!os_make_dirs(dir, err))
        return false;
    if (!write_in(dir, "task.yaml", &yaml, err) || !write_in(dir, "reference.c", &reference, err)) {
        struct err ignored;
        (void)os_remove_tree(dir, &ignored);
        return false;
    }
    return true;
}
