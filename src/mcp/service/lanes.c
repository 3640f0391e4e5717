#include "mcp/service/internal.h"

#include <stdlib.h>

void service_lock(struct service *service)
{
    if (pthread_mutex_lock(&service->lock) != 0)
        BUG("mcp: a lock fails");
}

void service_unlock(struct service *service)
{
    if (pthread_mutex_unlock(&service->lock) != 0)
        BUG("mcp: a lock fails");
}

/* Waits for the next job; NULL when the service stops. The lock is held. */
static struct job *take(struct lane *lane)
{
    struct service *service = lane->service;
    while (!lane->first && !service->is_stopping)
        (void)pthread_cond_wait(&lane->wake, &service->lock);
    if (service->is_stopping)
        return NULL;
    struct job *job = lane->first;
    lane->first = job->next;
    if (!lane->first)
        lane->last = NULL;
    lane->count--;
    return job;
}

static void run_job(struct lane *lane, struct job *job)
{
    struct service *service = lane->service;
    const bool is_gate = lane == &service->gate;
    if (job->evaluation) {
        evaluation_run(service, job->evaluation);
    } else if (mcp_call_is_cancelled(job->call)) {
        mcp_call_drop(job->call);
    } else {
        if (is_gate)
            service->current = job->call;
        job->run(service, job->call);
        if (is_gate)
            service->current = NULL;
    }
    free(job);
}

static void drop_rest(struct lane *lane)
{
    struct service *service = lane->service;
    service_lock(service);
    struct job *job = lane->first;
    lane->first = lane->last = NULL;
    lane->count = 0;
    service_unlock(service);
    while (job) {
        struct job *next = job->next;
        if (job->evaluation)
            evaluation_cancel_queued(service, job->evaluation);
        else
            mcp_call_drop(job->call);
        free(job);
        job = next;
    }
}

static void *work(void *argument)
{
    struct lane *lane = argument;
    struct service *service = lane->service;
    for (;;) {
        service_lock(service);
        struct job *job = take(lane);
        service_unlock(service);
        if (!job)
            break;
        run_job(lane, job);
    }
    drop_rest(lane);
    if (lane == &service->gate)
        runs_close(service);
    return NULL;
}

static bool start(struct service *service, struct lane *lane, struct err *err)
{
    lane->service = service;
    if (pthread_cond_init(&lane->wake, NULL) != 0)
        BUG("mcp: out of memory");
    const int failure = pthread_create(&lane->thread, NULL, work, lane);
    lane->is_running = failure == 0;
    return lane->is_running || err_set_errno(err, failure, "cannot start a thread");
}

bool lanes_start(struct service *service, struct err *err)
{
    if (start(service, &service->gate, err) && start(service, &service->memory, err))
        return true;
    lanes_stop(service);
    return false;
}

void lanes_stop(struct service *service)
{
    struct lane *lanes[] = {&service->gate, &service->memory};
    service_lock(service);
    service->is_stopping = true;
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        if (lanes[i]->is_running)
            (void)pthread_cond_signal(&lanes[i]->wake);
    }
    service_unlock(service);
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        if (!lanes[i]->is_running)
            continue;
        (void)pthread_join(lanes[i]->thread, NULL);
        (void)pthread_cond_destroy(&lanes[i]->wake);
        lanes[i]->is_running = false;
    }
}

/* The lock is held. */
static bool put(struct lane *lane, const struct job *what)
{
    if (lane->count >= SERVICE_MAX_QUEUED || lane->service->is_stopping)
        return false;
    struct job *job = malloc(sizeof *job);
    if (!job)
        BUG("mcp: out of memory");
    *job = *what;
    if (lane->last)
        lane->last->next = job;
    else
        lane->first = job;
    lane->last = job;
    lane->count++;
    (void)pthread_cond_signal(&lane->wake);
    return true;
}

void lane_call(struct service *service, struct lane *lane, struct mcp_call *call,
               void (*run)(struct service *service, struct mcp_call *call))
{
    struct err err = {0};
    service_lock(service);
    const bool is_queued = put(lane, &(struct job){.call = call, .run = run});
    service_unlock(service);
    if (is_queued)
        return;
    (void)err_set(&err, ERR_BUSY, "%d calls are waiting already", SERVICE_MAX_QUEUED);
    (void)err_hint(&err, "wait for their answers, then ask again");
    mcp_call_refuse(call, &err);
}

bool lane_evaluation(struct service *service, struct evaluation *evaluation)
{
    return put(&service->gate, &(struct job){.evaluation = evaluation});
}
