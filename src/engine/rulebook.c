#include "engine/rulebook.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/internal.h"
#include "engine/rulebook_internal.h"

#include <stdlib.h>

/* As small as a task can be: its sources are only built. */
static const char probe_yaml[] = "name: probe\n"
                                 "family: elementwise\n"
                                 "summary: what rules are tried on\n"
                                 "dtype: %s\n"
                                 "axes: [n]\n"
                                 "args:\n"
                                 "  - {name: x, role: in, shape: [n]}\n"
                                 "  - {name: y, role: out, shape: [n]}\n"
                                 "cases:\n"
                                 "  - {n: 16}\n"
                                 "held_out:\n"
                                 "  - {n: 17}\n";
static const char probe_reference[] = "void probe(const real *x, real *y, int64_t n)\n"
                                      "{\n"
                                      "    for (int64_t i = 0; i < n; i++)\n"
                                      "        y[i] = x[i];\n"
                                      "}\n";

static bool make_probes(struct rulebook *book, struct err *err)
{
    static const char *const dtypes[] = {"float32", "float64"};
    for (size_t i = 0; i < 2; i++) {
        const char *yaml = arena_printf(book->arena, probe_yaml, dtypes[i]);
        if (!task_parse(yaml, strlen(yaml), probe_reference, "", book->arena, &book->probes[i],
                        err))
            return false;
    }
    return true;
}

static size_t compiler_like(const struct target_features *f, const struct graph_rule_check *check)
{
    for (size_t i = 0; i < f->compiler_count; i++) {
        if (str_equal(f->compilers[i].family, check->compiler_family) &&
            str_equal(f->compilers[i].version, check->compiler_version))
            return i;
    }
    return f->compiler_count;
}

