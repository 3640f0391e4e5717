#include "command/internal.h"

#include "engine/skill.h"

#include <math.h>

static const struct param learn_params[] = {
    PARAM_TASK,
    {"from", "FILE", "the expert's kernel: C that defines the task's entry point", NULL, PARAM_PATH,
     false, true, NULL},
    {"compiler", "NAME", "that the expert is built with", "the baseline's", PARAM_TEXT, false,
     false, NULL},
    {"flags", "FLAGS", "in one argument, from the allowed set", "the baseline's", PARAM_TEXT, false,
     false, NULL},
    {"steps", "N", "mechanisms to take out, at most", "16", PARAM_INT, false, false, NULL},
    {"rejections", "N", "attempts in a row that come to nothing, then it ends", "4", PARAM_INT,
     false, false, NULL},
    {"trials", "N", "that each forward step must stand", "3", PARAM_INT, false, false, NULL},
    {"time", "DURATION", "of timing, for each case in a trial", "1s", PARAM_DURATION, false, false,
     NULL},
    {"target", "NAME", "where it runs", "cpu", PARAM_TEXT, false, false, NULL},
    PARAM_MEMORY,
    {0},
};

static void write_step(const struct lineage_step *s, struct arena *arena, struct json_writer *w,
                       struct buf *text)
{
    json_begin_object(w);
    json_put_string(w, "mechanism", s->mechanism);
    json_put_string(w, "what", s->what);
    json_put_bool(w, "accepted", s->is_accepted);
    json_put_string(w, "text", s->text);
    const char *name = arena_printf(arena, "%s%s%s", s->mechanism, s->what[0] ? " " : "", s->what);
    if (!s->is_accepted) {
        (void)buf_printf(text, "  - %-34s %s\n", name, s->text);
        json_end_object(w);
        return;
    }
    json_put_string(w, "skill", s->skill);
    json_put_string(w, "state", skill_state_name(s->state));
    json_put_bool(w, "general", s->is_general);
    json_put_real(w, "speedup", exp(s->log_ratio));
    json_put_real(w, "speedup_low", exp(s->log_low));
    json_put_real(w, "speedup_high", exp(s->log_high));
    json_put_real(w, "held_out_speedup", exp(s->held_out_log_ratio));
    json_put_real(w, "held_out_low", exp(s->held_out_low));
    json_put_real(w, "held_out_high", exp(s->held_out_high));
    json_end_object(w);
    (void)buf_printf(text, "  + %-34s %.2fx [%.2f, %.2f], held out %.2fx [%.2f, %.2f]\n", name,
                     exp(s->log_ratio), exp(s->log_low), exp(s->log_high),
                     exp(s->held_out_log_ratio), exp(s->held_out_low), exp(s->held_out_high));
    (void)buf_printf(text, "      skill %s: %s; %s\n", s->skill, skill_state_name(s->state),
                     s->text);
}

static bool run_learn(const struct command_call *call, struct command_result *out, struct err *err)
{
    const struct skill_learn_opts opts = {.memory_dir = command_text(call, "memory"),
                                          .target = command_text(call, "target"),
                                          .expert_path = command_text(call, "from"),
                                          .task_path = command_text(call, "task"),
                                          .compiler = command_text(call, "compiler"),
                                          .flags = command_text(call, "flags"),
                                          .steps = command_int(call, "steps", 0),
                                          .rejections = command_int(call, "rejections", 0),
                                          .trials = command_int(call, "trials", 0),
                                          .time_budget_ns = command_duration_ns(call, "time")};
    struct skill_lineage lineage;
    if (!engine_skill_learn(&opts, call->observer, call->arena, &lineage, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "task", lineage.task->name);
    json_put_real(&w, "expert_speedup", exp(lineage.expert_log_ratio));
    json_put_int(&w, "accepted", (int64_t)lineage.accepted);
    json_put_int(&w, "verified", (int64_t)lineage.verified);
    json_put_string(&w, "end_reason", lineage.end_reason);
    (void)buf_printf(&out->text, "%s: the expert is %.2fx the reference\n", lineage.task->name,
                     exp(lineage.expert_log_ratio));
    json_key(&w, "steps");
    json_begin_array(&w);
    for (size_t i = 0; i < lineage.count; i++)
        write_step(&lineage.steps[i], call->arena, &w, &out->text);
    json_end_array(&w);
    json_end_object(&w);
    (void)buf_printf(&out->text,
                     "%zu taken out, %zu of them verified skills; what is left is %.2fx the "
                     "reference; it ended because %s\n",
                     lineage.accepted, lineage.verified, exp(lineage.start_log_ratio),
                     lineage.end_reason);
    return true;
}

const struct command command_skill_learn = {
    .name = "skill learn",
    .summary = "skills from an expert's kernel, by walking it backward",
    .description =
        "Takes one mechanism at a time out of a fast kernel (pragmas, prefetches, sizes of tiles, "
        "functions of its own, flags\nof the build). What is left must be right and slower; the "
        "step forward again must regain 99 % in every trial.\nEach accepted step is a skill: put "
        "back by the words of a recipe where that regains it, so that it can be tried on\nany "
        "task, else an example. It is verified where new data on the held-out shapes show the "
        "gain too.\nIn the end the whole expert is told as moves: where the fastest of a few "
        "orders of them on the plain reference comes\nto 99 % of it, that is a skill for tasks "
        "with loops of that kind.",
    .examples = "  kope skill learn examples/sum --from fast_sum.c\n"
                "  kope skill learn examples/softmax --from expert.c --flags '-O3 -march=native "
                "-fopenmp-simd -fno-math-errno'",
    .params = learn_params,
    .run = run_learn,
};
