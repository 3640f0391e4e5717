/* What prompts hold, and what that was worth. */
#include "command/internal.h"

#include "context/value.h"

#include <math.h>

static const struct param value_params[] = {
    {"limit", "N", "at most this many items", "20", PARAM_INT, false, false, NULL},
    PARAM_MEMORY,
    {0},
};

/* JSON has no infinity: null is unknown. */
static void put_known(struct json_writer *w, const char *key, double value)
{
    if (isfinite(value)) {
        json_put_real(w, key, value);
        return;
    }
    json_key(w, key);
    json_write_null(w);
}

static void write_worths(const struct context_worth *worths, size_t count, struct json_writer *w)
{
    json_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        const struct context_worth *worth = &worths[i];
        json_begin_object(w);
        json_put_string(w, "kind", worth->kind);
        json_put_string(w, "ref", worth->ref);
        json_put_bool(w, "known", worth->is_known);
        json_put_int(w, "shown", (int64_t)worth->raw.shown);
        json_put_int(w, "withheld", (int64_t)worth->raw.withheld);
        json_put_int(w, "runs_shown", (int64_t)worth->raw.clusters_shown);
        json_put_int(w, "runs_withheld", (int64_t)worth->raw.clusters_withheld);
        put_known(w, "effect", worth->effect);
        put_known(w, "low", worth->low);
        put_known(w, "high", worth->high);
        json_put_real(w, "tokens", worth->tokens);
        put_known(w, "runs_wanted", worth->runs_wanted);
        json_end_object(w);
    }
    json_end_array(w);
}

static bool run_value(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct context_value value;
    const int64_t limit = command_int(call, "limit", 20);
    if (!memory_open(command_text(call, "memory"), false, call->arena, &memory, err) ||
        !context_value(memory.graph, call->arena, &value, err))
        return false;
    (void)buf_append_str(&out->text,
                         context_value_text(&value, limit > 0 ? (size_t)limit : 0, call->arena));
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "memory", memory.dir);
    json_put_int(&w, "decisions", (int64_t)value.decisions);
    json_put_int(&w, "runs", (int64_t)value.runs);
    json_put_int(&w, "trials", (int64_t)value.trials);
    json_put_int(&w, "runs_needed", CONTEXT_VALUE_LEAST_RUNS);
    json_put_int(&w, "unknown_items", (int64_t)value.unknown_items);
    json_key(&w, "kinds");
    write_worths(value.kinds, value.kind_count, &w);
    json_key(&w, "items");
    write_worths(value.items, value.item_count, &w);
    json_end_object(&w);
    return true;
}

const struct command command_context_value = {
    .name = "context value",
    .summary = "what the items of prompts were worth, measured by withholding some at random",
    .description =
        "A prompt holds retrieved experience: decisions, failures, moves, skills, rules. Of these "
        "a "
        "twentieth is withheld at\nrandom in each run, with its probability on record. What "
        "decisions then gained with and without them is the worth of\neach kind and item: in "
        "log-ratio of a step (0.1 is 10 % faster), with an interval that knows that steps of one "
        "run\nresemble each other, and per 1000 tokens. Where there is too little to say, it says "
        "what is needed.",
    .examples = "  kope context value                        # of the default memory\n"
                "  kope context value --memory team --json   # for programs; null is unknown",
    .params = value_params,
    .run = run_value,
};
