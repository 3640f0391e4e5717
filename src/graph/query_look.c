#include "graph/internal.h"
#include "graph/look.h"

#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>

enum { PATH_MAX_STEPS = 10000 };

#define FIND(id, label, from)                                                                      \
    "SELECT " id ", " label " FROM " from " WHERE " id " >= ?1 AND " id                            \
    " < ?1 || '~' ORDER BY " id " LIMIT ?2"
#define ROW(from, id) "SELECT * FROM " from " WHERE " id " = ?1"
#define NODE(kind, table, id, label)                                                               \
    {                                                                                              \
        kind, FIND(id, label, table), ROW(table, id)                                               \
    }

/* Events of kinds that are nodes are found as such. */
static const struct {
    const char *kind, *find, *row;
} nodes[] = {
    {"decision", FIND("decision_id", "intent", "decision"), ROW("decision_view", "decision_id")},
    NODE("run", "run", "run_id", "proposer || ' ' || policy || ' ' || task_dir"),
    NODE("task", "task", "task_id", "name"),
    NODE("target", "target", "target_id", "name || ' ' || cpu"),
    NODE("context", "context", "context_id", "used_tokens || ' tokens'"),
    NODE("exchange", "exchange", "exchange_id", "role || ' ' || model"),
    NODE("finding", "finding", "finding_id", "text"),
    NODE("note", "note", "note_id", "text"),
    NODE("skill", "skill", "skill_id", "name"),
    NODE("skill-evidence", "skill_evidence", "evidence_id", "kind || ' ' || text"),
    {"event",
     "SELECT event_id, kind FROM event WHERE event_id >= ?1 AND event_id < ?1 || '~'"
     " AND kind NOT IN ('decision', 'run', 'context', 'exchange', 'finding', 'note')"
     " AND NOT EXISTS (SELECT 1 FROM skill_evidence e WHERE e.evidence_id = event.event_id)"
     " ORDER BY event_id LIMIT ?2",
     ROW("event", "event_id")},
};

struct found {
    struct graph_node *items;
    size_t count, capacity;
};

static bool find_kind(struct graph *graph, size_t at, const char *prefix, size_t limit,
                      struct arena *arena, struct found *found, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, nodes[at].find, &query, err))
        return false;
    give_text(&query, prefix);
    give_int(&query, row_limit(limit));
    for (;;) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            return true;
        found->items =
            vec_reserve_one(found->items, found->count, &found->capacity, sizeof *found->items);
        struct graph_node *node = &found->items[found->count++];
        node->kind = nodes[at].kind;
        node->id = take_text(&query, arena);
        node->label = take_text(&query, arena);
    }
}

bool graph_find(struct graph *graph, const char *prefix, size_t limit, struct arena *arena,
                const struct graph_node **out, size_t *out_count, struct err *err)
{
    struct found found = {0};
    bool ok = true;
    for (size_t i = 0; ok && prefix[0] != '\0' && i < sizeof nodes / sizeof *nodes; i++)
        ok = find_kind(graph, i, prefix, limit, arena, &found, err);
    if (ok) {
        *out = arena_memdup(arena, found.items, found.count * sizeof *found.items);
        *out_count = found.count;
    }
    free(found.items);
    return ok;
}

static void take_field(struct query *query, int column, struct arena *arena,
                       struct graph_field *out)
{
    sqlite3_stmt *row = query->statement->handle;
    *out = (struct graph_field){.name = arena_strdup(arena, sqlite3_column_name(row, column)),
                                .text = ""};
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        out->type = GRAPH_NONE;
        break;
    case SQLITE_INTEGER:
        out->type = GRAPH_INT;
        break;
    case SQLITE_FLOAT:
        out->type = GRAPH_REAL;
        break;
    default:
        out->type = GRAPH_TEXT;
        break;
    }
    query->next = column;
    if (out->type == GRAPH_INT)
        out->integer = take_int(query);
    else if (out->type == GRAPH_REAL)
        out->real = take_real(query);
    else if (out->type == GRAPH_TEXT)
        out->text = take_text(query, arena);
}

static bool take_row(struct graph *graph, const char *sql, const char *id, struct arena *arena,
                     const struct graph_field **out, size_t *out_count, bool *found,
                     struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, id);
    if (!query_step(&query, found, err))
        return false;
    if (!*found)
        return true;
    const int columns = sqlite3_column_count(query.statement->handle);
    struct graph_field *fields = arena_array(arena, (size_t)columns, sizeof *fields);
    for (int i = 0; i < columns; i++)
        take_field(&query, i, arena, &fields[i]);
    *out = fields;
    *out_count = (size_t)columns;
    return true;
}

bool graph_node_fields(struct graph *graph, const char *kind, const char *id, struct arena *arena,
                       const struct graph_field **out, size_t *out_count, struct err *err)
{
    bool found = false;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        if (str_equal(nodes[i].kind, kind) &&
            !take_row(graph, nodes[i].row, id, arena, out, out_count, &found, err))
            return false;
    }
    return found || err_set(err, ERR_NOT_FOUND, "there is no %s '%s'", kind, id);
}

bool graph_path(struct graph *graph, const char *decision_id, struct arena *arena,
                struct graph_decisions *out, struct err *err)
{
    /* The depth is bounded: a hostile journal may name parents in a ring. */
    static const char sql[] =
        "WITH RECURSIVE way(id, parent, depth) AS ("
        "SELECT decision_id, parent, 0 FROM decision WHERE decision_id = ?1"
        " UNION ALL SELECT d.decision_id, d.parent, way.depth + 1 FROM way JOIN decision d"
        " ON d.decision_id = way.parent WHERE way.depth < ?2)"
        " SELECT " DECISION_COLUMNS " FROM way JOIN decision_view v ON v.decision_id = way.id"
        " GROUP BY v.decision_id ORDER BY max(way.depth) DESC";
    CLEANUP(query_end) struct query query = {0};
    struct graph_decisions list = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    give_text(&query, decision_id);
    give_int(&query, PATH_MAX_STEPS);
    if (!take_decisions(&query, arena, &list, err))
        return false;
    if (list.count == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no decision '%s'", decision_id);
    *out = list;
    return true;
}
