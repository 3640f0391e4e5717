/*
 * `special`: situations beyond the declared draw, with what the results must then be. Each is a
 * mapping of arguments to what they hold; the gate refuses a task whose reference disagrees.
 */
#include "base/str.h"
#include "task/internal.h"

#include <math.h>
#include <string.h>

static const char one_prefix[] = "one ";

/* A number, nan, inf or -inf; YAML's own spellings of these too. */
static bool parse_value(const char *text, double *out)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {
        {"nan", (double)NAN}, {".nan", (double)NAN}, {"inf", HUGE_VAL},    {".inf", HUGE_VAL},
        {"+inf", HUGE_VAL},   {"-inf", -HUGE_VAL},   {"-.inf", -HUGE_VAL},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal(text, words[i].word)) {
            *out = words[i].value;
            return true;
        }
    return text[strspn(text, "+-.0123456789eE")] == '\0' && str_parse_double(text, out);
}

static bool check_value(const struct task_reader *reader, const struct yaml *at,
                        const struct task_arg *arg, double value)
{
    const struct task *task = reader->task;
    if (isfinite(value)) {
        const struct draw constant = {.kind = DRAW_CONSTANT, .a = value, .b = value};
        return check_draw(reader, at, arg, &constant);
    }
    if (!dtype_is_float(arg->dtype))
        return yaml_error(at, reader->err, "a value that '%s' cannot hold", dtype_name(arg->dtype));
    if (!task->finite_only || arg->role == ARG_OUT)
        return true;
    (void)yaml_error(at, reader->err, "'%s' is not finite, but the task is finite_only", arg->name);
    return err_hint(reader->err, "remove finite_only, or this situation");
}

static bool read_special_arg(const struct task_reader *reader, const struct yaml *at,
                             const struct task_arg *arg, struct special_arg *out)
{
    const bool is_input = arg->role != ARG_OUT;
    if (at->type == YAML_MAPPING) {
        struct task_arg drawn = *arg;
        if (!read_draw(reader, at, &drawn))
            return false;
        *out = (struct special_arg){.kind = SPECIAL_DRAWN, .draw = drawn.draw};
        return true;
    }
    const char *text = at->type == YAML_SCALAR && !at->quoted ? at->text : "";
    if (!is_input && str_equal(text, "finite")) {
        *out = (struct special_arg){.kind = SPECIAL_FINITE};
        return true;
    }
    const bool is_one = is_input && strncmp(text, one_prefix, sizeof one_prefix - 1) == 0;
    double value = 0;
    if (!parse_value(is_one ? text + sizeof one_prefix - 1 : text, &value)) {
        (void)yaml_error(at, reader->err, "'%.64s' is nothing that '%s' can hold", text, arg->name);
        return err_hint(reader->err, is_input ? "a number, nan, inf or -inf; 'one nan' for one "
                                                "element of it; or {kind: normal, mean: 1e4, "
                                                "deviation: 1e-3}"
                                              : "a number, nan, inf, -inf or finite");
    }
    *out = (struct special_arg){.kind = is_one ? SPECIAL_ONE : SPECIAL_VALUE, .value = value};
    return check_value(reader, at, arg, value);
}

static bool read_special(struct task_reader *reader, const struct yaml *item)
{
    struct task *task = reader->task;
    const char *keys[TASK_MAX_ARGS + 1] = {0};
    struct task_special special = {0};
    bool is_special = false;
    for (size_t arg = 0; arg < task->arg_count; arg++)
        keys[arg] = task->args[arg].name;
    if (!read_item(item, "special", keys, reader->err))
        return false;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        const struct yaml *at = yaml_get(item, task->args[arg].name);
        const bool is_input = task->args[arg].role != ARG_OUT;
        struct special_arg *out = is_input ? &special.args[arg] : &special.results[arg];
        if (at && !read_special_arg(reader, at, &task->args[arg], out))
            return false;
        is_special = is_special || (at && is_input);
    }
    if (!is_special) {
        (void)yaml_error(item, reader->err, "no input is special here");
        return err_hint(reader->err, "say what an input holds: special: [{x: -inf, y: 0}]");
    }
    task->specials[task->special_count++] = special;
    return true;
}

bool read_specials(struct task_reader *reader)
{
    const struct yaml *list = NULL;
    if (!yaml_get(reader->root, "special"))
        return true;
    if (!read_list(reader->root, "special",
                   "say what happens: special: [{x: nan, y: nan}, {x: -inf, y: 0}]", &list,
                   reader->err))
        return false;
    for (const struct yaml *item = list->first; item; item = item->next) {
        if (reader->task->special_count == TASK_MAX_SPECIALS)
            return yaml_error(item, reader->err, "more than %d situations", TASK_MAX_SPECIALS);
        if (!read_special(reader, item))
            return false;
    }
    return true;
}
