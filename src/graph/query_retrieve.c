/*
 * Retrieval for the context: what of a memory of any size may matter here. Each query is bounded:
 * it goes through an index and stops, so that a million decisions cost about what a thousand do.
 */
#include "graph/internal.h"

#include <string.h>

/* Tasks looked at for what is related: of the family, like by their words, any others. */
#define FAMILY_TASKS "10"
#define LIKE_TASKS "6"
#define OTHER_TASKS "4"
/* Decisions that made an equal recipe, latest first. */
#define EQUAL_STATES "200"

/* A win that no confirmation has refuted. Index outcome_best. */
#define BEST_CONFIRMED(task, target)                                                               \
    "SELECT decision_id FROM outcome WHERE task_id = " task " AND target_id = " target             \
    " AND is_confirmation = 1 AND kind = 'timed' AND is_win = 1"                                   \
    " ORDER BY log_low DESC, decision_id LIMIT 1"
#define BEST_OTHER(task, target)                                                                   \
    "SELECT w.decision_id FROM outcome w WHERE w.task_id = " task " AND w.target_id = " target     \
    " AND w.is_confirmation = 0 AND w.kind = 'timed' AND w.is_win = 1"                             \
    " AND NOT EXISTS (SELECT 1 FROM outcome c WHERE c.decision_id = w.decision_id"                 \
    " AND c.is_confirmation = 1 AND c.kind <> 'too-noisy'"                                         \
    " AND NOT (c.kind = 'timed' AND c.is_win = 1))"                                                \
    " ORDER BY w.log_low DESC, w.decision_id LIMIT 1"
#define BEST(task, target)                                                                         \
    "coalesce((" BEST_CONFIRMED(task, target) "), (" BEST_OTHER(task, target) "))"
#define BEST_HERE BEST("?1", "?2")
#define BEST_OF_TASK BEST("t.task_id", "?2")
#define BEST_OF_PLACE BEST("place.task_id", "place.target_id")

const char schema_retrieve[] =
    "CREATE INDEX outcome_best ON outcome(task_id, target_id, is_confirmation, log_low DESC,"
    " decision_id) WHERE kind = 'timed' AND is_win = 1;"
    "CREATE INDEX decision_by_recipe ON decision(recipe) WHERE recipe <> '';"
    "CREATE INDEX task_by_family ON task(family, regime);"
    "CREATE INDEX finding_by_decision ON finding(decision_id);"
    "DROP TABLE decision_text; CREATE VIRTUAL TABLE decision_text USING fts5(body, tags);";

bool graph_best(struct graph *graph, const char *task_id, const char *target_id,
                struct arena *arena, bool *found, struct graph_decision *out, struct err *err)
{
    static const char sql[] =
        "SELECT " DECISION_COLUMNS " FROM decision_view v WHERE v.decision_id = " BEST_HERE;
    CLEANUP(query_end) struct query query = {0};
    struct graph_decisions list = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, task_id);
    give_text(&query, target_id);
    if (!take_decisions(&query, arena, &list, err))
        return false;
    *found = list.count != 0;
    if (*found)
        *out = list.items[0];
    return true;
}

/* Family and words of a task; "" where it is not known. */
static bool describe_task(struct graph *graph, const char *task_id, struct arena *arena,
                          const char **family, const char **words, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph,
                     "SELECT family, name || ' ' || family || ' ' || features FROM task"
                     " WHERE task_id = ?",
                     &query, err))
        return false;
    give_text(&query, task_id);
    if (!query_step(&query, &has_row, err))
        return false;
    *family = has_row ? take_text(&query, arena) : "";
    *words = has_row ? take_text(&query, arena) : "";
    return true;
}

