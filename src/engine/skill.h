/*
 * Skills at work: what is known, trials with and without one, files. Wires module skill to memory,
 * target and gate; see skill/skill.h for what a skill is.
 */
#ifndef KOPE_ENGINE_SKILL_H
#define KOPE_ENGINE_SKILL_H

#include "engine/engine.h"
#include "skill/skill.h"

/* All skills of a memory, and the shipped ones that it has no history of; by name. A memory that is
 * not there has none of its own. */
struct skill_list {
    const struct graph_skill *items;
    const struct skill_belief *beliefs; /* everywhere, one for each */
    size_t count;
};
bool engine_skill_list(const char *memory_dir, const char *target, struct arena *arena,
                       struct skill_list *out, struct err *err);

struct skill_details {
    struct graph_skill skill;
    struct skill_belief belief;
    const struct graph_skill_evidence *evidence;
    size_t evidence_count;
    const char *before, *after; /* texts of its example; "" */
    bool has_facts;             /* a task was named */
    struct skill_facts facts;
    bool applies;
    const char *why; /* not, in words; "" */
};
/* `task_path` NULL: not asked whether it applies. */
bool engine_skill_show(const char *memory_dir, const char *target, const char *name,
                       const char *task_path, struct arena *arena, struct skill_details *out,
                       struct err *err);

/* The facts of a task on a target: what predicates can ask. */
bool engine_skill_facts(const char *task_path, const char *target, struct arena *arena,
                        struct skill_facts *out, struct err *err);

/* SKILL.md of one skill, as it would be written. */
bool engine_skill_markdown(const char *memory_dir, const char *target, const char *name,
                           struct buf *out, struct err *err);
/* Writes DIR/NAME/SKILL.md with its example; `name` NULL: every verified skill. */
bool engine_skill_export(const char *memory_dir, const char *target, const char *name,
                         const char *dir, struct arena *arena, size_t *out_count, struct err *err);
/* Reads a folder with SKILL.md as a candidate. */
bool engine_skill_import(const char *memory_dir, const char *folder, struct arena *arena,
                         struct graph_skill *out, bool *is_new, struct err *err);

struct skill_verify_opts {
    const char *memory_dir, *target, *name, *task_path;
    const char *after;      /* recipe that both sides have besides; NULL: the plain one */
    int64_t time_budget_ns; /* of one case; 0: 3 s */
};

struct skill_trial {
    const struct task *task;
    struct graph_skill skill;
    bool applies;               /* else `why` says what does not hold, and nothing was measured */
    const char *why;            /* "" */
    const char *with, *without; /* what was compared: recipes, or "its example" */
    struct verdict verdict;     /* positive: faster with it; of the first side that is not right */
    int sign;                   /* of the claimed difference, on what counts */
    bool on_held_out;           /* what counts is the held-out shapes */
    double log_ratio, log_low, log_high; /* of what counts */
    enum skill_state before, after;
    const char *reason; /* why the state changed; NULL */
    struct skill_belief belief;
};
/* Judges the task with the skill and without it, records what came of it as evidence, and moves the
 * skill's state where that says so. A skill is admitted only by a task or shape that it was not
 * learned on. */
bool engine_skill_verify(const struct skill_verify_opts *opts, const struct observer *observer,
                         struct arena *arena, struct skill_trial *out, struct err *err);

struct skill_learn_opts {
    const char *memory_dir, *target, *expert_path, *task_path;
    const char *compiler, *flags; /* of the expert; NULL: the baseline's */
    int64_t steps, rejections;    /* at most; 16, and 4 in a row */
    int64_t trials;               /* that each forward step must stand; 3 */
    int64_t time_budget_ns;       /* of a case in one of them; 0: 1 s */
};

/* One attempt to take a mechanism out. */
struct lineage_step {
    const char *mechanism, *what; /* "size", "LANES" */
    bool is_accepted;
    const char *text;  /* what came of it, in a sentence */
    const char *skill; /* where accepted: its name */
    bool is_general;   /* put back by the words of a recipe; else an example only */
    enum skill_state state;
    double log_ratio, log_low, log_high; /* of having it */
    double held_out_log_ratio, held_out_low, held_out_high;
};

struct skill_lineage {
    const struct task *task;
    double expert_log_ratio; /* against the reference */
    double start_log_ratio;  /* of what is left in the end, by the steps */
    const struct lineage_step *steps;
    size_t count;
    size_t accepted, verified;
    const char *end_reason; /* "nothing is left to take out", ... */
    const char *left;       /* the source at the other end of the walk */
};
/* Walks an expert's kernel backward: one mechanism at a time is taken out of it; what is left must
 * be right and slower. Then the step forward again, by the words of a recipe where there are some,
 * has to regain 99 % of it in every trial; an accepted step is a skill, and fresh data on held-out
 * shapes decide whether it is verified. What is refused is kept as a failure that the skill's
 * assumptions avoid. */
bool engine_skill_learn(const struct skill_learn_opts *opts, const struct observer *observer,
                        struct arena *arena, struct skill_lineage *out, struct err *err);

struct ablate_opts {
    const char *memory_dir, *target, *run; /* run: an id, a prefix or "last" */
    int64_t time_budget_ns;                /* of a case; 0: 1.5 s */
};

/* One part of the winner's recipe: what it loses without it. */
struct ablation {
    const char *part; /* "unroll=loops" */
    const char
        *needing;  /* later steps that are refused without it and went with it: "pack(b)"; "" */
    bool is_timed; /* else `problem` says why not */
    const char *problem; /* "" */
    double log_ratio, log_low, log_high;
    int sign;
};

struct ablation_result {
    const char *run_id, *recipe;
    const struct task *task;
    double log_ratio; /* of the winner against the baseline */
    const struct ablation *items;
    size_t count;
};
/* Takes each part out of the recipe of a run's winner in turn and times the winner against the
 * rest: the gain by parts, as findings of the run, and as skills (origin "distilled", candidates)
 * where one pays by itself. Parts interact: their gains do not multiply to the whole. */
bool engine_ablate(const struct ablate_opts *opts, const struct observer *observer,
                   struct arena *arena, struct ablation_result *out, struct err *err);

#endif
