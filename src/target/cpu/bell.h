/*
 * One ring of the doorbell, from the parent's side: waking the child, the bell, the
 * acknowledgement, and the wait until it sleeps. Not for other modules. What the numbers say of a
 * candidate is session.c's matter.
 */
#ifndef KOPE_TARGET_CPU_BELL_H
#define KOPE_TARGET_CPU_BELL_H

#include "target/cpu/cpu.h"

#define READY_LIMIT_NS INT64_C(5000000000) /* to wake and touch buffers, beside the run's limit */
#define QUIESCE_NS INT64_C(30000)          /* to go to sleep; what is longer is looked at */

enum wait_end { WAIT_SEEN, WAIT_DIED, WAIT_LATE, WAIT_INTERRUPTED };

struct waiting {
    struct cpu_session *session;
    uint64_t sequence;
    enum runner_stage stage; /* of it; done and parked are one */
    unsigned attempt;        /* to arm */
    int64_t deadline_ns;
    bool is_calibration;
    int wait_status; /* how it died */
};

/* One round, as measured. The kernel's account of the child's CPU time is exact only where the
 * child gives the processor up: when it is armed, and when it sleeps again. */
struct round {
    int64_t wall_ns;   /* from the bell to the acknowledgement */
    unsigned attempts; /* to arm */
    int64_t arming_ns; /* from the request to arm to its acknowledgement */
    int64_t armed_ns;  /* from that request to the acknowledgement of the bell: no honest child
                          used more CPU time */
    int64_t cpu_ns;    /* the child's, from armed to sleep */
    bool asleep;       /* it went to sleep in the end */
    struct child_status was; /* before the bell and after it slept */
    struct child_status is;
};

/* `round` is filled where the end is WAIT_SEEN; else `waiting->stage` is how far it came. */
enum wait_end bell_round(struct waiting *w, int64_t limit_ns, struct round *round);

#endif
