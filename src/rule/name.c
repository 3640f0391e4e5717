/* Names that mean the same in every source, and those that only one source knows. */
#include "rule/internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Sorted by header; what models forget to include, or write out of habit. */
static const char *const known[] = {
    "FLT_MAX",
    "FLT_MIN",
    "FLT_EPSILON",
    "DBL_MAX",
    "DBL_MIN",
    "DBL_EPSILON",
    "INT_MAX",
    "INT_MIN",
    "LONG_MAX",
    "CHAR_BIT",
    "INFINITY",
    "NAN",
    "HUGE_VAL",
    "HUGE_VALF",
    "M_PI",
    "M_E",
    "M_LN2",
    "M_SQRT2",
    "M_SQRT1_2",
    "M_1_PI",
    "M_2_PI",
    "M_LOG2E",
    "M_2_SQRTPI",
    "SIZE_MAX",
    "INT32_MAX",
    "INT64_MAX",
    "UINT32_MAX",
    "INT32_MIN",
    "INT64_MIN",
    "NULL",
    "true",
    "false",
    "bool",
    "size_t",
    "ssize_t",
    "ptrdiff_t",
    "uintptr_t",
    "intptr_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "wchar_t",
    "half",
    "bfloat16",
    "float16",
    "uint",
    "ulong",
    "uchar",
    "float4",
    "float8",
    "alignas",
    "alignof",
    "restrict",
    "aligned_alloc",
    "posix_memalign",
    "malloc",
    "calloc",
    "realloc",
    "free",
    "memcpy",
    "memset",
    "memmove",
    "memcmp",
    "strlen",
    "printf",
    "fprintf",
    "abort",
    "exit",
    "abs",
    "labs",
    "qsort",
    "rand",
    "offsetof",
    "assert",
    "pthread_create",
    "omp_get_num_threads",
    "omp_get_max_threads",
    "omp_get_thread_num",
    "omp_set_num_threads",
    "va_start",
    "va_end",
    "min",
    "max",
    "clamp",
};

/* Of <math.h>: each also with f and l. */
static const char *const of_math[] = {
    "exp",       "exp2",  "expm1",     "log",   "log2",   "log10",  "log1p",   "pow",  "sqrt",
    "cbrt",      "hypot", "sin",       "cos",   "tan",    "asin",   "acos",    "atan", "atan2",
    "sinh",      "cosh",  "tanh",      "asinh", "acosh",  "atanh",  "erf",     "erfc", "tgamma",
    "lgamma",    "ceil",  "floor",     "trunc", "round",  "lround", "llround", "rint", "lrint",
    "nearbyint", "fmod",  "remainder", "fma",   "fmax",   "fmin",   "fdim",    "fabs", "copysign",
    "nextafter", "ldexp", "frexp",     "modf",  "scalbn", "ilogb",  "logb",
};

static bool is_listed(const char *name, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == length && memcmp(list[i], name, length) == 0)
            return true;
    }
    return false;
}

bool cause_name_is_known(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0)
        return false;
    if (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1])))
        return true; /* reserved */
    if (str_starts_with(name, "_mm") || str_starts_with(name, "cblas_") ||
        str_starts_with(name, "vld1") || str_starts_with(name, "vst1"))
        return true;
    const bool has_suffix = name[length - 1] == 'f' || name[length - 1] == 'l';
    const size_t math = sizeof of_math / sizeof *of_math;
    return is_listed(name, length, known, sizeof known / sizeof *known) ||
           is_listed(name, length, of_math, math) ||
           (has_suffix && is_listed(name, length - 1, of_math, math));
}

static const struct {
    const char *word, *language;
} foreign[] = {
    {"__global__", "CUDA"}, {"__device__", "CUDA"},      {"__shared__", "CUDA"},
    {"threadIdx", "CUDA"},  {"blockIdx", "CUDA"},        {"__syncthreads", "CUDA"},
    {"__kernel", "OpenCL"}, {"get_global_id", "OpenCL"}, {"template", "C++"},
    {"typename", "C++"},    {"namespace", "C++"},        {"static_cast", "C++"},
    {"constexpr", "C++"},   {"reinterpret_cast", "C++"}, {"nullptr", "C++"},
    {"std::", "C++"},
};

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *name_foreign_language(const char *line)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const char *at = strstr(line, foreign[i].word);
        const size_t length = strlen(foreign[i].word);
        const char *comment = strstr(line, "//"), *quote = strchr(line, '"');
        if (at && (at == line || !is_word_byte(at[-1])) && !is_word_byte(at[length]) &&
            !(comment && comment < at) && !(quote && quote < at))
            return foreign[i].language;
    }
    return NULL;
}

const char *name_isa(const char *name, struct arena *arena)
{
    if (str_starts_with(name, "_mm512_") || strstr(name, "avx512"))
        return "avx512";
    const bool is_intrinsic = str_starts_with(name, "_mm");
    if (str_equal(name, "fma") ||
        (is_intrinsic && (strstr(name, "_fmadd") || strstr(name, "_fmsub") ||
                          strstr(name, "_fnmadd") || strstr(name, "_fnmsub"))))
        return "fma";
    if (str_equal(name, "avx") || str_equal(name, "avx2") || str_starts_with(name, "_mm256_"))
        return "avx";
    return arena_strdup(arena, name);
}

static bool is_basic_type(const char *word)
{
    static const char *const words[] = {"float",  "double",   "int",      "long",    "short",
                                        "char",   "void",     "unsigned", "signed",  "bool",
                                        "size_t", "_Float16", "float16",  "bfloat16"};
    return is_listed(word, strlen(word), words, sizeof words / sizeof *words) ||
           str_starts_with(word, "__m") || str_starts_with(word, "__v") ||
           (strstr(word, "int") && str_ends_with(word, "_t"));
}

static bool is_qualifier(const char *word)
{
    static const char *const words[] = {"const",  "volatile", "restrict",     "__restrict",
                                        "static", "register", "__restrict__", "struct",
                                        "union",  "enum"};
    return is_listed(word, strlen(word), words, sizeof words / sizeof *words);
}

const char *name_type(const char *type, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (const char *at = type; *at;) {
        size_t length = 0;
        while (is_word_byte(at[length]))
            length++;
        if (length == 0) {
            if (*at == '*' || *at == '[' || *at == '(') /* arrays and functions are their kind */
                (void)buf_append_char(&text, *at);
            if (*at == '[' || *at == '(')
                break;
            at++;
            continue;
        }
        const char *word = arena_strndup(arena, at, length);
        if (is_basic_type(word))
            (void)buf_printf(&text, "%s%s", text.length ? " " : "", word);
        else if (!is_qualifier(word) && !isdigit((unsigned char)word[0]))
            (void)buf_printf(&text, "%sT", text.length ? " " : "");
        at += length;
    }
    return arena_strdup(arena, text.length ? buf_text(&text) : "T");
}
