#include "engine/internal.h"
#include "engine/replay.h"
#include "engine/rivals.h"

#include "base/str.h"
#include "base/vec.h"
#include "os/file.h"
#include "os/os.h"

#include <stdlib.h>

enum { DEFAULT_BUDGET = 40, DEFAULT_CONTEXT_TOKENS = 16000 };

void run_notify(struct run *run, enum progress_kind kind, const struct progress *more)
{
    if (!run->observer || !run->observer->on_progress)
        return;
    struct progress progress = more ? *more : (struct progress){0};
    progress.kind = kind;
    progress.run_id = run->run_id;
    progress.evaluations = run->evaluations;
    progress.budget = run->opts.budget;
    progress.elapsed_ns = run->started_ns ? os_now_ns() - run->started_ns + run->earlier_ns : 0;
    progress.opening_ns = run->opening_ns;
    progress.time_limit_ns = run->opts.time_limit_ns;
    progress.reserve_ns = kind == PROGRESS_ENDED ? 0 : run_reserve_ns(run);
    progress.tree_size = (int64_t)run->node_count;
    progress.best_log_ratio = run->best > 0 ? run->nodes[run->best].log_ratio : 0.0;
    progress.builds_saved = run->builds_saved;
    progress.repeats = run->repeats;
    progress.tokens = run->spent.tokens;
    progress.token_budget = run->opts.token_budget;
    memcpy(progress.by_verdict, run->by_verdict, sizeof progress.by_verdict);
    run->observer->on_progress(run->observer->context, &progress);
}

void run_stage(struct run *run, const char *text)
{
    run_notify(run, PROGRESS_STAGE, &(struct progress){.text = text});
}

char *run_baseline_text(const struct target *target, struct arena *arena)
{
    const char *compiler = NULL;
    const char *const *flags = NULL;
    size_t count = 0;
    struct candidate plain = {0};
    target_default_build(target, &compiler, &flags, &count);
    for (size_t i = 0; i < count && i < CANDIDATE_MAX_FLAGS; i++)
        plain.flags[plain.flag_count++] = flags[i];
    return arena_printf(arena, "%s %s", compiler, candidate_flags_text(&plain, arena));
}

char *run_facts_text(const struct target_features *f, struct arena *arena)
{
    struct buf text = {0};
    (void)buf_printf(&text, "%s, %s, %lld cores; SIMD up to %lld bytes (%s)\n", f->cpu, f->arch,
                     (long long)f->cores, (long long)f->vector_bytes, f->isa);
    (void)buf_printf(&text, "one core, measured: %.0f GFLOP/s float32, %.0f float64; ",
                     f->peak_gflops_f32, f->peak_gflops_f64);
    (void)buf_printf(&text, "read %.0f/%.0f/%.0f/%.0f GB/s from L1/L2/L3/memory, copy %.0f GB/s\n",
                     f->bandwidth_gbs[0], f->bandwidth_gbs[1], f->bandwidth_gbs[2],
                     f->bandwidth_gbs[3], f->copy_gbs);
    (void)buf_printf(&text, "caches: %lld KiB, %lld KiB, %lld KiB; compilers:",
                     (long long)f->cache_bytes[0] / 1024, (long long)f->cache_bytes[1] / 1024,
                     (long long)f->cache_bytes[2] / 1024);
    for (size_t i = 0; i < f->compiler_count; i++)
        (void)buf_printf(&text, " %s (%s)%s", f->compilers[i].name, f->compilers[i].version,
                         i + 1 < f->compiler_count ? "," : "");
    char *copy = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return copy;
}

struct moves_env run_moves_env(const struct target *target, const struct task *task,
                               struct arena *arena)
{
    const struct target_features *f = target_features(target);
    struct moves_compiler *compilers = arena_array(arena, f->compiler_count, sizeof *compilers);
    for (size_t i = 0; i < f->compiler_count; i++) {
        compilers[i] = (struct moves_compiler){
            .name = f->compilers[i].name,
            .family = f->compilers[i].family,
            .major = (int)strtol(f->compilers[i].version, NULL, 10),
            .has_polly = f->compilers[i].has_polly,
            .has_graphite = f->compilers[i].has_graphite,
        };
    }
    const char *compiler = NULL;
    const char *const *flags = NULL;
    size_t count = 0;
    target_default_build(target, &compiler, &flags, &count);
    return (struct moves_env){
        .task = task,
        .compilers = compilers,
        .compiler_count = f->compiler_count,
        .default_compiler = compiler,
        .vector_bytes = f->vector_bytes,
        .cache_bytes = {f->cache_bytes[0], f->cache_bytes[1], f->cache_bytes[2]},
        .isa = f->isa,
        .cache = moves_cache_new(arena)};
}

