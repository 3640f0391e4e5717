/*
 * Inside engine/: a recorded run, run again without a model and without a gate. Everything that a
 * run would write is compared with what the record holds, and takes its id from there; verdicts and
 * answers come from the record. The graph is built anew, event by event, so that at each step it
 * knows what it knew then. Nothing is written to the memory.
 */
#ifndef KOPE_ENGINE_REPLAY_H
#define KOPE_ENGINE_REPLAY_H

#include "engine/internal.h"

struct replay; /* opaque; in the run's arena */

/* Opens the memory, finds the run, takes its options into `run->opts`. */
bool replay_open(struct run *run, const char *which, struct err *err);
void replay_close(struct replay *replay);

/* After the task and the machine are known: are they those of the record? */
bool replay_check_subject(const struct run *run, struct err *err);

/* In place of memory_append. ERR_CORRUPT with the first difference. */
bool replay_append(struct replay *replay, struct memory *memory, const char *kind,
                   const struct buf *body, struct hash_id *out_id, struct err *err);

/* In place of the gate; `*found` is false where the record ends before. */
bool replay_verdict(struct run *run, const char *decision_id, bool is_confirmation,
                    struct arena *arena, bool *found, struct verdict *out, struct err *err);

/* In place of a profile: the findings of tools that the record holds for a decision. */
bool replay_findings(struct run *run, const char *decision_id, struct err *err);

/* For propose_request.record: the next exchange, if `prompt` is the recorded one. */
bool replay_recall(struct run *run, const char *role, const char *prompt, struct arena *arena,
                   const char **out, struct err *err);

/* Why the run has to end here, in memory of the replay; NULL while the record goes on. */
const char *replay_end_reason(const struct replay *replay);

/* Is the decision that comes next of that step? */
bool replay_next_step_is(struct replay *replay, const char *step);

void replay_count(const struct replay *replay, int64_t *prompts, int64_t *decisions);
const char *replay_run_id(const struct replay *replay);

#endif
