/*
 * Inside graph/: statements prepared once and found by their text; the texts and readers that
 * several files share. Every function returns false with an err, as everywhere.
 */
#ifndef KOPE_GRAPH_INTERNAL_H
#define KOPE_GRAPH_INTERNAL_H

#include "graph/graph.h"

#include <sqlite3.h>

enum { GRAPH_MAX_STATEMENTS = 160, GRAPH_BUSY_TIMEOUT_MS = 15000 };

struct statement {
    const char *sql; /* a constant: found by its address */
    sqlite3_stmt *handle;
    bool is_busy;
};

/* What the graph holds: changes by this connection, and those that others have committed. */
struct graph_version {
    int64_t others, own;
};

/* ---- rank.c */
enum { RANK_KEPT_TERMS = 8192 };

struct rank {
    struct graph_version version;
    uint64_t common[RANK_KEPT_TERMS]; /* terms that too many documents have, by hash; else 0 */
};

/* ---- query_cells.c: what was read of table move_cell, as long as nothing has changed. */
struct cells_kept {
    struct arena arena;
    struct graph_move_cell *items;
    size_t count;
    struct graph_version version;
    bool is_filled;
};

struct graph {
    struct rank rank;
    struct cells_kept cells;
    sqlite3 *db;
    char *path;
    bool in_transaction;
    bool is_bulk; /* between bulk_begin and bulk_end: what follows from rows waits for the end */
    struct statement statements[GRAPH_MAX_STATEMENTS];
    size_t statement_count;
};

/* ---- bulk.c */
enum { BULK_MAX_INDICES = 64 };

/* A load from nothing: the indices that it has put off, as the statements that make them. */
struct bulk {
    struct arena arena; /* zeroed; its owner frees it */
    const char *indices[BULK_MAX_INDICES];
    size_t count;
    bool is_large; /* said by its owner: indices are worth being put off */
};

/* ---- statement.c */

/* A use of a statement: parameters are given, then columns taken, from left to right. */
struct query {
    struct graph *graph;
    struct statement *statement;
    int next;
};

bool query_begin(struct graph *graph, const char *sql, struct query *out, struct err *err);
void query_end(struct query *query); /* for CLEANUP */

void give_text(struct query *query, const char *text); /* NULL gives "" */
void give_int(struct query *query, int64_t value);
void give_real(struct query *query, double value); /* NaN gives 0 */

/* The next row; `*has_row` false after the last. */
bool query_step(struct query *query, bool *has_row, struct err *err);
/* A statement that has no rows. */
bool query_run(struct query *query, struct err *err);

const char *take_text(struct query *query, struct arena *arena); /* NULL is "" */
int64_t take_int(struct query *query);
double take_real(struct query *query);
bool take_bool(struct query *query);
struct hash_id take_id(struct query *query);

/* How a row of a kind is taken: all its columns, into a zeroed `out`. */
struct row_kind {
    void (*take)(struct query *query, struct arena *arena, void *out);
    size_t bytes; /* of `out` */
};
/* All rows of a query whose parameters are given, as an array in the arena. */
bool take_rows(struct query *query, const struct row_kind *kind, struct arena *arena,
               const void **out, size_t *out_count, struct err *err);

bool graph_version_now(struct graph *graph, struct graph_version *out, struct err *err);
bool graph_version_equal(struct graph_version a, struct graph_version b);

/* What SQLite says went wrong; returns false. */
bool graph_refused(struct graph *graph, const char *doing, struct err *err);
bool graph_exec(struct graph *graph, const char *sql, struct err *err);

/* BEGIN IMMEDIATE, and COMMIT where `ok`, else ROLLBACK; the result is `ok` and committed. */
bool graph_begin(struct graph *graph, struct err *err);
bool graph_end(struct graph *graph, bool ok, struct err *err);

/* ---- schema.c */
bool schema_create(struct graph *graph, struct err *err); /* or bring up to date */
bool schema_reset(struct graph *graph, struct err *err);  /* drop all and create */
bool schema_use_wal(struct graph *graph, struct err *err);

/* ---- bulk.c: filling an empty graph. */

/* Around a large load, outside of a transaction. Where the log cannot be had back, the file works
 * without; the next opening asks again. */
void bulk_prepare(struct graph *graph);
void bulk_leave(struct graph *graph);
/* Around the events of a load, within its transaction: the graph is empty before, and after has the
 * searched text, the cells and (put off where that is large) the indices of them all. */
bool bulk_begin(struct graph *graph, struct bulk *bulk, struct err *err);
bool bulk_end(struct graph *graph, const struct bulk *bulk, struct err *err);

/* ---- apply.c, apply_outcome.c */

/* As graph_apply within a transaction; `*is_new` tells whether it was missing. */
bool apply_event(struct graph *graph, const struct event *event, bool *is_new, struct err *err);

/* Event ids in the order of their clock: "wall.counter.id", to be compared as text. */
enum { STAMP_BYTES = 15 + 1 + 16 + 1 + HASH_ID_BYTES };
void give_stamp(struct query *query, const struct event *event);

