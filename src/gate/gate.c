#include "gate/gate.h"

#include "base/str.h"
#include "gate/crew.h"
#include "gate/internal.h"
#include "os/os.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_ENOUGH_NS (400 * GATE_MS) /* to know about how long the baseline takes */
#define REDRAW_CREDIT_NS (4 * GATE_MS) /* earned by each candidate, for new probes */

/* A candidate sees inputs and poison of its samples: from them it must not be able to tell the
 * rest.
 */
static struct rng new_secret(void)
{
    unsigned char key[RNG_KEY_BYTES];
    os_random(key, sizeof key);
    return rng_secret(key);
}

/* A new secret for what follows in this judgement. It may stand in its record, because another one
 * takes its place before the next candidate. */
static void reseed(struct judgement *j)
{
    unsigned char key[RNG_KEY_BYTES];
    char text[2 * RNG_KEY_BYTES + 1];
    os_random(key, sizeof key);
    for (size_t i = 0; i < sizeof key; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", key[i]);
    data_reseed(j->gate->data, rng_secret(key));
    j->out->seed = arena_strdup(j->arena, text);
}

/* What the verdict was found with. */
static void put_on_record(struct judgement *j)
{
    data_reseed(j->gate->data, new_secret()); /* what comes next has nothing to do with the seed */
    if (!j->out->from_record)
        j->out->load = os_load_average();
}

/* --- opening --------------------------------------------------------------------------------- */

static bool has_oracle(const struct task *task)
{
    if (task->precision == PRECISION_EXACT || !dtype_is_float(task->dtype))
        return false;
    for (size_t arg = 0; arg < task->arg_count; arg++)
        if (task->args[arg].role != ARG_IN && dtype_is_float(task->args[arg].dtype))
            return true;
    return false;
}

/* The reference with `real` as `real_name`. */
static bool build_reference(struct gate *gate, const char *real_name, struct image *out,
                            struct hash_id *code_id, struct err *err)
{
    const struct candidate reference = {.source = gate->task->reference};
    const struct build_request request = {.task = gate->declared,
                                          .candidate = &reference,
                                          .real_name = real_name,
                                          .is_trusted = true};
    struct build_result result = {0};
    if (!target_build(gate->target, &request, &gate->arena, &result, err))
        return false;
    if (result.status != BUILD_OK) {
        const char *text = result.diagnostics && *result.diagnostics ? result.diagnostics
                           : result.evidence                         ? result.evidence
                                                                     : "no detail";
        (void)err_set(err, ERR_BAD_INPUT,
                      "the reference of task '%s' does not build with real = %s: %s",
                      gate->task->name, real_name, text);
        return err_hint(err, "reference.c must be plain C over the type 'real'");
    }
    *out = (struct image){result.image, result.image_bytes};
    *code_id = result.code_id;
    return true;
}

/* Compilers join a product and a sum here and not there, by what else a loop does: the build that
 * has the reference's bits is found out. One that does not build is none. */
static bool build_twins(struct gate *gate, const char *real_name, struct image out[TWIN_BUILDS],
                        struct err *err)
{
    static const char apart[] = "-ffp-contract=off";
    const char *compiler = NULL;
    const char *const *flags = NULL;
    size_t count = 0;
    target_default_build(gate->target, &compiler, &flags, &count);
    for (size_t build = 0; build < TWIN_BUILDS; build++) {
        struct candidate twin = {.source = gate->opts.twin, .compiler = compiler};
        for (size_t i = 0; i < count && i + 1 < CANDIDATE_MAX_FLAGS; i++)
            twin.flags[twin.flag_count++] = flags[i];
        if (build > 0)
            twin.flags[twin.flag_count++] = apart;
        const struct build_request request = {
            .task = gate->declared, .candidate = &twin, .real_name = real_name, .is_trusted = true};
        struct build_result result = {0};
        if (!target_build(gate->target, &request, &gate->arena, &result, err))
            return false;
        if (result.status == BUILD_OK)
            out[build] = (struct image){result.image, result.image_bytes};
    }
    return true;
}

/* The task's entry point, which does nothing. */
static bool build_empty(struct gate *gate, struct err *err)
{
    const struct candidate empty = {
        .source = arena_printf(&gate->arena, "#include <stdint.h>\n%s\n{}\n",
                               task_signature(gate->declared, "real", &gate->arena))};
    const struct build_request request = {.task = gate->declared,
                                          .candidate = &empty,
                                          .real_name = dtype_c_name(gate->task->dtype),
                                          .is_trusted = true};
    struct build_result result = {0};
    if (!target_build(gate->target, &request, &gate->arena, &result, err))
        return false;
    if (result.status != BUILD_OK)
        return err_set(err, ERR_IO, "an empty kernel for task '%s' does not build: %s",
                       gate->task->name, result.evidence ? result.evidence : "no detail");
    gate->empty = (struct image){result.image, result.image_bytes};
    return true;
}

static struct hash_id make_id(const struct gate *gate)
{
    char version[32], factor[32];
    (void)snprintf(version, sizeof version, "gate %d", GATE_VERSION);
    (void)snprintf(factor, sizeof factor, "%g", precision_class_factor(gate->task->precision));
    const char *const parts[] = {version, factor, gate->task->id.text,
                                 target_features(gate->target)->id.text, gate->baseline_code.text};
    return hash_strings(parts, sizeof parts / sizeof *parts);
}

/* Median time of a call of the baseline, warm; `*lost` where the child did not survive. */
static bool time_baseline(struct gate *gate, struct rig *rig, const struct probe *declared,
                          bool *lost, int64_t *out_ns, struct err *err)
{
    enum { TIMES = 5, MOST_CALLS = 64 };
    const int64_t start = os_now_ns();
    size_t taken = 0;
    struct session_call calls[MOST_CALLS] = {0};
    size_t places[TASK_MAX_ARGS], count = 1;
    double times[TIMES];
    for (size_t i = 0; i < TIMES; i++) {
        struct session_report report = {0};
        rig_load(gate, rig, &calls[0], declared->inputs, DISTRIBUTION_DECLARED, places);
        if (!session_run(rig->session, calls, count, true, 60 * GATE_S, &report, err))
            return false;
        *lost = session_is_doubtful(&report);
        if (*lost)
            return true;
        if (report.status != SESSION_OK && report.status != SESSION_NOISY)
            return err_set(err, ERR_IO, "the baseline stopped while it was timed: %s",
                           report.evidence ? report.evidence : "no detail");
        times[taken++] = (double)(report.elapsed_ns > 0 ? report.elapsed_ns : 1) / (double)count;
        const double wanted = 1e5 / times[i] + 1;
        count = wanted < MOST_CALLS ? (size_t)wanted : MOST_CALLS;
        if (os_now_ns() - start > LONG_ENOUGH_NS)
            break;
    }
    *out_ns = (int64_t)(stats_median(times, taken) + 0.5);
    return true;
}

static bool measure_baseline(struct gate *gate, size_t case_index, const struct probe *declared,
                             struct err *err)
{
    size_t rooms[TASK_MAX_ARGS];
    for (size_t arg = 0; arg < gate->task->arg_count; arg++)
        rooms[arg] =
            task_arg_bytes(gate->task, arg, &gate->task->cases[case_index]) + ROOM_MARGIN_BYTES;
    bool lost = true;
    for (int attempt = 0; lost && attempt < 1 + MOST_DOUBTS; attempt++) {
        struct rig rig;
        struct session_report report;
        if (!rig_start(gate, &rig, case_index, gate->baseline, gate->task->dtype, rooms, &report,
                       err))
            return false;
        if (report.status != SESSION_OK)
            return err_set(err, ERR_IO, "the baseline cannot be loaded again: %s",
                           report.evidence ? report.evidence : "no detail");
        const bool ok =
            time_baseline(gate, &rig, declared, &lost, &gate->cases[case_index].baseline_ns, err);
        rig_stop(&rig);
        if (!ok)
            return false;
    }
    return !lost || err_set(err, ERR_IO, "this host is too busy to time the baseline");
}

static void note_draws(struct case_state *state)
{
    int64_t others = 0;
    for (size_t i = 1; i < state->probe_count; i++)
        others += state->probes[i].draw_ns;
    state->first_draw_ns = state->probes[0].draw_ns;
    state->next_draw_ns =
        state->probe_count > 1 ? others / (int64_t)(state->probe_count - 1) : state->first_draw_ns;
}

/* Probes of a case; of one held out only enough to know that the reference works there. */
static bool open_case(struct gate *gate, size_t case_index, struct err *err)
{
    struct case_state *state = &gate->cases[case_index];
    const bool held_out = gate->task->cases[case_index].held_out;
    if (!probes_draw(gate, case_index, held_out ? PROBES_DECLARED : PROBES_FITTING, state->probes,
                     &state->probe_count, err))
        return false;
    note_draws(state);
    if (!null_battery(gate, state->probes, state->probe_count, err) ||
        !measure_baseline(gate, case_index, &state->probes[0], err))
        return false;
    if (held_out) {
        probes_free(state->probes, state->probe_count);
        state->probe_count = 0;
    }
    return true;
}

/* Other shapes each time: once when the gate opens, and for each confirmation. */
static bool open_edges(struct gate *gate, struct err *err)
{
    enum { FEWEST_FOR_NULL = 6 }; /* of very few and small results some null kernel is right */
    struct edges *edges = &gate->edges;
    probes_free(edges->probes, edges->count);
    rig_stop(&gate->edge_checking); /* its rooms are those of the shapes before */
    edges_choose(gate, edges);
    return edges_draw(gate, edges, err) &&
           (edges->count - gate->task->special_count < FEWEST_FOR_NULL ||
            null_battery(gate, edges->probes, edges->count, err));
}

static struct gate_opts with_defaults(const struct gate_opts *opts)
{
    struct gate_opts full = opts ? *opts : (struct gate_opts){0};
    if (full.call_limit_ns == 0)
        full.call_limit_ns = 2 * GATE_S;
    if (full.memory_limit_bytes == 0)
        full.memory_limit_bytes = (size_t)1024 * 1024 * 1024;
    if (full.twin_from_ns == 0)
        full.twin_from_ns = 50 * GATE_MS;
    return full;
}

bool gate_open(struct target *target, const struct task *task, const struct gate_opts *opts,
               struct gate **out, struct err *err)
{
    CLEANUP(gate_close) struct gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        BUG("gate: out of memory");
    gate->target = target;
    gate->declared = task;
    gate->task = task_buffers(task, &gate->arena);
    gate->opts = with_defaults(opts);
    struct hash_id ignored;
    if (!build_reference(gate, dtype_c_name(task->dtype), &gate->baseline, &gate->baseline_code,
                         err))
        return false;
    if (has_oracle(task) && !build_reference(gate, "double", &gate->oracle, &ignored, err))
        return false;
    if (has_oracle(task) && task->dtype == DTYPE_F64 &&
        !build_reference(gate, "float", &gate->shadow, &ignored, err))
        return false;
    if (gate->oracle.bytes && gate->opts.twin &&
        (!build_twins(gate, dtype_c_name(task->dtype), gate->twins, err) ||
         !build_twins(gate, "double", gate->twin_oracles, err)))
        return false;
    if (!build_empty(gate, err))
        return false;
    gate->data = data_open(gate->task, new_secret());
    gate->crew = crew_open();
    gate->special_turn = data_below(gate->data, UINT32_MAX);
    gate->id = make_id(gate);
    for (size_t i = 0; i < task->case_count; i++)
        if (!open_case(gate, i, err))
            return false;
    if (!open_edges(gate, err))
        return false;
    gate->ahead = ahead_open(gate);
    *out = gate;
    gate = NULL;
    return true;
}

bool gate_identify(struct target *target, const struct task *task, struct hash_id *out,
                   struct err *err)
{
    CLEANUP(gate_close) struct gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        BUG("gate: out of memory");
    gate->target = target;
    gate->declared = task;
    gate->task = task_buffers(task, &gate->arena);
    if (!build_reference(gate, dtype_c_name(task->dtype), &gate->baseline, &gate->baseline_code,
                         err))
        return false;
    *out = make_id(gate);
    return true;
}

void gate_close(struct gate **gate)
{
    struct gate *g = *gate;
    if (!g)
        return;
    for (size_t i = 0; i < g->task->case_count; i++) {
        probes_free(g->cases[i].probes, g->cases[i].probe_count);
        for (size_t k = 0; k < WARM_BASELINES; k++)
            rig_stop(&g->cases[i].timing[k].rig);
        rig_stop(&g->cases[i].checking);
    }
    rig_stop(&g->edge_checking);
    ahead_close(g->ahead);
    crew_close(g->crew);
    probes_free(g->edges.probes, g->edges.count);
    data_close(&g->data);
    staging_free(&g->staging);
    records_free(g);
    arena_free(&g->arena);
    free(g);
    *gate = NULL;
}

struct hash_id gate_id(const struct gate *gate)
{
    return gate->id;
}

int64_t gate_baseline_ns(const struct gate *gate, size_t case_index)
{
    return case_index < gate->task->case_count ? gate->cases[case_index].baseline_ns : 0;
}

/* --- stages of a judgement ---------------------------------------------------------------------
 */

static struct build_request request_for(const struct gate *gate, const struct candidate *candidate)
{
    return (struct build_request){.task = gate->declared,
                                  .candidate = candidate,
                                  .real_name = dtype_c_name(gate->task->dtype)};
}

bool gate_build_ahead(struct gate *gate, const struct candidate *const *candidates, size_t count,
                      struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct build_request *requests = arena_array(&scratch, count, sizeof *requests);
    struct build_result *results = arena_array(&scratch, count, sizeof *results);
    for (size_t i = 0; i < count; i++)
        requests[i] = request_for(gate, candidates[i]);
    return target_build_all(gate->target, requests, count, &scratch, results, err);
}

static void note_build(struct judgement *j, const struct candidate *candidate)
{
    struct candidate full = *candidate;
    const char *compiler = "";
    const char *const *flags = NULL;
    size_t flag_count = 0;
    target_default_build(j->gate->target, &compiler, &flags, &flag_count);
    for (size_t i = 0; candidate->flag_count == 0 && i < flag_count && i < CANDIDATE_MAX_FLAGS; i++)
        full.flags[full.flag_count++] = flags[i];
    j->out->compiler = arena_strdup(j->arena, full.compiler ? full.compiler : compiler);
    j->out->flags = candidate_flags_text(&full, j->arena);
}

static bool build(struct judgement *j, const struct candidate *candidate, struct err *err)
{
    static const enum verdict_kind kinds[] = {
        [BUILD_OK] = VERDICT_COUNT,
        [BUILD_FAILED] = VERDICT_BUILD_FAILED,
        [BUILD_REJECTED] = VERDICT_REJECTED,
        [BUILD_TIMED_OUT] = VERDICT_BUILD_FAILED,
    };
    struct build_request request = request_for(j->gate, candidate);
    request.is_clean = j->is_confirmation;
    struct build_result result = {0};
    const int64_t start = os_now_ns();
    note_build(j, candidate);
    if (!target_build(j->gate->target, &request, j->arena, &result, err))
        return false;
    struct gate_timings *timings = &j->out->timings;
    timings->screen_ns = result.timings.screen_ns;
    timings->compile_ns = result.timings.compile_ns;
    timings->inspect_ns = result.timings.inspect_ns;
    timings->link_ns = result.timings.link_ns;
    timings->build_ns = os_now_ns() - start;
    j->out->diagnostics = result.diagnostics ? result.diagnostics : "";
    j->out->code_id = result.code_id;
    j->image = (struct image){result.image, result.image_bytes};
    if (result.status == BUILD_OK)
        return true;
    return decide(j, kinds[result.status], result.mechanism ? result.mechanism : "compiler", "%s",
                  result.evidence ? result.evidence : "does not build");
}

/* The cases to judge on: those that catch most first, else by lot. */
static size_t order_cases(const struct judgement *j, size_t *order)
{
    const struct gate *gate = j->gate;
    int64_t failures[TASK_MAX_CASES] = {0};
    size_t count = 0;
    for (size_t i = 0; i < gate->task->case_count; i++) {
        const struct task_case *c = &gate->task->cases[i];
        if (j->only_case ? !str_equal(c->name, j->only_case) : c->held_out && !j->is_confirmation)
            continue;
        for (size_t k = 0; k < gate->cases[i].probe_count; k++)
            failures[i] += gate->cases[i].probes[k].failures;
        const size_t k = data_below(gate->data, count + 1);
        order[count] = order[k];
        order[k] = i;
        count++;
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && failures[order[k]] > failures[order[k - 1]]; k--) {
            const size_t swapped = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swapped;
        }
    return count;
}

/* They take as long as a comparison, and are the same until the probe is drawn anew. */
static void use_bounds(struct judgement *j, struct case_state *state)
{
    struct timed_bound *bounds = j->bounds[state->probes[0].case_index];
    if (state->has_bounds) {
        memcpy(bounds, state->bounds, sizeof state->bounds);
        return;
    }
    timed_bounds(j, &state->probes[0]);
    memcpy(state->bounds, bounds, sizeof state->bounds);
    state->has_bounds = true;
}

/* A confirmation has probes of its own, of every distribution. */
static bool check_one(struct judgement *j, size_t case_index, const struct case_plan *plan,
                      struct err *err)
{
    struct case_state *state = &j->gate->cases[case_index];
    if (!j->is_confirmation) {
        use_bounds(j, state);
        return check_case(j, case_index, state->probes, state->probe_count, plan, err);
    }
    struct probe probes[MAX_PROBES] = {0};
    size_t count = 0;
    if (!probes_draw(j->gate, case_index, PROBES_ALL, probes, &count, err))
        return false;
    timed_bounds(j, &probes[0]);
    const struct case_plan all = plan_all(j->gate, count);
    const bool ok = check_case(j, case_index, probes, count, &all, err);
    probes_free(probes, count);
    return ok;
}

static bool check_all(struct judgement *j, struct err *err)
{
    size_t order[TASK_MAX_CASES];
    struct case_plan plans[TASK_MAX_CASES];
    const size_t count = order_cases(j, order);
    const int64_t start = os_now_ns();
    plan_checks(j, order, count, plans);
    bool ok = check_offer(j, err);
    j->out->timings.start_ns += os_now_ns() - start;
    for (size_t i = 0; ok && i < count && !j->is_decided; i++)
        ok = check_one(j, order[i], &plans[order[i]], err);
    if (ok && !j->is_decided)
        ok = check_edges(j, err);
    check_end(j->gate);
    j->out->timings.check_ns = os_now_ns() - start;
    return ok;
}

/* When a case need not be timed further: even if the rest were `HOPE` better than the best so far,
 * the whole would stay below it. */
static struct race race_for(const struct judgement *j, double weight, double done_weight,
                            double done_high, double all_weight)
{
    static const double HOPE = 0.2, BEHIND = 0.1;
    const double rest = all_weight - done_weight - weight;
    const double best = j->race_log_ratio;
    return (struct race){
        .hopeless = weight > 0 && isfinite(best)
                        ? (best * all_weight - done_high - rest * (best + HOPE)) / weight
                        : -HUGE_VAL,
        .behind = best - BEHIND,
    };
}

/* Times the cases in random order; `raced` where it stopped early. */
static bool time_all(struct judgement *j, bool *raced, struct err *err)
{
    const struct task *task = j->gate->task;
    struct case_result *results = arena_array(j->arena, task->case_count, sizeof *results);
    size_t order[TASK_MAX_CASES];
    const size_t count = order_cases(j, order);
    const int64_t start = os_now_ns();
    double all_weight = 0, done_weight = 0, done_high = 0;
    *raced = false;
    for (size_t i = 0; i < count; i++)
        all_weight += task->cases[order[i]].weight;
    for (size_t i = 0; i < count && !j->is_decided && !*raced; i++) {
        struct case_result *result = &results[order[i]];
        const double weight = task->cases[order[i]].weight;
        const struct race race = race_for(j, weight, done_weight, done_high, all_weight);
        const bool ok = time_case(j, order[i], race, result, err);
        rig_stop(&j->reference); /* it is of this case */
        if (!ok)
            return false;
        *raced = result->log_high < race.hopeless;
        done_weight += weight;
        done_high += weight * result->log_high;
    }
    j->out->timings.time_ns = os_now_ns() - start;
    /* In the task's order, without those that were not reached. */
    size_t kept = 0;
    for (size_t i = 0; i < task->case_count; i++)
        if (results[i].name)
            results[kept++] = results[i];
    j->out->cases = results;
    j->out->case_count = kept;
    return true;
}

/* Weighted mean over the cases that are held out, or those that are not. */
static size_t combine(const struct verdict *verdict, bool held_out, struct stats_interval *out,
                      double *noise)
{
    struct stats_interval parts[TASK_MAX_CASES];
    double weights[TASK_MAX_CASES], squares = 0, sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < verdict->case_count; i++) {
        const struct case_result *c = &verdict->cases[i];
        if (c->held_out != held_out)
            continue;
        parts[count] = (struct stats_interval){exp(c->log_ratio), exp(c->log_low), exp(c->log_high),
                                               (size_t)c->pairs};
        weights[count++] = c->weight;
        squares += c->weight * c->weight * c->noise * c->noise;
        sum += c->weight;
    }
    if (count == 0 || !(sum > 0))
        return 0;
    *out = stats_combine_log(parts, weights, count);
    *out = (struct stats_interval){log(out->mid), log(out->low), log(out->high), out->count};
    *noise = sqrt(squares) / sum;
    return count;
}

