#include "runner/runner.h"

#include <errno.h>
#include <linux/landlock.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From the kernel's documentation: older headers stop before these. */
#define LANDLOCK_FS_REFER (UINT64_C(1) << 13)     /* version 2 */
#define LANDLOCK_FS_TRUNCATE (UINT64_C(1) << 14)  /* version 3 */
#define LANDLOCK_FS_IOCTL_DEV (UINT64_C(1) << 15) /* version 5 */
#define LANDLOCK_FS_VERSION_1 ((UINT64_C(1) << 13) - 1)
enum {
    LANDLOCK_NET = 3,  /* version 4: bind and connect over TCP */
    LANDLOCK_SCOPE = 3 /* version 6: abstract UNIX sockets, signals */
};

struct landlock_rules {
    uint64_t files, net, scope;
};

void box_close_descriptors(void)
{
    if (syscall(SYS_close_range, 0U, ~0U, 0U) == 0)
        return;
    const long most = sysconf(_SC_OPEN_MAX);
    for (long fd = 0; fd < (most > 0 ? most : 1024); fd++)
        (void)close((int)fd);
}

/* Everything that Landlock knows is refused: there are no rules. */
static bool landlock_enter(void)
{
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return false;
    struct landlock_rules rules = {.files = LANDLOCK_FS_VERSION_1};
    if (version >= 2)
        rules.files |= LANDLOCK_FS_REFER;
    if (version >= 3)
        rules.files |= LANDLOCK_FS_TRUNCATE;
    if (version >= 5)
        rules.files |= LANDLOCK_FS_IOCTL_DEV;
    if (version >= 4)
        rules.net = LANDLOCK_NET;
    if (version >= 6)
        rules.scope = LANDLOCK_SCOPE;
    const size_t bytes = version >= 6 ? sizeof rules : sizeof(uint64_t) * (version >= 4 ? 2 : 1);
    const int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, bytes, 0U);
    if (fd < 0)
        return false;
    const bool entered = syscall(SYS_landlock_restrict_self, fd, 0U) == 0;
    (void)close(fd);
    return entered;
}

uint32_t box_enter_landlock(void)
{
    return landlock_enter() ? 0 : RUNNER_LAYER_LANDLOCK;
}

bool box_give_up_privileges(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) == 0;
}

uint32_t box_enter_namespaces(void)
{
    return unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0 ? 0 : RUNNER_LAYER_NAMESPACES;
}

uint32_t box_hide_process(int64_t parent)
{
    const bool hidden = prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) == 0 &&
                        prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L) == 0;
    if (parent != 0 && getppid() != (pid_t)parent)
        _exit(1);
    return hidden ? 0 : RUNNER_LAYER_HIDDEN;
}

/* The pages of data that the kernel's clock functions (vdso) read go; its code stays, since some
 * machines return from signals through it. The kernel may have sealed them. */
static bool unmap_clocks(void)
{
    char line[512];
    bool gone = true;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return false;
    struct {
        unsigned long first, end;
    } found[4];
    size_t count = 0;
    while (fgets(line, sizeof line, maps)) {
        char *rest = NULL;
        if (!strstr(line, "[vvar") || count == sizeof found / sizeof *found)
            continue;
        found[count].first = strtoul(line, &rest, 16);
        found[count++].end = strtoul(rest + (*rest == '-'), NULL, 16);
    }
    (void)fclose(maps);
    for (size_t i = 0; i < count; i++)
        gone = syscall(SYS_munmap, found[i].first, found[i].end - found[i].first) == 0 && gone;
    return gone;
}

#if defined(PR_SET_TSC) && defined(__x86_64__)
static sigjmp_buf clock_is_trapped;

static void on_trapped_clock(int number)
{
    (void)number;
    siglongjmp(clock_is_trapped, 1);
}

/* Some hypervisors let the kernel set the trap and do not trap: it is tried. */
static bool trap_clock(void)
{
    struct sigaction before;
    struct sigaction action = {.sa_handler = on_trapped_clock};
    volatile bool is_trapped = true;
    (void)sigemptyset(&action.sa_mask);
    if (prctl(PR_SET_TSC, (long)PR_TSC_SIGSEGV, 0L, 0L, 0L) != 0 ||
        sigaction(SIGSEGV, &action, &before) != 0)
        return false;
    if (sigsetjmp(clock_is_trapped, 1) == 0) {
        (void)__builtin_ia32_rdtsc();
        is_trapped = false;
    }
    return sigaction(SIGSEGV, &before, NULL) == 0 && is_trapped;
}
#else
static bool trap_clock(void)
{
    return false;
}
#endif

uint32_t box_hide_clock(void)
{
    return (unmap_clocks() ? 0 : (uint32_t)RUNNER_LAYER_VDSO) |
           (trap_clock() ? 0 : (uint32_t)RUNNER_LAYER_TSC);
}

static bool limit(__rlimit_resource_t resource, rlim_t value)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return false;
    if (now.rlim_max < value)
        value = now.rlim_max;
    return setrlimit(resource, &(struct rlimit){value, value}) == 0;
}

bool box_limit(uint64_t address_space_bytes)
{
    const rlim_t cpu_seconds = 4 * 3600; /* the parent's own limits are far below */
    return limit(RLIMIT_NPROC, 0) && limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) &&
           limit(RLIMIT_NOFILE, 0) && limit(RLIMIT_MEMLOCK, 0) && limit(RLIMIT_MSGQUEUE, 0) &&
           limit(RLIMIT_SIGPENDING, 0) && limit(RLIMIT_STACK, RUNNER_STACK_BYTES) &&
           limit(RLIMIT_CPU, cpu_seconds) && limit(RLIMIT_AS, (rlim_t)address_space_bytes);
}
