#include "engine/internal.h"

#include "base/str.h"

static const struct graph_decision *best_of(const struct graph_decisions *all,
                                            const struct graph_run *run)
{
    const struct graph_decision *best = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct graph_decision *d = &all->items[i];
        if (run->best_decision[0] != '\0'
                ? str_equal(d->id, run->best_decision)
                : d->is_win && !d->confirm_failed && (!best || d->log_ratio > best->log_ratio))
            best = d;
    }
    return best;
}

static const char *environment(const struct graph_run *run, struct arena *arena)
{
    return arena_printf(
        arena,
        "machine: %s\nkernel: %s\ntarget: %s\nkope: %s\ngate: %s\ntask: %s\nproposer: %s\n"
        "policy: %s\nseed: %llu\nload at start: %.2f\n",
        run->host, run->kernel, run->target_id, run->kope_version, run->gate_id, run->task_id,
        run->proposer, run->policy, (unsigned long long)run->seed, run->load_average);
}

/* What took no evaluation, as lines. */
static void free_text(const struct graph_decisions *all, struct buf *out)
{
    size_t saved = 0;
    size_t repeats = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct graph_decision *d = &all->items[i];
        saved += d->has_outcome && str_equal(d->mechanism, VERDICT_BY_RULE);
        repeats += d->has_outcome && str_equal(d->mechanism, VERDICT_BY_REPEAT);
    }
    if (saved != 0)
        (void)buf_printf(out, "rules: %zu candidates refused before a build\n", saved);
    if (repeats != 0)
        (void)buf_printf(out, "repeats: %zu candidates came to machine code judged before\n",
                         repeats);
}

/* How well gains were foretold, what rules saved, and what models cost. */
static bool models_text(struct memory *memory, const struct graph_run *run,
                        const struct graph_decisions *all, struct arena *arena, const char **out,
                        struct err *err)
{
    CLEANUP(buf_free) struct buf text = {0};
    const struct graph_exchange *exchanges = NULL;
    struct spending spent = {.is_cost_known = true};
    size_t count = 0;
    const struct stats_calibration c = run_calibration(all->items, all->count, arena);
    if (!graph_exchanges(memory->graph, run->id, arena, &exchanges, &count, err))
        return false;
    if (c.count != 0)
        (void)buf_printf(&text,
                         "foretold: %zu gains, sign Brier %.2f, mean error %.2f in log-speedup",
                         c.count, c.brier, c.mean_abs_error);
    if (c.has_slope)
        (void)buf_printf(&text, ", slope %.2f", c.slope);
    (void)buf_append_str(&text, c.count != 0 ? "\n" : "");
    free_text(all, &text);
    for (size_t i = 0; i < count; i++)
        spend(&spent, exchanges[i].tokens_in + exchanges[i].tokens_out + exchanges[i].tokens_lost,
              exchanges[i].is_cost_known, exchanges[i].cost_usd);
    if (count != 0)
        (void)buf_printf(&text, "models: %zu exchanges, %lld tokens", count,
                         (long long)spent.tokens);
    if (count != 0 && spent.is_cost_known)
        (void)buf_printf(&text, ", %.4f USD", spent.cost_usd);
    (void)buf_append_str(&text, count != 0 ? "\n" : "");
    *out = arena_strdup(arena, buf_text(&text));
    return true;
}

bool engine_report(const char *which, const char *memory_dir, struct buf *out, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(memory_close) struct memory memory = {0};
    struct graph_run run;
    struct graph_decisions all;
    struct report_input input = {.run = &run, .reference_source = ""};
    if (!memory_open(memory_dir, false, &arena, &memory, err) ||
        !graph_find_run(memory.graph, which, &arena, &run, err) ||
        !graph_run_decisions(memory.graph, run.id, &arena, &all, err) ||
        !graph_findings(memory.graph, run.id, &arena, &input.findings, &input.finding_count, err))
        return false;
    input.decisions = all.items;
    input.decision_count = all.count;
    const char *models = "";
    if (!models_text(&memory, &run, &all, &arena, &models, err))
        return false;
    input.environment = arena_printf(&arena, "%s%s", environment(&run, &arena), models);
    if (!models_read_baseline(&run, &arena, &input.baseline, err))
        return false;
    const struct graph_decision *best = best_of(&all, &run);
    if (best) {
        const bool confirmed = best->is_confirmed || best->confirm_failed;
        if (!memory_get_text(&memory, best->source_body, &arena, &input.best_source, err) ||
            !graph_outcome_cases(memory.graph, best->id, confirmed, &arena, &input.best_cases,
                                 &input.best_case_count, err))
            return false;
    }
    if (best && best->is_confirmed) {
        input.confirmed_low = best->confirmed_low;
        input.confirmed_high = best->confirmed_high;
    }
    const char *reference = NULL;
    if (!graph_task_reference(memory.graph, run.task_id, &arena, &reference, err) ||
        !memory_get_text(&memory, reference, &arena, &input.reference_source, err))
        return false;
    return report_html(&input, out, err);
}
