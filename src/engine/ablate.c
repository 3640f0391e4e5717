/* Backward ablation of a winner: each mechanism of its recipe taken out in turn, and what the
 * winner loses without it. */
#include "engine/skill_store.h"

#include "base/str.h"

#include <math.h>

enum { MAX_PARTS = 512 }; /* more than the steps and words that a recipe can have */
#define ABLATE_BUDGET_NS (INT64_C(1500) * 1000 * 1000)

/* A part of a recipe: a word, or one step of its 'nest='. */
struct part {
    const char *text;    /* "unroll=loops", "nest=tile(i:32)" */
    const char *without; /* the recipe's line without it */
    const char
        *needing; /* later steps that are refused without it, and go with it: "pack(b)"; "" */
};

static void add_part(struct part *parts, size_t *count, const char *text, const char *without,
                     const char *needing)
{
    if (*count == MAX_PARTS)
        BUG("engine: a recipe has more than %d parts", MAX_PARTS);
    parts[(*count)++] = (struct part){text, without, needing};
}

/* `line` with the bytes [begin, begin + length) replaced by `by`, and no blank left double. */
static const char *replaced(const char *line, const char *begin, size_t length, const char *by,
                            struct arena *arena)
{
    const char *rest = begin + length;
    if (by[0] == '\0' && *rest == ' ')
        rest++;
    return arena_printf(arena, "%.*s%s%s", (int)(begin - line), line, by, rest);
}

/* The line with these steps, joined by ';', in place of its word of `length` at `word`. */
static const char *with_steps(const char *line, const char *word, size_t length, const char *steps,
                              struct arena *arena)
{
    return replaced(line, word, length, steps[0] ? arena_printf(arena, "nest=%s", steps) : "",
                    arena);
}

/* Do these steps apply, with the rest of the line as it is? */
static bool steps_apply(const struct run *run, const char *line, const char *word, size_t length,
                        const char *steps)
{
    const char *whole = with_steps(line, word, length, steps, run->arena);
    const struct recipe *recipe = NULL;
    struct candidate candidate;
    struct err ignored;
    return recipe_parse(&run->moves, whole, run->arena, &recipe, &ignored) &&
           recipe_candidate(&run->moves, recipe, run->arena, &candidate, &ignored);
}

static const char *joined(const char *a, const char *b, const char *between, struct arena *arena)
{
    return a[0] && b[0] ? arena_printf(arena, "%s%s%s", a, between, b) : a[0] ? a : b;
}

/* The steps of a line's word 'nest='. */
struct steps {
    const char *line, *word;
    size_t length; /* of the word */
    const char *const *items;
    size_t count;
};

/* The steps without one, in their order. A step may work on what an earlier one made (a loop, a
 * copy): where the others are refused without it, those that are refused go with it, as few as one
 * pass finds; `*needing` names them. */
static const char *rest_of(const struct run *run, const struct steps *s, size_t out,
                           const char **needing)
{
    struct arena *arena = run->arena;
    const char *kept = "";
    for (size_t i = 0; i < s->count; i++)
        kept = i == out ? kept : joined(kept, s->items[i], ";", arena);
    if (steps_apply(run, s->line, s->word, s->length, kept))
        return kept;
    kept = "";
    for (size_t i = 0; i < s->count; i++) {
        const char *more = joined(kept, s->items[i], ";", arena);
        if (i == out)
            continue;
        if (steps_apply(run, s->line, s->word, s->length, more))
            kept = more;
        else
            *needing = joined(*needing, s->items[i], ", ", arena);
    }
    return kept;
}

/* "nest=a;b;c": each step by itself. */
static void add_steps(const struct run *run, const char *line, const char *word, size_t length,
                      struct part *parts, size_t *count)
{
    static const char key[] = "nest=";
    struct arena *arena = run->arena;
    const char *steps[MAX_PARTS];
    size_t n = 0;
    for (const char *at = word + strlen(key); at < word + length && n < MAX_PARTS;) {
        const size_t left = (size_t)(word + length - at);
        const char *text = arena_strndup(arena, at, left);
        const size_t bytes = strcspn(text, ";");
        steps[n++] = arena_strndup(arena, at, bytes);
        at += bytes + 1;
    }
    for (size_t out = 0; out < n; out++) {
        const char *needing = "";
        const char *kept =
            rest_of(run, &(struct steps){line, word, length, steps, n}, out, &needing);
        add_part(parts, count, arena_printf(arena, "nest=%s", steps[out]),
                 with_steps(line, word, length, kept, arena), needing);
    }
}

