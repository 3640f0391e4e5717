/* Inside engine/: the state of one run, shared by its parts. */
#ifndef KOPE_ENGINE_INTERNAL_H
#define KOPE_ENGINE_INTERNAL_H

#include "engine/engine.h"

#include "base/buf.h"
#include "context/context.h"
#include "context/transfer.h"
#include "engine/profile.h"
#include "engine/rulebook.h"
#include "gate/gate.h"
#include "journal/event.h"
#include "journal/journal.h"
#include "moves/moves.h"
#include "profile/profile.h"
#include "propose/propose.h"
#include "search/search.h"
#include "trace/trace.h"
#include "json/json.h"

#include <string.h>

/* memory.c */

/* Appends an event and takes it into the graph; empties `body`. */
bool memory_append(struct memory *memory, const char *kind, struct buf *body,
                   struct hash_id *out_id, struct err *err);
/* Bodies in the store; the empty text has the empty id. */
bool memory_put_text(struct memory *memory, const char *text, struct arena *arena,
                     const char **out_id, struct err *err);
bool memory_get_text(struct memory *memory, const char *id, struct arena *arena, const char **out,
                     struct err *err);

/* A node of the search with what it stands for. Node 0 is the plain reference. */
struct run_node {
    const char *decision_id; /* "" for the root */
    struct candidate candidate;
    double log_ratio, low, high;
    const char *step;  /* as in its decision: "small", "large", else it was given */
    const char *moves; /* that made it of its parent, separated by blanks; "" */
    bool is_restart;   /* of the plain reference, not of its parent */
    bool is_timed, is_win, confirm_failed;
    const char *code_id; /* its machine code, where that is known to be right or wrong; else "" */
    bool is_whole;       /* its verdict: of every case, not that a race was lost */
    bool is_repeat;      /* of a node before it: not extended, and no winner */
    const char *summary; /* its verdict in a line */
    int64_t evaluation;  /* it was the n-th to be judged; 0: not judged */
};

/* known.c: verdicts of other memories on candidates of this task. */
struct known {
    const struct graph_recalled **items; /* in the arena of the run */
    size_t count, capacity;
};

/* What models have cost so far. */
struct spending {
    int64_t tokens;
    bool is_cost_known; /* of everything */
    double cost_usd;
};

/* exchange.c: the exchange at hand, and those of an earlier process that were paid for but not yet
 * made use of. */
struct exchanges {
    const char *context_id, *parent, *step; /* of the proposal that is being asked for */
    const char *last_id;                    /* the last one of this proposal; "" */
    const struct graph_exchange *recorded;  /* to be recalled in order */
    size_t recorded_count, recorded_next;
    const struct graph_exchange *earlier; /* all of an earlier process */
    size_t earlier_count;
    bool is_closed; /* decisions were made of them: nothing may be asked any more */
};

struct path_summary {
    const char *key, *text; /* text NULL: there is none */
};

/* A decision that is journalled and waits to be judged. */
struct queued {
    int parent;
    const char *decision_id;
    struct decision_event decision;
    struct candidate candidate;
    bool is_failure, is_well_formed;
};
struct queue {
    struct queued *items;
    size_t count, capacity, next;
};

struct run {
    struct optimize_opts opts;
    const struct observer *observer;
    struct arena *arena; /* lives as long as the run's result */

    const struct task *task;
    struct target *target;
    const struct target_features *features;
    struct memory memory;
    struct gate *gate;      /* NULL until something is to be judged that no record knows */
    struct hash_id gate_id; /* its id, also before it is open */
    struct known known;
    struct moves_env moves;
    const struct move *catalogue;
    size_t catalogue_count;
    bool is_driven;       /* candidates come from outside (session.c): `proposer` is NULL */
    const char *contract; /* for the prompt; NULL: that of a model */
    struct proposer *proposer;
    struct search *search;
    struct rivals *rivals;     /* rivals.c; NULL until something is believed */
    struct search_prior prior; /* of the search; chosen at the beginning of a run, then recorded */
    bool has_prior;
    struct propose_models models; /* llm */
    struct context_epoch epoch;
    struct rulebook rulebook;
    struct replay *replay; /* replay.c; NULL: this is no replay */
    struct trace *trace;   /* NULL: none is wanted */
    struct trace_span *run_span, *step_span;
    struct spending spent;
    struct exchanges exchanges;
    struct queue queue;
    struct path_summary *summaries; /* by the hash of what they shorten */
    size_t summary_count, summary_capacity;

    const char *run_id;
    struct run_node *nodes;
    size_t node_count, node_capacity;
    const char **tried; /* recipes and candidate ids that were judged */
    size_t tried_count, tried_capacity;

