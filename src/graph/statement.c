#include "graph/internal.h"

#include "base/str.h"
#include "base/vec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum err_kind kind_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ERR_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* of a statement of ours: the schema is not the one we made */
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return ERR_CORRUPT;
    case SQLITE_TOOBIG:
        return ERR_LIMIT;
    default:
        return ERR_IO;
    }
}

bool graph_refused(struct graph *graph, const char *doing, struct err *err)
{
    const enum err_kind kind = kind_of(sqlite3_extended_errcode(graph->db));
    (void)err_set(err, kind, "cannot %s the graph '%s': %s", doing, graph->path,
                  sqlite3_errmsg(graph->db));
    if (kind == ERR_CORRUPT)
        return err_hint(err, "remove '%s': it is built again from the journal", graph->path);
    return false;
}

bool graph_exec(struct graph *graph, const char *sql, struct err *err)
{
    return sqlite3_exec(graph->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           graph_refused(graph, "change", err);
}

bool graph_begin(struct graph *graph, struct err *err)
{
    if (graph->in_transaction)
        BUG("graph: a transaction within another");
    graph->in_transaction = graph_exec(graph, "BEGIN IMMEDIATE", err);
    return graph->in_transaction;
}

bool graph_end(struct graph *graph, bool ok, struct err *err)
{
    if (!graph->in_transaction)
        BUG("graph: no transaction to end");
    graph->in_transaction = false;
    if (ok && graph_exec(graph, "COMMIT", err))
        return true;
    struct err ignored; /* some failures have rolled it back already */
    (void)graph_exec(graph, "ROLLBACK", &ignored);
    return false;
}

bool graph_snapshot_begin(struct graph *graph, struct err *err)
{
    if (graph->in_transaction)
        BUG("graph: a snapshot within a transaction");
    graph->in_transaction = graph_exec(graph, "BEGIN", err);
    return graph->in_transaction;
}

void graph_snapshot_end(struct graph *graph)
{
    struct err ignored; /* nothing was changed that could be lost */
    (void)graph_end(graph, true, &ignored);
}

static struct statement *find_statement(struct graph *graph, const char *sql)
{
    for (size_t i = 0; i < graph->statement_count; i++) {
        if (graph->statements[i].sql == sql)
            return &graph->statements[i];
    }
    return NULL;
}

bool query_begin(struct graph *graph, const char *sql, struct query *out, struct err *err)
{
    struct statement *statement = find_statement(graph, sql);
    if (!statement) {
        if (graph->statement_count == GRAPH_MAX_STATEMENTS)
            BUG("graph: more than %d statements", GRAPH_MAX_STATEMENTS);
        sqlite3_stmt *handle = NULL;
        if (sqlite3_prepare_v3(graph->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, NULL) !=
            SQLITE_OK)
            return graph_refused(graph, "ask", err);
        statement = &graph->statements[graph->statement_count++];
        *statement = (struct statement){.sql = sql, .handle = handle};
    }
    if (statement->is_busy)
        BUG("graph: a statement within itself: %.60s", sql);
    statement->is_busy = true;
    *out = (struct query){.graph = graph, .statement = statement, .next = 1};
    return true;
}

void query_end(struct query *query)
{
    if (!query->statement)
        return;
    (void)sqlite3_reset(query->statement->handle);
    (void)sqlite3_clear_bindings(query->statement->handle);
    query->statement->is_busy = false;
    query->statement = NULL;
}

static void check_given(int code)
{
    if (code == SQLITE_NOMEM)
        BUG("graph: out of memory");
    if (code != SQLITE_OK)
        BUG("graph: a parameter that the statement does not have");
}

void give_text(struct query *query, const char *text)
{
    check_given(sqlite3_bind_text(query->statement->handle, query->next++, text ? text : "", -1,
                                  SQLITE_TRANSIENT));
}

void give_int(struct query *query, int64_t value)
{
    check_given(sqlite3_bind_int64(query->statement->handle, query->next++, value));
}

void give_real(struct query *query, double value)
{
    check_given(
        sqlite3_bind_double(query->statement->handle, query->next++, isnan(value) ? 0.0 : value));
}

bool query_step(struct query *query, bool *has_row, struct err *err)
{
    const int code = sqlite3_step(query->statement->handle);
    query->next = 0;
    *has_row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE || graph_refused(query->graph, "use", err);
}

bool query_run(struct query *query, struct err *err)
{
    bool has_row = false;
    return query_step(query, &has_row, err);
}

const char *take_text(struct query *query, struct arena *arena)
{
    const int column = query->next++;
    const unsigned char *text = sqlite3_column_text(query->statement->handle, column);
    if (!text)
        return "";
    const size_t length = (size_t)sqlite3_column_bytes(query->statement->handle, column);
    return arena_strndup(arena, (const char *)text, length);
}

int64_t take_int(struct query *query)
{
    return sqlite3_column_int64(query->statement->handle, query->next++);
}

double take_real(struct query *query)
{
    return sqlite3_column_double(query->statement->handle, query->next++);
}

bool take_bool(struct query *query)
{
    return take_int(query) != 0;
}

struct hash_id take_id(struct query *query)
{
    struct hash_id id = {{0}};
    const unsigned char *text = sqlite3_column_text(query->statement->handle, query->next++);
    (void)snprintf(id.text, sizeof id.text, "%s", text ? (const char *)text : "");
    return id;
}

bool take_rows(struct query *query, const struct row_kind *kind, struct arena *arena,
               const void **out, size_t *out_count, struct err *err)
{
    char *rows = NULL;
    size_t count = 0;
    size_t capacity = 0;
    bool has_row = false;
    bool ok = query_step(query, &has_row, err);
    while (ok && has_row) {
        rows = vec_reserve_one(rows, count, &capacity, kind->bytes);
        char *row = memset(rows + count++ * kind->bytes, 0, kind->bytes);
        kind->take(query, arena, row);
        ok = query_step(query, &has_row, err);
    }
    if (ok) {
        *out = arena_memdup(arena, rows, count * kind->bytes);
        *out_count = count;
    }
    free(rows);
    return ok;
}

bool graph_version_now(struct graph *graph, struct graph_version *out, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, "PRAGMA data_version", &query, err) ||
        !query_step(&query, &has_row, err))
        return false;
    *out =
        (struct graph_version){has_row ? take_int(&query) : 0, sqlite3_total_changes64(graph->db)};
    return true;
}

bool graph_version_equal(struct graph_version a, struct graph_version b)
{
    return a.others == b.others && a.own == b.own;
}
