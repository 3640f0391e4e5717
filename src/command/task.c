#include "command/internal.h"

#include "os/file.h"

static const struct param new_params[] = {
    {"folder", "DIR", "folder to create", NULL, PARAM_PATH, true, true, NULL},
    {0},
};

static bool run_new(const struct command_call *call, struct command_result *out, struct err *err)
{
    const char *dir = command_text(call, "folder");
    if (!task_write_template(dir, os_path_base(dir), err))
        return false;
    (void)buf_printf(
        &out->text,
        "wrote %s/task.yaml and %s/reference.c\nnext: edit them, then 'kope task check %s'\n", dir,
        dir, dir);
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "task", dir);
    json_end_object(&w);
    return true;
}

const struct command command_task_new = {
    .name = "task new",
    .summary = "a folder to describe a kernel of your own",
    .description = "Writes a commented task.yaml and a reference.c that work as they are.",
    .examples = "  kope task new my/kernel",
    .params = new_params,
    .run = run_new,
};

static const struct param check_params[] = {PARAM_TASK, {0}};

/* {"y": "x"}: outputs with the inputs whose buffers they take. */
static void put_aliases(const struct task *task, struct json_writer *w)
{
    json_key(w, "alias");
    json_begin_object(w);
    for (size_t i = 0; i < task->arg_count; i++)
        if (task->args[i].has_alias)
            json_put_string(w, task->args[i].name, task->args[task->args[i].alias].name);
    json_end_object(w);
}

static bool run_task_check(const struct command_call *call, struct command_result *out,
                           struct err *err)
{
    const struct task *task = NULL;
    if (!task_load(command_text(call, "task"), call->arena, &task, err))
        return false;
    size_t held_out = 0;
    for (size_t i = 0; i < task->case_count; i++)
        held_out += task->cases[i].held_out;
    (void)buf_printf(&out->text,
                     "%s (%s, %s): %s\n  %s\n  %zu cases and %zu held-out shapes, precision %s\n",
                     task->name, task->family, dtype_name(task->dtype), task->summary,
                     task_signature(task, "real", call->arena), task->case_count - held_out,
                     held_out, precision_class_name(task->precision));
    if (task_is_in_place(task))
        (void)buf_printf(&out->text, "  %s\n", task_alias_text(task, call->arena));
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "task", task->name);
    json_put_string(&w, "id", task->id.text);
    json_put_string(&w, "signature", task_signature(task, "real", call->arena));
    put_aliases(task, &w);
    json_key(&w, "cases");
    json_begin_array(&w);
    for (size_t i = 0; i < task->case_count; i++) {
        const struct task_case *c = &task->cases[i];
        (void)buf_printf(&out->text, "  %-32s %8.3f MB %10.3f MFLOP  %s%s\n", c->name,
                         task_bytes(task, c) * 1e-6, task_flops(task, c) * 1e-6,
                         task_case_regime(task, c), c->held_out ? ", held out" : "");
        json_begin_object(&w);
        json_put_string(&w, "name", c->name);
        json_put_real(&w, "bytes", task_bytes(task, c));
        json_put_real(&w, "flops", task_flops(task, c));
        json_put_bool(&w, "held_out", c->held_out);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    (void)buf_append_str(
        &out->text, "sound as a description; 'kope optimize' also tries the null kernels on it\n");
    return true;
}

const struct command command_task_check = {
    .name = "task check",
    .summary = "read a task and say what is wrong with it",
    .description =
        "Reads task.yaml and the reference; every mistake is shown with file, line and column.",
    .examples = "  kope task check examples/softmax",
    .params = check_params,
    .run = run_task_check,
};

static const struct param explain_params[] = {
    PARAM_TASK,
    {"source", NULL, "print the loop nest as C again, instead of the explanation", NULL, PARAM_FLAG,
     false, false, NULL},
    {"target", "NAME", "whose moves are shown: their sizes are its own", "cpu", PARAM_TEXT, false,
     false, NULL},
    {0},
};

static bool run_task_explain(const struct command_call *call, struct command_result *out,
                             struct err *err)
{
    struct explanation explanation;
    if (!engine_explain(command_text(call, "task"), command_text(call, "target"), call->arena,
                        &explanation, err))
        return false;
    (void)buf_append_str(&out->text,
                         command_flag(call, "source") ? explanation.source : explanation.text);
    (void)buf_append_str(&out->json, explanation.json);
    return true;
}

const struct command command_task_explain = {
    .name = "task explain",
    .summary = "what KOPE understands of a reference",
    .description =
        "Shows the loops, what each statement reads and writes by the dimensions of the arrays, "
        "and "
        "line by line what was not understood and why. Moves leave alone what is not understood.\n"
        "\n"
        "Then the steps that moves suggest, with the reason where one does not apply, and the "
        "sequences of steps that a run\n"
        "would try for the whole nest, with what they promise by what is read off the loops.",
    .examples = "  kope task explain examples/matmul\n"
                "  kope task explain examples/matmul --source",
    .params = explain_params,
    .run = run_task_explain,
};
