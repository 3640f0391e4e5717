/*
 * Children for the next checks, made by another thread while the compiler works: shared memory,
 * process, box, and before that the taking apart of those that the last candidate used. A judgement
 * then has them without waiting (decision 14). It is one thread for the life of the gate, because a
 * child dies with the thread that started it.
 */
#include "gate/internal.h"

#include <pthread.h>
#include <stdlib.h>

enum stage { IDLE, ASKED, DONE, LEAVING };

struct ahead {
    struct gate *gate;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum stage stage;
    bool ok;
    struct err err;
};

static void *work(void *context)
{
    struct ahead *ahead = context;
    (void)pthread_mutex_lock(&ahead->lock);
    while (ahead->stage != LEAVING) {
        if (ahead->stage != ASKED) {
            (void)pthread_cond_wait(&ahead->changed, &ahead->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&ahead->lock);
        const bool ok = check_prepare(ahead->gate, &ahead->err);
        (void)pthread_mutex_lock(&ahead->lock);
        ahead->ok = ok;
        ahead->stage = DONE;
        (void)pthread_cond_broadcast(&ahead->changed);
    }
    (void)pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

static void set_stage(struct ahead *ahead, enum stage stage)
{
    (void)pthread_mutex_lock(&ahead->lock);
    ahead->stage = stage;
    (void)pthread_cond_broadcast(&ahead->changed);
    (void)pthread_mutex_unlock(&ahead->lock);
}

struct ahead *ahead_open(struct gate *gate)
{
    struct ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead || pthread_mutex_init(&ahead->lock, NULL) != 0 ||
        pthread_cond_init(&ahead->changed, NULL) != 0)
        BUG("gate: out of memory");
    ahead->gate = gate;
    if (pthread_create(&ahead->thread, NULL, work, ahead) == 0)
        return ahead;
    (void)pthread_cond_destroy(&ahead->changed);
    (void)pthread_mutex_destroy(&ahead->lock);
    free(ahead);
    return NULL;
}

void ahead_start(struct ahead *ahead)
{
    if (ahead)
        set_stage(ahead, ASKED);
}

bool ahead_finish(struct ahead *ahead, struct gate *gate, struct err *err)
{
    if (!ahead)
        return check_prepare(gate, err);
    (void)pthread_mutex_lock(&ahead->lock);
    while (ahead->stage == ASKED)
        (void)pthread_cond_wait(&ahead->changed, &ahead->lock);
    ahead->stage = IDLE;
    (void)pthread_mutex_unlock(&ahead->lock);
    if (!ahead->ok)
        *err = ahead->err;
    return ahead->ok;
}

void ahead_close(struct ahead *ahead)
{
    if (!ahead)
        return;
    set_stage(ahead, LEAVING);
    (void)pthread_join(ahead->thread, NULL);
    (void)pthread_cond_destroy(&ahead->changed);
    (void)pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}