    int64_t started_ns, earlier_ns; /* wall clock of this process; spent before a resume */
    bool notes_are_late; /* the compiler was not done with its records in time: not asked again */
    int64_t opening_ns;  /* from the start until the search could begin */
    int64_t sequence, evaluations;
    int64_t failed_in_turn;    /* proposals of this process since the last that was judged */
    int64_t refused_in_turn;   /* by rules */
    int64_t malformed_in_turn; /* the last of them, none of which was even well formed */
    int64_t by_verdict[VERDICT_COUNT];
    int64_t builds_saved; /* candidates that a rule refused; not among the evaluations */
    int64_t repeats;      /* that came to machine code of this run; not among them either */
    int64_t repeats_in_turn;
    int best;               /* node, 0 while the baseline stands */
    const char *finding;    /* roofline sentence of the best so far */
    const char *bottleneck; /* its class */
    bool started_from_memory;
    const char *start_text;
    const char *start_decision;
    const char *no_dispatch; /* why no candidate chooses by a size; NULL: not asked, or one does */
};

/* setup.c: opens everything that a run needs; run_close frees it, also after a failed open. */
bool run_open(struct run *run, struct err *err);
/* Task, memory, target and moves only: enough for a prompt. */
bool run_open_for_context(struct run *run, struct err *err);
void run_close(struct run *run);
void run_stage(struct run *run, const char *text);
void run_notify(struct run *run, enum progress_kind kind, const struct progress *more);
/* "gcc-12 -O3 -march=native". */
char *run_baseline_text(const struct target *target, struct arena *arena);
/* What moves need to know of a target. */
struct moves_env run_moves_env(const struct target *target, const struct task *task,
                               struct arena *arena);
/* What is left of the time for judging; INT64_MAX where it is not limited. */
int64_t run_left_ns(const struct run *run);
/* What is to be left of the time for confirming the best so far; 0 where nothing has won. */
int64_t run_reserve_ns(const struct run *run);
/* A text of the reference for gate_opts.twin, made by the run's moves; NULL where none is known. */
const char *run_twin(const struct run *run);
/* Hardware and toolchain in words, for prompts and reports. */
char *run_facts_text(const struct target_features *features, struct arena *arena);
/* Who proposes, as it stands in the journal: "offline", "llm", "mcp". */
const char *run_proposer_kind(const struct run *run);
/* Writes task and target events where the memory lacks them. */
bool run_record_subject(struct run *run, struct err *err);

/* known.c */

/* What the memories of `opts.records` and the run's own know of this task under its gate. */
bool known_load(struct run *run, struct err *err);
/* Does a verdict with so many cases say all that one can? One that lost a race does not. */
bool known_is_full(const struct task *task, enum verdict_kind kind, size_t case_count,
                   bool is_confirmation);
/* The verdict on this very candidate; false where there is none. */
bool known_find(const struct run *run, const struct candidate *candidate, bool is_confirmation,
                struct arena *arena, struct verdict *out);
/* check.c: a source from a file; flags NULL are the baseline's. */
bool run_read_candidate(const char *path, const char *compiler_name, const char *flag_text,
                        const struct target *target, struct arena *arena, struct candidate *out,
                        struct err *err);

/* Opens the gate, if it is not open; machine code that is known is not measured again. */
bool run_need_gate(struct run *run, struct err *err);

/* step.c: one candidate from proposal to outcome. */

/* What is judged next, with where it comes from. */
struct step_input {
    int parent;
    const char *step;                /* "small", "large", "remembered" */
    const char *derived_from;        /* "" */
    const char *context_id;          /* "" */
    const char *exchange_id;         /* ""; NULL is "" */
    int64_t first_index;             /* proposals of the exchange that are decisions already */
    const char *const *uses;         /* of each proposal, as one line; NULL: none */
    const struct proposal *proposal; /* with those that follow it */
};
/* Journals the decisions and puts them into the queue. */
bool step_decide(struct run *run, const struct step_input *input, struct err *err);
/* Judges what waits longest, journals the outcome, tells the search; `*judged` is false where
 * nothing waits. */
bool step_judge_queued(struct run *run, bool *judged, struct err *err);
/* Both, until nothing waits. */
bool step_judge(struct run *run, const struct step_input *input, struct err *err);
/* The same for a decision that is journalled already (resume). */
bool step_judge_decision(struct run *run, int parent, const char *decision_id,
                         const struct decision_event *decision, const struct candidate *candidate,
                         struct err *err);
/* Journals what came of a decision: its judging, or the confirmation of a winner. */
bool step_record_outcome(struct run *run, const char *decision_id, bool is_confirmation,
                         const struct verdict *verdict, struct err *err);
