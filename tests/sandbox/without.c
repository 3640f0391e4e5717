/*
 * Layers of the box that do nothing, for runners that have some of them taken away: the linker's
 * --wrap puts these in the place of the real ones. Never part of kope-runner itself.
 */
#include "runner/runner.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

void __wrap_box_close_descriptors(void);
uint32_t __wrap_box_enter_namespaces(void);
uint32_t __wrap_box_enter_landlock(void);
uint32_t __wrap_box_hide_process(int64_t parent);
uint32_t __wrap_box_hide_clock(void);
bool __wrap_box_limit(uint64_t address_space_bytes);
bool __wrap_filter_for_loading(void);
bool __wrap_filter_for_candidate(void);

void __wrap_box_close_descriptors(void)
{
}

uint32_t __wrap_box_enter_namespaces(void)
{
    return RUNNER_LAYER_NAMESPACES;
}

uint32_t __wrap_box_enter_landlock(void)
{
    return RUNNER_LAYER_LANDLOCK;
}

/* Hidden from nobody; but no runner may outlive the test that started it, however that ends. */
uint32_t __wrap_box_hide_process(int64_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
    if (parent != 0 && getppid() != (pid_t)parent)
        _exit(1);
    return RUNNER_LAYER_HIDDEN;
}

uint32_t __wrap_box_hide_clock(void)
{
    return RUNNER_LAYER_TSC | RUNNER_LAYER_VDSO;
}

bool __wrap_box_limit(uint64_t address_space_bytes)
{
    (void)address_space_bytes;
    return true;
}

bool __wrap_filter_for_loading(void)
{
    return true;
}

bool __wrap_filter_for_candidate(void)
{
    return true;
}