static void conclude(struct judgement *j, bool raced)
{
    struct verdict *out = j->out;
    struct stats_interval all, held_out;
    double noise = 0, held_out_noise;
    out->kind = VERDICT_TIMED;
    if (combine(out, false, &all, &noise) > 0) {
        out->log_ratio = all.mid;
        out->log_low = all.low;
        out->log_high = all.high;
        out->is_win = !raced && verdict_difference(all.low, all.high, noise).sign > 0;
    }
    if (combine(out, true, &held_out, &held_out_noise) > 0) {
        out->has_held_out = true;
        out->held_out_log_ratio = held_out.mid;
        out->held_out_low = held_out.low;
        out->held_out_high = held_out.high;
    }
    /* A gain that the search's own shapes alone show is not confirmed. */
    if (j->is_confirmation && out->has_held_out && !(out->held_out_low > 0))
        out->is_win = false;
    out->confirmed = j->is_confirmation && out->is_win;
    if (raced)
        out->evidence =
            arena_printf(j->arena,
                         "clearly slower than the best so far: stopped after %zu of its "
                         "cases",
                         out->case_count);
}

static bool run_stages(struct judgement *j, const struct candidate *candidate, struct err *err)
{
    ahead_start(j->gate->ahead);
    const bool is_built = build(j, candidate, err);
    const int64_t start = os_now_ns();
    if (!ahead_finish(j->gate->ahead, j->gate, err) || !is_built)
        return false;
    j->out->timings.start_ns = os_now_ns() - start;
    if (j->is_decided)
        return true;
    reseed(j); /* a secret that the build cannot have known */
    const struct verdict *known =
        j->is_confirmation ? NULL : record_find(j->gate, &j->out->code_id, j->race_log_ratio);
    if (known) {
        const struct verdict built = *j->out;
        *j->out = verdict_copy(known, j->arena);
        j->out->timings = built.timings;
        j->out->compiler = built.compiler;
        j->out->flags = built.flags;
        j->out->from_record = true;
        j->is_decided = true;
        return true;
    }
    if (!check_all(j, err))
        return false;
    bool raced = false;
    if (!j->is_decided && !j->gate->opts.check_only && !time_all(j, &raced, err))
        return false;
    if (!j->is_decided)
        conclude(j, raced);
    return true;
}

