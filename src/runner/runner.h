/*
 * kope-runner: the boxed child in which a candidate runs.
 *
 * It maps the shared buffers, shuts itself in (limits, namespaces, Landlock, seccomp), loads the
 * image and then answers the doorbell of protocol.h. Order matters: nothing of the candidate is
 * looked at before the box is closed, and no new code can be mapped once the candidate runs. One
 * thread, unless the task allows more (team.h); no clean-up: the parent kills it.
 */
#ifndef KOPE_RUNNER_RUNNER_H
#define KOPE_RUNNER_RUNNER_H

#include "runner/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*runner_function)(void);
typedef void (*runner_call)(void *const *arguments, const int64_t *ints, const double *reals);

/* Says why in control->error, sets the phase (RUNNER_REFUSED, RUNNER_FAILED) and leaves. */
_Noreturn void runner_refuse(struct runner_control *control, const char *why);
_Noreturn void runner_fail(struct runner_control *control, const char *what, int error_number);

/* box.c: the layers, one function each, so that a test can take one away (tests/sandbox). Those
 * that a host may lack return the bit of what is missing (enum runner_layer), 0 where nothing is.
 */
void box_close_descriptors(void);
bool box_give_up_privileges(void);
uint32_t box_enter_namespaces(void);
uint32_t box_enter_landlock(void);
/* Cannot be looked into or traced, dies with the parent; ends at once where that is dead already.
 * `parent` 0: whoever it is. */
uint32_t box_hide_process(int64_t parent);
/* Neither the time-stamp counter nor the kernel's page of clocks can be read. Reads /proc: before
 * descriptors and files are gone. */
uint32_t box_hide_clock(void);
/* Address space in all, processes, files and the like. */
bool box_limit(uint64_t address_space_bytes);

/* filter.c: what the loader may do; then, on top of it, what the candidate may do: no new thread
 * either. For all threads of the process. */
bool filter_for_loading(void);
bool filter_for_candidate(void);
/* A call that no filter lets through: the process is killed by SIGSYS. */
_Noreturn void filter_die(void);

/* load.c: the entry of an image, or NULL and the reason. The image may lie anywhere; it is copied.
 */
struct image {
    const uint8_t *base;
    size_t bytes;
    runner_call entry;
};
bool image_load(const uint8_t *file, size_t file_bytes, struct image *out, const char **why);

/* symbols.c: what an image may use. NULL where it may not. */
runner_function symbol_find(const char *name);
/* Prints a line 'symbol NAME' for each. */
bool symbol_list(void);

/* fault.c: signal handlers that leave a struct runner_fault. */
bool fault_install(struct runner_control *control);
/* The calling thread handles its signals on a stack of its own; `room` lasts as long as it. */
enum { FAULT_STACK_BYTES = 32 * 1024 };
bool fault_use_stack(void *room);
/* In the place of abort, for what can only be a candidate's mistake. */
_Noreturn void fault_abort(void);
void fault_set_image(const struct image *image);

/* serve.c: answers the doorbell for ever. */
_Noreturn void serve(struct runner_control *control, void *const *buffers,
                     const struct image *image);

#endif
