/*
 * Starting one child: everything between fork and exec. Used by run.c only.
 *
 * The plan is complete before the fork, so that the child makes system calls only: other threads of
 * the parent may hold any lock at the moment of the fork.
 */
#ifndef KOPE_OS_PROCESS_CHILD_H
#define KOPE_OS_PROCESS_CHILD_H

#include "base/err.h"
#include "os/process/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct child_plan {
    const char *path; /* of the program; relative to `dir` */
    char *const *argv;
    char *const *env;
    const char *dir;                       /* NULL: the parent's */
    int input_fd, output_fd, error_fd;     /* become 0, 1 and 2; all above 2 */
    size_t memory_limit_bytes;             /* RLIMIT_AS; 0: none */
    const struct confinement *confinement; /* NULL: none */
};

/*
 * The child leads a process group of its own, holds no descriptor but the three, makes no core dump
 * and dies with the calling thread. Returns when the program has been started; ERR_MISSING_TOOL
 * where it does not exist, ERR_IO for the rest, and then there is no child.
 */
bool child_start(const struct child_plan *plan, pid_t *out_pid, struct err *err);

/* Replaces the descriptor by one above 2, where redirection cannot overwrite it. */
bool child_lift_fd(int *fd);

#endif
