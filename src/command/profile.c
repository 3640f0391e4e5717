#include "command/internal.h"

#include "engine/profile.h"

static const struct param profile_params[] = {
    PARAM_TASK,
    {"candidate", "FILE", "C source that defines the task's entry point", "the plain reference",
     PARAM_PATH, false, false, NULL},
    {"best", NULL, "the best that the memory knows of this task on this machine", NULL, PARAM_FLAG,
     false, false, NULL},
    {"compiler", "NAME", "of the candidate: one that 'kope target list' shows", "the baseline's",
     PARAM_TEXT, false, false, NULL},
    {"flags", "FLAGS", "of the candidate, in one argument, from the allowed set", "the baseline's",
     PARAM_TEXT, false, false, NULL},
    {"no-timing", NULL, "without a roofline class: the tools that need no run", NULL, PARAM_FLAG,
     false, false, NULL},
    {"all", NULL, "every tool, whatever the roofline class says", NULL, PARAM_FLAG, false, false,
     NULL},
    {"target", "NAME", "where it runs", "cpu", PARAM_TEXT, false, false, NULL},
    PARAM_MEMORY,
    {0},
};

static void write_tools(const struct profile_result *r, struct json_writer *w, struct buf *text)
{
    json_key(w, "tools");
    json_begin_array(w);
    for (size_t i = 0; i < r->tool_count; i++) {
        json_begin_object(w);
        json_put_string(w, "tool", r->tools[i].tool);
        json_put_bool(w, "ran", r->tools[i].ran);
        json_put_string(w, "said", r->tools[i].said);
        json_end_object(w);
        (void)buf_printf(text, "  %-14s %s%s\n", r->tools[i].tool,
                         r->tools[i].ran ? "" : "nothing: ", r->tools[i].said);
    }
    json_end_array(w);
}

void command_write_findings_json(const struct profile_line *lines, size_t count,
                                 struct json_writer *w)
{
    json_key(w, "findings");
    json_begin_array(w);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(w);
        json_put_string(w, "kind", lines[i].kind);
        json_put_string(w, "tool", lines[i].tool);
        json_put_string(w, "text", lines[i].text);
        json_put_real(w, "number", lines[i].number);
        json_put_int(w, "line", lines[i].line);
        json_put_string(w, "moves", lines[i].moves);
        if (lines[i].learned)
            json_put_string(w, "learned", lines[i].learned);
        json_end_object(w);
    }
    json_end_array(w);
}

static void write_findings(const struct profile_result *r, struct buf *text)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct profile_line *f = &r->lines[i];
        (void)buf_printf(text, "%s: %s (%s)\n", f->kind, f->text, f->tool);
        if (f->moves[0])
            (void)buf_printf(text, "  -> %s\n", f->moves);
        if (f->learned[0])
            (void)buf_printf(text, "  learned where this was found: %s\n", f->learned);
    }
    bool any_ran = false;
    for (size_t i = 0; i < r->tool_count; i++)
        any_ran |= r->tools[i].ran;
    if (r->count == 0 && any_ran)
        (void)buf_append_str(text, "no tool found anything that holds it up\n");
}

static bool run_profile(const struct command_call *call, struct command_result *out,
                        struct err *err)
{
    const struct profile_opts opts = {.task_path = command_text(call, "task"),
                                      .memory_dir = command_text(call, "memory"),
                                      .target = command_text(call, "target"),
                                      .source_path = command_text(call, "candidate"),
                                      .compiler = command_text(call, "compiler"),
                                      .flags = command_text(call, "flags"),
                                      .best = command_flag(call, "best"),
                                      .no_timing = command_flag(call, "no-timing"),
                                      .all_tools = command_flag(call, "all")};
    struct profile_result r;
    if (opts.best && opts.source_path)
        return err_set(err, ERR_USAGE, "--best and --candidate name two candidates: choose one");
    if (!opts.source_path && (opts.compiler || opts.flags))
        return err_set(err, ERR_USAGE, "--compiler and --flags are those of a --candidate");
    if (!engine_profile(&opts, call->observer, call->arena, &r, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "task", r.task->name);
    json_put_string(&w, "candidate", r.what);
    json_put_string(&w, "problem", r.problem);
    json_put_string(&w, "bottleneck", r.roofline);
    json_put_real(&w, "share", r.share);
    json_put_string(&w, "roofline", r.roofline_text);
    json_put_string(&w, "plan", r.plan);
    (void)buf_printf(&out->text, "%s: %s\n", r.task->name, r.what);
    if (r.problem[0])
        (void)buf_printf(&out->text, "not timed: %s\n", r.problem);
    out->exit_code = r.exit_code;
    if (r.roofline_text[0])
        (void)buf_printf(&out->text, "%s: %s\n", r.roofline, r.roofline_text);
    command_write_findings_json(r.lines, r.count, &w);
    write_findings(&r, &out->text);
    (void)buf_printf(&out->text, "tools: %s\n", r.plan);
    write_tools(&r, &w, &out->text);
    json_end_object(&w);
    return true;
}

const struct command command_profile = {
    .name = "profile",
    .summary = "what holds a candidate up, and which moves answer it",
    .description =
        "Times the candidate in the gate, says how far it is from what memory and arithmetic of "
        "this machine allow (its\nroofline class), and runs the tools that this class is worth: "
        "samples by line of the running candidate,\nmisses of simulated caches at a smaller size, "
        "the compiler's record of loops that it did not vectorize, a\nlook at the code of the hot "
        "loop, and llvm-mca on it. Each finding has a number, a line of the candidate's\nsource "
        "where there is one, and the moves that answer it, the likeliest first. A tool that is "
        "missing or has\nnothing to read is named with the reason. Nothing is remembered; 'kope "
        "optimize' notes the findings of each\nnew best.",
    .examples = "  kope profile examples/softmax\n"
                "  kope profile examples/softmax --candidate fast.c --compiler clang-19\n"
                "  kope profile examples/softmax --best --all",
    .params = profile_params,
    .run = run_profile,
};
