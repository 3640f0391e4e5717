#include "graph/internal.h"

#include "base/str.h"

/* Below this, a write-ahead log is as good. */
#define LARGE_BYTES (INT64_C(64) * 1024 * 1024)

struct catch_up {
    struct graph *graph;
    struct bulk bulk;
    int64_t applied;
};

static bool read_positions(struct graph *graph, struct arena *arena, struct journal_position **out,
                           size_t *out_count, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, "SELECT name, bytes, count(*) OVER () FROM segment ORDER BY name",
                     &query, err))
        return false;
    struct journal_position *positions = NULL;
    size_t count = 0;
    for (;;) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            break;
        const char *name = take_text(&query, arena);
        const int64_t bytes = take_int(&query);
        if (!positions)
            positions = arena_array(arena, (size_t)take_int(&query), sizeof *positions);
        positions[count++] = (struct journal_position){.segment = name, .bytes = bytes};
    }
    *out = positions;
    *out_count = count;
    return true;
}

static bool write_position(struct graph *graph, const struct journal_position *position,
                           struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, "INSERT OR REPLACE INTO segment VALUES(?,?)", &query, err))
        return false;
    give_text(&query, position->segment);
    give_int(&query, position->bytes);
    return query_run(&query, err);
}

/* Both sorted by name; those that have not moved are not written. */
static bool write_positions(struct graph *graph, const struct journal_position *seen,
                            size_t seen_count, const struct journal_position *reached,
                            size_t reached_count, struct err *err)
{
    size_t s = 0;
    for (size_t i = 0; i < reached_count; i++) {
        if (s < seen_count && str_equal(seen[s].segment, reached[i].segment) &&
            seen[s++].bytes == reached[i].bytes)
            continue;
        if (!graph->in_transaction && !graph_begin(graph, err))
            return false;
        if (!write_position(graph, &reached[i], err))
            return false;
    }
    return true;
}

/* Is there nothing in it yet? */
static bool is_empty(struct graph *graph, bool *out, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, "SELECT 1 FROM event LIMIT 1", &query, err) ||
        !query_step(&query, &has_row, err))
        return false;
    *out = !has_row;
    return true;
}

/* The transaction begins with the first event, so that looking costs no lock. */
static bool take_in(void *context, const struct event *event, struct err *err)
{
    struct catch_up *catch_up = context;
    struct graph *graph = catch_up->graph;
    bool is_new = false;
    bool is_first = false;
    if (!graph->in_transaction && !(graph_begin(graph, err) && is_empty(graph, &is_first, err) &&
                                    (!is_first || bulk_begin(graph, &catch_up->bulk, err))))
        return false;
    if (!apply_event(graph, event, &is_new, err))
        return false;
    catch_up->applied += is_new ? 1 : 0;
    return true;
}

/* Whether a transaction is begun on true and on false tells graph->in_transaction. */
static bool take_in_since(struct catch_up *catch_up, struct journal *journal,
                          const struct journal_position *seen, size_t seen_count,
                          struct arena *arena, struct err *err)
{
    struct graph *graph = catch_up->graph;
    struct journal_position *reached = NULL;
    size_t reached_count = 0;
    return journal_scan_since(journal, seen, seen_count, take_in, catch_up, arena, &reached,
                              &reached_count, err) &&
           write_positions(graph, seen, seen_count, reached, reached_count, err) &&
           (!graph->is_bulk || bulk_end(graph, &catch_up->bulk, err));
}

static bool finish(struct catch_up *catch_up, bool ok, int64_t *out_applied, struct err *err)
{
    struct graph *graph = catch_up->graph;
    graph->is_bulk = false; /* where it failed in the middle */
    arena_free(&catch_up->bulk.arena);
    if (graph->in_transaction)
        ok = graph_end(graph, ok, err);
    if (ok && out_applied)
        *out_applied = catch_up->applied;
    return ok;
}

/* Is all of the journal to be taken in, and is that much? */
static bool begin_large(struct graph *graph, struct journal *journal, size_t seen_count)
{
    const bool is_large = seen_count == 0 && journal_size(journal) >= LARGE_BYTES;
    if (is_large)
        bulk_prepare(graph);
    return is_large;
}

static void end_large(struct graph *graph, bool is_large)
{
    if (is_large)
        bulk_leave(graph);
}

static bool rebuild(struct graph *graph, struct journal *journal, bool is_large,
                    int64_t *out_applied, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct catch_up catch_up = {.graph = graph, .bulk.is_large = is_large};
    if (!graph_begin(graph, err))
        return false;
    const bool ok = schema_reset(graph, err) && bulk_begin(graph, &catch_up.bulk, err) &&
                    take_in_since(&catch_up, journal, NULL, 0, &scratch, err);
    return finish(&catch_up, ok, out_applied, err);
}

bool graph_rebuild(struct graph *graph, struct journal *journal, int64_t *out_applied,
                   struct err *err)
{
    const bool is_large = begin_large(graph, journal, 0);
    const bool ok = rebuild(graph, journal, is_large, out_applied, err);
    end_large(graph, is_large);
    return ok;
}

bool graph_catch_up(struct graph *graph, struct journal *journal, int64_t *out_applied,
                    struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct journal_position *seen = NULL;
    size_t seen_count = 0;
    struct catch_up catch_up = {.graph = graph};
    if (!read_positions(graph, &scratch, &seen, &seen_count, err))
        return false;
    const bool is_large = begin_large(graph, journal, seen_count);
    catch_up.bulk.is_large = is_large;
    const bool ok = take_in_since(&catch_up, journal, seen, seen_count, &scratch, err);
    const bool is_done = finish(&catch_up, ok, out_applied, err);
    end_large(graph, is_large);
    if (is_done)
        return true;
    return !ok && err->kind == ERR_CORRUPT && graph_rebuild(graph, journal, out_applied, err);
}