/* Written by every run: the events are small, and the graph keeps one row for each id. */
bool run_record_subject(struct run *run, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    if (run->replay)
        return true;
    const struct task *task = run->task;
    const char *reference = NULL;
    if (!memory_put_text(&run->memory, task->reference, run->arena, &reference, err))
        return false;
    event_write_task(&(struct task_event){.task_id = task->id.text,
                                          .name = task->name,
                                          .family = task->family,
                                          .dtype = dtype_name(task->dtype),
                                          .precision = precision_class_name(task->precision),
                                          .dir = task->dir,
                                          .regime = task_regime(task),
                                          .reference_body = reference,
                                          .features = task->summary},
                     &body);
    if (!memory_append(&run->memory, EVENT_TASK, &body, NULL, err))
        return false;
    const struct target_features *f = run->features;
    struct buf compilers = {0};
    for (size_t i = 0; i < f->compiler_count; i++)
        (void)buf_printf(&compilers, "%s%s %s", i ? ", " : "", f->compilers[i].name,
                         f->compilers[i].version);
    event_write_target(&(struct target_event){.target_id = f->id.text,
                                              .name = f->name,
                                              .cpu = f->cpu,
                                              .arch = f->arch,
                                              .isa = f->isa,
                                              .cores = f->cores,
                                              .vector_bytes = f->vector_bytes,
                                              .peak_gflops_f32 = f->peak_gflops_f32,
                                              .memory_gbs = f->bandwidth_gbs[3],
                                              .compilers = buf_text(&compilers)},
                       &body);
    buf_free(&compilers);
    return memory_append(&run->memory, EVENT_TARGET, &body, NULL, err);
}

const char *run_proposer_kind(const struct run *run)
{
    return run->proposer ? proposer_kind(run->proposer) : run->opts.proposer;
}

/* The command line of this program as an MCP server over the same memory, for an agent's
 * configuration; NULL where the running program is another one (a test). */
static const char *const *own_server(const struct run *run)
{
    struct err ignored;
    char *memory = NULL;
    const char *program = os_path_join(run->arena, os_program_dir(run->arena), "kope");
    if (!os_path_real(run->memory.dir, run->arena, &memory, &ignored))
        return NULL;
    const char *words[] = {program, "mcp", "--memory", memory, NULL};
    return os_path_exists(program) ? arena_memdup(run->arena, words, sizeof words) : NULL;
}

static bool open_proposer(struct run *run, struct err *err)
{
    if (run->is_driven)
        return true;
    struct proposer_opts opts = {.task = run->task, .moves = &run->moves};
    if (!proposer_spec_parse(run->opts.proposer, run->arena, &opts.spec, err))
        return false;
    if (str_equal(opts.spec.kind, "llm") && !run->models.large.model &&
        !models_choose(run, &opts.spec, err))
        return false;
    opts.models = &run->models;
    const struct agent_opts agent = {.command = opts.spec.argument,
                                     .model = run->opts.model,
                                     .workspaces = run->opts.workspaces,
                                     .keeps_files = run->opts.passive,
                                     .server = own_server(run),
                                     .timeout_ns = run->opts.agent_time_ns};
    opts.agent = &agent;
    return proposer_open(&opts, &run->proposer, err);
}

/* The plain recipe names gcc's flags; the root is built as this target builds its baseline. */
static void build_as_baseline(const struct run *run, struct candidate *root)
{
    const char *const *flags = NULL;
    size_t count = 0;
    target_default_build(run->target, &root->compiler, &flags, &count);
    root->flag_count = 0;
    for (size_t i = 0; i < count && i < CANDIDATE_MAX_FLAGS; i++)
        root->flags[root->flag_count++] = flags[i];
}

