/* Is a candidate right: the planned probes of a case, in one fresh child (M5, M6, M9, M10, M11,
 * M15). */
#include "gate/internal.h"

#include "os/os.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_AHEAD = 8, AHEAD_IMAGE_BYTES = 1024 * 1024 };

struct check {
    struct judgement *j;
    size_t case_index;
    const struct task_case *problem;
    struct rig *rig; /* the case's */
    int64_t limit_ns;
    bool is_lost; /* the child is dead, and the host may be the cause: to be done again */
};

/* Adds the time since `*since` to a stage, and begins the next one. */
static void spend(int64_t *stage_ns, int64_t *since)
{
    const int64_t now = os_now_ns();
    *stage_ns += now - *since;
    *since = now;
}

static bool report_guard(const struct check *check, const struct breach *breach,
                         const struct probe *probe, enum placement placement)
{
    struct judgement *j = check->j;
    const struct task *task = j->gate->task;
    const size_t element = dtype_bytes(check->rig->dtypes[breach->arg]);
    const char *name = task->args[breach->arg].name;
    if (breach->where == BREACH_BETWEEN)
        return decide(j, VERDICT_CRASHED, "M11-guard",
                      "case %s: wrote between the rows of '%s', at %s, which is past the end of "
                      "its row (values: %s; %s)",
                      check->problem->name, name,
                      element_name(task, check->problem, breach->arg, breach->bytes, j->arena),
                      distribution_name(probe->distribution), placement_name(placement));
    const bool before = breach->where == BREACH_BEFORE;
    return decide(j, VERDICT_CRASHED, "M11-guard",
                  "case %s: wrote outside '%s', %zu element(s) %s (values: %s; %s)",
                  check->problem->name, name,
                  before ? (breach->bytes + element - 1) / element : breach->bytes / element + 1,
                  before ? "before its start" : "past its end",
                  distribution_name(probe->distribution), placement_name(placement));
}

/* How many elements still hold the poison. */
static size_t count_unwritten(const struct check *check, const struct session_call *call,
                              size_t arg, const struct probe *probe, size_t place)
{
    const struct gate *gate = check->j->gate;
    const enum poison kind = data_poison_kind(gate->task, arg, probe->distribution);
    const size_t element = dtype_bytes(check->rig->dtypes[arg]);
    const char *at = rig_arg(check->rig, call, arg);
    size_t unwritten = 0, where;
    for (size_t i = 0; i < check->rig->elements[arg]; i++)
        unwritten += data_poison_intact(gate->data, kind, place, call->offsets[arg] + i * element,
                                        at + i * element, element, &where);
    return unwritten;
}

/* Is the element as it was before the call, though the baseline changes it? */
static bool is_kept(const struct yardstick *y, const char *got, const char *before, size_t i)
{
    const size_t bytes = dtype_bytes(y->dtype), at = i * bytes;
    return memcmp(got + at, before + at, bytes) == 0 &&
           memcmp((const char *)y->base + at, before + at, bytes) != 0;
}

/* Of what is updated in place: how many elements were left as they were, in words, where the one at
 * `index` is among them; else "". */
static const char *kept_text(const struct check *check, const struct session_call *call, size_t arg,
                             const struct probe *probe, size_t index)
{
    const struct yardstick *y = &probe->outputs[arg];
    const struct task_rows *rows = &check->rig->rows[arg];
    const char *got = rig_arg(check->rig, call, arg), *before = probe->inputs[arg];
    size_t kept = 0;
    if (!before || !is_kept(y, got, before, index))
        return "";
    for (size_t i = 0; i < y->count; i++)
        kept += is_kept(y, got, before, i);
    return arena_printf(check->j->arena, "%zu of %zu elements of '%s' are as they were before, so ",
                        kept, rows->count * rows->used, check->j->gate->task->args[arg].name);
}