bool graph_related(struct graph *graph, const char *task_id, const char *target_id, size_t limit,
                   struct arena *arena, struct graph_decisions *out, struct err *err)
{
    /* `home`: where it won on this target. `place`: each target where another task won, by a loose
     * scan of the index. */
    static const char sql[] =
        "WITH RECURSIVE near AS MATERIALIZED (SELECT rowid AS row, bm25(task_text) AS score"
        " FROM task_text WHERE task_text MATCH ?3 ORDER BY score LIMIT " LIKE_TASKS "),"
        " chosen AS MATERIALIZED ("
        " SELECT row FROM (SELECT row FROM task WHERE family = ?4 AND ?4 <> ''"
        " AND task_id <> ?1 LIMIT " FAMILY_TASKS ")"
        " UNION SELECT row FROM near UNION SELECT row FROM"
        " (SELECT row FROM task WHERE task_id <> ?1 ORDER BY row DESC LIMIT " OTHER_TASKS ")),"
        " home AS MATERIALIZED (SELECT t.task_id, t.row, t.family, " BEST_OF_TASK
        " AS decision_id FROM chosen JOIN task t ON t.row = chosen.row WHERE t.task_id <> ?1),"
        " place(task_id, row, family, target_id) AS ("
        " SELECT h.task_id, h.row, h.family, (SELECT min(target_id) FROM outcome"
        " WHERE task_id = h.task_id AND kind = 'timed' AND is_win = 1)"
        " FROM home h WHERE h.decision_id IS NULL"
        " UNION ALL SELECT p.task_id, p.row, p.family, (SELECT min(target_id) FROM outcome"
        " WHERE task_id = p.task_id AND kind = 'timed' AND is_win = 1"
        " AND target_id > p.target_id) FROM place p WHERE p.target_id IS NOT NULL),"
        " best AS MATERIALIZED (SELECT task_id, row, family, ?2 AS target_id, decision_id"
        " FROM home WHERE decision_id IS NOT NULL"
        " UNION ALL SELECT task_id, row, family, target_id, " BEST_OF_PLACE
        " FROM place WHERE target_id IS NOT NULL),"
        " ranked AS (SELECT b.task_id, b.row, b.family, b.target_id, v.decision_id,"
        " v.pessimistic, row_number() OVER (PARTITION BY b.task_id ORDER BY b.target_id = ?2 DESC,"
        " v.is_confirmed DESC, v.pessimistic DESC, v.decision_id) AS place FROM best b"
        " JOIN decision_view v ON v.decision_id = b.decision_id WHERE v.recipe <> '')"
        " SELECT " DECISION_COLUMNS " FROM ranked k"
        " JOIN decision_view v ON v.decision_id = k.decision_id"
        " LEFT JOIN near n ON n.row = k.row WHERE k.place = 1 ORDER BY"
        " CASE WHEN k.family = ?4 AND ?4 <> '' THEN 0 WHEN n.score IS NOT NULL THEN 1 ELSE 2 END,"
        " k.target_id = ?2 DESC, coalesce(n.score, 0.0), k.pessimistic DESC, k.decision_id"
        " LIMIT ?5";
    const char *family = "";
    const char *words = "";
    if (!describe_task(graph, task_id, arena, &family, &words, err))
        return false;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, task_id);
    give_text(&query, target_id);
    give_text(&query, text_match_any(words, arena));
    give_text(&query, family);
    give_int(&query, row_limit(limit));
    return take_decisions(&query, arena, out, err);
}

static const char *tag_of(const struct graph_near *near, struct arena *arena)
{
    if (near->family[0] == '\0')
        return near->failures ? TAG_FAILED : TAG_TIMED;
    const size_t length = strlen(near->family);
    char *tag = arena_alloc(arena, 2 * length + 3);
    tag[0] = 'x';
    tag[1] = near->failures ? 'f' : 's';
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)near->family[i];
        tag[2 + 2 * i] = "0123456789ABCDEF"[c >> 4];
        tag[3 + 2 * i] = "0123456789ABCDEF"[c & 15];
    }
    tag[2 + 2 * length] = '\0';
    return tag;
}

