#include "gate/crew.h"

#include "os/os.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct crew {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wanted, done;
    void (*work)(void *context, size_t i);
    void *context;
    size_t count;
    _Atomic size_t next;
    /* Under the lock: there is work; the other thread is at it; it has to go. */
    bool is_wanted, is_busy, is_leaving;
};

static void take_pieces(struct crew *crew)
{
    for (size_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->count;)
        crew->work(crew->context, i);
}

static void *help(void *context)
{
    struct crew *crew = context;
    (void)pthread_mutex_lock(&crew->lock);
    while (!crew->is_leaving) {
        if (!crew->is_wanted) {
            (void)pthread_cond_wait(&crew->wanted, &crew->lock);
            continue;
        }
        crew->is_wanted = false;
        crew->is_busy = true;
        (void)pthread_mutex_unlock(&crew->lock);
        take_pieces(crew);
        (void)pthread_mutex_lock(&crew->lock);
        crew->is_busy = false;
        (void)pthread_cond_signal(&crew->done);
    }
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static void destroy(struct crew *crew)
{
    (void)pthread_cond_destroy(&crew->wanted);
    (void)pthread_cond_destroy(&crew->done);
    (void)pthread_mutex_destroy(&crew->lock);
    free(crew);
}

struct crew *crew_open(void)
{
    if (os_cpus_allowed(NULL, 0) < 2)
        return NULL;
    struct crew *crew = calloc(1, sizeof *crew);
    if (!crew)
        return NULL;
    /* Neither can fail with default attributes. */
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->wanted, NULL);
    (void)pthread_cond_init(&crew->done, NULL);
    if (pthread_create(&crew->thread, NULL, help, crew) == 0)
        return crew;
    destroy(crew);
    return NULL;
}

void crew_close(struct crew *crew)
{
    if (!crew)
        return;
    (void)pthread_mutex_lock(&crew->lock);
    crew->is_leaving = true;
    (void)pthread_cond_signal(&crew->wanted);
    (void)pthread_mutex_unlock(&crew->lock);
    (void)pthread_join(crew->thread, NULL);
    destroy(crew);
}

void crew_run(struct crew *crew, size_t count, void (*work)(void *context, size_t i), void *context)
{
    if (!crew || count < 2) {
        for (size_t i = 0; i < count; i++)
            work(context, i);
        return;
    }
    (void)pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->context = context;
    crew->count = count;
    crew->next = 0;
    crew->is_wanted = true;
    (void)pthread_cond_signal(&crew->wanted);
    (void)pthread_mutex_unlock(&crew->lock);
    take_pieces(crew);
    (void)pthread_mutex_lock(&crew->lock);
    crew->is_wanted = false; /* too late for it to begin */
    while (crew->is_busy)
        (void)pthread_cond_wait(&crew->done, &crew->lock);
    (void)pthread_mutex_unlock(&crew->lock);
}
