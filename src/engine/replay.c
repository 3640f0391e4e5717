#include "engine/replay.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/file.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN_BYTES = 48 };

/* An event as it was recorded. */
struct recorded {
    struct event event; /* its body is parsed when it is needed */
    bool is_own, is_taken;
};

struct replay {
    struct arena arena;
    struct graph_run run;
    struct recorded *events;
    size_t count, capacity;
    size_t applied; /* to the graph */
    int64_t prompts, decisions;
};

static bool collect(void *context, const struct event *event, struct err *err)
{
    struct replay *replay = context;
    (void)err;
    replay->events =
        vec_reserve_one(replay->events, replay->count, &replay->capacity, sizeof *replay->events);
    struct recorded *r = &replay->events[replay->count++];
    *r = (struct recorded){.event = *event};
    r->event.kind = arena_strdup(&replay->arena, event->kind);
    r->event.writer = arena_strdup(&replay->arena, event->writer);
    r->event.text = arena_strdup(&replay->arena, event->text);
    r->event.body = NULL;
    r->is_own =
        event->body && str_equal(json_string(json_get(event->body, "run_id"), ""), replay->run.id);
    return true;
}

/* The bodies point into trees that live as long as the replay. */
static bool parse_body(struct replay *replay, struct recorded *r, struct err *err)
{
    const struct json *whole = NULL;
    if (r->event.body || !json_parse(r->event.text, strlen(r->event.text), "recorded event",
                                     &replay->arena, &whole, err))
        return r->event.body != NULL;
    r->event.body = json_get(whole, "body");
    return true;
}

/* Lets the graph know what it knew when the event at `end` had been written. */
static bool apply_until(struct replay *replay, struct graph *graph, size_t end, struct err *err)
{
    for (; replay->applied <= end && replay->applied < replay->count; replay->applied++) {
        struct recorded *r = &replay->events[replay->applied];
        if (!parse_body(replay, r, err) || !graph_apply(graph, &r->event, err))
            return false;
    }
    return true;
}

static bool take_options(struct run *run, const struct graph_run *record, struct err *err)
{
    struct optimize_opts *opts = &run->opts;
    struct proposer_spec spec = {0};
    struct err ignored = {0};
    if (!proposer_spec_parse(record->proposer, run->arena, &spec, &ignored) ||
        !(str_equal(spec.kind, "llm") || str_equal(spec.kind, "offline"))) {
        (void)err_set(err, ERR_UNSUPPORTED, "run %.12s was proposed by '%s'", record->id,
                      record->proposer);
        return err_hint(err, "runs of offline and llm can be replayed");
    }
    if (!models_read_settings(run, record->settings, err))
        return false;
    opts->policy = record->policy;
    opts->budget = record->budget;
    opts->seed = record->seed;
    opts->has_seed = true;
    opts->time_limit_ns = 0; /* where it ended stands in the record */
    opts->token_budget = 0;
    opts->cost_budget_usd = 0.0;
    opts->proposer = str_equal(spec.kind, "offline") ? "offline" : "replay:it";
    run->models.offline = true;
    return true;
}

bool replay_open(struct run *run, const char *which, struct err *err)
{
    struct replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        BUG("engine: out of memory");
    run->replay = replay;
    if (!memory_open(run->opts.memory_dir, false, run->arena, &run->memory, err) ||
        !graph_find_run(run->memory.graph, which, &replay->arena, &replay->run, err) ||
        !take_options(run, &replay->run, err) ||
        !journal_scan(run->memory.journal, collect, replay, err))
        return false;
    run->memory.replay = replay;
    graph_close(&run->memory.graph);
    if (!graph_open(":memory:", &run->memory.graph, err))
        return false;
    for (size_t i = 0; i < replay->count; i++) {
        if (str_equal(replay->events[i].event.id.text, replay->run.id))
            return apply_until(replay, run->memory.graph, i, err);
    }
    return err_set(err, ERR_NOT_FOUND, "the journal does not hold run %.12s", replay->run.id);
}

void replay_close(struct replay *replay)
{
    if (!replay)
        return;
    arena_free(&replay->arena);
    free(replay->events);
    free(replay);
}

bool replay_check_subject(const struct run *run, struct err *err)
{
    const struct graph_run *record = &run->replay->run;
    if (!str_equal(run->task->id.text, record->task_id)) {
        (void)err_set(err, ERR_BAD_INPUT, "run %.12s is not of task '%s' as it is now", record->id,
                      run->task->name);
        return err_hint(err, "it was made from '%s'", record->task_dir);
    }
    if (str_equal(run->features->id.text, record->target_id))
        return true;
    (void)err_set(err, ERR_UNSUPPORTED, "run %.12s was made on another machine or toolchain",
                  record->id);
    return err_hint(err, "its prompts hold the facts of that machine; 'kope target probe' shows "
                         "what is measured here");
}

