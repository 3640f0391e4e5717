/*
 * A synthetic memory of years of work, for measurements of scale: 50 tasks of six families on eight
 * targets; runs of 40 decisions, each with its outcome; moves of the catalogue that help or hurt a
 * family on a target by the same amount wherever they are tried, under noise; failures with
 * compiler diagnostics; texts whose words follow Zipf's law over a vocabulary of 20,000. Everything
 * goes through the real encoders and journal_append. A seed gives the same tasks, targets, moves
 * and words; ids differ from time to time, since they cover the clock.
 *
 * What is lighter than in a real memory: outcomes without their single pairs (samples), one context
 * in CONTEXT_EVERY decisions, bodies (sources, diagnostics) not stored.
 */
#ifndef KOPE_BENCH_MEMORY_WORLD_H
#define KOPE_BENCH_MEMORY_WORLD_H

#include "base/rng.h"
#include "journal/event.h"
#include "task/task.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WORLD_TASKS = 50,
    WORLD_TARGETS = 8,
    WORLD_FAMILIES = 6,
    WORLD_RUN_DECISIONS = 40,
    WORLD_CONTEXT_EVERY = 100,
    WORLD_WORDS = 20000
};

struct world {
    const struct task *tasks[WORLD_TASKS];
    int family[WORLD_TASKS];
    const char *targets[WORLD_TARGETS];
    char (*words)[16];
    double *shares; /* share of words[0 .. i] */
};

bool world_make(uint64_t seed, struct arena *arena, struct world *out, struct err *err);
/* The events of tasks and targets. */
bool world_write_base(const struct world *world, struct journal *journal, struct err *err);
/* A whole run: its events in order, each acknowledged before the next is made. `out_events` counts
 * them. */
bool world_write_run(const struct world *world, struct journal *journal, struct rng *rng,
                     int64_t *out_events, struct err *err);
/* The moves that decisions are made of. */
const char *const *world_moves(size_t *count);
/* Some words by Zipf's law. */
const char *world_words(const struct world *world, struct rng *rng, size_t count,
                        struct arena *arena);

#endif
