#include "engine/sequence.h"

#include "engine/dispatch.h"
#include "engine/internal.h"

#include "graph/look.h"

#include <string.h>

/* A run begins with what an earlier one ended with, and that with what one before it did. */
enum { MOST_RUNS = 16 };

static bool of_decision(struct graph *graph, const char *decision_id, int depth,
                        struct arena *arena, struct sequence_words *out, struct err *err);

static bool of_step(struct graph *graph, const char *moves, const char *derived_from, int depth,
                    struct arena *arena, struct sequence_words *out, struct err *err)
{
    struct err gone = {0};
    *out = (struct sequence_words){.text = moves,
                                   .is_known = moves[0] != '\0' && !dispatch_is_one(moves)};
    if (moves[0] != '\0' || derived_from[0] == '\0' || depth == MOST_RUNS)
        return true;
    const bool is_there = of_decision(graph, derived_from, depth + 1, arena, out, &gone);
    if (is_there && out->is_known)
        return true;
    *out = (struct sequence_words){.text = ""};
    if (is_there || gone.kind == ERR_NOT_FOUND) /* pruned */
        return true;
    *err = gone;
    return false;
}

static bool of_decision(struct graph *graph, const char *decision_id, int depth,
                        struct arena *arena, struct sequence_words *out, struct err *err)
{
    struct graph_decisions path;
    *out = (struct sequence_words){.text = ""};
    if (!graph_path(graph, decision_id, arena, &path, err))
        return false;
    out->is_known = path.count > 0 && path.items[0].parent[0] == '\0';
    for (size_t i = 0; i < path.count; i++) {
        const struct graph_decision *d = &path.items[i];
        struct sequence_words step;
        if (!of_step(graph, d->moves, d->derived_from, depth, arena, &step, err))
            return false;
        if (propose_is_restart(d->intent))
            *out = (struct sequence_words){.text = "", .is_known = true};
        out->is_known = out->is_known && step.is_known;
        out->text = arena_printf(arena, "%s%s%s", out->text,
                                 out->text[0] && step.text[0] ? " " : "", step.text);
    }
    return true;
}

bool sequence_of_decision(struct graph *graph, const char *decision_id, struct arena *arena,
                          struct sequence_words *out, struct err *err)
{
    return of_decision(graph, decision_id, 0, arena, out, err);
}

bool sequence_of_step(struct graph *graph, const char *moves, const char *derived_from,
                      struct arena *arena, struct sequence_words *out, struct err *err)
{
    return of_step(graph, moves, derived_from, 0, arena, out, err);
}

size_t sequence_names(const char *text, struct arena *arena, const char **out, size_t capacity)
{
    size_t count = 0;
    for (const char *at = text + strspn(text, " "); *at && count < capacity;) {
        const size_t length = strcspn(at, " ");
        out[count++] = arena_strndup(arena, at, length);
        at += length;
        at += strspn(at, " ");
    }
    return count;
}
