/*
 * How fast is a candidate in one case: the median of paired log-ratios over several processes.
 *
 * Pairs are interleaved in random order on one core, so that frequency and neighbours hit both
 * alike; processes are fresh, so that the layout of one does not decide; the interval is by process
 * (stats_cluster_median). It is looked at when 6, 9, 13, 20 and 32 processes are done, each time
 * with a fifth of the error, so that stopping where it suits keeps the promise of 95 %: it stops
 * where the interval is narrow enough, where the race is lost, or at the bounds of pairs and time.
 *
 * The time of one thread is the kernel's account of the child's CPU time, from sleep to sleep, with
 * the parent on the child's processor: they take turns, so whatever the other processors do,
 * nothing shows but what runs on this one (decision 16). Of several threads it is the parent's
 * clock around the bell.
 */
#include "gate/internal.h"

#include "os/os.h"
#include "stats/stats.h"

#include <math.h>
#include <string.h>

enum {
    MOST_PAIRS = 1024,
    FEWEST_PAIRS = 5,       /* for any statement */
    FEWEST_PROCESSES = 5,   /* when calls are so slow that the time is up */
    PROCESSES_IN_TIME = 16, /* that the time is shared out to: of slow calls few pairs each */
    WARM_GROUP = 3,         /* pairs to a median of the first warm-up */
    BASELINE_USES = 24,     /* processes of candidates that one warm baseline child serves */
    ROUNDS = 400,           /* of the bootstrap */
    COLD_SHARE = 4,         /* cold times of a case have such a part of its budget, in addition */
};

#define WARM_ROOM_BYTES ((size_t)8 * 1024 * 1024) /* larger baseline children are not kept */
#define LONGEST_WARM_UP_NS (2 * GATE_S)

static const int look_processes[] = {6, 9, 13, 20, 32};
enum { LOOKS = sizeof look_processes / sizeof *look_processes };

/* An interval this wide either way (28 %) says nothing but that the host is busy. */
static const double WIDE = 0.25;

struct series {
    struct judgement *j;
    size_t case_index;
    struct race race;
    bool is_cold;
    int processor;
    double empty_ns;                         /* of one call, subtracted */
    int64_t budget_ns, deadline_ns, last_ns; /* when to be content; when to stop trying */
    double ratio[MOST_PAIRS];                /* log(baseline / candidate) */
    double baseline_ns[MOST_PAIRS], candidate_ns[MOST_PAIRS]; /* of one call */
    int process[MOST_PAIRS];
    size_t count;
    int64_t processes; /* that gave a pair */
    int64_t attempts, dropped;
    int64_t baseline_noisy, candidate_noisy; /* whose sample it was */
    char noise[128];                         /* why the last pair was dropped */
    struct stats_interval interval;
};

static struct stats_interval interval_of(const struct series *s)
{
    return stats_cluster_median(s->ratio, s->process, s->count, stats_look_confidence(0.95, LOOKS),
                                ROUNDS, data_below(s->j->gate->data, UINT64_MAX));
}

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

/* Beside a rival the baseline runs too, to check them both. */
static bool start_reference(struct judgement *j, size_t case_index, const struct ring *ring,
                            struct err *err)
{
    struct session_report report;
    if (!j->rival.bytes)
        return true;
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
                           double *baseline_ns, double *candidate_ns)
{
    *baseline_ns = (double)sample->baseline_ns / (double)sets - s->empty_ns;
    *candidate_ns = (double)sample->candidate_ns / (double)sets - s->empty_ns;
    return *baseline_ns > 0 && *candidate_ns > 0;
}

static void record_sample(struct series *s, const struct sample *sample, size_t sets, int process)
{
    static const char none[] = "no time was measured beyond that of an empty call";
    double baseline_ns = 0, candidate_ns = 0;
    s->attempts++;
    s->processor = sample->processor;
    s->baseline_noisy += sample->baseline_noisy;
    s->candidate_noisy += sample->candidate_noisy;
    if (!is_clean(sample) || !subtract_empty(s, sample, sets, &baseline_ns, &candidate_ns)) {
        s->dropped++;
        memcpy(s->noise, sample->noise, sizeof s->noise);
        if (!*s->noise)
            memcpy(s->noise, none, sizeof none);
        return;
    }
    s->ratio[s->count] = log(baseline_ns / candidate_ns);
    s->baseline_ns[s->count] = baseline_ns;
    s->candidate_ns[s->count] = candidate_ns;
    s->process[s->count++] = process;
}

