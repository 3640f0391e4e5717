/* What the graph knows of a task itself. */
#include "graph/internal.h"

bool graph_task_reference(struct graph *graph, const char *task_id, struct arena *arena,
                          const char **out, struct err *err)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    if (!query_begin(graph, "SELECT reference_body FROM task WHERE task_id = ?", &query, err))
        return false;
    give_text(&query, task_id);
    if (!query_step(&query, &has_row, err))
        return false;
    *out = has_row ? take_text(&query, arena) : "";
    return true;
}