/* The latest test of a reproducer with each compiler of this target. */
static bool read_standing(struct rulebook *book, struct rulebook_rule *rule, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct target_features *f = target_features(book->target);
    const struct graph_rule_check *checks = NULL;
    size_t count = 0;
    if (!graph_rule_checks(book->memory->graph, rule->rule.id, &scratch, &checks, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const bool holds = str_equal(checks[i].result, RULE_HOLDS);
        const size_t compiler = compiler_like(f, &checks[i]);
        rule->held_before |= holds;
        if ((!holds && !str_equal(checks[i].result, RULE_STALE)) || compiler == f->compiler_count ||
            !str_equal(checks[i].target_id, f->id.text))
            continue;
        rule->standing[compiler] = holds ? STANDING_HOLDS : STANDING_STALE;
    }
    return true;
}

bool rulebook_add(struct rulebook *book, const struct graph_rule *rule, struct err *err)
{
    struct err unreadable;
    book->rules = vec_reserve_one(book->rules, book->count, &book->capacity, sizeof *book->rules);
    struct rulebook_rule *added = &book->rules[book->count];
    *added =
        (struct rulebook_rule){.rule = *rule,
                               .is_readable = rule_predicate_valid(rule->predicate, &unreadable),
                               .is_retired = rule->is_contradicted};
    if (!read_standing(book, added, err))
        return false;
    added->is_shown = added->is_readable && !added->is_retired && added->held_before;
    book->count++;
    return true;
}

bool rulebook_open(struct memory *memory, struct target *target, const struct task *task,
                   struct arena *arena, struct rulebook *out, struct err *err)
{
    const struct graph_rule *rules = NULL;
    size_t count = 0;
    *out = (struct rulebook){.memory = memory, .target = target, .task = task, .arena = arena};
    if (!make_probes(out, err) || !graph_rules(memory->graph, arena, &rules, &count, err))
        return false;
    out->left_out = count > RULEBOOK_MOST_RULES ? count - RULEBOOK_MOST_RULES : 0;
    for (size_t i = 0; i < count - out->left_out; i++) {
        if (!rulebook_add(out, &rules[i], err)) {
            rulebook_close(out);
            return false;
        }
    }
    return true;
}

void rulebook_close(struct rulebook *book)
{
    free(book->rules);
    book->rules = NULL;
    book->count = book->capacity = 0;
}

/* --- asking ------------------------------------------------------------------------------------
 */

const struct rule_source *rulebook_read(const struct rulebook *book,
                                        const struct candidate *candidate, size_t *compiler,
                                        struct arena *arena)
{
    const struct target_features *f = target_features(book->target);
    const char *name = candidate->compiler, *default_name = NULL;
    const char *const *flags = NULL;
    size_t flag_count = 0;
    target_default_build(book->target, &default_name, &flags, &flag_count);
    name = name ? name : default_name;
    for (*compiler = 0; *compiler < f->compiler_count; (*compiler)++) {
        if (str_equal(f->compilers[*compiler].name, name))
            break;
    }
    const bool is_known = *compiler < f->compiler_count;
    if (candidate->flag_count != 0) { /* what is read may outlive the candidate */
        flag_count = candidate->flag_count;
        flags = arena_memdup(arena, candidate->flags, flag_count * sizeof *flags);
    }
    const struct rule_candidate read = {.source = candidate->source,
                                        .compiler_family =
                                            is_known ? f->compilers[*compiler].family : "",
                                        .isa = f->isa,
                                        .flags = flags,
                                        .flag_count = flag_count};
    return rule_source_read(&read, arena);
}

static bool fits_task(const struct task *task, const struct rulebook_rule *rule)
{
    if (task && rule->rule.task_id[0] != '\0' && !str_equal(rule->rule.task_id, task->id.text))
        return false;
    return !task || rule->rule.dtype[0] == '\0' ||
           str_equal(rule->rule.dtype, dtype_name(task->dtype));
}

/* By the decision alone, so that a run that is resumed draws the same. */
static bool draws_trial(const char *decision_id, const struct graph_rule *rule)
{
    const char *const parts[] = {decision_id, rule->id};
    const struct hash_id id = hash_strings(parts, 2);
    return hash_fnv1a(id.text, HASH_ID_CHARS) % RULEBOOK_TRIAL_SHARE == 0;
}

bool rulebook_ask(struct rulebook *book, const struct candidate *candidate, const char *decision_id,
                  struct rule_hit *out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    *out = (struct rule_hit){0};
    if (book->count == 0)
        return true;
    const struct rule_source *source = rulebook_read(book, candidate, &out->compiler, &scratch);
    if (out->compiler == target_features(book->target)->compiler_count)
        return true; /* the gate says so itself, without a build */
    for (size_t i = 0; i < book->count && !out->rule; i++) {
        struct rulebook_rule *rule = &book->rules[i];
        if (!rule->is_readable || rule->is_retired || !fits_task(book->task, rule) ||
            !rule_predicate_holds(rule->rule.predicate, source))
            continue;
        if (!rulebook_check(book, rule, out->compiler, err))
            return false;
        if (rule->standing[out->compiler] == STANDING_HOLDS)
            out->rule = rule;
    }
    out->is_trial = out->rule && draws_trial(decision_id, &out->rule->rule);
    return true;
}

void rulebook_refuse(const struct rulebook *book, const struct rule_hit *hit, struct arena *arena,
                     struct verdict *out)
{
    const struct graph_rule *rule = &hit->rule->rule;
    *out =
        (struct verdict){.kind = VERDICT_REJECTED,
                         .mechanism = "rule",
                         .diagnostics = "",
                         .missing_layers = "",
                         .compiler = target_features(book->target)->compilers[hit->compiler].name,
                         .flags = "",
                         .seed = "",
                         .load = -1};
    /* The first words are how the graph counts what a rule refused. */
    out->evidence = arena_printf(arena,
                                 "rule %.12s: %s, as in %lld failures of %lld candidates; not "
                                 "built ('kope rule show %.12s' has the smallest example)",
                                 rule->id, rule->words, (long long)rule->occurrences,
                                 (long long)rule->candidates, rule->id);
}

bool rulebook_write_check(struct rulebook *book, const struct rulebook_rule *rule, size_t compiler,
                          const char *result, const char *decision_id, const char *reason,
                          struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    const struct target_features *f = target_features(book->target);
    event_write_rule(&(struct rule_event){.rule_id = rule->rule.id,
                                          .action = RULE_CHECK,
                                          .result = result,
                                          .compiler = f->compilers[compiler].name,
                                          .compiler_family = f->compilers[compiler].family,
                                          .compiler_version = f->compilers[compiler].version,
                                          .target_id = f->id.text,
                                          .decision_id = decision_id,
                                          .reason = reason},
                     &body);
    return memory_append(book->memory, EVENT_RULE, &body, NULL, err);
}

bool rulebook_settle(struct rulebook *book, const struct rule_hit *hit, const char *decision_id,
                     const struct verdict *verdict, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct failure failure = {.kind = verdict->kind,
                                    .mechanism = verdict->mechanism,
                                    .evidence = verdict->evidence,
                                    .diagnostics = verdict->diagnostics,
                                    .entry = book->task ? book->task->entry : NULL};
    const struct cause cause = cause_of(&failure, &scratch);
    const bool is_built = verdict->kind == VERDICT_TIMED || verdict->code_id.text[0] != '\0';
    const bool is_same = cause.is_lesson && str_equal(cause.key, hit->rule->rule.cause);
    if (!is_same && !is_built && !cause.is_lesson)
        return true; /* the host's doing */
    const char *result = is_same ? RULE_UPHELD : is_built ? RULE_CONTRADICTED : RULE_MISSED;
    const char *reason = is_same    ? ""
                         : is_built ? "it was built"
                                    : arena_printf(&scratch, "%s", cause.key);
    hit->rule->is_retired |= !is_same && is_built;
    return rulebook_write_check(book, hit->rule, hit->compiler, result, decision_id, reason, err);
}

bool rulebook_reproducer(const struct rulebook *book, const struct rulebook_rule *rule,
                         struct arena *arena, const char **out, struct err *err)
{
    return memory_get_text(book->memory, rule->rule.reproducer_body, arena, out, err) ||
           err_within(err, "reading the reproducer of rule %.12s", rule->rule.id);
}

const char *rulebook_advice(const struct rulebook *book, const struct rulebook_rule *rule,
                            struct arena *arena)
{
    const char *example = NULL;
    struct err ignored;
    if (!rule->is_shown || !fits_task(book->task, rule) ||
        !memory_get_text(book->memory, rule->rule.reproducer_body, arena, &example, &ignored))
        return NULL;
    char *line = arena_strdup(arena, example);
    bool is_blank = true;
    for (char *c = line; *c; c++) {
        is_blank &= *c == '\n' || *c == ' ';
        *c = *c == '\n' ? ' ' : *c;
    }
    enum { MOST_EXAMPLE = 160 };
    return is_blank || strlen(line) > MOST_EXAMPLE
               ? arena_printf(arena, "does not build: %s", rule->rule.words)
               : arena_printf(arena, "does not build: %s; smallest example: %s", rule->rule.words,
                              line);
}