bool apply_outcome(struct graph *graph, const struct event *event,
                   const struct outcome_event *outcome, struct err *err);

/* ---- apply_skill.c */
bool apply_skill(struct graph *graph, const struct event *event, const struct skill_event *skill,
                 struct err *err);

/* ---- schema_skill.c: scripts of migrations. */
extern const char schema_skill[], schema_skill_build[];
/* ---- schema_prune.c */
extern const char schema_prune[];
/* ---- schema_outcome.c: scripts of migrations. */
extern const char schema_outcome[], schema_outcome_fill[], schema_outcome_counts[],
    schema_outcome_timed[];
/* ---- schema_near.c */
extern const char schema_finding[]; /* query_findings.c */

extern const char schema_near[]; /* then near_make_all */

void cells_drop(struct graph *graph);
/* ---- apply_rule.c */
bool apply_rule(struct graph *graph, const struct event *event, const struct rule_event *rule,
                struct err *err);

/* ---- schema_rule.c: a script of a migration. */
extern const char schema_rule[];

/* ---- cells.c: what each move gained where. */
extern const char schema_cells[];   /* a migration: the table, empty */
extern const char cells_make_all[]; /* a script: table move_cell from everything */
/* Around a change of a decision or of its outcome: its contribution and its children's. */
bool cells_take_out(struct graph *graph, const char *decision_id, struct err *err);
bool cells_put_in(struct graph *graph, const char *decision_id, struct err *err);
/* A decision, or a run, that comes after what hangs on it; it was not there before. */
bool cells_put_in_decision(struct graph *graph, const char *decision_id, struct err *err);
bool cells_put_in_run(struct graph *graph, const char *run_id, struct err *err);

/* ---- text.c: the words that are searched. */
enum text_of { TEXT_OF_DECISION, TEXT_OF_RUN, TEXT_OF_TASK };
/* Makes the searched text of a decision, or of all of a run or task, again. */
bool text_refresh(struct graph *graph, enum text_of of, const char *id, struct err *err);
/* The searched words of the task itself. */
bool text_refresh_task(struct graph *graph, const char *task_id, struct err *err);
/* A script: the searched words of all tasks, where there are none yet. */
extern const char text_tasks_sql[];
extern const char text_decisions_sql[]; /* a script: that of all decisions */
/* A letter or digit of ASCII, or part of a character beyond it. */
bool text_is_word_char(char c);
/* An FTS5 expression that matches any of the words, whatever the text holds. */
char *text_match_any(const char *words, struct arena *arena);

/* What the last words of decision_text.tags begin with. */
#define TAG_TIMED "xtimed"
#define TAG_FAILED "xfailed"
/* A script: table decision_near from decision_text, where it is empty. */
extern const char near_make_all[];

/* ---- rank.c: rows of decisions that have a tag ("xtimed", "xs" and the family in hexadecimal). */

/* The function kope_near(body, tags) of this connection. */
bool rank_register(struct graph *graph, struct err *err);
/* Those most like the words, best first; none where no word is rare enough to tell anything. */
bool rank_near(struct graph *graph, const char *words, const char *tag, size_t limit,
               struct arena *arena, const int64_t **out, size_t *out_count, struct err *err);
/* The latest of all. */
bool rank_latest(struct graph *graph, const char *tag, size_t limit, struct arena *arena,
                 const int64_t **out, size_t *out_count, struct err *err);

/* ---- query_retrieve.c */
extern const char schema_retrieve[]; /* a migration; searched text is then empty */

/* ---- query_decisions.c */
/* All rows of a query of DECISION_COLUMNS whose parameters are given. */
bool take_decisions(struct query *query, struct arena *arena, struct graph_decisions *out,
                    struct err *err);
/* The decisions of these rows, in their order. */
bool decisions_of_rows(struct graph *graph, const int64_t *rows, size_t row_count,
                       struct arena *arena, struct graph_decisions *out, struct err *err);
int64_t row_limit(size_t limit);

/* Columns of decision_view, as read by take_decisions. */
#define DECISION_COLUMNS                                                                           \
    "v.decision_id, v.run_id, v.parent, v.task_id, v.task_name, v.family, v.target_id, "           \
    "v.sequence, v.step, v.proposer, v.intent, v.hypothesis, v.moves, v.recipe, v.compiler, "      \
    "v.flags, v.source_body, v.candidate_id, v.code_id, v.derived_from, v.failure, "               \
    "v.predicted_log_ratio, v.has_outcome, v.kind, v.mechanism, v.evidence, v.diagnostics_body, "  \
    "v.log_ratio, v.log_low, v.log_high, v.gain, v.is_win, v.is_confirmed, v.confirm_failed, "     \
    "v.confirmed_log_ratio, v.confirmed_low, v.confirmed_high, v.held_out_log_ratio, v.wall_ms, "  \
    "v.tokens_in, v.tokens_out, v.context_id, v.exchange_id, v.uses, v.exchange_index, "           \
    "v.gain IS NOT NULL,"                                                                          \
    " coalesce((SELECT regime FROM task WHERE task.task_id = v.task_id), '')"

#endif
