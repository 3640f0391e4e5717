#include "mcp/service/internal.h"

#include "base/str.h"
#include "journal/event.h"
#include "os/file.h"
#include "os/os.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)
#define TELL_EVERY_NS (2 * NS_PER_S)

enum evaluation_state { STATE_QUEUED, STATE_RUNNING, STATE_DONE, STATE_FAILED, STATE_CANCELLED };

static const char *const state_names[] = {
    [STATE_QUEUED] = "queued", [STATE_RUNNING] = "running",     [STATE_DONE] = "done",
    [STATE_FAILED] = "failed", [STATE_CANCELLED] = "cancelled",
};

/* One candidate on its way. State and result are under the service's lock; the rest is written
 * before it is queued, or by the gate lane alone. */
struct evaluation {
    struct arena arena;
    int64_t number;
    const char *run, *path; /* of a run; of a file to read, NULL where the source was given */
    const char *flags;
    struct engine_attempt attempt;
    enum evaluation_state state;
    bool is_cancel_wanted;
    int references; /* calls that have yet to be answered with its state */
    int64_t queued_ns, begun_ns, ended_ns;
    const char *run_id;  /* where it was begun */
    const char *members; /* of the result, as JSON: when done; "" before */
    struct err err;      /* when failed */
};

static bool is_over(const struct evaluation *e)
{
    return e->state >= STATE_DONE;
}

/* The lock is held: a copy of the state as one JSON object. */
static void write_state(const struct evaluation *e, struct buf *out)
{
    struct json_writer w = {.out = out};
    const int64_t from = e->begun_ns ? e->begun_ns : e->queued_ns;
    const int64_t until = e->ended_ns ? e->ended_ns : os_now_ns();
    json_begin_object(&w);
    (void)buf_printf(out,
                     "\"evaluation\":\"e%lld\",\"state\":\"%s\",\"seconds\":", (long long)e->number,
                     state_names[e->state]);
    struct json_writer seconds = {.out = out};
    json_write_real(&seconds, (double)(until - from) * 1e-9);
    if (e->members[0] != '\0')
        (void)buf_printf(out, ",%s", e->members);
    json_end_object(&w);
}

/* Ends a call with the state of an evaluation, and its hold on it; the lock is not held. */
static void answer(struct service *service, struct evaluation *e, struct mcp_call *call)
{
    CLEANUP(buf_free) struct buf object = {0};
    struct err err = {0};
    service_lock(service);
    const bool has_failed = e->state == STATE_FAILED;
    if (has_failed)
        err = e->err;
    else
        write_state(e, &object);
    e->references--;
    service_unlock(service);
    if (has_failed)
        mcp_call_refuse(call, &err);
    else
        mcp_call_structured(call, buf_text(&object));
}

/* --- waiting --- */

/* Unlinks a waiter; the lock is held. */
static void unlink_waiter(struct service *service, struct waiter *waiter)
{
    struct waiter **at = &service->waiters;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
}

/* Takes the first waiter that `is_meant`, or NULL. One that is pinned is left to whoever pinned it.
 */
static struct waiter *take_waiter(struct service *service,
                                  bool (*is_meant)(const struct waiter *w, const void *what),
                                  const void *what)
{
    service_lock(service);
    struct waiter *found = NULL;
    for (struct waiter *w = service->waiters; w && !found; w = w->next) {
        if (!is_meant(w, what))
            continue;
        if (w->is_pinned)
            w->must_end = true;
        else
            found = w;
    }
    if (found)
        unlink_waiter(service, found);
    service_unlock(service);
    return found;
}

static void end_waiters(struct service *service,
                        bool (*is_meant)(const struct waiter *w, const void *what),
                        const void *what)
{
    for (struct waiter *w; (w = take_waiter(service, is_meant, what)) != NULL; free(w))
        answer(service, w->evaluation, w->call);
}

static bool waits_for(const struct waiter *w, const void *evaluation)
{
    return w->evaluation == evaluation;
}

static bool has_waited(const struct waiter *w, const void *now_ns)
{
    return w->must_end || w->until_ns <= *(const int64_t *)now_ns;
}

