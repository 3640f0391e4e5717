/*
 * os/: everything that talks to the kernel, so that no other module needs more than POSIX.
 *
 * This header: clock, random bytes, processors, interruption, environment. Others of the module:
 * file.h (files and folders), process.h (programs with limits), worker.h (copies of this process).
 * `_GNU_SOURCE` is defined here and in src/runner/ only. Threads: every function may be called from
 * any thread unless it says otherwise.
 */
#ifndef KOPE_OS_OS_H
#define KOPE_OS_OS_H

#include "base/arena.h"
#include "base/err.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds of a clock that never steps (CLOCK_MONOTONIC), and of the calendar since 1970. */
int64_t os_now_ns(void);
int64_t os_wall_ns(void);
/* Returns early where a signal sets the flag of os_interrupted. */
void os_sleep_ns(int64_t duration_ns);

/* Waits for a semaphore, at most so long; false where nobody posted it. Returns early, too, where
 * a signal sets the flag of os_interrupted. It may lie in memory that another process writes:
 * whatever that does to it, the wait ends. */
bool os_semaphore_wait(sem_t *semaphore, int64_t duration_ns);

/* A flag that is raised once, by one thread, and that any number of threads of this process wait
 * for. Zeroed: not raised. Whoever sees it raised sees all that was written before. Its memory
 * stays until os_flag_raise has returned. */
struct os_flag {
    _Atomic uint32_t word;
};
void os_flag_wait(struct os_flag *flag);
void os_flag_raise(struct os_flag *flag);

/* CPU time that process `pid` has used, all threads, in ns; -1 where it is gone. */
int64_t os_process_cpu_ns(pid_t pid);

/* Random bytes of the system (getrandom); never fails on a kernel that KOPE runs on. */
void os_random(void *out, size_t bytes);
uint64_t os_random_u64(void);

/* Processors that the calling thread may use: their numbers, ascending, in `cpus`, at most
 * `capacity`, and how many were stored. Capacity 0 counts them all. */
size_t os_cpus_allowed(int *cpus, size_t capacity);
/* Of the machine, whatever this thread may use of it. */
size_t os_cpus_online(void);

/* Size of a data cache as the C library has it from the processor, nearest first: level 0 to 2; 0
 * where it says nothing. Shared ones whole, however many share them. */
int64_t os_cache_bytes(int level);

/* The same processors in the order in which work of many is best given out: one of each core before
 * a second one of any (hyper-threads share a core's units), and the first last, since most
 * interrupts go there. */
size_t os_cpus_by_core(int *cpus, size_t capacity, struct arena *scratch);

/* Pin the calling thread to one processor; false where the kernel refuses. */
bool os_pin_thread(int cpu);

/* The same for a while: what it might use before is kept, and given back by os_unpin_thread. */
struct os_affinity {
    unsigned long words[1024 / sizeof(unsigned long)]; /* 8192 processors */
    bool is_pinned;
};
void os_pin_thread_for_now(int cpu, struct os_affinity *before);
/* Likewise keeps off `count` processors, where that leaves any. */
void os_avoid_cpus_for_now(const uint16_t *cpus, size_t count, struct os_affinity *before);
void os_unpin_thread(struct os_affinity *before);

/* From now on SIGINT and SIGTERM set a flag instead of ending the process; a second SIGINT ends it
 * at once. Calls that wait on purpose (poll, os_sleep_ns) return, others are restarted. To be
 * called once, from main. */
void os_interrupt_install(void);
bool os_interrupted(void);
/* Sets or clears the flag by hand, for tests. */
void os_interrupt_set(bool interrupted);

/* A server stops the work at hand without ending itself: while set, os_interrupted() is true as
 * well; os_signalled() is true for signals alone. Whoever sets it clears it when the work has
 * stopped. */
void os_cancel_set(bool cancelled);
bool os_signalled(void);

/* A crash of this process, whose environment may hold a key, leaves no core. */
void os_forbid_core(void);

/* The value of an environment variable, or NULL where it is unset or empty. */
const char *os_env(const char *name);

/* Is file descriptor `fd` a terminal; its width in columns, 80 where unknown. */
bool os_is_terminal(int fd);
int os_terminal_columns(int fd);

/* From now on this process leaves no core dump, and no other process of the same user may look into
 * its memory, environment or open files: keys are there. Children that are executed are not
 * affected. Gone with it: attaching a debugger later, except as root. */
void os_forbid_inspection(void);

/* Name, release and machine of the kernel ("Linux 6.1.0 x86_64"), host name, user id 0. */
char *os_kernel(struct arena *arena);
char *os_hostname(struct arena *arena);
bool os_is_root(void);

/* Load averaged over the last minute, and bytes of memory available; -1 where unknown. */
double os_load_average(void);
int64_t os_memory_available_bytes(void);

/* Writes these bytes back to memory and drops them from all caches of all processors, also where
 * another process has them mapped. False where the processor does not offer it. */
bool os_flush_caches(const void *at, size_t bytes);

/* Sealable shared memory without a name (memfd_create), close-on-exec. */
bool os_memfd(const char *label, size_t bytes, int *out_fd, struct err *err);

/* Maps the pages of memory that is about to be written, in one go in place of a fault for each. A
 * kernel that cannot (before Linux 5.14) leaves it to the faults. */
void os_populate(void *at, size_t bytes);

#endif
