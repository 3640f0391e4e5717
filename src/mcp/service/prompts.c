#include "mcp/service/internal.h"

#include "base/str.h"

const char service_instructions[] =
    "KOPE makes a compute kernel faster and remembers how. Open a task (a folder with task.yaml "
    "and "
    "reference.c) with kope_open_task. Then, until the budget is spent: read kope_context, write a "
    "whole C file, and give it to kope_evaluate with what you intend and expect. A gate builds it, "
    "checks it against an oracle and times it in pairs with the baseline; only its verdict counts. "
    "End with kope_finish, which confirms the best on shapes that were never shown. Every attempt "
    "is remembered, failures too.";

const char service_contract[] =
    "You make one compute kernel faster. Propose a candidate by calling the tool kope_evaluate "
    "with "
    "'source': the text of one whole C file (C17, vector extensions and intrinsics allowed) that "
    "defines the entry point with exactly the given signature. Say in 'intent' what you change, in "
    "'hypothesis' why it should be faster, in 'predicted_speedup' by how much against the parent, "
    "and pass on 'context'. Only the gate's verdict counts: it builds, checks against an oracle "
    "and times in pairs with the baseline. No system calls, no threads, no memory kept between "
    "calls.\n";

const char prompts_list[] =
    "[{\"name\":\"optimize-kernel\",\"title\":\"Optimize this kernel\","
    "\"description\":\"Make a kernel faster with KOPE: open the task, propose, let the gate judge, "
    "finish\","
    "\"arguments\":[{\"name\":\"task\",\"description\":\"folder with task.yaml and reference.c\","
    "\"required\":true},{\"name\":\"budget\",\"description\":\"candidates to judge\","
    "\"required\":false}]}]";

void prompt_get(void *context, struct mcp_call *call, const char *name)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct arena *arena = mcp_call_arena(call);
    const char *task = argument_text(call, "task");
    const char *budget = argument_text(call, "budget");
    (void)context;
    if (!str_equal(name, "optimize-kernel") || !task) {
        mcp_call_error(call, MCP_INVALID_PARAMS,
                       task ? "there is no such prompt" : "the argument 'task' is missing", NULL);
        return;
    }
    const char *words = arena_printf(
        arena,
        "Make the kernel in '%s' faster with the kope tools.\n"
        "1. kope_open_task with task '%s'%s%s.\n"
        "2. Until the budget is spent or nothing promises more: kope_context, then kope_evaluate "
        "with a whole file, your intent, your hypothesis and the speedup that you predict. Build "
        "on "
        "the best, or name another decision as 'parent'. Read the verdict's evidence before the "
        "next try. kope_profile says what bounds the best.\n"
        "3. A thought that you drop without a candidate goes to kope_record_decision with the "
        "reason.\n"
        "4. kope_finish, and report its confirmed speedup with its interval, nothing else.\n",
        task, task, budget ? " and budget " : "", budget ? budget : "");
    struct json_writer w = {.out = &text};
    (void)buf_append_str(&text, "\"messages\":");
    json_begin_array(&w);
    json_begin_object(&w);
    json_put_string(&w, "role", "user");
    json_key(&w, "content");
    json_begin_object(&w);
    json_put_string(&w, "type", "text");
    json_put_string(&w, "text", words);
    json_end_object(&w);
    json_end_object(&w);
    json_end_array(&w);
    mcp_call_result(call, buf_text(&text), false);
}
