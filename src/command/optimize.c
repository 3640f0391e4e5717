#include "command/internal.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "propose/propose.h"

#include <string.h>

static const struct param optimize_params[] = {
    PARAM_TASK,
    {"budget", "N", "candidates to judge", "40", PARAM_INT, false, false, NULL},
    {"time", "DURATION", "stop after this long: 90s, 10m, 2h", "no limit", PARAM_DURATION, false,
     false, NULL},
    {"policy", "NAME", "how the search picks what to extend", "mcts", PARAM_TEXT, false, false,
     "mcts|greedy|random"},
    {"proposer", "KIND[:WHICH]",
     "where candidates come from: offline, llm[:MODEL], agent:COMMAND, replay:RUN", "offline",
     PARAM_TEXT, false, false, NULL},
    {"model", "NAME", "with --proposer llm: the model to ask", NULL, PARAM_TEXT, false, false,
     NULL},
    {"base-url", "URL", "with --proposer llm: an OpenAI-compatible server", "$OPENAI_BASE_URL",
     PARAM_TEXT, false, false, NULL},
    {"tokens", "N", "with --proposer llm: stop after this many tokens", "no limit", PARAM_INT,
     false, false, NULL},
    {"context-tokens", "N", "hard bound of one prompt", "16000", PARAM_INT, false, false, NULL},
    PARAM_MEMORY,
    {"seed", "N", "makes the search's choices repeatable", "random, and recorded", PARAM_INT, false,
     false, NULL},
    {"fresh", NULL, "begin at the reference, not at what is remembered", NULL, PARAM_FLAG, false,
     false, NULL},
    {"target", "NAME", "where candidates run", "cpu", PARAM_TEXT, false, false, NULL},
    {"output", "FILE", "where the best source is written", "NAME.kope.c in the current folder",
     PARAM_PATH, false, false, NULL},
    {0},
};

/* A file of ours is recognised by how it begins; nobody else's is overwritten. */
static const char output_mark[] = "/* kope: ";

static bool may_write(const char *path, struct arena *arena)
{
    char *old = NULL;
    struct err ignored = {0};
    if (!os_path_exists(path))
        return true;
    return os_read_file(path, 1024 * 1024, arena, &old, NULL, &ignored) &&
           (old[0] == '\0' || str_starts_with(old, output_mark));
}

static bool write_best(const struct optimize_result *result, const char *path, struct arena *arena,
                       struct err *err)
{
    struct buf text = {0};
    (void)buf_printf(&text, "%s%s, %s against %s\n", output_mark, result->task_name,
                     verdict_summary(&result->confirmation, arena), result->baseline);
    (void)buf_printf(&text, " * run %s, decision %s\n * build: %s %s -c\n */\n", result->run_id,
                     result->best.id, result->best.compiler, result->best.flags);
    (void)buf_printf(&text, "#ifndef real\n%s#endif\n\n", result->prelude);
    (void)buf_append_str(&text, result->best_source);
    const bool ok = os_write_file(path, buf_text(&text), text.length, false, err);
    buf_free(&text);
    return ok;
}

static bool finish(const struct command_call *call, const struct optimize_result *result,
                   const char *output, struct command_result *out, struct err *err)
{
    const char *path = output ? output : arena_printf(call->arena, "%s.kope.c", result->task_name);
    if (result->has_win) {
        if (!output && !may_write(path, call->arena))
            path = arena_printf(call->arena, "%s.%.8s.kope.c", result->task_name, result->run_id);
        if (!write_best(result, path, call->arena, err))
            return false;
    }
    command_write_result(result, result->has_win ? path : NULL, call->arena, out);
    out->exit_code =
        str_equal(result->end_reason, "interrupted") ? err_kind_exit_code(ERR_INTERRUPTED) : 0;
    return true;
}

static bool run_optimize(const struct command_call *call, struct command_result *out,
                         struct err *err)
{
    const struct optimize_opts opts = {
        .task_path = command_text(call, "task"),
        .memory_dir = command_text(call, "memory"),
        .target = command_text(call, "target"),
        .policy = command_text(call, "policy"),
        .proposer = command_text(call, "proposer"),
        .model = command_text(call, "model"),
        .base_url = command_text(call, "base-url"),
        .budget = command_int(call, "budget", 0),
        .time_limit_ns = command_duration_ns(call, "time"),
        .token_budget = command_int(call, "tokens", 0),
        .context_tokens = command_int(call, "context-tokens", 0),
        .seed = (uint64_t)command_int(call, "seed", 0),
        .has_seed = command_text(call, "seed") != NULL,
        .fresh = command_flag(call, "fresh"),
    };
    struct proposer_spec spec;
    if (!proposer_spec_parse(opts.proposer, call->arena, &spec, err))
        return false;
    const bool wants_model = str_equal(spec.kind, "llm");
    if (wants_model && !opts.model && !spec.argument) {
        (void)err_set(err, ERR_USAGE, "--proposer llm needs a model");
        return err_hint(err,
                        "for a local server: --base-url http://127.0.0.1:8080/v1 --model NAME");
    }
    if (!wants_model && (opts.model || opts.base_url || opts.token_budget))
        return err_set(err, ERR_USAGE, "--model, --base-url and --tokens go with --proposer llm");
    struct optimize_result result;
    return engine_optimize(&opts, call->observer, call->arena, &result, err) &&
           finish(call, &result, command_text(call, "output"), out, err);
}

const struct command command_optimize = {
    .name = "optimize",
    .summary = "make a kernel faster, and remember how",
    .description = "Proposes candidates for the task, judges each in the gate on this machine, and "
                   "keeps every decision with its\n"
                   "outcome in the memory. Begins at what is remembered of this task or of related "
                   "ones. The winner is judged again\n"
                   "on a clean build, a new seed and shapes that the search has not seen; only "
                   "then is a speedup claimed. Ctrl-C stops\n"
                   "after the candidate at hand; 'kope resume last' goes on.",
    .examples = "  kope optimize examples/matmul --budget 40\n"
                "  kope optimize my/kernel --time 10m --policy greedy --seed 1\n"
                "  kope optimize my/kernel --proposer llm --model local --base-url "
                "http://127.0.0.1:8080/v1",
    .params = optimize_params,
    .run = run_optimize,
};

static const struct param resume_params[] = {
    {"run", "RUN", "id of a run, the beginning of one, or 'last'", "last", PARAM_TEXT, true, false,
     NULL},
    PARAM_MEMORY,
    {"output", "FILE", "where the best source is written", "NAME.kope.c in the current folder",
     PARAM_PATH, false, false, NULL},
    {0},
};

static bool run_resume(const struct command_call *call, struct command_result *out, struct err *err)
{
    struct optimize_result result;
    const char *run = command_text(call, "run");
    return engine_resume(run ? run : "last", command_text(call, "memory"), call->observer,
                         call->arena, &result, err) &&
           finish(call, &result, command_text(call, "output"), out, err);
}

const struct command command_resume = {
    .name = "resume",
    .summary = "go on with a run that was interrupted or killed",
    .description = "Takes up a run where its journal ends: what was judged is not judged again, a "
                   "candidate that was proposed\n"
                   "but not judged is judged now, and the rest of the budget is spent.",
    .examples = "  kope resume\n  kope resume 3f2a",
    .params = resume_params,
    .run = run_resume,
};
