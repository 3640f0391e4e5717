/* Taking in the history of rules: the latest definition holds, checks are a set. */
#include "graph/internal.h"

#include "base/str.h"

static bool apply_define(struct graph *graph, const struct event *event,
                         const struct rule_event *rule, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     "INSERT INTO rule VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
                     " ON CONFLICT(rule_id) DO UPDATE SET stamp = excluded.stamp,"
                     " wall_ms = excluded.wall_ms, cause = excluded.cause, words = excluded.words,"
                     " predicate = excluded.predicate, reproducer_body = excluded.reproducer_body,"
                     " flags = excluded.flags, dtype = excluded.dtype, task_id = excluded.task_id,"
                     " task_dir = excluded.task_dir, evidence = excluded.evidence,"
                     " occurrences = excluded.occurrences, candidates = excluded.candidates"
                     " WHERE excluded.stamp > rule.stamp",
                     &query, err))
        return false;
    give_text(&query, rule->rule_id);
    give_stamp(&query, event);
    give_int(&query, event->wall_ms);
    give_text(&query, rule->cause);
    give_text(&query, rule->words);
    give_text(&query, rule->predicate);
    give_text(&query, rule->reproducer_body);
    give_text(&query, rule->flags);
    give_text(&query, rule->dtype);
    give_text(&query, rule->task_id);
    give_text(&query, rule->task_dir);
    give_text(&query, rule->evidence);
    give_int(&query, rule->occurrences);
    give_int(&query, rule->candidates);
    return query_run(&query, err);
}

static bool apply_check(struct graph *graph, const struct event *event,
                        const struct rule_event *rule, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, "INSERT INTO rule_check VALUES(?,?,?,?,?,?,?,?,?,?)", &query, err))
        return false;
    give_text(&query, event->id.text);
    give_stamp(&query, event);
    give_text(&query, rule->rule_id);
    give_text(&query, rule->result);
    give_text(&query, rule->compiler);
    give_text(&query, rule->compiler_family);
    give_text(&query, rule->compiler_version);
    give_text(&query, rule->target_id);
    give_text(&query, rule->decision_id);
    give_text(&query, rule->reason);
    return query_run(&query, err);
}

bool apply_rule(struct graph *graph, const struct event *event, const struct rule_event *rule,
                struct err *err)
{
    return str_equal(rule->action, RULE_DEFINE) ? apply_define(graph, event, rule, err)
                                                : apply_check(graph, event, rule, err);
}
