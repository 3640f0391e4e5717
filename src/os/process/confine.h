/*
 * Confinement of a child: Landlock for files and TCP, a seccomp filter for what Landlock does not
 * cover. Used by run.c only. No privileges are needed; each part is left out where the kernel
 * lacks it (os_landlock_abi and os_has_seccomp tell).
 *
 * The parent prepares everything that needs memory or errors; the child calls confine_self between
 * fork and exec, which does system calls only.
 */
#ifndef KOPE_OS_PROCESS_CONFINE_H
#define KOPE_OS_PROCESS_CONFINE_H

#include "base/err.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

enum { CONFINE_FILTER_MAX = 64 };

struct confinement {
    int ruleset_fd; /* Landlock, or -1 */
    bool reads_own_proc;
    uint64_t own_proc_access;
    unsigned short filter_length;
    struct sock_filter filter[CONFINE_FILTER_MAX];
};

/* Lists as in struct process_opts; a path that does not exist or cannot be reached is left out. */
bool confine_prepare(const char *const *read_paths, const char *const *write_paths,
                     struct confinement *out, struct err *err);
void confine_release(struct confinement *confinement);

/* In the child, for good: false with errno. Async-signal-safe. */
bool confine_self(const struct confinement *confinement);

#endif
