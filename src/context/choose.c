#include "base/hash.h"
#include "base/rng.h"
#include "base/str.h"
#include "context/internal.h"

#include <string.h>

/* Of the score of an entry that is quite like one already chosen, this share is lost. */
#define LIKENESS_COST 0.6
#define FAILURE_SHARE 0.2
enum { FEATURE_BITS = 64 };

static size_t bits_in(uint64_t word)
{
    size_t count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
}

/* A bit for each word of the key: what two entries have in common. */
static uint64_t features_of(const char *key)
{
    uint64_t features = 0;
    for (const char *at = key; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (length != 0)
            features |= UINT64_C(1) << hash_fnv1a(at, length) % FEATURE_BITS;
        at += length + (at[length] == ' ');
    }
    return features;
}

/* Jaccard's index: words in common over words of either. */
static double likeness(uint64_t a, uint64_t b)
{
    const size_t either = bits_in(a | b);
    return either == 0 ? 0.0 : (double)bits_in(a & b) / (double)either;
}

struct entry *contradiction_of(struct entries *warm, const struct entry *entry)
{
    for (size_t i = 0; entry->is_contradicted && i < warm->count; i++) {
        if (str_equal(warm->items[i].beside, entry->item.ref))
            return &warm->items[i];
    }
    return NULL;
}

/* Entries like the one taken are worth less from now on (maximal marginal relevance, Carbonell and
 * Goldstein, 1998, with a factor in place of a difference). */
static void take(struct entries *warm, struct entry *taken)
{
    taken->is_chosen = true;
    for (size_t i = 0; i < warm->count; i++) {
        struct entry *entry = &warm->items[i];
        if (!entry->is_chosen && entry->is_failure == taken->is_failure)
            entry->novelty *= 1.0 - LIKENESS_COST * likeness(entry->features, taken->features);
    }
}

/* Greedy knapsack: items are small against the budget, where greedy by density is within one item
 * of the best. */
static int64_t choose_kind(struct entries *warm, bool failures, int64_t tokens)
{
    int64_t used = 0;
    for (;;) {
        struct entry *best = NULL;
        struct entry *best_against = NULL;
        double best_value = 0.0;
        int64_t best_tokens = 0;
        for (size_t i = 0; i < warm->count; i++) {
            struct entry *entry = &warm->items[i];
            if (entry->is_chosen || entry->is_failure != failures || entry->beside[0] != '\0')
                continue;
            struct entry *against = contradiction_of(warm, entry);
            const int64_t cost = entry->item.tokens + (against ? against->item.tokens : 0);
            const double score =
                entry->item.score * entry->novelty + (against ? against->item.score : 0.0);
            const double value = score / (double)(cost + 1);
            if (cost > tokens - used || !(value > best_value))
                continue;
            best = entry;
            best_against = against;
            best_value = value;
            best_tokens = cost;
        }
        if (!best)
            return used;
        take(warm, best);
        if (best_against)
            take(warm, best_against);
        used += best_tokens;
    }
}

/* A contradiction goes with what it contradicts, shown or withheld. */
static void withhold(struct entries *warm, double share, uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    for (size_t i = 0; i < warm->count; i++) {
        struct entry *entry = &warm->items[i];
        if (!entry->is_chosen || entry->beside[0] != '\0')
            continue;
        struct entry *against = contradiction_of(warm, entry);
        entry->item.propensity = 1.0 - share;
        entry->item.withheld = rng_uniform(&rng) < share;
        if (against && against->is_chosen) {
            against->item.propensity = entry->item.propensity;
            against->item.withheld = entry->item.withheld;
        }
    }
}

static bool has_ref(const struct entries *warm, const char *ref)
{
    for (size_t i = 0; i < warm->count; i++) {
        if (str_equal(warm->items[i].item.ref, ref))
            return true;
    }
    return false;
}

/* Moves each contradiction to the place after what it contradicts. */
static void stand_together(struct entries *warm)
{
    for (size_t i = 0; i < warm->count; i++) {
        const struct entry *against = contradiction_of(warm, &warm->items[i]);
        if (!against)
            continue;
        const struct entry moving = *against;
        const size_t from = (size_t)(against - warm->items);
        if (from > i + 1) {
            memmove(&warm->items[i + 2], &warm->items[i + 1], (from - i - 1) * sizeof *warm->items);
            warm->items[i + 1] = moving;
        } else if (from < i) {
            memmove(&warm->items[from], &warm->items[from + 1], (i - from) * sizeof *warm->items);
            warm->items[i] = moving;
        }
    }
}

void context_choose(struct entries *warm, int64_t tokens, double withhold_share, uint64_t seed)
{
    for (size_t i = 0; i < warm->count; i++) {
        warm->items[i].novelty = 1.0;
        warm->items[i].features = features_of(warm->items[i].key);
        /* What it contradicts stands in the epoch already. */
        if (!has_ref(warm, warm->items[i].beside))
            warm->items[i].beside = "";
    }
    const int64_t failures = choose_kind(warm, true, (int64_t)((double)tokens * FAILURE_SHARE));
    (void)choose_kind(warm, false, tokens - failures);
    stand_together(warm);
    withhold(warm, withhold_share, seed);
}
