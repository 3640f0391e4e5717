/* Rules: failures that came back, each with a predicate and a reproducer. */
#include "command/internal.h"

#include "base/str.h"
#include "engine/rulebook.h"
#include "os/file.h"

#include <string.h>

#define PARAM_TARGET                                                                               \
    {                                                                                              \
        "target", "NAME", "whose compilers are meant; see 'kope target list'", "cpu", PARAM_TEXT,  \
            false, false, NULL                                                                     \
    }
#define PARAM_RULE                                                                                 \
    {                                                                                              \
        "rule", "RULE", "its id, the beginning of it, or its cause", NULL, PARAM_TEXT, true, true, \
            NULL                                                                                   \
    }

/* A memory with the rules that it holds, at a target. */
struct shelf {
    struct memory memory;
    struct target *target;
    struct rulebook book;
};

static void shelf_close(struct shelf *shelf)
{
    rulebook_close(&shelf->book);
    target_close(&shelf->target);
    memory_close(&shelf->memory);
}

static bool shelf_open(const struct command_call *call, bool writable, struct shelf *out,
                       struct err *err)
{
    const char *target = command_text(call, "target");
    if (!memory_open(command_text(call, "memory"), writable, call->arena, &out->memory, err))
        return false;
    const char *kept = os_path_join(call->arena, out->memory.dir, "targets");
    return target_open(target ? target : "cpu", kept, &out->target, err) &&
           rulebook_open(&out->memory, out->target, NULL, call->arena, &out->book, err);
}

static bool find_rule(const struct rulebook *book, const char *which, size_t *out, struct err *err)
{
    size_t found = 0;
    for (size_t i = 0; i < book->count; i++) {
        const struct graph_rule *rule = &book->rules[i].rule;
        if (!str_starts_with(rule->id, which) && !str_equal(rule->cause, which))
            continue;
        *out = i;
        found++;
    }
    if (found == 1)
        return true;
    if (found > 1)
        (void)err_set(err, ERR_USAGE, "'%s' means %zu rules", which, found);
    else
        (void)err_set(err, ERR_NOT_FOUND, "there is no rule '%s'", which);
    return err_hint(err, "'kope rule list' shows their ids");
}

/* "retired", "unreadable", "gcc-12, clang-14", "stale", "not tried here". */
static const char *standing_text(const struct rulebook *book, const struct rulebook_rule *rule,
                                 struct arena *arena)
{
    const struct target_features *f = target_features(book->target);
    const char *compilers = "";
    bool is_stale = false;
    if (rule->is_retired)
        return "retired";
    if (!rule->is_readable)
        return "unreadable";
    for (size_t i = 0; i < f->compiler_count; i++) {
        is_stale |= rule->standing[i] == STANDING_STALE;
        if (rule->standing[i] == STANDING_HOLDS)
            compilers = arena_printf(arena, "%s%s%s", compilers, compilers[0] ? ", " : "",
                                     f->compilers[i].name);
    }
    return compilers[0] ? compilers : is_stale ? "stale" : "not tried here";
}

static void put_rule(const struct rulebook *book, const struct rulebook_rule *rule,
                     struct arena *arena, struct json_writer *w)
{
    const struct graph_rule *r = &rule->rule;
    json_put_string(w, "id", r->id);
    json_put_string(w, "cause", r->cause);
    json_put_string(w, "words", r->words);
    json_put_string(w, "predicate", r->predicate);
    json_put_string(w, "holds_with", standing_text(book, rule, arena));
    json_put_string(w, "flags", r->flags);
    json_put_string(w, "dtype", r->dtype);
    json_put_string(w, "task_id", r->task_id);
    json_put_int(w, "occurrences", r->occurrences);
    json_put_int(w, "candidates", r->candidates);
    json_put_int(w, "builds_saved", r->hits);
    json_put_int(w, "upheld", r->upheld);
    json_put_int(w, "missed", r->missed);
    json_put_bool(w, "retired", rule->is_retired);
}

static const struct param list_params[] = {PARAM_TARGET, PARAM_MEMORY, {0}};

static bool run_list(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(shelf_close) struct shelf shelf = {0};
    struct json_writer w = {.out = &out->json};
    if (!shelf_open(call, false, &shelf, err))
        return false;
    json_begin_array(&w);
    if (shelf.book.count == 0)
        (void)buf_append_str(&out->text,
                             "no rules yet: they are made of failures that come back\n");
    else
        (void)buf_printf(&out->text, "%-12s  %-44s %8s %6s %6s  %s\n", "id", "cause", "failures",
                         "saved", "upheld", "holds with");
    for (size_t i = 0; i < shelf.book.count; i++) {
        const struct rulebook_rule *rule = &shelf.book.rules[i];
        (void)buf_printf(&out->text, "%-12.12s  %-44.44s %8lld %6lld %6lld  %s\n", rule->rule.id,
                         rule->rule.cause, (long long)rule->rule.occurrences,
                         (long long)rule->rule.hits, (long long)rule->rule.upheld,
                         standing_text(&shelf.book, rule, call->arena));
        json_begin_object(&w);
        put_rule(&shelf.book, rule, call->arena, &w);
        json_end_object(&w);
    }
    json_end_array(&w);
    if (shelf.book.left_out != 0)
        (void)buf_printf(&out->text,
                         "and %zu more: a memory has too many rules, they are not asked\n",
                         shelf.book.left_out);
    return true;
}

