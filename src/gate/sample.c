/* One timed pair: the same new bits for both, and outputs that are verified. */
#include "gate/pair.h"

#include "os/os.h"

#include <stdio.h>
#include <string.h>

#define SAMPLE_NS (120 * INT64_C(1000))       /* a sample is at least about this long */
#define TEAM_SAMPLE_NS (4 * SAMPLE_NS)        /* with threads: they do not all wake at once */
#define LONGEST_SAMPLE_NS (5 * GATE_MS)       /* and where it need not be, no longer */
#define SLOWEST_PROBED_NS (50 * GATE_MS)      /* the baseline's samples, for other distributions */
#define SLOWEST_EXAM_NS (10 * GATE_MS)        /* and for all of them */
#define RING_BYTES ((size_t)64 * 1024 * 1024) /* all rooms of a child */

enum {
    LINE_BYTES = 64,
    PROBE_ONE_IN = 4,         /* pairs with a set whose result is known, as declared */
    PROBES_PER_STORM = 4,     /* such sets of any distribution in pairs that do not count; */
    PROBE_ELEMENTS = 1 << 20, /* after the first one results of so many elements at most */
    LATE_PER_SET = 8,         /* elements changed once the child is armed, */
    LATE_WRITES = 256,        /* of all sets at most so many; */
    EXAM_ONE_IN = 2,          /* pairs of an exam that are for probes */
    STORM_ONE_IN = 8,         /* but in one pair of so many, whose times do not count, */
    STORM_PER_SET = 64,       /* more, of some sets */
    REFERENCE_ONE_IN = 4,     /* pairs of two candidates that the baseline checks, by lot */
    FREEZE_ONE_IN = 8,        /* pairs in which it is stopped too: it sleeps after each call */
};

static size_t line_up(size_t bytes)
{
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

void ring_plan(struct gate *gate, size_t case_index, int64_t baseline_ns, int64_t candidate_ns,
               bool is_cold, struct ring *ring)
{
    const struct task *task = gate->task;
    const struct task_case *c = &task->cases[case_index];
    const int64_t fastest = baseline_ns < candidate_ns ? baseline_ns : candidate_ns;
    const int64_t slowest = baseline_ns < candidate_ns ? candidate_ns : baseline_ns;
    size_t offset[TASK_MAX_ARGS], set_bytes = 1;
    *ring = (struct ring){.is_cold = is_cold};
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        /* Gaps of random width, so that no address relation between sets or arguments lasts. */
        ring->stride[arg] = line_up(task_arg_bytes(task, arg, c)) +
                            LINE_BYTES * (size_t)(1 + data_below(gate->data, 8));
        offset[arg] = LINE_BYTES * (size_t)data_below(gate->data, PAGE_BYTES / LINE_BYTES);
        set_bytes += ring->stride[arg];
    }
    const int64_t least = task->threads > 1 ? TEAM_SAMPLE_NS : SAMPLE_NS;
    int64_t sets = least / (fastest > 0 ? fastest : 1) + 1;
    const int64_t by_time = LONGEST_SAMPLE_NS / (slowest > 0 ? slowest : 1) + 1;
    const int64_t by_room = (int64_t)(RING_BYTES / set_bytes) + 1;
    sets = sets < by_time ? sets : by_time;
    sets = sets < by_room ? sets : by_room;
    sets = sets < SESSION_MAX_CALLS ? sets : SESSION_MAX_CALLS;
    ring->sets = (size_t)sets;
    for (size_t arg = 0; arg < task->arg_count; arg++) {
        ring->room[arg] = offset[arg] + ring->sets * ring->stride[arg];
        for (size_t set = 0; set < ring->sets; set++)
            ring->calls[set].offsets[arg] = offset[arg] + set * ring->stride[arg];
    }
    /* Else what is fetched ahead at the end of a set would be the beginning of the next. */
    for (size_t set = 1; is_cold && set < ring->sets; set++) {
        const size_t other = data_below(gate->data, set + 1);
        const struct session_call call = ring->calls[other];
        ring->calls[other] = ring->calls[set];
        ring->calls[set] = call;
    }
}

/* --- a pair ----------------------------------------------------------------------------------- */

/* The next probe of the case from a shuffled deck of them all. */
static const struct probe *deal_probe(struct judgement *j, size_t case_index)
{
    const struct case_state *state = &j->gate->cases[case_index];
    uint32_t *dealt = &j->timed_probes[case_index];
    size_t chosen = 0, left = 0;
    const uint32_t all = (UINT32_C(1) << state->probe_count) - 1;
    if ((*dealt & all) == all)
        *dealt = 0;
    for (size_t i = 0; i < state->probe_count; i++)
        if (!(*dealt >> i & 1) && data_below(j->gate->data, ++left) == 0)
            chosen = i;
    *dealt |= UINT32_C(1) << chosen;
    return &state->probes[chosen];
}

