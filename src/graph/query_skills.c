/* What the graph knows of skills. */
#include "graph/skills.h"

#include "base/vec.h"
#include "graph/internal.h"

#include <stdlib.h>

static void take_skill(struct query *query, struct arena *arena, struct graph_skill *out)
{
    *out = (struct graph_skill){0};
    out->id = take_text(query, arena);
    out->name = take_text(query, arena);
    out->intent = take_text(query, arena);
    out->applies = take_text(query, arena);
    out->needs = take_text(query, arena);
    out->change = take_text(query, arena);
    out->breaks = take_text(query, arena);
    out->origin = take_text(query, arena);
    out->learned_on = take_text(query, arena);
    out->before_body = take_text(query, arena);
    out->after_body = take_text(query, arena);
    out->build = take_text(query, arena);
    out->state = take_text(query, arena);
    out->reason = take_text(query, arena);
    out->evidence_count = take_int(query);
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
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, sql, &query, err))
        return false;
    struct graph_skill *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    bool ok = query_step(&query, &has_row, err);
    while (ok && has_row) {
        items = vec_reserve_one(items, count, &capacity, sizeof *items);
        take_skill(&query, arena, &items[count++]);
        ok = query_step(&query, &has_row, err);
    }
    if (ok) {
        *out = arena_memdup(arena, items, count * sizeof *items);
        *out_count = count;
    }
    free(items);
    return ok;
}

static void take_evidence(struct query *query, struct arena *arena,
                          struct graph_skill_evidence *out)
{
    *out = (struct graph_skill_evidence){0};
    out->id = take_text(query, arena);
    out->kind = take_text(query, arena);
    out->decision_id = take_text(query, arena);
    out->task_id = take_text(query, arena);
    out->task_name = take_text(query, arena);
    out->family = take_text(query, arena);
    out->regime = take_text(query, arena);
    out->target_id = take_text(query, arena);
    out->verdict = take_text(query, arena);
    out->text = take_text(query, arena);
    out->log_ratio = take_real(query);
    out->log_low = take_real(query);
    out->log_high = take_real(query);
    out->wall_ms = take_int(query);
}

bool graph_skill_evidence(struct graph *graph, const char *skill_id, struct arena *arena,
                          const struct graph_skill_evidence **out, size_t *out_count,
                          struct err *err)
{
    static const char sql[] =
        "SELECT evidence_id, kind, decision_id, task_id, task_name, family, regime, target_id,"
        " verdict, text, log_ratio, log_low, log_high, wall_ms FROM skill_evidence"
        " WHERE skill_id = ? ORDER BY stamp";
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, skill_id);
    struct graph_skill_evidence *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    bool ok = query_step(&query, &has_row, err);
    while (ok && has_row) {
        items = vec_reserve_one(items, count, &capacity, sizeof *items);
        take_evidence(&query, arena, &items[count++]);
        ok = query_step(&query, &has_row, err);
    }
    if (ok) {
        *out = arena_memdup(arena, items, count * sizeof *items);
        *out_count = count;
    }
    free(items);
    return ok;
}

bool graph_match_skills(struct graph *graph, const char *words, struct arena *arena,
                        const struct graph_skill_match **out, size_t *out_count, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    const char *match = text_match_any(words, arena);
    bool has_row = false;
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
    struct graph_skill_match *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    bool ok = query_step(&query, &has_row, err);
    while (ok && has_row) {
        items = vec_reserve_one(items, count, &capacity, sizeof *items);
        items[count].skill_id = take_text(&query, arena);
        items[count++].score = take_real(&query);
        ok = query_step(&query, &has_row, err);
    }
    if (ok) {
        *out = arena_memdup(arena, items, count * sizeof *items);
        *out_count = count;
    }
    free(items);
    return ok;
}
