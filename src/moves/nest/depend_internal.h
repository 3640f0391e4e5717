/* Inside nest/: dependences, shared by the collector (depend_collect.c), the affine forms
 * (depend_affine.c) and the questions (depend.c). */
#ifndef KOPE_MOVES_NEST_DEPEND_INTERNAL_H
#define KOPE_MOVES_NEST_DEPEND_INTERNAL_H

#include "moves/nest/affine.h"
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/set.h>

enum { DEPEND_MAX_PARAMS = 120 };

/* A statement that reads or writes, with the loops of the part around it. */
struct leaf {
    const struct nest_stmt *stmt;
    const struct nest_stmt *loops[NEST_MAX_DEPTH]; /* outermost first */
    size_t depth;
    struct order order;
    /* Constraints on its counters, as source and as target of a dependence; ended by NULL. */
    const char *domain[2];
    bool is_exact;                       /* the domain is exactly when it runs */
    const struct nest_symbol *reduction; /* what it accumulates into; NULL */
    enum reduction_kind kind;
};

struct access {
    size_t leaf;
    const struct nest_symbol *object;
    bool is_write, is_exact, is_accumulator;
    size_t rank;                                    /* 0: a scalar, or all of an array */
    const char *subscripts[2][NEST_MAX_DIMENSIONS]; /* NULL: anywhere in this dimension */
    size_t private_depth; /* so many outer counters are the same for the same memory */
};

struct known_set {
    const char *text;
    bool is_empty;
};

struct depend {
    const struct nest_edit *edit;
    const struct nest *nest;
    struct arena *arena;
    isl_ctx *isl;
    const struct nest_stmt *first;
    size_t count;
    const struct nest_symbol *assigned[512]; /* somewhere in the nest, by address */
    size_t assigned_count;
    const struct nest_stmt *inner[NEST_MAX_DEPTH * 8]; /* all loops of the part */
    size_t inner_count;
    struct leaf *leaves;
    size_t leaf_count;
    struct access *accesses;
    size_t access_count;
    const char *params[DEPEND_MAX_PARAMS];
    size_t param_count;
    const char *context;        /* constraints on the parameters */
    struct known_set known[64]; /* asked before */
    size_t known_count;
    size_t read_by_isl; /* texts that depend_read_* left to isl's reader */
    const char *why;    /* the first thing that ended the collection */
};

/* Which of the two runs of a pair. */
enum { AS_SOURCE, AS_TARGET };

/* The name of a loop's counter in isl's text. */
const char *depend_counter(struct depend *d, const struct nest_stmt *loop, int as);
/* An affine form as isl's text; NULL where it is none. */
const char *depend_affine(struct depend *d, const struct nest_expr *expr, int as);
const char *depend_affine_poly(struct depend *d, const struct poly *poly, int as);
/* The expression with the values of integer variables that never change put in. */
const struct nest_expr *depend_inline(const struct depend *d, const struct nest_expr *expr);
/* Constraints of a condition, each with " and " in front; false where a part of it is left out. */
bool depend_condition(struct depend *d, const struct nest_expr *condition, bool is_negated, int as,
                      struct buf *out);
/* Constraints of a loop's counter. */
bool depend_bounds(struct depend *d, const struct nest_stmt *loop, int as, struct buf *out);
/* The same for a counter of another name in isl's text: of a loop around the part. */
bool depend_range(struct depend *d, const struct nest_stmt *loop, const char *counter, int as,
                  struct buf *out);
bool depend_is_inner(const struct depend *d, const struct nest_symbol *counter);
bool depend_is_assigned(const struct depend *d, const struct nest_symbol *symbol);

/* Fills leaves and accesses, or only what bounds and conditions need; false with d->why. */
bool depend_collect(struct depend *d, bool is_bounds_only);
/* Does the text of the new orders `a` and `b` show that no run of `from` before one of `to` comes
 * after it, among runs in the same round of the first `shared` loops? What is not shown, isl is
 * asked. */
bool order_is_plainly_kept(const struct leaf *from, const struct leaf *to, const struct order *a,
                           const struct order *b, size_t shared);
/* What isl's own reader gives, sooner where the text is of linear constraints. */
isl_set *depend_read_set(struct depend *d, const char *text);
isl_map *depend_read_map(struct depend *d, const char *text);
/* "[p, q] -> " for the parameters so far. */
const char *depend_params(struct depend *d);
/* Is this set of counters of a leaf with more constraints empty? Unknown is false. */
bool depend_is_empty(struct depend *d, const struct leaf *leaf, const char *constraints);

#endif
