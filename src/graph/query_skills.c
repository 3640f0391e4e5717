/* What the graph knows of skills. */
#include "graph/skills.h"

#include "graph/internal.h"

static void take_skill(struct query *query, struct arena *arena, void *out)
{
    struct graph_skill *skill = out;
    skill->id = take_text(query, arena);
    skill->name = take_text(query, arena);
    skill->intent = take_text(query, arena);
    skill->applies = take_text(query, arena);
    skill->needs = take_text(query, arena);
    skill->change = take_text(query, arena);
    skill->breaks = take_text(query, arena);
    skill->origin = take_text(query, arena);
    skill->learned_on = take_text(query, arena);
    skill->before_body = take_text(query, arena);
    skill->after_body = take_text(query, arena);
    skill->build = take_text(query, arena);
    skill->state = take_text(query, arena);
    skill->reason = take_text(query, arena);
    skill->evidence_count = take_int(query);
}

bool graph_skills(struct graph *graph, struct arena *arena, const struct graph_skill **out,
                  size_t *out_count, struct err *err)
{
    static const char sql[] =
        "SELECT s.skill_id, s.name, s.intent, s.applies, s.needs, s.change, s.breaks, s.origin,"
        " s.learned_on, s.before_body, s.after_body, s.build, coalesce(t.state, 'candidate'),"
        " coalesce(t.reason, ''),"
        " (SELECT count(*) FROM skill_evidence e WHERE e.skill_id = s.skill_id)"
        " FROM skill s LEFT JOIN skill_state t ON t.skill_id = s.skill_id"
        " ORDER BY s.name, s.stamp DESC";
    static const struct row_kind kind = {take_skill, sizeof(struct graph_skill)};
    CLEANUP(query_end) struct query query = {0};
    const void *items = NULL;
    if (!query_begin(graph, sql, &query, err))
        return false;
    if (!take_rows(&query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

static void take_evidence(struct query *query, struct arena *arena, void *out)
{
    struct graph_skill_evidence *evidence = out;
    evidence->id = take_text(query, arena);
    evidence->kind = take_text(query, arena);
    evidence->decision_id = take_text(query, arena);
    evidence->task_id = take_text(query, arena);
    evidence->task_name = take_text(query, arena);
    evidence->family = take_text(query, arena);
    evidence->regime = take_text(query, arena);
    evidence->target_id = take_text(query, arena);
    evidence->verdict = take_text(query, arena);
    evidence->text = take_text(query, arena);
    evidence->log_ratio = take_real(query);
    evidence->log_low = take_real(query);
    evidence->log_high = take_real(query);
    evidence->wall_ms = take_int(query);
}

bool graph_skill_evidence(struct graph *graph, const char *skill_id, struct arena *arena,
                          const struct graph_skill_evidence **out, size_t *out_count,
                          struct err *err)
{
    static const char sql[] =
        "SELECT evidence_id, kind, decision_id, task_id, task_name, family, regime, target_id,"
        " verdict, text, log_ratio, log_low, log_high, wall_ms FROM skill_evidence"
        " WHERE skill_id = ? ORDER BY stamp";
    static const struct row_kind kind = {take_evidence, sizeof(struct graph_skill_evidence)};
    CLEANUP(query_end) struct query query = {0};
    const void *items = NULL;
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, skill_id);
    if (!take_rows(&query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}

static void take_match(struct query *query, struct arena *arena, void *out)
{
    struct graph_skill_match *match = out;
    match->skill_id = take_text(query, arena);
    match->score = take_real(query);
}

bool graph_match_skills(struct graph *graph, const char *words, struct arena *arena,
                        const struct graph_skill_match **out, size_t *out_count, struct err *err)
{
    static const struct row_kind kind = {take_match, sizeof(struct graph_skill_match)};
    CLEANUP(query_end) struct query query = {0};
    const char *match = text_match_any(words, arena);
    const void *items = NULL;
    *out = NULL;
    *out_count = 0;
    if (!match || match[0] == '\0')
        return true;
    if (!query_begin(graph,
                     "SELECT skill_id, -bm25(skill_text) FROM skill_text"
                     " WHERE skill_text MATCH ? ORDER BY 2 DESC, 1",
                     &query, err))
        return false;
    give_text(&query, match);
    if (!take_rows(&query, &kind, arena, &items, out_count, err))
        return false;
    *out = items;
    return true;
}
