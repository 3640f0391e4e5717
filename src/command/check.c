#include "command/internal.h"

#include "journal/event.h"

static const struct param check_params[] = {
    PARAM_TASK,
    {"candidate", "FILE", "C source that defines the task's entry point", NULL, PARAM_PATH, true,
     true, NULL},
    {"compiler", "NAME", "one that 'kope target list' shows", "the baseline's", PARAM_TEXT, false,
     false, NULL},
    {"flags", "FLAGS", "in one argument, from the allowed set", "the baseline's", PARAM_TEXT, false,
     false, NULL},
    {"confirm", NULL, "as for a winner: new seed, held-out shapes, tight intervals", NULL,
     PARAM_FLAG, false, false, NULL},
    {"no-timing", NULL, "only whether it is right", NULL, PARAM_FLAG, false, false, NULL},
    {"timings", NULL, "show where the gate's time went", NULL, PARAM_FLAG, false, false, NULL},
    {"target", "NAME", "where it runs", "cpu", PARAM_TEXT, false, false, NULL},
    {0},
};

static void write_stage(const char *name, int64_t ns, const char *what, struct arena *arena,
                        struct buf *out)
{
    (void)buf_printf(out, "    %-16s %9s  %s\n", name, command_time_text(ns, arena), what);
}

static void write_timings(const struct gate_timings *t, struct arena *arena, struct buf *out)
{
    const struct {
        const char *name;
        int64_t ns;
        const char *what;
    } stages[] = {
        {"draw", t->draw_ns, "new inputs, with oracle and baseline"},
        {"build", t->build_ns, "of it:"},
        {"  screen", t->screen_ns, "rules on flags and source"},
        {"  compile", t->compile_ns, "the compiler"},
        {"  inspect", t->inspect_ns, "rules on the object, disassembly; beside:"},
        {"  link", t->link_ns, "stub, linker, rules on the image"},
        {"check", t->check_ns, "of it:"},
        {"  start", t->start_ns, "boxed children with the candidate loaded"},
        {"  load", t->load_ns, "inputs and poison into the buffers"},
        {"  call", t->call_ns, "the candidate's own calls"},
        {"  ring", t->ring_ns, "the doorbell around them"},
        {"  guard", t->guard_ns, "what lies around the arguments"},
        {"  compare", t->compare_ns, "outputs against the oracle"},
        {"time", t->time_ns, "pairs with the baseline; of it:"},
        {"  timed calls", t->timed_call_ns, "candidate and baseline"},
        {"total", t->total_ns, ""},
    };
    (void)buf_append_str(out, "  where the gate's time went:\n");
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        write_stage(stages[i].name, stages[i].ns, stages[i].what, arena, out);
    write_stage("the gate's own", gate_timings_own_ns(t),
                "all but compiler, disassembler, linker and timing", arena, out);
}

static bool run_check(const struct command_call *call, struct command_result *out, struct err *err)
{
    const struct check_opts opts = {.task_path = command_text(call, "task"),
                                    .source_path = command_text(call, "candidate"),
                                    .target = command_text(call, "target"),
                                    .compiler = command_text(call, "compiler"),
                                    .flags = command_text(call, "flags"),
                                    .confirm = command_flag(call, "confirm"),
                                    .check_only = command_flag(call, "no-timing")};
    const struct task *task = NULL;
    struct verdict verdict;
    if (opts.confirm && opts.check_only)
        return err_set(err, ERR_USAGE, "--confirm measures, --no-timing does not: choose one");
    if (!engine_check(&opts, call->observer, call->arena, &task, &verdict, err))
        return false;
    (void)buf_printf(&out->text, "%s: ", task->name);
    command_write_verdict(&verdict, call->arena, &out->text);
    if (command_flag(call, "timings"))
        write_timings(&verdict.timings, call->arena, &out->text);
    struct json_writer w = {.out = &out->json};
    event_write_verdict(&w, &verdict);
    out->exit_code = verdict_kind_exit_code(verdict.kind);
    return true;
}

const struct command command_check = {
    .name = "check",
    .summary = "judge one candidate: the gate alone",
    .description = "Builds the candidate under the gate's rules, checks it against the task's "
                   "oracle in a boxed child, and times it\n"
                   "in pairs with the baseline. Nothing is remembered. The exit code is 0 where it "
                   "is right, else by verdict.",
    .examples =
        "  kope check examples/softmax fast.c\n"
        "  kope check examples/softmax fast.c --compiler clang-19 --flags '-O3 -march=native'",
    .params = check_params,
    .run = run_check,
};
