/*
 * The evidence of moves, read as a whole: some ten thousand rows in a memory of a million
 * decisions. They come in the order of their key and leave in the order of trees (move, family,
 * regime, task, target); texts that repeat are kept once. What was read is kept until the memory
 * changes.
 */
#include "graph/internal.h"

#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_SLOTS = 1024 };

struct reading {
    struct cells_kept *kept;
    const char *words[WORD_SLOTS];   /* by hash; one that finds no slot is kept again */
    const char *task_id, *task_name; /* of the row before */
    size_t capacity;
};

/* What the row has, or the text of the row before where it is the same. */
static const char *take_again(struct query *query, const char *before, struct arena *arena)
{
    const unsigned char *text = sqlite3_column_text(query->statement->handle, query->next);
    if (before && text && strcmp((const char *)text, before) == 0) {
        query->next++;
        return before;
    }
    return take_text(query, arena);
}

/* Of moves, targets, families and regimes there are few: each is kept once, so that whoever
 * compares them finds the same text. */
static const char *take_word(struct query *query, struct reading *r)
{
    const char *text = (const char *)sqlite3_column_text(query->statement->handle, query->next);
    const size_t slot_index = text ? hash_fnv1a(text, strlen(text)) % WORD_SLOTS : 0;
    const char **slot = &r->words[slot_index];
    *slot = take_again(query, *slot, &r->kept->arena);
    return *slot;
}

static void take_cell(struct query *query, struct reading *r)
{
    struct cells_kept *kept = r->kept;
    kept->items = vec_reserve_one(kept->items, kept->count, &r->capacity, sizeof *kept->items);
    struct graph_move_cell *cell = &kept->items[kept->count++];
    cell->task_id = r->task_id = take_again(query, r->task_id, &kept->arena);
    cell->task_name = r->task_name = take_again(query, r->task_name, &kept->arena);
    cell->family = take_word(query, r);
    cell->regime = take_word(query, r);
    cell->target_id = take_word(query, r);
    cell->move = take_word(query, r);
    cell->count = take_real(query);
    cell->sum = 1e-9 * take_real(query);
    cell->sum_squares = 1e-9 * take_real(query);
    cell->failures = take_real(query);
}

static int compare_text(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static int by_tree(const void *a, const void *b)
{
    const struct graph_move_cell *x = a;
    const struct graph_move_cell *y = b;
    int order = compare_text(x->move, y->move);
    order = order ? order : compare_text(x->family, y->family);
    order = order ? order : compare_text(x->regime, y->regime);
    order = order ? order : compare_text(x->task_id, y->task_id);
    return order ? order : compare_text(x->target_id, y->target_id);
}

void cells_drop(struct graph *graph)
{
    arena_free(&graph->cells.arena);
    free(graph->cells.items);
    graph->cells = (struct cells_kept){0};
}

static bool read_cells(struct graph *graph, struct err *err)
{
    static const char sql[] =
        "SELECT c.task_id, coalesce(t.name, ''), coalesce(t.family, ''), coalesce(t.regime, ''),"
        " c.target_id, c.move, c.timed, c.gain_e9, c.squares_e9, c.failures"
        " FROM move_cell c LEFT JOIN task t USING(task_id)"
        " ORDER BY c.task_id, c.target_id, c.move";
    struct reading reading = {.kept = &graph->cells};
    CLEANUP(query_end) struct query query = {0};
    if (!query_begin(graph, sql, &query, err))
        return false;
    for (;;) {
        bool has_row = false;
        if (!query_step(&query, &has_row, err))
            return false;
        if (!has_row)
            break;
        take_cell(&query, &reading);
    }
    if (graph->cells.count != 0)
        qsort(graph->cells.items, graph->cells.count, sizeof *graph->cells.items, by_tree);
    return true;
}

bool graph_move_cells(struct graph *graph, const struct graph_move_cell **out, size_t *out_count,
                      struct err *err)
{
    struct graph_version now;
    if (!graph_version_now(graph, &now, err))
        return false;
    struct cells_kept *kept = &graph->cells;
    if (!kept->is_filled || !graph_version_equal(now, kept->version)) {
        cells_drop(graph);
        if (!read_cells(graph, err))
            return false;
        kept->version = now;
        kept->is_filled = true;
    }
    *out = kept->items;
    *out_count = kept->count;
    return true;
}
