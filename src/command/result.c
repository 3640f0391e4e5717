#include "command/internal.h"

#include "journal/event.h"

#include <math.h>

const char *command_time_text(int64_t ns, struct arena *arena)
{
    const double s = (double)ns * 1e-9;
    if (ns < 1000)
        return arena_printf(arena, "%lld ns", (long long)ns);
    if (ns < 1000000)
        return arena_printf(arena, "%.3g us", s * 1e6);
    if (ns < 1000000000)
        return arena_printf(arena, "%.3g ms", s * 1e3);
    if (s < 60.0)
        return arena_printf(arena, "%.1f s", s);
    return arena_printf(arena, "%dm%02ds", (int)(s / 60.0), (int)fmod(s, 60.0));
}

void command_write_cases(const struct verdict *v, struct arena *arena, struct buf *out)
{
    (void)buf_printf(out, "  %-30s %12s %12s %9s  %-16s %5s %9s\n", "case", "baseline", "candidate",
                     "speedup", "95 % interval", "pairs", "roofline");
    for (size_t i = 0; i < v->case_count; i++) {
        const struct case_result *c = &v->cases[i];
        const char *interval =
            arena_printf(arena, "[%.2f, %.2f]", exp(c->log_low), exp(c->log_high));
        (void)buf_printf(out, "  %-30.30s %12s %12s %8.2fx  %-16s %5lld %8.0f%%%s\n", c->name,
                         command_time_text(c->baseline_ns, arena),
                         command_time_text(c->candidate_ns, arena), exp(c->log_ratio), interval,
                         (long long)c->pairs, 100.0 * c->roofline, c->held_out ? "  held out" : "");
    }
}

void command_write_cold(const struct verdict *v, const char *const sides[2], struct arena *arena,
                        struct buf *out)
{
    bool has_any = false;
    for (size_t i = 0; i < v->case_count; i++)
        has_any = has_any || v->cases[i].cold.pairs > 0;
    if (!has_any)
        return;
    (void)buf_printf(out, "  %-30s %12s %12s %9s  %-16s %5s\n", "with cold caches", sides[0],
                     sides[1], "speedup", "95 % interval", "pairs");
    for (size_t i = 0; i < v->case_count; i++) {
        const struct cold_result *c = &v->cases[i].cold;
        if (c->pairs == 0) {
            (void)buf_printf(out, "  %-30.30s not measured: the host was too busy\n",
                             v->cases[i].name);
            continue;
        }
        const char *interval =
            arena_printf(arena, "[%.2f, %.2f]", exp(c->log_low), exp(c->log_high));
        (void)buf_printf(out, "  %-30.30s %12s %12s %8.2fx  %-16s %5lld%s\n", v->cases[i].name,
                         command_time_text(c->baseline_ns, arena),
                         command_time_text(c->candidate_ns, arena), exp(c->log_ratio), interval,
                         (long long)c->pairs, v->cases[i].held_out ? "  held out" : "");
    }
}

void command_write_verdict(const struct verdict *v, struct arena *arena, struct buf *out)
{
    (void)buf_printf(out, "%s\n", verdict_summary(v, arena));
    if (v->kind != VERDICT_TIMED) {
        (void)buf_printf(out, "  decided by: %s\n", v->mechanism);
        if (v->diagnostics && v->diagnostics[0] != '\0')
            (void)buf_printf(out, "%s\n", v->diagnostics);
    }
    static const char *const sides[] = {"baseline", "candidate"};
    if (v->case_count != 0)
        command_write_cases(v, arena, out);
    command_write_cold(v, sides, arena, out);
    if (v->has_held_out)
        (void)buf_printf(out, "  held-out shapes: %.2fx [%.2f, %.2f]\n", exp(v->held_out_log_ratio),
                         exp(v->held_out_low), exp(v->held_out_high));
    if (v->from_record)
        (void)buf_append_str(
            out, "  the same machine code was measured before: taken from the record\n");
    if (v->missing_layers && v->missing_layers[0] != '\0')
        (void)buf_printf(out, "  sandbox layers that this host lacks: %s\n", v->missing_layers);
}

/* How well gains were foretold, and what models cost. */
static void write_models(const struct optimize_result *r, struct buf *out)
{
    const struct stats_calibration *c = &r->calibration;
    if (c->count != 0) {
        (void)buf_printf(out,
                         "  foretold: %zu gains, sign Brier %.2f, mean error %.2f in log-speedup",
                         c->count, c->brier, c->mean_abs_error);
        if (c->has_slope)
            (void)buf_printf(out, ", slope %.2f", c->slope);
        (void)buf_append_str(out, "\n");
    }
    if (r->tokens != 0) {
        (void)buf_printf(out, "  tokens: %lld", (long long)r->tokens);
        if (r->is_cost_known)
            (void)buf_printf(out, ", %.4f USD", r->cost_usd);
        (void)buf_append_str(out, "\n");
    }
}

