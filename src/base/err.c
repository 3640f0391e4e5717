#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int exit_code;
} kinds[] = {
    [ERR_NONE] = {"none", 0},
    [ERR_USAGE] = {"usage", 2},
    [ERR_BAD_INPUT] = {"bad-input", 3},
    [ERR_NOT_FOUND] = {"not-found", 4},
    [ERR_MISSING_TOOL] = {"missing-tool", 5},
    [ERR_UNSUPPORTED] = {"unsupported", 6},
    [ERR_LIMIT] = {"limit", 7},
    [ERR_IO] = {"io", 8},
    [ERR_CORRUPT] = {"corrupt", 9},
    [ERR_BUSY] = {"busy", 10},
    [ERR_NETWORK] = {"network", 11},
    [ERR_BUDGET] = {"budget", 12},
    [ERR_INTERRUPTED] = {"interrupted", 130},
};
static_assert(sizeof kinds / sizeof *kinds == ERR_KIND_COUNT, "name each kind of error");

const char *err_kind_name(enum err_kind kind)
{
    return kinds[kind].name;
}

int err_kind_exit_code(enum err_kind kind)
{
    return kinds[kind].exit_code;
}

static void format_capped(char *out, size_t bytes, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static void format_capped(char *out, size_t bytes, const char *format, va_list args)
{
    const int n = vsnprintf(out, bytes, format, args);
    if (n >= 0 && (size_t)n >= bytes)
        memcpy(out + bytes - 4, "...", 4);
}

bool err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->kind = kind;
    err->hint[0] = '\0';
    format_capped(err->message, sizeof err->message, format, args);
    va_end(args);
    return false;
}

bool err_set_errno(struct err *err, int number, const char *format, ...)
{
    char what[ERR_MESSAGE_BYTES - 128];
    char reason[96];
    va_list args;
    va_start(args, format);
    format_capped(what, sizeof what, format, args);
    va_end(args);
    if (strerror_r(number, reason, sizeof reason) != 0)
        (void)snprintf(reason, sizeof reason, "system error %d", number);
    return err_set(err, ERR_IO, "%s: %s", what, reason);
}

bool err_hint(struct err *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    format_capped(err->hint, sizeof err->hint, format, args);
    va_end(args);
    return false;
}

bool err_within(struct err *err, const char *format, ...)
{
    char where[256];
    char inner[ERR_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    format_capped(where, sizeof where, format, args);
    va_end(args);
    memcpy(inner, err->message, sizeof inner);
    const int n = snprintf(err->message, sizeof err->message, "%s: %s", where, inner);
    if (n >= 0 && (size_t)n >= sizeof err->message)
        memcpy(err->message + sizeof err->message - 4, "...", 4);
    return false;
}

_Noreturn void err_bug(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "kope: bug at %s:%d: ", file, line);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    abort();
}
