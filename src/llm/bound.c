/* What an exchange may cost, before it is made: tokens and money. */
#include "llm/driver.h"

#include "base/hash.h"
#include "base/str.h"
#include "base/tokens.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALIBRATION_MIN_TOKENS = 256 /* less says more of the framing than of the text */ };
static const double bound_factor = 1.10; /* over the estimate: base/tokens.h */
static const double worst_margin = 1.02; /* over the worst ratio that was seen */
static const double near_budget = 0.90;  /* from here on only bytes count */

static int64_t bytes_of(const struct llm_request *request, size_t begin)
{
    int64_t bytes = 0;
    for (size_t i = begin; i < request->count; i++)
        bytes += (int64_t)strlen(request->messages[i].text);
    if (begin == 0 && request->schema_json)
        bytes += (int64_t)strlen(request->schema_json);
    return bytes;
}

static int64_t framing(size_t messages)
{
    return (int64_t)messages * TOKENS_PER_MESSAGE;
}

static int64_t estimate_of(const struct llm_request *request)
{
    int64_t tokens = 0;
    for (size_t i = 0; i < request->count; i++)
        tokens += tokens_estimate(request->messages[i].text, strlen(request->messages[i].text));
    if (request->schema_json)
        tokens += tokens_estimate(request->schema_json, strlen(request->schema_json));
    return tokens;
}

/* A message as a number, so that one prompt can be recognised at the beginning of another. */
static uint64_t id_of(const struct llm_message *message)
{
    const struct hash_id id = hash_strings((const char *const[]){message->role, message->text}, 2);
    return hash_fnv1a(id.text, sizeof id.text);
}

/* The last counted prompt is the beginning of this one: its count and the bytes of the rest. -1
 * where it is not. */
static int64_t bound_by_prefix(const struct tally *tally, const struct llm_request *request)
{
    if (tally->last_tokens < 0 || tally->last_count > request->count || request->schema_json)
        return -1;
    for (size_t i = 0; i < tally->last_count; i++) {
        if (tally->last_ids[i] != id_of(&request->messages[i]))
            return -1;
    }
    return tally->last_tokens + bytes_of(request, tally->last_count) +
           framing(request->count - tally->last_count);
}

static double factor_of(const struct tally *tally)
{
    return fmax(bound_factor, worst_margin * tally->calibration.worst_ratio);
}

/* `by_bytes`: the careful form, near the end of a budget. */
static int64_t bound_input(const struct llm *llm, const struct llm_request *request, bool by_bytes)
{
    const struct tally *tally = &llm->tally;
    /* 1.10 times 800 is 880, not the 880.0000000000001 that doubles make of it. */
    const int64_t by_estimate =
        (int64_t)ceil(factor_of(tally) * (double)estimate_of(request) - 1e-6);
    const int64_t bytes = bytes_of(request, 0);
    int64_t tokens =
        by_bytes || (by_estimate > bytes && !tally->is_over_bytes) ? bytes : by_estimate;
    tokens += framing(request->count) + tally->excess_tokens;
    const int64_t by_prefix = bound_by_prefix(tally, request);
    return by_prefix >= 0 && by_prefix < tokens ? by_prefix : tokens;
}

static int64_t bound_output(const struct llm *llm, const struct llm_request *request)
{
    const int64_t most = llm->opts.max_output_tokens;
    return request->max_output_tokens > 0 && request->max_output_tokens < most
               ? request->max_output_tokens
               : most;
}

static double usd_of(const struct llm *llm, int64_t input, int64_t output)
{
    const struct llm_prices *p = &llm->opts.prices;
    const double dearest = fmax(p->input, fmax(p->cached_input, p->cache_write));
    return (dearest * (double)input + p->output * (double)output) / 1e6;
}

static struct llm_bound bound_of(const struct llm *llm, int64_t input, int64_t output)
{
    return (struct llm_bound){.input_tokens = input,
                              .output_tokens = output,
                              .is_cost_known = llm->opts.prices.is_known,
                              .usd = llm->opts.prices.is_known ? usd_of(llm, input, output) : 0.0};
}

struct llm_bound llm_bound(const struct llm *llm, const struct llm_request *request)
{
    return bound_of(llm, bound_input(llm, request, false), bound_output(llm, request));
}

/* The share of the budget that a bound takes, the larger of tokens and money; over 1: too much. */
static double share_of(const struct llm *llm, const struct llm_bound *bound,
                       const struct llm_budget *budget, int64_t lost_tokens)
{
    double share = 0.0;
    if (budget->tokens >= 0)
        share = (double)(bound->input_tokens + bound->output_tokens + lost_tokens) /
                fmax((double)budget->tokens, 0.5);
    if (budget->usd >= 0.0) {
        const struct llm_prices *p = &llm->opts.prices;
        const double lost = fmax(p->input, p->output) * (double)lost_tokens / 1e6;
        const double usd = bound->usd + lost;
        share = fmax(share, usd > 0.0 ? usd / fmax(budget->usd, 1e-12) : 0.0);
    }
    return share;
}