static int64_t baseline_sample_ns(const struct judgement *j, size_t case_index,
                                  const struct ring *ring)
{
    return j->gate->cases[case_index].baseline_ns * (int64_t)ring->sets;
}

bool sample_owes_probes(const struct judgement *j, size_t case_index, const struct ring *ring)
{
    const uint32_t all = (UINT32_C(1) << j->gate->cases[case_index].probe_count) - 1;
    return j->timed_results[case_index] != all &&
           baseline_sample_ns(j, case_index, ring) <= SLOWEST_EXAM_NS;
}

static int64_t result_elements(const struct probe *probe, size_t arg_count)
{
    int64_t elements = 0;
    for (size_t arg = 0; arg < arg_count; arg++)
        elements += (int64_t)probe->outputs[arg].count;
    return elements;
}

/*
 * In one pair of a few a set gets the inputs of the declared probe. Where times do not count some
 * sets get those of any distribution (M10): what is done otherwise in timed calls has to be right
 * there too, and nobody can tell such a pair by anything but the data. Their times say nothing of
 * the task: denormals alone may take a hundred times as long, so where calls are slow this is left
 * out. Held-out cases have no probes.
 */
static void choose_probes(struct pair *pair)
{
    const struct gate *gate = pair->j->gate;
    const struct case_state *state = &gate->cases[pair->case_index];
    const size_t sets = pair->ring->sets;
    if (state->probe_count == 0)
        return;
    if (!pair->is_storm) {
        if (data_below(gate->data, PROBE_ONE_IN) == 0)
            pair->known[data_below(gate->data, sets)] = &state->probes[0];
        return;
    }
    /* One set alone: late changes in its place, in half of the pairs. */
    if (baseline_sample_ns(pair->j, pair->case_index, pair->ring) > SLOWEST_PROBED_NS ||
        (sets == 1 && !pair->j->is_exam && data_below(gate->data, 2) == 0))
        return;
    const size_t first = data_below(gate->data, sets);
    const size_t step = sets < PROBES_PER_STORM ? 1 : sets / PROBES_PER_STORM;
    int64_t left = PROBE_ELEMENTS;
    for (size_t i = 0; i < PROBES_PER_STORM && (i == 0 || (2 * i < sets && left > 0)); i++) {
        const struct probe *probe = deal_probe(pair->j, pair->case_index);
        pair->known[(first + i * step) % sets] = probe;
        left -= result_elements(probe, pair->task->arg_count);
    }
}

/* Where the data of a set are that nobody has worked on yet. */
static void *loaded(const struct pair *pair, size_t set, size_t arg)
{
    return staging_arg(&pair->j->gate->staging, &pair->ring->calls[set], arg);
}

/* The same new bits for all who get them at their bell; poison in what they are to write. */
static void load_pair(struct pair *pair)
{
    struct data *data = pair->j->gate->data;
    data_begin(data);
    staging_fit(&pair->j->gate->staging, pair->ring->room, pair->task->arg_count);
    for (size_t arg = 0; arg < pair->task->arg_count; arg++) {
        const size_t bytes = rig_arg_bytes(pair->candidate, arg);
        pair->poison[arg] = data_poison_place(data);
        for (size_t set = 0; set < pair->ring->sets; set++) {
            const enum poison kind =
                data_poison_kind(pair->task, arg, pair_distribution(pair, set));
            void *to = loaded(pair, set, arg);
            if (pair->task->args[arg].role == ARG_OUT)
                data_poison(data, kind, pair->poison[arg], pair->ring->calls[set].offsets[arg], to,
                            bytes);
            else if (pair->known[set])
                memcpy(to, pair->known[set]->inputs[arg], bytes);
            else
                data_fill(data, arg, DISTRIBUTION_DECLARED, to, pair->candidate->elements[arg]);
        }
    }
}

/* Inputs in which an element may change: those of some size. */
static size_t changeable_args(const struct pair *pair, size_t args[TASK_MAX_ARGS])
{
    size_t count = 0;
    for (size_t arg = 0; arg < pair->task->arg_count; arg++)
        if (pair->task->args[arg].role != ARG_OUT &&
            pair->candidate->elements[arg] >= LATE_PER_SET * LATE_PER_SET)
            args[count++] = arg;
    return count;
}

static void hold_back(struct rig *rig, struct late_write write, void *at)
{
    write.at = at;
    rig->late[rig->late_count++] = write;
}

