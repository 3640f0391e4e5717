/*
 * How fast is a candidate in one case: the median of paired log-ratios over several processes.
 *
 * Pairs are interleaved in random order on one core, so that frequency and neighbours hit both
 * alike; processes are fresh, so that the layout of one does not decide; the interval is
 * bootstrapped by process. It stops when the interval is narrow enough, when the race is lost, or
 * at the bounds of pairs and time.
 */
#include "gate/internal.h"

#include "os/os.h"
#include "stats/stats.h"

#include <math.h>
#include <string.h>

enum {
    MOST_PAIRS = 1024,
    FEWEST_PAIRS = 5,   /* when calls are so slow that the time is up */
    PAIRS_PER_LOOK = 4, /* between two looks at the interval */
    LATER_PAIRS = 16,   /* of each process beyond the first few */
    MOST_WARM_UPS = 6,
    TIMING_USES = 32,   /* candidates that one warm baseline child serves */
    QUICK_ROUNDS = 200, /* of the bootstrap, while sampling */
    FINAL_ROUNDS = 1000,
};

#define WARM_ROOM_BYTES ((size_t)8 * 1024 * 1024) /* larger baseline children are not kept */

struct series {
    struct judgement *j;
    size_t case_index;
    struct race race;
    int64_t deadline_ns, last_ns; /* when to be content with few pairs; when to stop trying */
    double ratio[MOST_PAIRS];     /* log(baseline / candidate) */
    double baseline_ns[MOST_PAIRS], candidate_ns[MOST_PAIRS]; /* of one call */
    int process[MOST_PAIRS];
    size_t count;
    int64_t attempts, dropped;
    int64_t baseline_noisy, candidate_noisy; /* whose sample it was */
    char noise[128];                         /* why the last pair was dropped */
    struct stats_interval interval;
};

static struct stats_interval interval_of(const struct series *s, unsigned rounds)
{
    return stats_bootstrap_median(s->ratio, s->process, s->count, 0.95, rounds,
                                  data_below(s->j->gate->data, UINT64_MAX));
}

/* A warm child of the baseline whose rooms are large enough but not much larger (they are touched
 * before each sample); a confirmation always has a new one. */
static bool borrow_baseline(struct judgement *j, size_t case_index, const struct ring *ring,
                            struct err *err)
{
    struct case_state *state = &j->gate->cases[case_index];
    struct rig *rig = &state->timing;
    bool fits = rig->session && !j->is_confirmation && state->timing_uses < TIMING_USES;
    for (size_t arg = 0; fits && arg < j->gate->task->arg_count; arg++)
        fits = rig->buffers[arg].bytes >= ring->room[arg] &&
               rig->buffers[arg].bytes <= ring->room[arg] + ring->room[arg] / 2 + 2 * PAGE_BYTES;
    state->timing_uses++;
    if (fits)
        return true;
    rig_stop(rig);
    struct session_report report;
    if (!rig_start(j->gate, rig, case_index, j->gate->baseline, j->gate->task->dtype, ring->room,
                   &report, err))
        return false;
    if (report.status != SESSION_OK)
        return err_set(err, ERR_IO, "the baseline cannot be loaded again: %s",
                       report.evidence ? report.evidence : "no detail");
    state->timing_uses = 1;
    return true;
}

static void return_baseline(struct judgement *j, size_t case_index)
{
    struct rig *rig = &j->gate->cases[case_index].timing;
    size_t bytes = 0;
    for (size_t arg = 0; arg < j->gate->task->arg_count; arg++)
        bytes += rig->buffers[arg].bytes;
    if (j->is_confirmation || bytes > WARM_ROOM_BYTES)
        rig_stop(rig);
}

static bool is_clean(const struct sample *sample)
{
    return !sample->is_lost && !sample->baseline_noisy && !sample->candidate_noisy &&
           sample->baseline_ns > 0 && sample->candidate_ns > 0;
}

static void record_sample(struct series *s, const struct sample *sample, size_t sets, int process)
{
    s->attempts++;
    s->baseline_noisy += sample->baseline_noisy;
    s->candidate_noisy += sample->candidate_noisy;
    if (!is_clean(sample)) {
        s->dropped++;
        memcpy(s->noise, sample->noise, sizeof s->noise);
        return;
    }
    s->ratio[s->count] = log((double)sample->baseline_ns / (double)sample->candidate_ns);
    s->baseline_ns[s->count] = (double)sample->baseline_ns / (double)sets;
    s->candidate_ns[s->count] = (double)sample->candidate_ns / (double)sets;
    s->process[s->count++] = process;
}