const struct command command_rule_list = {
    .name = "rule list",
    .summary = "what failures taught: one rule for one cause",
    .description = "A rule foretells that a candidate does not build, so that no build is paid "
                   "for. It is made "
                   "of failures of one\n"
                   "root cause that came back in different candidates, and holds with a compiler "
                   "as long as its "
                   "smallest example\n"
                   "still fails there. 'saved' counts the candidates that it refused; one in "
                   "twenty of them is "
                   "built all the same\n"
                   "to test it ('upheld'), and a rule that was wrong once is retired for ever.",
    .examples = "  kope rule list\n"
                "  kope rule list --json               # with predicates and scope",
    .params = list_params,
    .run = run_list,
};

static const struct param show_params[] = {PARAM_RULE, PARAM_TARGET, PARAM_MEMORY, {0}};

static bool write_checks(const struct shelf *shelf, const struct graph_rule *rule,
                         struct arena *arena, struct json_writer *w, struct buf *text,
                         struct err *err)
{
    const struct graph_rule_check *checks = NULL;
    size_t count = 0;
    if (!graph_rule_checks(shelf->memory.graph, rule->id, arena, &checks, &count, err))
        return false;
    json_key(w, "checks");
    json_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        const struct graph_rule_check *c = &checks[i];
        (void)buf_printf(text, "  %-12s %s %s%s%.12s%s%s\n", c->result, c->compiler,
                         c->compiler_version, c->decision_id[0] ? ", decision " : "",
                         c->decision_id, c->reason[0] ? ": " : "", c->reason);
        json_begin_object(w);
        json_put_string(w, "result", c->result);
        json_put_string(w, "compiler", c->compiler);
        json_put_string(w, "version", c->compiler_version);
        json_put_string(w, "target_id", c->target_id);
        json_put_string(w, "decision_id", c->decision_id);
        json_put_string(w, "reason", c->reason);
        json_end_object(w);
    }
    json_end_array(w);
    return true;
}

/* The beginnings of ids that are separated by blanks; the first few of them. */
static const char *short_ids(const char *ids, struct arena *arena)
{
    enum { MOST_SHOWN = 6 };
    const char *text = "";
    for (size_t i = 0; *ids; i++) {
        const size_t length = strcspn(ids, " ");
        if (i == MOST_SHOWN)
            return arena_printf(arena, "%s ...", text);
        text = arena_printf(arena, "%s%s%.*s", text, i ? " " : "", length < 12 ? (int)length : 12,
                            ids);
        ids += length + (ids[length] == ' ');
    }
    return text;
}

static bool run_show(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(shelf_close) struct shelf shelf = {0};
    struct json_writer w = {.out = &out->json};
    const char *source = NULL;
    size_t which = 0;
    if (!shelf_open(call, false, &shelf, err) ||
        !find_rule(&shelf.book, command_text(call, "rule"), &which, err))
        return false;
    const struct rulebook_rule *rule = &shelf.book.rules[which];
    const struct graph_rule *r = &rule->rule;
    if (!rulebook_reproducer(&shelf.book, rule, call->arena, &source, err))
        return false;
    (void)buf_printf(&out->text, "rule %s\n  cause: %s\n  in words: %s\n  foretold by: %s\n", r->id,
                     r->cause, r->words, r->predicate);
    (void)buf_printf(
        &out->text, "  holds with: %s; %s%s, %s\n", standing_text(&shelf.book, rule, call->arena),
        "dtype ", r->dtype[0] ? r->dtype : "any",
        r->task_id[0] ? arena_printf(call->arena, "task %s", r->task_dir) : "any task");
    (void)buf_printf(&out->text, "  from %lld failures of %lld candidates: %s\n",
                     (long long)r->occurrences, (long long)r->candidates,
                     short_ids(r->evidence, call->arena));
    (void)buf_printf(&out->text,
                     "  saved %lld builds; let through: %lld upheld it, %lld failed "
                     "otherwise\n",
                     (long long)r->hits, (long long)r->upheld, (long long)r->missed);
    (void)buf_printf(&out->text, "smallest example, built with '%s':\n%s", r->flags, source);
    (void)buf_append_str(&out->text, "tests:\n");
    json_begin_object(&w);
    put_rule(&shelf.book, rule, call->arena, &w);
    json_put_string(&w, "evidence", r->evidence);
    json_put_string(&w, "reproducer", source);
    const bool ok = write_checks(&shelf, r, call->arena, &w, &out->text, err);
    json_end_object(&w);
    return ok;
}

const struct command command_rule_show = {
    .name = "rule show",
    .summary = "a rule: predicate, smallest example, evidence, tests",
    .description = "Everything that is known of one rule. The predicate is explained in "
                   "docs/rules.md.",
    .examples = "  kope rule show 3fa2c1\n"
                "  kope rule show missing-semicolon",
    .params = show_params,
    .run = run_show,
};

