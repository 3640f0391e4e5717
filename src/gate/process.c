/*
 * One process of a series: its child, the one that it is compared with, and its pairs.
 *
 * Pairs are interleaved in random order on one core, so that frequency and neighbours hit both
 * alike; those whose times do not count are among them, and nobody in the child can tell which.
 */
#include "gate/series.h"

#include "os/os.h"

#include <math.h>
#include <string.h>

enum {
    PROCESSES_IN_TIME = 12, /* that the time is shared out to: of slow calls few pairs each */
    WARM_GROUP = 3,         /* pairs to a median of the first warm-up */
    BASELINE_USES = 24,     /* processes of candidates that one warm baseline child serves */
    WARM_PAIRS = 2,         /* unrecorded, of each process but the first */
    EXAM_TRIES = 96,        /* pairs until every probe was in one */
    VAIN_TRIES = 4,         /* whose times do not count, of calls so slow that the time is up */
};

#define WARM_ROOM_BYTES ((size_t)8 * 1024 * 1024) /* larger baseline children are not kept */
#define LONGEST_WARM_UP_NS (2 * GATE_S)
#define LONG_SAMPLES_NS (2 * GATE_MS) /* both of a pair */
#define SLOW_SAMPLE_NS (50 * GATE_MS) /* of one side: too much to be run for nothing */

/* --- children -------------------------------------------------------------------------------- */

/* Rooms large enough but not much larger: they are touched before each sample. */
static bool fits(const struct rig *rig, const struct ring *ring)
{
    for (size_t arg = 0; arg < rig->task->arg_count; arg++)
        if (rig->buffers[arg].bytes < ring->room[arg] ||
            rig->buffers[arg].bytes > ring->room[arg] + ring->room[arg] / 2 + 2 * PAGE_BYTES)
            return false;
    return true;
}

static bool start_child(const struct series *s, struct rig *rig, struct image image,
                        const struct ring *ring, struct session_report *report, struct err *err)
{
    struct gate *gate = s->j->gate;
    return rig_start(gate, rig, s->case_index, image, gate->task->dtype, ring->room, report, err);
}

/* What the candidate is compared with: a warm child of the baseline, or in a confirmation and for
 * a rival a new one. */
static bool borrow_baseline(struct series *s, const struct ring *ring, int process,
                            struct warm_rig **out, struct err *err)
{
    struct judgement *j = s->j;
    struct warm_rig *warm = &j->gate->cases[s->case_index].timing[process % WARM_BASELINES];
    const bool is_new = j->is_confirmation || j->rival.bytes;
    *out = warm;
    if (warm->rig.session && !is_new && warm->uses < BASELINE_USES && fits(&warm->rig, ring)) {
        warm->uses++;
        return true;
    }
    rig_stop(&warm->rig);
    struct session_report report;
    const struct image image = j->rival.bytes ? j->rival : j->gate->baseline;
    if (!start_child(s, &warm->rig, image, ring, &report, err))
        return false;
    if (report.status != SESSION_OK && j->rival.bytes) {
        j->rival_decided = true;
        return decide_session(j, &report, "while it was loaded again");
    }
    if (report.status != SESSION_OK)
        return err_set(err, ERR_IO, "the baseline cannot be loaded again: %s",
                       report.evidence ? report.evidence : "no detail");
    warm->uses = 1;
    return true;
}

/* Beside a rival the baseline runs too, to check them both. It is not timed: one child serves as
 * long as its rooms fit. */
static bool start_reference(struct judgement *j, size_t case_index, const struct ring *ring,
                            struct err *err)
{
    struct session_report report;
    if (!j->rival.bytes || (j->reference.session && fits(&j->reference, ring)))
        return true;
    rig_stop(&j->reference);
    if (!rig_start(j->gate, &j->reference, case_index, j->gate->baseline, j->gate->task->dtype,
                   ring->room, &report, err))
        return false;
    return report.status == SESSION_OK ||
           err_set(err, ERR_IO, "the baseline cannot be loaded again: %s",
                   report.evidence ? report.evidence : "no detail");
}

