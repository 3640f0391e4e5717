/*
 * Programs with limits: compilers, probes, agents.
 *
 * A program is started in its own process group with no standard input, an environment that holds
 * only what is allowed, no open files but its three streams, no core dumps, a wall-clock limit
 * after which the whole group is killed, and capped output. The group is also killed when its
 * leader ends or os_interrupted() becomes true, and the leader when the calling thread ends.
 *
 * With `confine` it also runs under Landlock (only the named folders and /dev/null, zero, urandom)
 * and a seccomp filter (no sockets, no access to other processes, no namespaces, no leaving of the
 * group), so that a hostile source cannot make the compiler read a secret. Each part is left out
 * where the kernel lacks it. Not confined: CPU time, space in the writable folders, stat of any
 * path. Without `confine` a program can leave its group (setsid) and outlive the limit.
 *
 * Threads: any; each call waits for its child. SIGCHLD must not be ignored.
 */
#ifndef KOPE_OS_PROCESS_H
#define KOPE_OS_PROCESS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists end with NULL; NULL is an empty list. */
struct process_opts {
    /* argv[0] is looked up on PATH, or is relative to `dir` where it has a '/'. */
    const char *const *argv;
    const char *dir; /* working folder; NULL: this process's */
    /* More "NAME=value". These replace what is always set: PATH, LANG=C.UTF-8, and TMPDIR, which is
     * the first of `write_paths` where confined. */
    const char *const *env;
    const char *const *keep_env; /* names passed on from this process */
    const char *input;           /* text for its standard input; NULL: /dev/null */
    int64_t timeout_ns;          /* 0: 60 s */
    size_t output_limit_bytes;   /* stdout and stderr each; 0: 1 MiB */
    size_t memory_limit_bytes;   /* RLIMIT_AS; 0: none */
    bool confine;                /* Landlock and no sockets, as far as the kernel can */
    /* With confine: folders and files to read and execute, folders to read and write. A path that
     * does not exist is left out. */
    const char *const *read_paths;
    const char *const *write_paths;
    bool reads_own_proc; /* with confine: its own entry below /proc too, not that of another
                            process, its children's among them */
};

struct process_result {
    int exit_code;    /* 0..255, or -1 where a signal ended it */
    int signal;       /* the signal, or 0 */
    bool timed_out;   /* killed at the limit */
    bool interrupted; /* killed because os_interrupted() became true */
    bool truncated;   /* output went past its cap */
    char *out;        /* NUL-terminated; "" where there was none */
    char *errors;
    int64_t wall_ns;
    int64_t cpu_ns;
};

/* Runs to the end. False only where it could not be started (ERR_MISSING_TOOL, ERR_IO); a program
 * that fails, hangs or is killed is a result. */
bool os_run(const struct process_opts *opts, struct arena *arena, struct process_result *out,
            struct err *err);

/* What of `confine` this kernel offers: Landlock ABI version (0: none), seccomp filters. */
int os_landlock_abi(void);
bool os_has_seccomp(void);

#endif
