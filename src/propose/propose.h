/*
 * Proposers: where candidates come from. Offline moves, a model, a coding agent, a recorded run:
 * all give the same kind of proposal, so that everything after it is shared. A proposer gets ready
 * context and evidence; it never looks into the graph. Backends are constants of `struct
 * proposer_driver` in a visible array. Threads: a proposer belongs to one thread.
 */
#ifndef KOPE_PROPOSE_PROPOSE_H
#define KOPE_PROPOSE_PROPOSE_H

#include "base/arena.h"
#include "base/err.h"
#include "llm/llm.h"
#include "moves/moves.h"
#include "task/candidate.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proposer; /* opaque */

/* What experience says of a move here: posterior of its gain in log-ratio. */
struct move_belief {
    const char *move;
    double mean, sd;
    double evidence;     /* decisions behind it */
    double failure_rate; /* share that was not timed */
};

struct propose_request {
    const struct candidate *parent; /* to go on from; the reference's plain candidate at the root */
    double parent_log_ratio;
    bool large_step;
    const char *const
        *tried; /* recipes (offline) or candidate ids that the run has already judged */
    size_t tried_count;
    const struct move_belief *beliefs; /* offline: all moves that anything is known of */
    size_t belief_count;
    const char *context;  /* llm: the assembled prompt */
    uint64_t seed;        /* of this proposal: same request and seed, same proposal (offline) */
    int64_t token_budget; /* left; 0: no limit */
};

struct proposal {
    const char *intent, *hypothesis;
    double predicted_log_ratio; /* of the result against the parent */
    const char *moves[16];
    size_t move_count;
    struct candidate candidate;
    int64_t tokens_in, tokens_out;
    const char *exchange_json; /* llm: what was said, for the journal; NULL */
    const char *failure; /* malformed twice, refused: an outcome that costs no evaluation; NULL
                            where there is a candidate */
};

/* A coding agent as proposer. Strings must outlive the proposer. */
struct agent_opts {
    const char *command;       /* "claude", "codex", ... or a command of one's own */
    const char *model;         /* NULL: the agent's own */
    const char *workspaces;    /* folder in which its folders are kept; NULL: removed after use */
    const char *const *server; /* command line of KOPE's MCP server, for the agent's configuration;
                                  NULL: none */
    int64_t timeout_ns;        /* of one proposal; 0: 10 min */
    int64_t turns;             /* of the agent, where it takes such a limit; 0: 40 */
};

/* A proposer as it is named: KIND[:ARGUMENT]. "offline", "llm", "llm:MODEL", "agent:COMMAND",
 * "replay:RUN". */
struct proposer_spec {
    const char *kind;     /* the name of a driver */
    const char *argument; /* NULL: none was given */
};
/* ERR_USAGE for a kind that does not exist, an argument that is missing, and one that is too many;
 * the hint lists what there is. `text` NULL is "offline". */
bool proposer_spec_parse(const char *text, struct arena *arena, struct proposer_spec *out,
                         struct err *err);

struct proposer_opts {
    struct proposer_spec spec;
    const struct task *task;
    const struct moves_env *moves;  /* offline; must outlive the proposer */
    const struct llm_opts *llm;     /* llm */
    const struct agent_opts *agent; /* agent */
};

bool proposer_open(const struct proposer_opts *opts, struct proposer **out, struct err *err);
void proposer_close(struct proposer **proposer);

/* `*exhausted` is set where nothing is left to propose from this parent; `*out` is then empty.
 * llm: ERR_BUDGET where the next exchange might exceed `token_budget`, and the errors of llm_chat,
 * as long as nothing was paid for; after a first turn whatever goes wrong is proposal.failure. */
bool proposer_next(struct proposer *proposer, const struct propose_request *request,
                   struct arena *arena, bool *exhausted, struct proposal *out, struct err *err);

const char *proposer_kind(const struct proposer *proposer);

/* Reply contract of the llm proposer, for the prompt: what to answer and in which form. */
const char *propose_reply_contract(void);

#endif
