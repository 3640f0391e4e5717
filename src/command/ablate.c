#include "command/internal.h"

#include "engine/skill.h"

#include <math.h>

static const struct param ablate_params[] = {
    {"run", "RUN", "id, the beginning of one, or 'last'", NULL, PARAM_TEXT, true, true, NULL},
    {"time", "DURATION", "of timing, for each case", "1500ms", PARAM_DURATION, false, false, NULL},
    {"target", "NAME", "where it runs", "cpu", PARAM_TEXT, false, false, NULL},
    PARAM_MEMORY,
    {0},
};

static void write_item(const struct ablation *a, struct json_writer *w, struct buf *text)
{
    json_begin_object(w);
    json_put_string(w, "part", a->part);
    json_put_string(w, "needing", a->needing);
    json_put_bool(w, "timed", a->is_timed);
    if (a->is_timed) {
        json_put_real(w, "speedup", exp(a->log_ratio));
        json_put_real(w, "speedup_low", exp(a->log_low));
        json_put_real(w, "speedup_high", exp(a->log_high));
        (void)buf_printf(text, "  %-40s %.2fx [%.2f, %.2f]%s\n", a->part, exp(a->log_ratio),
                         exp(a->log_low), exp(a->log_high),
                         a->sign > 0   ? ""
                         : a->sign < 0 ? "  costs"
                                       : "  no difference");
    } else {
        json_put_string(w, "problem", a->problem);
        (void)buf_printf(text, "  %-40s %s\n", a->part, a->problem);
    }
    if (a->needing[0])
        (void)buf_printf(text, "    with what needs it: %s\n", a->needing);
    json_end_object(w);
}

static bool run_ablate(const struct command_call *call, struct command_result *out, struct err *err)
{
    const struct ablate_opts opts = {.memory_dir = command_text(call, "memory"),
                                     .target = command_text(call, "target"),
                                     .run = command_text(call, "run"),
                                     .time_budget_ns = command_duration_ns(call, "time")};
    struct ablation_result result;
    if (!engine_ablate(&opts, call->observer, call->arena, &result, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "run", result.run_id);
    json_put_string(&w, "task", result.task->name);
    json_put_string(&w, "recipe", result.recipe);
    json_put_real(&w, "speedup", exp(result.log_ratio));
    (void)buf_printf(&out->text,
                     "%s: %.2fx by %s\nwithout each part, the winner is so much "
                     "faster than the rest:\n",
                     result.task->name, exp(result.log_ratio), result.recipe);
    json_key(&w, "parts");
    json_begin_array(&w);
    for (size_t i = 0; i < result.count; i++)
        write_item(&result.items[i], &w, &out->text);
    json_end_array(&w);
    json_end_object(&w);
    return true;
}

const struct command command_ablate = {
    .name = "ablate",
    .summary = "what each part of a run's winner is worth",
    .description =
        "Takes each part out of the winner's recipe in turn and times the winner against the rest. "
        "What works on a part, and is\nrefused without it, goes with it. The gains stand in the "
        "run's report; a part that pays by itself becomes a skill, a candidate until "
        "'kope skill verify' shows that it pays on another\ntask. Parts interact: their gains do "
        "not multiply to the whole.",
    .examples = "  kope ablate last\n"
                "  kope ablate last --time 500ms",
    .params = ablate_params,
    .run = run_ablate,
};