static void hold_back_one(struct pair *pair, size_t set, size_t arg, bool high)
{
    struct data *data = pair->j->gate->data;
    const size_t bytes = dtype_bytes(pair->candidate->dtypes[arg]);
    const size_t offset = data_below(data, pair->candidate->elements[arg]) * bytes;
    struct late_write write = {.bytes = bytes};
    memcpy(&write.bits, (const char *)loaded(pair, set, arg) + offset, bytes);
    data_change_one(data, arg, &write.bits, high);
    hold_back(pair->baseline, write,
              (char *)pair_argument(pair->baseline, pair->ring, set, arg) + offset);
    hold_back(pair->candidate, write,
              (char *)pair_argument(pair->candidate, pair->ring, set, arg) + offset);
    if (pair->reference)
        hold_back(pair->reference, write,
                  (char *)pair_argument(pair->reference, pair->ring, set, arg) + offset);
}

/*
 * Changes some inputs at the last moment, in both alike, so that results computed between two
 * samples, when no clock runs, are wrong. A few, because each takes a line out of the child's
 * cache; but whoever only mends what a few change meets, by lot, many in some sets.
 */
static void hold_back_changes(struct pair *pair)
{
    struct data *data = pair->j->gate->data;
    const bool high = data_below(data, 2) == 0;
    const size_t sets = pair->ring->sets, first = data_below(data, sets);
    const size_t per_set = pair->is_storm ? STORM_PER_SET : LATE_PER_SET;
    const size_t most = pair->is_storm ? MOST_LATE_WRITES : LATE_WRITES;
    size_t args[TASK_MAX_ARGS];
    const size_t count = changeable_args(pair, args);
    pair->baseline->late_count = pair->candidate->late_count = 0;
    if (pair->reference)
        pair->reference->late_count = 0;
    for (size_t i = 0; count > 0 && i < most && i < per_set * sets; i++) {
        const size_t set = pair->is_storm ? (first + i / per_set) % sets : i % sets;
        if (!pair->known[set])
            hold_back_one(pair, set, args[data_below(data, count)], high);
    }
}

static bool note_noise(const struct session_report *report, struct sample *out)
{
    if (report->status != SESSION_NOISY)
        return false;
    (void)snprintf(out->noise, sizeof out->noise, "%s", report->evidence ? report->evidence : "");
    return true;
}

/* What its next run works on it gets at the bell. */
static void keep_for_bell(const struct pair *pair, struct rig *rig)
{
    rig->staging = &pair->j->gate->staging;
    rig->ring = pair->ring;
}

/* One of the two, which may touch its rooms before the bell. */
static bool run_side(struct pair *pair, struct rig *rig, int64_t limit_ns,
                     struct session_report *report, struct err *err)
{
    const struct ring *ring = pair->ring;
    rig->is_cold = ring->is_cold;
    keep_for_bell(pair, rig);
    return session_run(rig->session, ring->calls, ring->sets, !ring->is_cold, limit_ns, report,
                       err);
}

/* One that goes on after the bell does so in every sample, or loses those where it does. A busy
 * host feigns it in a few of a hundred. */
static bool is_excused(struct judgement *j)
{
    enum { ONE_IN = 16 };
    return j->doubts++ < MOST_DOUBTS + j->samples / ONE_IN;
}

/* By the wall's clock: of a call that takes seconds a host that is busy makes a minute. */
static int64_t baseline_limit_ns(const struct pair *pair)
{
    return 60 * GATE_S +
           20 * pair->j->gate->cases[pair->case_index].baseline_ns * (int64_t)pair->ring->sets;
}

static bool run_baseline(struct pair *pair, struct sample *out, struct err *err)
{
    struct session_report report = {0};
    if (!run_side(pair, pair->baseline, baseline_limit_ns(pair), &report, err))
        return false;
    struct judgement *j = pair->j;
    if (session_is_doubtful(&report) && (!j->rival.bytes || is_excused(j))) {
        rig_stop(pair->baseline);
        out->is_lost = true;
        return true;
    }
    const bool ended = report.status != SESSION_OK && report.status != SESSION_NOISY;
    if (ended && j->rival.bytes) {
        j->rival_decided = true;
        return decide_session(
            j, &report,
            arena_printf(j->arena, "case %s, while it was timed", pair->candidate->problem->name));
    }
    if (ended)
        return err_set(err, ERR_IO, "the baseline stopped while it was timed: %s",
                       report.evidence ? report.evidence : "no detail");
    out->baseline_ns = report.elapsed_ns;
    pair->j->out->timings.timed_call_ns += report.elapsed_ns;
    out->baseline_noisy = note_noise(&report, out);
    return true;
}

