/*
 * Data: what goes into a candidate's buffers.
 *
 * For whom: the gate. All of it comes from a secret seed, which is drawn anew after each build;
 * what was drawn before it (probes of a search, pools) no candidate has seen whole. A pool of
 * values is drawn once for each argument; a buffer is filled from random places of the pool, with
 * random signs by block and a few fresh single elements, so that new contents for 16 MiB cost
 * little more than a memcpy (mechanism M6). Besides the declared distribution there are others
 * within the declared range of values, each one that some shortcut gets wrong. Poison is what
 * outputs and everything around the arguments hold before a call (M5, M11). Owns its pools; one
 * thread.
 */
#ifndef KOPE_GATE_DATA_H
#define KOPE_GATE_DATA_H

#include "base/rng.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum distribution {
    DISTRIBUTION_DECLARED,   /* as the task says */
    DISTRIBUTION_CHANGED,    /* the declared draw of the same probe with a few elements replaced */
    DISTRIBUTION_SPIKES,     /* a few extremes at random places */
    DISTRIBUTION_MAGNITUDES, /* log-uniform over 20 octaves */
    DISTRIBUTION_TIES,       /* three values only, clustered */
    DISTRIBUTION_POSITIVE,   /* no cancellation */
    DISTRIBUTION_JITTER,    /* a constant and a thousandth of noise: variance by difference fails */
    DISTRIBUTION_SORTED,    /* rising or falling */
    DISTRIBUTION_TINY,      /* down to denormals, with zeros of both signs */
    DISTRIBUTION_INTEGERS,  /* 12-bit odd integers times -1, 0, 1, scaled: exact in float32 */
    DISTRIBUTION_CLUSTERED, /* the largest values side by side */
    DISTRIBUTION_CONSTANT,  /* one value of few bits for each argument */
    DISTRIBUTION_SPECIAL,   /* NaN and infinities at random places */
    DISTRIBUTION_ONE_SPECIAL, /* one kind of these: what a NaN beside it would hide */
    DISTRIBUTION_SITUATION,   /* one of the situations under the task's `special` */
    DISTRIBUTION_COUNT
};

enum poison {
    POISON_NAN,         /* NaN with a random payload and sign */
    POISON_NUMBER,      /* huge finite values, for outputs that may rightly be NaN */
    POISON_HALF_NAN,    /* the same of 16 bits, in both half types */
    POISON_HALF_NUMBER, /* likewise */
    POISON_BYTES,       /* random bytes, for integers */
    POISON_NO_BOOL,     /* random bytes that are neither false nor true */
    POISON_COUNT
};

struct data; /* opaque */

const char *distribution_name(enum distribution distribution);

/* May it hold NaN or infinities? */
bool distribution_is_special(enum distribution distribution);

/* Does the task have an argument for which this draw is valid and differs from the declared one? */
bool distribution_applies(enum distribution distribution, const struct task *task);

/* `rng`: in a gate a secret one (rng_secret), since a candidate sees much of what is drawn. */
struct data *data_open(const struct task *task, struct rng rng);
void data_close(struct data **data);

/* From now on random numbers come from `rng`; the pools stay. */
void data_reseed(struct data *data, struct rng rng);

/* Uniform in 0 .. bound - 1, from the secret seed. */
uint64_t data_below(struct data *data, uint64_t bound);

/* To be called before the arguments of a new set are filled: chooses what they have in common. */
void data_begin(struct data *data);

/* Which of the task's situations DISTRIBUTION_SITUATION fills from now on; the first until then. */
void data_choose_situation(struct data *data, size_t situation);

/* Which kind DISTRIBUTION_ONE_SPECIAL is of from now on: `turn` counts through NaN, infinity and
 * its negative; NaN until then. */
void data_choose_special(struct data *data, size_t turn);

/* `count` elements of input `arg`. DISTRIBUTION_CHANGED fills as declared. */
void data_fill(struct data *data, size_t arg, enum distribution distribution, void *out,
               size_t count);

/* Replaces a few elements, at least one, by one end of the declared range: all by the same, so that
 * a sum shows it. */
void data_change(struct data *data, size_t arg, void *values, size_t count);

/* Another value for one element of what `data_change` would change, from the far ends of the range;
 * `high` says which end. Untouched where the argument is constant. */
void data_change_one(struct data *data, size_t arg, void *element, bool high);

/* Each finite float moved by one unit in the last place, up or down, within the declared range;
 * other dtypes are copied, and so is what is coarser than the task's arithmetic. */
void data_perturb(struct data *data, size_t arg, const void *from, void *to, size_t count);

/* The same for values of an argument that is coarser than the task's arithmetic, already widened
 * for the oracle: each is moved by one place of the type that the task accumulates in. */
void data_perturb_wide(struct data *data, size_t arg, double *values, size_t count);

/* The kind of poison for an argument; NaN may be a right result in a set of special values. */
enum poison data_poison_kind(const struct task *task, size_t arg, enum distribution distribution);

/* A new random place in the pattern, for one buffer's room. */
size_t data_poison_place(struct data *data);

/* Writes the poison of a room from `offset` in it on: `bytes` bytes at `at`. */
void data_poison(const struct data *data, enum poison kind, size_t place, size_t offset, void *at,
                 size_t bytes);

/* Do these bytes still hold it? Where not, `*where` is the first that differs, from `at` on. */
bool data_poison_intact(const struct data *data, enum poison kind, size_t place, size_t offset,
                        const void *at, size_t bytes, size_t *where);

#endif
