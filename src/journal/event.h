/*
 * The events of a memory as C values, and their JSON bodies. One struct, one encoder and one
 * decoder a kind; a decoder takes hostile input: caps, types and ranges are checked, ERR_CORRUPT
 * names the field. Strings of a decoded event are the arena's.
 *
 * A run is opened by EVENT_RUN and ended by EVENT_RUN_END. Each decision is written before it is
 * judged (a proposal that was paid for is never lost), its outcome after. What a model was asked
 * and what it answered is written as soon as the answer is there, before anything is made of it.
 * Bodies larger than a line lie in the store and are named by id.
 */
#ifndef KOPE_JOURNAL_EVENT_H
#define KOPE_JOURNAL_EVENT_H

#include "journal/journal.h"
#include "task/task.h"
#include "task/verdict.h"

#define EVENT_RUN "run"
#define EVENT_RUN_END "run-end"
#define EVENT_TASK "task"
#define EVENT_TARGET "target"
#define EVENT_DECISION "decision"
#define EVENT_CONTEXT "context"
#define EVENT_EXCHANGE "exchange"
#define EVENT_OUTCOME "outcome"
#define EVENT_FINDING "finding"
#define EVENT_NOTE "note"
#define EVENT_PRUNE "prune"
#define EVENT_SKILL "skill"
#define EVENT_RULE "rule"

/* What of a task retrieval needs; written once for each task id. */
struct task_event {
    const char *task_id, *name, *family, *dtype, *precision, *dir;
    const char *regime;         /* of the largest case */
    const char *reference_body; /* store id of the reference's text */
    const char *features;       /* words for text search: "exp reduction rows cols float32" */
};

struct target_event {
    const char *target_id, *name, *cpu, *arch, *isa;
    int64_t cores, vector_bytes;
    double peak_gflops_f32, memory_gbs;
    const char *compilers; /* "gcc-12 12.2.0, clang-19 19.1.7" */
};

struct run_event {
    const char *task_id, *target_id, *task_dir;
    const char *proposer, *policy;
    uint64_t seed;
    int64_t budget, time_limit_ns, token_budget;
    const char *kope_version, *gate_id, *host, *kernel;
    double load_average;
    const char
        *start_decision; /* id of the remembered decision that the run starts from, "" where none */
    const char *settings; /* JSON: what else of its options a resume needs; "" */
};

struct run_end_event {
    const char *run_id,
        *reason; /* "budget", "time", "stagnation", "exhausted", "interrupted", "error: ..." */
    const char *best_decision; /* "" where the baseline stands */
    double best_log_ratio;
    int64_t evaluations, wall_ns, tokens;
};

enum { DECISION_MAX_MOVES = 16 };

struct decision_event {
    const char *run_id;
    const char *parent;   /* decision id within the run, "" is the baseline */
    int64_t sequence;     /* 1, 2, ... within the run */
    const char *step;     /* "small", "large", "remembered", "confirm" */
    const char *proposer; /* "offline", "llm", ... */
    const char *intent, *hypothesis;
    double predicted_log_ratio;
    const char *moves[DECISION_MAX_MOVES]; /* names of the moves from the parent to this */
    size_t move_count;
    const char *recipe; /* "" for free-form source */
    const char *compiler, *flags;
    const char *source_body; /* store id */
    const char *candidate_id;
    const char *context_id;   /* id of the EVENT_CONTEXT that it was made with, "" where none */
    const char *derived_from; /* decision of another run or task that it comes from, "" */
    int64_t tokens_in, tokens_out;
    const char *exchange_body; /* store id of what was said to and by a model, without keys; "" */
    const char *exchange_id;   /* id of the EVENT_EXCHANGE that it was read from; "" */
    int64_t exchange_index;    /* 0, 1, ...: of the proposals of that exchange */
    const char *uses; /* decisions and skills that the proposer says it used, as one line */
    const char
        *failure; /* the proposer's own: "reply is malformed twice": then no outcome follows; "" */
};

