/* The backward walk from an expert's kernel. */
#include "engine/lineage.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/file.h"
#include "os/os.h"
#include "skill/mechanism.h"

#include <math.h>
#include <stdlib.h>

#define REGAINED_AT_LEAST (-0.01005) /* log of 0.99 */
#define STEP_BUDGET_NS (INT64_C(1000) * 1000 * 1000)
enum { DEFAULT_STEPS = 16, DEFAULT_REJECTIONS = 4, DEFAULT_TRIALS = 3, MAX_ATTEMPTS = 3 };

void duel_close(struct duel *duel)
{
    gate_contest_close(&duel->contest);
}

bool duel_open(struct walk *w, const struct candidate *a, const struct candidate *b,
               struct duel *duel, struct err *err)
{
    const struct contest_opts opts = {
        .time_budget_ns = w->opts->time_budget_ns ? w->opts->time_budget_ns : STEP_BUDGET_NS,
        .confirm = true,
        .half_width = 0.01};
    return gate_contest_open(w->run.gate, a, b, &opts, w->run.arena, duel->checks, &duel->contest,
                             err);
}

bool duel_time(struct walk *w, struct duel *duel, struct err *err)
{
    const struct verdict *v = &duel->timed;
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        bool about_a = false;
        if (!gate_contest_time(duel->contest, w->run.arena, &duel->timed, &about_a, err))
            return false;
        if (v->kind != VERDICT_TOO_NOISY || os_interrupted())
            break;
    }
    duel->sign = duel->held_out_sign = 0;
    if (v->kind != VERDICT_TIMED)
        return true;
    duel->sign = verdict_difference(v->log_low, v->log_high, verdict_noise(v, false)).sign;
    if (v->has_held_out)
        duel->held_out_sign =
            verdict_difference(v->held_out_low, v->held_out_high, verdict_noise(v, true)).sign;
    return true;
}

/* ---- what can be taken out next */

static bool is_refused(const struct walk *w, const char *key)
{
    for (size_t i = 0; i < w->refused_count; i++) {
        if (str_equal(w->refused[i], key))
            return true;
    }
    return false;
}

static const char *key_of(struct walk *w, const struct inverse_edit *edit)
{
    return arena_printf(w->run.arena, "%s %s", mechanism_name(edit->mechanism), edit->what);
}

static bool is_of_baseline(const struct walk *w, const char *flag)
{
    const char *compiler = NULL;
    const char *const *flags = NULL;
    size_t count = 0;
    target_default_build(w->run.target, &compiler, &flags, &count);
    for (size_t i = 0; i < count; i++) {
        if (str_equal(flags[i], flag))
            return true;
    }
    return false;
}

/* Edits of the text first, then flags that the baseline does not have. */
static bool next_edit(struct walk *w, struct inverse_edit *edit, struct candidate *predecessor)
{
    struct inverse_edit edits[INVERSE_MAX_EDITS];
    const size_t count = inverse_list(w->current.source, w->run.arena, edits);
    for (size_t i = 0; i < count; i++) {
        if (is_refused(w, key_of(w, &edits[i])))
            continue;
        *edit = edits[i];
        *predecessor = w->current;
        predecessor->source = edit->text;
        return true;
    }
    for (size_t i = w->current.flag_count; i-- > 0;) {
        *edit = (struct inverse_edit){MECHANISM_FLAG, w->current.flags[i], w->current.source};
        if (is_of_baseline(w, edit->what) || is_refused(w, key_of(w, edit)))
            continue;
        *predecessor = w->current;
        predecessor->flag_count--;
        memmove(&predecessor->flags[i], &predecessor->flags[i + 1],
                (predecessor->flag_count - i) * sizeof *predecessor->flags);
        return true;
    }
    return false;
}

/* ---- the step forward */

