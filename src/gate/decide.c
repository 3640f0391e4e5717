/* A verdict with its evidence in plain words. */
#include "gate/internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The target speaks of 'buffer 1'; the user knows it by its name. */
static const char *name_buffers(const struct judgement *j, const char *text)
{
    static const char word[] = "buffer ";
    const struct task *task = j->gate->task;
    const char *at = strstr(text, word);
    if (!at)
        return text;
    char *end;
    const unsigned long number = strtoul(at + sizeof word - 1, &end, 10);
    if (end == at + sizeof word - 1 || number >= task->arg_count)
        return text;
    return arena_printf(j->arena, "%.*s'%s'%s", (int)(at - text), text, task->args[number].name,
                        end);
}

/* A fault at a buffer's edge, or in one that it may not write, is told apart from others. */
static const char *name_fault(const struct session_report *report)
{
    const char *evidence = report->evidence ? report->evidence : "";
    if (report->status == SESSION_TIMED_OUT)
        return "wall-clock";
    if (report->status == SESSION_CRASHED && strstr(evidence, "buffer ")) {
        if (strstr(evidence, "the end of") || strstr(evidence, "the start of"))
            return "M11-guard";
        if (strstr(evidence, "read-only"))
            return "M4-sealed";
    }
    return report->mechanism ? report->mechanism : "session";
}

bool decide_session(struct judgement *j, const struct session_report *report, const char *where)
{
    static const enum verdict_kind kinds[] = {
        [SESSION_OK] = VERDICT_TOO_NOISY,        [SESSION_CRASHED] = VERDICT_CRASHED,
        [SESSION_TIMED_OUT] = VERDICT_TIMED_OUT, [SESSION_REJECTED] = VERDICT_REJECTED,
        [SESSION_NOISY] = VERDICT_TOO_NOISY,
    };
    return decide(j, kinds[report->status], name_fault(report), "%s: %s", where,
                  report->evidence ? name_buffers(j, report->evidence) : "no detail");
}

bool session_is_doubtful(const struct session_report *report)
{
    return report->status == SESSION_REJECTED && str_equal(report->mechanism, "M8-quiesce");
}

char *element_name(const struct task *task, const struct task_case *c, size_t arg, size_t index,
                   struct arena *arena)
{
    const struct task_arg *a = &task->args[arg];
    if (a->rank == 0)
        return arena_strdup(arena, a->name);
    size_t at[TASK_MAX_RANK] = {0};
    for (size_t d = a->rank; d-- > 0;) {
        const size_t length = d + 1 == a->rank ? task_arg_rows(task, arg, c).pitch
                                               : (size_t)task_arg_extent(task, a, d, c);
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
