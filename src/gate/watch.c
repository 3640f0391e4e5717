/* A candidate looked at while it runs as it is timed: warm, on new data for each call. */
#include "gate/internal.h"

#include "base/str.h"
#include "os/os.h"
#include "os/sampling.h"

#define PERIOD_NS INT64_C(100000)
#define WATCH_NS (150 * GATE_MS)
/* Samples are taken out between runs: of one so many at most, half of what the kernel has room
 * for, since a run that is looked at may take longer than it did. */
#define MOST_IN_RUN (OS_SAMPLING_ROOM / 2)
#define LONGEST_PERIOD_NS INT64_C(1000000000)

static bool is_prime(int64_t number)
{
    for (int64_t i = 2; i * i <= number; i++) {
        if (number % i == 0)
            return false;
    }
    return number > 1;
}

/* A prime: a loop whose period divides that of the samples would always be met at one place. */
int64_t watch_period_ns(int64_t run_ns)
{
    int64_t period_ns = run_ns / MOST_IN_RUN;
    period_ns = period_ns > PERIOD_NS ? period_ns : PERIOD_NS;
    period_ns = period_ns < LONGEST_PERIOD_NS ? period_ns : LONGEST_PERIOD_NS;
    while (!is_prime(period_ns))
        period_ns++;
    return period_ns;
}

/* The same code with lines; else why there is none. */
static bool build_with_lines(struct judgement *j, const struct candidate *candidate,
                             const char **problem, struct err *err)
{
    struct build_request request = {.task = j->gate->declared,
                                    .candidate = candidate,
                                    .real_name = dtype_c_name(j->gate->task->dtype)};
    struct build_result plain = {0}, result = {0};
    if (!target_build(j->gate->target, &request, j->arena, &plain, err))
        return false;
    request.is_clean = request.has_lines = true;
    if (!target_build(j->gate->target, &request, j->arena, &result, err))
        return false;
    if (plain.status != BUILD_OK || result.status != BUILD_OK)
        *problem = arena_printf(j->arena, "it does not build with lines: %s",
                                result.evidence ? result.evidence : "no detail");
    else if (!str_equal(plain.code_id.text, result.code_id.text))
        *problem = "built with lines it is other code, whose lines would say nothing";
    j->image = (struct image){result.image, result.image_bytes};
    return true;
}

size_t watch_case(const struct gate *gate, const char *name)
{
    size_t slowest = 0;
    for (size_t i = 0; i < gate->task->case_count; i++) {
        if (gate->cases[i].probe_count == 0)
            continue;
        if (name && str_equal(gate->task->cases[i].name, name))
            return i;
        if (gate->cases[i].baseline_ns > gate->cases[slowest].baseline_ns)
            slowest = i;
    }
    return slowest;
}

static bool run_for_a_while(struct judgement *j, size_t case_index, const struct ring *ring,
                            struct rig *rig, struct err *err)
{
    int64_t left_ns = WATCH_NS;
    const int64_t deadline_ns = os_now_ns() + 4 * WATCH_NS;
    while (left_ns > 0 && !j->is_decided && os_now_ns() < deadline_ns) {
        struct sample sample;
        if (!sample_warm_up(j, case_index, rig, ring, &sample, err))
            return false;
        if (sample.is_lost)
            return true;
        left_ns -= sample.candidate_ns;
    }
    return true;
}

static bool watch(struct judgement *j, size_t case_index, int64_t call_ns, struct gate_watch *out,
                  struct err *err)
{
    struct gate *gate = j->gate;
    struct session_report report = {0};
    struct ring ring;
    struct rig rig;
    const int64_t base_ns = gate->cases[case_index].baseline_ns;
    const int64_t one_ns = call_ns > 0 ? call_ns : base_ns;
    ring_plan(gate, case_index, base_ns, one_ns, false, &ring);
    out->period_ns = watch_period_ns(one_ns * (int64_t)ring.sets);
    if (!rig_start_watched(gate, &rig, case_index, j->image, ring.room, out->period_ns, &report,
                           err))
        return false;
    if (report.status != SESSION_OK) {
        out->problem = arena_strdup(j->arena, report.evidence);
        return true;
    }
    const bool ok = run_for_a_while(j, case_index, &ring, &rig, err);
    if (ok && j->is_decided)
        out->problem = j->out->evidence;
    if (ok && !j->is_decided) {
        session_samples(rig.session, j->arena, &out->samples);
        out->problem = out->samples.problem;
    }
    rig_stop(&rig);
    return ok;
}

bool gate_watch(struct gate *gate, const struct candidate *candidate, const char *case_name,
                int64_t call_ns, struct arena *arena, struct gate_watch *out, struct err *err)
{
    struct verdict ignored = {0};
    struct judgement j = {.gate = gate, .arena = arena, .out = &ignored};
    struct gate_watch result = {.problem = ""};
    const size_t case_index = watch_case(gate, case_name);
    if (!build_with_lines(&j, candidate, &result.problem, err) ||
        (!result.problem[0] && !watch(&j, case_index, call_ns, &result, err)))
        return false;
    result.case_name = gate->task->cases[case_index].name;
    result.image = j.image.bytes;
    result.image_bytes = j.image.length;
    *out = result;
    return true;
}