bool graph_search_near(struct graph *graph, const struct graph_near *near, size_t limit,
                       struct arena *arena, struct graph_decisions *out, struct err *err)
{
    const char *tag = tag_of(near, arena);
    const int64_t *rows = NULL;
    size_t count = 0;
    *out = (struct graph_decisions){0};
    if (!rank_near(graph, near->words, tag, limit, arena, &rows, &count, err))
        return false;
    if (count == 0 && near->family[0] != '\0' &&
        !rank_latest(graph, tag, limit, arena, &rows, &count, err))
        return false;
    return decisions_of_rows(graph, rows, count, arena, out, err);
}

bool graph_walk(struct graph *graph, const char *recipe, size_t limit, struct arena *arena,
                struct graph_decisions *out, struct err *err)
{
    static const char sql[] =
        "WITH state AS MATERIALIZED (SELECT s.decision_id, p.log_ratio FROM decision s"
        " JOIN outcome p ON p.decision_id = s.decision_id AND p.is_confirmation = 0"
        " AND p.kind = 'timed' WHERE s.recipe = ?1 AND s.recipe <> ''"
        " ORDER BY s.row DESC LIMIT " EQUAL_STATES "),"
        " step AS MATERIALIZED (SELECT c.decision_id, o.log_ratio - s.log_ratio AS gain"
        " FROM state s JOIN decision c ON c.parent = s.decision_id AND c.parent <> ''"
        " JOIN outcome o ON o.decision_id = c.decision_id AND o.is_confirmation = 0"
        " AND o.kind = 'timed' ORDER BY gain DESC, c.decision_id LIMIT ?2)"
        " SELECT " DECISION_COLUMNS " FROM step JOIN decision_view v"
        " ON v.decision_id = step.decision_id ORDER BY step.gain DESC, v.decision_id";
    *out = (struct graph_decisions){0};
    if (recipe[0] == '\0')
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, recipe);
    give_int(&query, row_limit(limit));
    return take_decisions(&query, arena, out, err);
}

/* The child that is worth most, through indices alone; "" where there is none. A decision has few
 * children: to look at each costs less than to have them sorted. */
static bool best_child(struct graph *graph, const char *decision_id, struct arena *arena,
                       const char **out, double *log_ratio, struct err *err)
{
    static const char sql[] =
        "SELECT c.decision_id, o.log_ratio FROM decision c INDEXED BY decision_by_parent"
        " JOIN outcome o INDEXED BY outcome_timed ON o.decision_id = c.decision_id"
        " AND o.is_confirmation = 0 AND o.kind = 'timed' WHERE c.parent = ?1 AND c.parent <> ''"
        " ORDER BY c.decision_id";
    CLEANUP(query_end) struct query query = {0};
    *out = "";
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, decision_id);
    for (;;) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            return true;
        const char *id = take_text(&query, arena);
        const double value = take_real(&query);
        if ((*out)[0] != '\0' && value <= *log_ratio)
            continue;
        *out = id;
        *log_ratio = value;
    }
}

bool graph_followed(struct graph *graph, const char *decision_id, double log_ratio,
                    struct arena *arena, bool *found, struct graph_follow *out, struct err *err)
{
    const char *best = "";
    double best_log_ratio = 0.0;
    *found = false;
    if (!best_child(graph, decision_id, arena, &best, &best_log_ratio, err))
        return false;
    if (best[0] == '\0')
        return true;
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, "SELECT moves, intent FROM decision WHERE decision_id = ?1", &query,
                     err))
        return false;
    give_text(&query, best);
    if (!query_step(&query, found, err))
        return false;
    if (!*found)
        return true;
    *out = (struct graph_follow){.decision_id = best, .gain = best_log_ratio - log_ratio};
    out->moves = take_text(&query, arena);
    out->intent = take_text(&query, arena);
    return true;
}