/* Is more sampling of this case pointless? */
static bool is_settled(struct series *s, int process)
{
    const struct timing_plan *plan = &s->j->plan;
    const bool is_late = os_now_ns() > s->deadline_ns;
    if (s->count >= MOST_PAIRS || (int64_t)s->count >= plan->max_pairs)
        return true;
    if (is_late && s->count >= FEWEST_PAIRS)
        return true;
    if ((int64_t)s->count < plan->min_pairs || process + 1 < plan->processes)
        return false;
    if (s->count % PAIRS_PER_LOOK != 0)
        return false;
    s->interval = interval_of(s, QUICK_ROUNDS);
    if (s->interval.high < s->race.hopeless || s->interval.high < s->race.behind)
        return true;
    return (s->interval.high - s->interval.low) / 2 <= plan->half_width;
}

/* A call so slow that a few pairs take longer than this is given its few pairs all the same. */
static bool is_out_of_time(const struct series *s)
{
    const int64_t now = os_now_ns();
    return s->attempts >= FEWEST_PAIRS &&
           (now > s->last_ns || (now > s->deadline_ns && s->attempts >= 2 * FEWEST_PAIRS));
}

/* Both run alternately, unrecorded, until two pairs in a row agree. */
static bool warm_up(struct series *s, struct rig *candidate, const struct ring *ring, bool *lost,
                    struct err *err)
{
    struct rig *baseline = &s->j->gate->cases[s->case_index].timing;
    double last = HUGE_VAL;
    for (int i = 0; i < MOST_WARM_UPS; i++) {
        struct sample sample;
        if (!sample_pair(s->j, s->case_index, baseline, candidate, ring, &sample, err))
            return false;
        *lost = sample.is_lost;
        if (*lost || s->j->is_decided || os_now_ns() > s->deadline_ns)
            return true;
        if (!is_clean(&sample))
            continue;
        const double ratio = log((double)sample.baseline_ns / (double)sample.candidate_ns);
        if (fabs(ratio - last) < 0.03)
            return true;
        last = ratio;
    }
    return true;
}

/* Pairs of one fresh candidate process, at most `quota`. */
static bool run_process(struct series *s, struct rig *candidate, const struct ring *ring,
                        int process, int64_t quota, struct err *err)
{
    struct judgement *j = s->j;
    struct rig *baseline = &j->gate->cases[s->case_index].timing;
    const size_t before = s->count;
    bool lost = false;
    if (!warm_up(s, candidate, ring, &lost, err))
        return false;
    for (int64_t tries = 0; !lost && !j->is_decided && tries < 2 * quota + 8; tries++) {
        struct sample sample;
        if ((int64_t)(s->count - before) >= quota)
            break;
        if (!sample_pair(j, s->case_index, baseline, candidate, ring, &sample, err))
            return false;
        if (j->is_decided)
            break;
        record_sample(s, &sample, ring->sets, process);
        lost = sample.is_lost;
        if (is_settled(s, process) || is_out_of_time(s))
            break;
    }
    return true;
}

static int64_t median_ns(const double *values, size_t count)
{
    double sorted[MOST_PAIRS];
    memcpy(sorted, values, count * sizeof *sorted);
    return count ? (int64_t)(stats_median(sorted, count) + 0.5) : 0;
}

static bool one_process(struct series *s, int process, struct err *err)
{
    struct judgement *j = s->j;
    struct ring ring;
    struct rig candidate;
    struct session_report report;
    const int64_t seen =
        s->count ? median_ns(s->candidate_ns, s->count) : j->fastest_ns[s->case_index];
    ring_plan(j->gate, s->case_index, j->gate->cases[s->case_index].baseline_ns, seen, &ring);
    if (!borrow_baseline(j, s->case_index, &ring, err))
        return false;
    /* The same rooms for both. */
    for (size_t arg = 0; arg < j->gate->task->arg_count; arg++)
        ring.room[arg] = j->gate->cases[s->case_index].timing.buffers[arg].bytes;
    if (!rig_start(j->gate, &candidate, s->case_index, j->image, j->gate->task->dtype, ring.room,
                   &report, err))
        return false;
    if (report.status != SESSION_OK)
        return decide_session(j, &report, "while it was loaded again");
    const struct timing_plan *plan = &j->plan;
    const int64_t quota = process < plan->processes
                              ? (plan->min_pairs + plan->processes - 1) / plan->processes
                              : LATER_PAIRS;
    const bool ok = run_process(s, &candidate, &ring, process, quota, err);
    rig_stop(&candidate);
    return_baseline(j, s->case_index);
    return ok;
}

