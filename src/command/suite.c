#include "command/internal.h"

#include "config/config.h"
#include "os/file.h"
#include "suite/suite.h"

#define PARAM_RESULTS                                                                              \
    {                                                                                              \
        "results", "DIR", "folder of the results and memories", "suite-results", PARAM_PATH,       \
            false, false, NULL                                                                     \
    }

static const struct param run_params[] = {
    {"dir", "DIR", "folder with a folder for each task", NULL, PARAM_PATH, true, true, NULL},
    {"arms", "FILE", "what is compared, and with what budget", NULL, PARAM_PATH, false, true, NULL},
    {"seeds", "N", "runs of each task in each arm", "1", PARAM_INT, false, false, NULL},
    {"first-seed", "N", "the seed of the first of them", "1", PARAM_INT, false, false, NULL},
    {"tasks", "NAMES", "only these folders, with commas between", "all", PARAM_TEXT, false, false,
     NULL},
    PARAM_RESULTS,
    {"minutes", "N", "begin no run after so many; the same command goes on later", "no limit",
     PARAM_INT, false, false, NULL},
    {"jobs", "N", "runs at a time, each with a processor of its own", "1", PARAM_INT, false, false,
     NULL},
    {"target", "NAME", "where candidates run", "cpu", PARAM_TEXT, false, false, NULL},
    {0},
};

static const char *results_dir(const struct command_call *call)
{
    const char *dir = command_text(call, "results");
    return dir ? dir : "suite-results";
}

static bool run_suite(const struct command_call *call, struct command_result *out, struct err *err)
{
    const struct config *config = NULL;
    struct suite_progress progress;
    if (!config_load(NULL, call->arena, &config, err))
        return false;
    const struct suite_opts opts = {.dir = command_text(call, "dir"),
                                    .arms = command_text(call, "arms"),
                                    .results = results_dir(call),
                                    .tasks = command_text(call, "tasks"),
                                    .seeds = command_int(call, "seeds", 0),
                                    .first_seed = command_int(call, "first-seed", 1),
                                    .minutes = command_int(call, "minutes", 0),
                                    .jobs = command_int(call, "jobs", 1),
                                    .target = command_text(call, "target"),
                                    .config = config};
    if (opts.jobs < 1)
        return err_set(err, ERR_USAGE, "--jobs is 1 at least");
    if (opts.first_seed < 1)
        return err_set(err, ERR_USAGE, "--first-seed is 1 at least");
    if (!suite_run(&opts, call->observer, call->arena, &progress, err))
        return false;
    (void)buf_printf(&out->text, "%lld of %lld runs are done (%lld of them before",
                     (long long)progress.done, (long long)progress.runs,
                     (long long)progress.done_before);
    if (progress.resumed > 0)
        (void)buf_printf(&out->text, ", %lld resumed", (long long)progress.resumed);
    (void)buf_printf(&out->text, ")%s\n", progress.is_interrupted ? "; again, and it goes on" : "");
    if (!progress.is_interrupted)
        (void)buf_printf(&out->text, "what they say: kope suite report %s\n", opts.results);
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "results", opts.results);
    json_put_int(&w, "runs", progress.runs);
    json_put_int(&w, "done", progress.done);
    json_put_int(&w, "done_before", progress.done_before);
    json_put_int(&w, "resumed", progress.resumed);
    json_put_bool(&w, "interrupted", progress.is_interrupted);
    json_end_object(&w);
    out->exit_code = progress.is_interrupted ? err_kind_exit_code(ERR_INTERRUPTED) : 0;
    return true;
}

const struct command command_suite_run = {
    .name = "suite run",
    .summary = "many tasks in several arms, the same compute in each",
    .description =
        "Runs every task in every arm with every seed, each in a memory of its own, and keeps a "
        "line for each in\n"
        "RESULTS/results.jsonl. Stopped or killed, the same command goes on where it was: nothing "
        "is paid for twice.\n"
        "\n"
        "The file of arms is YAML. The budget is the same for each arm; the first arm is what the "
        "others are compared with:\n"
        "  budget: {candidates: 24}       # and, or: seconds, tokens\n"
        "  timing: {case_ms: 1000, half_width: 0.05}      # and confirm_ms; without it as in any "
        "run\n"
        "  arms:\n"
        "    - {name: without}            # an empty memory for each run\n"
        "    - {name: growing, memory: on}                    # the arm's earlier tasks, in order\n"
        "    - {name: others, memory: on, leave_out: task, from: without}     # all other tasks\n"
        "    - {name: kin, memory: on, leave_out: family, from: without}      # other families\n"
        "    - {name: given, memory: frozen, from: ../memory, policy: greedy}\n"
        "An arm may also name policy, proposer, model, context: active or passive, and findings: "
        "on (offline: what profiles find\n"
        "changes what is believed of moves). What the suite has judged for a task, by\n"
        "candidate or by machine code, is not judged again, unless the file says 'reuse: false' or "
        "limits the seconds.\n"
        "\n"
        "With --jobs N, runs that do not need each other go on at the same time, each in a process "
        "of its own on a processor of\n"
        "its own; the results are those of one after the other. N should not be above the number "
        "of physical cores, and less where\n"
        "the kernels are bound by memory: they share its bandwidth and the last cache, and "
        "disturb each other's times. On a\n"
        "machine that is otherwise quiet, 1 gives the best times.\n"
        "\n"
        "Parts of a suite can be run apart, on machines of one kind: --first-seed 4 --seeds 2 runs "
        "seeds 4 and 5. The lines of their\n"
        "results.jsonl belong together, in any order.",
    .examples = "  kope suite run examples --arms arms.yaml --seeds 3\n"
                "  kope suite run examples --arms arms.yaml --tasks gelu,sum --results /tmp/try\n"
                "  kope suite run examples --arms arms.yaml --tasks gelu,sum --seeds 5 --jobs 2",
    .params = run_params,
    .run = run_suite,
};

static const struct param report_params[] = {
    {"results", "DIR", "folder of the results", "suite-results", PARAM_PATH, true, false, NULL},
    {"svg", "FILE", "write the figure: how near to the best, by candidates", NULL, PARAM_PATH,
     false, false, NULL},
    {0},
};

static bool run_report(const struct command_call *call, struct command_result *out, struct err *err)
{
    CLEANUP(buf_free) struct buf figure = {0};
    const char *path = command_text(call, "svg");
    struct suite_summary summary;
    if (!suite_summarise(results_dir(call), call->arena, &summary, err))
        return false;
    suite_write_text(&summary, call->arena, &out->text);
    suite_write_json(&summary, &out->json);
    if (!path)
        return true;
    suite_write_svg(&summary, call->arena, &figure);
    (void)buf_printf(&out->text, "wrote %s\n", path);
    return os_write_file(path, buf_text(&figure), figure.length, false, err);
}

const struct command command_suite_report = {
    .name = "suite report",
    .summary = "what the runs of a suite say, with intervals",
    .description =
        "For each task and arm: evaluations to 95 % of the best speedup that any run of the suite "
        "confirmed (one more than were judged\n"
        "where it never got there), and the confirmed speedup. For each arm: geometric means over "
        "the tasks, and ratios to the\n"
        "first arm paired by task and seed, with 95 % intervals by bootstrap over the tasks. What "
        "not every arm has run yet is\n"
        "left out, and said.",
    .examples = "  kope suite report\n  kope suite report /tmp/try --svg figure.svg",
    .params = report_params,
    .run = run_report,
};