/* The predecessor with the words applied to it: edits of its text, and the flags they add. */
static bool put_back(struct walk *w, const struct candidate *predecessor, const char *change,
                     struct candidate *out)
{
    struct arena *arena = w->run.arena;
    struct task task = *w->run.task;
    struct moves_env env = w->run.moves;
    const struct move move = {.name = "forward", .changes = change};
    const struct recipe *with = NULL;
    const char *why = NULL;
    struct err ignored;
    struct candidate plain = {0};
    struct candidate made = {0};
    task.reference = predecessor->source;
    env.task = &task;
    env.cache = NULL; /* it is of the reference */
    if (predecessor->compiler)
        env.default_compiler = predecessor->compiler;
    const struct recipe *without = recipe_plain(&env, arena);
    if (!move_apply(&env, &move, without, arena, &with, &why) ||
        !recipe_candidate(&env, without, arena, &plain, &ignored) ||
        !recipe_candidate(&env, with, arena, &made, &ignored))
        return false;
    *out = *predecessor;
    out->source = made.source;
    for (size_t i = 0; i < made.flag_count; i++) {
        bool is_there = false;
        for (size_t k = 0; k < predecessor->flag_count; k++)
            is_there = is_there || str_equal(predecessor->flags[k], made.flags[i]);
        for (size_t k = 0; k < plain.flag_count; k++)
            is_there = is_there || str_equal(plain.flags[k], made.flags[i]);
        if (is_there)
            continue;
        if (out->flag_count == CANDIDATE_MAX_FLAGS)
            return false;
        out->flags[out->flag_count++] = made.flags[i];
    }
    return true;
}

bool walk_regains(struct walk *w, const struct candidate *lost, const struct candidate *forward,
                  bool *does, struct err *err)
{
    CLEANUP(duel_close) struct duel duel = {0};
    const int64_t trials = w->opts->trials ? w->opts->trials : DEFAULT_TRIALS;
    *does = false;
    if (!duel_open(w, lost, forward, &duel, err))
        return false;
    if (!duel.contest)
        return true;
    const char *code = duel.checks[0].code_id.text;
    if (code[0] != '\0' && str_equal(code, duel.checks[1].code_id.text)) {
        *does = true;
        return true;
    }
    for (int64_t i = 0; i < trials; i++) {
        if (!duel_time(w, &duel, err))
            return false;
        if (duel.timed.kind != VERDICT_TIMED || duel.timed.log_ratio < REGAINED_AT_LEAST)
            return true;
    }
    *does = true;
    return true;
}

/* ---- what is kept */

static struct lineage_step *add_step(struct walk *w, const struct inverse_edit *edit)
{
    w->steps = vec_reserve_one(w->steps, w->count, &w->capacity, sizeof *w->steps);
    struct lineage_step *step = &w->steps[w->count++];
    *step = (struct lineage_step){.mechanism = mechanism_name(edit->mechanism),
                                  .what = arena_strdup(w->run.arena, edit->what),
                                  .text = "",
                                  .skill = ""};
    return step;
}

