/* Names that mean the same in every source, and those that only one source knows. */
#include "rule/internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* What models forget to include, or write out of habit: words by the header that declares them. */
static const struct {
    const char *header, *names;
} headers[] = {
    {"float.h", "FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON"},
    {"limits.h", "INT_MAX INT_MIN LONG_MAX LONG_MIN CHAR_BIT UINT_MAX"},
    {"math.h", "INFINITY NAN HUGE_VAL HUGE_VALF M_PI M_E M_LN2 M_SQRT2 M_SQRT1_2 M_1_PI M_2_PI "
               "M_LOG2E M_2_SQRTPI isnan isinf isfinite signbit"},
    {"stddef.h", "NULL size_t ptrdiff_t offsetof wchar_t"},
    {"stdlib.h",
     "malloc calloc realloc free aligned_alloc posix_memalign abort exit abs labs qsort "
     "rand"},
    {"string.h", "memcpy memset memmove memcmp strlen"},
    {"stdio.h", "printf fprintf stderr stdout"},
    {"stdalign.h", "alignas alignof"},
    {"assert.h", "assert"},
    {"stdarg.h", "va_start va_end"},
    {"omp.h", "omp_get_num_threads omp_get_max_threads omp_get_thread_num omp_set_num_threads"},
    {"pthread.h", "pthread_create pthread_join"},
    /* what stands before every source */
    {"", "true false bool int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t "
         "uintptr_t intptr_t SIZE_MAX INT32_MAX INT64_MAX UINT32_MAX INT32_MIN INT64_MIN real "
         "real_acc real_load real_store float16 bfloat16 float16_load float16_store bfloat16_load "
         "bfloat16_store"},
    /* of no header of C */
    {"?", "half uint ulong uchar ssize_t float4 float8 min max clamp"},
};

/* Of <math.h>: each also with f and l. */
static const char of_math[] =
    "exp exp2 expm1 log log2 log10 log1p pow sqrt cbrt hypot sin cos tan asin acos atan atan2 sinh "
    "cosh tanh asinh acosh atanh erf erfc tgamma lgamma ceil floor trunc round lround llround rint "
    "lrint nearbyint fmod remainder fma fmax fmin fdim fabs copysign nextafter ldexp frexp modf "
    "scalbn ilogb logb";

/* Among words that are separated by blanks. */
static bool is_among(const char *name, size_t length, const char *words)
{
    for (const char *at = words; *at;) {
        const size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, name, length) == 0)
            return true;
        at += word + (at[word] == ' ');
    }
    return false;
}

bool name_is_among(const char *name, const char *words)
{
    return is_among(name, strlen(name), words);
}

static bool is_reserved(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

const char *name_header(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0)
        return NULL;
    if (str_starts_with(name, "_mm") || str_starts_with(name, "__m"))
        return "immintrin.h";
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        if (is_among(name, length, headers[i].names))
            return headers[i].header;
    }
    const bool has_suffix = name[length - 1] == 'f' || name[length - 1] == 'l';
    return is_among(name, length, of_math) || (has_suffix && is_among(name, length - 1, of_math))
               ? "math.h"
               : NULL;
}

bool cause_name_is_known(const char *name)
{
    return name_header(name) || is_reserved(name) || str_starts_with(name, "cblas_") ||
           str_starts_with(name, "vld1") || str_starts_with(name, "vst1");
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

bool name_is_basic_type(const char *word)
{
    return name_is_among(
               word, "float double int long short char void unsigned signed bool size_t _Float16 "
                     "float16 bfloat16 real real_acc") ||
           str_starts_with(word, "__m") || str_starts_with(word, "__v") ||
           (strstr(word, "int") && str_ends_with(word, "_t"));
}

static bool is_qualifier(const char *word)
{
    return name_is_among(
        word, "const volatile restrict __restrict __restrict__ static register struct union "
              "enum");
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
        if (name_is_basic_type(word))
            (void)buf_printf(&text, "%s%s", text.length ? " " : "", word);
        else if (!is_qualifier(word) && !isdigit((unsigned char)word[0]))
            (void)buf_printf(&text, "%sT", text.length ? " " : "");
        at += length;
    }
    return arena_strdup(arena, text.length ? buf_text(&text) : "T");
}
