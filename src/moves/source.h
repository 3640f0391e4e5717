/*
 * What the edits need to know of a reference: where the entry point is defined, its loops, what a
 * piece of code writes, and which buffer an array name stands for. Everything is judged by tokens
 * and conservatively: what is not understood is refused. Inside moves only.
 *
 * Two facts come from the task, not from the text: the buffers of the pointer arguments do not
 * overlap, but for two that the task says are one (`alias`); and an axis is at least 1.
 */
#ifndef KOPE_MOVES_SOURCE_H
#define KOPE_MOVES_SOURCE_H

#include "moves/lex.h"
#include "task/task.h"

/* The definition of the entry point. */
struct definition {
    const struct task *task;
    size_t first; /* first token of its declaration specifiers */
    size_t name;
    size_t open, close;      /* ( and ) of its parameters */
    size_t body, body_close; /* { and } */
};

bool source_find_definition(const struct tokens *tokens, const struct task *task,
                            struct definition *out, const char **why);

/* The place of a parameter among them, by a token of it. Parameters are arguments by their place:
 * their names are the source's own. */
size_t source_parameter_place(const struct tokens *tokens, const struct definition *definition,
                              size_t token);

/* `for (TYPE var = from; var < bound; var++)`; ranges are [begin, end). */
struct loop {
    size_t keyword;     /* for */
    size_t open, close; /* ( and ) of its head */
    size_t type, var;   /* type is [type, var) */
    size_t from, from_end, bound, bound_end;
    size_t body, body_end; /* one statement, braces included */
    bool is_innermost;     /* no loop in its body */
};

/* The loop at the keyword `at`; false where its head is not of that form. */
bool source_read_loop(const struct tokens *tokens, size_t at, struct loop *out);

/* One past the statement that begins at `at`. */
size_t source_statement_end(const struct tokens *tokens, size_t at);

/* What is written in a piece of code, one entry for each writing operator. */
enum write_kind { WRITE_DECLARATION, WRITE_SCALAR, WRITE_ARRAY, WRITE_UNKNOWN };

struct write {
    enum write_kind kind;
    size_t name;                     /* of the variable or array; TOKEN_NONE where unknown */
    size_t subscript, subscript_end; /* WRITE_ARRAY: what is between [ and ] */
    size_t operator;
};

enum { SOURCE_MAX_WRITES = 64 };

/* The writes in [begin, end); false where there are more than SOURCE_MAX_WRITES. */
bool source_list_writes(const struct tokens *tokens, size_t begin, size_t end, struct write *out,
                        size_t *out_count);

/* A variable of this name is declared in [begin, end). */
bool source_is_declared_in(const struct tokens *tokens, size_t name, size_t begin, size_t end);

/* A jump (break, return, goto, and continue where `continue_too`), an assembler statement, or a
 * call to anything but a function of <math.h>, in [begin, end): the text of it, or NULL. */
const char *source_find_obstacle(const struct tokens *tokens, size_t begin, size_t end,
                                 bool continue_too, struct arena *arena);

/* A directive (an #if or a pragma) lies in [begin, end). */
bool source_has_directive(const struct tokens *tokens, size_t begin, size_t end);

/*
 * The buffer that the array or pointer `name` stands for: the token that declares it (a pointer
 * parameter of the entry point or a local array), found through local pointers that are initialised
 * from exactly one of these and never assigned again. Of two parameters that share a buffer it is
 * one token for both. TOKEN_NONE where it is not known; two different tokens are two buffers that
 * do not overlap.
 */
size_t source_buffer_of(const struct tokens *tokens, const struct definition *definition,
                        size_t name);

/* Is token `at` an identifier that stands for a function of <math.h>: "exp" and "expf" alike; and a
 * call to one that libmvec has, with `is_clang` one that clang maps to it. */
bool source_is_math_function(const struct tokens *tokens, size_t at);
bool source_is_vector_function(const struct tokens *tokens, size_t at, bool is_clang);

#endif
