/* The tools as rows. What is a parameter of a command has its type, help, default and choices from
 * the command table. */
#include "mcp/service/internal.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ARGUMENTS = 12 };

struct argument {
    const char *name;    /* as JSON calls it */
    const char *command; /* whose parameter of that name it is; NULL: described here */
    bool is_required;
    bool is_loose;      /* not required, although the command does */
    const char *schema; /* where described here: members of its schema, as JSON */
};

struct tool_row {
    const char *name, *title, *description;
    struct argument arguments[MAX_ARGUMENTS];
    const char *output; /* schema */
    bool is_read_only, is_idempotent;
    void (*run)(void *context, struct mcp_call *call);
};

#define STRING "\"type\":\"string\","
#define RUN                                                                                        \
    {                                                                                              \
        .name = "run", .schema = STRING                                                            \
                       "\"description\":\"id of an open run, or its beginning; default: the one "  \
                       "opened last\""                                                             \
    }
#define PARENT                                                                                     \
    {                                                                                              \
        .name = "parent", .schema = STRING                                                         \
                          "\"description\":\"decision to go on from, or 'baseline'; default: the " \
                          "best so far\""                                                          \
    }
#define CONTEXT                                                                                    \
    {                                                                                              \
        .name = "context",                                                                         \
        .schema = STRING "\"description\":\"the 'context' that kope_context gave\""                \
    }
#define INTENT                                                                                     \
    {                                                                                              \
        .name = "intent", .is_required = true,                                                     \
        .schema = STRING "\"description\":\"what you change, in a sentence\",\"minLength\":1,"     \
                         "\"maxLength\":2000"                                                      \
    }
#define HYPOTHESIS                                                                                 \
    {                                                                                              \
        .name = "hypothesis",                                                                      \
        .schema = STRING "\"description\":\"why it should be faster\",\"maxLength\":4000"          \
    }
#define EVALUATION                                                                                 \
    {                                                                                              \
        .name = "evaluation", .is_required = true,                                                 \
        .schema = STRING "\"description\":\"the handle that kope_evaluate gave\""                  \
    }
#define WAIT                                                                                       \
    {                                                                                              \
        .name = "wait_seconds",                                                                    \
        .schema = "\"type\":\"integer\",\"minimum\":0,\"maximum\":50,\"default\":30,"              \
                  "\"description\":\"how long to wait for the verdict before its state is given\"" \
    }

/* A rule, as 'kope rule' gives it. */
#define RULE_SCHEMA                                                                                \
    "{\"type\":\"object\",\"required\":[\"id\",\"cause\",\"words\",\"predicate\"],"                \
    "\"properties\":{\"id\":{\"type\":\"string\"},\"cause\":{\"type\":\"string\"},"                \
    "\"words\":{\"type\":\"string\"},\"predicate\":{\"type\":\"string\"},"                         \
    "\"holds_with\":{\"type\":\"string\"},\"occurrences\":{\"type\":\"integer\"},"                 \
    "\"builds_saved\":{\"type\":\"integer\"},\"retired\":{\"type\":\"boolean\"},"                  \
    "\"reproducer\":{\"type\":\"string\"}}}"

/* A verdict, as event_write_verdict gives it. */
#define CASE_SCHEMA                                                                                \
    "{\"type\":\"object\",\"required\":[\"name\",\"log_ratio\",\"log_low\",\"log_high\"],"         \
    "\"properties\":{\"name\":{\"type\":\"string\"},\"weight\":{\"type\":\"number\"},"             \
    "\"held_out\":{\"type\":\"boolean\"},\"log_ratio\":{\"type\":\"number\"},"                     \
    "\"log_low\":{\"type\":\"number\"},\"log_high\":{\"type\":\"number\"},"                        \
    "\"noise\":{\"type\":\"number\"},\"pairs\":{\"type\":\"integer\"},"                            \
    "\"baseline_ns\":{\"type\":\"integer\"},\"candidate_ns\":{\"type\":\"integer\"},"              \
    "\"roofline\":{\"type\":\"number\"},\"cold\":{\"type\":\"object\"},"                           \
    "\"error\":{\"type\":[\"number\",\"null\",\"string\"]}}}"