static void return_baseline(const struct judgement *j, struct warm_rig *warm)
{
    size_t bytes = 0;
    for (size_t arg = 0; arg < j->gate->task->arg_count; arg++)
        bytes += warm->rig.buffers[arg].bytes;
    if (j->is_confirmation || j->rival.bytes || bytes > WARM_ROOM_BYTES)
        rig_stop(&warm->rig);
}

/* --- pairs ----------------------------------------------------------------------------------- */

static bool is_clean(const struct sample *sample)
{
    return !sample->is_lost && !sample->baseline_noisy && !sample->candidate_noisy &&
           sample->baseline_ns > 0 && sample->candidate_ns > 0;
}

/* Times of one call. False where one takes no longer than an empty one: nothing was measured. */
static bool subtract_empty(const struct series *s, const struct sample *sample, size_t sets,
                           struct timed_pair *out)
{
    out->baseline_ns = (double)sample->baseline_ns / (double)sets - s->empty_ns;
    out->candidate_ns = (double)sample->candidate_ns / (double)sets - s->empty_ns;
    return out->baseline_ns > 0 && out->candidate_ns > 0;
}

/* One process: its child, its layout, the child that it is compared with. */
struct round {
    struct ring ring;
    struct rig candidate;
    struct warm_rig *baseline;
    int process;
    bool is_slow_baseline, is_slow_candidate;
    bool is_examined;         /* counts only if every probe was in a sample of it */
    int64_t start_ns, end_ns; /* its share of the time is up */
    bool is_lost;
};

/* Pairs come in twos, the order of the first by lot and the second in the opposite one. */
static void choose_order(struct series *s)
{
    s->baseline_first = s->in_double ? !s->half_first : data_below(s->j->gate->data, 2) == 0;
}

static void record_sample(struct series *s, const struct sample *sample, const struct round *round)
{
    static const char none[] = "no time was measured beyond that of an empty call";
    struct timed_pair pair = {.process = round->process, .baseline_first = s->baseline_first};
    s->attempts++;
    s->processor = sample->processor;
    s->baseline_noisy += sample->baseline_noisy;
    s->candidate_noisy += sample->candidate_noisy;
    if (!is_clean(sample) || !subtract_empty(s, sample, round->ring.sets, &pair)) {
        s->dropped++;
        memcpy(s->noise, sample->noise, sizeof s->noise);
        if (!*s->noise)
            memcpy(s->noise, none, sizeof none);
        return;
    }
    s->pairs.pair[s->pairs.count++] = pair;
    s->in_double = !s->in_double;
    s->half_first = s->baseline_first;
}

static bool one_pair(struct series *s, struct round *round, struct sample *sample, struct err *err)
{
    if (!sample_pair(s->j, s->case_index, &round->baseline->rig, &round->candidate, &round->ring,
                     s->baseline_first, sample, err))
        return false;
    round->is_lost = sample->is_lost;
    return true;
}

static bool agree(const double medians[3])
{
    const double low = fmin(fmin(medians[0], medians[1]), medians[2]);
    const double high = fmax(fmax(medians[0], medians[1]), medians[2]);
    return high - low <= 0.02;
}

/*
 * Both run alternately, unrecorded, for the planned warm-up at least and until three medians of
 * their common speed agree within 2 %.
 */
