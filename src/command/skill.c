#include "command/internal.h"

#include "base/str.h"
#include "engine/skill.h"

#include <math.h>

#define PARAM_TARGET                                                                               \
    {                                                                                              \
        "target", "NAME", "where it runs", "cpu", PARAM_TEXT, false, false, NULL                   \
    }

static void put_belief(struct json_writer *w, const struct skill_belief *b)
{
    json_put_int(w, "measurements", b->timed);
    json_put_int(w, "failures", b->failed);
    json_put_int(w, "tasks", b->tasks);
    if (b->timed == 0)
        return;
    json_put_real(w, "speedup", exp(b->effect.mean));
    json_put_real(w, "speedup_low", exp(b->low));
    json_put_real(w, "speedup_high", exp(b->high));
}

static void put_skill(struct json_writer *w, const struct graph_skill *s)
{
    json_put_string(w, "name", s->name);
    json_put_string(w, "id", s->id);
    json_put_string(w, "state", s->state);
    json_put_string(w, "origin", s->origin);
    json_put_string(w, "intent", s->intent);
    json_put_string(w, "applies", s->applies);
    json_put_string(w, "needs", s->needs);
    json_put_string(w, "change", s->change);
    json_put_string(w, "breaks", s->breaks);
    json_put_string(w, "reason", s->reason);
    json_put_string(w, "learned_on", s->learned_on);
    json_put_bool(w, "has_example", s->after_body[0] != '\0');
}

/* ---- skill list */

static const struct param list_params[] = {
    {"state", "STATE", "only those in it", "all", PARAM_TEXT, false, false,
     "candidate|verified|contradicted|retired"},
    PARAM_TARGET,
    PARAM_MEMORY,
    {0},
};

