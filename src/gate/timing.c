/*
 * How fast is a candidate in one case: the median of paired log-ratios over several processes.
 *
 * Pairs are interleaved in random order on one core, so that frequency and neighbours hit both
 * alike; processes are fresh, so that the layout of one does not decide; the interval is by process
 * (estimate.h). It is looked at when 6, 10, 18, 32 and 64 processes are done, each time with a
 * share of the error, so that stopping where it suits keeps the promise of 95 %: it stops where the
 * interval is narrow enough, where the race is lost, or at the bounds of pairs and time.
 *
 * The time of one thread is the kernel's account of the child's CPU time, from sleep to sleep, with
 * the parent on the child's processor: they take turns, so whatever the other processors do,
 * nothing shows but what runs on this one (decision 16). Of several threads it is the parent's
 * clock around the bell.
 */
#include "gate/series.h"

#include "os/os.h"

#include <math.h>
#include <string.h>

enum {
    FEWEST_PAIRS = 5,     /* for any statement */
    FEWEST_PROCESSES = 5, /* when calls are so slow that the time is up */
    VAIN_ATTEMPTS = 28, /* pairs, after which a host that disturbs nearly all of them is given up */
};

static const int look_processes[LOOKS] = {6, 10, 18, 32, 64};

/* With one of 1.2 % either way a difference of 5 % is seen; see decision 17. */
static const double WIDE_ENOUGH_TO_GO_ON = 0.012;

static void look_at(struct series *s, size_t look, bool is_last)
{
    s->interval = pairs_interval(&s->pairs, look_confidence(look, is_last),
                                 data_below(s->j->gate->data, UINT64_MAX));
}

/* --- when to stop ---------------------------------------------------------------------------- */

/* The interval is too wide to be of use, and there is patience left. Only its width counts, so
 * that going on depends on who is faster no more than stopping does. */
static bool is_worth_more(const struct series *s, int64_t now)
{
    const struct timing_plan *plan = &s->j->plan;
    if (plan->patience_ns == 0 || s->is_cold || now > s->deadline_ns + plan->patience_ns)
        return false;
    const struct stats_interval peek = pairs_interval(&s->pairs, look_confidence(0, true), 1);
    return (peek.high - peek.low) / 2 > WIDE_ENOUGH_TO_GO_ON;
}

/* Between looks: the time is up, or nothing comes of it. None of it depends on who is faster. */
static bool is_out_of_time(const struct series *s, int processes)
{
    const int64_t now = os_now_ns();
    const bool is_enough = s->processes >= FEWEST_PROCESSES && s->pairs.count >= FEWEST_PAIRS;
    if (s->attempts >= 40 && s->dropped * 2 > s->attempts)
        return true;
    const bool is_in_vain = s->processes < FEWEST_PROCESSES && s->attempts < VAIN_ATTEMPTS;
    return processes >= FEWEST_PROCESSES &&
           ((now > s->last_ns && !is_in_vain) ||
            (now > s->deadline_ns && is_enough && !is_worth_more(s, now)));
}

static bool is_settled(const struct series *s)
{
    return s->interval.high < s->race.hopeless || s->interval.high < s->race.behind ||
           (s->interval.high - s->interval.low) / 2 <= s->j->plan.half_width;
}