static bool report_wrong(const struct check *check, const struct session_call *call, size_t arg,
                         const struct probe *probe, enum placement placement, size_t place,
                         const struct comparison *wrong)
{
    struct judgement *j = check->j;
    const struct task *task = j->gate->task;
    const char *values = distribution_name(probe->distribution);
    const char *name = element_name(task, check->problem, arg, wrong->index, j->arena);
    const char *kept = kept_text(check, call, arg, probe, wrong->index);
    const size_t unwritten =
        probe->inputs[arg] ? 0 : count_unwritten(check, call, arg, probe, place);
    if (unwritten > 0)
        return decide(j, VERDICT_WRONG, "M5-poison",
                      "case %s: %zu of %zu elements of '%s' were not written, so %s is not "
                      "%.9g (values: %s; %s)",
                      check->problem->name, unwritten,
                      check->rig->rows[arg].count * check->rig->rows[arg].used,
                      task->args[arg].name, name, wrong->want, values, placement_name(placement));
    if (wrong->fault != COMPARISON_PRECISION)
        return decide(j, VERDICT_WRONG, wrong->fault == COMPARISON_CLASS ? "M9-class" : "M9-value",
                      "case %s: %s%s is %.9g, should be %.9g (values: %s; %s)",
                      check->problem->name, kept, name, wrong->got, wrong->want, values,
                      placement_name(placement));
    return decide(j, VERDICT_WRONG, "M9-precision",
                  "case %s: %s%s is %.9g, should be %.9g (error %.3g x the baseline's by its %s; "
                  "class %s allows %g; values: %s; %s)",
                  check->problem->name, kept, name, wrong->got, wrong->want, wrong->error,
                  wrong->criterion, precision_class_name(task->precision),
                  precision_class_factor(task->precision), values, placement_name(placement));
}

static bool compare_outputs(const struct check *check, const struct session_call *call,
                            struct probe *probe, enum placement placement, const size_t *places)
{
    struct judgement *j = check->j;
    for (size_t arg = 0; arg < j->gate->task->arg_count; arg++) {
        const struct yardstick *y = &probe->outputs[arg];
        if (y->count == 0)
            continue;
        const struct comparison found = compare_output(y, rig_arg(check->rig, call, arg));
        if (found.fault != COMPARISON_OK) {
            probe->failures++;
            return report_wrong(check, call, arg, probe, placement, places[arg], &found);
        }
        if (found.error > j->error[check->case_index])
            j->error[check->case_index] = found.error;
    }
    return true;
}

/* Poison of integers must not be right by chance, where there are few. */
static void spoil_lucky_poison(const struct check *check, const struct session_call *call,
                               const struct probe *probe)
{
    enum { FEW = 4096 };
    for (size_t arg = 0; arg < check->j->gate->task->arg_count; arg++) {
        const struct yardstick *y = &probe->outputs[arg];
        if (y->count == 0 || y->count > FEW || dtype_is_float(y->dtype) || probe->inputs[arg])
            continue;
        const size_t element = dtype_bytes(y->dtype);
        char *at = rig_arg(check->rig, call, arg);
        for (size_t i = 0; i < y->count; i++)
            if (!task_rows_is_gap(&check->rig->rows[arg], i) &&
                memcmp(at + i * element, (const char *)y->base + i * element, element) == 0)
                at[i * element] ^= 0x55;
    }
}

