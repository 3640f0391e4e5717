/* The gate lane: opens runs, gives contexts, records decisions, ends runs. */
#include "mcp/service/internal.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>

bool runs_find(struct service *service, const char *run, struct engine_session **out,
               struct err *err)
{
    const struct open_run *found = NULL;
    for (const struct open_run *r = service->runs; r; r = r->next) {
        if (run && !str_starts_with(engine_session_info(r->session).run_id, run))
            continue;
        if (found && run)
            return err_set(err, ERR_USAGE, "'%s' is the beginning of several runs", run);
        found = found ? found : r;
    }
    if (found) {
        *out = found->session;
        return true;
    }
    if (run)
        (void)err_set(err, ERR_NOT_FOUND, "no run '%.40s' is open here", run);
    else
        (void)err_set(err, ERR_NOT_FOUND, "no run is open here");
    return err_hint(err, "kope_open_task opens one; with 'resume' it goes on with an earlier one");
}

void runs_close(struct service *service)
{
    while (service->runs) {
        struct open_run *run = service->runs;
        service->runs = run->next;
        engine_session_close(&run->session);
        free(run);
    }
}

/* --- kope_open_task --- */

static void put_cases(struct json_writer *w, const struct task *task)
{
    json_key(w, "cases");
    json_begin_array(w);
    for (size_t i = 0; i < task->case_count; i++) {
        if (!task->cases[i].held_out)
            json_write_string(w, task->cases[i].name);
    }
    json_end_array(w);
}

static void put_compilers(struct json_writer *w, const struct target_features *features)
{
    json_key(w, "compilers");
    json_begin_array(w);
    for (size_t i = 0; i < features->compiler_count; i++)
        json_write_string(w, features->compilers[i].name);
    json_end_array(w);
}

static void put_best(struct json_writer *w, const struct engine_session_info *info)
{
    json_put_string(w, "best_decision", info->best_decision);
    json_put_real(w, "best_speedup", exp(info->best_log_ratio));
    json_put_int(w, "evaluations", info->evaluations);
    json_put_int(w, "budget", info->budget);
}

static void write_opened(const struct engine_session_info *info, struct arena *arena,
                         struct buf *out)
{
    const struct task *task = info->task;
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "run", info->run_id);
    json_put_string(&w, "task", task->name);
    json_put_string(&w, "task_id", task->id.text);
    json_put_string(&w, "family", task->family);
    json_put_string(&w, "dtype", dtype_name(task->dtype));
    json_put_string(&w, "signature", task_signature(task, "real", arena));
    json_put_string(&w, "in_place", task_alias_text(task, arena));
    json_put_string(&w, "reference", task->reference);
    put_cases(&w, task);
    json_put_string(&w, "cpu", info->features->cpu);
    json_put_string(&w, "isa", info->features->isa);
    put_compilers(&w, info->features);
    json_put_string(&w, "baseline", info->baseline);
    json_put_string(&w, "started_from", info->start_text);
    put_best(&w, info);
    json_put_string(&w, "how", service_contract);
    json_end_object(&w);
}

static bool open_session(struct service *service, struct mcp_call *call,
                         const struct engine_session_opts *opts, struct buf *out, struct err *err)
{
    struct engine_session *session = NULL;
    if (!engine_session_open(opts, &service->observer, &session, err))
        return false;
    struct open_run *run = malloc(sizeof *run);
    if (!run)
        BUG("mcp: out of memory");
    *run = (struct open_run){.session = session, .next = service->runs};
    service->runs = run;
    const struct engine_session_info info = engine_session_info(session);
    write_opened(&info, mcp_call_arena(call), out);
    return true;
}

/* With an earlier run, whose limits stand. */
static bool go_on(struct service *service, struct mcp_call *call, struct buf *out, struct err *err)
{
    const char *run = argument_text(call, "resume");
    const struct engine_session_opts opts = {.run = {.memory_dir = service->memory_dir,
                                                     .target = argument_text(call, "target"),
                                                     .proposer = "mcp"},
                                             .resume = run,
                                             .contract = service_contract};
    if (argument_text(call, "task"))
        return err_set(err, ERR_USAGE, "'resume' and 'task' exclude each other");
    for (const struct open_run *r = service->runs; r; r = r->next) {
        if (str_starts_with(engine_session_info(r->session).run_id, run))
            return err_set(err, ERR_BUSY, "run '%s' is open here already", run);
    }
    return open_session(service, call, &opts, out, err);
}

static bool open_task(struct service *service, struct mcp_call *call, struct buf *out,
                      struct err *err)
{
    struct command_call values = {0};
    size_t open = 0;
    for (const struct open_run *r = service->runs; r; r = r->next)
        open++;
    if (open >= SERVICE_MAX_RUNS) {
        (void)err_set(err, ERR_LIMIT, "%zu runs are open", open);
        return err_hint(err, "end one with kope_finish");
    }
    if (argument_text(call, "resume"))
        return go_on(service, call, out, err);
    if (!arguments_bind(service, call, "optimize", &values, err))
        return false;
    const struct engine_session_opts opts = {
        .run = {.task_path = command_text(&values, "task"),
                .memory_dir = service->memory_dir,
                .target = command_text(&values, "target"),
                .proposer = "mcp",
                .budget = command_int(&values, "budget", 0),
                .time_limit_ns = command_duration_ns(&values, "time"),
                .context_tokens = command_int(&values, "context-tokens", 0),
                .seed = (uint64_t)command_int(&values, "seed", 0),
                .has_seed = command_text(&values, "seed") != NULL,
                .fresh = command_flag(&values, "fresh")},
        .contract = service_contract};
    return open_session(service, call, &opts, out, err);
}