/* One process: its child, its layout, the child that it is compared with. */
struct round {
    struct ring ring;
    struct rig candidate;
    struct warm_rig *baseline;
    int process;
    int64_t end_ns; /* its share of the time is up */
    bool is_lost;
};

static bool one_pair(struct series *s, struct round *round, struct sample *sample, struct err *err)
{
    if (!sample_pair(s->j, s->case_index, &round->baseline->rig, &round->candidate, &round->ring,
                     sample, err))
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
 * Both run alternately, unrecorded, until three medians of their common speed agree within 2 %. The
 * first process of a case goes on for the planned warm-up at least; it wakes the machine, later
 * ones only themselves.
 */
static bool warm_up(struct series *s, struct round *round, struct err *err)
{
    const struct timing_plan *plan = &s->j->plan;
    const bool is_first = round->process == 0;
    const int64_t start = os_now_ns(), share = s->budget_ns / (is_first ? 4 : 40);
    const int64_t most = share < LONGEST_WARM_UP_NS ? share : LONGEST_WARM_UP_NS;
    const int64_t least = is_first && plan->warm_up_ns < most ? plan->warm_up_ns : 0;
    const size_t group = is_first ? WARM_GROUP : 1;
    double speeds[WARM_GROUP], medians[3] = {-1, 0, 1};
    for (size_t i = 0; os_now_ns() - start < most;) {
        struct sample sample;
        if (!one_pair(s, round, &sample, err))
            return false;
        if (round->is_lost || s->j->is_decided)
            return true;
        if (sample.is_check || !is_clean(&sample))
            continue;
        speeds[i++ % group] = log((double)sample.baseline_ns) + log((double)sample.candidate_ns);
        if (i % group != 0)
            continue;
        medians[0] = medians[1];
        medians[1] = medians[2];
        medians[2] = stats_median(speeds, group) / 2;
        if (i >= 3 * group && agree(medians) && os_now_ns() - start >= least)
            return true;
    }
    return true;
}

/* Once, unrecorded: what is cold otherwise than by its data (code, tables of pages) does not count.
 */
static bool wake_up(struct series *s, struct round *round, struct err *err)
{
    struct sample sample;
    return one_pair(s, round, &sample, err);
}

static bool run_process(struct series *s, struct round *round, struct err *err)
{
    const int64_t quota = s->j->plan.block_pairs;
    const size_t before = s->count;
    if (!(s->is_cold ? wake_up(s, round, err) : warm_up(s, round, err)))
        return false;
    for (int64_t tries = 0; !round->is_lost && !s->j->is_decided && tries < 2 * quota + 4;
         tries++) {
        struct sample sample;
        const int64_t got = (int64_t)(s->count - before);
        if (got >= quota || s->count >= MOST_PAIRS || (got > 0 && os_now_ns() > round->end_ns))
            break;
        if (!one_pair(s, round, &sample, err))
            return false;
        if (!s->j->is_decided && !sample.is_check)
            record_sample(s, &sample, round->ring.sets, round->process);
    }
    s->processes += s->count > before;
    return true;
}

static int64_t median_ns(const double *values, size_t count)
{
    double sorted[MOST_PAIRS];
    memcpy(sorted, values, count * sizeof *sorted);
    return count ? (int64_t)(stats_median(sorted, count) + 0.5) : 0;
}

static bool start_candidate(struct series *s, struct round *round, struct err *err)
{
    struct session_report report;
    if (!start_child(s, &round->candidate, s->j->image, &round->ring, &report, err))
        return false;
    return report.status == SESSION_OK ||
           decide_session(s->j, &report, "while it was loaded again");
}

static bool one_process(struct series *s, int process, struct err *err)
{
    struct judgement *j = s->j;
    const int64_t base_ns = s->count         ? median_ns(s->baseline_ns, s->count)
                            : j->rival.bytes ? j->rival_ns[s->case_index]
                                             : j->gate->cases[s->case_index].baseline_ns;
    const int64_t seen =
        s->count ? median_ns(s->candidate_ns, s->count) : j->fastest_ns[s->case_index];
    struct round round = {.process = process,
                          .end_ns = os_now_ns() + s->budget_ns / PROCESSES_IN_TIME};
    ring_plan(j->gate, s->case_index, base_ns, seen, s->is_cold, &round.ring);
    if (!borrow_baseline(s, &round.ring, process, &round.baseline, err))
        return false;
    if (j->is_decided)
        return true;
    /* The same rooms for both. */
    for (size_t arg = 0; arg < j->gate->task->arg_count; arg++)
        round.ring.room[arg] = round.baseline->rig.buffers[arg].bytes;
    bool ok =
        start_candidate(s, &round, err) && start_reference(j, s->case_index, &round.ring, err);
    if (ok && !j->is_decided)
        ok = run_process(s, &round, err);
    rig_stop(&round.candidate);
    rig_stop(&j->reference);
    return_baseline(j, round.baseline);
    return ok;
}

/* --- when to stop ---------------------------------------------------------------------------- */

/* Between looks: the time is up, or nothing comes of it. None of it depends on who is faster. */
static bool is_out_of_time(const struct series *s, int processes)
{
    const int64_t now = os_now_ns();
    if (s->attempts >= 40 && s->dropped * 2 > s->attempts)
        return true;
    return processes >= FEWEST_PROCESSES &&
           (now > s->last_ns ||
            (now > s->deadline_ns && s->processes >= FEWEST_PROCESSES && s->count >= FEWEST_PAIRS));
}

static bool is_settled(const struct series *s)
{
    return (int64_t)s->count >= s->j->plan.max_pairs || s->interval.high < s->race.hopeless ||
           s->interval.high < s->race.behind ||
           (s->interval.high - s->interval.low) / 2 <= s->j->plan.half_width;
}

static bool run_series(struct series *s, struct err *err)
{
    int process = 0;
    for (size_t look = 0; look < LOOKS; look++) {
        while (process < look_processes[look]) {
            if (!one_process(s, process, err))
                return false;
            process++;
            if (s->j->is_decided)
                return true;
            if (is_out_of_time(s, process)) {
                s->interval = interval_of(s);
                return true;
            }
        }
        s->interval = interval_of(s);
        if (is_settled(s))
            return true;
    }
    return true;
}

/*
 * What is measured is judged by its interval, which knows how noisy the host was; too noisy is what
 * allows no statement. And a candidate that is disturbed more often than what it is compared with
 * would choose its samples: both ran alternately on one core.
 */
static bool is_noisy(const struct series *s)
{
    if (s->count < FEWEST_PAIRS || s->processes < 3)
        return true;
    if ((s->candidate_noisy - s->baseline_noisy) * 5 > s->attempts)
        return true;
    const double half_width = (s->interval.high - s->interval.low) / 2;
    return !(half_width <= WIDE) && !(s->interval.high < s->race.behind);
}

/* --- noise ----------------------------------------------------------------------------------- */

/*
 * What an A/A experiment of this many pairs would show by chance: neighbouring samples of the
 * baseline are pairs of identical code. Two estimates of the error of their median, and the larger
 * counts: from the spread of single pairs (robust, by the median deviation; times 1.2533 because it
 * is a median), and from how far the medians of the processes are from 0.
 */
static double noise_of(const struct series *s)
{
    double pairs[MOST_PAIRS], block[MOST_PAIRS], scratch[MOST_PAIRS], squares = 0;
    size_t count = 0, in_block = 0, blocks = 0;
    for (size_t i = 1; i <= s->count; i++) {
        if (i < s->count && s->process[i] == s->process[i - 1]) {
            pairs[count] = log(s->baseline_ns[i] / s->baseline_ns[i - 1]);
            block[in_block++] = pairs[count++];
            continue;
        }
        if (in_block > 1) {
            const double median = stats_median(block, in_block);
            squares += median * median;
            blocks++;
        }
        in_block = 0;
    }
    if (count == 0) /* one pair a process: neighbours are of two of them */
        for (size_t i = 1; i < s->count; i++)
            pairs[count++] = log(s->baseline_ns[i] / s->baseline_ns[i - 1]);
    if (count == 0)
        return 0;
    const double spread =
        1.4826 * stats_mad(pairs, count, scratch) * 1.2533 / sqrt((double)s->count);
    return blocks ? fmax(spread, sqrt(squares) / (double)blocks) : spread;
}

/* --- a case ---------------------------------------------------------------------------------- */

static void keep_samples(const struct series *s, struct case_result *out)
{
    struct timed_sample *samples = arena_array(s->j->arena, s->count, sizeof *samples);
    for (size_t i = 0; i < s->count; i++)
        samples[i] = (struct timed_sample){.process = s->process[i],
                                           .baseline_ns = s->baseline_ns[i],
                                           .candidate_ns = s->candidate_ns[i]};
    out->samples = samples;
    out->sample_count = s->count;
}

static bool measure(struct judgement *j, size_t case_index, struct race race, bool is_cold,
                    struct series *s, struct err *err)
{
    enum { ATTEMPTS = 2 };
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        const int64_t now = os_now_ns();
        const int64_t budget = j->plan.budget_ns / (is_cold ? COLD_SHARE : 1);
        *s = (struct series){.j = j,
                             .case_index = case_index,
                             .race = race,
                             .is_cold = is_cold,
                             .budget_ns = budget,
                             .deadline_ns = now + budget,
                             .last_ns = now + 3 * budget};
        if (!empty_call_ns(j, case_index, &s->empty_ns, err) || !run_series(s, err))
            return false;
        if (j->is_decided || !is_noisy(s))
            return true;
    }
    return true;
}

