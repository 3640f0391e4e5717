/* The helpers that vector code is written with, as text in front of the entry point. */
#include "moves/nest/edit.h"
#include "moves/nest/vector.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

/* A helper, the helpers that it needs, and its text. */
struct helper {
    const char *name;
    const char *needs[4];
    const char *text;
};

/* Both searches of argmax: they differ in a word and in what is beyond. */
#define FIRST_EXTREME(WORD, BEYOND)                                                                \
    {                                                                                              \
        "vreal_first_" WORD, {"vreal_of", "vreal_select", NULL},                                   \
            "/* the first of the " WORD                                                            \
            " of x[base + from], ..., where it is beyond y; else from - 1. NaN never is */\n"      \
            "static inline int64_t vreal_first_" WORD                                              \
            "(const real *x, int64_t base, real y, int64_t from,\n"                                \
            "                                          int64_t end)\n"                             \
            "{\n"                                                                                  \
            "    vreal most[4] = {vreal_of(y), vreal_of(y), vreal_of(y), vreal_of(y)};\n"          \
            "    vmask at[4] = {{0}}, here = {0};\n"                                               \
            "    int64_t found = from - 1, i = from;\n"                                            \
            "    const int64_t reach = end - from < INT32_MAX - 64 ? end : from + INT32_MAX - "    \
            "64;\n"                                                                                \
            "    for (; reach - i >= 4 * VREAL_LANES; i += 4 * VREAL_LANES) {\n"                   \
            "        for (int k = 0; k < 4; k++) {\n"                                              \
            "            const vreal next = vreal_at(x, base + i + k * VREAL_LANES);\n"            \
            "            const vmask is = next " BEYOND " most[k];\n"                              \
            "            most[k] = vreal_select(is, next, most[k]);\n"                             \
            "            at[k] = (is & here) | (~is & at[k]);\n"                                   \
            "        }\n"                                                                          \
            "        here += 4 * VREAL_LANES;\n"                                                   \
            "    }\n"                                                                              \
            "    for (int k = 1; k < 4; k++) {\n"                                                  \
            "        at[k] += k * VREAL_LANES;\n"                                                  \
            "        const vmask is = (most[k] " BEYOND                                            \
            " most[0]) | ((most[k] == most[0]) & (at[k] < at[0]));\n"                              \
            "        most[0] = vreal_select(is, most[k], most[0]);\n"                              \
            "        at[0] = (is & at[k]) | (~is & at[0]);\n"                                      \
            "    }\n"                                                                              \
            "    for (int lane = 0; lane < VREAL_LANES; lane++) {\n"                               \
            "        const real next = most[0][lane];\n"                                           \
            "        const int64_t place = from + at[0][lane] + lane;\n"                           \
            "        if (next " BEYOND " y || (next == y && found >= from && place < found)) {\n"  \
            "            y = next;\n"                                                              \
            "            found = place;\n"                                                         \
            "        }\n"                                                                          \
            "    }\n"                                                                              \
            "    for (; i < end; i++) {\n"                                                         \
            "        if (x[base + i] " BEYOND " y) {\n"                                            \
            "            y = x[base + i];\n"                                                       \
            "            found = i;\n"                                                             \
            "        }\n"                                                                          \
            "    }\n"                                                                              \
            "    return found;\n"                                                                  \
            "}\n"                                                                                  \
    }

/* Lanes one by one only where gcc makes one instruction of them in any place (rint, sqrt): maxima
 * written so end as scalars inside loops.
 *
 * exp: 2^k times a polynomial on [-ln 2 / 2, ln 2 / 2] (Cody and Waite, "Software Manual for the
 * Elementary Functions", 1980; coefficients of a Chebyshev fit to 1 ulp). k comes by adding
 * 1.5 * 2^23, whose last bit is 1; it is read from the bits, since a compiler that may reassociate
 * would take the sum apart. The polynomial is doubled and the power halved, as the largest results
 * want 2^128. tanh: an odd polynomial near 0, where the other form cancels, and
 * 1 - 2 / (exp(2 x) + 1) elsewhere. */
