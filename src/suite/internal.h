/* Inside suite/: results as they lie on the disk. */
#ifndef KOPE_SUITE_INTERNAL_H
#define KOPE_SUITE_INTERNAL_H

#include "suite/suite.h"

/* A run that has ended. */
struct suite_result {
    const char *arm, *task, *family;
    int64_t seed;
    const char *run_id, *end_reason;
    int64_t evaluations, tokens;
    double seconds;
    bool has_win;
    double log_ratio;    /* confirmed; 0 where there is no win */
    const double *curve; /* best log-ratio after 1 .. evaluations, 0 while the baseline stands */
};

struct suite_results {
    struct suite_result *items; /* in the arena; there is always room for one more */
    size_t count, capacity;
};

/* results.jsonl. A line that a kill cut short is dropped; any other that is no result is
 * ERR_CORRUPT with its number. A missing file is empty. */
bool results_read(const char *dir, struct arena *arena, struct suite_results *out, struct err *err);
/* Adds one and writes all anew, atomically and durably. */
bool results_add(const char *dir, struct suite_results *results, const struct suite_result *result,
                 struct arena *arena, struct err *err);
const struct suite_result *results_find(const struct suite_results *results, const char *arm,
                                        const char *task, int64_t seed);

#endif
