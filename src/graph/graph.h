/*
 * The experience graph: decisions, what came of them, and how they hang together; an index over the
 * journal.
 *
 * Nodes: tasks, targets, runs, decisions. Edges: `next` (parent to child), `alternative` (children
 * of one parent), `derived-from` (remembered or transferred), `used` (context items), and the edge
 * to an outcome, which is a distribution: log-ratio, interval, pairs, noise, environment.
 * Everything is derived from events by graph_apply, in any order, each event once; so
 * `graph_rebuild` gives the same graph (graph_digest) whatever order and how often events came.
 * Storage: SQLite in one file (the only module that includes sqlite3.h); the
 * schema stands in schema.c and in docs/graph-schema.md. Several processes may have it open (WAL).
 * Threads: a graph belongs to one thread. Memory: results are the arena's.
 */
#ifndef KOPE_GRAPH_GRAPH_H
#define KOPE_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/err.h"
#include "journal/event.h"
#include "journal/journal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graph; /* opaque */

/* `path` is MEMORY/graph.sqlite; ":memory:" for tests. Creates or migrates the schema. */
bool graph_open(const char *path, struct graph **out, struct err *err);
void graph_close(struct graph **graph);

/* Takes in one event; one that is already in changes nothing; unknown kinds are counted and
 * ignored. So is an event that its decoder refuses: `problem` of its row in table event says why.
 * An event that was pruned is not taken in; where a prune event names one that is in already,
 * ERR_CORRUPT: the graph has to be built again (graph_catch_up does). */
bool graph_apply(struct graph *graph, const struct event *event, struct err *err);

/* Takes in all events of the journal that the graph lacks (cheap where none is missing: a stat for
 * each segment); where a segment is gone or shorter than it was, all is built again.
 * `graph_rebuild` empties the graph first; others see the old one until it is done. `out_applied`
 * may be NULL. */
bool graph_catch_up(struct graph *graph, struct journal *journal, int64_t *out_applied,
                    struct err *err);
bool graph_rebuild(struct graph *graph, struct journal *journal, int64_t *out_applied,
                   struct err *err);

/* One state of the memory for all that is asked until the end, whatever others write meanwhile; and
 * the file is locked and looked at once instead of for each question. Not within another one;
 * nothing is taken in meanwhile. */
bool graph_snapshot_begin(struct graph *graph, struct err *err);
void graph_snapshot_end(struct graph *graph);

/* Hash over the whole content in a canonical order: equal graphs, equal digests. */
bool graph_digest(struct graph *graph, struct hash_id *out, struct err *err);

struct graph_stats {
    int64_t events, tasks, targets, runs, decisions, outcomes, findings, contexts;
    int64_t by_verdict[VERDICT_COUNT];
    int64_t wins, confirmed;
    double best_log_ratio_mean; /* over tasks with a confirmed win: mean of the best log-ratio */
};
bool graph_get_stats(struct graph *graph, struct graph_stats *out, struct err *err);

/* A decision with what came of it. */
struct graph_decision {
    const char *id, *run_id, *parent, *task_id, *task_name, *family, *regime, *target_id;
    int64_t sequence;
    const char *step, *proposer, *intent, *hypothesis, *moves, *recipe, *compiler,
        *flags; /* moves: names separated by spaces */
    const char *source_body, *candidate_id, *code_id, *derived_from, *failure;
    double predicted_log_ratio;
    bool has_outcome; /* judged */
    enum verdict_kind kind;
    const char *mechanism, *evidence, *diagnostics_body;
    double log_ratio, log_low, log_high;
    bool has_gain;
    double gain; /* log_ratio less the parent's; only where both are timed */
    bool is_win, is_confirmed, confirm_failed;
    double confirmed_log_ratio, confirmed_low, confirmed_high,
        held_out_log_ratio; /* of the confirmation */
    int64_t wall_ms;
    int64_t tokens_in, tokens_out;
    const char *context_id, *exchange_id, *uses; /* "" */
    int64_t exchange_index;
};