static bool wake_machine(struct series *s, struct round *round, struct err *err)
{
    const struct timing_plan *plan = &s->j->plan;
    const int64_t start = os_now_ns(), share = s->budget_ns / 4;
    const int64_t most = share < LONGEST_WARM_UP_NS ? share : LONGEST_WARM_UP_NS;
    const int64_t least = plan->warm_up_ns < most ? plan->warm_up_ns : 0;
    double speeds[WARM_GROUP], medians[3] = {-1, 0, 1};
    for (size_t i = 0; os_now_ns() - start < most;) {
        struct sample sample;
        choose_order(s);
        if (!one_pair(s, round, &sample, err))
            return false;
        if (round->is_lost || s->j->is_decided)
            return true;
        if (sample.is_check || !is_clean(&sample))
            continue;
        speeds[i++ % WARM_GROUP] =
            log((double)sample.baseline_ns) + log((double)sample.candidate_ns);
        if (i % WARM_GROUP != 0)
            continue;
        medians[0] = medians[1];
        medians[1] = medians[2];
        medians[2] = stats_median(speeds, WARM_GROUP) / 2;
        if (i >= 3 * WARM_GROUP && agree(medians) && os_now_ns() - start >= least)
            return true;
    }
    return true;
}

/* A slow call is warm from its beginning; a quick one beside it is not, and needs no other to get
 * warm. */
static bool warm_up_beside_slow(struct series *s, struct round *round, struct err *err)
{
    for (int i = 0; i < WARM_PAIRS && !round->is_slow_candidate; i++) {
        struct sample sample;
        if (!sample_warm_up(s->j, s->case_index, &round->candidate, &round->ring, &sample, err))
            return false;
        round->is_lost = sample.is_lost;
        if (round->is_lost || s->j->is_decided || s->is_cold ||
            sample.candidate_ns > LONG_SAMPLES_NS)
            break;
    }
    return true;
}

/* Unrecorded: what is cold otherwise than by its data (code, tables of pages) does not count. The
 * first process of a case wakes the machine, others only themselves: their first sample is some
 * 10 to 30 % slower than the second, and that like the third. Long samples are warm from their
 * beginning. */
static bool warm_up(struct series *s, struct round *round, struct err *err)
{
    if (round->is_slow_baseline)
        return warm_up_beside_slow(s, round, err);
    if (!s->is_cold && round->process == 0)
        return wake_machine(s, round, err);
    for (int i = 0; i < WARM_PAIRS && !round->is_lost && !s->j->is_decided; i++) {
        struct sample sample;
        choose_order(s);
        if (!one_pair(s, round, &sample, err))
            return false;
        if (s->is_cold || sample.baseline_ns + sample.candidate_ns > LONG_SAMPLES_NS)
            break;
    }
    return true;
}

/* Where slow calls are disturbed one after the other, the next process may be luckier. */
static bool has_enough(const struct series *s, const struct round *round, int64_t got,
                       int64_t in_vain)
{
    return got >= s->j->plan.block_pairs || s->pairs.count >= MOST_PAIRS ||
           ((got > 0 || in_vain >= VAIN_TRIES) && os_now_ns() > round->end_ns);
}

static bool owes_probes(const struct series *s, const struct round *round)
{
    return sample_owes_probes(s->j, s->case_index, &round->ring);
}

/* What is only looked at takes no time from what counts. */
static void grant_time(struct series *s, struct round *round, int64_t ns)
{
    s->examining_ns += ns;
    s->deadline_ns += ns;
    s->last_ns += ns;
    round->end_ns += ns;
}

/* A candidate may do otherwise in one process than in another: where it is lost before all of its
 * results were seen, nothing of it counts. */
static void forget_unexamined(struct series *s, const struct round *round, size_t before)
{
    if (!round->is_examined || s->j->is_decided || !owes_probes(s, round))
        return;
    s->pairs.count = before;
    s->in_double = false;
}

/* Of large data the children take longer to begin than a pair does: what that took is not spent for
 * one pair, for within a process they differ as well. */
static void use_what_it_cost(struct round *round)
{
    const int64_t now = os_now_ns(), paid_off = now + (now - round->start_ns);
    round->end_ns = paid_off > round->end_ns ? paid_off : round->end_ns;
}