/* One retrieved or withheld item, with what it cost. */
struct context_item {
    const char *section; /* "hot", "warm", "cold" */
    const char *kind;    /* "task", "decision", "failure", "note", ... */
    const char *ref;     /* decision id, or a name */
    int64_t bytes, tokens;
    double score, propensity;
    bool withheld;
};
struct context_event {
    const char *run_id;
    int64_t budget_tokens, used_tokens;
    const struct context_item *items;
    size_t item_count;
    const char *prefix_hash, *text_body;
};

/* One exchange with a model: a turn of a proposal, or of a role that helps with the context. The
 * body holds {"request":...,"reply":...} without keys. */
struct exchange_event {
    const char *run_id;
    const char *role;          /* "propose", "repair", "summarise", "rerank" */
    const char *model;         /* as it was asked for */
    const char *parent;        /* propose: the decision to go on from; "" is the baseline */
    const char *step;          /* propose: "small", "large" */
    const char *context_id;    /* propose: the EVENT_CONTEXT that was sent; "" */
    int64_t sequence;          /* decisions of the run so far */
    const char *prompt_hash;   /* of all messages that were sent */
    const char *finish_reason; /* as the server said; "" */
    int64_t tokens_in;         /* cached ones included */
    int64_t tokens_cached, tokens_out, tokens_reasoning;
    int64_t tokens_lost; /* at most so many went into attempts that broke off; not in tokens_in */
    bool is_estimate;    /* bounds, where the server did not tell */
    bool is_cost_known;
    double cost_usd;
    int64_t attempts, wall_ns;
    const char *body; /* store id */
};

struct outcome_event {
    const char *run_id, *decision_id, *target_id, *task_id;
    bool is_confirmation;
    struct verdict verdict;       /* with its cases; diagnostics in the store */
    const char *diagnostics_body; /* store id, "" */
};

struct finding_event {
    const char *run_id, *decision_id;
    const char *bottleneck; /* its kind: "memory", "compute", "latency"; of a tool: "chain", ... */
    const char *text;       /* the sentence */
    double number;
    int64_t line;      /* in the source; 0 unknown */
    const char *tool;  /* that found it: "llvm-mca-14"; "" */
    const char *moves; /* that answer it, as was thought then: "a, b"; "" */
};

struct note_event {
    const char *text, *about; /* about: a run, decision, task; "" */
};

/* The history of a skill, append only: what it is, what was measured of it, what it now counts as.
 * `action` tells which of the fields hold; the others are "" and 0. */
#define SKILL_DEFINE "define"
#define SKILL_EVIDENCE "evidence"
#define SKILL_STATE "state"

struct skill_event {
    const char *skill_id; /* hash of what it is: the same skill has the same id everywhere */
    const char *action;
    /* define */
    const char *name, *intent;
    const char *applies, *needs; /* predicates, see skill/predicate.h; needs: of the machine */
    const char *change;          /* in the words of a recipe; "" where it is an example only */
    const char *breaks, *origin; /* origin: "seed", "lineage", "distilled", "imported", "person" */
    const char *learned_on;      /* id of the task; "" */
    const char *before_body, *after_body; /* store ids of an example; "" */
    const char *build;                    /* compiler and flags of the example; "" */
    /* evidence */
    const char *evidence;    /* "trial", "lineage", "ablation", "reuse", "failure" */
    const char *decision_id; /* the use that it comes from; "" */
    const char *task_id, *task_name, *family, *regime, *target_id;
    const char *verdict; /* name of the verdict's kind */
    const char *text;    /* in a sentence: of what, or why it failed */
    double log_ratio, log_low, log_high;
    /* state */
    const char *state; /* "candidate", "verified", "contradicted", "retired" */
    const char *reason;
};

