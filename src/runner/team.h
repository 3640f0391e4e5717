/*
 * The threads of a child whose task allows more than one.
 *
 * They are made before the box closes, and the candidate can make none: pthread_create and OpenMP
 * (openmp.c for gcc's calls, openmp_clang.c for clang's) give work to them. Between rounds they
 * sleep; while a round lasts one without work looks for some a while, as OpenMP's do in a running
 * program, then sleeps too. With n threads allowed there are n workers beside the first thread: a
 * kernel that makes n pthreads and waits for them uses them all, an OpenMP region the first n - 1.
 *
 * Everything here lies within reach of the candidate. What the parent believes is what the kernel
 * says: how many threads there are, that all sleep after the bell, and their CPU time.
 */
#ifndef KOPE_RUNNER_TEAM_H
#define KOPE_RUNNER_TEAM_H

#include "runner/runner.h"

/* Address space that the threads need, beyond the first one's. */
uint64_t team_bytes(const struct runner_config *config);
/* Makes them; nothing for a task with one thread. */
bool team_make(struct runner_control *control);
/* Pins the calling thread, the `index`-th, to its processor. */
void team_pin(const struct runner_config *config, size_t index);

/* A round comes: those that may look for work begin to. Its bell has rung. It ends: how many
 * threads are still at work or not joined. */
void team_wake(void);
void team_begin(void);
uint32_t team_rest(void);

/* Runs `body(argument)` in `count` threads, this one among them, and waits for all. A region within
 * a region has one thread. `count` 0: as many as there are. */
typedef void (*team_body)(void *argument);
void team_run(team_body body, void *argument, uint32_t count);
uint32_t team_most(void);

/* In a region: who this is, of how many, and the wait for all of them. */
uint32_t team_number(void);
uint32_t team_count(void);
void team_barrier(void);

/* Iterations 0 .. total - 1 of a loop that the threads of a region share: every thread enters every
 * loop, in the same order, takes pieces until there are none, and leaves it. */
struct team_loop {
    uint64_t total, chunk;
    bool is_guided;
    int64_t first, step; /* of the caller: how an iteration's value is computed */
};
void team_loop_enter(const struct team_loop *loop);
bool team_loop_take(uint64_t *first, uint64_t *end);
const struct team_loop *team_loop_now(void);
void team_loop_leave(void);

/* What one thread of a region leaves for the others. */
void team_give(void *data);
void *team_given(void);

/* A lock in one word; 0 is open. */
void team_lock(_Atomic uint32_t *lock);
bool team_try_lock(_Atomic uint32_t *lock);
void team_unlock(_Atomic uint32_t *lock);

/* pthread_create and its like, over the workers. Attributes are not looked at. */
int team_thread_create(unsigned long *out, const void *attributes, void *(*function)(void *),
                       void *argument);
int team_thread_join(unsigned long thread, void **result);
int team_thread_detach(unsigned long thread);

#endif