static bool run_series(struct series *s, struct err *err)
{
    int process = 0;
    for (size_t look = 0; look < LOOKS; look++) {
        while (process < look_processes[look]) {
            if (!series_process(s, process, false, err))
                return false;
            process++;
            if (s->j->is_decided)
                return true;
            if (is_out_of_time(s, process)) {
                look_at(s, look, true);
                return true;
            }
        }
        const bool is_last = look + 1 == LOOKS || (int64_t)s->pairs.count >= s->j->plan.max_pairs;
        look_at(s, look, is_last);
        if (is_last || is_settled(s))
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
    if (s->pairs.count < FEWEST_PAIRS || s->processes < 3)
        return true;
    if ((s->candidate_noisy - s->baseline_noisy) * 5 > s->attempts)
        return true;
    return interval_says_nothing(&s->interval) && !(s->interval.high < s->race.behind);
}

/* --- a case ---------------------------------------------------------------------------------- */

static void keep_samples(const struct series *s, struct case_result *out)
{
    const struct timed_pairs *all = &s->pairs;
    struct timed_sample *samples = arena_array(s->j->arena, all->count, sizeof *samples);
    for (size_t i = 0; i < all->count; i++)
        samples[i] = (struct timed_sample){.process = all->pair[i].process,
                                           .baseline_ns = all->pair[i].baseline_ns,
                                           .candidate_ns = all->pair[i].candidate_ns};
    out->samples = samples;
    out->sample_count = all->count;
}

static bool measure(struct judgement *j, size_t case_index, struct race race, bool is_cold,
                    struct series *s, struct err *err)
{
    const int64_t budget = j->plan.budget_ns / (is_cold ? COLD_SHARE : 1);
    int attempts = 2;
    for (int attempt = 0; attempt < attempts; attempt++) {
        const int64_t now = os_now_ns();
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
        /* No verdict depends on cold times, and of slow calls they take as long as the others. */
        if (is_cold && os_now_ns() - now > 2 * budget)
            attempts = 1;
    }
    return true;
}

/* A process that works on after the bell is lost, which a busy host can feign. One that does so in
 * each would choose what it is asked. */
static bool fail_exam(struct series *s, int processes)
{
    struct judgement *j = s->j;
    const char *name = j->gate->task->cases[s->case_index].name;
    if (s->exam_losses == processes)
        return decide(j, VERDICT_REJECTED, "M8-quiesce",
                      "case %s: in all of %d processes it went on working after the bell before "
                      "its results on all inputs had been seen",
                      name, processes);
    return decide(j, VERDICT_TOO_NOISY, "noise",
                  "case %s: %d of %d processes worked on after the bell, and not all inputs have "
                  "been in a timed sample",
                  name, s->exam_losses, processes);
}

/*
 * A timed case is right on every distribution in timed calls too (M10). What the lot has left over
 * one more process makes up for: whoever is in it cannot tell it from the others, for it knows none
 * of them. Who is behind makes no claim. (In a confirmation nothing should be left over.)
 */
static bool examine(struct series *s, struct err *err)
{
    enum { PROCESSES = 5 };
    struct judgement *j = s->j;
    const struct ring one = {.sets = 1};
    const bool is_behind = s->interval.high < s->race.hopeless || s->interval.high < s->race.behind;
    bool ok = true;
    s->exam_losses = 0;
    for (int i = 0; i < PROCESSES && ok && !is_behind && !j->is_decided &&
                    sample_owes_probes(j, s->case_index, &one);
         i++)
        ok = series_process(s, (int)s->processes + i, true, err);
    if (ok && !is_behind && !j->is_decided && s->exam_losses > 0 &&
        sample_owes_probes(j, s->case_index, &one))
        (void)fail_exam(s, PROCESSES);
    return ok;
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
    *out = (struct cold_result){.pairs = (int64_t)s.pairs.count,
                                .log_ratio = s.interval.mid,
                                .log_low = s.interval.low,
                                .log_high = s.interval.high,
                                .baseline_ns = pairs_baseline_ns(&s.pairs),
                                .candidate_ns = pairs_candidate_ns(&s.pairs)};
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
    if (s.pairs.count >= FEWEST_PAIRS)
        (void)roofline_check(j, case_index, pairs_candidate_ns(&s.pairs));
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
        .noise = pairs_noise(&s.pairs, data_below(j->gate->data, UINT64_MAX)),
        .pairs = (int64_t)s.pairs.count,
        .processes = s.processes,
        .dropped = s.dropped,
        .by_account = j->gate->task->threads <= 1,
        .empty_ns = s.empty_ns,
        .processor = s.processor,
        .baseline_ns = pairs_baseline_ns(&s.pairs),
        .candidate_ns = pairs_candidate_ns(&s.pairs),
        .error = j->error[case_index],
    };
    if (!examine(&s, err))
        return false;
    if (j->is_decided)
        return true;
    keep_samples(&s, out);
    out->roofline = roofline_share(j->gate, case_index, out->candidate_ns);
    return !j->plan.has_cold || time_cold(j, case_index, &out->cold, err);
}
