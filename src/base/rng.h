/*
 * Random numbers, of two kinds behind one interface. rng_seeded: xoshiro256** 1.0 by Blackman and
 * Vigna (public domain), seeded through splitmix64; what a seed determines, for search and tests.
 * rng_secret: the keystream of ChaCha20 (RFC 8439, libcrypto), for whatever a candidate sees a part
 * of and must not guess the rest of. Values, to be copied; a copy goes on from the same place.
 */
#ifndef KOPE_BASE_RNG_H
#define KOPE_BASE_RNG_H

#include <stdbool.h>
#include <stdint.h>

enum { RNG_KEY_BYTES = 32, RNG_WORDS = 128 };

struct rng {
    uint64_t state[4]; /* of a secret one: its key */
    bool is_secret;
    uint64_t refills;          /* so often `words` was filled */
    uint32_t used;             /* of `words` */
    uint64_t words[RNG_WORDS]; /* of the keystream */
};

struct rng rng_seeded(uint64_t seed);
/* The key: random bytes of the system (os_random). */
struct rng rng_secret(const unsigned char key[RNG_KEY_BYTES]);
uint64_t rng_next(struct rng *rng);

/* Uniform in [0, 1). */
double rng_uniform(struct rng *rng);

/* Uniform in 0 .. bound - 1 without bias; bound 0 gives 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

/* Standard normal (Marsaglia's polar method). */
double rng_normal(struct rng *rng);

#endif
