/* A verdict with its evidence in plain words. */
#include "gate/internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>

bool decide(struct judgement *j, enum verdict_kind kind, const char *mechanism, const char *format,
            ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    j->out->kind = kind;
    j->out->mechanism = arena_strdup(j->arena, mechanism);
    j->out->evidence = arena_strdup(j->arena, text);
    j->is_decided = true;
    return true;
}

bool decide_session(struct judgement *j, const struct session_report *report, const char *where)
{
    static const enum verdict_kind kinds[] = {
        [SESSION_OK] = VERDICT_TOO_NOISY,        [SESSION_CRASHED] = VERDICT_CRASHED,
        [SESSION_TIMED_OUT] = VERDICT_TIMED_OUT, [SESSION_REJECTED] = VERDICT_REJECTED,
        [SESSION_NOISY] = VERDICT_TOO_NOISY,
    };
    const bool is_late = report->status == SESSION_TIMED_OUT;
    return decide(j, kinds[report->status],
                  report->mechanism ? report->mechanism
                  : is_late         ? "wall-clock"
                                    : "session",
                  "%s: %s", where, report->evidence ? report->evidence : "no detail");
}

bool session_is_doubtful(const struct session_report *report)
{
    return report->status == SESSION_REJECTED && str_equal(report->mechanism, "M8-quiesce");
}

/* The extent of one dimension: task_arg_elements of an argument that has only this one. */
static size_t extent(const struct task_arg *arg, size_t dimension, const struct task *task,
                     const struct task_case *c)
{
    const struct task line = {
        .name = task->name,
        .args = {{.name = arg->name, .rank = 1, .shape = {arg->shape[dimension]}}},
        .arg_count = 1,
    };
    return (size_t)task_arg_elements(&line, 0, c);
}

char *element_name(const struct task *task, const struct task_case *c, size_t arg, size_t index,
                   struct arena *arena)
{
    const struct task_arg *a = &task->args[arg];
    if (a->rank == 0)
        return arena_strdup(arena, a->name);
    size_t at[TASK_MAX_RANK] = {0};
    for (size_t d = a->rank; d-- > 0;) {
        const size_t length = extent(a, d, task, c);
        at[d] = index % length;
        index /= length;
    }
    struct buf text = {.limit = 256};
    (void)buf_printf(&text, "%s[", a->name);
    for (size_t d = 0; d < a->rank; d++)
        (void)buf_printf(&text, "%s%zu", d ? "," : "", at[d]);
    (void)buf_append_char(&text, ']');
    char *name = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return name;
}
