#include "command/internal.h"

#include "base/str.h"
#include "config/config.h"
#include "os/file.h"
#include "os/os.h"
#include "propose/propose.h"

#include <string.h>

static const struct param optimize_params[] = {
    PARAM_TASK,
    {"budget", "N", "candidates to judge", "40", PARAM_INT, false, false, NULL},
    {"time", "DURATION", "of the whole run, confirming included: 90s, 10m, 2h", "no limit",
     PARAM_DURATION, false, false, NULL},
    {"policy", "NAME",
     "how the search picks what to extend: mcts, resample, adaptive, beam[:WIDTH], greedy, random; "
     "see above",
     "mcts", PARAM_TEXT, false, false, NULL},
    {"proposer", "KIND[:WHICH]",
     "where candidates come from: offline, llm[:MODEL], agent:COMMAND, replay:RUN", "offline",
     PARAM_TEXT, false, false, NULL},
    {"model", "NAME", "with --proposer llm or agent: the model to ask", NULL, PARAM_TEXT, false,
     false, NULL},
    {"base-url", "URL", "with --proposer llm: an OpenAI-compatible server", "$OPENAI_BASE_URL",
     PARAM_TEXT, false, false, NULL},
    {"proposals", "N", "with --proposer llm: how many to ask for in one exchange", "1", PARAM_INT,
     false, false, NULL},
    {"tokens", "N", "with --proposer llm: stop before more than this many tokens are spent",
     "no limit", PARAM_INT, false, false, NULL},
    {"cost", "USD",
     "with --proposer llm: stop before more than this is spent; prices are those "
     "of kope.yaml",
     "no limit", PARAM_TEXT, false, false, NULL},
    {"trace", "FILE|URL",
     "write OpenTelemetry spans: OTLP/JSON, a line for each batch, or to a "
     "collector such as http://127.0.0.1:4318/v1/traces",
     NULL, PARAM_TEXT, false, false, NULL},
    {"trace-content", NULL, "prompts and replies in the spans too", NULL, PARAM_FLAG, false, false,
     NULL},
    {"agent-time", "DURATION", "with --proposer agent: stop the agent after this long", "10m",
     PARAM_DURATION, false, false, NULL},
    {"workspaces", "DIR", "with --proposer agent: keep the folders that it worked in there",
     "removed after use", PARAM_PATH, false, false, NULL},
    {"context", "MODE",
     "active: chosen from experience, bounded; passive, for comparison: the run's own history, "
     "growing",
     "active", PARAM_TEXT, false, false, "active|passive"},
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
        str_equal(result->end_reason, "interrupted")    ? err_kind_exit_code(ERR_INTERRUPTED)
        : str_starts_with(result->end_reason, "error:") ? err_kind_exit_code(ERR_NETWORK)
                                                        : 0;
    return true;
}

static bool read_cost(const struct command_call *call, double *out, struct err *err)
{
    const char *text = command_text(call, "cost");
    if (!text || (str_parse_double(text, out) && *out > 0.0))
        return true;
    return err_set(err, ERR_USAGE, "--cost takes a number of US dollars over 0, not '%s'", text);
}

/* What belongs to a model needs one. */
static bool check_model_options(const struct command_call *call, const struct proposer_spec *spec,
                                const struct config *config, struct err *err)
{
    static const char *const names[] = {"model", "base-url", "tokens", "cost", "proposals"};
    const bool is_named = spec->argument || command_text(call, "model");
    if (str_equal(spec->kind, "llm")) {
        if (is_named || config->roles[CONFIG_SMALL_STEP] || config->roles[CONFIG_LARGE_STEP])
            return true;
        (void)err_set(err, ERR_USAGE, "--proposer llm needs a model");
        return err_hint(err, "for a local server: --base-url http://127.0.0.1:8080/v1 --model "
                             "NAME; or give one the role large_step in kope.yaml");
    }
    const bool is_agent = str_equal(spec->kind, "agent");
    if (!is_agent && (command_text(call, "agent-time") || command_text(call, "workspaces")))
        return err_set(err, ERR_USAGE, "--agent-time and --workspaces go with --proposer agent");
    for (size_t i = is_agent ? 1 : 0; i < sizeof names / sizeof *names; i++) {
        if (command_text(call, names[i]) || command_int(call, names[i], 0) != 0)
            return err_set(err, ERR_USAGE, "--%s goes with --proposer llm", names[i]);
    }
    return true;
}