static const struct helper helpers[] = {
    {"vreal_of",
     {NULL},
     "/* the same value in every lane */\n"
     "static inline vreal vreal_of(real x)\n"
     "{\n"
     "    return x - (vreal){0};\n"
     "}\n"},
    {"vreal_lane",
     {NULL},
     "/* what is in one lane */\n"
     "static inline real vreal_lane(vreal x, int64_t lane)\n"
     "{\n"
     "    return x[lane];\n"
     "}\n"},
    {"vreal_sum",
     {NULL},
     "static inline real vreal_sum(vreal x)\n"
     "{\n"
     "    for (int half = VREAL_LANES / 2; half > 0; half /= 2) {\n"
     "        for (int i = 0; i < half; i++)\n"
     "            x[i] += x[i + half];\n"
     "    }\n"
     "    return x[0];\n"
     "}\n"},
    {"vreal_select",
     {NULL},
     "/* a where the condition holds, else b */\n"
     "static inline vreal vreal_select(vmask where, vreal a, vreal b)\n"
     "{\n"
     "    return (vreal)((where & (vmask)a) | (~where & (vmask)b));\n"
     "}\n"},
    {"vreal_max",
     {"vreal_select", NULL},
     "/* a > b ? a : b */\n"
     "static inline vreal vreal_max(vreal a, vreal b)\n"
     "{\n"
     "    return vreal_select(a > b, a, b);\n"
     "}\n"},
    {"vreal_min",
     {"vreal_select", NULL},
     "/* a < b ? a : b */\n"
     "static inline vreal vreal_min(vreal a, vreal b)\n"
     "{\n"
     "    return vreal_select(a < b, a, b);\n"
     "}\n"},
    {"vreal_largest",
     {NULL},
     "/* of x's lanes and y, by x > y ? x : y */\n"
     "static inline real vreal_largest(vreal x, real y)\n"
     "{\n"
     "    for (int i = 0; i < VREAL_LANES; i++)\n"
     "        y = x[i] > y ? x[i] : y;\n"
     "    return y;\n"
     "}\n"},
    {"vreal_smallest",
     {NULL},
     "/* of x's lanes and y, by x < y ? x : y */\n"
     "static inline real vreal_smallest(vreal x, real y)\n"
     "{\n"
     "    for (int i = 0; i < VREAL_LANES; i++)\n"
     "        y = x[i] < y ? x[i] : y;\n"
     "    return y;\n"
     "}\n"},
    FIRST_EXTREME("largest", ">"),
    FIRST_EXTREME("smallest", "<"),
    {"vreal_abs",
     {NULL},
     "static inline vreal vreal_abs(vreal x)\n"
     "{\n"
     "    return (vreal)((vmask)x & ~(vmask)-(vreal){0});\n"
     "}\n"},
    {"vreal_sqrt",
     {NULL},
     "static inline vreal vreal_sqrt(vreal x)\n"
     "{\n"
     "    vreal root;\n"
     "    for (int i = 0; i < VREAL_LANES; i++)\n"
     "        root[i] = VREAL_MATH(sqrt)(x[i]);\n"
     "    return root;\n"
     "}\n"},
    {"vreal_exp",
     {"vreal_min", "vreal_of", NULL},
     "/* to 2 ulp; NaN stays; 0 where the result is not far above the least normal number or "
     "below\n"
     " * it, infinity beyond the largest. n: the exponent of half the result in its last bits */\n"
     "static inline vreal vreal_exp(vreal x)\n"
     "{\n"
     "    x = vreal_min(vreal_of(89), x);\n"
     "    const vreal n = x * 1.44269504f + 12583038.0f;\n"
     "    const vmask e = (vmask)n & 255;\n"
     "    const vreal k = __builtin_convertvector(e - 126, vreal);\n"
     "    const vreal r = x - k * 0.693359375f + k * 2.12194440e-4f;\n"
     "    vreal p = r * 3.9751382e-4f + 2.7963998e-3f;\n"
     "    p = p * r + 1.66669038e-2f;\n"
     "    p = p * r + 8.3331592e-2f;\n"
     "    p = p * r + 3.3333330e-1f;\n"
     "    p = p * r + 1.0f;\n"
     "    p = p * r + 2.0f;\n"
     "    p = p * r + 2.0f;\n"
     "    return (vreal)((vmask)(p * (vreal)(e << 23)) & ~(x < -86.98f));\n"
     "}\n"},
    {"vreal_tanh",
     {"vreal_exp", "vreal_select", "vreal_abs", NULL},
     "/* to 3 ulp; NaN stays */\n"
     "static inline vreal vreal_tanh(vreal x)\n"
     "{\n"
     "    const vreal size = vreal_abs(x), s = x * x;\n"
     "    vreal near = s * -5.70498872e-3f + 2.06390887e-2f;\n"
     "    near = near * s - 5.37397155e-2f;\n"
     "    near = near * s + 1.33314422e-1f;\n"
     "    near = near * s - 3.33332819e-1f;\n"
     "    near = near * s * x + x;\n"
     "    const vreal far = 1.0f - 2.0f / (vreal_exp(size * 2.0f) + 1.0f);\n"
     "    const vmask sign = (vmask)x & (vmask)-(vreal){0};\n"
     "    return vreal_select(size < 0.625f, near, (vreal)((vmask)far | sign));\n"
     "}\n"},
    {"vreal_1_plus_tanh",
     {"vreal_exp", NULL},
     "/* 1 + tanh(x) without cancellation */\n"
     "static inline vreal vreal_1_plus_tanh(vreal x)\n"
     "{\n"
     "    return 2.0f / (1.0f + vreal_exp(x * -2.0f));\n"
     "}\n"},
};

