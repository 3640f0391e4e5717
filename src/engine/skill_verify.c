/* A skill on trial: a task with it and without it, through the gate. */
#include "engine/skill_store.h"

#include "base/str.h"

#include <math.h>

#define TRIAL_BUDGET_NS (INT64_C(3) * 1000 * 1000 * 1000)

struct candidate skill_plain_build(const struct run *run, const char *source)
{
    struct candidate candidate = {.source = source};
    const char *const *flags = NULL;
    size_t count = 0;
    target_default_build(run->target, &candidate.compiler, &flags, &count);
    for (size_t i = 0; i < count && i < CANDIDATE_MAX_FLAGS; i++)
        candidate.flags[candidate.flag_count++] = flags[i];
    return candidate;
}

static bool read_example(struct run *run, const struct graph_skill *skill,
                         struct candidate sides[2], struct err *err)
{
    const char *build = skill->build;
    const size_t length = strcspn(build, " ");
    for (int i = 0; i < 2; i++) {
        sides[i] = skill_plain_build(run, NULL);
        if (build[0] == '\0')
            continue;
        sides[i].flag_count = 0;
        if (length != 0)
            sides[i].compiler = arena_strndup(run->arena, build, length);
        if (!candidate_parse_flags(build + length, run->arena, &sides[i]))
            return err_set(err, ERR_BAD_INPUT, "skill '%s': its example has too many flags",
                           skill->name);
    }
    return memory_get_text(&run->memory, skill->before_body, run->arena, &sides[0].source, err) &&
           memory_get_text(&run->memory, skill->after_body, run->arena, &sides[1].source, err);
}

static bool sides_by_recipe(struct run *run, const struct graph_skill *skill, const char *after,
                            struct candidate sides[2], const char *names[2], const char **why,
                            struct err *err)
{
    const struct recipe *without = recipe_plain(&run->moves, run->arena);
    const struct recipe *with = NULL;
    const struct move move = {.name = skill->name, .changes = skill->change};
    if (after && !recipe_parse(&run->moves, after, run->arena, &without, err))
        return false;
    if (!move_apply(&run->moves, &move, without, run->arena, &with, why))
        return true;
    if (!recipe_candidate(&run->moves, without, run->arena, &sides[0], err) ||
        !recipe_candidate(&run->moves, with, run->arena, &sides[1], err))
        return false;
    for (int i = 0; i < 2; i++)
        names[i] = sides[i].recipe;
    *why = "";
    return true;
}

bool skill_sides(struct run *run, const struct graph_skill *skill, const char *after,
                 struct candidate sides[2], const char *names[2], const char **why, struct err *err)
{
    sides[0] = sides[1] = (struct candidate){0};
    names[0] = names[1] = "";
    *why = "";
    if (skill->change[0] != '\0')
        return sides_by_recipe(run, skill, after, sides, names, why, err);
    if (skill->after_body[0] == '\0') {
        *why = "it is a text for people and models: there is nothing that a program can apply";
        return true;
    }
    if (skill->learned_on[0] != '\0' && !str_equal(skill->learned_on, run->task->id.text)) {
        *why = "it has an example and no change in the words of a recipe: a trial is possible on "
               "the task that it was learned on, where the held-out shapes count";
        return true;
    }
    names[0] = "its example, before";
    names[1] = "its example, after";
    return read_example(run, skill, sides, err);
}

/* What counts: on the task that it was learned on, or may have been, the shapes that learning did
 * not see. */
static void weigh(struct run *run, struct skill_trial *out)
{
    const struct verdict *v = &out->verdict;
    const bool is_home =
        out->skill.change[0] == '\0' || str_equal(out->skill.learned_on, run->task->id.text);
    out->on_held_out = is_home && v->has_held_out;
    out->log_ratio = out->on_held_out ? v->held_out_log_ratio : v->log_ratio;
    out->log_low = out->on_held_out ? v->held_out_low : v->log_low;
    out->log_high = out->on_held_out ? v->held_out_high : v->log_high;
    if (v->kind == VERDICT_TIMED)
        out->sign =
            verdict_difference(out->log_low, out->log_high, verdict_noise(v, out->on_held_out))
                .sign;
}

