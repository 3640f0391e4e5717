/*
 * Profile findings: why a kernel takes the time it takes, as a sentence with a number.
 *
 * First form: the roofline class, from measured peaks and the task's counted flops and bytes. It
 * decides which micro-tools are worth running (later issues add them), and goes into the prompt,
 * the journal and the report. Pure.
 */
#ifndef KOPE_PROFILE_PROFILE_H
#define KOPE_PROFILE_PROFILE_H

#include "base/arena.h"
#include "target/target.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum roofline_class {
    ROOFLINE_UNKNOWN, /* no rates, or nothing declared */
    ROOFLINE_MEMORY,  /* the memory level that holds the data bounds it */
    ROOFLINE_COMPUTE, /* arithmetic bounds it */
    ROOFLINE_LATENCY, /* far from both: dependences, calls, branches or scalar code */
};
const char *roofline_class_name(enum roofline_class roofline);

struct finding {
    enum roofline_class roofline;
    const char *text; /* the sentence, memory of the arena */
    double share;     /* of the bound reached, 0..1 */
    int64_t bound_ns; /* least possible time of a call */
};

/* Of `time_ns` a call in this case. */
struct finding profile_roofline(const struct task *task, const struct task_case *c,
                                const struct target_features *features, int64_t time_ns,
                                struct arena *arena);

#endif