static const struct helper *find(const char *name)
{
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        if (str_equal(helpers[i].name, name))
            return &helpers[i];
    }
    return NULL;
}

int64_t vector_lanes(const struct nest_edit *edit, const char **refusal)
{
    const struct task *task = edit->nest->task;
    if (edit->target.vector_bytes < 16)
        return nest_refuse(edit, refusal, "the target has no vectors that are known");
    if (!task || (task->dtype != DTYPE_F32 && task->dtype != DTYPE_F64) ||
        task->accumulate != task->dtype)
        return nest_refuse(edit, refusal, "vectors are of float32 or float64 throughout");
    return edit->target.vector_bytes / (int64_t)dtype_bytes(task->dtype);
}

struct nest_stmt *vector_step_loop(const struct nest_edit *edit, const struct nest_step *step,
                                   const char **refusal)
{
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return NULL;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    if (!loop || vector_lanes(edit, refusal) == 0)
        return NULL;
    if (nest_is_innermost(loop))
        return loop;
    (void)nest_refuse(edit, refusal, "loop '%s' is not innermost", loop->name);
    return NULL;
}

/* The types, with the width of this target. */
static void add_types(struct nest_edit *edit, struct buf *out)
{
    const size_t bytes = dtype_bytes(edit->nest->task->dtype);
    const long long width = edit->target.vector_bytes;
    (void)buf_printf(out,
                     "/* vectors of %lld reals, by the extensions of gcc and clang */\n"
                     "enum { VREAL_LANES = %lld };\n"
                     "typedef real vreal __attribute__((vector_size(%lld)));\n"
                     "typedef int%zu_t vmask __attribute__((vector_size(%lld)));\n"
                     "typedef real vreal_unaligned\n"
                     "    __attribute__((vector_size(%lld), aligned(%zu), may_alias));\n"
                     "#define VREAL_MATH(name) __builtin_##name%s\n"
                     "/* the vector that begins at array[index], to read or to write */\n"
                     "#define vreal_at(array, index) (*(vreal_unaligned *)&(array)[index])\n",
                     width / (long long)bytes, width / (long long)bytes, width, bytes * 8, width,
                     width, bytes, bytes == 4 ? "##f" : "");
}

void vector_need(struct nest_edit *edit, const char *name)
{
    CLEANUP(buf_free) struct buf text = {0};
    const struct helper *helper = find(name);
    const char *prologue = edit->nest->prologue;
    if (!strstr(prologue, "#define vreal_at(")) {
        (void)buf_append_str(&text, prologue);
        if (!strstr(prologue, "stdint.h"))
            (void)buf_append_str(&text, "#include <stdint.h>\n");
        add_types(edit, &text);
        (void)buf_append_str(&text, "\n");
        edit->nest->prologue = arena_strdup(edit->arena, buf_text(&text));
    }
    if (!helper)
        return;
    for (size_t i = 0; helper->needs[i]; i++)
        vector_need(edit, helper->needs[i]);
    if (!strstr(edit->nest->prologue, helper->text))
        edit->nest->prologue =
            arena_printf(edit->arena, "%s%s\n", edit->nest->prologue, helper->text);
}
