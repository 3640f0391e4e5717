/*
 * The engine: wires one optimization run, and the only place where the modules meet.
 *
 * task + target + memory -> search picks a node -> context is assembled -> the proposer proposes ->
 * the decision is journalled -> the gate judges -> the outcome is journalled and taken into the
 * graph -> ... -> the winner is confirmed on held-out shapes -> the run ends. Interrupted at any
 * point, all that was acknowledged is kept, and engine_resume goes on without paying twice.
 * Progress goes to an observer, which a front end draws; the engine itself writes nothing. Threads:
 * one run, one thread.
 */
#ifndef KOPE_ENGINE_ENGINE_H
#define KOPE_ENGINE_ENGINE_H

#include "base/arena.h"
#include "base/err.h"
#include "config/config.h"
#include "graph/graph.h"
#include "llm/llm.h"
#include "report/report.h"
#include "stats/stats.h"
#include "target/target.h"
#include "task/task.h"
#include "task/verdict.h"

#include <stdbool.h>
#include <stdint.h>

/* A memory that is open: journal and graph. */
struct memory {
    const char *dir;
    struct journal *journal;
    struct graph *graph;
    struct journal_recovery recovery;
    struct replay *replay; /* a replay: nothing is written, see engine/replay.h; else NULL */
    const char *last_text; /* of a replay: what was put last */
};
/* `dir` NULL: $KOPE_MEMORY, else $XDG_DATA_HOME/kope, else ~/.local/share/kope. Catches the graph
 * up with the journal. */
bool memory_open(const char *dir, bool writable, struct arena *arena, struct memory *out,
                 struct err *err);
void memory_close(struct memory *memory);
char *memory_default_dir(struct arena *arena);

enum progress_kind {
    PROGRESS_STAGE,      /* `text`: what is being done ("measuring the machine", "null battery") */
    PROGRESS_STARTED,    /* the run is open: run_id */
    PROGRESS_REMEMBERED, /* it starts from known experience: `text` */
    PROGRESS_PROPOSED,   /* decision written */
    PROGRESS_JUDGED,     /* outcome written */
    PROGRESS_CONFIRMED,  /* the confirmation of a winner */
    PROGRESS_ENDED
};

struct progress {
    enum progress_kind kind;
    const char *run_id, *text;
    int64_t evaluations, budget;
    int64_t elapsed_ns, time_limit_ns;
    int64_t opening_ns; /* of `elapsed_ns`, before anything was judged */
    int64_t reserve_ns; /* that confirming the best so far is likely to take; 0: nothing has won */
    int64_t tree_size;
    double best_log_ratio; /* 0: the baseline stands */
    int64_t by_verdict[VERDICT_COUNT];
    int64_t builds_saved; /* by rules */
    int64_t repeats;      /* candidates that came to machine code judged before in the run */
    int64_t tokens, token_budget;
    const struct decision_event *decision; /* PROPOSED, JUDGED */
    const char *decision_id;
    const struct verdict *verdict; /* JUDGED, CONFIRMED */
    bool is_new_best;
};

struct observer {
    void (*on_progress)(void *context, const struct progress *progress);
    void *context;
};

struct optimize_opts {
    const char *task_path;
    const char *memory_dir; /* NULL: the default */
    const char *target;     /* "cpu" */
    const char *policy;     /* "mcts" */
    const char *proposer;   /* "offline", "llm[:MODEL]", "agent:COMMAND", "replay:RUN" */
    const char *model;      /* llm: where the proposer names none */
    const char *base_url;
    const struct config *config; /* models by name and by role; NULL: none */
    int64_t proposals;           /* llm: asked for in one exchange; 1 */
    int64_t budget;              /* candidates; 40 */
    int64_t time_limit_ns;  /* of the whole run; room for confirming a winner is left, as far as
                               it can be foretold; 0: none */
    int64_t token_budget;   /* 0: none */
    double cost_budget_usd; /* 0: none */
    const char *trace;      /* file or http URL for spans; NULL: none */
    bool trace_content;     /* prompts and replies in the spans too */
    bool passive;           /* the run's own growing history in place of active context */
    int64_t agent_time_ns;  /* agent: of one proposal; 0: its default */
    const char *workspaces; /* agent: folder that its folders are kept in; NULL: not kept */
    int64_t context_tokens; /* 16000 */
    uint64_t seed;
    bool has_seed;
    bool use_findings;       /* offline: what profiles find changes what is believed of moves */
    bool fresh;              /* do not start from what is remembered of this task */
    const char *output_path; /* where the best source goes; NULL: not written */
    /* Memories, ended by NULL, whose verdicts on the same candidate or the same machine code are
     * taken in place of new ones; nothing else of them is used. What is measured for them is
     * measured in full, without a race against the best so far. NULL: none. */
    const char *const *records;
    int64_t case_ns, confirm_ns; /* most time for timing a case; 0: the gate's, the engine's */
    double half_width;           /* of an interval, in log-ratio, that is enough; 0: the gate's */
};