static const struct param verify_params[] = {
    {"rule", "RULE", "its id, the beginning of it, or its cause", "all that are not retired",
     PARAM_TEXT, true, false, NULL},
    PARAM_TARGET,
    PARAM_MEMORY,
    {0}};

static bool run_verify(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(shelf_close) struct shelf shelf = {0};
    static const char *const words[] = {
        [STANDING_UNKNOWN] = "not tried", [STANDING_HOLDS] = "holds", [STANDING_STALE] = "stale"};
    struct json_writer w = {.out = &out->json};
    struct rule_checked *checked = NULL;
    size_t which = SIZE_MAX, count = 0, holding = 0;
    const char *name = command_text(call, "rule");
    if (!shelf_open(call, true, &shelf, err) ||
        (name && !find_rule(&shelf.book, name, &which, err)) ||
        !rulebook_verify(&shelf.book, which, call->arena, &checked, &count, err))
        return false;
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        const struct rule_checked *c = &checked[i];
        holding += c->standing == STANDING_HOLDS;
        (void)buf_printf(&out->text, "%.12s  %-9s with %s %s: %s%s%s\n", c->rule->id,
                         words[c->standing], c->compiler, c->version, c->rule->cause,
                         c->reason[0] ? "; " : "", c->reason);
        json_begin_object(&w);
        json_put_string(&w, "rule", c->rule->id);
        json_put_string(&w, "cause", c->rule->cause);
        json_put_string(&w, "compiler", c->compiler);
        json_put_string(&w, "version", c->version);
        json_put_string(&w, "result", words[c->standing]);
        json_put_string(&w, "reason", c->reason);
        json_end_object(&w);
    }
    json_end_array(&w);
    (void)buf_printf(&out->text, "%zu of %zu tests hold\n", holding, count);
    return true;
}

const struct command command_rule_verify = {
    .name = "rule verify",
    .summary = "build the smallest examples again",
    .description =
        "Builds the smallest example of each rule with every compiler of the target, and keeps "
        "what "
        "came of it: where it\n"
        "still fails of its cause the rule holds, elsewhere it is stale and says nothing there. A "
        "run does the same by\n"
        "itself for a compiler or machine that it has not met, the first time that a rule would "
        "refuse something.",
    .examples = "  kope rule verify                    # all, after a new compiler was installed\n"
                "  kope rule verify open-bracket",
    .params = verify_params,
    .run = run_verify,
};

static const struct param learn_params[] = {
    {"failures", "N", "the newest failures to look at", "2000", PARAM_INT, false, false, NULL},
    PARAM_TARGET,
    PARAM_MEMORY,
    {0}};

static bool run_learn(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(shelf_close) struct shelf shelf = {0};
    struct json_writer w = {.out = &out->json};
    struct rulebook_lesson l;
    const int64_t failures = command_int(call, "failures", 0);
    const struct rulebook_limits limits = {.most_failed = (size_t)failures};
    if (failures < 0)
        return err_set(err, ERR_USAGE, "--failures must be positive");
    if (!shelf_open(call, true, &shelf, err) || !rulebook_learn(&shelf.book, &limits, &l, err))
        return false;
    (void)buf_printf(&out->text,
                     "failures: %zu, causes: %zu; the host's doing: %zu, of candidates that were "
                     "judged in two ways: %zu (they count nowhere)\n",
                     l.failures, l.causes, l.host_faults, l.flaky);
    (void)buf_printf(&out->text,
                     "rules made: %zu, with %zu builds; causes with a rule already: %zu, that "
                     "cannot be foretold: %zu; rules retired: %zu\n",
                     l.learned, l.builds, l.known, l.without, l.retired);
    json_begin_object(&w);
    json_put_int(&w, "failures", (int64_t)l.failures);
    json_put_int(&w, "causes", (int64_t)l.causes);
    json_put_int(&w, "host_faults", (int64_t)l.host_faults);
    json_put_int(&w, "flaky", (int64_t)l.flaky);
    json_put_int(&w, "learned", (int64_t)l.learned);
    json_put_int(&w, "known", (int64_t)l.known);
    json_put_int(&w, "without", (int64_t)l.without);
    json_put_int(&w, "retired", (int64_t)l.retired);
    json_put_int(&w, "builds", (int64_t)l.builds);
    json_end_object(&w);
    return true;
}

const struct command command_rule_learn = {
    .name = "rule learn",
    .summary = "make rules of the failures in memory",
    .description =
        "Sorts failures by root cause, and makes a rule where one came back at least three times "
        "in "
        "at least two\n"
        "different candidates and something in their sources foretells it. The end of a run does "
        "the "
        "same, for at most\n"
        "20 seconds. What the host did (a full disk, a compiler that was killed, noise, a time "
        "limit) never counts, and\n"
        "neither does a candidate that failed once and was built another time.",
    .examples = "  kope rule learn",
    .params = learn_params,
    .run = run_learn,
};