static bool judge(struct gate *gate, const struct candidate *candidate,
                  const struct timing_plan *plan, bool is_confirmation, double race_log_ratio,
                  struct arena *arena, struct verdict *out, struct err *err)
{
    const int64_t start = os_now_ns();
    struct verdict verdict = {.kind = VERDICT_TOO_NOISY,
                              .mechanism = "",
                              .evidence = "",
                              .diagnostics = "",
                              .gate_id = gate->id,
                              .missing_layers =
                                  arena_strdup(arena, target_missing_layers(gate->target))};
    struct judgement j = {.gate = gate,
                          .arena = arena,
                          .out = &verdict,
                          .plan = *plan,
                          .race_log_ratio = race_log_ratio,
                          .is_confirmation = is_confirmation};
    const bool drawn = probes_refresh(gate, err);
    verdict.timings.draw_ns = os_now_ns() - start;
    if (!drawn || !run_stages(&j, candidate, err))
        return err_within(err, "judging a candidate of '%s'", gate->task->name);
    put_on_record(&j);
    gate->judged++;
    gate->redraw_credit += REDRAW_CREDIT_NS;
    verdict.timings.total_ns = os_now_ns() - start;
    if (!is_confirmation)
        record_add(gate, &verdict, race_log_ratio);
    *out = verdict;
    return true;
}