static bool is_call(const struct waiter *w, const void *call)
{
    return w->call == call;
}

/* Tells one waiter of progress, without the lock; ends it where its time came meanwhile. */
static void tell(struct service *service, struct waiter *w, const char *text)
{
    mcp_call_progress(w->call, text);
    service_lock(service);
    w->is_pinned = false;
    const bool must_end = w->must_end;
    if (must_end)
        unlink_waiter(service, w);
    service_unlock(service);
    if (must_end) {
        answer(service, w->evaluation, w->call);
        free(w);
    }
}

/* The next waiter that has not been told since `before_ns`, pinned. */
static struct waiter *pin_untold(struct service *service, const struct evaluation *of,
                                 int64_t before_ns, int64_t now_ns)
{
    struct waiter *found = NULL;
    service_lock(service);
    for (struct waiter *w = service->waiters; w && !found; w = w->next) {
        if (!w->is_pinned && w->told_ns < before_ns && (!of || w->evaluation == of))
            found = w;
    }
    if (found) {
        found->is_pinned = true;
        found->told_ns = now_ns;
    }
    service_unlock(service);
    return found;
}

void evaluation_progress(struct service *service, const char *text)
{
    const int64_t now = os_now_ns();
    service_lock(service);
    const struct evaluation *running = service->running;
    service_unlock(service);
    for (struct waiter *w; running && (w = pin_untold(service, running, now, now)) != NULL;)
        tell(service, w, text);
}

void evaluations_tick(struct service *service)
{
    const int64_t now = os_now_ns();
    end_waiters(service, has_waited, &now);
    for (struct waiter *w; (w = pin_untold(service, NULL, now - TELL_EVERY_NS, now)) != NULL;)
        tell(service, w, "still at work");
}

/* Waits, or answers at once where it is over or no wait is wanted. */
static void wait_for(struct service *service, struct evaluation *e, struct mcp_call *call,
                     int64_t wait_ns)
{
    const int64_t now = os_now_ns();
    service_lock(service);
    const bool must_wait = wait_ns > 0 && !is_over(e) && !service->is_stopping;
    if (must_wait) {
        struct waiter *w = malloc(sizeof *w);
        if (!w)
            BUG("mcp: out of memory");
        *w = (struct waiter){.next = service->waiters,
                             .call = call,
                             .evaluation = e,
                             .until_ns = now + wait_ns,
                             .told_ns = now};
        service->waiters = w;
    }
    service_unlock(service);
    if (!must_wait)
        answer(service, e, call);
}

static int64_t wait_of(struct mcp_call *call)
{
    const struct json *seconds = json_get(mcp_call_arguments(call), "wait_seconds");
    return json_int(seconds, SERVICE_DEFAULT_WAIT_S) * NS_PER_S;
}

/* --- the tools --- */

static void free_evaluation(struct evaluation *e)
{
    struct arena arena = e->arena;
    arena_free(&arena);
}

static const char *copy(struct evaluation *e, struct mcp_call *call, const char *name)
{
    const char *text = argument_text(call, name);
    return text ? arena_strdup(&e->arena, text) : NULL;
}

static struct evaluation *make_evaluation(struct mcp_call *call)
{
    struct arena arena = {0};
    struct evaluation *e = arena_alloc(&arena, sizeof *e);
    e->arena = arena;
    const struct json *predicted = json_get(mcp_call_arguments(call), "predicted_speedup");
    e->run = copy(e, call, "run");
    e->path = copy(e, call, "candidate");
    e->flags = copy(e, call, "flags");
    e->members = "";
    e->queued_ns = os_now_ns();
    e->attempt = (struct engine_attempt){
        .parent = copy(e, call, "parent"),
        .intent = copy(e, call, "intent"),
        .hypothesis = copy(e, call, "hypothesis"),
        .context_id = copy(e, call, "context"),
        .predicted_log_ratio = predicted ? log(json_real(predicted, 1.0)) : 0.0,
        .candidate = {.source = copy(e, call, "source"), .compiler = copy(e, call, "compiler")}};
    if (e->attempt.parent && str_equal(e->attempt.parent, "baseline"))
        e->attempt.parent = "";
    return e;
}

