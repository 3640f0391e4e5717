/* What prompts held or withheld at random, and what came of it. */
#include "graph/internal.h"

static const char *column(struct query *query)
{
    const unsigned char *text = sqlite3_column_text(query->statement->handle, query->next++);
    return text ? (const char *)text : "";
}

/* Decisions in the order of their runs. A noisy host says nothing; a failure gains nothing. */
bool graph_trials(struct graph *graph, size_t limit,
                  bool (*visit)(void *context, const struct graph_trial *trial, struct err *err),
                  void *context, struct err *err)
{
    static const char sql[] =
        "WITH decided AS (SELECT r.task_id, d.run_id, d.decision_id, d.context_id, r.stamp,"
        " CASE WHEN o.kind = 'timed' AND (d.parent = '' OR p.kind = 'timed')"
        " THEN max(o.log_ratio - coalesce(p.log_ratio, 0.0), 0.0)"
        " WHEN o.kind = 'timed' THEN NULL ELSE 0.0 END AS gain"
        " FROM run r JOIN decision d ON d.run_id = r.run_id"
        " LEFT JOIN outcome o ON o.decision_id = d.decision_id AND o.is_confirmation = 0"
        " LEFT JOIN outcome p ON p.decision_id = d.parent AND p.is_confirmation = 0"
        " WHERE d.context_id <> '' AND (o.kind IS NOT NULL OR d.failure <> '')"
        " AND coalesce(o.kind, '') <> 'too-noisy')"
        " SELECT task_id, run_id, decision_id, kind, ref, gain, propensity, tokens, withheld FROM"
        " (SELECT d.task_id, d.run_id, d.decision_id, i.kind, i.ref, d.gain, i.propensity,"
        " i.tokens, i.withheld FROM decided d JOIN context_item i ON i.context_id = d.context_id"
        " WHERE d.gain IS NOT NULL AND i.propensity > 0.0 AND i.propensity < 1.0"
        " ORDER BY d.stamp DESC LIMIT ?1) ORDER BY task_id, run_id, decision_id, kind, ref";
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_int(&query, row_limit(limit));
    for (;;) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            return true;
        struct graph_trial trial = {.task_id = column(&query), .run_id = NULL};
        trial.run_id = column(&query);
        trial.decision_id = column(&query);
        trial.kind = column(&query);
        trial.ref = column(&query);
        trial.gain = take_real(&query);
        trial.propensity = take_real(&query);
        trial.tokens = take_int(&query);
        trial.shown = !take_bool(&query);
        if (!visit(context, &trial, err))
            return false;
    }
}