/* --- kope_context --- */

static void write_context(const struct context *context, const char *id, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "context", id);
    json_put_int(&w, "tokens", context->tokens);
    json_put_int(&w, "budget_tokens", context->budget_tokens);
    json_put_string(&w, "text", context->text);
    json_end_object(&w);
}

static const char *parent_of(struct mcp_call *call)
{
    const char *parent = argument_text(call, "parent");
    return parent && str_equal(parent, "baseline") ? "" : parent;
}

static bool give_context(struct service *service, struct mcp_call *call, struct buf *out,
                         struct err *err)
{
    struct engine_session *session = NULL;
    struct context context;
    const char *id = NULL;
    const int64_t budget = json_int(json_get(mcp_call_arguments(call), "budget"), 0);
    if (!runs_find(service, argument_text(call, "run"), &session, err) ||
        !engine_session_context(session, parent_of(call), budget, mcp_call_arena(call), &context,
                                &id, err))
        return false;
    write_context(&context, id, out);
    return true;
}

/* --- kope_record_decision --- */

static bool record_decision(struct service *service, struct mcp_call *call, struct buf *out,
                            struct err *err)
{
    struct engine_session *session = NULL;
    struct engine_judged judged;
    const struct engine_attempt attempt = {.parent = parent_of(call),
                                           .intent = argument_text(call, "intent"),
                                           .hypothesis = argument_text(call, "hypothesis"),
                                           .context_id = argument_text(call, "context"),
                                           .failure = argument_text(call, "reason")};
    if (!runs_find(service, argument_text(call, "run"), &session, err) ||
        !engine_session_evaluate(session, &attempt, mcp_call_arena(call), &judged, err))
        return false;
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "run", engine_session_info(session).run_id);
    json_put_string(&w, "decision", judged.decision_id);
    json_end_object(&w);
    return true;
}

/* --- kope_profile --- */

static bool profile(struct service *service, struct mcp_call *call, struct buf *out,
                    struct err *err)
{
    struct engine_session *session = NULL;
    struct roofline finding = {0};
    const struct profile_line *lines = NULL;
    size_t count = 0;
    bool found = false;
    if (!runs_find(service, argument_text(call, "run"), &session, err) ||
        !engine_session_finding(session, argument_text(call, "decision"), mcp_call_arena(call),
                                &found, &finding, err) ||
        !engine_session_tools(session, argument_text(call, "decision"), &finding,
                              mcp_call_arena(call), &lines, &count, err))
        return false;
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_bool(&w, "found", found);
    if (found) {
        json_put_string(&w, "bottleneck", roofline_class_name(finding.roofline));
        json_put_string(&w, "text", finding.text);
        json_put_real(&w, "share", finding.share);
        json_put_int(&w, "bound_ns", finding.bound_ns);
    }
    command_write_findings_json(lines, count, &w);
    json_end_object(&w);
    return true;
}

/* --- kope_finish --- */

static void forget(struct service *service, const struct engine_session *session)
{
    struct open_run **at = &service->runs;
    while ((*at)->session != session)
        at = &(*at)->next;
    struct open_run *run = *at;
    *at = run->next;
    engine_session_close(&run->session);
    free(run);
}

static bool finish(struct service *service, struct mcp_call *call, struct buf *out, struct err *err)
{
    struct engine_session *session = NULL;
    struct optimize_result result;
    CLEANUP(buf_free) struct buf text = {0};
    if (!runs_find(service, argument_text(call, "run"), &session, err) ||
        !engine_session_finish(session, &result, err))
        return false;
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, "result");
    command_write_result_json(&result, NULL, &text);
    json_write_raw(&w, buf_text(&text), text.length);
    if (result.has_win)
        json_put_string(&w, "best_source", result.best_source);
    json_end_object(&w);
    forget(service, session);
    return true;
}

/* --- as calls --- */

static void answer_with(struct service *service, struct mcp_call *call,
                        bool (*work)(struct service *service, struct mcp_call *call,
                                     struct buf *out, struct err *err))
{
    CLEANUP(buf_free) struct buf object = {0};
    struct err err = {0};
    if (work(service, call, &object, &err))
        mcp_call_structured(call, buf_text(&object));
    else
        mcp_call_refuse(call, &err);
}

static void run_open_task(struct service *service, struct mcp_call *call)
{
    answer_with(service, call, open_task);
}

static void run_context(struct service *service, struct mcp_call *call)
{
    answer_with(service, call, give_context);
}

static void run_record(struct service *service, struct mcp_call *call)
{
    answer_with(service, call, record_decision);
}

static void run_profile(struct service *service, struct mcp_call *call)
{
    answer_with(service, call, profile);
}

static void run_finish(struct service *service, struct mcp_call *call)
{
    answer_with(service, call, finish);
}

static void queue(void *context, struct mcp_call *call,
                  void (*run)(struct service *service, struct mcp_call *call))
{
    struct service *service = context;
    lane_call(service, &service->gate, call, run);
}

void tool_open_task(void *context, struct mcp_call *call)
{
    queue(context, call, run_open_task);
}

void tool_context(void *context, struct mcp_call *call)
{
    queue(context, call, run_context);
}

void tool_record_decision(void *context, struct mcp_call *call)
{
    queue(context, call, run_record);
}

void tool_profile(void *context, struct mcp_call *call)
{
    queue(context, call, run_profile);
}

void tool_finish(void *context, struct mcp_call *call)
{
    queue(context, call, run_finish);
}
