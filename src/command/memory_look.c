/* Commands that look into a memory: search, show, path. */
#include "command/internal.h"

#include "base/str.h"
#include "graph/graph.h"
#include "graph/look.h"

#include <math.h>
#include <string.h>

enum { MAX_MATCHES = 8, MIN_PREFIX = 2, LABEL_BYTES = 60 };

/* "1.32x [1.30, 1.34]", or how it failed. */
static const char *outcome_text(const struct graph_decision *d, struct arena *arena)
{
    if (!d->has_outcome)
        return d->failure[0] != '\0' ? "no candidate" : "not judged";
    if (d->kind != VERDICT_TIMED)
        return d->mechanism[0] != '\0'
                   ? arena_printf(arena, "%s (%s)", verdict_kind_name(d->kind), d->mechanism)
                   : verdict_kind_name(d->kind);
    return arena_printf(arena, "%.2fx [%.2f, %.2f]%s", exp(d->log_ratio), exp(d->log_low),
                        exp(d->log_high),
                        d->is_confirmed     ? " confirmed"
                        : d->confirm_failed ? " refuted"
                        : d->is_win         ? " win"
                                            : "");
}

static void write_real_or_null(struct json_writer *w, const char *key, bool is_known, double value)
{
    json_key(w, key);
    if (is_known)
        json_write_real(w, value);
    else
        json_write_null(w);
}

static void write_decision_json(const struct graph_decision *d, struct json_writer *w)
{
    const bool is_timed = d->has_outcome && d->kind == VERDICT_TIMED;
    json_begin_object(w);
    json_put_string(w, "decision", d->id);
    json_put_string(w, "run", d->run_id);
    json_put_string(w, "parent", d->parent[0] != '\0' ? d->parent : NULL);
    json_put_string(w, "task", d->task_name);
    json_put_string(w, "family", d->family);
    json_put_string(w, "target", d->target_id);
    json_put_int(w, "sequence", d->sequence);
    json_put_string(w, "intent", d->intent);
    json_put_string(w, "moves", d->moves);
    json_put_string(w, "recipe", d->recipe);
    json_put_string(w, "verdict", d->has_outcome ? verdict_kind_name(d->kind) : NULL);
    json_put_string(w, "mechanism", d->mechanism);
    json_put_string(w, "evidence", d->evidence);
    write_real_or_null(w, "log_ratio", is_timed, d->log_ratio);
    write_real_or_null(w, "log_low", is_timed, d->log_low);
    write_real_or_null(w, "log_high", is_timed, d->log_high);
    write_real_or_null(w, "gain", d->has_gain, d->gain);
    json_put_bool(w, "is_win", d->is_win);
    json_put_bool(w, "is_confirmed", d->is_confirmed);
    json_put_bool(w, "confirm_failed", d->confirm_failed);
    json_end_object(w);
}

/* What stands in a line of text: without line breaks, cut at a width. */
static const char *one_line(const char *text, int width, struct arena *arena)
{
    char *copy = arena_printf(arena, "%.*s", width, text);
    for (char *at = copy; *at; at++)
        *at = *at == '\n' || *at == '\t' ? ' ' : *at;
    str_make_printable(copy);
    return copy;
}

static void write_decisions(const struct graph_decisions *list, const struct command_call *call,
                            struct command_result *out)
{
    struct json_writer w = {.out = &out->json};
    json_begin_array(&w);
    for (size_t i = 0; i < list->count; i++) {
        const struct graph_decision *d = &list->items[i];
        write_decision_json(d, &w);
        (void)buf_printf(&out->text, "%.12s  %-16.16s  %-34s  %s\n", d->id,
                         one_line(d->task_name, 16, call->arena), outcome_text(d, call->arena),
                         one_line(d->intent, LABEL_BYTES, call->arena));
    }
    json_end_array(&w);
}

/* ---- search */

static const struct param search_params[] = {
    {"words", "WORD...", "any of these in intent, hypothesis, moves, evidence, diagnostics or task",
     NULL, PARAM_REST, true, true, NULL},
    {"limit", "N", "at most this many, best first", "20", PARAM_INT, false, false, NULL},
    PARAM_MEMORY,
    {0},
};

static bool run_search(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct graph_decisions list = {0};
    if (!memory_open(command_text(call, "memory"), false, call->arena, &memory, err) ||
        !graph_search(memory.graph, command_text(call, "words"),
                      (size_t)command_int(call, "limit", 20), call->arena, &list, err))
        return false;
    write_decisions(&list, call, out);
    if (list.count == 0)
        (void)buf_append_str(&out->text, "nothing that was judged holds any of these words\n");
    return true;
}