#define VERDICT_SCHEMA                                                                             \
    "{\"type\":\"object\",\"required\":[\"kind\",\"cases\"],\"properties\":{"                      \
    "\"kind\":{\"enum\":[\"build-failed\",\"rejected\",\"wrong\",\"crashed\",\"timed-out\","       \
    "\"too-noisy\",\"timed\"]},\"mechanism\":{\"type\":\"string\"},"                               \
    "\"evidence\":{\"type\":\"string\"},\"diagnostics\":{\"type\":[\"string\",\"null\"]},"         \
    "\"log_ratio\":{\"type\":\"number\"},\"log_low\":{\"type\":\"number\"},"                       \
    "\"log_high\":{\"type\":\"number\"},\"is_win\":{\"type\":\"boolean\"},"                        \
    "\"confirmed\":{\"type\":\"boolean\"},\"from_record\":{\"type\":\"boolean\"},"                 \
    "\"cases\":{\"type\":\"array\",\"items\":" CASE_SCHEMA "}}}"
#define STATE_SCHEMA                                                                               \
    "{\"type\":\"object\",\"required\":[\"evaluation\",\"state\",\"seconds\"],\"properties\":{"    \
    "\"evaluation\":{\"type\":\"string\"},"                                                        \
    "\"state\":{\"enum\":[\"queued\",\"running\",\"done\",\"cancelled\"]},"                        \
    "\"seconds\":{\"type\":\"number\"},\"run\":{\"type\":\"string\"},"                             \
    "\"decision\":{\"type\":\"string\"},\"summary\":{\"type\":\"string\"},"                        \
    "\"speedup\":{\"type\":\"number\"},\"is_new_best\":{\"type\":\"boolean\"},"                    \
    "\"verdict\":" VERDICT_SCHEMA ",\"best_decision\":{\"type\":\"string\"},"                      \
    "\"best_speedup\":{\"type\":\"number\"},\"finding\":{\"type\":\"string\"},"                    \
    "\"evaluations\":{\"type\":\"integer\"},\"budget\":{\"type\":\"integer\"}}}"
#define DECISIONS_SCHEMA                                                                           \
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"decision\",\"run\"],"      \
    "\"properties\":{\"decision\":{\"type\":\"string\"},\"run\":{\"type\":\"string\"},"            \
    "\"parent\":{\"type\":\"string\"},\"sequence\":{\"type\":\"integer\"},"                        \
    "\"task\":{\"type\":\"string\"},\"family\":{\"type\":\"string\"},"                             \
    "\"intent\":{\"type\":\"string\"},\"verdict\":{\"type\":\"string\"},"                          \
    "\"evidence\":{\"type\":\"string\"},\"failure\":{\"type\":\"string\"},"                        \
    "\"is_win\":{\"type\":\"boolean\"},\"is_confirmed\":{\"type\":\"boolean\"},"                   \
    "\"speedup\":{\"type\":\"number\"},\"speedup_low\":{\"type\":\"number\"},"                     \
    "\"speedup_high\":{\"type\":\"number\"}}}}"