struct graph_decisions {
    const struct graph_decision *items;
    size_t count;
};

/* The best known decision of a task on a target: a win that no confirmation has refuted, confirmed
 * first, then by pessimistic end. `*found` is false where the baseline stands. */
bool graph_best(struct graph *graph, const char *task_id, const char *target_id,
                struct arena *arena, bool *found, struct graph_decision *out, struct err *err);

/* Best decisions of *other* tasks that have a recipe: same family first, then similar features
 * (BM25 over the task's words), then others; one for each task, on this target first; at most
 * `limit`. */
bool graph_related(struct graph *graph, const char *task_id, const char *target_id, size_t limit,
                   struct arena *arena, struct graph_decisions *out, struct err *err);

/* All decisions of a run in order, with outcomes. */
bool graph_run_decisions(struct graph *graph, const char *run_id, struct arena *arena,
                         struct graph_decisions *out, struct err *err);

/* What a move gained on a task and target, over all timed decisions with it: a gain is shared
 * equally by the moves of its decision. By move, family, regime, task and target. The cells are the
 * graph's: valid until it is closed, or asked again after a change. */
struct graph_move_cell {
    const char *move, *task_id, *task_name, *family, *regime, *target_id;
    double count, sum, sum_squares; /* of gains */
    double failures; /* decisions with it that were not timed (too-noisy not counted) */
};
bool graph_move_cells(struct graph *graph, const struct graph_move_cell **out, size_t *out_count,
                      struct err *err);

/* The machines that the memory knows, by id. */
struct graph_target {
    const char *id, *name, *cpu, *arch, *isa; /* name: "cpu", as --target takes it */
    int64_t cores, vector_bytes;
    double peak_gflops_f32, memory_gbs;
};
bool graph_targets(struct graph *graph, struct arena *arena, const struct graph_target **out,
                   size_t *out_count, struct err *err);

/* An earlier measurement of the same machine code for the same task under the same gate (verdict
 * with its cases, `from_record` set); `*found` tells. Only timed and wrong: other verdicts may be
 * the host's doing. */
bool graph_recall_code(struct graph *graph, const char *code_id, const char *task_id,
                       const char *gate_id, struct arena *arena, bool *found, struct verdict *out,
                       struct err *err);

/* What came of a candidate: its verdict in the search, or in a confirmation. */
struct graph_recalled {
    const char *candidate_id;
    bool is_confirmation;
    struct verdict verdict; /* with its cases, `from_record` set */
};

/* What came of the candidates of a task under a gate, the latest of each, by id: what their text,
 * compiler and flags decide (built or not, right or wrong, a time in cases), not what the host may
 * have had a part in. */
bool graph_recall_candidates(struct graph *graph, const char *task_id, const char *gate_id,
                             struct arena *arena, const struct graph_recalled **out,
                             size_t *out_count, struct err *err);

/* The verdicts of graph_recall_code of a task under a gate, for pre-loading. */
bool graph_recall_all(struct graph *graph, const char *task_id, const char *gate_id,
                      struct arena *arena, const struct verdict **out, size_t *out_count,
                      struct err *err);

/* Negative and positive outcomes like this task's, for the warm context: text search (BM25) over
 * intent, hypothesis, moves, evidence, diagnostics, and the words of the task. Any text may be
 * `words`: only its letters and digits count. Too-noisy outcomes teach nothing and are left out. */
bool graph_search(struct graph *graph, const char *words, size_t limit, struct arena *arena,
                  struct graph_decisions *out, struct err *err);

/* What may matter for a step, in time that does not grow with the memory. */
struct graph_near {
    const char *words;  /* any text; the rarest of its words count */
    const char *family; /* only on tasks of this family; "": on any */
    bool failures;      /* those that failed in place of those that were timed */
};
/* By BM25 over intent, hypothesis, moves, evidence and diagnostics, best first; where no word is
 * rare enough to tell anything, the latest of the family. */
bool graph_search_near(struct graph *graph, const struct graph_near *near, size_t limit,
                       struct arena *arena, struct graph_decisions *out, struct err *err);

