/*
 * Looking into a graph by hand: any node by the beginning of its id, all that is stored of it, and
 * the way that led to a decision. For commands; a run asks by graph.h.
 */
#ifndef KOPE_GRAPH_LOOK_H
#define KOPE_GRAPH_LOOK_H

#include "graph/graph.h"

struct graph_node {
    const char *kind; /* "decision", "run", "task", "target", "context", ... */
    const char *id;
    const char *label; /* a few words */
};

/* Nodes whose id begins with `prefix`, at most `limit` of each kind; an event that is no node of
 * its own (an outcome) has kind "event". */
bool graph_find(struct graph *graph, const char *prefix, size_t limit, struct arena *arena,
                const struct graph_node **out, size_t *out_count, struct err *err);

/* A column of a node's row, under its name in docs/graph-schema.md. */
struct graph_field {
    const char *name;
    enum { GRAPH_TEXT, GRAPH_INT, GRAPH_REAL, GRAPH_NONE } type;
    const char *text;
    int64_t integer;
    double real;
};
/* All that is stored of a node; a decision with what came of it. ERR_NOT_FOUND. */
bool graph_node_fields(struct graph *graph, const char *kind, const char *id, struct arena *arena,
                       const struct graph_field **out, size_t *out_count, struct err *err);

/* From the first step after the baseline to the decision itself, each with its outcome. A parent
 * that is not in the graph (pruned, or in a memory that was not merged) begins the path: then the
 * first item's `parent` is not "". ERR_NOT_FOUND where the decision is not there. */
bool graph_path(struct graph *graph, const char *decision_id, struct arena *arena,
                struct graph_decisions *out, struct err *err);

#endif