static bool fail_over_budget(const struct llm *llm, const struct llm_bound *bound,
                             const struct llm_budget *budget, int64_t lost_tokens, struct err *err)
{
    const int64_t tokens = bound->input_tokens + bound->output_tokens + lost_tokens;
    if (budget->tokens >= 0 && tokens > budget->tokens)
        (void)err_set(err, ERR_BUDGET,
                      "asking model '%s' may take %lld tokens (%lld of prompt, %lld of reply), "
                      "%lld are left",
                      llm->opts.model, (long long)tokens,
                      (long long)(bound->input_tokens + lost_tokens),
                      (long long)bound->output_tokens, (long long)budget->tokens);
    else
        (void)err_set(err, ERR_BUDGET, "asking model '%s' may cost %.4f USD, %.4f are left",
                      llm->opts.model, bound->usd, budget->usd);
    return err_hint(err, "raise the budget, or lower the context's or max_output_tokens");
}

bool llm_check_budget(struct llm *llm, const struct llm_request *request, int64_t lost_tokens,
                      struct arena *arena, struct err *err)
{
    const struct llm_budget *budget = request->budget;
    if (!budget || (budget->tokens < 0 && !(budget->usd >= 0.0)))
        return true;
    if (budget->usd >= 0.0 && !llm->opts.prices.is_known) {
        (void)err_set(err, ERR_BAD_INPUT,
                      "money is limited, but the prices of model '%s' are not "
                      "known",
                      llm->opts.model);
        return err_hint(err, "set 'prices' of the model in kope.yaml, zeros where it is free");
    }
    struct llm_bound bound = llm_bound(llm, request);
    if (share_of(llm, &bound, budget, lost_tokens) < near_budget)
        return true;
    bound = bound_of(llm, bound_input(llm, request, true), bound_output(llm, request));
    if (share_of(llm, &bound, budget, lost_tokens) <= 1.0)
        return true;
    struct err ignored;
    int64_t exact = 0;
    if (llm_count_input_tokens(llm, request, arena, &exact, &ignored)) {
        bound = bound_of(llm, exact, bound_output(llm, request));
        if (share_of(llm, &bound, budget, lost_tokens) <= 1.0)
            return true;
    }
    return fail_over_budget(llm, &bound, budget, lost_tokens, err);
}

static void calibrate(struct tally *tally, const struct llm_request *request, int64_t counted)
{
    const int64_t estimate = estimate_of(request);
    if (estimate < CALIBRATION_MIN_TOKENS)
        return;
    const double text = fmax(0.0, (double)(counted - framing(request->count)));
    struct llm_calibration *c = &tally->calibration;
    tally->ratio_sum += (double)counted / (double)estimate;
    c->exchanges++;
    c->mean_ratio = tally->ratio_sum / c->exchanges;
    c->worst_ratio = fmax(c->worst_ratio, text / (double)estimate);
}

void llm_learn_count(struct llm *llm, const struct llm_request *request, int64_t input_tokens)
{
    struct tally *tally = &llm->tally;
    calibrate(tally, request, input_tokens);
    if (input_tokens > bytes_of(request, 0) + framing(request->count))
        tally->is_over_bytes = true;
    tally->last_tokens = -1; /* bound_input is to tell by text alone */
    const int64_t over = input_tokens - bound_input(llm, request, false);
    if (over > 0)
        tally->excess_tokens += over;
    tally->last_count = 0;
    for (size_t i = 0; i < request->count; i++) {
        tally->last_ids = vec_reserve_one(tally->last_ids, tally->last_count, &tally->last_capacity,
                                          sizeof *tally->last_ids);
        tally->last_ids[tally->last_count++] = id_of(&request->messages[i]);
    }
    tally->last_tokens = request->schema_json ? -1 : input_tokens;
}

struct llm_calibration llm_calibration(const struct llm *llm)
{
    return llm->tally.calibration;
}

bool llm_cost_usd(const struct llm *llm, const struct llm_usage *usage, double *out)
{
    const struct llm_prices *p = &llm->opts.prices;
    if (!p->is_known)
        return false;
    int64_t cached = usage->cached_tokens;
    int64_t written = usage->cache_write_tokens;
    /* A part cannot be more than the whole, whatever a server says. */
    if (cached > usage->input_tokens)
        cached = usage->input_tokens;
    if (written > usage->input_tokens - cached)
        written = usage->input_tokens - cached;
    *out = (p->input * (double)(usage->input_tokens - cached - written) +
            p->cached_input * (double)cached + p->cache_write * (double)written +
            p->output * (double)usage->output_tokens) /
           1e6;
    return true;
}