/* Counts an outcome among the evaluations, or among what took none. */
void run_count_outcome(struct run *run, enum verdict_kind kind, const char *mechanism);
/* repeat.c: candidates that come to machine code that this run has judged. */

/* Does the verdict say something about the code that stands? Then its id, else "". */
const char *repeat_code(enum verdict_kind kind, const char *code_id);
/* Marks the verdict where the run has judged its code, may draw again for it, and learned nothing
 * of the code from this verdict: it is from the record, or as much was known before, or one more
 * race was lost. */
void repeat_mark(const struct run *run, struct arena *arena, struct verdict *verdict);
/* A node for it. */
void repeat_note(struct run_node *node, enum verdict_kind kind, const char *mechanism,
                 const char *code_id);

/* Asks the search for a node and the proposer for a candidate; `*ended` with the reason where
 * nothing is left. */
bool step_search(struct run *run, const char **end_reason, struct err *err);
/* The case of a verdict that took longest, in the verdict and in the task; false where there is
 * none. */
bool run_slowest_case(const struct task *task, const struct case_result *cases, size_t count,
                      const struct case_result **out, const struct task_case **out_case);
/* Adds a node for an outcome and tells the search. */
int step_adopt(struct run *run, int parent, const struct run_node *node);
/* Is there a node for it? By its recipe; of a candidate that has none, by its id. */
bool step_was_tried(const struct run *run, const char *what);

/* What to ask for from `node`, and the prompt for it. `*context_id` is "" where none was built. */
bool step_fill_request(struct run *run, int node, bool large_step, const char *recorded_context,
                       struct arena *arena, struct propose_request *request,
                       const char **context_id, struct err *err);

/* What each of the proposals says it used, by the ids behind its labels. */
const char *const *step_uses(const struct run *run, const struct proposal *first);

/* models.c: which model does what, from options, configuration or the record of a run. */
bool models_choose(struct run *run, const struct proposer_spec *spec, struct err *err);
char *models_settings(const struct run *run, struct arena *arena);
/* The settings of a run as it noted them; `*out` NULL where it is of a version that kept none. */
bool models_parse_settings(const char *settings, struct arena *arena, const struct json **out,
                           struct err *err);
/* What its settings say that the gains of a run are over: "gcc-12 -O3 -march=native"; NULL where it
 * is of a version that did not note it. */
bool models_read_baseline(const struct graph_run *run, struct arena *arena, const char **out,
                          struct err *err);
/* Into `run->opts` and `run->models`. */
bool models_read_settings(struct run *run, const char *settings, struct err *err);

/* exchange.c */

/* For propose_request.record. */
struct propose_record exchange_record(struct run *run);
/* Goes on with a proposal whose exchanges are journalled, but not all of its decisions. */
bool exchange_take_up(struct run *run, const struct graph_decisions *decisions, struct err *err);
/* Tokens and money that are left. */
struct llm_budget exchange_budget(const struct run *run);
void spend(struct spending *spent, int64_t tokens, bool is_cost_known, double cost_usd);

/* spans.c: what a trace tells of a run. */
bool spans_open(struct run *run, struct err *err);
void spans_close(struct run *run, const char *end_reason, const struct optimize_result *result);
void spans_exchange(struct run *run, const struct propose_exchange *exchange);
void spans_step_begin(struct run *run);
void spans_step_end(struct run *run, const char *failure);
void spans_judged(struct run *run, const char *decision_id, const struct decision_event *decision,
                  const struct verdict *verdict, int64_t start_ns);

/* remember.c */

/* Judges what memory knows of this task, else of related ones, before the search begins. */
bool remember_start(struct run *run, struct err *err);
/* What is remembered of a decision: its recipe, or its source. False where it cannot be had here (a
 * compiler that is missing): then it is not used. */
bool remembered_candidate(struct run *run, const struct graph_decision *known,
                          struct candidate *out);
/* The best of this task on each other machine that has one, the nearest first. */
bool remember_elsewhere(struct run *run, struct arena *arena, struct graph_decisions *out,
                        struct err *err);
/* What experience is worth here: the posterior of each move's gain, and how far others' carry. */
bool remember_transfer(struct graph *graph, const struct task *task, const char *target_id,
                       const struct move *catalogue, size_t count, struct arena *arena,
                       struct transfer *out, struct err *err);
/* The same as the proposer's beliefs. */
bool remember_beliefs(struct run *run, struct arena *arena, struct move_belief **out,
                      size_t *out_count, struct err *err);