/* From states like one to what followed: timed decisions whose parent has an equal recipe, on any
 * task, best gain first. */
bool graph_walk(struct graph *graph, const char *recipe, size_t limit, struct arena *arena,
                struct graph_decisions *out, struct err *err);

/* The best step that was taken from a decision, which is timed and has this log-ratio itself. */
struct graph_follow {
    const char *decision_id, *moves, *intent;
    double gain;
};
bool graph_followed(struct graph *graph, const char *decision_id, double log_ratio,
                    struct arena *arena, bool *found, struct graph_follow *out, struct err *err);

struct graph_run {
    const char *id, *task_id, *task_name, *task_dir, *family, *target_id, *proposer, *policy,
        *gate_id, *host, *kernel, *kope_version;
    uint64_t seed;
    int64_t budget, time_limit_ns, token_budget, wall_ms;
    double load_average;
    const char *start_decision;
    const char *settings; /* JSON; "" */
    bool has_ended;
    const char *end_reason, *best_decision;
    double best_log_ratio;
    int64_t evaluations, decisions, run_ns;
};
/* A run by id or unique prefix, or "last": ERR_NOT_FOUND, ERR_USAGE where the prefix is ambiguous.
 */
bool graph_find_run(struct graph *graph, const char *id_or_prefix, struct arena *arena,
                    struct graph_run *out, struct err *err);
bool graph_runs(struct graph *graph, size_t limit, struct arena *arena,
                const struct graph_run **out, size_t *out_count, struct err *err);

/* What was asked of models in a run, in order; see exchange_event. */
struct graph_exchange {
    const char *id, *role, *model, *parent, *step, *context_id, *prompt_hash, *finish_reason, *body;
    int64_t sequence, tokens_in, tokens_cached, tokens_out, tokens_reasoning, tokens_lost;
    bool is_estimate, is_cost_known;
    double cost_usd;
    int64_t attempts, wall_ns;
};
bool graph_exchanges(struct graph *graph, const char *run_id, struct arena *arena,
                     const struct graph_exchange **out, size_t *out_count, struct err *err);

/* The last context of a run: its id, the stored text, and its items; `*found` false where the run
 * had none. */
struct graph_context {
    const char *id, *text_body, *prefix_hash;
    const struct context_item *items;
    size_t item_count;
};
bool graph_last_context(struct graph *graph, const char *run_id, struct arena *arena, bool *found,
                        struct graph_context *out, struct err *err);

/* One item that a decision's prompt held or, by chance, withheld, and what came of the decision. */
struct graph_trial {
    const char *task_id, *run_id, *decision_id, *kind, *ref;
    double
        gain; /* over its parent; 0 where it is slower or failed: such a candidate is not taken */
    double propensity; /* of being shown, within (0, 1) */
    int64_t tokens;
    bool shown;
};
/* All of them by task, run and decision, at most `limit`: those of the newest runs. `visit` gets
 * them one by one; texts are valid during the call only. */
bool graph_trials(struct graph *graph, size_t limit,
                  bool (*visit)(void *context, const struct graph_trial *trial, struct err *err),
                  void *context, struct err *err);

/* Cases of the outcome of a decision (confirmation: of its confirmation). */
bool graph_outcome_cases(struct graph *graph, const char *decision_id, bool confirmation,
                         struct arena *arena, const struct case_result **out, size_t *out_count,
                         struct err *err);

/* Store id of the text of a task's reference, "" where the memory does not know the task. */
bool graph_task_reference(struct graph *graph, const char *task_id, struct arena *arena,
                          const char **out, struct err *err);

struct graph_finding {
    const char *decision_id, *bottleneck, *text, *tool, *moves;
    double number;
    int64_t line;
};
/* All of a run; see graph/findings.h for those of a candidate. */
bool graph_findings(struct graph *graph, const char *run_id, struct arena *arena,
                    const struct graph_finding **out, size_t *out_count, struct err *err);

#endif
