/*
 * Subscripts as polynomials over the counters and sizes of a nest, and the dimensions behind a flat
 * subscript: `a[(b * c_in + c) * h * w + i * w + j]` of an array with the declared shape [batch,
 * c_in, h, w] is a[b][c][i][j]. Pure; memory of the arena.
 */
#ifndef KOPE_MOVES_NEST_AFFINE_H
#define KOPE_MOVES_NEST_AFFINE_H

#include "moves/nest.h"

enum { POLY_MAX_TERMS = 64, POLY_MAX_DEGREE = 8 };

/* factor x product of the symbols; the symbols in the order of their addresses, so that equal
 * products look equal. */
struct poly_term {
    int64_t factor;
    const struct nest_symbol *symbols[POLY_MAX_DEGREE];
    size_t degree;
};

struct poly {
    struct poly_term terms[POLY_MAX_TERMS];
    size_t count; /* 0 is the number 0 */
};

/* False where the expression is no polynomial over integer names (a division, an access, a call),
 * or is too large. Names of pointers and constants are symbols too. */
bool poly_of(const struct nest_expr *expr, struct poly *out);
bool poly_add(struct poly *a, const struct poly *b, int64_t factor);
bool poly_multiply(const struct poly *a, const struct poly *b, struct poly *out);
bool poly_equal(const struct poly *a, const struct poly *b);
bool poly_is_constant(const struct poly *p, int64_t *value);
/* Linear in the counters of loops, with factors that hold none: what dependences are exact for. */
bool poly_is_affine(const struct poly *p);
void poly_print(const struct poly *p, struct buf *out);

/* The one subscript of an access from where its array begins, through local pointers; false, with
 * the reason in words, where there are several or it is no polynomial. */
bool nest_flatten(const struct nest_expr *access, struct poly *flat,
                  const struct nest_symbol **array, const char **why);

/* The subscripts of an access by the dimensions of its array: of the task's shape for an argument,
 * of the declaration for a local one; through local pointers. `*rank` of them. False, with the
 * reason in words, where they cannot be told apart. That each stays within its dimension is for the
 * caller to show. */
bool nest_delinearize(const struct nest *nest, const struct nest_expr *access,
                      struct poly out[NEST_MAX_DIMENSIONS], size_t *rank,
                      const struct nest_symbol **array, const char **why);

/* The dimensions of an argument whose rows lie side by side; false, with the reason in words, where
 * one is no single size or number. */
bool nest_shape(const struct nest *nest, const struct nest_symbol *array,
                struct poly out[NEST_MAX_DIMENSIONS], size_t *rank, const char **why);

#endif
