/*
 * A run that is driven from outside: an MCP client, an agent, a person at a prompt. The driver
 * proposes, the gate judges, and everything goes into the memory in the same shape as a run of
 * `kope optimize`.
 *
 * open (task, memory, target, gate; begins at what is remembered) -> context, evaluate, record in
 * any order -> finish (the best is confirmed on held-out shapes, the run ends). Closed without
 * finish, the run ends as "interrupted": every decision and outcome is kept, and a later open with
 * `resume` goes on without judging anything twice. Threads: a session belongs to the thread that
 * opened it; only the observer is called there too. Memory: results are the arena's that is given,
 * info lives as long as the session.
 */
#ifndef KOPE_ENGINE_SESSION_H
#define KOPE_ENGINE_SESSION_H

#include "context/context.h"
#include "engine/engine.h"
#include "engine/profile.h"
#include "profile/profile.h"
#include "task/candidate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_session; /* opaque */

struct engine_session_opts {
    /* As for engine_optimize, but policy, model and base_url are not used; `proposer` names who
     * drives ("mcp") and stands in every decision. */
    struct optimize_opts run;
    const char *resume;   /* go on with this run (id, prefix or "last"); then task and limits are
                             those of its beginning. NULL: a new run */
    const char *contract; /* role and how to answer, for the prompt; NULL: that of a model */
};

bool engine_session_open(const struct engine_session_opts *opts, const struct observer *observer,
                         struct engine_session **out, struct err *err);

/* Ends the run as "interrupted" where it was not finished. */
void engine_session_close(struct engine_session **session);

struct engine_session_info {
    const char *run_id;
    const struct task *task;
    const struct target_features *features;
    const char *baseline; /* "gcc-12 -O3 -march=native" */
    const char *memory_dir;
    const char *start_text;    /* what it started from; "" */
    const char *best_decision; /* "" while the baseline stands */
    double best_log_ratio;
    int64_t evaluations, budget;
    const char *finding; /* roofline sentence of the best so far; "" */
};
struct engine_session_info engine_session_info(const struct engine_session *session);

/* The bounded context to go on from a decision of this run: NULL is the best so far, "" the
 * baseline. `*out_id` names the journalled context, for engine_attempt. */
bool engine_session_context(struct engine_session *session, const char *parent,
                            int64_t budget_tokens, struct arena *arena, struct context *out,
                            const char **out_id, struct err *err);

/* One attempt of the driver. Texts may be NULL. */
struct engine_attempt {
    const char *parent; /* as for engine_session_context */
    const char *intent, *hypothesis;
    double predicted_log_ratio; /* of the result against the parent */
    const char *context_id;
    struct candidate candidate; /* no flags: the baseline's; compiler NULL: the default */
    const char *failure;        /* not NULL: nothing is judged; why this decision came to nothing */
};

struct engine_judged {
    const char *decision_id;
    struct verdict verdict; /* not after a `failure` */
    bool is_new_best;
};

/* Journals the decision, judges it, journals the outcome. ERR_BUDGET where the run's candidates or
 * seconds are spent; ERR_INTERRUPTED where os_interrupted() stopped the gate: the decision is then
 * journalled, and judged when the run is resumed. `*out` is set in both cases as far as it goes. */
bool engine_session_evaluate(struct engine_session *session, const struct engine_attempt *attempt,
                             struct arena *arena, struct engine_judged *out, struct err *err);

/* The finding for a decision of this run (NULL: the best so far): roofline class of its slowest
 * case. `*found` is false where it was not timed. */
bool engine_session_finding(struct engine_session *session, const char *decision,
                            struct arena *arena, bool *found, struct roofline *out,
                            struct err *err);

/* What tools find for the candidate of a decision (NULL: the best so far, "": the reference), worth
 * its roofline class: they run now, and nothing is written. What was learned of moves is not told:
 * a prompt offers it as experience, or withholds it to see what it is worth. */
bool engine_session_tools(struct engine_session *session, const char *decision,
                          const struct roofline *roofline, struct arena *arena,
                          const struct profile_line **out, size_t *out_count, struct err *err);

/* Confirms the best and ends the run; after it the session can only be closed. The result lives as
 * long as the session. */
bool engine_session_finish(struct engine_session *session, struct optimize_result *out,
                           struct err *err);

#endif
