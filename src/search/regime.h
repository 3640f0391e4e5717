/*
 * Where one size does not win everywhere: is there a pair of measured candidates of which one is
 * better on the small cases of a task and the other on the large ones, so clearly that choosing
 * between them by a size pays? Pure: cases and their measured ratios in, a split or the reason
 * against one out. The engine makes a candidate of a split, and the gate judges that like any
 * other.
 */
#ifndef KOPE_SEARCH_REGIME_H
#define KOPE_SEARCH_REGIME_H

#include "base/arena.h"
#include "task/task.h"
#include "task/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGIME_MAX_FACTORS = 3 };

/* A candidate that was timed in every case that is not held out. */
struct regime_candidate {
    const struct case_result *cases; /* names and ratios; held-out ones are passed over */
    size_t case_count;
    size_t compiler; /* two of one number can stand in one translation unit */
    size_t flags;    /* two of one number are there what they were when they were measured */
};

/* `low` is chosen where the product of `factors` is `most` at most, `high` above. */
struct regime_split {
    size_t low, high;                   /* candidates */
    size_t factors[REGIME_MAX_FACTORS]; /* axes of the task */
    size_t factor_count;
    int64_t most;
    double log_ratio; /* weighted mean over the cases, as a verdict has it, if choosing costs
                         nothing */
    double gain;      /* of that over `best_log_ratio` */
};

/*
 * The split that promises most; false with the reason in words where there is none. In each case
 * the better of a pair is the one whose interval lies above the other's; in cases where they
 * overlap neither is asked for. A size separates a pair where every case that asks for the one has
 * a smaller product than every case that asks for the other; the bound is the geometric middle
 * between the nearest two. The simplest size is taken: fewest factors, then the widest gap, then
 * the first axes. A gain below 3 % over `best_log_ratio`, the best candidate alone, is none; below
 * 10 % where the flags differ, since one of the two is then to be built with flags that nobody has
 * measured it with.
 */
bool regime_find(const struct task *task, const struct regime_candidate *candidates, size_t count,
                 double best_log_ratio, struct arena *arena, struct regime_split *out,
                 const char **why);

/* "m*n", for people; "m * n <= 4096", an expression in C over the axes that does not overflow for
 * any sizes that the task allows. */
char *regime_size_text(const struct task *task, const struct regime_split *split,
                       struct arena *arena);
char *regime_condition(const struct task *task, const struct regime_split *split,
                       struct arena *arena);

#endif
