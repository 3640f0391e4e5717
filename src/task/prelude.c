/*
 * The prelude: what every source of a task may use without declaring it.
 *
 * gcc 12 has _Float16 on x86-64 but no bfloat16, clang 14 has neither there, so both are storage
 * types of our own, and arithmetic is in `real_acc` (docs/decisions/0008). Structures, so that
 * arithmetic on the stored bits does not compile. Conversions are branch-free integer arithmetic
 * which compilers vectorize; they round to nearest, ties to even, keep infinities and every NaN a
 * NaN, and are exact for denormals.
 */
#include "base/str.h"
#include "task/internal.h"

#include <string.h>

/* clang-format off */
static const char halves[] =
    "typedef struct { uint16_t bits; } float16;\n"
    "typedef struct { uint16_t bits; } bfloat16;\n"
    "union kope_float { float value; uint32_t bits; };\n"
    "static inline float bfloat16_load(bfloat16 x)\n"
    "{\n"
    "    const union kope_float wide = {.bits = (uint32_t)x.bits << 16};\n"
    "    return wide.value;\n"
    "}\n"
    "static inline bfloat16 bfloat16_store(float x)\n"
    "{\n"
    "    const union kope_float wide = {.value = x};\n"
    "    const uint32_t even = (wide.bits >> 16) & 1;\n"
    "    const uint32_t rounded = (wide.bits + 0x7fff + even) >> 16;\n"
    "    const uint32_t quiet = (wide.bits >> 16) | 0x40;\n"
    "    const uint32_t is_nan = (wide.bits & 0x7fffffff) > 0x7f800000;\n"
    "    return (bfloat16){(uint16_t)(is_nan ? quiet : rounded)};\n"
    "}\n"
    "static inline float float16_load(float16 x)\n"
    "{\n"
    "    const uint32_t magnitude = x.bits & 0x7fff;\n"
    "    union kope_float wide = {.bits = magnitude << 13};\n"
    "    wide.value *= 0x1p112f;\n"
    "    wide.bits |= magnitude >= 0x7c00 ? 0x7f800000 : 0;\n"
    "    wide.bits |= (uint32_t)(x.bits & 0x8000) << 16;\n"
    "    return wide.value;\n"
    "}\n"
    "static inline float16 float16_store(float x)\n"
    "{\n"
    "    union kope_float wide = {.value = x};\n"
    "    const uint32_t sign = (wide.bits >> 16) & 0x8000;\n"
    "    wide.bits &= 0x7fffffff;\n"
    "    const uint32_t magnitude = wide.bits;\n"
    "    const uint32_t normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;\n"
    "    const uint32_t special = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x1ff) : 0x7c00;\n"
    "    wide.value += 0.5f; /* below the normal numbers: the addition rounds to their spacing */\n"
    "    const uint32_t tiny = wide.bits - 0x3f000000;\n"
    "    const uint32_t finite = magnitude < 0x38800000 ? tiny : normal;\n"
    "    return (float16){(uint16_t)(sign | (magnitude >= 0x47800000 ? special : finite))};\n"
    "}\n";
/* clang-format on */

static char *write_prelude(const struct task *task, const char *real_name, bool has_halves,
                           struct arena *arena)
{
    const bool is_own = str_equal(real_name, dtype_c_name(task->dtype));
    const char *accumulate = is_own ? dtype_c_name(task->accumulate) : real_name;
    const bool is_half = dtype_is_half(task->dtype) && is_own;
    struct buf text = {0};
    (void)buf_printf(&text, "#include <stdbool.h>\n#include <stdint.h>\n%s",
                     has_halves ? halves : "");
    (void)buf_printf(&text, "#define real %s\n#define real_acc %s\n", real_name, accumulate);
    if (is_half)
        (void)buf_printf(&text,
                         "#define real_load(x) %s_load(x)\n#define real_store(x) %s_store(x)\n",
                         real_name, real_name);
    else
        (void)buf_append_str(&text, "#define real_load(x) ((real_acc)(x))\n"
                                    "#define real_store(x) ((real)(x))\n");
    char *out = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return out;
}

char *task_prelude(const struct task *task, const char *real_name, struct arena *arena)
{
    return write_prelude(task, real_name, true, arena);
}

char *task_prelude_for(const struct task *task, const char *source, struct arena *arena)
{
    static const char half[] = "float16"; /* bfloat16 too */
    bool has_halves = dtype_is_half(task->dtype) || strstr(source, half);
    for (size_t i = 0; i < task->arg_count; i++)
        has_halves = has_halves || dtype_is_half(task->args[i].dtype);
    return write_prelude(task, dtype_c_name(task->dtype), has_halves, arena);
}