static bool has_skill(struct walk *w, const char *id, bool *has, struct err *err)
{
    const struct graph_skill *known = NULL;
    size_t count = 0;
    *has = false;
    if (!graph_skills(w->run.memory.graph, w->run.arena, &known, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        *has = *has || str_equal(known[i].id, id);
    return true;
}

bool walk_refuse(struct walk *w, const struct inverse_edit *edit, const struct verdict *verdict,
                 const char *text, struct err *err)
{
    struct graph_skill skill;
    bool has = false;
    struct lineage_step *step = add_step(w, edit);
    step->text = text;
    if (w->refused_count < WALK_MAX_REFUSED)
        w->refused[w->refused_count++] = key_of(w, edit);
    run_stage(&w->run, arena_printf(w->run.arena, "%s %s: %s", step->mechanism, step->what, text));
    if (verdict->kind == VERDICT_TOO_NOISY)
        return true; /* the host's doing is no lesson */
    if (edit->mechanism == MECHANISM_STRUCTURE)
        skill_of_structure(step->what, &w->facts, w->run.task->name, w->run.arena, &skill);
    else
        skill_of_mechanism(edit->mechanism, step->what, w->run.task->name, w->run.arena, &skill);
    const struct hash_id id = skill_make_id(&skill);
    if (!has_skill(w, id.text, &has, err))
        return false;
    return !has || skill_store_evidence(
                       &w->run,
                       &(struct skill_measurement){.skill_id = id.text,
                                                   .kind = "failure",
                                                   .decision_id = "",
                                                   .text = text,
                                                   .verdict = verdict_kind_name(verdict->kind),
                                                   .log_ratio = verdict->log_ratio,
                                                   .log_low = verdict->log_low,
                                                   .log_high = verdict->log_high},
                       err);
}

static char *build_text(const struct candidate *candidate, struct arena *arena)
{
    return arena_printf(arena, "%s %s", candidate->compiler ? candidate->compiler : "",
                        candidate_flags_text(candidate, arena));
}

static bool fill_skill(struct walk *w, const struct candidate *predecessor,
                       struct graph_skill *skill, struct err *err)
{
    skill->learned_on = w->run.task->id.text;
    skill->build = build_text(&w->current, w->run.arena);
    if (!memory_put_text(&w->run.memory, predecessor->source, w->run.arena, &skill->before_body,
                         err) ||
        !memory_put_text(&w->run.memory, w->current.source, w->run.arena, &skill->after_body, err))
        return false;
    skill->id = arena_strdup(w->run.arena, skill_make_id(skill).text);
    return skill_check(skill, err);
}

static bool store_timed(struct walk *w, const struct graph_skill *skill, const char *kind,
                        const char *text, double log_ratio, double low, double high,
                        struct err *err)
{
    return skill_store_evidence(
        &w->run,
        &(struct skill_measurement){.skill_id = skill->id,
                                    .kind = kind,
                                    .decision_id = "",
                                    .text = text,
                                    .verdict = verdict_kind_name(VERDICT_TIMED),
                                    .log_ratio = log_ratio,
                                    .log_low = low,
                                    .log_high = high},
        err);
}

/* The state that the memory has for it now. */
static bool read_state(struct walk *w, struct graph_skill *skill, struct err *err)
{
    const struct graph_skill *known = NULL;
    size_t count = 0;
    if (!graph_skills(w->run.memory.graph, w->run.arena, &known, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(known[i].id, skill->id))
            skill->state = known[i].state;
    }
    return true;
}

/* A fresh trial, new data and processes; only shapes that the walk did not look at count. */
static bool admit(struct walk *w, struct duel *duel, struct graph_skill *skill,
                  struct lineage_step *step, struct err *err)
{
    struct skill_trial trial = {0};
    const struct verdict *v = &duel->timed;
    if (!duel_time(w, duel, err))
        return false;
    if (v->kind != VERDICT_TIMED || !v->has_held_out) {
        step->state = skill_state_from_name(skill->state);
        return true;
    }
    step->held_out_log_ratio = v->held_out_log_ratio;
    step->held_out_low = v->held_out_low;
    step->held_out_high = v->held_out_high;
    if (!store_timed(w, skill, "trial", "with against without, on held-out shapes",
                     v->held_out_log_ratio, v->held_out_low, v->held_out_high, err) ||
        !skill_settle(&w->run, skill, duel->held_out_sign, true, &trial, err))
        return false;
    step->state = trial.after;
    w->out->verified += trial.after == SKILL_VERIFIED;
    return true;
}

bool walk_keep(struct walk *w, const struct inverse_edit *edit, struct duel *duel,
               const struct candidate *predecessor, struct graph_skill *skill, struct err *err)
{
    bool is_new = false;
    const struct verdict first = verdict_copy(&duel->timed, w->run.arena);
    struct lineage_step *step = add_step(w, edit);
    if (!fill_skill(w, predecessor, skill, err) ||
        !skill_store_define(&w->run.memory, skill, &is_new, err) || !read_state(w, skill, err) ||
        !store_timed(w, skill, "lineage",
                     edit->mechanism == MECHANISM_STRUCTURE
                         ? "the reference with these moves against without"
                         : "the expert's kernel with it against without",
                     first.log_ratio, first.log_low, first.log_high, err) ||
        !admit(w, duel, skill, step, err))
        return false;
    step->is_accepted = true;
    step->skill = skill->name;
    step->is_general = skill->change[0] != '\0';
    step->log_ratio = first.log_ratio;
    step->log_low = first.log_low;
    step->log_high = first.log_high;
    step->text = step->is_general ? arena_printf(w->run.arena, "put back by '%s'", skill->change)
                                  : "put back by hand: an example";
    w->out->accepted++;
    w->out->start_log_ratio -= first.log_ratio;
    run_stage(&w->run,
              arena_printf(w->run.arena, "%s %s: %.2fx, skill %s (%s)", step->mechanism, step->what,
                           exp(first.log_ratio), skill->name, skill_state_name(step->state)));
    return true;
}

/* ---- one step back */

/* As the words of a recipe where they regain what the expert had, else as an example, which has to
 * be faster in every trial. */
static bool choose_form(struct walk *w, const struct candidate *predecessor, struct duel *duel,
                        struct graph_skill *skill, bool *stands, struct err *err)
{
    struct candidate forward;
    const int64_t trials = w->opts->trials ? w->opts->trials : DEFAULT_TRIALS;
    *stands = false;
    if (skill->change[0] != '\0' && put_back(w, predecessor, skill->change, &forward)) {
        if (!walk_regains(w, &w->current, &forward, stands, err) || *stands)
            return *stands;
    }
    if (skill->change[0] != '\0')
        skill_as_example(skill, w->run.task->name, w->run.arena);
    for (int64_t i = 1; i < trials; i++) {
        if (!duel_time(w, duel, err))
            return false;
        if (duel->sign <= 0)
            return true;
    }
    *stands = true;
    return true;
}

static bool step_back(struct walk *w, const struct inverse_edit *edit,
                      const struct candidate *predecessor, bool *accepted, struct err *err)
{
    CLEANUP(duel_close) struct duel duel = {0};
    struct arena *arena = w->run.arena;
    struct graph_skill skill;
    bool applies = false;
    bool stands = false;
    const char *why = "";
    *accepted = false;
    skill_of_mechanism(edit->mechanism, edit->what, w->run.task->name, arena, &skill);
    if (!skill_applies(&skill, &w->facts, arena, &applies, &why, err))
        return false;
    if (!applies)
        return walk_refuse(w, edit, &(struct verdict){.kind = VERDICT_TOO_NOISY},
                           arena_printf(arena, "the skill would not apply here: %s", why), err);
    if (!duel_open(w, predecessor, &w->current, &duel, err))
        return false;
    if (!duel.contest) {
        const struct verdict *bad = &duel.checks[duel.checks[0].kind == VERDICT_TIMED];
        return walk_refuse(w, edit, bad,
                           arena_printf(arena, "without it: %s", verdict_summary(bad, arena)), err);
    }
    if (!duel_time(w, &duel, err))
        return false;
    if (duel.timed.kind != VERDICT_TIMED || duel.sign <= 0)
        return walk_refuse(
            w, edit, &duel.timed,
            arena_printf(arena, "no gain from it: %s", verdict_summary(&duel.timed, arena)), err);
    if (!choose_form(w, predecessor, &duel, &skill, &stands, err))
        return false;
    if (!stands)
        return walk_refuse(w, edit, &duel.timed, "the gain did not come back in every trial", err);
    *accepted = true;
    return walk_keep(w, edit, &duel, predecessor, &skill, err);
}

static bool walk_back(struct walk *w, struct err *err)
{
    const int64_t steps = w->opts->steps ? w->opts->steps : DEFAULT_STEPS;
    const int64_t rejections = w->opts->rejections ? w->opts->rejections : DEFAULT_REJECTIONS;
    int64_t in_a_row = 0;
    for (;;) {
        struct inverse_edit edit;
        struct candidate predecessor;
        bool accepted = false;
        if (os_interrupted())
            w->out->end_reason = "interrupted";
        else if ((int64_t)w->out->accepted >= steps)
            w->out->end_reason = "so many steps were asked for";
        else if (in_a_row >= rejections)
            w->out->end_reason = "so many were refused in a row";
        else if (!next_edit(w, &edit, &predecessor))
            w->out->end_reason = "nothing is left to take out";
        if (w->out->end_reason)
            return true;
        if (!step_back(w, &edit, &predecessor, &accepted, err))
            return false;
        in_a_row = accepted ? 0 : in_a_row + 1;
        if (accepted)
            w->current = candidate_copy(&predecessor, w->run.arena);
    }
}

/* The expert must be right; how much faster than the reference it is, is told. */
static bool judge_expert(struct walk *w, struct err *err)
{
    CLEANUP(duel_close) struct duel duel = {0};
    const struct candidate plain = skill_plain_build(&w->run, w->run.task->reference);
    if (!duel_open(w, &plain, &w->current, &duel, err))
        return false;
    if (!duel.contest)
        return err_set(err, ERR_BAD_INPUT, "the expert '%s' is not right: %s", w->opts->expert_path,
                       verdict_summary(&duel.checks[1], w->run.arena));
    if (!duel_time(w, &duel, err))
        return false;
    if (duel.timed.kind != VERDICT_TIMED)
        return err_set(err, ERR_BUSY, "the expert cannot be measured: %s",
                       verdict_summary(&duel.timed, w->run.arena));
    w->out->expert_log_ratio = duel.timed.log_ratio;
    w->out->start_log_ratio = duel.timed.log_ratio;
    return true;
}

static bool read_expert(struct walk *w, struct err *err)
{
    char *source = NULL;
    if (!os_read_file(w->opts->expert_path, CANDIDATE_MAX_SOURCE_BYTES, w->run.arena, &source, NULL,
                      err))
        return false;
    w->current = skill_plain_build(&w->run, source);
    if (w->opts->compiler)
        w->current.compiler = w->opts->compiler;
    if (!w->opts->flags)
        return true;
    w->current.flag_count = 0;
    return candidate_parse_flags(w->opts->flags, w->run.arena, &w->current) ||
           err_set(err, ERR_USAGE, "more than %d flags", CANDIDATE_MAX_FLAGS);
}

static bool open_all(struct walk *w, struct err *err)
{
    if (!run_open_for_context(&w->run, err) || !read_expert(w, err))
        return false;
    skill_facts_of_run(&w->run, &w->facts);
    run_stage(&w->run, "building baseline and oracle, trying the null kernels");
    const struct gate_opts gate_opts = {.twin = run_twin(&w->run)};
    if (!gate_open(w->run.target, w->run.task, &gate_opts, &w->run.gate, err))
        return err_within(err, "task '%s'", w->run.task->name);
    w->expert = candidate_copy(&w->current, w->run.arena);
    return run_record_subject(&w->run, err) && judge_expert(w, err);
}

bool engine_skill_learn(const struct skill_learn_opts *opts, const struct observer *observer,
                        struct arena *arena, struct skill_lineage *out, struct err *err)
{
    struct skill_lineage lineage = {0};
    struct walk walk = {.run = {.opts = {.task_path = opts->task_path,
                                         .memory_dir = opts->memory_dir,
                                         .target = opts->target},
                                .observer = observer,
                                .arena = arena},
                        .opts = opts,
                        .out = &lineage};
    const bool ok = open_all(&walk, err) && walk_back(&walk, err) && walk_retell(&walk, err);
    if (ok) {
        lineage.task = walk.run.task;
        lineage.left = walk.current.source;
        lineage.steps = arena_memdup(arena, walk.steps, walk.count * sizeof *walk.steps);
        lineage.count = walk.count;
        *out = lineage;
    }
    free(walk.steps);
    run_close(&walk.run);
    return ok;
}
