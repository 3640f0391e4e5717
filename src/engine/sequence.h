/* Inside engine/: the moves that made a candidate. */
#ifndef KOPE_ENGINE_SEQUENCE_H
#define KOPE_ENGINE_SEQUENCE_H

#include "graph/graph.h"

/* Names with blanks between, in the order in which they were made. */
struct sequence_words {
    const char *text;
    bool is_known; /* each step says by which moves it was made */
};

/* From the plain reference, or the last step that began there again, to the decision. A step that
 * was made of another run's decision as it stood was made by what made that. ERR_NOT_FOUND where
 * the decision is not there. */
bool sequence_of_decision(struct graph *graph, const char *decision_id, struct arena *arena,
                          struct sequence_words *out, struct err *err);

/* Of one step, which says by which moves it was made, or of what decision. */
bool sequence_of_step(struct graph *graph, const char *moves, const char *derived_from,
                      struct arena *arena, struct sequence_words *out, struct err *err);

/* The names in such a text, as many as there is room for; how many. */
size_t sequence_names(const char *text, struct arena *arena, const char **out, size_t capacity);

#endif
