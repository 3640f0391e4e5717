/*
 * Loop nests: what KOPE understands of a reference, as pure data that prints as C again.
 *
 * nest_read parses the entry point of a C source: counted loops, conditionals, assignments to
 * scalars and array elements, local scalars and arrays, calls to math functions and to helper
 * functions of the same file, local pointers into an array. What is not understood becomes an
 * opaque statement that keeps its text, with the line and the reason: an unknown statement never
 * makes the rest unknown. Array subscripts are kept as written; nest_delinearize (nest/affine.h)
 * finds the dimensions behind `a[i * k + p]`.
 *
 * Loops have stable unique names ("j", "j2" for the second loop over a `j`), by which moves and
 * recipes speak of them. Printing and reading again gives the same nest: nest_print is its text
 * form. Memory: the arena's that was given; a nest that was read is only changed by its owner.
 * Threads: pure; any.
 */
#ifndef KOPE_MOVES_NEST_H
#define KOPE_MOVES_NEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NEST_MAX_DEPTH = 32, NEST_MAX_NODES = 20000, NEST_MAX_DIMENSIONS = 8 };

/* Whole sequences are grown for nests of at most so many loops: each step is tried on a copy of all
 * of it. Single moves have no such limit. */
enum { NEST_MAX_GROWN_LOOPS = 96 };

/* What a name stands for. */
enum nest_symbol_kind {
    NEST_ARRAY,    /* pointer parameter or local array */
    NEST_SCALAR,   /* parameter by value or local variable */
    NEST_COUNTER,  /* of a loop; assigned by its loop only */
    NEST_CONSTANT, /* enumerator of the file, or a macro without arguments */
    NEST_POINTER,  /* local pointer: `base` plus `offset`, never assigned again */
    NEST_FUNCTION  /* helper of the file */
};

struct nest_expr;

struct nest_symbol {
    enum nest_symbol_kind kind;
    const char *name; /* as in the source */
    const char *type; /* "real", "const real", "int64_t" */
    bool is_parameter, is_integer;
    bool is_written; /* an array whose elements are assigned; a scalar assigned after its
                        declaration */
    int argument;    /* of the task; -1: none */
    /* A parameter: what the task calls the argument, attribute or axis at its place, whatever the
     * source calls it; shapes are written in these names. NULL: nothing. */
    const char *task_name;
    /* A parameter whose buffer is another one's too, by the task's `alias`: the one that stands for
     * both wherever either is named, so that for every move the two are one array. NULL: none. */
    const struct nest_symbol *same;
    /* NEST_ARRAY declared in the function: its dimensions. */
    const struct nest_expr *dimensions[NEST_MAX_DIMENSIONS];
    size_t rank;
    const struct nest_symbol *base; /* NEST_POINTER */
    const struct nest_expr *offset;
};

enum nest_expr_kind {
    NEST_NUMBER,      /* text */
    NEST_NAME,        /* symbol */
    NEST_ACCESS,      /* symbol[args...] */
    NEST_UNARY,       /* op args[0] */
    NEST_BINARY,      /* args[0] op args[1] */
    NEST_CONDITIONAL, /* args[0] ? args[1] : args[2] */
    NEST_CALL,        /* text(args...) */
    NEST_CAST         /* (text)args[0] */
};

/* The binary operators with how tightly they bind, more is tighter; ends with a NULL text. */
struct nest_operator {
    const char *text;
    int level;
};
extern const struct nest_operator nest_operators[];

enum { NEST_MAX_ARGS = 12 };

struct nest_expr {
    enum nest_expr_kind kind;
    const char *text; /* number, operator, name of a function, type */
    const struct nest_symbol *symbol;
    const struct nest_expr *args[NEST_MAX_ARGS];
    size_t arg_count;
};

enum nest_stmt_kind {
    NEST_FOR,
    NEST_IF,
    NEST_ASSIGN,  /* target op value; op "=", "+=", ... */
    NEST_DECLARE, /* symbol, with `value` where it is initialised */
    NEST_BLOCK,   /* { body } */
    NEST_OPAQUE   /* text */
};

struct nest_stmt {
    enum nest_stmt_kind kind;
    int line;                    /* in the source, from 1 */
    struct nest_stmt *next;      /* after it in the same body */
    struct nest_stmt *body;      /* FOR, BLOCK; IF: then */
    struct nest_stmt *otherwise; /* IF: else; NULL */

    /* FOR: for (symbol = from; symbol `op` bound; symbol += step) */
    const char *name;           /* unique */
    struct nest_symbol *symbol; /* FOR, DECLARE */
    const struct nest_expr *from, *bound;
    int64_t step;       /* not 0 */
    const char *pragma; /* FOR: the line in front of it, "#pragma omp parallel for"; NULL: none */
    const char *op;     /* FOR: "<", "<=", ">", ">="; ASSIGN: the operator */

    const struct nest_expr *target; /* ASSIGN: a name or an access */
    const struct nest_expr *value;  /* ASSIGN, DECLARE (NULL: none); IF: the condition */

    const char *text;   /* OPAQUE: as written */
    const char *reason; /* OPAQUE: why it was not understood */
};

struct nest {
    const char *prologue; /* the file before the entry point: directives, constants, helpers */
    const char *epilogue;
    const char *signature; /* of the entry point, as written up to ')' */
    const struct task *task;
    struct nest_symbol **symbols; /* in order of declaration */
    size_t symbol_count;
    struct nest_stmt *body;
    size_t loop_count, opaque_count, statement_count;
};

/* Reads the entry point of `task` from `source`. False and `why` in words (with the line where
 * there is one) only where nothing can be made of it: brackets do not match, no definition, too
 * large. */
bool nest_read(const struct task *task, const char *source, struct arena *arena, struct nest **out,
               const char **why);

/* The whole file as C that a person would want to read: four blanks, a line a statement. */
void nest_print(const struct nest *nest, struct buf *out);
void nest_print_expr(const struct nest_expr *expr, struct buf *out);

/* What was understood, and line by line what was not and why: for people. */
void nest_explain(const struct nest *nest, struct arena *arena, struct buf *out);

/* Both have the same kind, text, symbols' names and arguments. */
bool nest_expr_same(const struct nest_expr *a, const struct nest_expr *b);

/* The loop of that name; NULL. */
struct nest_stmt *nest_find_loop(const struct nest *nest, const char *name);

/* Calls `visit` for every statement below `first`, outer before inner, with its depth in loops;
 * ends early where it returns false, and then returns false. */
bool nest_walk(struct nest_stmt *first,
               bool (*visit)(void *context, struct nest_stmt *stmt, int depth), void *context);
/* The same for every expression in a statement itself (not in its body), inner ones included;
 * `is_target` for the left side of an assignment. */
bool nest_walk_exprs(const struct nest_stmt *stmt,
                     bool (*visit)(void *context, const struct nest_expr *expr, bool is_target),
                     void *context);

#endif
