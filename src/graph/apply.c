/*
 * Taking events in, in any order. A row that several events may write (a task by its id, the end of
 * a run, the outcome of a decision) belongs to the latest of them by the journal's clock; what
 * depends on other rows is left to views. So the content is a function of the set of events.
 */
#include "graph/internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void give_stamp(struct query *query, const struct event *event)
{
    char stamp[STAMP_BYTES + 8];
    (void)snprintf(stamp, sizeof stamp, "%015" PRId64 ".%016" PRId64 ".%s", event->wall_ms,
                   event->counter, event->id.text);
    give_text(query, stamp);
}

/* One event being taken in. */
struct intake {
    struct graph *graph;
    const struct event *event;
    struct arena *arena;
    struct err problem; /* of its decoder; then nothing was changed */
};

static bool apply_task(struct intake *in, struct err *err)
{
    struct task_event task;
    if (!event_read_task(in->event->body, in->arena, &task, &in->problem))
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(in->graph,
                     "INSERT INTO task(task_id, stamp, name, family, dtype, precision, dir, regime,"
                     " reference_body, features) VALUES(?,?,?,?,?,?,?,?,?,?)"
                     " ON CONFLICT(task_id) DO UPDATE SET stamp = excluded.stamp,"
                     " name = excluded.name, family = excluded.family, dtype = excluded.dtype,"
                     " precision = excluded.precision, dir = excluded.dir,"
                     " regime = excluded.regime, reference_body = excluded.reference_body,"
                     " features = excluded.features WHERE excluded.stamp > task.stamp",
                     &query, err))
        return false;
    give_text(&query, task.task_id);
    give_stamp(&query, in->event);
    give_text(&query, task.name);
    give_text(&query, task.family);
    give_text(&query, task.dtype);
    give_text(&query, task.precision);
    give_text(&query, task.dir);
    give_text(&query, task.regime);
    give_text(&query, task.reference_body);
    give_text(&query, task.features);
    return query_run(&query, err) && text_refresh_task(in->graph, task.task_id, err) &&
           text_refresh(in->graph, TEXT_OF_TASK, task.task_id, err);
}

static bool apply_target(struct intake *in, struct err *err)
{
    struct target_event target;
    if (!event_read_target(in->event->body, in->arena, &target, &in->problem))
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(in->graph,
                     "INSERT INTO target VALUES(?,?,?,?,?,?,?,?,?,?,?)"
                     " ON CONFLICT(target_id) DO UPDATE SET stamp = excluded.stamp,"
                     " name = excluded.name, cpu = excluded.cpu, arch = excluded.arch,"
                     " isa = excluded.isa, cores = excluded.cores,"
                     " vector_bytes = excluded.vector_bytes,"
                     " peak_gflops_f32 = excluded.peak_gflops_f32,"
                     " memory_gbs = excluded.memory_gbs, compilers = excluded.compilers"
                     " WHERE excluded.stamp > target.stamp",
                     &query, err))
        return false;
    give_text(&query, target.target_id);
    give_stamp(&query, in->event);
    give_text(&query, target.name);
    give_text(&query, target.cpu);
    give_text(&query, target.arch);
    give_text(&query, target.isa);
    give_int(&query, target.cores);
    give_int(&query, target.vector_bytes);
    give_real(&query, target.peak_gflops_f32);
    give_real(&query, target.memory_gbs);
    give_text(&query, target.compilers);
    return query_run(&query, err);
}