/* Runs the candidate; when it has ended reads the places chosen before, then stops it. */
static bool run_candidate(struct pair *pair, struct sample *out, struct err *err)
{
    struct judgement *j = pair->j;
    struct session_report report = {0};
    const int64_t baseline_ns = j->gate->cases[pair->case_index].baseline_ns;
    const int64_t limit =
        j->gate->opts.call_limit_ns + 20 * baseline_ns * (int64_t)pair->ring->sets;
    if (!run_side(pair, pair->candidate, limit, &report, err))
        return false;
    if (session_is_doubtful(&report) && is_excused(j)) {
        out->is_lost = true;
        pair->is_done = report.is_done;
        return true;
    }
    if (report.status != SESSION_OK && report.status != SESSION_NOISY)
        return decide_session(
            j, &report,
            arena_printf(j->arena, "case %s, while it was timed", pair->candidate->problem->name));
    out->candidate_ns = report.elapsed_ns;
    out->processor = report.processor;
    j->out->timings.timed_call_ns += report.elapsed_ns;
    out->candidate_noisy = note_noise(&report, out);
    return !pair->freezes || session_freeze(pair->candidate->session, err);
}

/* Two candidates that leave out the same work agree with each other, and where they do not, either
 * may be at fault: by lot the baseline says what is right. `*ok` is false where the host let it
 * die. */
static bool run_reference(struct pair *pair, bool *ok, struct err *err)
{
    struct session_report report = {0};
    keep_for_bell(pair, pair->reference);
    if (!session_run(pair->reference->session, pair->ring->calls, pair->ring->sets, false,
                     baseline_limit_ns(pair), &report, err))
        return false;
    *ok = report.status == SESSION_OK || report.status == SESSION_NOISY;
    if (!*ok)
        rig_stop(pair->reference);
    return *ok || session_is_doubtful(&report) ||
           err_set(err, ERR_IO, "the baseline stopped while it was run: %s",
                   report.evidence ? report.evidence : "no detail");
}

static bool verify_pair(struct pair *pair, struct err *err)
{
    bool ok;
    if (!pair->j->rival.bytes)
        verify_outputs(pair, pair->candidate, pair->baseline);
    if (!pair->reference)
        return true;
    if (!run_reference(pair, &ok, err))
        return false;
    if (ok)
        verify_outputs(pair, pair->baseline, pair->reference);
    if (ok && !pair->j->is_decided)
        verify_outputs(pair, pair->candidate, pair->reference);
    return true;
}

bool sample_warm_up(struct judgement *j, size_t case_index, struct rig *candidate,
                    const struct ring *ring, struct sample *out, struct err *err)
{
    struct pair alone = {.j = j,
                         .case_index = case_index,
                         .task = j->gate->task,
                         .baseline = candidate,
                         .candidate = candidate,
                         .ring = ring};
    *out = (struct sample){.is_check = true};
    candidate->late_count = candidate->read_count = candidate->span_count = 0;
    load_pair(&alone);
    return run_candidate(&alone, out, err);
}

bool sample_pair(struct judgement *j, size_t case_index, struct rig *baseline,
                 struct rig *candidate, const struct ring *ring, bool baseline_first,
                 struct sample *out, struct err *err)
{
    struct pair pair = {.j = j,
                        .case_index = case_index,
                        .task = j->gate->task,
                        .baseline = baseline,
                        .candidate = candidate,
                        .ring = ring,
                        .freezes = data_below(j->gate->data, FREEZE_ONE_IN) == 0};
    struct rig *reference = &j->reference;
    pair.is_storm =
        !ring->is_cold && data_below(j->gate->data, j->is_exam ? EXAM_ONE_IN : STORM_ONE_IN) == 0;
    if (reference->session && data_below(j->gate->data, REFERENCE_ONE_IN) == 0)
        pair.reference = reference;
    *out = (struct sample){.is_check = pair.is_storm};
    j->samples++;
    choose_probes(&pair);
    load_pair(&pair);
    hold_back_changes(&pair);
    verify_choose(&pair);
    if (baseline_first && !run_baseline(&pair, out, err))
        return false;
    if (!out->is_lost && !j->is_decided && !run_candidate(&pair, out, err))
        return false;
    /* A time may be lost where the candidate works on after the bell. What it wrote until then is
     * not: it could look at its data then, and lose those samples that would show it. */
    const bool lost_its_time = out->is_lost && pair.is_done;
    if (j->is_decided || (out->is_lost && !lost_its_time))
        return true;
    out->is_lost = false;
    if (!baseline_first && !run_baseline(&pair, out, err))
        return false;
    if (j->is_decided || out->is_lost)
        return true;
    (void)verify_still(&pair);
    if (!j->is_decided && !verify_pair(&pair, err))
        return false;
    verify_known(&pair);
    out->is_lost = lost_its_time;
    return lost_its_time || !pair.freezes || session_thaw(candidate->session, err);
}
