#include "command/internal.h"

#include "base/str.h"
#include "base/vec.h"
#include "engine/simulate.h"
#include "graph/graph.h"
#include "os/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POLICIES = 16, MAX_RUNS = 100000 };
static const char all_policies[] = "mcts,resample,adaptive,beam,greedy,random";

static const struct param replay_params[] = {
    {"what", "MEMORY|RUN", "folder of a memory, id of a run, the beginning of one, or 'last'",
     "last", PARAM_TEXT, true, false, NULL},
    {"policy", "NAMES", "search policies to compare, with commas between; or 'all'",
     "as it was recorded", PARAM_TEXT, false, false, NULL},
    {"task", "NAME", "of a memory: only this task, by its name or the beginning of its id",
     "every task", PARAM_TEXT, false, false, NULL},
    {"seeds", "N", "searches for each policy", "20", PARAM_INT, false, false, NULL},
    {"budget", "N", "candidates for each search", "as many as a run judged", PARAM_INT, false,
     false, NULL},
    {"draws", NULL, "draw each gain from the interval of its measurement", NULL, PARAM_FLAG, false,
     false, NULL},
    PARAM_MEMORY,
    {0},
};

/* Where the records are: a memory as a whole, or one run of the usual one. */
struct source {
    const char *memory_dir, *run;
};

static bool find_source(const struct command_call *call, struct source *out, struct err *err)
{
    const char *what = command_text(call, "what");
    *out = (struct source){.memory_dir = command_text(call, "memory"), .run = what ? what : "last"};
    if (!what || !os_path_is_dir(os_path_join(call->arena, what, "journal")))
        return true;
    if (out->memory_dir)
        return err_set(err, ERR_USAGE, "'%s' is a memory, and --memory names another", what);
    *out = (struct source){.memory_dir = what};
    return true;
}

/* --- as it was recorded ----------------------------------------------------------------------- */

static void write_exact(const struct exact_replay *r, struct json_writer *w, struct buf *text)
{
    (void)buf_printf(text, "run %.12s, %s, %s with seed %llu: ", r->run_id, r->task_name, r->policy,
                     (unsigned long long)r->seed);
    if (r->is_same)
        (void)buf_printf(text,
                         "as recorded, %lld decisions in the same order, best %.2fx%s%.12s; asks "
                         "that the proposer had nothing for: %lld\n",
                         (long long)r->decisions, exp(r->best_log_ratio),
                         r->best_decision[0] != '\0' ? " by decision " : "", r->best_decision,
                         (long long)r->unanswered);
    else
        (void)buf_printf(text, "NOT as recorded: %s\n", r->difference);
    json_begin_object(w);
    json_put_string(w, "run", r->run_id);
    json_put_string(w, "task", r->task_name);
    json_put_string(w, "policy", r->policy);
    json_put_bool(w, "same", r->is_same);
    json_put_string(w, "difference", r->is_same ? NULL : r->difference);
    json_put_int(w, "decisions", r->decisions);
    json_put_int(w, "evaluations", r->evaluations);
    json_put_int(w, "unanswered", r->unanswered);
    json_put_string(w, "best_decision", r->best_decision);
    json_put_real(w, "best_speedup", exp(r->best_log_ratio));
    json_end_object(w);
}

/* The ids of the runs of a memory, oldest first. */
static bool list_runs(const struct command_call *call, const struct source *source,
                      const struct graph_run **out, size_t *count, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    return memory_open(source->memory_dir, false, call->arena, &memory, err) &&
           graph_runs(memory.graph, MAX_RUNS, call->arena, out, count, err);
}

static bool replay_runs(const struct command_call *call, const struct source *source,
                        const char *task, struct json_writer *w, struct command_result *out,
                        struct err *err)
{
    const struct graph_run *runs = NULL;
    size_t count = 0;
    int64_t skipped = 0, different = 0;
    if (!list_runs(call, source, &runs, &count, err))
        return false;
    for (size_t i = count; i-- > 0;) {
        struct exact_replay replay;
        if (task && !str_equal(runs[i].task_name, task) && !str_starts_with(runs[i].task_id, task))
            continue;
        if (!simulate_exactly(source->memory_dir, runs[i].id, call->arena, &replay, err)) {
            if (err->kind != ERR_UNSUPPORTED)
                return false;
            skipped++;
            continue;
        }
        different += !replay.is_same;
        write_exact(&replay, w, &out->text);
    }
    if (skipped > 0)
        (void)buf_printf(&out->text, "%lld runs were driven from outside: nothing to replay\n",
                         (long long)skipped);
    out->exit_code = different > 0 ? err_kind_exit_code(ERR_CORRUPT) : 0;
    return true;
}