const struct command command_memory_search = {
    .name = "memory search",
    .summary = "judged decisions by words, with what came of each",
    .description =
        "Ranks by BM25; what was done and what came of it weighs more than the task that "
        "it was done on. A line: id, task,\n"
        "outcome (speedup over the baseline with its 95 % interval), intent. Outcomes "
        "that were too noisy are left out.",
    .examples = "  kope memory search tile rows softmax\n"
                "  kope memory search undeclared identifier --limit 5 --json",
    .params = search_params,
    .run = run_search,
};

/* ---- show */

static const struct param show_params[] = {
    {"id", "ID",
     "of a decision, run, task, target, context, ..., or of a stored body; or the "
     "beginning of one",
     NULL, PARAM_TEXT, true, true, NULL},
    PARAM_MEMORY,
    {0},
};

struct match {
    const char *kind, *id, *label;
};

/* The one thing whose id begins so. */
static bool find_one(struct memory *memory, const char *prefix, struct arena *arena,
                     struct match *out, struct err *err)
{
    const struct graph_node *nodes = NULL;
    const char *const *bodies = NULL;
    size_t count = 0;
    size_t body_count = 0;
    if (strlen(prefix) < MIN_PREFIX)
        return err_set(err, ERR_USAGE, "'%s' is too short for the beginning of an id", prefix);
    if (!graph_find(memory->graph, prefix, MAX_MATCHES, arena, &nodes, &count, err) ||
        !journal_store_find(memory->journal, prefix, MAX_MATCHES, arena, &bodies, &body_count, err))
        return false;
    struct match *matches = arena_array(arena, count + body_count, sizeof *matches);
    for (size_t i = 0; i < count; i++)
        matches[i] = (struct match){nodes[i].kind, nodes[i].id, nodes[i].label};
    for (size_t i = 0; i < body_count; i++)
        matches[count + i] = (struct match){"body", bodies[i], ""};
    if (count + body_count == 1) {
        *out = matches[0];
        return true;
    }
    if (count + body_count == 0) {
        (void)err_set(err, ERR_NOT_FOUND, "nothing in '%s' has an id that begins with '%s'",
                      memory->dir, prefix);
        return err_hint(err, "'kope memory search WORDS' and 'kope runs' list ids");
    }
    CLEANUP(buf_free) struct buf list = {0};
    for (size_t i = 0; i < count + body_count && i < MAX_MATCHES; i++)
        (void)buf_printf(&list, "%s%s %.16s", i ? ", " : "", matches[i].kind, matches[i].id);
    (void)err_set(err, ERR_USAGE, "'%s' is the beginning of more than one id", prefix);
    return err_hint(err, "%s%s", buf_text(&list),
                    count + body_count > MAX_MATCHES ? ", and others" : "");
}

static void write_field(const struct graph_field *field, struct arena *arena, struct json_writer *w,
                        struct buf *text)
{
    json_key(w, field->name);
    switch (field->type) {
    case GRAPH_NONE:
        json_write_null(w);
        break;
    case GRAPH_INT:
        json_write_int(w, field->integer);
        (void)buf_printf(text, "  %-20s %lld\n", field->name, (long long)field->integer);
        break;
    case GRAPH_REAL:
        json_write_real(w, field->real);
        (void)buf_printf(text, "  %-20s %.6g\n", field->name, field->real);
        break;
    case GRAPH_TEXT:
        json_write_string(w, field->text);
        if (field->text[0] != '\0')
            (void)buf_printf(text, "  %-20s %s\n", field->name, one_line(field->text, 4096, arena));
        break;
    }
}

/* What hangs on it: cases of a decision's outcome, decisions of a run, the best of a task. */
static bool show_more(struct memory *memory, const struct match *match,
                      const struct command_call *call, struct json_writer *w, struct buf *text,
                      struct err *err)
{
    struct graph_decisions list = {0};
    const struct case_result *cases = NULL;
    size_t count = 0;
    if (str_equal(match->kind, "run")) {
        if (!graph_run_decisions(memory->graph, match->id, call->arena, &list, err))
            return false;
        json_key(w, "decisions");
        json_begin_array(w);
        for (size_t i = 0; i < list.count; i++) {
            const struct graph_decision *d = &list.items[i];
            write_decision_json(d, w);
            (void)buf_printf(text, "  %4lld  %.12s  %-34s  %s\n", (long long)d->sequence, d->id,
                             outcome_text(d, call->arena),
                             one_line(d->intent, LABEL_BYTES, call->arena));
        }
        json_end_array(w);
        return true;
    }
    if (!str_equal(match->kind, "decision"))
        return true;
    for (int confirmation = 0; confirmation < 2; confirmation++) {
        if (!graph_outcome_cases(memory->graph, match->id, confirmation != 0, call->arena, &cases,
                                 &count, err))
            return false;
        struct verdict verdict = {.kind = VERDICT_TIMED, .case_count = count};
        verdict.cases = arena_memdup(call->arena, cases, count * sizeof *cases);
        if (count != 0) {
            (void)buf_append_str(text, confirmation ? "confirmation:\n" : "outcome:\n");
            command_write_cases(&verdict, call->arena, text);
        }
        json_key(w, confirmation ? "confirmation_cases" : "cases");
        json_begin_array(w);
        for (size_t i = 0; i < count; i++) {
            json_begin_object(w);
            json_put_string(w, "name", cases[i].name);
            json_put_bool(w, "held_out", cases[i].held_out);
            json_put_real(w, "log_ratio", cases[i].log_ratio);
            json_put_real(w, "log_low", cases[i].log_low);
            json_put_real(w, "log_high", cases[i].log_high);
            json_put_int(w, "pairs", cases[i].pairs);
            json_end_object(w);
        }
        json_end_array(w);
    }
    return true;
}