/* Enters it under the next number, in the place of one that is over; the lock is held. */
static bool enter(struct service *service, struct evaluation *e)
{
    struct evaluation **place =
        &service->evaluations[(service->evaluation_count + 1) % SERVICE_MAX_EVALUATIONS];
    if (*place && (!is_over(*place) || (*place)->references != 0))
        return false;
    e->number = service->evaluation_count + 1;
    if (!lane_evaluation(service, e))
        return false;
    if (*place)
        free_evaluation(*place);
    *place = e;
    e->references = 1;
    service->evaluation_count++;
    return true;
}

void tool_evaluate(void *context, struct mcp_call *call)
{
    struct service *service = context;
    struct err err = {0};
    const bool has_source = argument_text(call, "source") != NULL;
    if (has_source == (argument_text(call, "candidate") != NULL)) {
        (void)err_set(&err, ERR_USAGE, "'arguments' needs either 'source' or 'candidate'");
        (void)err_hint(&err, "the text of a whole file, or the path of one");
        mcp_call_refuse(call, &err);
        return;
    }
    struct evaluation *e = make_evaluation(call);
    mcp_call_set_slot(call, e);
    service_lock(service);
    const bool is_entered = enter(service, e);
    service_unlock(service);
    if (is_entered) {
        wait_for(service, e, call, wait_of(call));
        return;
    }
    free_evaluation(e);
    (void)err_set(&err, ERR_BUSY, "%d evaluations are queued already", SERVICE_MAX_QUEUED);
    (void)err_hint(&err, "wait for one with kope_evaluation");
    mcp_call_refuse(call, &err);
}

/* The evaluation that the call names, held, or NULL after refusing the call. */
static struct evaluation *named(struct service *service, struct mcp_call *call)
{
    const char *handle = argument_text(call, "evaluation");
    struct err err = {0};
    int64_t number = 0;
    struct evaluation *found = NULL;
    if (handle && handle[0] == 'e' && str_parse_int64(handle + 1, &number) && number > 0) {
        service_lock(service);
        struct evaluation *e = service->evaluations[number % SERVICE_MAX_EVALUATIONS];
        found = e && e->number == number ? e : NULL;
        if (found)
            found->references++;
        service_unlock(service);
    }
    if (found)
        return found;
    (void)err_set(&err, ERR_NOT_FOUND, "there is no evaluation '%.40s'", handle ? handle : "");
    (void)err_hint(&err, "only the last %d are kept; the resource kope://run/ID has every decision",
                   SERVICE_MAX_EVALUATIONS);
    mcp_call_refuse(call, &err);
    return NULL;
}

void tool_evaluation(void *context, struct mcp_call *call)
{
    struct evaluation *e = named(context, call);
    if (e)
        wait_for(context, e, call, wait_of(call));
}

/* The lock is held. */
static void want_cancel(struct service *service, struct evaluation *e, bool even_if_running)
{
    if (e->state == STATE_QUEUED)
        e->is_cancel_wanted = true;
    if (e->state != STATE_RUNNING || !even_if_running || service->running != e)
        return;
    e->is_cancel_wanted = true;
    os_cancel_set(true);
}

void tool_cancel(void *context, struct mcp_call *call)
{
    struct service *service = context;
    struct evaluation *e = named(service, call);
    if (!e)
        return;
    service_lock(service);
    want_cancel(service, e, true);
    service_unlock(service);
    wait_for(service, e, call, SERVICE_DEFAULT_WAIT_S * NS_PER_S);
}

/* The client gave the call up. What it asked to be judged and is still queued is not begun; what is
 * being judged is paid for and goes on. */
void evaluation_call_cancelled(struct service *service, struct mcp_call *call)
{
    service_lock(service);
    for (struct waiter *w = service->waiters; w; w = w->next) {
        /* Only the call that asked for it holds it in its slot. */
        if (w->call == call && mcp_call_slot(call) == w->evaluation)
            want_cancel(service, w->evaluation, false);
    }
    service_unlock(service);
    end_waiters(service, is_call, call);
}

/* --- on the gate lane --- */