static const struct tool_row rows[] = {
    {.name = "kope_open_task",
     .title = "Open a task",
     .description = "Begins a run on a kernel: loads the task, measures the machine once, builds "
                    "baseline and oracle, and begins at what is remembered. Gives the signature, "
                    "the reference and how to answer. May take some seconds.",
     .arguments = {{.name = "task", .command = "optimize", .is_loose = true},
                   {.name = "resume",
                    .schema = STRING "\"description\":\"instead of a task: id of an interrupted "
                                     "run to go on with\""},
                   {.name = "budget", .command = "optimize"},
                   {.name = "time", .command = "optimize"},
                   {.name = "context_tokens", .command = "optimize"},
                   {.name = "target", .command = "optimize"},
                   {.name = "seed", .command = "optimize"},
                   {.name = "fresh", .command = "optimize"}},
     .output = "{\"type\":\"object\",\"required\":[\"run\",\"task\",\"signature\",\"reference\","
               "\"baseline\",\"budget\"],\"properties\":{\"run\":{\"type\":\"string\"},"
               "\"task\":{\"type\":\"string\"},\"task_id\":{\"type\":\"string\"},"
               "\"family\":{\"type\":\"string\"},\"dtype\":{\"type\":\"string\"},"
               "\"signature\":{\"type\":\"string\"},\"reference\":{\"type\":\"string\"},"
               "\"cases\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
               "\"cpu\":{\"type\":\"string\"},\"isa\":{\"type\":\"string\"},"
               "\"compilers\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
               "\"baseline\":{\"type\":\"string\"},\"started_from\":{\"type\":\"string\"},"
               "\"best_decision\":{\"type\":\"string\"},\"best_speedup\":{\"type\":\"number\"},"
               "\"evaluations\":{\"type\":\"integer\"},\"budget\":{\"type\":\"integer\"},"
               "\"how\":{\"type\":\"string\"}}}",
     .run = tool_open_task},
    {.name = "kope_context",
     .title = "Get the bounded context",
     .description = "What to know for the next step, under a hard token budget: task, machine, "
                    "what was tried here and on related tasks with what came of it, the current "
                    "best source, the finding.",
     .arguments = {RUN, PARENT, {.name = "budget", .command = "context"}},
     .output = "{\"type\":\"object\",\"required\":[\"context\",\"tokens\",\"text\"],"
               "\"properties\":{\"context\":{\"type\":\"string\"},"
               "\"tokens\":{\"type\":\"integer\"},\"budget_tokens\":{\"type\":\"integer\"},"
               "\"text\":{\"type\":\"string\"}}}",
     .run = tool_context},
    {.name = "kope_evaluate",
     .title = "Have a candidate judged",
     .description = "The gate builds the candidate, checks it and times it; decision and outcome "
                    "go into the memory. Waits for the verdict up to wait_seconds, then gives a "
                    "handle for kope_evaluation.",
     .arguments = {RUN,
                   {.name = "source",
                    .schema = STRING "\"description\":\"text of a whole C file that defines the "
                                     "entry point\",\"minLength\":1,\"maxLength\":524288"},
                   {.name = "candidate", .command = "check", .is_loose = true},
                   {.name = "compiler", .command = "check"},
                   {.name = "flags", .command = "check"},
                   PARENT,
                   INTENT,
                   HYPOTHESIS,
                   {.name = "predicted_speedup",
                    .schema = "\"type\":\"number\",\"minimum\":0.001,\"maximum\":1000000,"
                              "\"description\":\"expected speedup over the parent\""},
                   CONTEXT,
                   WAIT},
     .output = STATE_SCHEMA,
     .run = tool_evaluate},
    {.name = "kope_evaluation",
     .title = "Ask for a verdict",
     .description = "State of an evaluation; the verdict when it is done.",
     .arguments = {EVALUATION, WAIT},
     .output = STATE_SCHEMA,
     .is_read_only = true,
     .is_idempotent = true,
     .run = tool_evaluation},
    {.name = "kope_cancel",
     .title = "Stop an evaluation",
     .description = "One that is queued is not begun. One that is being judged is stopped; its "
                    "decision stays, and is judged when the run is resumed.",
     .arguments = {EVALUATION},
     .output = STATE_SCHEMA,
     .is_idempotent = true,
     .run = tool_cancel},
    {.name = "kope_record_decision",
     .title = "Record a decision without a candidate",
     .description = "A thought that was followed and dropped: kept with its reason, judged by "
                    "nobody, costs no evaluation.",
     .arguments = {RUN,
                   PARENT,
                   INTENT,
                   HYPOTHESIS,
                   {.name = "reason",
                    .is_required = true,
                    .schema = STRING "\"description\":\"why it came to nothing\",\"minLength\":1,"
                                     "\"maxLength\":2000"},
                   CONTEXT},
     .output = "{\"type\":\"object\",\"required\":[\"run\",\"decision\"],\"properties\":{"
               "\"run\":{\"type\":\"string\"},\"decision\":{\"type\":\"string\"}}}",
     .run = tool_record_decision},
    {.name = "kope_profile",
     .title = "Get a profile finding",
     .description = "What bounds a judged candidate: roofline class of its slowest case, and what "
                    "compiler records, the hot loop and llvm-mca say; each a sentence with a "
                    "number, findings with a line of its source and the moves that answer them.",
     .arguments = {RUN,
                   {.name = "decision",
                    .schema = STRING "\"description\":\"a decision of the run; default: the best "
                                     "so far\""}},
     .output = "{\"type\":\"object\",\"required\":[\"found\"],\"properties\":{"
               "\"found\":{\"type\":\"boolean\"},\"bottleneck\":{\"type\":\"string\"},"
               "\"text\":{\"type\":\"string\"},\"share\":{\"type\":\"number\"},"
               "\"bound_ns\":{\"type\":\"integer\"},\"findings\":{\"type\":\"array\",\"items\":{"
               "\"type\":\"object\",\"required\":[\"kind\",\"tool\",\"text\",\"number\",\"line\","
               "\"moves\"],\"properties\":{\"kind\":{\"type\":\"string\"},"
               "\"tool\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"},"
               "\"number\":{\"type\":\"number\"},\"line\":{\"type\":\"integer\"},"
               "\"moves\":{\"type\":\"string\"}}}}}}",
     .is_read_only = true,
     .is_idempotent = true,
     .run = tool_profile},
    {.name = "kope_finish",
     .title = "Confirm the best and end the run",
     .description = "Judges the best again on a clean build, a new seed and held-out shapes. Only "
                    "what it confirms is a speedup. May take up to a minute.",
     .arguments = {RUN},
     .output = "{\"type\":\"object\",\"required\":[\"result\"],\"properties\":{"
               "\"result\":{\"type\":\"object\",\"required\":[\"run\",\"has_win\",\"end_reason\"],"
               "\"properties\":{\"run\":{\"type\":\"string\"},\"task\":{\"type\":\"string\"},"
               "\"has_win\":{\"type\":\"boolean\"},\"end_reason\":{\"type\":\"string\"},"
               "\"evaluations\":{\"type\":\"integer\"},\"speedup\":{\"type\":\"number\"},"
               "\"speedup_low\":{\"type\":\"number\"},\"speedup_high\":{\"type\":\"number\"},"
               "\"confirmation\":" VERDICT_SCHEMA "}},\"best_source\":{\"type\":\"string\"}}}",
     .run = tool_finish},
    {.name = "kope_search_memory",
     .title = "Search the memory",
     .description = "Decisions of all tasks and runs whose words match, with what came of them.",
     .arguments = {{.name = "words",
                    .is_required = true,
                    .schema = STRING "\"description\":\"any text\",\"minLength\":1,"
                                     "\"maxLength\":2000"},
                   {.name = "limit",
                    .schema = "\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":10,"
                              "\"description\":\"at most this many, best match first\""}},
     .output = "{\"type\":\"object\",\"required\":[\"decisions\"],\"properties\":{"
               "\"decisions\":" DECISIONS_SCHEMA "}}",
     .is_read_only = true,
     .is_idempotent = true,
     .run = tool_search_memory},
    {.name = "kope_runs",
     .title = "List runs",
     .description = "The runs of the memory, newest first.",
     .arguments = {{.name = "limit", .command = "runs"}},
     .output = "{\"type\":\"object\",\"required\":[\"runs\"],\"properties\":{\"runs\":{"
               "\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"run\"],"
               "\"properties\":{\"run\":{\"type\":\"string\"},\"task\":{\"type\":\"string\"},"
               "\"proposer\":{\"type\":\"string\"},\"evaluations\":{\"type\":\"integer\"},"
               "\"speedup\":{\"type\":\"number\"}}}}}}",
     .is_read_only = true,
     .is_idempotent = true,
     .run = tool_runs},
    {.name = "kope_skills",
     .title = "List skills",
     .description = "What is known to make kernels faster, with state and evidence. A verified "
                    "skill was faster in a fresh trial on another task or shape.",
     .arguments = {{.name = "state", .command = "skill list"}},
     .output = "{\"type\":\"object\",\"required\":[\"skills\"],\"properties\":{\"skills\":{"
               "\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"name\","
               "\"state\"],\"properties\":{\"name\":{\"type\":\"string\"},"
               "\"state\":{\"type\":\"string\"},\"intent\":{\"type\":\"string\"},"
               "\"applies\":{\"type\":\"string\"},\"change\":{\"type\":\"string\"},"
               "\"speedup\":{\"type\":\"number\"}}}}}}",
     .is_read_only = true,
     .is_idempotent = true,
     .run = tool_skills},
    {.name = "kope_skill",
     .title = "Read a skill",
     .description = "One skill with its evidence and example; with 'on' whether its predicate "
                    "holds for a task, and what does not.",
     .arguments = {{.name = "skill",
                    .is_required = true,
                    .schema = STRING "\"description\":\"name of a skill\",\"minLength\":1,"
                                     "\"maxLength\":64"},
                   {.name = "on", .command = "skill show"}},
     .output = "{\"type\":\"object\",\"required\":[\"name\",\"state\"],\"properties\":{"
               "\"name\":{\"type\":\"string\"},\"state\":{\"type\":\"string\"},"
               "\"intent\":{\"type\":\"string\"},\"applies\":{\"type\":\"string\"},"
               "\"change\":{\"type\":\"string\"},\"breaks\":{\"type\":\"string\"},"
               "\"applies_there\":{\"type\":\"boolean\"},\"why_not\":{\"type\":\"string\"},"
               "\"before\":{\"type\":\"string\"},\"after\":{\"type\":\"string\"}}}",
     .is_read_only = true,
     .is_idempotent = true,
     .run = tool_skill},
    {.name = "kope_memory_stats",
     .title = "What the memory holds",
     .description = "Counts of tasks, runs, decisions and verdicts.",
     .output = "{\"type\":\"object\",\"required\":[\"tasks\",\"runs\",\"decisions\",\"outcomes\"],"
               "\"properties\":{\"tasks\":{\"type\":\"integer\"},\"runs\":{\"type\":\"integer\"},"
               "\"decisions\":{\"type\":\"integer\"},\"outcomes\":{\"type\":\"integer\"}}}",
     .is_read_only = true,
     .is_idempotent = true,
     .run = tool_memory_stats},
    {.name = "kope_rules",
     .title = "List rules",
     .description = "What failures taught: one rule for one root cause, with the predicate that "
                    "foretells it and the compilers that it holds with here. A candidate that a "
                    "rule foretells is rejected without a build.",
     .arguments = {{.name = "target", .command = "rule list"}},
     .output = "{\"type\":\"object\",\"required\":[\"rules\"],\"properties\":{\"rules\":{"
               "\"type\":\"array\",\"items\":" RULE_SCHEMA "}}}",
     .is_read_only = true,
     .is_idempotent = true,
     .run = tool_rules},
    {.name = "kope_rule",
     .title = "Read a rule",
     .description = "One rule with its smallest example, its evidence and every test of it.",
     .arguments = {{.name = "rule", .command = "rule show"},
                   {.name = "target", .command = "rule show"}},
     .output = RULE_SCHEMA,
     .is_read_only = true,
     .is_idempotent = true,
     .run = tool_rule},
    {.name = "kope_report",
     .title = "Write the report of a run",
     .description = "One self-contained page into a file. Without 'html' only its size; the page "
                    "is then the resource kope://run/ID/report.",
     .arguments = {{.name = "run", .command = "report"}, {.name = "html", .command = "report"}},
     .output = "{\"type\":\"object\",\"required\":[\"bytes\"],\"properties\":{"
               "\"html\":{\"type\":[\"string\",\"null\"]},\"bytes\":{\"type\":\"integer\"}}}",
     .is_idempotent = true,
     .run = tool_report},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* The parameter of a command that JSON calls `name`; a missing one is a bug. */