static bool show_body(struct memory *memory, const char *id, const struct command_call *call,
                      struct command_result *out, struct err *err)
{
    char *text = NULL;
    size_t length = 0;
    if (!journal_store_get(memory->journal, id, call->arena, &text, &length, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "kind", "body");
    json_put_string(&w, "id", id);
    json_put_int(&w, "bytes", (int64_t)length);
    json_put_string(&w, "text", text);
    json_end_object(&w);
    str_make_printable(text);
    (void)buf_append_str(&out->text, text);
    if (length != 0 && text[strlen(text) - 1] != '\n')
        (void)buf_append_char(&out->text, '\n');
    return true;
}

static bool run_show(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct match match;
    const struct graph_field *fields = NULL;
    size_t count = 0;
    if (!memory_open(command_text(call, "memory"), false, call->arena, &memory, err) ||
        !find_one(&memory, command_text(call, "id"), call->arena, &match, err))
        return false;
    if (str_equal(match.kind, "body"))
        return show_body(&memory, match.id, call, out, err);
    if (!graph_node_fields(memory.graph, match.kind, match.id, call->arena, &fields, &count, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "kind", match.kind);
    (void)buf_printf(&out->text, "%s %s\n", match.kind, match.id);
    for (size_t i = 0; i < count; i++)
        write_field(&fields[i], call->arena, &w, &out->text);
    if (!show_more(&memory, &match, call, &w, &out->text, err))
        return false;
    json_end_object(&w);
    return true;
}

const struct command command_memory_show = {
    .name = "memory show",
    .summary = "all that is stored of a decision, a run, a task, a body, ...",
    .description =
        "The id may be cut short as long as only one thing begins so; where several do, they are "
        "listed. Names of fields are\n"
        "the columns of docs/graph-schema.md. A body (a source, a prompt, diagnostics) is printed "
        "as "
        "it is, without control\n"
        "characters.",
    .examples = "  kope memory show 3fa9\n"
                "  kope memory show 09a21fb6 --json",
    .params = show_params,
    .run = run_show,
};

/* ---- path */

static const struct param path_params[] = {
    {"decision", "ID", "of a decision, or the beginning of one", NULL, PARAM_TEXT, true, true,
     NULL},
    PARAM_MEMORY,
    {0},
};

static const char *gain_text(const struct graph_decision *d, struct arena *arena)
{
    return d->has_gain ? arena_printf(arena, "%+.1f %%", 100.0 * expm1(d->gain)) : "";
}

static bool run_path(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct match match;
    struct graph_decisions list = {0};
    if (!memory_open(command_text(call, "memory"), false, call->arena, &memory, err) ||
        !find_one(&memory, command_text(call, "decision"), call->arena, &match, err))
        return false;
    if (!str_equal(match.kind, "decision"))
        return err_set(err, ERR_USAGE, "'%s' is a %s, not a decision",
                       command_text(call, "decision"), match.kind);
    if (!graph_path(memory.graph, match.id, call->arena, &list, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_array(&w);
    if (list.items[0].parent[0] != '\0')
        (void)buf_printf(&out->text, "%.12s  (its parent, which this memory does not hold)\n",
                         list.items[0].parent);
    else
        (void)buf_printf(&out->text, "baseline of %s\n", list.items[0].task_name);
    for (size_t i = 0; i < list.count; i++) {
        const struct graph_decision *d = &list.items[i];
        write_decision_json(d, &w);
        (void)buf_printf(&out->text, "%.12s  %-34s  %9s  %s\n", d->id, outcome_text(d, call->arena),
                         gain_text(d, call->arena), one_line(d->intent, LABEL_BYTES, call->arena));
    }
    json_end_array(&w);
    return true;
}

const struct command command_memory_path = {
    .name = "memory path",
    .summary = "how a decision came about, from the baseline on",
    .description =
        "One line for each decision on the way: id, outcome (speedup over the baseline with "
        "its 95 % interval), gain over\n"
        "the step before it, intent.",
    .examples = "  kope memory path 3fa9",
    .params = path_params,
    .run = run_path,
};