static bool run_probe(struct check *check, struct probe *probe, enum placement placement,
                      struct err *err)
{
    struct judgement *j = check->j;
    struct gate *gate = j->gate;
    size_t places[TASK_MAX_ARGS];
    struct breach breach;
    struct session_report report = {0};
    struct gate_timings *timings = &j->out->timings;
    int64_t since = os_now_ns();
    const struct session_call call = rig_place(gate, check->rig, placement);
    rig_load(gate, check->rig, &call, probe->inputs, probe->distribution, places);
    spoil_lucky_poison(check, &call, probe);
    spend(&timings->load_ns, &since);
    if (!session_run(check->rig->session, &call, 1, false, check->limit_ns, &report, err))
        return false;
    spend(&timings->ring_ns, &since);
    timings->ring_ns -= report.elapsed_ns;
    timings->call_ns += report.elapsed_ns;
    if (session_is_doubtful(&report) && j->doubts++ < MOST_DOUBTS) {
        check->is_lost = true;
        return true;
    }
    if (report.status != SESSION_OK && report.status != SESSION_NOISY) {
        probe->failures++;
        return decide_session(
            j, &report,
            arena_printf(j->arena, "case %s (values: %s; %s)", check->problem->name,
                         distribution_name(probe->distribution), placement_name(placement)));
    }
    int64_t *fastest = &j->fastest_ns[check->case_index];
    if (report.elapsed_ns > 0 && (*fastest == 0 || report.elapsed_ns < *fastest))
        *fastest = report.elapsed_ns;
    const bool intact = rig_guards_intact(gate, check->rig, &call, probe->inputs,
                                          probe->distribution, places, &breach);
    spend(&timings->guard_ns, &since);
    if (!intact)
        return report_guard(check, &breach, probe, placement);
    rig_blank_gaps(check->rig, &call);
    (void)compare_outputs(check, &call, probe, placement, places);
    spend(&timings->compare_ns, &since);
    return true;
}

/* Random order, those that caught most first. */
static void order_probes(struct gate *gate, const struct probe *probes, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        const size_t k = data_below(gate->data, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && probes[order[k]].failures > probes[order[k - 1]].failures;
             k--) {
            const size_t swapped = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swapped;
        }
}

static enum placement any_placement(struct gate *gate)
{
    return (enum placement)data_below(gate->data, PLACEMENT_COUNT);
}

static bool is_over(const struct check *check)
{
    return check->j->is_decided || check->is_lost;
}

static bool is_planned(const struct case_plan *plan, size_t probe)
{
    return plan->probes >> probe & 1;
}

/* The changed copy follows its original at the same addresses: what caches by pointer, by shape or
 * by a few elements is caught. */
static bool run_all(struct check *check, struct probe *probes, size_t count,
                    const struct case_plan *plan, struct err *err)
{
    struct gate *gate = check->j->gate;
    size_t order[MAX_PROBES], done = 0, first = 0;
    order_probes(gate, probes, count, order);
    for (size_t i = 0; i < count && !is_over(check); i++) {
        struct probe *probe = &probes[order[i]];
        if (probe->distribution == DISTRIBUTION_CHANGED || !is_planned(plan, order[i]))
            continue;
        const enum placement placement =
            done < PLACEMENT_COUNT ? (enum placement)((done + plan->turn) % PLACEMENT_COUNT)
                                   : any_placement(gate);
        if (done++ == 0)
            first = order[i];
        if (!run_probe(check, probe, placement, err))
            return false;
        const bool has_changed = probe->distribution == DISTRIBUTION_DECLARED && count > 1 &&
                                 probes[1].distribution == DISTRIBUTION_CHANGED &&
                                 is_planned(plan, 1);
        if (has_changed && !is_over(check) && !run_probe(check, &probes[1], placement, err))
            return false;
    }
    if (is_over(check) || done == 0 || !plan->repeats)
        return true;
    /* The first call again, elsewhere, in the steady state. */
    return run_probe(check, &probes[first], any_placement(gate), err);
}

bool check_prepare(struct gate *gate, struct err *err)
{
    const struct task *task = gate->task;
    size_t count = 0;
    for (size_t i = 0; i < task->case_count && count < MOST_AHEAD; i++) {
        struct rig *rig = &gate->cases[i].checking;
        if (task->cases[i].held_out)
            continue;
        count++;
        if (rig->is_spent)
            rig_stop(rig);
        if (!rig->session &&
            !rig_prepare(gate, rig, &task->cases[i], task->dtype, AHEAD_IMAGE_BYTES, NULL, err))
            return false;
    }
    if (gate->edge_checking.is_spent)
        rig_stop(&gate->edge_checking);
    return gate->edges.count == 0 || gate->edge_checking.session ||
           rig_prepare(gate, &gate->edge_checking, &gate->edges.problems[0], task->dtype,
                       AHEAD_IMAGE_BYTES, gate->edges.rooms, err);
}

