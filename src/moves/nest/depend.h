/*
 * Dependences of a part of a nest: which runs of its statements must stay in order.
 *
 * The part is a list of neighbouring statements (a loop, or several to be fused); loops around it
 * run the same in any case and count as constants. Each statement has an *order*: a vector of
 * places in the text and of counters, compared from the left. A move says which order it would
 * give to each statement (a `reorder` function), and depend_allows says whether every pair of
 * accesses to the same memory, one of them a write, keeps its order.
 *
 * Exact for affine bounds, conditions and subscripts (by isl, the integer set library), with the
 * dimensions of arguments from the task; what is not affine counts as touching everything. The
 * buffers of different arguments do not overlap, by the task's contract, or are one array here.
 * What is declared in a loop is private to its round. Inside moves only; this is the only user of
 * isl.
 */
#ifndef KOPE_MOVES_NEST_DEPEND_H
#define KOPE_MOVES_NEST_DEPEND_H

#include "moves/nest_move.h"

enum {
    ORDER_MAX_TERMS = 64,
    DEPEND_MAX_LEAVES = 200,
    DEPEND_MAX_ACCESSES = 600,
};

/* One component of an order: place + factor (1 or -1) * counter of `loop`, or which block of
 * `divide` rounds it is in, + by_factor * counter of `by`. */
struct order_term {
    int64_t place;
    const struct nest_stmt *loop; /* NULL: only the place */
    int64_t factor;
    int64_t divide;             /* 0: the counter itself */
    const struct nest_stmt *by; /* NULL */
    int64_t by_factor;
};

struct order {
    struct order_term terms[ORDER_MAX_TERMS];
    size_t count;
};

/* The term at which the loop's counter stands; order->count where there is none. */
size_t order_find(const struct order *order, const struct nest_stmt *loop);
void order_insert(struct order *order, size_t at, struct order_term term);
void order_remove(struct order *order, size_t at);

/* Changes the order of one statement, which begins as the text has it. `stmt` is an assignment, a
 * declaration, or what a loop's bounds or a condition read. */
typedef void (*depend_reorder)(void *context, const struct nest_stmt *stmt, struct order *order);

struct depend; /* opaque: accesses and isl's context; closed with depend_close */

/* Looks at `count` statements from `first` on. False with the refusal where something in them is
 * not understood at all, or there is too much of it. */
bool depend_open(const struct nest_edit *edit, const struct nest_stmt *first, size_t count,
                 struct depend **out, const char **refusal);
/* Only for depend_decides: bounds and conditions, no accesses. */
bool depend_open_bounds(const struct nest_edit *edit, const struct nest_stmt *loop,
                        struct depend **out, const char **refusal);
void depend_close(struct depend **depend);

/* What is not asked to stay in order. */
struct depend_opts {
    /* Sums, products, maxima and minima into one place may change their order among themselves. */
    bool relax_reductions;
    const struct nest_symbol *ignore; /* an object that the move gives a place of its own */
};

struct depend_answer {
    const char *why;     /* "dependence on y carried by i, distance (1, -1)" */
    bool has_reduction;  /* a relaxed one was needed */
    bool has_signed_sum; /* ... of signed integers, which could overflow in another order */
    bool has_real;       /* ... of reals: the last digits change, or which NaN is kept */
};

/* True where the new order keeps what must be kept. */
bool depend_allows(struct depend *depend, depend_reorder reorder, void *context,
                   const struct depend_opts *opts, struct depend_answer *answer);

/* What a relaxed reduction asks of the task: false with the refusal. */
bool depend_may_relax(const struct nest_edit *edit, const struct depend_answer *answer,
                      const char **refusal);

/* Rounds of the loop may run in any order, at the same time. */
bool depend_is_parallel(struct depend *depend, const struct nest_stmt *loop,
                        const struct depend_opts *opts, struct depend_answer *answer);

/* Every read of `array` (declared outside) in a round of `loop` reads what that round has written
 * before: each round could have an array of its own. */
bool depend_is_private(struct depend *depend, const struct nest_stmt *loop,
                       const struct nest_symbol *array);

/* Is the condition known wherever `at`, a statement of the part, runs? 1: it holds; -1: it does
 * not; 0: neither is shown. */
int depend_decides(struct depend *depend, const struct nest_stmt *at,
                   const struct nest_expr *condition);

/* A statement "s += e", "s = s * e", "s = s > e ? s : e", `if (e > s) s = e`: the place that is
 * accumulated into and how. */
enum reduction_kind { REDUCTION_NONE, REDUCTION_SUM, REDUCTION_PRODUCT, REDUCTION_EXTREMUM };
enum reduction_kind nest_reduction_of(const struct nest_stmt *stmt);

#endif