/* These events are not there any more; see journal_prune. */
enum { PRUNE_MAX_IDS = 50000 };
struct prune_event {
    const char *reason; /* in words */
    const struct hash_id *ids;
    size_t id_count;
};
void event_write_prune(const struct prune_event *e, struct buf *out);
bool event_read_prune(const struct json *body, struct arena *arena, struct prune_event *out,
                      struct err *err);
/* The history of a rule: what it is, and each time that it was put to the test. `action` tells
 * which of the fields hold; the others are "" and 0. */
#define RULE_DEFINE "define"
#define RULE_CHECK "check"

/* Results of a check. */
#define RULE_HOLDS "holds"               /* its reproducer fails of its cause with this compiler */
#define RULE_STALE "stale"               /* its reproducer does not, any more */
#define RULE_UPHELD "upheld"             /* a candidate was let through, and failed of its cause */
#define RULE_MISSED "missed"             /* ... failed of another cause */
#define RULE_CONTRADICTED "contradicted" /* it fired on a candidate that was built: for ever */

struct rule_event {
    const char *rule_id; /* hash of cause and predicate: the same rule has one id everywhere */
    const char *action;
    /* define */
    const char *cause, *words;      /* key of the root cause, and in words */
    const char *predicate;          /* see rule/predicate.h */
    const char *reproducer_body;    /* store id of the smallest source that fails so */
    const char *flags;              /* that the reproducer is built with; "": the default */
    const char *dtype;              /* that it needs; "": any */
    const char *task_id, *task_dir; /* whose prelude and entry it needs; "": any */
    const char *evidence;           /* ids of decisions, separated by blanks */
    int64_t occurrences, candidates;
    /* check */
    const char *result, *compiler, *compiler_family, *compiler_version, *target_id;
    const char *decision_id, *reason; /* "" */
};

void event_write_task(const struct task_event *e, struct buf *out);
void event_write_target(const struct target_event *e, struct buf *out);
void event_write_run(const struct run_event *e, struct buf *out);
void event_write_run_end(const struct run_end_event *e, struct buf *out);
void event_write_decision(const struct decision_event *e, struct buf *out);
void event_write_context(const struct context_event *e, struct buf *out);
void event_write_exchange(const struct exchange_event *e, struct buf *out);
void event_write_outcome(const struct outcome_event *e, struct buf *out);
void event_write_finding(const struct finding_event *e, struct buf *out);
void event_write_note(const struct note_event *e, struct buf *out);
void event_write_skill(const struct skill_event *e, struct buf *out);
void event_write_rule(const struct rule_event *e, struct buf *out);

bool event_read_task(const struct json *body, struct arena *arena, struct task_event *out,
                     struct err *err);
bool event_read_target(const struct json *body, struct arena *arena, struct target_event *out,
                       struct err *err);
bool event_read_run(const struct json *body, struct arena *arena, struct run_event *out,
                    struct err *err);
bool event_read_run_end(const struct json *body, struct arena *arena, struct run_end_event *out,
                        struct err *err);
bool event_read_decision(const struct json *body, struct arena *arena, struct decision_event *out,
                         struct err *err);
bool event_read_context(const struct json *body, struct arena *arena, struct context_event *out,
                        struct err *err);
bool event_read_exchange(const struct json *body, struct arena *arena, struct exchange_event *out,
                         struct err *err);
bool event_read_outcome(const struct json *body, struct arena *arena, struct outcome_event *out,
                        struct err *err);
bool event_read_finding(const struct json *body, struct arena *arena, struct finding_event *out,
                        struct err *err);
bool event_read_note(const struct json *body, struct arena *arena, struct note_event *out,
                     struct err *err);
bool event_read_rule(const struct json *body, struct arena *arena, struct rule_event *out,
                     struct err *err);
bool event_read_skill(const struct json *body, struct arena *arena, struct skill_event *out,
                      struct err *err);

/* A verdict as JSON, as in outcome events and `kope check --json`. */
void event_write_verdict(struct json_writer *w, const struct verdict *verdict);

#endif
