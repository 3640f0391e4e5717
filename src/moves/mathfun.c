#include "moves/source.h"

#include <string.h>

/* Functions of <math.h> without side effects but errno; the first are in libmvec (glibc 2.36,
 * x86-64). */
struct math_function {
    const char *name;
    bool in_libmvec, clang_knows;
};

static const struct math_function functions[] = {
    {"exp", true, true},        {"log", true, true},     {"sin", true, true},
    {"cos", true, true},        {"pow", true, true},     {"tanh", true, false},
    {"erf", true, false},       {"erfc", true, false},   {"exp2", true, false},
    {"expm1", true, false},     {"log2", true, false},   {"log10", true, false},
    {"log1p", true, false},     {"tan", true, false},    {"sinh", true, false},
    {"cosh", true, false},      {"asin", true, false},   {"acos", true, false},
    {"atan", true, false},      {"atan2", true, false},  {"asinh", true, false},
    {"acosh", true, false},     {"atanh", true, false},  {"cbrt", true, false},
    {"hypot", true, false},     {"sqrt", false, false},  {"fabs", false, false},
    {"fmax", false, false},     {"fmin", false, false},  {"floor", false, false},
    {"ceil", false, false},     {"trunc", false, false}, {"round", false, false},
    {"rint", false, false},     {"fma", false, false},   {"fmod", false, false},
    {"isnan", false, false},    {"isinf", false, false}, {"isfinite", false, false},
    {"copysign", false, false},
};

static const struct math_function *find(const struct tokens *tokens, size_t at)
{
    if (!token_is_identifier(tokens, at))
        return NULL;
    const char *text = tokens->text + tokens->items[at].begin;
    const size_t length = tokens->items[at].end - tokens->items[at].begin;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const size_t n = strlen(functions[i].name);
        if (strncmp(text, functions[i].name, n) == 0 &&
            (length == n || (length == n + 1 && text[n] == 'f')))
            return &functions[i];
    }
    return NULL;
}

bool source_is_math_function(const struct tokens *tokens, size_t at)
{
    return find(tokens, at) != NULL;
}

bool source_is_vector_function(const struct tokens *tokens, size_t at, bool is_clang)
{
    const struct math_function *f = find(tokens, at);
    return f && (is_clang ? f->clang_knows : f->in_libmvec) && token_is(tokens, at + 1, "(");
}
