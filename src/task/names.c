/*
 * Which names a task may give to its entry point, arguments, attributes and axes. They all stand in
 * one C declaration, next to <tgmath.h> and <stdint.h>, and axes and attributes in expressions too.
 */
#include "base/str.h"
#include "task/internal.h"

#include <string.h>

/* Sorted by source: C17 and C23 keywords; macros and types of the headers that a reference
 * includes; words of the expressions and of the gate's stub. */
static const char *const reserved[] = {
    "alignas",
    "alignof",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "nullptr",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",

    "I",
    "complex",
    "imaginary",
    "NULL",
    "NAN",
    "INFINITY",
    "HUGE_VAL",
    "HUGE_VALF",
    "errno",
    "assert",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
    "size_t",
    "ptrdiff_t",
    "float_t",
    "double_t",

    "real",
    "real_acc",
    "real_load",
    "real_store",
    "float16",
    "float16_load",
    "float16_store",
    "bfloat16",
    "bfloat16_load",
    "bfloat16_store",
    "min",
    "max",
    "ceildiv",
    "main",
};

/* Functions that a definition would collide with, in the compiler or in the library. */
static const char *const library[] = {
    "acos",      "acosh",      "asin",     "asinh",       "atan",    "atan2",  "atanh",
    "cbrt",      "ceil",       "copysign", "cos",         "cosh",    "drem",   "erf",
    "erfc",      "exp",        "exp10",    "exp2",        "expm1",   "fabs",   "fdim",
    "floor",     "fma",        "fmax",     "fmin",        "fmod",    "frexp",  "gamma",
    "hypot",     "ilogb",      "isinf",    "isnan",       "j0",      "j1",     "jn",
    "ldexp",     "lgamma",     "llrint",   "llround",     "log",     "log10",  "log1p",
    "log2",      "logb",       "lrint",    "lround",      "modf",    "nan",    "nearbyint",
    "nextafter", "nexttoward", "pow",      "remainder",   "remquo",  "rint",   "round",
    "scalb",     "scalbln",    "scalbn",   "significand", "sin",     "sincos", "sinh",
    "sqrt",      "tan",        "tanh",     "tgamma",      "trunc",   "y0",     "y1",
    "yn",        "abort",      "abs",      "atexit",      "bcopy",   "bzero",  "calloc",
    "clock",     "close",      "div",      "exit",        "fork",    "free",   "getenv",
    "index",     "labs",       "llabs",    "malloc",      "memchr",  "memcmp", "memcpy",
    "memmove",   "memset",     "mmap",     "open",        "printf",  "puts",   "qsort",
    "raise",     "rand",       "random",   "read",        "realloc", "rindex", "signal",
    "sleep",     "strcat",     "strchr",   "strcmp",      "strcpy",  "strlen", "strncmp",
    "time",      "write",
};

static bool is_among(const char *name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(words[i], name))
            return true;
    }
    return false;
}

/* "expf" and "expl" are as taken as "exp". */
static bool is_library_function(const char *name)
{
    const size_t count = sizeof library / sizeof *library;
    const size_t length = strlen(name);
    if (is_among(name, library, count))
        return true;
    if (!str_ends_with(name, "f") && !str_ends_with(name, "l"))
        return false;
    char stem[64] = {0};
    memcpy(stem, name, length - 1 < sizeof stem ? length - 1 : sizeof stem - 1);
    return is_among(stem, library, count);
}

/* What already has this name, or NULL. */
static const char *holder(const struct task *task, const char *name)
{
    if (task->entry && str_equal(task->entry, name))
        return "the entry point";
    for (size_t i = 0; i < task->axis_count; i++) {
        if (str_equal(task->axes[i].name, name))
            return "an axis";
    }
    for (size_t i = 0; i < task->attr_count; i++) {
        if (str_equal(task->attrs[i].name, name))
            return "an attribute";
    }
    for (size_t i = 0; i < task->arg_count; i++) {
        if (str_equal(task->args[i].name, name))
            return "an argument";
    }
    return NULL;
}

bool name_check(const struct task_reader *reader, const struct yaml *at, const char *name,
                const char *what)
{
    if (!str_is_identifier(name)) {
        (void)yaml_error(at, reader->err, "'%.64s' cannot be the name of an %s", name, what);
        return err_hint(reader->err, "use letters, digits and underscore, not beginning with a "
                                     "digit, at most 63");
    }
    if (is_among(name, reserved, sizeof reserved / sizeof *reserved) || name[0] == '_' ||
        str_starts_with(name, "kope_")) {
        (void)yaml_error(at, reader->err, "'%s' is reserved and cannot be the name of an %s", name,
                         what);
        return err_hint(reader->err, "choose another name, such as '%s_'",
                        name[0] == '_' ? name + 1 : name);
    }
    const char *taken = holder(reader->task, name);
    if (taken) {
        (void)yaml_error(at, reader->err, "'%s' is already the name of %s", name, taken);
        return err_hint(reader->err, "entry point, axes, attributes and arguments stand in one C "
                                     "declaration: each needs a name of its own");
    }
    return true;
}

bool name_check_entry(const struct task_reader *reader, const struct yaml *at, const char *name)
{
    if (!name_check(reader, at, name, "entry point"))
        return false;
    if (is_library_function(name)) {
        (void)yaml_error(at, reader->err, "the entry point '%s' is a function of the C library",
                         name);
        return err_hint(reader->err, "set entry: %s_kernel", name);
    }
    return true;
}
