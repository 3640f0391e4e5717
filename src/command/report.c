#include "command/internal.h"

#include "context/context.h"
#include "graph/graph.h"
#include "os/file.h"

#include <math.h>
#include <time.h>

static const struct param report_params[] = {
    {"run", "RUN", "id of a run, the beginning of one, or 'last'", "last", PARAM_TEXT, true, false,
     NULL},
    {"html", "FILE", "write the page here", "standard output", PARAM_PATH, false, false, NULL},
    PARAM_MEMORY,
    {0},
};

static bool run_report(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(buf_free) struct buf page = {0};
    const char *run = command_text(call, "run");
    const char *path = command_text(call, "html");
    if (!engine_report(run ? run : "last", command_text(call, "memory"), &page, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "html", path);
    json_put_int(&w, "bytes", (int64_t)page.length);
    json_end_object(&w);
    if (!path)
        return buf_append(&out->text, page.data, page.length);
    (void)buf_printf(&out->text, "wrote %s (%zu bytes)\n", path, page.length);
    return os_write_file(path, buf_text(&page), page.length, false, err);
}

const struct command command_report = {
    .name = "report",
    .summary = "one self-contained page about a run",
    .description = "The verified result, best-so-far curve, timing distributions, decision tree "
                   "with verdicts, source difference, findings\n"
                   "and environment, in one HTML file that needs no network to view.",
    .examples = "  kope report last --html report.html",
    .params = report_params,
    .run = run_report,
};

static const struct param context_params[] = {
    PARAM_TASK,
    {"budget", "N", "hard bound in tokens", "16000", PARAM_INT, false, false, NULL},
    {"ledger", NULL, "only the ledger: bytes and tokens of each item", NULL, PARAM_FLAG, false,
     false, NULL},
    {"target", "NAME", "where candidates would run", "cpu", PARAM_TEXT, false, false, NULL},
    PARAM_MEMORY,
    {0},
};

static void write_context_json(const struct context *context, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_int(&w, "tokens", context->tokens);
    json_put_int(&w, "budget_tokens", context->budget_tokens);
    json_put_int(&w, "bytes", context->bytes);
    json_put_string(&w, "prefix", context->prefix_hash.text);
    json_key(&w, "items");
    json_begin_array(&w);
    for (size_t i = 0; i < context->item_count; i++) {
        const struct context_item *item = &context->items[i];
        json_begin_object(&w);
        json_put_string(&w, "section", item->section);
        json_put_string(&w, "kind", item->kind);
        json_put_string(&w, "ref", item->ref);
        json_put_int(&w, "bytes", item->bytes);
        json_put_int(&w, "tokens", item->tokens);
        json_put_real(&w, "score", item->score);
        json_put_real(&w, "propensity", item->propensity);
        json_put_bool(&w, "withheld", item->withheld);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_put_string(&w, "text", context->text);
    json_end_object(&w);
}

static bool run_context(const struct command_call *call, struct command_result *out,
                        struct err *err)
{
    struct context context;
    if (!engine_context(command_text(call, "task"), command_text(call, "memory"),
                        command_text(call, "target"), command_int(call, "budget", 0), call->arena,
                        &context, err))
        return false;
    if (!command_flag(call, "ledger"))
        (void)buf_printf(&out->text, "%s\n----\n", context.text);
    (void)buf_append_str(&out->text, context_ledger(&context, call->arena));
    write_context_json(&context, &out->json);
    return true;
}

const struct command command_context = {
    .name = "context",
    .summary = "the next prompt for a task, and what each part of it costs",
    .description = "Assembles the bounded context (hot, warm, cold) that a model would get for the "
                   "next step, and prints it with its\n"
                   "ledger. The budget is a hard bound.",
    .examples = "  kope context examples/rmsnorm --budget 8000 --ledger",
    .params = context_params,
    .run = run_context,
};

static const struct param runs_params[] = {
    {"limit", "N", "at most this many, newest first", "20", PARAM_INT, false, false, NULL},
    PARAM_MEMORY,
    {0},
};

static const char *when(int64_t wall_ms, struct arena *arena)
{
    const time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm;
    char text[32] = "";
    if (localtime_r(&seconds, &tm))
        (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
    return arena_printf(arena, "%s", text);
}

static bool run_runs(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    const struct graph_run *runs = NULL;
    size_t count = 0;
    if (!memory_open(command_text(call, "memory"), false, call->arena, &memory, err) ||
        !graph_runs(memory.graph, (size_t)command_int(call, "limit", 20), call->arena, &runs,
                    &count, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_array(&w);
    (void)buf_printf(&out->text, "%-12s  %-16s  %-14s %-8s %5s %9s  %s\n", "run", "begun", "task",
                     "proposer", "judged", "speedup", "end");
    for (size_t i = 0; i < count; i++) {
        const struct graph_run *r = &runs[i];
        const char *speedup = r->best_decision[0] != '\0'
                                  ? arena_printf(call->arena, "%.2fx", exp(r->best_log_ratio))
                                  : "-";
        (void)buf_printf(&out->text, "%.12s  %-16s  %-14s %-8s %5lld %9s  %s\n", r->id,
                         when(r->wall_ms, call->arena), r->task_name, r->proposer,
                         (long long)r->evaluations, speedup,
                         r->has_ended ? r->end_reason : "open: kope resume");
        json_begin_object(&w);
        json_put_string(&w, "run", r->id);
        json_put_string(&w, "task", r->task_name);
        json_put_string(&w, "proposer", r->proposer);
        json_put_string(&w, "policy", r->policy);
        json_put_int(&w, "wall_ms", r->wall_ms);
        json_put_int(&w, "evaluations", r->evaluations);
        json_put_real(&w, "speedup", r->best_decision[0] != '\0' ? exp(r->best_log_ratio) : 1.0);
        json_put_string(&w, "end_reason", r->has_ended ? r->end_reason : NULL);
        json_end_object(&w);
    }
    json_end_array(&w);
    return true;
}

const struct command command_runs = {
    .name = "runs",
    .summary = "list the runs of a memory",
    .description = "Newest first, with what each reached and how it ended.",
    .params = runs_params,
    .run = run_runs,
};