struct timing_plan timing_plan_for(const struct gate_opts *opts, bool confirms)
{
    static const struct timing_plan search = {.budget_ns = 3 * GATE_S / 2,
                                              .block_pairs = 6,
                                              .max_pairs = 120,
                                              .warm_up_ns = 20 * GATE_MS,
                                              .half_width = 0.02};
    static const struct timing_plan confirmation = {.budget_ns = 10 * GATE_S,
                                                    .block_pairs = 12,
                                                    .max_pairs = 400,
                                                    .warm_up_ns = 100 * GATE_MS,
                                                    .has_cold = true,
                                                    .half_width = 0.005};
    struct timing_plan plan = confirms ? confirmation : search;
    if (opts->time_budget_ns > 0)
        plan.budget_ns = opts->time_budget_ns;
    if (confirms && opts->confirm_budget_ns > 0)
        plan.budget_ns = opts->confirm_budget_ns;
    if (opts->max_pairs > 0)
        plan.max_pairs = opts->max_pairs;
    if (plan.block_pairs > plan.max_pairs / 6)
        plan.block_pairs = plan.max_pairs / 6 + 1;
    if (opts->half_width > 0)
        plan.half_width = opts->half_width;
    return plan;
}

bool gate_judge(struct gate *gate, const struct candidate *candidate, double race_log_ratio,
                struct arena *arena, struct verdict *out, struct err *err)
{
    const struct timing_plan plan = timing_plan_for(&gate->opts, false);
    return judge(gate, candidate, &plan, false, race_log_ratio, arena, out, err);
}

bool gate_confirm(struct gate *gate, const struct candidate *candidate, struct arena *arena,
                  struct verdict *out, struct err *err)
{
    const struct timing_plan plan = timing_plan_for(&gate->opts, true);
    data_close(&gate->data);
    gate->data = data_open(gate->task, new_secret());
    if (!open_edges(gate, err))
        return false;
    return judge(gate, candidate, &plan, true, -HUGE_VAL, arena, out, err);
}

/* --- for contests ---------------------------------------------------------------------------- */

bool judgement_prepare(struct judgement *j, const struct candidate *candidate, struct err *err)
{
    if (!build(j, candidate, err))
        return false;
    if (j->is_decided)
        return true;
    reseed(j); /* a secret that the build cannot have known */
    if (!check_all(j, err))
        return false;
    if (!j->is_decided)
        j->out->kind = VERDICT_TIMED;
    put_on_record(j);
    return true;
}

bool judgement_measure(struct judgement *j, struct err *err)
{
    bool raced = false;
    reseed(j);
    if (!time_all(j, &raced, err))
        return false;
    if (!j->is_decided)
        conclude(j, raced);
    put_on_record(j);
    return true;
}
