/*
 * Spans of a run: the run, each step, each exchange with a model by the names of OpenTelemetry's
 * GenAI conventions, each judging with the stages of the gate. Texts that a model or a user wrote
 * are content, and in a trace only where that was asked for.
 */
#include "engine/internal.h"

#include "os/os.h"
#include "json/json.h"

#include <math.h>

bool spans_open(struct run *run, struct err *err)
{
    if (!run->opts.trace)
        return true;
    const struct trace_opts opts = {.destination = run->opts.trace,
                                    .with_content = run->opts.trace_content,
                                    .service = "kope",
                                    .version = KOPE_VERSION};
    if (!trace_open(&opts, &run->trace, err))
        return false;
    run->run_span = trace_begin(run->trace, NULL, TRACE_INTERNAL, "optimize", 0);
    return true;
}

void spans_close(struct run *run, const char *end_reason, const struct optimize_result *result)
{
    struct trace_span *span = run->run_span;
    trace_text(span, "kope.run.id", run->run_id);
    trace_text(span, "kope.task.name", run->task ? run->task->name : NULL);
    trace_text(span, "kope.target.id", run->features ? run->features->id.text : NULL);
    trace_text(span, "kope.proposer", run_proposer_kind(run));
    trace_text(span, "kope.policy", run->opts.policy);
    trace_text(span, "kope.end_reason", end_reason);
    trace_int(span, "kope.evaluations", run->evaluations);
    trace_int(span, "kope.tokens", run->spent.tokens);
    if (run->spent.is_cost_known)
        trace_real(span, "kope.cost_usd", run->spent.cost_usd);
    if (result && result->has_win)
        trace_real(span, "kope.speedup", exp(result->confirmation.log_ratio));
    trace_end(span, 0);
    trace_flush(run->trace);
    run->run_span = NULL;
}

void spans_step_begin(struct run *run)
{
    run->step_span = trace_begin(run->trace, run->run_span, TRACE_INTERNAL, "step", 0);
}

void spans_step_end(struct run *run, const char *failure)
{
    trace_int(run->step_span, "kope.sequence", run->sequence);
    if (failure)
        trace_fail(run->step_span, failure);
    trace_end(run->step_span, 0);
    run->step_span = NULL;
    trace_flush(run->trace);
}

/* The names that OpenTelemetry knows providers by. */
static const char *provider_name(const char *dialect)
{
    return dialect && dialect[0] != '\0' ? dialect : "unknown";
}

static void add_content(struct run *run, struct trace_span *span,
                        const struct propose_exchange *exchange)
{
    if (!trace_wants_content(run->trace) || !exchange->exchange_json)
        return;
    struct err ignored = {0};
    const struct json *json = NULL;
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf text = {0};
    if (!json_parse(exchange->exchange_json, strlen(exchange->exchange_json), "exchange", &arena,
                    &json, &ignored))
        return;
    struct json_writer w = {.out = &text};
    json_write_value(&w, json_get(json, "messages"));
    trace_text(span, "gen_ai.input.messages", buf_text(&text));
    trace_text(span, "gen_ai.output.messages", exchange->reply->text);
}

void spans_exchange(struct run *run, const struct propose_exchange *exchange)
{
    if (!run->trace)
        return;
    CLEANUP(arena_free) struct arena arena = {0};
    struct trace_span *span =
        trace_begin(run->trace, run->step_span ? run->step_span : run->run_span, TRACE_CLIENT,
                    arena_printf(&arena, "chat %s", exchange->model), exchange->start_ns);
    trace_text(span, "gen_ai.operation.name", "chat");
    trace_text(span, "gen_ai.provider.name", provider_name(exchange->dialect));
    trace_text(span, "gen_ai.request.model", exchange->model);
    trace_text(span, "server.address", exchange->server);
    trace_text(span, "kope.role", exchange->role);
    trace_text(span, "kope.prompt.hash", exchange->prompt_hash);
    const struct llm_reply *reply = exchange->reply;
    if (reply) {
        trace_int(span, "gen_ai.usage.input_tokens", reply->usage.input_tokens);
        trace_int(span, "gen_ai.usage.output_tokens", reply->usage.output_tokens);
        trace_int(span, "gen_ai.usage.cache_read.input_tokens", reply->usage.cached_tokens);
        trace_texts(span, "gen_ai.response.finish_reasons", &reply->finish_reason, 1);
        trace_int(span, "kope.attempts", reply->attempts);
        trace_text(span, "kope.prefix.hash", reply->prefix_hash);
        if (reply->is_cost_known)
            trace_real(span, "kope.cost_usd", reply->cost_usd);
        add_content(run, span, exchange);
    }
    if (exchange->problem)
        trace_fail(span, exchange->problem);
    trace_end(span, exchange->start_ns + exchange->wall_ns);
}

/* The stages follow one another; each is as long as the gate says. */
static void add_stages(struct run *run, struct trace_span *judging,
                       const struct gate_timings *timings, int64_t start_ns)
{
    const struct {
        const char *name;
        int64_t ns;
    } stages[] = {{"gate build", timings->build_ns},
                  {"gate draw", timings->draw_ns},
                  {"gate check", timings->check_ns},
                  {"gate time", timings->time_ns}};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        if (stages[i].ns <= 0)
            continue;
        struct trace_span *stage =
            trace_begin(run->trace, judging, TRACE_INTERNAL, stages[i].name, start_ns);
        start_ns += stages[i].ns;
        trace_end(stage, start_ns);
    }
}

void spans_judged(struct run *run, const char *decision_id, const struct decision_event *decision,
                  const struct verdict *verdict, int64_t start_ns)
{
    if (!run->trace)
        return;
    struct trace_span *span =
        trace_begin(run->trace, run->step_span ? run->step_span : run->run_span, TRACE_INTERNAL,
                    decision ? "judge" : "confirm", start_ns);
    trace_text(span, "kope.decision.id", decision_id);
    trace_text(span, "kope.verdict", verdict_kind_name(verdict->kind));
    trace_text(span, "kope.mechanism", verdict->mechanism);
    trace_bool(span, "kope.from_record", verdict->from_record);
    if (verdict->kind == VERDICT_TIMED) {
        trace_real(span, "kope.log_speedup", verdict->log_ratio);
        trace_real(span, "kope.log_speedup.low", verdict->log_low);
        trace_real(span, "kope.log_speedup.high", verdict->log_high);
    }
    if (decision) {
        trace_text(span, "kope.step", decision->step);
        trace_real(span, "kope.predicted_log_speedup", decision->predicted_log_ratio);
        if (trace_wants_content(run->trace))
            trace_text(span, "kope.intent", decision->intent);
    }
    add_stages(run, span, &verdict->timings, start_ns);
    trace_end(span, 0);
}