static bool replay_as_recorded(const struct command_call *call, const struct source *source,
                               struct command_result *out, struct err *err)
{
    struct json_writer w = {.out = &out->json};
    struct exact_replay replay;
    json_begin_array(&w);
    if (!source->run) {
        if (!replay_runs(call, source, command_text(call, "task"), &w, out, err))
            return false;
    } else {
        if (!simulate_exactly(source->memory_dir, source->run, call->arena, &replay, err))
            return false;
        write_exact(&replay, &w, &out->text);
        out->exit_code = replay.is_same ? 0 : err_kind_exit_code(ERR_CORRUPT);
    }
    json_end_array(&w);
    return true;
}

/* --- under other policies --------------------------------------------------------------------- */

static const char *evaluations_text(const struct stats_interval *to, int64_t reached,
                                    const struct simulated_task *task, struct arena *arena)
{
    return to->mid > (double)task->budget
               ? arena_printf(arena, "not reached (%lld of %lld)", (long long)reached,
                              (long long)task->seeds)
               : arena_printf(arena, "%.0f [%.0f, %.0f] (%lld of %lld)", to->mid, to->low, to->high,
                              (long long)reached, (long long)task->seeds);
}

static void write_task_text(const struct simulated_task *task, size_t policies, struct arena *arena,
                            struct buf *text)
{
    (void)buf_printf(
        text,
        "%s on machine %.8s: runs %lld, decisions %lld, states %lld, best %.2fx; seeds "
        "%lld of %lld candidates\n",
        task->task_name, task->target_id, (long long)task->runs, (long long)task->decisions,
        (long long)task->states, exp(task->best_log_ratio), (long long)task->seeds,
        (long long)task->budget);
    if (!(task->best_log_ratio > 0.0)) {
        (void)buf_append_str(text,
                             "  nothing better than the baseline is recorded: nothing to find\n");
        return;
    }
    (void)buf_printf(text, "  %-10s %-25s %-25s %-22s %8s\n", "policy", "to 90 % of the best",
                     "to 95 % of the best", "best", "answered");
    for (size_t i = 0; i < policies; i++) {
        const struct simulated_policy *p = &task->policies[i];
        if (!(task->best_log_ratio > 0.0)) {
            (void)buf_append_str(
                text, "  nothing better than the baseline is recorded: nothing to find\n");
            return;
        }
        (void)buf_printf(text, "  %-10s %-25s %-25s %-22s %6.0f %%\n", p->policy,
                         evaluations_text(&p->to_90, p->reached_90, task, arena),
                         evaluations_text(&p->to_95, p->reached_95, task, arena),
                         arena_printf(arena, "%.2fx [%.2f, %.2f]", exp(p->best.mid),
                                      exp(p->best.low), exp(p->best.high)),
                         100.0 * p->coverage);
    }
}

static void put_interval(struct json_writer *w, const char *key, const struct stats_interval *value,
                         bool is_log)
{
    json_key(w, key);
    json_begin_array(w);
    json_write_real(w, is_log ? exp(value->mid) : value->mid);
    json_write_real(w, is_log ? exp(value->low) : value->low);
    json_write_real(w, is_log ? exp(value->high) : value->high);
    json_end_array(w);
}