/* With cold caches. A host too busy for it leaves it out, for the verdict does not depend on it. */
static bool time_cold(struct judgement *j, size_t case_index, struct cold_result *out,
                      struct err *err)
{
    const struct race none = {-HUGE_VAL, -HUGE_VAL};
    struct series s;
    if (!os_flush_caches(NULL, 0))
        return true;
    if (!measure(j, case_index, none, true, &s, err))
        return false;
    if (j->is_decided || is_noisy(&s))
        return true;
    *out = (struct cold_result){.pairs = (int64_t)s.count,
                                .log_ratio = s.interval.mid,
                                .log_low = s.interval.low,
                                .log_high = s.interval.high,
                                .baseline_ns = median_ns(s.baseline_ns, s.count),
                                .candidate_ns = median_ns(s.candidate_ns, s.count)};
    return true;
}

bool time_case(struct judgement *j, size_t case_index, struct race race, struct case_result *out,
               struct err *err)
{
    const struct task_case *problem = &j->gate->task->cases[case_index];
    struct series s;
    if (!measure(j, case_index, race, false, &s, err))
        return false;
    if (j->is_decided)
        return true;
    /* Disturbances make a call slower, never faster than the machine. */
    if (s.count >= FEWEST_PAIRS)
        (void)roofline_check(j, case_index, median_ns(s.candidate_ns, s.count));
    if (j->is_decided)
        return true;
    if (is_noisy(&s))
        return decide(j, VERDICT_TOO_NOISY, "noise",
                      "case %s: no measurement in two attempts; %lld of %lld timed pairs were "
                      "disturbed by the host (%s), the rest leave an interval of +-%.0f %%",
                      problem->name, (long long)s.dropped, (long long)s.attempts,
                      *s.noise ? s.noise : "none clearly",
                      s.processes > 1 ? 50 * (s.interval.high - s.interval.low) : 100.0);
    *out = (struct case_result){
        .name = arena_strdup(j->arena, problem->name),
        .weight = problem->weight,
        .held_out = problem->held_out,
        .log_ratio = s.interval.mid,
        .log_low = s.interval.low,
        .log_high = s.interval.high,
        .noise = noise_of(&s),
        .pairs = (int64_t)s.count,
        .processes = s.processes,
        .dropped = s.dropped,
        .by_account = j->gate->task->threads <= 1,
        .empty_ns = s.empty_ns,
        .processor = s.processor,
        .baseline_ns = median_ns(s.baseline_ns, s.count),
        .candidate_ns = median_ns(s.candidate_ns, s.count),
        .error = j->error[case_index],
    };
    keep_samples(&s, out);
    out->roofline = roofline_share(j->gate, case_index, out->candidate_ns);
    return !j->plan.has_cold || time_cold(j, case_index, &out->cold, err);
}