static bool apply_run(struct intake *in, struct err *err)
{
    struct run_event run;
    if (!event_read_run(in->event->body, in->arena, &run, &in->problem))
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(in->graph, "INSERT INTO run VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                     &query, err))
        return false;
    give_text(&query, in->event->id.text);
    give_stamp(&query, in->event);
    give_int(&query, in->event->wall_ms);
    give_text(&query, run.task_id);
    give_text(&query, run.target_id);
    give_text(&query, run.task_dir);
    give_text(&query, run.proposer);
    give_text(&query, run.policy);
    give_int(&query, (int64_t)run.seed);
    give_int(&query, run.budget);
    give_int(&query, run.time_limit_ns);
    give_int(&query, run.token_budget);
    give_text(&query, run.kope_version);
    give_text(&query, run.gate_id);
    give_text(&query, run.host);
    give_text(&query, run.kernel);
    give_real(&query, run.load_average);
    give_text(&query, run.start_decision);
    give_text(&query, run.settings);
    return query_run(&query, err) &&
           text_refresh(in->graph, TEXT_OF_RUN, in->event->id.text, err) &&
           cells_put_in_run(in->graph, in->event->id.text, err);
}

static bool apply_run_end(struct intake *in, struct err *err)
{
    struct run_end_event end;
    if (!event_read_run_end(in->event->body, in->arena, &end, &in->problem))
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(in->graph,
                     "INSERT INTO run_end VALUES(?,?,?,?,?,?,?,?)"
                     " ON CONFLICT(run_id) DO UPDATE SET stamp = excluded.stamp,"
                     " reason = excluded.reason, best_decision = excluded.best_decision,"
                     " best_log_ratio = excluded.best_log_ratio,"
                     " evaluations = excluded.evaluations, wall_ns = excluded.wall_ns,"
                     " tokens = excluded.tokens WHERE excluded.stamp > run_end.stamp",
                     &query, err))
        return false;
    give_text(&query, end.run_id);
    give_stamp(&query, in->event);
    give_text(&query, end.reason);
    give_text(&query, end.best_decision);
    give_real(&query, end.best_log_ratio);
    give_int(&query, end.evaluations);
    give_int(&query, end.wall_ns);
    give_int(&query, end.tokens);
    return query_run(&query, err);
}

static bool is_repeated(const struct decision_event *decision, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (str_equal(decision->moves[i], decision->moves[at]))
            return true;
    }
    return false;
}

/* Each different move has an equal share in what the decision gains. */
static bool insert_moves(struct intake *in, const struct decision_event *decision, struct err *err)
{
    size_t different = 0;
    for (size_t i = 0; i < decision->move_count; i++)
        different += is_repeated(decision, i) ? 0 : 1;
    for (size_t i = 0; i < decision->move_count; i++) {
        CLEANUP(query_end) struct query query = {0};
        if (is_repeated(decision, i))
            continue;
        if (!query_begin(in->graph, "INSERT INTO decision_move VALUES(?,?,?)", &query, err))
            return false;
        give_text(&query, in->event->id.text);
        give_text(&query, decision->moves[i]);
        give_real(&query, 1.0 / (double)different);
        if (!query_run(&query, err))
            return false;
    }
    return true;
}

static const char *join_moves(const struct decision_event *decision, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < decision->move_count; i++)
        (void)buf_printf(&text, "%s%s", i ? " " : "", decision->moves[i]);
    return arena_strdup(arena, buf_text(&text));
}