/*
 * More than a fifth of the pairs disturbed is too many, with one exception: where the host disturbs
 * the baseline just as much as the candidate, and the pairs that are left are as many and as
 * precise as planned. A candidate that is disturbed more often than the baseline chooses its
 * samples.
 */
static bool is_noisy(const struct series *s)
{
    static const double LOOSE = 4;
    const struct timing_plan *plan = &s->j->plan;
    if (s->count < FEWEST_PAIRS)
        return true;
    if (s->dropped * 5 <= s->attempts)
        return false;
    if ((s->candidate_noisy - s->baseline_noisy) * 5 > s->attempts ||
        (int64_t)s->count < plan->min_pairs)
        return true;
    const struct stats_interval interval = interval_of(s, QUICK_ROUNDS);
    return !((interval.high - interval.low) / 2 <= LOOSE * plan->half_width);
}

static bool run_series(struct series *s, struct err *err)
{
    enum { MOST_PROCESSES = 64 };
    for (int process = 0; process < MOST_PROCESSES; process++) {
        if (!one_process(s, process, err))
            return false;
        if (s->j->is_decided || is_settled(s, process))
            break;
        const bool hopelessly_noisy = s->attempts >= 40 && s->dropped * 2 > s->attempts;
        if (hopelessly_noisy || is_out_of_time(s))
            break;
    }
    return true;
}

/* What an A/A experiment of this many pairs would show by chance: neighbouring samples of the
 * baseline are pairs of identical code; their spread (robust, from the median deviation) divided by
 * the root of the count, times 1.2533 because it is a median, is the error of the estimate. */
static double noise_of(const struct series *s)
{
    double pairs[MOST_PAIRS], scratch[MOST_PAIRS];
    size_t count = 0;
    for (size_t i = 1; i < s->count; i++)
        if (s->process[i] == s->process[i - 1])
            pairs[count++] = log(s->baseline_ns[i] / s->baseline_ns[i - 1]);
    if (count == 0)
        return 0;
    return 1.4826 * stats_mad(pairs, count, scratch) * 1.2533 / sqrt((double)s->count);
}

bool time_case(struct judgement *j, size_t case_index, struct race race, struct case_result *out,
               struct err *err)
{
    enum { ATTEMPTS = 2 };
    const struct task_case *problem = &j->gate->task->cases[case_index];
    struct series s;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        s = (struct series){.j = j,
                            .case_index = case_index,
                            .race = race,
                            .deadline_ns = os_now_ns() + j->plan.budget_ns,
                            .last_ns = os_now_ns() + 3 * j->plan.budget_ns};
        if (!run_series(&s, err))
            return false;
        if (j->is_decided || !is_noisy(&s))
            break;
    }
    if (j->is_decided)
        return true;
    /* Disturbances make a call slower, never faster than the machine. */
    if (s.count >= FEWEST_PAIRS)
        (void)roofline_check(j, case_index, median_ns(s.candidate_ns, s.count));
    if (j->is_decided)
        return true;
    if (is_noisy(&s))
        return decide(j, VERDICT_TOO_NOISY, "noise",
                      "case %s: %lld of %lld timed pairs were disturbed by the host, twice (%s)",
                      problem->name, (long long)s.dropped, (long long)s.attempts,
                      *s.noise ? s.noise : "no time was measured");
    s.interval = interval_of(&s, FINAL_ROUNDS);
    *out = (struct case_result){
        .name = arena_strdup(j->arena, problem->name),
        .weight = problem->weight,
        .held_out = problem->held_out,
        .log_ratio = s.interval.mid,
        .log_low = s.interval.low,
        .log_high = s.interval.high,
        .noise = noise_of(&s),
        .pairs = (int64_t)s.count,
        .baseline_ns = median_ns(s.baseline_ns, s.count),
        .candidate_ns = median_ns(s.candidate_ns, s.count),
        .error = j->error[case_index],
    };
    out->roofline = roofline_share(j->gate, case_index, out->candidate_ns);
    return true;
}