/* Is a context named by what followed it? One that is not was built before a call that failed. */
static bool is_used_context(struct replay *replay, const char *id)
{
    for (size_t i = 0; i < replay->count; i++) {
        struct recorded *r = &replay->events[i];
        struct err ignored = {0};
        if (r->is_own && parse_body(replay, r, &ignored) &&
            str_equal(json_string(json_get(r->event.body, "context_id"), ""), id))
            return true;
    }
    return false;
}

/* The next event of the run of that kind; `count` where there is none. */
static size_t next_of(struct replay *replay, const char *kind)
{
    for (size_t i = 0; i < replay->count; i++) {
        struct recorded *r = &replay->events[i];
        if (!r->is_own || r->is_taken || !str_equal(r->event.kind, kind))
            continue;
        if (str_equal(kind, EVENT_CONTEXT) && !is_used_context(replay, r->event.id.text))
            continue;
        return i;
    }
    return replay->count;
}

static bool differs(const char *what, const char *recorded, const char *now, struct err *err)
{
    size_t at = 0;
    while (recorded[at] != '\0' && recorded[at] == now[at])
        at++;
    const size_t from = at > SHOWN_BYTES / 2 ? at - SHOWN_BYTES / 2 : 0;
    (void)err_set(err, ERR_CORRUPT,
                  "the replay differs from the record in %s, first at byte %zu: '%.*s' was '%.*s'",
                  what, at, SHOWN_BYTES, now + from, SHOWN_BYTES, recorded + from);
    return err_hint(err, "another version of kope made the run, or what it read has changed");
}

static bool same(const char *what, const char *recorded, const char *now, struct err *err)
{
    return str_equal(recorded, now) || differs(what, recorded, now, err);
}

/* The text of a failed repair names the error of the day. */
static bool same_failure(const char *recorded, const char *now)
{
    static const char repair[] = "malformed reply (";
    return str_equal(recorded, now) ||
           (str_starts_with(recorded, repair) && str_starts_with(now, repair));
}

/* What is no text in a decision. */
static const char *shape_of(const struct decision_event *d, struct arena *arena)
{
    return arena_printf(arena, "number %lld, %zu moves, %.17g foretold", (long long)d->sequence,
                        d->move_count, d->predicted_log_ratio);
}

static bool same_decision(struct replay *replay, const struct json *recorded,
                          const struct json *now, struct err *err)
{
    struct decision_event a;
    struct decision_event b;
    if (!event_read_decision(recorded, &replay->arena, &a, err) ||
        !event_read_decision(now, &replay->arena, &b, err))
        return false;
    const char *what = arena_printf(&replay->arena, "decision %lld", (long long)a.sequence);
    if (!same(what, shape_of(&a, &replay->arena), shape_of(&b, &replay->arena), err))
        return false;
    for (size_t i = 0; i < a.move_count; i++) {
        if (!same(what, a.moves[i], b.moves[i], err))
            return false;
    }
    if (!same_failure(a.failure, b.failure))
        return differs(what, a.failure, b.failure, err);
    return same(what, a.parent, b.parent, err) && same(what, a.step, b.step, err) &&
           same(what, a.intent, b.intent, err) && same(what, a.hypothesis, b.hypothesis, err) &&
           same(what, a.recipe, b.recipe, err) && same(what, a.compiler, b.compiler, err) &&
           same(what, a.flags, b.flags, err) && same(what, a.candidate_id, b.candidate_id, err) &&
           same(what, a.derived_from, b.derived_from, err) &&
           same(what, a.source_body, b.source_body, err) && same(what, a.uses, b.uses, err);
}

static bool same_context(struct replay *replay, struct memory *memory, const struct json *recorded,
                         const struct json *now, struct err *err)
{
    const char *a = json_string(json_get(recorded, "text_body"), "");
    const char *b = json_string(json_get(now, "text_body"), "");
    const char *text = NULL;
    replay->prompts++;
    if (str_equal(a, b))
        return true;
    if (!memory_get_text(memory, a, &replay->arena, &text, err))
        return false;
    return differs(arena_printf(&replay->arena, "context %lld", (long long)replay->prompts), text,
                   memory->last_text ? memory->last_text : "", err);
}

bool replay_append(struct replay *replay, struct memory *memory, const char *kind,
                   const struct buf *body, struct hash_id *out_id, struct err *err)
{
    const struct json *now = NULL;
    const bool is_end = str_equal(kind, EVENT_RUN_END);
    const bool is_outcome = str_equal(kind, EVENT_OUTCOME);
    if (is_end || is_outcome) /* what the record itself gave */
        return true;
    const size_t at = next_of(replay, kind);
    if (at == replay->count)
        return err_set(err, ERR_CORRUPT, "the replay has a '%s' more than the record", kind);
    struct recorded *r = &replay->events[at];
    if (!parse_body(replay, r, err) ||
        !json_parse(buf_text(body), body->length, kind, &replay->arena, &now, err))
        return false;
    r->is_taken = true;
    if (str_equal(kind, EVENT_DECISION) && !same_decision(replay, r->event.body, now, err))
        return false;
    if (str_equal(kind, EVENT_CONTEXT) && !same_context(replay, memory, r->event.body, now, err))
        return false;
    replay->decisions += str_equal(kind, EVENT_DECISION);
    if (out_id)
        *out_id = r->event.id;
    return apply_until(replay, memory->graph, at, err);
}