/* The skill's fault is a failure only with it; without it the task is at fault, or the base. */
static bool contest(struct run *run, const struct candidate sides[2],
                    const struct skill_verify_opts *opts, struct skill_trial *out, bool *about_base,
                    struct err *err)
{
    CLEANUP(gate_contest_close) struct gate_contest *open = NULL;
    struct verdict checks[2];
    const struct contest_opts contest_opts = {
        .time_budget_ns = opts->time_budget_ns ? opts->time_budget_ns : TRIAL_BUDGET_NS,
        .confirm = true};
    run_stage(run, "checking both sides");
    if (!gate_contest_open(run->gate, &sides[0], &sides[1], &contest_opts, run->arena, checks,
                           &open, err))
        return false;
    if (!open) {
        *about_base = checks[0].kind != VERDICT_TIMED;
        out->verdict = verdict_copy(&checks[*about_base ? 0 : 1], run->arena);
        return true;
    }
    run_stage(run, "timing with against without");
    return gate_contest_time(open, run->arena, &out->verdict, about_base, err);
}

static bool record(struct run *run, const struct skill_verify_opts *opts, struct skill_trial *out,
                   struct err *err)
{
    const struct skill_measurement m = {
        .skill_id = out->skill.id,
        .kind = "trial",
        .decision_id = "",
        .text = out->verdict.kind == VERDICT_TIMED
                    ? arena_printf(run->arena, "with against without%s%s%s",
                                   opts->after ? ", after " : "", opts->after ? opts->after : "",
                                   out->on_held_out ? ", on held-out shapes" : "")
                    : out->verdict.evidence,
        .verdict = verdict_kind_name(out->verdict.kind),
        .log_ratio = out->log_ratio,
        .log_low = out->log_low,
        .log_high = out->log_high};
    const bool is_elsewhere =
        !str_equal(out->skill.learned_on, run->task->id.text) || out->on_held_out;
    bool is_new = false;
    return skill_store_define(&run->memory, &out->skill, &is_new, err) &&
           skill_store_evidence(run, &m, err) &&
           skill_settle(run, &out->skill, out->sign, is_elsewhere, out, err);
}

static bool try_it(struct run *run, const struct skill_verify_opts *opts, struct skill_trial *out,
                   struct err *err)
{
    struct candidate sides[2];
    const char *names[2];
    struct skill_facts facts;
    bool about_base = false;
    skill_facts_of_run(run, &facts);
    if (!skill_applies(&out->skill, &facts, run->arena, &out->applies, &out->why, err))
        return false;
    if (!out->applies)
        return true;
    if (!skill_sides(run, &out->skill, opts->after, sides, names, &out->why, err))
        return false;
    out->applies = out->why[0] == '\0';
    if (!out->applies)
        return true;
    out->without = names[0];
    out->with = names[1];
    run_stage(run, "building baseline and oracle, trying the null kernels");
    const struct gate_opts gate_opts = {.twin = run_twin(run)};
    if (!gate_open(run->target, run->task, &gate_opts, &run->gate, err))
        return err_within(err, "task '%s'", run->task->name);
    if (!run_record_subject(run, err) || !contest(run, sides, opts, out, &about_base, err))
        return false;
    weigh(run, out);
    if (about_base || out->verdict.kind == VERDICT_TOO_NOISY)
        return true;
    return record(run, opts, out, err);
}

bool engine_skill_verify(const struct skill_verify_opts *opts, const struct observer *observer,
                         struct arena *arena, struct skill_trial *out, struct err *err)
{
    struct run run = {.opts = {.task_path = opts->task_path,
                               .memory_dir = opts->memory_dir,
                               .target = opts->target},
                      .observer = observer,
                      .arena = arena};
    const struct graph_skill *skills = NULL;
    const struct graph_skill *found = NULL;
    size_t count = 0;
    struct skill_trial trial = {.why = "", .with = "", .without = ""};
    bool ok = run_open_for_context(&run, err) &&
              skill_list_all(&run.memory, run.target, arena, &skills, &count, err) &&
              skill_find(skills, count, opts->name, &found, err);
    if (ok) {
        trial.skill = *found;
        trial.task = run.task;
        trial.before = trial.after = skill_state_from_name(found->state);
        ok = skill_check(found, err) && try_it(&run, opts, &trial, err);
    }
    run_close(&run);
    if (ok)
        *out = trial;
    return ok;
}