static void write_text(const struct optimize_result *r, const char *path, struct arena *arena,
                       struct buf *out)
{
    if (r->started_from_memory)
        (void)buf_printf(out, "started from memory: %s\n", r->start_text);
    if (r->has_win) {
        (void)buf_printf(out, "%s: %.2fx faster than %s, 95 %% interval [%.2f, %.2f], confirmed\n",
                         r->task_name, exp(r->confirmation.log_ratio), r->baseline,
                         exp(r->confirmation.log_low), exp(r->confirmation.log_high));
        command_write_cases(&r->confirmation, arena, out);
        if (r->confirmation.has_held_out)
            (void)buf_printf(out, "  held-out shapes: %.2fx [%.2f, %.2f]\n",
                             exp(r->confirmation.held_out_log_ratio),
                             exp(r->confirmation.held_out_low), exp(r->confirmation.held_out_high));
        (void)buf_printf(out, "  by: %s\n  built with: %s %s\n", r->best.intent, r->best.compiler,
                         r->best.flags);
    } else {
        (void)buf_printf(out, "%s: no verified gain over %s\n", r->task_name, r->baseline);
    }
    (void)buf_printf(out, "  %lld candidates in %s (best after %lld):", (long long)r->evaluations,
                     command_time_text(r->wall_ns, arena), (long long)r->evaluations_to_best);
    for (int kind = 0; kind < VERDICT_COUNT; kind++) {
        if (r->by_verdict[kind] != 0)
            (void)buf_printf(out, " %lld %s", (long long)r->by_verdict[kind],
                             verdict_kind_name((enum verdict_kind)kind));
    }
    (void)buf_printf(out, "; ended by %s\n", r->end_reason);
    if (2 * r->by_verdict[VERDICT_TOO_NOISY] > r->evaluations)
        (void)buf_append_str(
            out, "  most candidates could not be measured: the host was too busy; stop other work "
                 "and run it again\n");
    if (r->builds_saved != 0)
        (void)buf_printf(out, "  rules refused %lld more before a build ('kope rule list')\n",
                         (long long)r->builds_saved);
    if (r->repeats != 0)
        (void)buf_printf(out, "  %lld more came to machine code that was judged before\n",
                         (long long)r->repeats);
    if (r->dispatch)
        (void)buf_printf(out, "  %s\n", r->dispatch);
    if (r->rules_learned != 0)
        (void)buf_printf(out, "  new rules from what failed: %lld ('kope rule list')\n",
                         (long long)r->rules_learned);
    if (r->rules_problem)
        (void)buf_printf(out, "  no rules were made of what failed: %s\n", r->rules_problem);
    write_models(r, out);
    if (r->trace_problem)
        (void)buf_printf(out, "  the trace is not complete: %s\n", r->trace_problem);
    if (r->is_replay)
        (void)buf_printf(out,
                         "  a replay: %lld prompts and %lld decisions are those of the record; "
                         "nothing was measured or written\n",
                         (long long)r->replayed_prompts, (long long)r->replayed_decisions);
    if (path)
        (void)buf_printf(out, "  source: %s\n", path);
    (void)buf_printf(out, "  more: kope report %.12s --html report.html\n", r->run_id);
    if (out->length != 0 && r->end_reason[0] == 'i' && !r->has_win)
        (void)buf_printf(out, "  go on: kope resume %.12s\n", r->run_id);
}

void command_write_result(const struct optimize_result *r, const char *path, struct arena *arena,
                          struct command_result *out)
{
    write_text(r, path, arena, &out->text);
    command_write_result_json(r, path, &out->json);
}

void command_write_result_json(const struct optimize_result *r, const char *path, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "event", "result");
    json_put_string(&w, "run", r->run_id);
    json_put_string(&w, "task", r->task_name);
    json_put_string(&w, "baseline", r->baseline);
    json_put_string(&w, "end_reason", r->end_reason);
    json_put_bool(&w, "has_win", r->has_win);
    json_put_int(&w, "evaluations", r->evaluations);
    json_put_int(&w, "evaluations_to_best", r->evaluations_to_best);
    json_put_int(&w, "builds_saved", r->builds_saved);
    json_put_int(&w, "repeats", r->repeats);
    json_put_int(&w, "rules_learned", r->rules_learned);
    json_put_real(&w, "seconds", (double)r->wall_ns * 1e-9);
    json_put_string(&w, "started_from", r->started_from_memory ? r->start_text : NULL);
    json_put_string(&w, "source", path);
    json_put_string(&w, "dispatch", r->dispatch);
    if (r->has_win) {
        json_put_real(&w, "speedup", exp(r->confirmation.log_ratio));
        json_put_real(&w, "speedup_low", exp(r->confirmation.log_low));
        json_put_real(&w, "speedup_high", exp(r->confirmation.log_high));
        json_put_string(&w, "decision", r->best.id);
        json_put_string(&w, "recipe", r->best.recipe);
        json_put_string(&w, "compiler", r->best.compiler);
        json_put_string(&w, "flags", r->best.flags);
    }
    json_key(&w, "calibration");
    json_begin_object(&w);
    json_put_int(&w, "count", (int64_t)r->calibration.count);
    json_put_real(&w, "brier_sign", r->calibration.brier);
    json_put_real(&w, "mean_abs_error_log_speedup", r->calibration.mean_abs_error);
    json_key(&w, "slope");
    if (r->calibration.has_slope)
        json_write_real(&w, r->calibration.slope);
    else
        json_write_null(&w);
    json_end_object(&w);
    json_put_string(&w, "trace_problem", r->trace_problem);
    json_put_bool(&w, "is_replay", r->is_replay);
    json_put_int(&w, "tokens", r->tokens);
    json_key(&w, "cost_usd");
    if (r->is_cost_known)
        json_write_real(&w, r->cost_usd);
    else
        json_write_null(&w);
    json_key(&w, "verdicts");
    json_begin_object(&w);
    for (int kind = 0; kind < VERDICT_COUNT; kind++)
        json_put_int(&w, verdict_kind_name((enum verdict_kind)kind), r->by_verdict[kind]);
    json_end_object(&w);
    if (r->has_confirmation) {
        json_key(&w, "confirmation");
        event_write_verdict(&w, &r->confirmation);
    }
    json_end_object(&w);
}