static bool open_search(struct run *run, struct err *err)
{
    if (!prior_choose(run, err))
        return false;
    const struct search_opts opts = {
        .policy = run->opts.policy, .seed = run->opts.seed, .prior = run->prior};
    if (!search_open(&opts, &run->search, err))
        return false;
    struct run_node root = {
        .decision_id = "", .moves = "", .is_timed = true, .summary = "the baseline"};
    const struct recipe *plain = recipe_plain(&run->moves, run->arena);
    if (!recipe_candidate(&run->moves, plain, run->arena, &root.candidate, err))
        return false;
    build_as_baseline(run, &root.candidate);
    run->nodes =
        vec_reserve_one(run->nodes, run->node_count, &run->node_capacity, sizeof *run->nodes);
    run->nodes[run->node_count++] = root;
    return true;
}

bool run_open_for_context(struct run *run, struct err *err)
{
    const struct optimize_opts *opts = &run->opts;
    if (!task_load(opts->task_path, run->arena, &run->task, err) ||
        !(run->memory.journal ||
          memory_open(opts->memory_dir, true, run->arena, &run->memory, err)))
        return false;
    const char *targets = os_path_join(run->arena, run->memory.dir, "targets");
    if (!target_open(opts->target ? opts->target : "cpu", targets, &run->target, err))
        return false;
    run_stage(run, "measuring the machine (kept for later runs)");
    if (!target_probe(run->target, false, err))
        return err_within(err, "measuring the target");
    run->features = target_features(run->target);
    run->moves = run_moves_env(run->target, run->task, run->arena);
    return moves_catalogue(&run->moves, run->arena, &run->catalogue, &run->catalogue_count) &&
           rulebook_open(&run->memory, run->target, run->task, run->arena, &run->rulebook, err);
}

/* A replay takes its options and its memory from the record. */
static bool open_record(struct run *run, struct err *err)
{
    struct proposer_spec spec;
    if (run->is_driven)
        return true;
    return proposer_spec_parse(run->opts.proposer, run->arena, &spec, err) &&
           (!str_equal(spec.kind, "replay") || replay_open(run, spec.argument, err));
}

static bool open_gate(struct run *run, struct err *err)
{
    if (run->replay)
        return replay_check_subject(run, err);
    if (!run->opts.records)
        return run_need_gate(run, err);
    if (!gate_identify(run->target, run->task, &run->gate_id, err))
        return err_within(err, "task '%s'", run->task->name);
    return known_load(run, err) && (run->known.count > 0 || run_need_gate(run, err));
}

bool run_open(struct run *run, struct err *err)
{
    struct optimize_opts *opts = &run->opts;
    run->started_ns = os_now_ns();
    if (!open_record(run, err))
        return false;
    run->start_text = "";
    run->start_decision = "";
    run->finding = "";
    run->bottleneck = "";
    opts->target = opts->target ? opts->target : "cpu";
    opts->policy = opts->policy ? opts->policy : "mcts";
    opts->proposer = opts->proposer ? opts->proposer : "offline";
    opts->budget = opts->budget ? opts->budget : DEFAULT_BUDGET;
    opts->proposals = opts->proposals ? opts->proposals : 1;
    run->spent.is_cost_known = true;
    if (!opts->context_tokens && !opts->passive)
        opts->context_tokens = DEFAULT_CONTEXT_TOKENS;
    if (!opts->has_seed)
        opts->seed = os_random_u64() >> 1;
    if (!search_check_policy(opts->policy, err) || !spans_open(run, err) ||
        !run_open_for_context(run, err))
        return false;
    return open_proposer(run, err) && open_search(run, err) && open_gate(run, err);
}

void run_close(struct run *run)
{
    rivals_close(&run->rivals);
    if (run->run_span)
        spans_close(run, "error", NULL);
    trace_close(&run->trace);
    rulebook_close(&run->rulebook);
    search_close(&run->search);
    gate_close(&run->gate);
    proposer_close(&run->proposer);
    target_close(&run->target);
    memory_close(&run->memory);
    replay_close(run->replay);
    run->replay = NULL;
    free(run->nodes);
    free(run->tried);
    free(run->known.items);
    run->known = (struct known){0};
    free(run->queue.items);
    free(run->summaries);
    run->summaries = NULL;
    context_epoch_free(&run->epoch);
    run->queue = (struct queue){0};
    run->nodes = NULL;
    run->tried = NULL;
}
