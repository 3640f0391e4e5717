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

/* One exchange with a model, as it goes into the journal. */
struct propose_exchange {
    const char *role;             /* "propose", "repair", "summarise", "rerank" */
    const char *model;            /* as it was asked for */
    const char *dialect, *server; /* whose API it is and where; "" in a replay */
    const char *prompt_hash;      /* of all messages */
    const char *exchange_json;    /* {"request":...,"reply":...}, without keys */
    const struct llm_reply *reply;
    const char *problem; /* the error where there was no reply; NULL */
    int64_t start_ns;    /* os_wall_ns */
    int64_t wall_ns;
};

/* Who keeps exchanges, and who has kept some. Callbacks may be NULL. */
struct propose_record {
    /* An exchange that was paid for, before anything is made of it; on false the proposal ends with
     * that error. */
    bool (*keep)(void *context, const struct propose_exchange *exchange, struct err *err);
    /* One that failed: for traces. */
    void (*note_failure)(void *context, const struct propose_exchange *exchange);
    /* The next exchange of an earlier process in place of a new one: `*out` is its exchange_json,
     * NULL where there is none and the model is to be asked. `prompt` is the JSON of the messages
     * that would be sent. */
    bool (*recall)(void *context, const char *role, const char *prompt, struct arena *arena,
                   const char **out, struct err *err);
    void *context;
};

/* The prompt in its parts: what changes least comes first. */
struct propose_prompt {
    const char *system, *facts, *task, *experience, *now;
};

/* A skill as a file for a coding agent: NAME/SKILL.md. */
struct propose_skill {
    const char *name, *text;
};

struct propose_request {
    const struct candidate *parent; /* to go on from; the reference's plain candidate at the root */
    double parent_log_ratio;
    bool large_step;
    const char *const
        *tried; /* recipes (offline) or candidate ids that the run has already judged */
    size_t tried_count;
    const struct move_belief *beliefs; /* offline: all moves that anything is known of */
    /* The same from the plain recipe, as many; NULL: `beliefs`. */
    const struct move_belief *restart_beliefs;
    size_t belief_count;
    const char *context;                 /* agent: the assembled prompt */
    const struct propose_prompt *prompt; /* llm: the same in parts */
    const struct propose_skill *skills;  /* agent: those that apply here */
    size_t skill_count;
    const struct propose_record *record; /* llm: NULL: nothing is kept */
    uint64_t seed; /* of this proposal: same request and seed, same proposal (offline) */
    const struct llm_budget *budget; /* llm: what is left; NULL: no limit */
};

enum { PROPOSAL_MAX_USES = 16, PROPOSE_MAX_AT_ONCE = 8 };

struct proposal {
    const char *intent, *hypothesis;
    double predicted_log_ratio; /* of the result against the parent */
    const char *moves[16];
    size_t move_count;
    const char *uses[PROPOSAL_MAX_USES]; /* labels of experience and skills, as the proposer says */
    size_t use_count;
    const struct proposal *next; /* another proposal of the same exchange; NULL */
    struct candidate candidate;
    int64_t tokens_in, tokens_out; /* of the whole exchange, with the first of its proposals */
    const char *exchange_json;     /* agent: what was said, for the journal; NULL */
    const char *failure; /* malformed twice, refused: an outcome that costs no evaluation; NULL
                            where there is a candidate */
    bool is_well_formed; /* with a failure: a reply in form, whose edits or move do not apply, or
                            whose candidate was judged before */
};

/* A coding agent as proposer. Strings must outlive the proposer. */
struct agent_opts {
    const char *command;       /* "claude", "codex", ... or a command of one's own */
    const char *model;         /* NULL: the agent's own */
    const char *workspaces;    /* folder in which its folders are kept; NULL: removed after use */
    const char *const *server; /* command line of KOPE's MCP server, for the agent's configuration;
                                  NULL: none */
    bool keeps_files;   /* one folder for all proposals, so that the agent's own files stay */
    int64_t timeout_ns; /* of one proposal; 0: 10 min */
    int64_t turns;      /* of the agent, where it takes such a limit; 0: 40 */
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

/* Which model does what. */
struct propose_models {
    struct llm_opts small, large; /* propose in small and in large steps; may be the same */
    const struct llm_opts *summariser, *reranker; /* NULL: there is none */
    bool offline; /* replay: no model is opened; every exchange is recalled */
};

struct proposer_opts {
    struct proposer_spec spec;
    const struct task *task;
    const struct moves_env *moves;       /* offline; must outlive the proposer */
    const struct propose_models *models; /* llm */
    const struct agent_opts *agent;      /* agent */
};

bool proposer_open(const struct proposer_opts *opts, struct proposer **out, struct err *err);
void proposer_close(struct proposer **proposer);

/* `*exhausted` is set where nothing is left to propose from this parent; `*out` is then empty.
 * llm: ERR_BUDGET where the next exchange might exceed `token_budget`, and the errors of llm_chat,
 * as long as nothing was paid for; after a first turn whatever goes wrong is proposal.failure. */
bool proposer_next(struct proposer *proposer, const struct propose_request *request,
                   struct arena *arena, bool *exhausted, struct proposal *out, struct err *err);

/* offline: does this intent say that its moves are on the plain reference, not on the parent? */
bool propose_is_restart(const char *intent);

/* llm: shortens `text`, the earlier outcomes of a path, to at most `limit_bytes`. `*out` is NULL
 * where there is no summariser, or what it said is of no use: then nothing is put in its place. */
bool proposer_summarise(struct proposer *proposer, const struct propose_request *request,
                        const char *text, size_t limit_bytes, struct arena *arena, const char **out,
                        struct err *err);

/* llm: puts lines of evidence in the order of their worth for this task; `order` holds 0 .. count -
 * 1 and stays as it is where there is no reranker or its answer is of no use. */
bool proposer_rerank(struct proposer *proposer, const struct propose_request *request,
                     const char *const *texts, size_t count, struct arena *arena, size_t *order,
                     struct err *err);

const char *proposer_kind(const struct proposer *proposer);

/* Reply contract of the llm proposer, for the prompt: what to answer and in which form. */
const char *propose_reply_contract(void);

#endif