bool check_offer(struct judgement *j, struct err *err)
{
    struct gate *gate = j->gate;
    if (j->image.length > AHEAD_IMAGE_BYTES)
        return true;
    for (size_t i = 0; i < gate->task->case_count; i++)
        if (gate->cases[i].checking.session && !gate->cases[i].checking.is_spent &&
            !rig_offer_image(&gate->cases[i].checking, j->image, err))
            return false;
    return !gate->edge_checking.session || gate->edge_checking.is_spent ||
           rig_offer_image(&gate->edge_checking, j->image, err);
}

void check_end(struct gate *gate)
{
    for (size_t i = 0; i < gate->task->case_count; i++)
        rig_end(&gate->cases[i].checking);
    rig_end(&gate->edge_checking);
}

/* A child with the candidate in it: the one that waits for it, if there is one. `rooms` NULL: each
 * argument with a margin. */
static bool start_child(const struct check *check, const size_t *rooms,
                        struct session_report *report, struct err *err)
{
    const struct judgement *j = check->j;
    if (check->rig->session && !check->rig->is_spent && j->image.length <= AHEAD_IMAGE_BYTES)
        return rig_give_image(check->rig, j->image, report, err);
    rig_stop(check->rig);
    return rig_start_at(j->gate, check->rig, check->problem, j->image, j->gate->task->dtype, rooms,
                        report, err);
}

bool check_case(struct judgement *j, size_t case_index, struct probe *probes, size_t count,
                const struct case_plan *plan, struct err *err)
{
    struct gate *gate = j->gate;
    struct check check = {.j = j,
                          .case_index = case_index,
                          .problem = &gate->task->cases[case_index],
                          .rig = &gate->cases[case_index].checking};
    struct session_report report;
    const int64_t baseline_ns = gate->cases[case_index].baseline_ns;
    check.limit_ns = gate->opts.call_limit_ns;
    if (check.limit_ns < 20 * baseline_ns)
        check.limit_ns = 20 * baseline_ns;
    do {
        int64_t since = os_now_ns();
        check.is_lost = false;
        if (!start_child(&check, NULL, &report, err))
            return false;
        spend(&j->out->timings.start_ns, &since);
        if (report.status != SESSION_OK)
            return decide_session(j, &report, "while it was loaded");
        const bool ok = run_all(&check, probes, count, plan, err);
        since = os_now_ns();
        rig_end(check.rig);
        spend(&j->out->timings.start_ns, &since);
        if (!ok)
            return false;
    } while (check.is_lost);
    return true;
}

static bool run_edges(struct check *check, struct edges *edges, struct err *err)
{
    struct gate *gate = check->j->gate;
    size_t order[MOST_SHAPES];
    order_probes(gate, edges->probes, edges->count, order);
    for (size_t i = 0; i < edges->count && !is_over(check); i++) {
        check->problem = &edges->problems[order[i]];
        rig_move(check->rig, check->problem);
        if (!run_probe(check, &edges->probes[order[i]], any_placement(gate), err))
            return false;
    }
    return true;
}

bool check_edges(struct judgement *j, struct err *err)
{
    struct gate *gate = j->gate;
    struct edges *edges = &gate->edges;
    struct check check = {.j = j,
                          .case_index = EDGE_CASE,
                          .rig = &gate->edge_checking,
                          .limit_ns = gate->opts.call_limit_ns};
    struct session_report report;
    if (edges->count == 0)
        return true;
    do {
        int64_t since = os_now_ns();
        check.is_lost = false;
        check.problem = &edges->problems[0];
        if (!start_child(&check, edges->rooms, &report, err))
            return false;
        spend(&j->out->timings.start_ns, &since);
        if (report.status != SESSION_OK)
            return decide_session(j, &report, "while it was loaded");
        const bool ok = run_edges(&check, edges, err);
        since = os_now_ns();
        rig_end(check.rig);
        spend(&j->out->timings.start_ns, &since);
        if (!ok)
            return false;
    } while (check.is_lost);
    return true;
}
