/* Inside nest/: the state of reading a source, shared by its parts. */
#ifndef KOPE_MOVES_NEST_READER_H
#define KOPE_MOVES_NEST_READER_H

#include "moves/lex.h"
#include "moves/nest.h"
#include "moves/source.h"

enum { NEST_MAX_VISIBLE = 256 };

struct reader {
    const struct task *task;
    struct tokens tokens;
    struct arena *arena;
    struct nest *nest;
    struct nest_symbol *visible[NEST_MAX_VISIBLE]; /* names in scope, innermost last */
    size_t visible_count, symbol_capacity, nodes;
    int depth;       /* of statements and expressions together */
    const char *why; /* the first thing in the current statement that was not understood */
};

/* Sets `why` where it is not set yet; false. */
bool reader_fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
int reader_line(const struct reader *r, size_t at);
/* One more node of the tree; false where there are too many. */
bool reader_count(struct reader *r);
/* What the name at `at` stands for; NULL where it is none in scope. */
struct nest_symbol *reader_find(struct reader *r, size_t at);
struct nest_symbol *reader_declare(struct reader *r, enum nest_symbol_kind kind, const char *name,
                                   const char *type);

/* The expression that begins at `*at`, up to where it ends; commas and assignments are no part of
 * it. */
bool read_expr(struct reader *r, size_t *at, const struct nest_expr **out);
/* The same, but no further than the right side of "<" reaches: sums, products and shifts. */
bool read_relation_side(struct reader *r, size_t *at, const struct nest_expr **out);
/* A type of the kinds that the nest knows, with its qualifiers; false without `why` where there is
 * none. */
bool read_type(const struct reader *r, size_t *at, const char **type);
bool type_is_integer(const char *type);

#endif