static const struct param *param_of(const char *command, const char *name)
{
    for (size_t i = 0; i < command_count; i++) {
        if (!str_equal(command_table[i]->name, command))
            continue;
        for (const struct param *p = command_table[i]->params; p->name; p++) {
            size_t at = 0;
            while (p->name[at] != '\0' &&
                   (p->name[at] == name[at] || (p->name[at] == '-' && name[at] == '_')))
                at++;
            if (p->name[at] == '\0' && name[at] == '\0')
                return p;
        }
    }
    BUG("mcp: command '%s' has no parameter '%s'", command, name);
}

static void write_choices(const char *choices, struct json_writer *w)
{
    json_key(w, "enum");
    json_begin_array(w);
    for (const char *at = choices; *at != '\0'; at += *at == '|') {
        char word[64];
        const size_t length = strcspn(at, "|");
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        json_write_string(w, word);
        at += length;
    }
    json_end_array(w);
}

static void write_param(const struct param *p, struct arena *arena, struct json_writer *w)
{
    static const char *const types[] = {
        [PARAM_FLAG] = "boolean", [PARAM_TEXT] = "string",     [PARAM_PATH] = "string",
        [PARAM_INT] = "integer",  [PARAM_DURATION] = "string", [PARAM_REST] = "string",
    };
    json_begin_object(w);
    json_put_string(w, "type", types[p->type]);
    if (p->type == PARAM_INT)
        json_put_int(w, "minimum", 0);
    if (p->choices)
        write_choices(p->choices, w);
    json_put_string(w, "description",
                    p->otherwise ? arena_printf(arena, "%s; default: %s", p->help, p->otherwise)
                                 : p->help);
    json_end_object(w);
}