static size_t parts_of(const struct run *run, const char *line, struct part *parts)
{
    struct arena *arena = run->arena;
    const char *plain = recipe_text(recipe_plain(&run->moves, arena), arena);
    size_t count = 0;
    for (const char *at = line; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        const char *word = arena_strndup(arena, at, length);
        const bool is_plain =
            strstr(arena_printf(arena, " %s ", plain), arena_printf(arena, " %s ", word)) != NULL;
        if (str_starts_with(word, "nest="))
            add_steps(run, line, at, length, parts, &count);
        else if (str_starts_with(word, "compiler=") && !is_plain)
            add_part(parts, &count, word,
                     replaced(line, at, length,
                              arena_printf(arena, "compiler=%s", run->moves.default_compiler),
                              arena),
                     "");
        else if (!is_plain)
            add_part(parts, &count, word, replaced(line, at, length, "", arena), "");
        at += length;
    }
    return count;
}

/* Where a part of a recipe can pay elsewhere. */
static const char *applies_of(const char *part)
{
    static const struct {
        const char *begins, *applies;
    } rows[] = {{"fast=", "float"},
                {"contract=", "float and reassociate"},
                {"veclib=", "float and approximate and calls > 0"},
                {"strip=", "sums > 0 and depth >= 2"},
                {"polly=", "understood and depth >= 2"},
                {"graphite=", "understood and depth >= 2"},
                {"nest=", "understood"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (str_starts_with(part, rows[i].begins))
            return rows[i].applies;
    }
    return "loops > 0";
}

static const char *name_of(const char *part, struct arena *arena)
{
    char *name = arena_alloc(arena, SKILL_NAME_BYTES + 1);
    size_t length = 0;
    for (const char *c = part; *c && length < SKILL_NAME_BYTES; c++) {
        const bool is_word = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        if (is_word || (length > 0 && name[length - 1] != '-'))
            name[length++] = is_word ? *c : '-';
    }
    while (length > 0 && name[length - 1] == '-')
        name[--length] = '\0';
    return name;
}

/* What pays is a skill, a candidate until it pays elsewhere too. */
static bool distil(struct run *run, const struct graph_decision *best, const struct ablation *a,
                   struct err *err)
{
    struct graph_skill skill = skill_blank("distilled");
    skill.name = name_of(a->part, run->arena);
    skill.intent = arena_printf(run->arena, "set %s", a->part);
    skill.applies = applies_of(a->part);
    skill.change = a->part;
    skill.learned_on = run->task->id.text;
    const struct hash_id id = skill_make_id(&skill);
    struct err ignored;
    bool is_new = false;
    skill.id = id.text;
    if (!skill_check(&skill, &ignored))
        return true; /* a word with a name that does not travel */
    return skill_store_define(&run->memory, &skill, &is_new, err) &&
           skill_store_evidence(
               run,
               &(struct skill_measurement){.skill_id = skill.id,
                                           .kind = "ablation",
                                           .decision_id = best->id,
                                           .text = "the winner with it against without",
                                           .verdict = verdict_kind_name(VERDICT_TIMED),
                                           .log_ratio = a->log_ratio,
                                           .log_low = a->log_low,
                                           .log_high = a->log_high},
               err);
}

/* "nest=tile(i:32), and what needs it: pack(b)" */
static const char *name_with_needing(const struct ablation *a, struct arena *arena)
{
    return a->needing[0] ? arena_printf(arena, "%s, and what needs it: %s", a->part, a->needing)
                         : a->part;
}

/* In the report, as a table; a part that could not be measured has the number 0. */
static bool note(struct run *run, const struct graph_decision *best, const struct ablation *a,
                 struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    event_write_finding(
        &(struct finding_event){
            .run_id = run->run_id,
            .decision_id = best->id,
            .bottleneck = "ablation",
            .text = a->is_timed ? arena_printf(run->arena,
                                               "with %s the winner is %.2fx [%.2f, %.2f] faster",
                                               name_with_needing(a, run->arena), exp(a->log_ratio),
                                               exp(a->log_low), exp(a->log_high))
                                : arena_printf(run->arena, "without %s: %s",
                                               name_with_needing(a, run->arena), a->problem),
            .number = a->is_timed ? exp(a->log_ratio) : 0.0,
            .moves = a->part},
        &body);
    return memory_append(&run->memory, EVENT_FINDING, &body, NULL, err);
}

static bool measure(struct run *run, const struct candidate *best, const struct part *part,
                    int64_t budget_ns, struct ablation *out, struct err *err)
{
    CLEANUP(gate_contest_close) struct gate_contest *contest = NULL;
    const struct contest_opts opts = {.time_budget_ns = budget_ns ? budget_ns : ABLATE_BUDGET_NS};
    const struct recipe *recipe = NULL;
    struct candidate without;
    struct verdict checks[2];
    struct verdict timed;
    struct err refusal;
    bool about_a = false;
    *out = (struct ablation){.part = part->text, .needing = part->needing, .problem = ""};
    if (!recipe_parse(&run->moves, part->without, run->arena, &recipe, &refusal) ||
        !recipe_candidate(&run->moves, recipe, run->arena, &without, &refusal)) {
        out->problem = arena_printf(run->arena, "cannot be taken out alone: %s", refusal.message);
        return true;
    }
    run_stage(run, arena_printf(run->arena, "without %s", part->text));
    if (!gate_contest_open(run->gate, &without, best, &opts, run->arena, checks, &contest, err))
        return false;
    const struct verdict *bad = &checks[checks[0].kind == VERDICT_TIMED];
    if (contest && !gate_contest_time(contest, run->arena, &timed, &about_a, err))
        return false;
    if (!contest || timed.kind != VERDICT_TIMED) {
        out->problem = verdict_summary(contest ? &timed : bad, run->arena);
        return true;
    }
    out->is_timed = true;
    out->log_ratio = timed.log_ratio;
    out->log_low = timed.log_low;
    out->log_high = timed.log_high;
    out->sign =
        verdict_difference(timed.log_low, timed.log_high, verdict_noise(&timed, false)).sign;
    return true;
}

/* A run of another target is told from a compiler that is not installed, before anything is
 * measured. What the memory does not know is left to the recipe. */
static bool check_target(struct run *run, const struct graph_run *record, struct err *err)
{
    const struct graph_target *targets = NULL;
    size_t count = 0;
    const char *here = run->opts.target ? run->opts.target : "cpu";
    if (!graph_targets(run->memory.graph, run->arena, &targets, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *there = targets[i].name;
        if (!str_equal(targets[i].id, record->target_id) || str_equal(there, here))
            continue;
        (void)err_set(err, ERR_USAGE, "run %.12s is of target '%s', not of '%s'", record->id, there,
                      here);
        return err_hint(err, "'kope ablate %.12s --target %s' times its parts there", record->id,
                        there);
    }
    return true;
}

static bool find_best(struct run *run, const char *which, struct graph_decision *best,
                      struct err *err)
{
    struct graph_run record;
    struct graph_decisions all;
    if (!memory_open(run->opts.memory_dir, true, run->arena, &run->memory, err) ||
        !graph_find_run(run->memory.graph, which, run->arena, &record, err) ||
        !check_target(run, &record, err) ||
        !graph_run_decisions(run->memory.graph, record.id, run->arena, &all, err))
        return false;
    run->run_id = record.id;
    run->opts.task_path = record.task_dir;
    for (size_t i = 0; i < all.count; i++) {
        if (!str_equal(all.items[i].id, record.best_decision))
            continue;
        *best = all.items[i];
        if (best->recipe[0] != '\0')
            return true;
        (void)err_set(err, ERR_UNSUPPORTED, "the winner of run %.12s is no recipe", record.id);
        return err_hint(err, "'kope skill learn TASK --from FILE' takes a source apart");
    }
    (void)err_set(err, ERR_NOT_FOUND, "run %.12s has no confirmed winner", record.id);
    return err_hint(err, "'kope runs' lists what there is");
}

static bool ablate_all(struct run *run, const struct graph_decision *best,
                       const struct ablate_opts *opts, struct ablation_result *out, struct err *err)
{
    struct part parts[MAX_PARTS];
    const struct recipe *recipe = NULL;
    struct candidate candidate;
    if (!recipe_parse(&run->moves, best->recipe, run->arena, &recipe, err) ||
        !recipe_candidate(&run->moves, recipe, run->arena, &candidate, err))
        return false;
    const size_t count = parts_of(run, candidate.recipe, parts);
    struct ablation *items = arena_array(run->arena, count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        struct ablation *a = &items[i];
        if (!measure(run, &candidate, &parts[i], opts->time_budget_ns, a, err))
            return false;
        out->count++;
        /* What needed others to go with it is no skill by itself. */
        const bool pays = a->is_timed && a->sign > 0 && a->needing[0] == '\0';
        if (!note(run, best, a, err) || (pays && !distil(run, best, a, err)))
            return false;
    }
    out->items = items;
    out->recipe = candidate.recipe;
    return true;
}

bool engine_ablate(const struct ablate_opts *opts, const struct observer *observer,
                   struct arena *arena, struct ablation_result *out, struct err *err)
{
    struct run run = {.opts = {.memory_dir = opts->memory_dir, .target = opts->target},
                      .observer = observer,
                      .arena = arena};
    struct graph_decision best = {0};
    struct ablation_result result = {.count = 0};
    bool ok = find_best(&run, opts->run, &best, err) && run_open_for_context(&run, err);
    if (ok && !str_equal(best.task_id, run.task->id.text)) {
        (void)err_set(err, ERR_BAD_INPUT, "task '%s' has changed since that run", run.task->dir);
        ok = err_hint(err, "start a new run with 'kope optimize %s'", run.task->dir);
    }
    if (ok) {
        run_stage(&run, "building baseline and oracle, trying the null kernels");
        const struct gate_opts gate_opts = {.twin = run_twin(&run)};
        ok = gate_open(run.target, run.task, &gate_opts, &run.gate, err) &&
             ablate_all(&run, &best, opts, &result, err);
        result.run_id = run.run_id;
        result.task = run.task;
        result.log_ratio = best.is_confirmed ? best.confirmed_log_ratio : best.log_ratio;
    }
    run_close(&run);
    if (ok)
        *out = result;
    return ok;
}
