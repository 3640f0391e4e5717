/*
 * Layers of the box that do nothing, for runners that have some of them taken away: the linker's
 * --wrap puts these in the place of the real ones. Never part of kope-runner itself.
 */
#include "runner/runner.h"

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

uint32_t __wrap_box_hide_process(int64_t parent)
{
    (void)parent;
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
