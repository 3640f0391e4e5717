/*
 * The plan of honest variants: a text file that names templates, settings and ways to build; the
 * head of tests/honest/plan says how. Memory is the arena's; one thread.
 */
#ifndef KOPE_HONEST_PLAN_H
#define KOPE_HONEST_PLAN_H

#include "base/arena.h"
#include "base/err.h"
#include "target/target.h"
#include "task/candidate.h"

#include <stdbool.h>
#include <stddef.h>

struct variant {
    const char *task;
    const char *name; /* "sum METHOD=0 LANES=8: gcc-12 -O1" */
    struct candidate candidate;
    const char *lacks; /* what this host lacks for it; NULL: nothing */
};

struct variants {
    struct variant *items;
    size_t count, capacity;
};

/* All variants in the order of the file `dir`/plan; templates are in `dir`/templates. */
bool plan_load(const char *dir, const struct target *target, struct arena *arena,
               struct variants *out, struct err *err);
void plan_free(struct variants *variants);

#endif
