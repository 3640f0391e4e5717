/*
 * Filling an empty graph. What follows from rows (searched text, cells) is made once, when all of
 * them are in; where that is much, so are the indices, by sorting instead of by a million
 * insertions each at another place, and the lists of words with fewer pieces to merge. Memory stays
 * bounded: what has to be sorted goes to files.
 */
#include "graph/internal.h"

/* With a write-ahead log every page that is read back within a large transaction is looked for in
 * all of that log: a load of millions of rows would take the square of its size. A rollback journal
 * holds only pages that were there before. Asks for the file alone and is refused, which does not
 * matter, where somebody else has it open. */
void bulk_prepare(struct graph *graph)
{
    (void)sqlite3_busy_timeout(graph->db, 0);
    (void)sqlite3_exec(graph->db, "PRAGMA journal_mode = TRUNCATE", NULL, NULL, NULL);
    (void)sqlite3_busy_timeout(graph->db, GRAPH_BUSY_TIMEOUT_MS);
    (void)sqlite3_exec(graph->db, "PRAGMA temp_store = FILE", NULL, NULL, NULL);
}

void bulk_leave(struct graph *graph)
{
    struct err ignored;
    (void)sqlite3_exec(graph->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    (void)schema_use_wal(graph, &ignored);
}

/* ---- Indices, all but those of keys. */

static bool list_indices(struct graph *graph, struct bulk *bulk, const char **names,
                         struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph,
                     "SELECT name, sql FROM sqlite_schema WHERE type = 'index'"
                     " AND sql IS NOT NULL ORDER BY rowid",
                     &query, err))
        return false;
    for (bulk->count = 0;; bulk->count++) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            return true;
        if (bulk->count == BULK_MAX_INDICES)
            return err_set(err, ERR_CORRUPT, "the graph has more than %d indices, not all its own",
                           BULK_MAX_INDICES);
        names[bulk->count] = take_text(&query, &bulk->arena);
        bulk->indices[bulk->count] = take_text(&query, &bulk->arena);
    }
}

static bool drop_index(struct graph *graph, const char *name, struct err *err)
{
    char *sql =
        sqlite3_mprintf("DROP INDEX \"%w\"", name); /* the file may have been made elsewhere */
    if (!sql)
        BUG("graph: out of memory");
    const bool ok = graph_exec(graph, sql, err);
    sqlite3_free(sql);
    return ok;
}

static bool drop_indices(struct graph *graph, struct bulk *bulk, struct err *err)
{
    const char *names[BULK_MAX_INDICES];
    if (!list_indices(graph, bulk, names, err))
        return false;
    for (size_t i = 0; i < bulk->count; i++) {
        if (!drop_index(graph, names[i], err))
            return false;
    }
    return true;
}

static bool make_indices(struct graph *graph, const struct bulk *bulk, struct err *err)
{
    for (size_t i = 0; i < bulk->count; i++) {
        if (!graph_exec(graph, bulk->indices[i], err))
            return false;
    }
    return true;
}

/* ---- Lists of words. */

/* So many bytes of lists are gathered before they are written as a piece, and pieces are left as
 * they are until near_make_all puts them together. */
static const char gather_much[] =
    "INSERT INTO decision_near(decision_near, rank) VALUES('hashsize', 33554432);"
    "INSERT INTO decision_near(decision_near, rank) VALUES('automerge', 0);"
    "INSERT INTO decision_near(decision_near, rank) VALUES('crisismerge', 1000);"
    "INSERT INTO decision_text(decision_text, rank) VALUES('hashsize', 33554432);";
/* FTS5's own numbers. */
static const char gather_little[] =
    "INSERT INTO decision_near(decision_near, rank) VALUES('hashsize', 1048576);"
    "INSERT INTO decision_near(decision_near, rank) VALUES('automerge', 4);"
    "INSERT INTO decision_near(decision_near, rank) VALUES('crisismerge', 16);"
    "INSERT INTO decision_text(decision_text, rank) VALUES('hashsize', 1048576);";

bool bulk_begin(struct graph *graph, struct bulk *bulk, struct err *err)
{
    graph->is_bulk = true;
    return !bulk->is_large ||
           (graph_exec(graph, gather_much, err) && drop_indices(graph, bulk, err));
}

bool bulk_end(struct graph *graph, const struct bulk *bulk, struct err *err)
{
    graph->is_bulk = false;
    return graph_exec(graph, cells_make_all, err) && graph_exec(graph, text_tasks_sql, err) &&
           graph_exec(graph, text_decisions_sql, err) && graph_exec(graph, near_make_all, err) &&
           (!bulk->is_large ||
            (graph_exec(graph, gather_little, err) && make_indices(graph, bulk, err)));
}
