/*
 * Inside engine/: where one size does not win everywhere, a candidate that chooses between two of
 * the run by a size (decision 53). It is decided, judged and recorded like any other, with the step
 * "dispatch", the move "dispatch", and the two that it is made of in `uses`.
 */
#ifndef KOPE_ENGINE_DISPATCH_H
#define KOPE_ENGINE_DISPATCH_H

#include "engine/internal.h"

#define DISPATCH_STEP "dispatch"

/* Makes and judges it, where it is due and promises a clear gain, once in a run. It is due when the
 * budget or the time has room for one more candidate only, or with `is_over`: the search has ended
 * by itself; in a replay, where the record has it. */
bool dispatch_try(struct run *run, bool is_over, bool *made, struct err *err);

/* At the end of a run: journals as a finding what it gained and what the choice costs. */
bool dispatch_note(struct run *run, struct err *err);

/* That sentence; where there was none, why not; NULL where the question did not come up. */
bool dispatch_text(struct run *run, const char **out, struct err *err);

/* Is this candidate one that chooses? By the moves that made it. No moves go on from it. */
bool dispatch_is_one(const char *moves);

/* Judges the two that a remembered one was made of: moves go on from them. */
bool dispatch_begin_with_parts(struct run *run, const struct graph_decision *known,
                               bool (*begin)(struct run *run, const struct graph_decision *part,
                                             struct err *err),
                               struct err *err);

#endif
