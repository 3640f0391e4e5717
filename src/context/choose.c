#include "base/rng.h"
#include "base/str.h"
#include "context/internal.h"

/* An entry that is like one already chosen is worth this share of its score for each such one. */
#define LIKENESS_DISCOUNT 0.4
#define FAILURE_SHARE 0.2

static double value_per_token(const struct entries *warm, const struct entry *entry)
{
    double score = entry->item.score;
    for (size_t i = 0; i < warm->count; i++) {
        if (warm->items[i].is_chosen && str_equal(warm->items[i].diversity, entry->diversity))
            score *= LIKENESS_DISCOUNT;
    }
    return score / (double)(entry->item.tokens + 1);
}

/* Greedy knapsack: items are small against the budget, where greedy by density is within one item
 * of the best. */
static int64_t choose_kind(struct entries *warm, bool failures, int64_t tokens)
{
    int64_t used = 0;
    for (;;) {
        struct entry *best = NULL;
        double best_value = 0.0;
        for (size_t i = 0; i < warm->count; i++) {
            struct entry *entry = &warm->items[i];
            if (entry->is_chosen || entry->is_failure != failures ||
                entry->item.tokens > tokens - used)
                continue;
            const double value = value_per_token(warm, entry);
            if (value > best_value) {
                best = entry;
                best_value = value;
            }
        }
        if (!best)
            return used;
        best->is_chosen = true;
        used += best->item.tokens;
    }
}

void context_choose(struct entries *warm, int64_t tokens, double withhold_share, uint64_t seed)
{
    const int64_t failures = choose_kind(warm, true, (int64_t)((double)tokens * FAILURE_SHARE));
    (void)choose_kind(warm, false, tokens - failures);
    struct rng rng = rng_seeded(seed);
    for (size_t i = 0; i < warm->count; i++) {
        struct entry *entry = &warm->items[i];
        if (!entry->is_chosen)
            continue;
        entry->item.propensity = 1.0 - withhold_share;
        entry->item.withheld = rng_uniform(&rng) < withhold_share;
    }
}