static void write_task_json(const struct simulated_task *task, size_t policies,
                            struct json_writer *w)
{
    json_begin_object(w);
    json_put_string(w, "task", task->task_name);
    json_put_string(w, "task_id", task->task_id);
    json_put_string(w, "target_id", task->target_id);
    json_put_int(w, "runs", task->runs);
    json_put_int(w, "decisions", task->decisions);
    json_put_int(w, "states", task->states);
    json_put_real(w, "best_speedup", exp(task->best_log_ratio));
    json_put_int(w, "seeds", task->seeds);
    json_put_int(w, "budget", task->budget);
    json_key(w, "policies");
    json_begin_array(w);
    for (size_t i = 0; i < policies; i++) {
        const struct simulated_policy *p = &task->policies[i];
        json_begin_object(w);
        json_put_string(w, "policy", p->policy);
        put_interval(w, "evaluations_to_90", &p->to_90, false);
        put_interval(w, "evaluations_to_95", &p->to_95, false);
        json_put_int(w, "reached_90", p->reached_90);
        json_put_int(w, "reached_95", p->reached_95);
        put_interval(w, "best_speedup", &p->best, true);
        json_put_real(w, "coverage", p->coverage);
        json_put_real(w, "other_step", p->other_step);
        json_put_int(w, "record_spent", p->spent);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

/* Over all tasks: geometric means of the medians. */
static void write_overall(const struct simulated_task *tasks, size_t count, size_t policies,
                          struct buf *text)
{
    if (count < 2)
        return;
    (void)buf_printf(text, "%zu tasks, geometric means\n  %-10s %20s %20s %10s\n", count, "policy",
                     "to 90 % of the best", "to 95 % of the best", "best");
    for (size_t i = 0; i < policies; i++) {
        double to_90 = 0.0, to_95 = 0.0, best = 0.0;
        for (size_t t = 0; t < count; t++) {
            to_90 += log(tasks[t].policies[i].to_90.mid) / (double)count;
            to_95 += log(tasks[t].policies[i].to_95.mid) / (double)count;
            best += tasks[t].policies[i].best.mid / (double)count;
        }
        (void)buf_printf(text, "  %-10s %20.1f %20.1f %9.2fx\n", tasks[0].policies[i].policy,
                         exp(to_90), exp(to_95), exp(best));
    }
}

/* How far the record can be trusted to tell. */
static void write_caveats(const struct simulated_task *tasks, size_t count, size_t policies,
                          struct buf *text)
{
    double worst = 1.0;
    int64_t spent = 0, searches = 0;
    for (size_t t = 0; t < count; t++) {
        for (size_t i = 0; i < policies; i++) {
            worst = fmin(worst, tasks[t].policies[i].coverage);
            spent += tasks[t].policies[i].spent;
            searches += tasks[t].seeds;
        }
    }
    (void)buf_printf(text,
                     "answered: asks that the record could answer (at worst %.0f %%); the others "
                     "are unknown, and the search went elsewhere\n",
                     100.0 * worst);
    if (spent > 0)
        (void)buf_printf(text, "%lld of %lld searches had used up the record before their budget\n",
                         (long long)spent, (long long)searches);
}

static bool split_policies(const struct command_call *call, const char *text,
                           const char *names[MAX_POLICIES], size_t *count, struct err *err)
{
    char *rest = arena_strdup(call->arena, str_equal(text, "all") ? all_policies : text);
    *count = 0;
    while (rest) {
        char *comma = strchr(rest, ',');
        if (*count == MAX_POLICIES)
            return err_set(err, ERR_USAGE, "--policy takes at most %d names", MAX_POLICIES);
        if (comma)
            *comma++ = '\0';
        names[(*count)++] = rest;
        rest = comma;
    }
    return true;
}

static bool replay_policies(const struct command_call *call, const struct source *source,
                            struct command_result *out, struct err *err)
{
    const char *names[MAX_POLICIES];
    size_t name_count = 0;
    const struct simulated_task *tasks = NULL;
    size_t count = 0;
    if (!split_policies(call, command_text(call, "policy"), names, &name_count, err))
        return false;
    const struct simulate_opts opts = {.memory_dir = source->memory_dir,
                                       .run = source->run,
                                       .task = command_text(call, "task"),
                                       .policies = names,
                                       .policy_count = name_count,
                                       .seeds = command_int(call, "seeds", 0),
                                       .budget = command_int(call, "budget", 0),
                                       .draws = command_flag(call, "draws")};
    if (!simulate(&opts, call->arena, &tasks, &count, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        write_task_text(&tasks[i], name_count, call->arena, &out->text);
        write_task_json(&tasks[i], name_count, &w);
    }
    json_end_array(&w);
    write_overall(tasks, count, name_count, &out->text);
    write_caveats(tasks, count, name_count, &out->text);
    return true;
}

static bool run_replay(const struct command_call *call, struct command_result *out, struct err *err)
{
    struct source source;
    if (!find_source(call, &source, err))
        return false;
    if (source.run && command_text(call, "task"))
        return err_set(err, ERR_USAGE, "--task goes with a memory, not with a run");
    if (command_text(call, "policy"))
        return replay_policies(call, &source, out, err);
    if (command_text(call, "seeds") || command_text(call, "budget") || command_flag(call, "draws"))
        return err_set(err, ERR_USAGE, "--seeds, --budget and --draws go with --policy");
    return replay_as_recorded(call, &source, out, err);
}

const struct command command_replay = {
    .name = "replay",
    .summary = "search policies on recorded outcomes, nothing built or measured",
    .description =
        "Without --policy: does a run come out as it was recorded under its own policy, seed and "
        "budget, decision by decision?\n"
        "Exit code 9 where it does not. With --policy: each of these policies searches the record "
        "of the run, or of all runs of\n"
        "a task together, with many seeds. Printed are the evaluations to 90 and 95 % of the best "
        "recorded speedup and the best\n"
        "at the budget: medians over the seeds with 95 % intervals. A search can only be told what "
        "was tried: where it asks for\n"
        "more, the record does not know, and the share of asks that it could answer is printed.",
    .examples = "  kope replay last\n"
                "  kope replay last --policy greedy,mcts\n"
                "  kope replay ~/.local/share/kope --task gelu --policy all --seeds 100",
    .params = replay_params,
    .run = run_replay,
};