static bool run_process(struct series *s, struct round *round, struct err *err)
{
    const int64_t most = 2 * s->j->plan.block_pairs + 4 + (round->is_examined ? EXAM_TRIES : 0);
    const size_t before = s->pairs.count;
    const int64_t dropped = s->dropped;
    if (!warm_up(s, round, err))
        return false;
    use_what_it_cost(round);
    for (int64_t tries = 0; !round->is_lost && !s->j->is_decided && tries < most; tries++) {
        struct sample sample;
        const bool is_enough =
            has_enough(s, round, (int64_t)(s->pairs.count - before), s->dropped - dropped);
        const int64_t start = os_now_ns();
        if (is_enough && !(round->is_examined && owes_probes(s, round)))
            break;
        choose_order(s);
        if (!one_pair(s, round, &sample, err))
            return false;
        if (!s->j->is_decided && !sample.is_check && !is_enough)
            record_sample(s, &sample, round);
        else if (round->is_examined)
            grant_time(s, round, os_now_ns() - start);
    }
    forget_unexamined(s, round, before);
    s->processes += s->pairs.count > before;
    return true;
}

/* Pairs by lot as in any other, but none counts: until every probe was in a sample. */
static bool run_exam(struct series *s, struct round *round, struct err *err)
{
    if (!warm_up(s, round, err))
        return false;
    for (int i = 0; i < EXAM_TRIES && !round->is_lost && !s->j->is_decided && owes_probes(s, round);
         i++) {
        struct sample sample;
        choose_order(s);
        if (!one_pair(s, round, &sample, err))
            return false;
    }
    s->exam_losses += round->is_lost;
    return true;
}

static bool start_candidate(struct series *s, struct round *round, struct err *err)
{
    struct session_report report;
    if (!start_child(s, &round->candidate, s->j->image, &round->ring, &report, err))
        return false;
    return report.status == SESSION_OK ||
           decide_session(s->j, &report, "while it was loaded again");
}

/* In a confirmation each process that counts is examined, so that none can be the one in which a
 * candidate is honest: as long as that takes no longer than what counts. It knows neither which
 * process it is in nor what is looked at. */
static void begin_exam(struct series *s, struct round *round)
{
    struct judgement *j = s->j;
    if (!j->is_confirmation || s->is_cold || s->examining_ns > s->budget_ns)
        return;
    j->timed_results[s->case_index] = j->timed_probes[s->case_index] = 0;
    round->is_examined = owes_probes(s, round);
}

bool series_process(struct series *s, int process, bool is_exam, struct err *err)
{
    struct judgement *j = s->j;
    const int64_t base_ns = s->pairs.count   ? pairs_baseline_ns(&s->pairs)
                            : j->rival.bytes ? j->rival_ns[s->case_index]
                                             : j->gate->cases[s->case_index].baseline_ns;
    const int64_t seen =
        s->pairs.count ? pairs_candidate_ns(&s->pairs) : j->fastest_ns[s->case_index];
    struct round round = {.process = process, .start_ns = os_now_ns()};
    round.end_ns = round.start_ns + s->budget_ns / PROCESSES_IN_TIME;
    ring_plan(j->gate, s->case_index, base_ns, seen, s->is_cold, &round.ring);
    round.is_slow_baseline = base_ns * (int64_t)round.ring.sets > SLOW_SAMPLE_NS;
    /* One that is nearly as slow begins as cold as the baseline does. */
    round.is_slow_candidate = 4 * seen * (int64_t)round.ring.sets > SLOW_SAMPLE_NS;
    if (!borrow_baseline(s, &round.ring, process, &round.baseline, err))
        return false;
    if (j->is_decided)
        return true;
    /* The same rooms for both. */
    for (size_t arg = 0; arg < j->gate->task->arg_count; arg++)
        round.ring.room[arg] = round.baseline->rig.buffers[arg].bytes;
    bool ok =
        start_candidate(s, &round, err) && start_reference(j, s->case_index, &round.ring, err);
    if (!is_exam)
        begin_exam(s, &round);
    j->is_exam = is_exam || round.is_examined;
    if (ok && !j->is_decided)
        ok = is_exam ? run_exam(s, &round, err) : run_process(s, &round, err);
    j->is_exam = false;
    rig_stop(&round.candidate);
    return_baseline(j, round.baseline);
    return ok;
}
