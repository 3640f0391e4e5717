#include "os/os.h"

#include "base/str.h"
#include "os/file.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    CPUS_MAX = 8192 /* what kernels are built for at most */,
    MEMINFO_BYTES = 64 * 1024,
    SIBLINGS_BYTES = 4096
};

void os_random(void *out, size_t bytes)
{
    unsigned char *to = out;
    while (bytes != 0) {
        const ssize_t got = getrandom(to, bytes, 0);
        if (got < 0 && errno != EINTR)
            BUG("the kernel gives no random bytes");
        if (got > 0) {
            to += got;
            bytes -= (size_t)got;
        }
    }
}

uint64_t os_random_u64(void)
{
    uint64_t value;
    os_random(&value, sizeof value);
    return value;
}

size_t os_cpus_online(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}

int64_t os_cache_bytes(int level)
{
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    const bool is_known = level >= 0 && (size_t)level < sizeof names / sizeof *names;
    const long bytes = is_known ? sysconf(names[level]) : 0;
    return bytes > 0 ? bytes : 0;
}

size_t os_cpus_allowed(int *cpus, size_t capacity)
{
    cpu_set_t set[CPUS_MAX / CPU_SETSIZE];
    size_t count = 0;
    if (sched_getaffinity(0, sizeof set, set) != 0)
        return 0;
    for (int cpu = 0; cpu < CPUS_MAX && (capacity == 0 || count < capacity); cpu++) {
        if (!CPU_ISSET_S((size_t)cpu, sizeof set, set))
            continue;
        if (capacity != 0)
            cpus[count] = cpu;
        count++;
    }
    return count;
}

/* What the processors of one core have in common; "" where the kernel does not say. */
static const char *core_of(int cpu, struct arena *arena)
{
    struct err ignored;
    char *siblings = NULL;
    const char *path =
        arena_printf(arena, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    return os_read_file(path, SIBLINGS_BYTES, arena, &siblings, NULL, &ignored) ? siblings : "";
}

size_t os_cpus_by_core(int *cpus, size_t capacity, struct arena *scratch)
{
    const size_t count = os_cpus_allowed(NULL, 0);
    int *all = arena_array(scratch, count + 1, sizeof *all);
    const char **cores = arena_array(scratch, count + 1, sizeof *cores);
    size_t *ranks = arena_array(scratch, count + 1, sizeof *ranks);
    size_t stored = 0;
    const size_t found = os_cpus_allowed(all, count);
    for (size_t i = 0; i < found; i++) {
        cores[i] = core_of(all[i], scratch);
        for (size_t k = 0; k < i; k++)
            ranks[i] += cores[i][0] != '\0' && str_equal(cores[k], cores[i]);
    }
    for (size_t rank = 0; stored < found && stored < capacity; rank++) {
        for (size_t i = found; i-- > 0 && stored < capacity;) {
            if (ranks[i] == rank)
                cpus[stored++] = all[i];
        }
    }
    return stored;
}

bool os_pin_thread(int cpu)
{
    cpu_set_t set[CPUS_MAX / CPU_SETSIZE];
    if (cpu < 0 || cpu >= CPUS_MAX)
        return false;
    CPU_ZERO_S(sizeof set, set);
    CPU_SET_S((size_t)cpu, sizeof set, set);
    return sched_setaffinity(0, sizeof set, set) == 0;
}

void os_pin_thread_for_now(int cpu, struct os_affinity *before)
{
    static_assert(sizeof before->words == CPUS_MAX / 8, "a bit each");
    before->is_pinned =
        sched_getaffinity(0, sizeof before->words, (cpu_set_t *)before->words) == 0 &&
        os_pin_thread(cpu);
}

void os_avoid_cpus_for_now(const uint16_t *cpus, size_t count, struct os_affinity *before)
{
    if (sched_getaffinity(0, sizeof before->words, (cpu_set_t *)before->words) != 0)
        return;
    struct os_affinity rest = *before;
    for (size_t i = 0; i < count; i++)
        CPU_CLR_S((size_t)cpus[i], sizeof rest.words, (cpu_set_t *)rest.words);
    before->is_pinned = sched_setaffinity(0, sizeof rest.words, (const cpu_set_t *)rest.words) == 0;
}

void os_unpin_thread(struct os_affinity *before)
{
    if (before->is_pinned)
        (void)sched_setaffinity(0, sizeof before->words, (const cpu_set_t *)before->words);
    before->is_pinned = false;
}

const char *os_env(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool os_is_terminal(int fd)
{
    return isatty(fd) == 1;
}

int os_terminal_columns(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

char *os_kernel(struct arena *arena)
{
    struct utsname name;
    if (uname(&name) != 0)
        return arena_strdup(arena, "unknown");
    return arena_printf(arena, "%s %s %s", name.sysname, name.release, name.machine);
}

char *os_hostname(struct arena *arena)
{
    struct utsname name;
    return arena_strdup(arena, uname(&name) == 0 ? name.nodename : "unknown");
}

void os_forbid_inspection(void)
{
    (void)prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
}

bool os_is_root(void)
{
    return geteuid() == 0;
}

double os_load_average(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? load : -1.0;
}

int64_t os_memory_available_bytes(void)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err ignored;
    char *text = NULL;
    if (!os_read_file("/proc/meminfo", MEMINFO_BYTES, &arena, &text, NULL, &ignored))
        return -1;
    const char *line = strstr(text, "MemAvailable:");
    if (!line)
        return -1;
    return strtoll(line + strlen("MemAvailable:"), NULL, 10) * 1024;
}

bool os_memfd(const char *label, size_t bytes, int *out_fd, struct err *err)
{
    CLEANUP(os_close) int fd = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        return err_set_errno(err, errno, "cannot create shared memory '%s' of %zu bytes", label,
                             bytes);
    *out_fd = os_take_fd(&fd);
    return true;
}

void os_populate(void *at, size_t bytes)
{
    (void)madvise(at, bytes, MADV_POPULATE_WRITE);
}

void os_forbid_core(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none); /* lowering a limit is always allowed */
}