static bool insert_decision(struct intake *in, const struct decision_event *decision,
                            struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(in->graph,
                     "INSERT INTO decision(decision_id, stamp, wall_ms, run_id, parent, sequence,"
                     " step, proposer, intent, hypothesis, predicted_log_ratio, moves, recipe,"
                     " compiler, flags, source_body, candidate_id, context_id, derived_from,"
                     " tokens_in, tokens_out, failure, exchange_id, exchange_index, uses)"
                     " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                     &query, err))
        return false;
    give_text(&query, in->event->id.text);
    give_stamp(&query, in->event);
    give_int(&query, in->event->wall_ms);
    give_text(&query, decision->run_id);
    give_text(&query, decision->parent);
    give_int(&query, decision->sequence);
    give_text(&query, decision->step);
    give_text(&query, decision->proposer);
    give_text(&query, decision->intent);
    give_text(&query, decision->hypothesis);
    give_real(&query, decision->predicted_log_ratio);
    give_text(&query, join_moves(decision, in->arena));
    give_text(&query, decision->recipe);
    give_text(&query, decision->compiler);
    give_text(&query, decision->flags);
    give_text(&query, decision->source_body);
    give_text(&query, decision->candidate_id);
    give_text(&query, decision->context_id);
    give_text(&query, decision->derived_from);
    give_int(&query, decision->tokens_in);
    give_int(&query, decision->tokens_out);
    give_text(&query, decision->failure);
    give_text(&query, decision->exchange_id);
    give_int(&query, decision->exchange_index);
    give_text(&query, decision->uses);
    return query_run(&query, err);
}

static bool apply_decision(struct intake *in, struct err *err)
{
    struct decision_event decision;
    if (!event_read_decision(in->event->body, in->arena, &decision, &in->problem))
        return true;
    return insert_decision(in, &decision, err) && insert_moves(in, &decision, err) &&
           text_refresh(in->graph, TEXT_OF_DECISION, in->event->id.text, err) &&
           cells_put_in_decision(in->graph, in->event->id.text, err);
}

static bool apply_an_outcome(struct intake *in, struct err *err)
{
    struct outcome_event outcome;
    if (!event_read_outcome(in->event->body, in->arena, &outcome, &in->problem))
        return true;
    return cells_take_out(in->graph, outcome.decision_id, err) &&
           apply_outcome(in->graph, in->event, &outcome, err) &&
           cells_put_in(in->graph, outcome.decision_id, err) &&
           text_refresh(in->graph, TEXT_OF_DECISION, outcome.decision_id, err);
}

static bool insert_items(struct intake *in, const struct context_event *context, struct err *err)
{
    for (size_t i = 0; i < context->item_count; i++) {
        const struct context_item *item = &context->items[i];
        CLEANUP(query_end) struct query query = {0};
        if (!query_begin(in->graph, "INSERT INTO context_item VALUES(?,?,?,?,?,?,?,?,?,?)", &query,
                         err))
            return false;
        give_text(&query, in->event->id.text);
        give_int(&query, (int64_t)i);
        give_text(&query, item->section);
        give_text(&query, item->kind);
        give_text(&query, item->ref);
        give_int(&query, item->bytes);
        give_int(&query, item->tokens);
        give_real(&query, item->score);
        give_real(&query, item->propensity);
        give_int(&query, item->withheld);
        if (!query_run(&query, err))
            return false;
    }
    return true;
}

static bool apply_context(struct intake *in, struct err *err)
{
    struct context_event context;
    if (!event_read_context(in->event->body, in->arena, &context, &in->problem))
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(in->graph, "INSERT INTO context VALUES(?,?,?,?,?,?,?)", &query, err))
        return false;
    give_text(&query, in->event->id.text);
    give_stamp(&query, in->event);
    give_text(&query, context.run_id);
    give_int(&query, context.budget_tokens);
    give_int(&query, context.used_tokens);
    give_text(&query, context.prefix_hash);
    give_text(&query, context.text_body);
    return query_run(&query, err) && insert_items(in, &context, err);
}

static bool apply_exchange(struct intake *in, struct err *err)
{
    struct exchange_event e;
    if (!event_read_exchange(in->event->body, in->arena, &e, &in->problem))
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(in->graph,
                     "INSERT INTO exchange VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                     &query, err))
        return false;
    give_text(&query, in->event->id.text);
    give_stamp(&query, in->event);
    give_text(&query, e.run_id);
    give_text(&query, e.role);
    give_text(&query, e.model);
    give_text(&query, e.parent);
    give_text(&query, e.step);
    give_text(&query, e.context_id);
    give_int(&query, e.sequence);
    give_text(&query, e.prompt_hash);
    give_text(&query, e.finish_reason);
    give_int(&query, e.tokens_in);
    give_int(&query, e.tokens_cached);
    give_int(&query, e.tokens_out);
    give_int(&query, e.tokens_reasoning);
    give_int(&query, e.tokens_lost);
    give_int(&query, e.is_estimate);
    give_int(&query, e.is_cost_known);
    give_real(&query, e.cost_usd);
    give_int(&query, e.attempts);
    give_int(&query, e.wall_ns);
    give_text(&query, e.body);
    return query_run(&query, err);
}

static bool apply_finding(struct intake *in, struct err *err)
{
    struct finding_event finding;
    if (!event_read_finding(in->event->body, in->arena, &finding, &in->problem))
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(in->graph, "INSERT INTO finding VALUES(?,?,?,?,?,?,?,?,?,?)", &query, err))
        return false;
    give_text(&query, in->event->id.text);
    give_stamp(&query, in->event);
    give_text(&query, finding.run_id);
    give_text(&query, finding.decision_id);
    give_text(&query, finding.bottleneck);
    give_text(&query, finding.text);
    give_real(&query, finding.number);
    give_int(&query, finding.line);
    give_text(&query, finding.tool);
    give_text(&query, finding.moves);
    return query_run(&query, err);
}

static bool apply_note(struct intake *in, struct err *err)
{
    struct note_event note;
    if (!event_read_note(in->event->body, in->arena, &note, &in->problem))
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(in->graph, "INSERT INTO note VALUES(?,?,?,?)", &query, err))
        return false;
    give_text(&query, in->event->id.text);
    give_stamp(&query, in->event);
    give_text(&query, note.text);
    give_text(&query, note.about);
    return query_run(&query, err);
}