struct optimize_result {
    const char *run_id;
    const char *end_reason;
    bool has_win;               /* a confirmed win */
    struct graph_decision best; /* where has_win */
    struct verdict confirmation;
    bool has_confirmation;
    const char *best_source;
    const char *task_name, *baseline; /* "gcc-12 -O3 -march=native" */
    const char *prelude;              /* what stands before it, to build it alone */
    int64_t evaluations, evaluations_to_best;
    int64_t wall_ns;
    int64_t by_verdict[VERDICT_COUNT];
    int64_t builds_saved;  /* candidates that rules refused before a build; no evaluations */
    int64_t repeats;       /* that came to machine code judged before in the run; no evaluations */
    int64_t rules_learned; /* from this memory's failures, when the run ended */
    const char *rules_problem; /* why none could be; NULL */
    int64_t tokens;            /* of all exchanges, 0 without a model */
    bool is_cost_known;
    double cost_usd;
    struct stats_calibration calibration; /* of what was foretold for what was timed */
    bool is_replay;
    const char *trace_problem;                    /* why spans are missing; NULL */
    int64_t replayed_prompts, replayed_decisions; /* that were equal */
    bool started_from_memory;
    const char *start_text;
    const char *dispatch; /* what choosing by a size came to, or why it was not done; NULL: the
                             question did not come up */
};

bool engine_optimize(const struct optimize_opts *opts, const struct observer *observer,
                     struct arena *arena, struct optimize_result *out, struct err *err);

/* Goes on with a run that did not end. `run` is an id, a prefix or "last". What it was asked for
 * stands in its record; of `opts` only what does not is taken: memory_dir, records, case_ns,
 * confirm_ns and half_width. */
bool engine_resume(const char *run, const struct optimize_opts *opts,
                   const struct observer *observer, struct arena *arena,
                   struct optimize_result *out, struct err *err);

/* The gate alone. `source_path` "-" is not allowed; compiler NULL is the default. */
struct check_opts {
    const char *task_path, *source_path, *target, *compiler, *flags;
    bool confirm;    /* also held-out shapes, tight intervals */
    bool check_only; /* no timing */
};
bool engine_check(const struct check_opts *opts, const struct observer *observer,
                  struct arena *arena, const struct task **out_task, struct verdict *out,
                  struct err *err);

/* B against A, both through the gate. */
struct compare_opts {
    const char *task_path, *a_path, *b_path, *target;
    const char *compiler, *flags;      /* of both; NULL: the baseline's */
    const char *b_compiler, *b_flags;  /* of B alone; NULL: those of both */
    const char *only_case;             /* NULL: all that are not held out */
    int64_t time_budget_ns, max_pairs; /* of a case; 0: the default */
    bool confirm;                      /* clean builds, held-out cases, tight intervals */
};

struct compare_result {
    const struct task *task;
    struct verdict checks[2]; /* of A and B: `timed` without cases where right */
    bool is_timed;            /* both were right: `timed` is filled */
    struct verdict timed;     /* log_ratio: A's time / B's; baseline_ns is A's */
    bool about_a;             /* where `timed` is not of kind timed */
};
bool engine_compare(const struct compare_opts *opts, const struct observer *observer,
                    struct arena *arena, struct compare_result *out, struct err *err);

/* The report of a run as HTML. */
bool engine_report(const char *run, const char *memory_dir, struct buf *out, struct err *err);

/* What the front end of the moves understands of a task's reference, and what moves would do with
 * it on a target (NULL: "cpu"): for people, as C that was printed from the nest, as JSON.
 * ERR_BAD_INPUT where nothing can be made of it. */
struct explanation {
    const char *text, *source, *json;
};
bool engine_explain(const char *task_path, const char *target_name, struct arena *arena,
                    struct explanation *out, struct err *err);

/* What the next prompt for a task would be. */
struct context;
bool engine_context(const char *task_path, const char *memory_dir, const char *target,
                    int64_t budget_tokens, struct arena *arena, struct context *out,
                    struct err *err);

#endif