/* prior.c: what the search expects of its steps, unless the record of the run says it. */
bool prior_choose(struct run *run, struct err *err);
/* In the settings of a run; all 0 where they have none. */
void prior_write(const struct search_prior *prior, struct json_writer *w);
struct search_prior prior_read(const struct json *settings);

/* findings.c */

/* Is this kind of a finding a roofline class? */
bool run_is_roofline(const char *kind);
/* What is to be profiled, as far as it was timed. */
struct profiled {
    const struct candidate *candidate;
    struct roofline roofline;
    const char *slowest_case; /* NULL: nobody knows */
    int64_t call_ns;          /* in that; 0 */
};
/* Runs the tools that the class is worth on a candidate, and journals what they found; in a replay
 * it takes what the record holds. */
bool run_note_profile(struct run *run, const char *decision_id, const struct profiled *profiled,
                      struct arena *arena, struct err *err);
/* The tools of the plan, with samples of the candidate where it has some and the gate is open. */
bool run_profile_tools(struct run *run, const struct profiled *profiled,
                       const struct profile_plan *plan, int64_t notes_limit_ns, struct arena *arena,
                       struct profile *out, struct err *err);
/* The same of the plain reference, at the beginning of a run. */
bool run_note_reference(struct run *run, struct err *err);
/* What tools found for the candidate of a decision ("": the reference of that run), as lines for a
 * prompt, and the kinds of all that was found there. */
bool run_findings(struct run *run, const char *run_id, const char *decision_id, struct arena *arena,
                  const char **text, const char **kinds, struct err *err);

/* answers.c */

/* Moves of the catalogue that answer a kind, by the table and by what was learned, the likeliest
 * first and one of a family: "a, b"; and what was learned of them: "a 1.84x in 5 steps", "". */
bool answers_to(struct run *run, enum finding_kind kind, struct arena *arena, const char **moves,
                const char **learned, struct err *err);
/* The findings of a profile, `profile->count` of them, each with its answers. */
bool answers_to_profile(struct run *run, const struct profile *profile, struct arena *arena,
                        struct profile_line **out, struct err *err);
/* What was found for a decision's candidate ("": the reference) as a change of beliefs, which are
 * one for each move of the catalogue, in its order. */
bool answers_believe(struct run *run, const char *decision_id, struct arena *arena,
                     struct move_belief *beliefs, size_t count, struct err *err);
/* What is learned of these kinds, as offers for a prompt. */
bool answers_offer(struct run *run, const char *kinds, struct arena *arena,
                   struct context_request *request, struct err *err);

/* skill_use.c */

/* Verified skills that apply here, for a prompt. */
bool skill_offers(struct run *run, struct arena *arena, const struct context_offer **out,
                  size_t *out_count, struct err *err);
/* The same as files for a coding agent. */
bool skill_files(struct run *run, struct arena *arena, const struct propose_skill **out,
                 size_t *out_count, struct err *err);
/* Judges the verified skills that apply here on top of each other, as one candidate. */
bool skill_start(struct run *run, struct err *err);
/* After a run: what its decisions say of the skills that they used, as evidence. */
bool skill_note_reuses(struct run *run, struct err *err);

/* finish.c */

/* The main loop from wherever the run stands, then confirmation and the end. */
bool run_loop(struct run *run, struct optimize_result *out, struct err *err);

/* Why the run has to end now ("budget", "interrupted", ...), or NULL. */
const char *run_limit_reached(const struct run *run);
/* Confirms the best, writes the end, fills the result. */
bool run_end(struct run *run, const char *reason, struct optimize_result *out, struct err *err);
bool run_record_end(struct run *run, const char *reason, const struct optimize_result *result,
                    struct err *err);

/* How well gains were foretold by the decisions of a run. */
struct stats_calibration run_calibration(const struct graph_decision *all, size_t count,
                                         struct arena *arena);

/* optimize.c: writes the run's first event. */
bool run_record_begin(struct run *run, struct err *err);

/* resume.c */

/* Finds a run that may go on, and takes task, limits and seed from its record into `run->opts`. */
bool resume_find(struct run *run, const char *which, struct graph_run *record, struct err *err);
/* After run_open: takes in what was decided, and judges what was left. */
bool resume_adopt(struct run *run, const struct graph_run *record, struct err *err);

/* prompt.c: the context of one step for a model, journalled. `recorded` is the id of the context
 * where that was done before; NULL: it was not. */
bool prompt_build(struct run *run, int node, const char *recorded, struct arena *arena,
                  struct context *out, const char **context_id, struct err *err);
bool prompt_request(const struct task *task, const struct target_features *features,
                    const struct move *catalogue, size_t catalogue_count, struct arena *arena,
                    struct context_request *out);

#endif