/* What is in already cannot be taken out by itself: rows belong to the latest of several events. */
static bool check_not_in(struct intake *in, const char *id, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(in->graph, "SELECT 1 FROM event WHERE event_id = ? AND kind <> 'prune'",
                     &query, err))
        return false;
    give_text(&query, id);
    if (!query_step(&query, &has_row, err))
        return false;
    return !has_row || err_set(err, ERR_CORRUPT, "the graph holds an event that was pruned");
}

static bool apply_prune(struct intake *in, struct err *err)
{
    struct prune_event prune;
    if (!event_read_prune(in->event->body, in->arena, &prune, &in->problem))
        return true;
    for (size_t i = 0; i < prune.id_count; i++) {
        CLEANUP(query_end) struct query query = {0};
        if (!check_not_in(in, prune.ids[i].text, err) ||
            !query_begin(in->graph, "INSERT OR IGNORE INTO pruned VALUES(?)", &query, err))
            return false;
        give_text(&query, prune.ids[i].text);
        if (!query_run(&query, err))
            return false;
    }
    return true;
}

static bool apply_a_skill(struct intake *in, struct err *err)
{
    struct skill_event skill;
    if (!event_read_skill(in->event->body, in->arena, &skill, &in->problem))
        return true;
    return apply_skill(in->graph, in->event, &skill, err);
}

static bool apply_a_rule(struct intake *in, struct err *err)
{
    struct rule_event rule;
    if (!event_read_rule(in->event->body, in->arena, &rule, &in->problem))
        return true;
    return apply_rule(in->graph, in->event, &rule, err);
}

static const struct {
    const char *kind;
    bool (*apply)(struct intake *in, struct err *err);
} intakes[] = {
    {EVENT_TASK, apply_task},         {EVENT_TARGET, apply_target},
    {EVENT_RUN, apply_run},           {EVENT_RUN_END, apply_run_end},
    {EVENT_DECISION, apply_decision}, {EVENT_OUTCOME, apply_an_outcome},
    {EVENT_CONTEXT, apply_context},   {EVENT_FINDING, apply_finding},
    {EVENT_NOTE, apply_note},         {EVENT_EXCHANGE, apply_exchange},
    {EVENT_SKILL, apply_a_skill},     {EVENT_PRUNE, apply_prune},
    {EVENT_RULE, apply_a_rule},
};

static bool insert_event(struct graph *graph, const struct event *event, bool *is_new,
                         struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     "INSERT OR IGNORE INTO event SELECT ?1, ?2, ?3, '' WHERE ?3 = 'prune'"
                     " OR NOT EXISTS"
                     " (SELECT 1 FROM pruned WHERE event_id = ?1)",
                     &query, err))
        return false;
    give_text(&query, event->id.text);
    give_stamp(&query, event);
    give_text(&query, event->kind);
    if (!query_run(&query, err))
        return false;
    *is_new = sqlite3_changes(graph->db) != 0;
    return true;
}

static bool note_problem(struct graph *graph, const struct event *event, const char *problem,
                         struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, "UPDATE event SET problem = ? WHERE event_id = ?", &query, err))
        return false;
    give_text(&query, problem);
    give_text(&query, event->id.text);
    return query_run(&query, err);
}

bool apply_event(struct graph *graph, const struct event *event, bool *is_new, struct err *err)
{
    if (!insert_event(graph, event, is_new, err))
        return false;
    if (!*is_new)
        return true;
    CLEANUP(arena_free) struct arena scratch = {0};
    struct intake in = {.graph = graph, .event = event, .arena = &scratch};
    for (size_t i = 0; i < sizeof intakes / sizeof *intakes; i++) {
        if (str_equal(intakes[i].kind, event->kind)) {
            if (!intakes[i].apply(&in, err))
                return false;
            break;
        }
    }
    return in.problem.kind == ERR_NONE || note_problem(graph, event, in.problem.message, err);
}

bool graph_apply(struct graph *graph, const struct event *event, struct err *err)
{
    bool is_new = false;
    if (!graph_begin(graph, err))
        return false;
    return graph_end(graph, apply_event(graph, event, &is_new, err), err);
}
