/*
 * Any bytes as a task.yaml: parsed or refused with a message, never a crash; what is parsed can be
 * asked for every size. The reference is the text itself, so that its check passes by chance
 * sometimes.
 */
#include "base/arena.h"
#include "base/err.h"
#include "task/task.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_everything(const struct task *task, struct arena *arena)
{
    for (size_t i = 0; i < task->case_count; i++) {
        const struct task_case *c = &task->cases[i];
        for (size_t arg = 0; arg < task->arg_count; arg++) {
            if (task_arg_bytes(task, arg, c) == 0)
                BUG("fuzz: an argument without bytes");
        }
        if (!(task_flops(task, c) >= 0.0) || !(task_bytes(task, c) >= 0.0))
            BUG("fuzz: a cost that is not a number");
        (void)task_case_regime(task, c);
    }
    (void)task_signature(task, "float", arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    const struct task *task = NULL;
    const char *text = arena_strndup(&arena, (const char *)data, size);
    if (task_parse(text, size, text, "", &arena, &task, &err))
        ask_everything(task, &arena);
    else if (err.kind == ERR_NONE || err.message[0] == '\0' || task)
        BUG("fuzz: a refusal without a message");
    return 0;
}