static bool run_list(const struct command_call *call, struct command_result *out, struct err *err)
{
    const char *state = command_text(call, "state");
    struct skill_list list;
    size_t shown = 0;
    if (!engine_skill_list(command_text(call, "memory"), command_text(call, "target"), call->arena,
                           &list, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_key(&w, "skills");
    json_begin_array(&w);
    for (size_t i = 0; i < list.count; i++) {
        const struct graph_skill *s = &list.items[i];
        if (state && !str_equal(state, s->state))
            continue;
        (void)buf_printf(&out->text, "%-13s %-9s %-28s %s\n", s->state, s->origin, s->name,
                         list.beliefs[i].timed || list.beliefs[i].failed
                             ? skill_evidence_text(&list.beliefs[i], call->arena)
                             : s->intent);
        json_begin_object(&w);
        put_skill(&w, s);
        put_belief(&w, &list.beliefs[i]);
        json_end_object(&w);
        shown++;
    }
    json_end_array(&w);
    json_end_object(&w);
    (void)buf_printf(&out->text, "%zu of %zu skills; 'kope skill show NAME' has more\n", shown,
                     list.count);
    return true;
}

const struct command command_skill_list = {
    .name = "skill list",
    .summary = "what is known to make kernels faster, and how sure that is",
    .description =
        "Skills of the memory, and those that are shipped (origin seed). A skill is a candidate "
        "until a fresh trial on\nanother task or shape was faster with it than without: then it is "
        "verified, and is used and shown to models.\nOne that later trials speak against is "
        "contradicted, one that is slower by all that was measured retired;\nboth are kept.",
    .examples = "  kope skill list\n"
                "  kope skill list --state verified",
    .params = list_params,
    .run = run_list,
};

/* ---- skill show */

static const struct param show_params[] = {
    {"skill", "NAME", "name, or the beginning of the id", NULL, PARAM_TEXT, true, false, NULL},
    {"on", "TASK", "say whether it applies there", NULL, PARAM_PATH, false, false, NULL},
    {"facts", "TASK", "in place of a skill: what predicates can ask of this task", NULL, PARAM_PATH,
     false, false, NULL},
    PARAM_TARGET,
    PARAM_MEMORY,
    {0},
};

static void write_facts(const struct skill_facts *facts, struct command_result *out)
{
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    for (int i = 0; i < FACT_COUNT; i++) {
        const struct fact_info *info = fact_info((enum fact)i);
        const char *word = facts->word[i] ? facts->word[i] : "";
        if (info->kind == FACT_NUMBER) {
            (void)buf_printf(&out->text, "%-13s %-24g %s\n", info->name, facts->number[i],
                             info->help);
            json_put_real(&w, info->name, facts->number[i]);
        } else {
            (void)buf_printf(&out->text, "%-13s %-24s %s\n", info->name, word, info->help);
            json_put_string(&w, info->name, word);
        }
    }
    json_end_object(&w);
}

static void write_evidence(const struct skill_details *d, struct json_writer *w, struct buf *text)
{
    json_key(w, "evidence");
    json_begin_array(w);
    for (size_t i = 0; i < d->evidence_count; i++) {
        const struct graph_skill_evidence *e = &d->evidence[i];
        if (str_equal(e->verdict, "timed"))
            (void)buf_printf(text, "  %-9s %-16s %.2fx [%.2f, %.2f]  %s\n", e->kind, e->task_name,
                             exp(e->log_ratio), exp(e->log_low), exp(e->log_high), e->text);
        else
            (void)buf_printf(text, "  %-9s %-16s %s: %s\n", e->kind, e->task_name, e->verdict,
                             e->text);
        json_begin_object(w);
        json_put_string(w, "kind", e->kind);
        json_put_string(w, "task", e->task_name);
        json_put_string(w, "family", e->family);
        json_put_string(w, "regime", e->regime);
        json_put_string(w, "target_id", e->target_id);
        json_put_string(w, "decision", e->decision_id);
        json_put_string(w, "verdict", e->verdict);
        json_put_string(w, "text", e->text);
        json_put_real(w, "log_ratio", e->log_ratio);
        json_put_real(w, "log_low", e->log_low);
        json_put_real(w, "log_high", e->log_high);
        json_end_object(w);
    }
    json_end_array(w);
}

static void write_details(const struct skill_details *d, struct arena *arena,
                          struct command_result *out)
{
    const struct graph_skill *s = &d->skill;
    struct json_writer w = {.out = &out->json};
    (void)buf_printf(&out->text, "%s (%s, %s, %.12s)\n  %s\n", s->name, s->state, s->origin, s->id,
                     s->intent);
    (void)buf_printf(&out->text, "  applies:  %s\n", s->applies[0] ? s->applies : "anywhere");
    if (s->needs[0])
        (void)buf_printf(&out->text, "  needs:    %s\n", s->needs);
    if (s->change[0])
        (void)buf_printf(&out->text, "  change:   %s\n", s->change);
    if (s->breaks[0])
        (void)buf_printf(&out->text, "  breaks:   %s\n", s->breaks);
    if (s->reason[0])
        (void)buf_printf(&out->text, "  state:    %s: %s\n", s->state, s->reason);
    (void)buf_printf(&out->text, "  evidence: %s\n", skill_evidence_text(&d->belief, arena));
    json_begin_object(&w);
    put_skill(&w, s);
    put_belief(&w, &d->belief);
    write_evidence(d, &w, &out->text);
    if (d->has_facts) {
        (void)buf_printf(&out->text,
                         d->applies ? "it applies there\n" : "it does not apply there: %s\n",
                         d->why);
        json_put_bool(&w, "applies_there", d->applies);
        json_put_string(&w, "why_not", d->why);
    }
    if (d->after[0]) {
        (void)buf_printf(&out->text, "--- without it\n%s--- with it (%s)\n%s", d->before, s->build,
                         d->after);
        json_put_string(&w, "before", d->before);
        json_put_string(&w, "after", d->after);
    }
    json_end_object(&w);
}

static bool run_show(const struct command_call *call, struct command_result *out, struct err *err)
{
    const char *name = command_text(call, "skill");
    const char *facts_of = command_text(call, "facts");
    struct skill_details details;
    struct skill_facts facts;
    if ((name != NULL) == (facts_of != NULL)) {
        (void)err_set(err, ERR_USAGE, "'kope skill show' needs a NAME, or --facts TASK");
        return err_hint(err, "'kope skill list' shows the names");
    }
    if (facts_of) {
        if (!engine_skill_facts(facts_of, command_text(call, "target"), call->arena, &facts, err))
            return false;
        write_facts(&facts, out);
        return true;
    }
    if (!engine_skill_show(command_text(call, "memory"), command_text(call, "target"), name,
                           command_text(call, "on"), call->arena, &details, err))
        return false;
    write_details(&details, call->arena, out);
    return true;
}

const struct command command_skill_show = {
    .name = "skill show",
    .summary = "one skill with its evidence; whether it applies to a task",
    .description =
        "Where it applies is a predicate that a program checks, such as 'sums > 0 and "
        "reassociate'. --on TASK checks it,\nand names what does not hold; --facts TASK lists all "
        "that predicates can ask, with the values there.",
    .examples = "  kope skill show reassociate --on examples/sum\n"
                "  kope skill show --facts examples/softmax",
    .params = show_params,
    .run = run_show,
};

/* ---- skill verify */

static const struct param verify_params[] = {
    {"skill", "NAME", "name, or the beginning of the id", NULL, PARAM_TEXT, true, true, NULL},
    {"on", "TASK", "the task to try it on", NULL, PARAM_PATH, false, true, NULL},
    {"after", "RECIPE", "what both sides have besides", "the plain recipe", PARAM_TEXT, false,
     false, NULL},
    {"time", "DURATION", "of timing, for each case", "3s", PARAM_DURATION, false, false, NULL},
    PARAM_TARGET,
    PARAM_MEMORY,
    {0},
};

static void write_trial(const struct skill_trial *t, struct arena *arena,
                        struct command_result *out)
{
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "skill", t->skill.name);
    json_put_string(&w, "task", t->task->name);
    json_put_bool(&w, "applies", t->applies);
    json_put_string(&w, "why_not", t->why);
    json_put_string(&w, "before", skill_state_name(t->before));
    json_put_string(&w, "after", skill_state_name(t->after));
    (void)buf_printf(&out->text, "%s on %s: ", t->skill.name, t->task->name);
    if (!t->applies) {
        (void)buf_printf(&out->text, "not tried: %s\n", t->why);
        json_end_object(&w);
        return;
    }
    json_put_string(&w, "with", t->with);
    json_put_string(&w, "without", t->without);
    json_put_bool(&w, "on_held_out", t->on_held_out);
    json_key(&w, "verdict");
    event_write_verdict(&w, &t->verdict);
    put_belief(&w, &t->belief);
    json_end_object(&w);
    if (t->verdict.kind == VERDICT_TIMED)
        (void)buf_printf(&out->text, "%.2fx [%.2f, %.2f] with it%s%s\n", exp(t->log_ratio),
                         exp(t->log_low), exp(t->log_high),
                         t->on_held_out ? ", on held-out shapes" : "",
                         t->sign > 0   ? ""
                         : t->sign < 0 ? ": slower"
                                       : ": no difference that can be claimed");
    else
        (void)buf_printf(&out->text, "%s\n", verdict_summary(&t->verdict, arena));
    (void)buf_printf(&out->text, "  without: %s\n  with:    %s\n", t->without, t->with);
    if (t->reason)
        (void)buf_printf(&out->text, "  %s -> %s: %s\n", skill_state_name(t->before),
                         skill_state_name(t->after), t->reason);
    else
        (void)buf_printf(&out->text, "  stays %s\n", skill_state_name(t->after));
}

static bool run_verify(const struct command_call *call, struct command_result *out, struct err *err)
{
    const struct skill_verify_opts opts = {.memory_dir = command_text(call, "memory"),
                                           .target = command_text(call, "target"),
                                           .name = command_text(call, "skill"),
                                           .task_path = command_text(call, "on"),
                                           .after = command_text(call, "after"),
                                           .time_budget_ns = command_duration_ns(call, "time")};
    struct skill_trial trial;
    if (!engine_skill_verify(&opts, call->observer, call->arena, &trial, err))
        return false;
    write_trial(&trial, call->arena, out);
    out->exit_code = trial.applies && trial.verdict.kind != VERDICT_TIMED
                         ? verdict_kind_exit_code(trial.verdict.kind)
                         : 0;
    return true;
}

const struct command command_skill_verify = {
    .name = "skill verify",
    .summary = "try a skill on a task: with it against without it",
    .description =
        "Both sides go through the gate and are timed against each other on clean builds, new data "
        "and held-out shapes. What\ncame of it is kept as evidence. The skill becomes verified "
        "only "
        "where the whole interval is above zero and the\nnoise, on a task or shape that it was not "
        "learned on; a loss contradicts it. Where its predicate does not hold,\nnothing is "
        "measured and the command says what does not.",
    .examples = "  kope skill verify reassociate --on examples/sum\n"
                "  kope skill verify unroll --on examples/sum --after "
                "'compiler=gcc-12 fast=no-errno,no-trapping,no-signed-zeros,associative'",
    .params = verify_params,
    .run = run_verify,
};

/* ---- skill export, skill import */

static const struct param export_params[] = {
    {"folder", "DIR", "folder that the skills' folders go to", NULL, PARAM_PATH, true, true, NULL},
    {"skill", "NAME", "only this one, whatever its state", "all verified ones", PARAM_TEXT, false,
     false, NULL},
    PARAM_TARGET,
    PARAM_MEMORY,
    {0},
};

static bool run_export(const struct command_call *call, struct command_result *out, struct err *err)
{
    const char *dir = command_text(call, "folder");
    size_t count = 0;
    if (!engine_skill_export(command_text(call, "memory"), command_text(call, "target"),
                             command_text(call, "skill"), dir, call->arena, &count, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "folder", dir);
    json_put_int(&w, "skills", (int64_t)count);
    json_end_object(&w);
    (void)buf_printf(&out->text,
                     count ? "wrote %zu skill%s to %s\n"
                           : "no skill is verified yet: wrote %zu skill%s to %s\n",
                     count, count == 1 ? "" : "s", dir);
    return true;
}

const struct command command_skill_export = {
    .name = "skill export",
    .summary = "skills as SKILL.md folders, for coding agents",
    .description =
        "Writes DIR/NAME/SKILL.md in the Agent Skills format for each verified skill, its evidence "
        "in the metadata, its\nexample in references/. Agents look in .agents/skills or "
        ".claude/skills of a project.",
    .examples = "  kope skill export .agents/skills\n"
                "  kope skill export out --skill reassociate",
    .params = export_params,
    .run = run_export,
};

static const struct param import_params[] = {
    {"folder", "DIR", "a skill's folder, with SKILL.md in it", NULL, PARAM_PATH, true, true, NULL},
    PARAM_MEMORY,
    {0},
};

static bool run_import(const struct command_call *call, struct command_result *out, struct err *err)
{
    struct graph_skill skill;
    bool is_new = false;
    if (!engine_skill_import(command_text(call, "memory"), command_text(call, "folder"),
                             call->arena, &skill, &is_new, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "name", skill.name);
    json_put_string(&w, "id", skill.id);
    json_put_bool(&w, "is_new", is_new);
    json_end_object(&w);
    (void)buf_printf(&out->text,
                     is_new ? "imported '%s' as a candidate; try it: kope skill verify %s --on "
                              "TASK\n"
                            : "'%s' is known already: kope skill show %s\n",
                     skill.name, skill.name);
    return true;
}

const struct command command_skill_import = {
    .name = "skill import",
    .summary = "take a SKILL.md folder into the memory as a candidate",
    .description = "Reads the folder strictly. What the file says of its own evidence and state is "
                   "not believed: the skill is a\ncandidate until a trial here.",
    .examples = "  kope skill import out/reassociate",
    .params = import_params,
    .run = run_import,
};
