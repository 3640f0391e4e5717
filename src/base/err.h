/*
 * Errors: what could not be done, to what, and what to do next.
 *
 * Three kinds of failure are never mixed in KOPE:
 *   - a bug: BUG() or assert(), on in release builds, ends the program;
 *   - an error: a function returns false and fills a struct err, its outputs untouched;
 *   - an outcome: a candidate failed; the function returns true and a struct verdict says how.
 *
 * Messages are lower case, without a full stop, the subject in 'quotes'; the hint says what to do
 * next. A struct err is a plain value: copy it, keep it on the stack, no clean-up. Passing NULL for
 * an err is not allowed. Threads: an err belongs to its caller.
 */
#ifndef KOPE_BASE_ERR_H
#define KOPE_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

/* Each kind has a name (in JSON and MCP) and an exit code; both are in one table in err.c. */
enum err_kind {
    ERR_NONE = 0,
    ERR_USAGE,        /* the command line was off */
    ERR_BAD_INPUT,    /* a file, a line or a message from outside is not valid */
    ERR_NOT_FOUND,    /* a task, run, file or item that was named does not exist */
    ERR_MISSING_TOOL, /* a program or library that is needed is not installed */
    ERR_UNSUPPORTED,  /* valid, but this target or version cannot do it */
    ERR_LIMIT,        /* something from outside is larger than its cap */
    ERR_IO,           /* the system refused: disk, file, process */
    ERR_CORRUPT,      /* stored data fails its checksum or its schema */
    ERR_BUSY,         /* somebody else holds it */
    ERR_NETWORK,      /* a remote peer failed or refused */
    ERR_BUDGET,       /* the budget of tokens, time or money does not allow it */
    ERR_INTERRUPTED,  /* the user asked to stop */
    ERR_KIND_COUNT
};

enum { ERR_MESSAGE_BYTES = 768, ERR_HINT_BYTES = 384 };

struct err {
    enum err_kind kind;
    char message[ERR_MESSAGE_BYTES]; /* truncated with '...' where too long */
    char hint[ERR_HINT_BYTES];       /* empty where there is no advice */
};

/* Name of a kind as it stands in JSON ("bad-input") and its process exit code. */
const char *err_kind_name(enum err_kind kind);
int err_kind_exit_code(enum err_kind kind);

/* Fill 'err' and return false, so that a caller can write `return err_set(err, ...)`. */
bool err_set(struct err *err, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As err_set with ERR_IO and the text of errno `number` appended: "cannot open 'x': no such file".
 */
bool err_set_errno(struct err *err, int number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Set the advice of an err that is already filled; returns false. */
bool err_hint(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put where it happened in front of the message ("judging 'x': ..."); returns false. */
bool err_within(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A broken invariant: prints file, line and text to stderr and aborts. Never returns. */
#define BUG(...) err_bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void err_bug(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
