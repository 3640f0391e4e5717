/*
 * What profiles found, by candidate, and what moves gained where a kind of finding was: the vector
 * by which states are like each other, and the experience behind "this bottleneck, that move".
 *
 * A finding belongs to the candidate of a decision; where its decision is "", to the plain
 * reference of its run. Kinds are names that the journal holds (roofline classes, and those of
 * profile/); "ablation" and "tools" are notes about a run and no findings of this sort. Queries are
 * bounded by indices like all of retrieval. Threads: those of the graph.
 */
#ifndef KOPE_GRAPH_FINDINGS_H
#define KOPE_GRAPH_FINDINGS_H

#include "graph/graph.h"

/* Of the candidate of a decision, or of the reference of a run; oldest first, at most
 * GRAPH_MOST_FINDINGS. */
bool graph_findings_of(struct graph *graph, const char *run_id, const char *decision_id,
                       struct arena *arena, const struct graph_finding **out, size_t *out_count,
                       struct err *err);

/* The same as a vector: the kinds, each once, sorted, with blanks between, at most
 * GRAPH_MOST_KINDS; "". */
bool graph_finding_kinds(struct graph *graph, const char *run_id, const char *decision_id,
                         struct arena *arena, const char **out, struct err *err);

/* What a move gained as a step from candidates that a kind was found for: the gain over that
 * candidate in log-ratio, times the move's share of the decision. */
struct graph_kind_gain {
    const char *move;
    double count, sum, squares;
    int64_t failures; /* steps that came to neither a time nor too much noise */
};
/* Of the latest candidates with this kind, at most GRAPH_MOST_OF_A_KIND of them; by move. */
enum { GRAPH_MOST_OF_A_KIND = 200, GRAPH_MOST_FINDINGS = 64, GRAPH_MOST_KINDS = 32 };
bool graph_gains_of_kind(struct graph *graph, const char *kind, struct arena *arena,
                         const struct graph_kind_gain **out, size_t *out_count, struct err *err);

#endif
