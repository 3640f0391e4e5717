#include "os/os.h"

#include <errno.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        BUG("the kernel has no clock %d", (int)clock);
    return ns_of(now);
}

int64_t os_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t os_wall_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

void os_sleep_ns(int64_t duration_ns)
{
    if (duration_ns <= 0)
        return;
    const int64_t now_ns = os_now_ns();
    const int64_t until_ns = duration_ns < INT64_MAX - now_ns ? now_ns + duration_ns : INT64_MAX;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                   .tv_nsec = (long)(until_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
        if (os_interrupted())
            return;
    }
}

bool os_semaphore_wait(sem_t *semaphore, int64_t duration_ns)
{
    const int64_t until_ns = os_now_ns() + (duration_ns > 0 ? duration_ns : 0);
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                   .tv_nsec = (long)(until_ns % NS_PER_S)};
    while (sem_clockwait(semaphore, CLOCK_MONOTONIC, &until) != 0) {
        if (errno != EINTR || os_interrupted())
            return false;
    }
    return true;
}

int64_t os_process_cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return -1;
    return ns_of(used);
}