/* Where the command line says nothing, kope.yaml does. */
static void fill_from_config(struct optimize_opts *opts, const struct config *config, bool is_llm)
{
    opts->config = config;
    if (!opts->policy)
        opts->policy = config->policy;
    if (!opts->memory_dir)
        opts->memory_dir = config->memory_dir;
    if (!opts->context_tokens && !opts->passive)
        opts->context_tokens = config->context_tokens;
    if (is_llm && !opts->token_budget)
        opts->token_budget = config->token_budget;
    if (is_llm && !(opts->cost_budget_usd > 0.0))
        opts->cost_budget_usd = config->cost_budget_usd;
}

static bool run_optimize(const struct command_call *call, struct command_result *out,
                         struct err *err)
{
    struct optimize_opts opts = {
        .task_path = command_text(call, "task"),
        .memory_dir = command_text(call, "memory"),
        .target = command_text(call, "target"),
        .policy = command_text(call, "policy"),
        .proposer = command_text(call, "proposer"),
        .model = command_text(call, "model"),
        .base_url = command_text(call, "base-url"),
        .proposals = command_int(call, "proposals", 0),
        .budget = command_int(call, "budget", 0),
        .time_limit_ns = command_duration_ns(call, "time"),
        .token_budget = command_int(call, "tokens", 0),
        .context_tokens = command_int(call, "context-tokens", 0),
        .seed = (uint64_t)command_int(call, "seed", 0),
        .has_seed = command_text(call, "seed") != NULL,
        .fresh = command_flag(call, "fresh"),
        .passive = str_equal(command_text(call, "context") ? command_text(call, "context") : "",
                             "passive"),
        .agent_time_ns = command_duration_ns(call, "agent-time"),
        .workspaces = command_text(call, "workspaces"),
        .trace = command_text(call, "trace"),
        .trace_content = command_flag(call, "trace-content"),
    };
    const struct config *config = NULL;
    struct proposer_spec spec;
    struct optimize_result result;
    if (!config_load(NULL, call->arena, &config, err))
        return false;
    if (!opts.proposer)
        opts.proposer = config->proposer;
    if (!proposer_spec_parse(opts.proposer, call->arena, &spec, err) ||
        !check_model_options(call, &spec, config, err) ||
        !read_cost(call, &opts.cost_budget_usd, err))
        return false;
    fill_from_config(&opts, config, str_equal(spec.kind, "llm"));
    if (opts.proposals > PROPOSE_MAX_AT_ONCE)
        return err_set(err, ERR_USAGE, "--proposals takes at most %d", PROPOSE_MAX_AT_ONCE);
    return engine_optimize(&opts, call->observer, call->arena, &result, err) &&
           finish(call, &result, command_text(call, "output"), out, err);
}

const struct command command_optimize = {
    .name = "optimize",
    .summary = "make a kernel faster, and remember how",
    .description =
        "Proposes candidates for the task, judges each in the gate on this machine, and "
        "keeps every decision with its\n"
        "outcome in the memory. Begins at what is remembered of this task or of related "
        "ones. The winner is judged again\n"
        "on a clean build, a new seed and shapes that the search has not seen; only "
        "then is a speedup claimed. Ctrl-C stops\n"
        "after the candidate at hand; 'kope resume last' goes on.\n"
        "\n"
        "Search policies, each deterministic for a seed:\n"
        "  mcts      tree search that extends a candidate until what came of it is better\n"
        "  resample  mcts that now and then decides again where a decision gained most\n"
        "  adaptive  small steps around one structure, now and then a large one to another\n"
        "  beam      level by level from the best of each; beam:8 is eight wide, 3 is usual\n"
        "  greedy    always from the best candidate so far\n"
        "  random    any valid candidate with equal chance",
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
    const struct optimize_opts opts = {.memory_dir = command_text(call, "memory")};
    return engine_resume(run ? run : "last", &opts, call->observer, call->arena, &result, err) &&
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