static bool read_candidate(struct service *service, struct evaluation *e, struct err *err)
{
    const char *path = NULL;
    char *source = NULL;
    if (e->flags && !candidate_parse_flags(e->flags, &e->arena, &e->attempt.candidate))
        return err_set(err, ERR_USAGE, "more than %d flags", CANDIDATE_MAX_FLAGS);
    if (e->attempt.candidate.source)
        return strlen(e->attempt.candidate.source) <= CANDIDATE_MAX_SOURCE_BYTES ||
               err_set(err, ERR_LIMIT, "'source' is longer than %d bytes",
                       CANDIDATE_MAX_SOURCE_BYTES);
    if (!path_confine(service, e->path, false, &e->arena, &path, err) ||
        !os_read_file(path, CANDIDATE_MAX_SOURCE_BYTES, &e->arena, &source, NULL, err))
        return false;
    e->attempt.candidate.source = source;
    return true;
}

/* Members of the result of a candidate that was judged. */
static const char *judged_members(struct evaluation *e, const struct engine_judged *judged,
                                  const struct engine_session_info *info, bool has_verdict)
{
    CLEANUP(buf_free) struct buf object = {0};
    struct json_writer w = {.out = &object};
    const struct verdict *v = &judged->verdict;
    json_begin_object(&w);
    json_put_string(&w, "run", info->run_id);
    json_put_string(&w, "decision", judged->decision_id);
    if (has_verdict) {
        json_put_string(&w, "summary", verdict_summary(v, &e->arena));
        if (v->kind == VERDICT_TIMED)
            json_put_real(&w, "speedup", exp(v->log_ratio));
        json_put_bool(&w, "is_new_best", judged->is_new_best);
        json_key(&w, "verdict");
        event_write_verdict(&w, v);
    }
    json_put_string(&w, "best_decision", info->best_decision);
    json_put_real(&w, "best_speedup", exp(info->best_log_ratio));
    json_put_string(&w, "finding", info->finding);
    json_put_int(&w, "evaluations", info->evaluations);
    json_put_int(&w, "budget", info->budget);
    json_end_object(&w);
    return arena_strndup(&e->arena, object.data + 1, object.length - 2);
}

/* The lock is held. */
static void set_over(struct service *service, struct evaluation *e, enum evaluation_state state)
{
    e->state = state;
    e->ended_ns = os_now_ns();
    if (service->running == e)
        service->running = NULL;
    os_cancel_set(false);
}

static void judge(struct service *service, struct evaluation *e)
{
    struct err err = {0};
    struct engine_session *session = NULL;
    struct engine_judged judged = {.decision_id = ""};
    enum evaluation_state state = STATE_DONE;
    const char *members = "";
    const bool ok = runs_find(service, e->run, &session, &err) &&
                    read_candidate(service, e, &err) &&
                    engine_session_evaluate(session, &e->attempt, &e->arena, &judged, &err);
    if (!ok)
        state = err.kind == ERR_INTERRUPTED ? STATE_CANCELLED : STATE_FAILED;
    if (session && judged.decision_id[0] != '\0') {
        const struct engine_session_info info = engine_session_info(session);
        members = judged_members(e, &judged, &info, ok);
    }
    service_lock(service);
    e->members = members;
    e->err = err;
    set_over(service, e, state);
    service_unlock(service);
}

void evaluation_cancel_queued(struct service *service, struct evaluation *e)
{
    service_lock(service);
    set_over(service, e, STATE_CANCELLED);
    service_unlock(service);
    end_waiters(service, waits_for, e);
}

void evaluation_run(struct service *service, struct evaluation *e)
{
    service_lock(service);
    const bool is_wanted = !e->is_cancel_wanted;
    if (is_wanted) {
        e->state = STATE_RUNNING;
        e->begun_ns = os_now_ns();
        service->running = e;
    }
    service_unlock(service);
    if (!is_wanted) {
        evaluation_cancel_queued(service, e);
        return;
    }
    judge(service, e);
    end_waiters(service, waits_for, e);
}

void evaluations_free(struct service *service)
{
    for (size_t i = 0; i < SERVICE_MAX_EVALUATIONS; i++) {
        if (service->evaluations[i])
            free_evaluation(service->evaluations[i]);
    }
}
