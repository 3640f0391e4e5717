/*
 * What an item of experience is worth in a prompt: the log-speedup that can be expected of acting
 * on it here, above what is reached already.
 *
 * A measurement y of variance v that comes from elsewhere (its own error and the learned discount,
 * transfer.h) is drawn towards no effect by w = p / (p + v), p being the variance that such results
 * have at all; w y then has the error w sqrt(v). Only a result above the present one is of use, so
 * the worth is E[max(0, w y + w sqrt(v) Z - present)]. What is far away or loosely measured has a
 * small w and is worth little, whatever it promises.
 */
#include "context/internal.h"

#include "base/str.h"
#include "stats/hierarchy.h"

#include <math.h>
#include <string.h>

/* Variances, before anything is known, of a whole result and of the gain of a step. */
#define RESULT_VARIANCE 0.25
#define STEP_VARIANCE 0.04
/* A median of pairs is never known better than this, as a standard deviation. */
#define LEAST_ERROR 0.02
/* How likely a proposer is to try what failed or lost if nobody tells it, and what that costs. */
#define TRY_SHARE 0.2
#define FAILURE_COST 0.5
#define MOST_LOSS 1.0
/* Everything that was found is the same, and nothing is. */
#define SAME_STATE 1.25
#define OTHER_STATE 0.8
#define WIDTH_OF_95 3.92
enum { KIND_BYTES = 64 };

static double worth(double value, double variance, double of, double present)
{
    const double weight = of / (of + variance);
    return stats_expected_gain(weight * value - present, weight * sqrt(variance));
}

/* The kind of knowledge of a decision that carries least: sizes before flags before structure. */
static enum knowledge kind_of(const struct transfer *transfer, const char *moves)
{
    enum knowledge kind = KNOWLEDGE_STRUCTURE;
    for (size_t i = 0; i < transfer->belief_count; i++) {
        const struct transfer_belief *belief = &transfer->beliefs[i];
        if (!entry_has_word(moves, belief->move) || belief->kind == KNOWLEDGE_STRUCTURE)
            continue;
        if (belief->kind == KNOWLEDGE_SIZES)
            return KNOWLEDGE_SIZES;
        kind = belief->kind;
    }
    return kind;
}

/* How many words two vectors of kinds have in common, of all that either has (Jaccard). */
static double likeness(const char *a, const char *b)
{
    size_t common = 0, all = 0;
    for (const char *at = b; *at; at += strspn(at, " ")) {
        at += strcspn(at, " ");
        all++;
    }
    for (const char *at = a; *at; at += strspn(at, " ")) {
        char word[KIND_BYTES];
        const size_t length = strcspn(at, " ");
        if (length < sizeof word) {
            memcpy(word, at, length);
            word[length] = '\0';
            const bool is_common = entry_has_word(b, word);
            common += is_common;
            all += !is_common;
        }
        at += length;
    }
    return all ? (double)common / (double)all : 0.0;
}

/* Experience with states like this one is worth more; nothing is known where nothing was found. */
static double state_factor(const struct context_request *request, const char *kinds)
{
    if (!request->finding_kinds || request->finding_kinds[0] == '\0' || kinds[0] == '\0')
        return 1.0;
    return OTHER_STATE + (SAME_STATE - OTHER_STATE) * likeness(request->finding_kinds, kinds);
}

double score_decision(const struct context_request *request, const struct transfer *transfer,
                      const struct graph_decision *d, const char *kinds)
{
    const struct transfer_place there = {d->task_id, d->family, d->regime, d->target_id};
    const double discount = transfer_variance(transfer, kind_of(transfer, d->moves), &there);
    const double carries = STEP_VARIANCE / (STEP_VARIANCE + discount);
    const double factor = state_factor(request, kinds);
    if (d->kind != VERDICT_TIMED)
        return TRY_SHARE * FAILURE_COST * carries * factor;
    const double loss = d->has_gain ? -d->gain : -d->log_ratio;
    if (decision_lost(d))
        return TRY_SHARE * fmin(loss > 0.0 ? loss : LEAST_ERROR, MOST_LOSS) * carries * factor;
    const double low = d->is_confirmed ? d->confirmed_low : d->log_low;
    const double high = d->is_confirmed ? d->confirmed_high : d->log_high;
    const double error = fmax((high - low) / WIDTH_OF_95, LEAST_ERROR);
    const double result = d->is_confirmed ? d->confirmed_log_ratio : d->log_ratio;
    const double whole =
        worth(result, discount + error * error, RESULT_VARIANCE, request->current_log_ratio);
    const double step =
        d->has_gain ? worth(d->gain, discount + 2.0 * error * error, STEP_VARIANCE, 0.0) : 0.0;
    return fmax(whole, step) * factor;
}

bool decision_lost(const struct graph_decision *d)
{
    return d->kind == VERDICT_TIMED &&
           (d->confirm_failed || d->log_high < 0.0 || (d->has_gain && d->gain < -LEAST_ERROR));
}

double score_belief(const struct transfer_belief *belief)
{
    return stats_expected_gain(belief->mean, belief->sd) * (1.0 - belief->failure_rate);
}
