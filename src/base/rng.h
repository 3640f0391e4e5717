/*
 * Random numbers that a seed determines: xoshiro256** 1.0 by Blackman and Vigna (public domain),
 * seeded through splitmix64. For search and tests, and, seeded from the system, for the gate's
 * data. Not for secrets that must resist analysis of their output.
 */
#ifndef KOPE_BASE_RNG_H
#define KOPE_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state[4];
};

struct rng rng_seeded(uint64_t seed);
uint64_t rng_next(struct rng *rng);

/* Uniform in [0, 1). */
double rng_uniform(struct rng *rng);

/* Uniform in 0 .. bound - 1 without bias; bound 0 gives 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

/* Standard normal (Marsaglia's polar method). */
double rng_normal(struct rng *rng);

#endif