static const char *input_schema(const struct tool_row *row, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_string(&w, "type", "object");
    json_key(&w, "properties");
    json_begin_object(&w);
    for (const struct argument *a = row->arguments; a->name; a++) {
        json_key(&w, a->name);
        if (a->command)
            write_param(param_of(a->command, a->name), arena, &w);
        else
            json_write_raw(&w, arena_printf(arena, "{%s}", a->schema), strlen(a->schema) + 2);
    }
    json_end_object(&w);
    json_key(&w, "required");
    json_begin_array(&w);
    for (const struct argument *a = row->arguments; a->name; a++) {
        if (a->is_required ||
            (a->command && !a->is_loose && param_of(a->command, a->name)->required))
            json_write_string(&w, a->name);
    }
    json_end_array(&w);
    json_put_bool(&w, "additionalProperties", false);
    json_end_object(&w);
    return arena_strdup(arena, buf_text(&text));
}

const struct mcp_tool *tools_make(struct arena *arena, size_t *count)
{
    struct mcp_tool *tools = arena_array(arena, ROW_COUNT, sizeof *tools);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        tools[i] = (struct mcp_tool){.name = rows[i].name,
                                     .title = rows[i].title,
                                     .description = rows[i].description,
                                     .input_schema = input_schema(&rows[i], arena),
                                     .output_schema = rows[i].output,
                                     .is_read_only = rows[i].is_read_only,
                                     .is_idempotent = rows[i].is_idempotent,
                                     .run = rows[i].run};
    }
    *count = ROW_COUNT;
    return tools;
}
