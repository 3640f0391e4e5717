/*
 * Random loop nests for the property test of moves: deterministic for a seed, within bounds for any
 * n and m from RANDOM_NEST_MIN, exact in any order of sums (unsigned integers, or small whole
 * numbers in floats). Pure.
 */
#ifndef KOPE_TESTS_RANDOM_NEST_H
#define KOPE_TESTS_RANDOM_NEST_H

#include "base/arena.h"
#include "base/rng.h"
#include "task/task.h"

enum { RANDOM_NEST_MIN = 6, RANDOM_NEST_MAX = 40 };
/* What the counters of loops begin with that search the largest or smallest element. */
enum { RANDOM_NEST_SEARCH = 'f' };
/* The loop over time steps, where there is one: sweeps over the same arrays are in it. */
#define RANDOM_NEST_TIME "time"

/* The task that all of them are of: void f(T *a, const T *b, T *c, T *x, T *y, const int32_t *k,
 * int64_t n, int64_t m); a and b are n by m, c is m by n, x and k have m elements, y has n; the
 * values of k are below m. */
extern const struct task random_nest_task;

/* The same, but a has the buffer of b; exact, so that no sum may change its order. */
extern const struct task random_nest_in_place_task;

/* A source of one of the tasks, with `real` or uint32_t as T. */
char *random_nest(struct rng *rng, bool is_in_place, struct arena *arena);

#endif
