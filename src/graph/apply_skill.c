/* Taking in the history of skills: the latest definition and state hold, evidence is a set. */
#include "graph/internal.h"

#include "base/str.h"

#include <sqlite3.h>

static bool refresh_text(struct graph *graph, const struct skill_event *skill, struct err *err)
{
    CLEANUP(query_end) struct query remove = {0};
    CLEANUP(query_end) struct query insert = {0};
    if (!query_begin(graph, "DELETE FROM skill_text WHERE skill_id = ?", &remove, err))
        return false;
    give_text(&remove, skill->skill_id);
    if (!query_run(&remove, err) ||
        !query_begin(graph,
                     "INSERT INTO skill_text(skill_id, body) VALUES(?1, ?2 || ' ' || ?3 || ' ' ||"
                     " ?4 || ' ' || ?5)",
                     &insert, err))
        return false;
    give_text(&insert, skill->skill_id);
    give_text(&insert, skill->name);
    give_text(&insert, skill->intent);
    give_text(&insert, skill->applies);
    give_text(&insert, skill->change);
    return query_run(&insert, err);
}

static bool apply_define(struct graph *graph, const struct event *event,
                         const struct skill_event *skill, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     "INSERT INTO skill VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"
                     " ON CONFLICT(skill_id) DO UPDATE SET stamp = excluded.stamp,"
                     " name = excluded.name, intent = excluded.intent, applies = excluded.applies,"
                     " needs = excluded.needs, change = excluded.change, breaks = excluded.breaks,"
                     " origin = excluded.origin, learned_on = excluded.learned_on,"
                     " before_body = excluded.before_body, after_body = excluded.after_body, build "
                     "= excluded.build"
                     " WHERE excluded.stamp > skill.stamp",
                     &query, err))
        return false;
    give_text(&query, skill->skill_id);
    give_stamp(&query, event);
    give_text(&query, skill->name);
    give_text(&query, skill->intent);
    give_text(&query, skill->applies);
    give_text(&query, skill->needs);
    give_text(&query, skill->change);
    give_text(&query, skill->breaks);
    give_text(&query, skill->origin);
    give_text(&query, skill->learned_on);
    give_text(&query, skill->before_body);
    give_text(&query, skill->after_body);
    give_text(&query, skill->build);
    if (!query_run(&query, err))
        return false;
    return sqlite3_changes(graph->db) == 0 || refresh_text(graph, skill, err);
}

static bool apply_state(struct graph *graph, const struct event *event,
                        const struct skill_event *skill, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     "INSERT INTO skill_state VALUES(?,?,?,?) ON CONFLICT(skill_id) DO UPDATE SET"
                     " stamp = excluded.stamp, state = excluded.state, reason = excluded.reason"
                     " WHERE excluded.stamp > skill_state.stamp",
                     &query, err))
        return false;
    give_text(&query, skill->skill_id);
    give_stamp(&query, event);
    give_text(&query, skill->state);
    give_text(&query, skill->reason);
    return query_run(&query, err);
}

static bool apply_evidence(struct graph *graph, const struct event *event,
                           const struct skill_event *skill, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, "INSERT INTO skill_evidence VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                     &query, err))
        return false;
    give_text(&query, event->id.text);
    give_stamp(&query, event);
    give_int(&query, event->wall_ms);
    give_text(&query, skill->skill_id);
    give_text(&query, skill->evidence);
    give_text(&query, skill->decision_id);
    give_text(&query, skill->task_id);
    give_text(&query, skill->task_name);
    give_text(&query, skill->family);
    give_text(&query, skill->regime);
    give_text(&query, skill->target_id);
    give_text(&query, skill->verdict);
    give_text(&query, skill->text);
    give_real(&query, skill->log_ratio);
    give_real(&query, skill->log_low);
    give_real(&query, skill->log_high);
    return query_run(&query, err);
}

bool apply_skill(struct graph *graph, const struct event *event, const struct skill_event *skill,
                 struct err *err)
{
    if (str_equal(skill->action, SKILL_DEFINE))
        return apply_define(graph, event, skill, err);
    if (str_equal(skill->action, SKILL_STATE))
        return apply_state(graph, event, skill, err);
    return apply_evidence(graph, event, skill, err);
}