bool replay_verdict(struct run *run, const char *decision_id, bool is_confirmation,
                    struct arena *arena, bool *found, struct verdict *out, struct err *err)
{
    struct replay *replay = run->replay;
    *found = false;
    for (size_t i = 0; i < replay->count; i++) {
        struct recorded *r = &replay->events[i];
        struct outcome_event outcome;
        if (!r->is_own || r->is_taken || !str_equal(r->event.kind, EVENT_OUTCOME) ||
            !parse_body(replay, r, err) ||
            !event_read_outcome(r->event.body, arena, &outcome, err) ||
            !str_equal(outcome.decision_id, decision_id) ||
            outcome.is_confirmation != is_confirmation)
            continue;
        r->is_taken = true;
        *found = true;
        *out = outcome.verdict;
        return apply_until(replay, run->memory.graph, i, err);
    }
    return true;
}

bool replay_findings(struct run *run, const char *decision_id, struct err *err)
{
    struct replay *replay = run->replay;
    for (size_t i = 0; i < replay->count; i++) {
        struct recorded *r = &replay->events[i];
        struct finding_event finding;
        if (!r->is_own || r->is_taken || !str_equal(r->event.kind, EVENT_FINDING))
            continue;
        if (!parse_body(replay, r, err) ||
            !event_read_finding(r->event.body, &replay->arena, &finding, err))
            return false;
        const bool is_of_tools = finding.tool[0] != '\0' || str_equal(finding.bottleneck, "tools");
        if (!is_of_tools || !str_equal(finding.decision_id, decision_id))
            continue;
        r->is_taken = true;
        if (!apply_until(replay, run->memory.graph, i, err))
            return false;
    }
    return true;
}

static char *value_text(const struct json *value, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_write_value(&w, value);
    return arena_strdup(arena, buf_text(&text));
}

bool replay_recall(struct run *run, const char *role, const char *prompt, struct arena *arena,
                   const char **out, struct err *err)
{
    struct replay *replay = run->replay;
    struct exchange_event recorded;
    const struct json *exchange = NULL;
    const size_t at = next_of(replay, EVENT_EXCHANGE);
    *out = NULL;
    if (at == replay->count || !parse_body(replay, &replay->events[at], err) ||
        !event_read_exchange(replay->events[at].event.body, arena, &recorded, err) ||
        !str_equal(recorded.role, role)) /* it was not had: the budget, the network */
        return err_set(err, ERR_BUDGET, "the record has no exchange '%s' here", role);
    if (!memory_get_text(&run->memory, recorded.body, arena, out, err))
        return false;
    const struct hash_id hash = hash_content(prompt, strlen(prompt));
    if (!str_equal(hash.text, recorded.prompt_hash)) {
        if (!json_parse(*out, strlen(*out), "recorded exchange", arena, &exchange, err))
            return false;
        return differs(
            arena_printf(arena, "prompt '%s' after decision %lld", role, (long long)run->sequence),
            value_text(json_get(exchange, "messages"), arena), prompt, err);
    }
    replay->events[at].is_taken = true;
    if (str_equal(role, "propose") || str_equal(role, "repair"))
        run->exchanges.last_id = replay->events[at].event.id.text;
    spend(&run->spent, recorded.tokens_in + recorded.tokens_out + recorded.tokens_lost,
          recorded.is_cost_known, recorded.cost_usd);
    return apply_until(replay, run->memory.graph, at, err);
}

const char *replay_end_reason(const struct replay *replay)
{
    for (size_t i = 0; i < replay->count; i++) {
        const struct recorded *r = &replay->events[i];
        if (r->is_own && !r->is_taken && str_equal(r->event.kind, EVENT_DECISION))
            return NULL;
    }
    return replay->run.has_ended ? replay->run.end_reason : "the end of the record";
}

bool replay_next_step_is(struct replay *replay, const char *step)
{
    const size_t at = next_of(replay, EVENT_DECISION);
    struct err ignored = {0};
    return at < replay->count && parse_body(replay, &replay->events[at], &ignored) &&
           str_equal(json_string(json_get(replay->events[at].event.body, "step"), ""), step);
}

void replay_count(const struct replay *replay, int64_t *prompts, int64_t *decisions)
{
    *prompts = replay->prompts;
    *decisions = replay->decisions;
}

const char *replay_run_id(const struct replay *replay)
{
    return replay->run.id;
}
