/* What came of a timed pair: outputs that are right, and that nobody wrote after the bell. */
#include "gate/pair.h"

#include <math.h>
#include <string.h>

enum {
    VERIFY_ALL_BYTES = 256 * 1024, /* outputs up to this are compared whole */
    VERIFY_SAMPLE = 4096,          /* beyond it, so many places, */
    VERIFY_ENDS = 64,              /* and both ends of each array; */
    VERIFY_WHOLE_ONE_IN = 4,       /* but whole in one pair of so many, by lot */
};

/* A random element of the outputs. */
static struct place random_place(struct pair *pair)
{
    struct data *data = pair->j->gate->data;
    struct place place = {.set = data_below(data, pair->ring->sets)};
    do
        place.arg = data_below(data, pair->task->arg_count);
    while (pair->task->args[place.arg].role == ARG_IN);
    place.index = data_below(data, pair->candidate->elements[place.arg]);
    return place;
}

static const char *at(const struct pair *pair, const struct rig *rig, const struct place *place)
{
    return (const char *)pair_argument(rig, pair->ring, place->set, place->arg) +
           place->index * dtype_bytes(rig->dtypes[place->arg]);
}

static size_t output_bytes(const struct pair *pair)
{
    size_t bytes = 0;
    for (size_t arg = 0; arg < pair->task->arg_count; arg++)
        if (pair->task->args[arg].role != ARG_IN)
            bytes += rig_arg_bytes(pair->candidate, arg) * pair->ring->sets;
    return bytes;
}

/* All outputs where they are few, else pieces of them by lot. */
static void choose_spans(struct pair *pair)
{
    struct rig *rig = pair->candidate;
    size_t outputs = 0;
    rig->span_count = 0;
    rig->span_key = data_below(pair->j->gate->data, UINT64_MAX);
    for (size_t arg = 0; arg < pair->task->arg_count; arg++)
        outputs += pair->task->args[arg].role != ARG_IN;
    const bool whole =
        output_bytes(pair) <= VERIFY_ALL_BYTES && outputs * pair->ring->sets <= MOST_BELL_SPANS;
    for (size_t arg = 0; whole && arg < pair->task->arg_count; arg++)
        for (size_t set = 0; pair->task->args[arg].role != ARG_IN && set < pair->ring->sets; set++)
            rig->spans[rig->span_count++] = (struct bell_span){
                pair_argument(rig, pair->ring, set, arg), rig_arg_bytes(rig, arg)};
    while (!whole && rig->span_count < MOST_BELL_SPANS) {
        const struct place place = random_place(pair);
        const size_t element = dtype_bytes(rig->dtypes[place.arg]);
        const size_t rest = (rig->elements[place.arg] - place.index) * element;
        rig->spans[rig->span_count++] =
            (struct bell_span){at(pair, rig, &place), rest < PAGE_BYTES ? rest : PAGE_BYTES};
    }
}

void verify_choose(struct pair *pair)
{
    for (size_t i = 0; i < MOST_BELL_READS; i++) {
        const struct place place = random_place(pair);
        pair->early[i] = place;
        pair->candidate->reads[i] =
            (struct bell_read){.at = at(pair, pair->candidate, &place),
                               .bytes = dtype_bytes(pair->candidate->dtypes[place.arg])};
    }
    pair->candidate->read_count = MOST_BELL_READS;
    choose_spans(pair);
}

/* What differs from what was read when the call had ended was written after it. */
bool verify_still(struct pair *pair)
{
    struct judgement *j = pair->j;
    for (size_t i = 0; i < MOST_BELL_READS; i++) {
        const struct place *place = &pair->early[i];
        const struct bell_read *read = &pair->candidate->reads[i];
        if (memcmp(read->at, &read->bits, read->bytes) == 0)
            continue;
        return decide(
            j, VERDICT_REJECTED, "M8-quiesce",
            "case %s: %s was written after the child had said that it was done",
            pair->candidate->problem->name,
            element_name(pair->task, pair->candidate->problem, place->arg, place->index, j->arena));
    }
    const uint64_t hash = rig_hash_spans(pair->candidate);
    return hash == pair->candidate->span_hash ||
           decide(j, VERDICT_REJECTED, "M8-quiesce",
                  "case %s: outputs were written after the child had said that it was done: their "
                  "hash was %016llx then, and is %016llx",
                  pair->candidate->problem->name, (unsigned long long)pair->candidate->span_hash,
                  (unsigned long long)hash);
}

/* Far out, or not written at all, is no matter of rounding: the call did not do its work. */
static bool report_timed(struct pair *pair, const struct place *place, double got, double want)
{
    struct judgement *j = pair->j;
    const struct timed_bound *bound = &j->bounds[pair->case_index][place->arg];
    const enum dtype dtype = pair->candidate->dtypes[place->arg];
    const enum poison kind =
        data_poison_kind(pair->task, place->arg, pair_distribution(pair, place->set));
    const size_t element = dtype_bytes(dtype);
    size_t where;
    const bool unwritten = pair->task->args[place->arg].role == ARG_OUT &&
                           data_poison_intact(j->gate->data, kind, pair->poison[place->arg],
                                              pair->ring->calls[place->set].offsets[place->arg] +
                                                  place->index * element,
                                              at(pair, pair->got, place), element, &where);
    const bool far = !(fabs(got - want) <= 100 * bound_allowance(bound, want));
    j->rival_decided = pair->got != pair->candidate;
    return decide(
        j, unwritten || far ? VERDICT_REJECTED : VERDICT_WRONG, "M7-timed-output",
        "case %s: right when it was checked, but in call %zu of a timed sample %s %s "
        "%.9g, should be %.9g",
        pair->candidate->problem->name, place->set + 1,
        element_name(pair->task, pair->candidate->problem, place->arg, place->index, j->arena),
        unwritten ? "was not written:" : "is", got, want);
}

/* The bounds of timed outputs are for declared inputs. A known result has its own. */
static bool has_bounds(const struct pair *pair, size_t set)
{
    return pair_distribution(pair, set) == DISTRIBUTION_DECLARED;
}

static bool verify_place(struct pair *pair, const struct place *place)
{
    if (!has_bounds(pair, place->set))
        return true;
    const enum dtype dtype = pair->candidate->dtypes[place->arg];
    const char *got = at(pair, pair->got, place);
    const char *want = at(pair, pair->want, place);
    if (memcmp(got, want, dtype_bytes(dtype)) == 0)
        return true;
    const double got_value = dtype_element(dtype, got, 0);
    const double want_value = dtype_element(dtype, want, 0);
    const struct timed_bound *bound = &pair->j->bounds[pair->case_index][place->arg];
    /* Integers of 64 bits that differ may look equal as doubles. */
    if (dtype_is_float(dtype) && bound_holds(bound, got_value, want_value))
        return true;
    return report_timed(pair, place, got_value, want_value);
}

static bool verify_range(struct pair *pair, size_t arg, size_t set, size_t first, size_t count)
{
    struct place place = {.arg = arg, .set = set, .index = first};
    if (!has_bounds(pair, set))
        return true;
    if (memcmp(at(pair, pair->got, &place), at(pair, pair->want, &place),
               count * dtype_bytes(pair->candidate->dtypes[arg])) == 0)
        return true;
    for (size_t i = 0; i < count && !pair->j->is_decided; i++) {
        place.index = first + i;
        (void)verify_place(pair, &place);
    }
    return true;
}

void verify_outputs(struct pair *pair, const struct rig *got, const struct rig *want)
{
    pair->got = got;
    pair->want = want;
    const bool whole = output_bytes(pair) <= VERIFY_ALL_BYTES ||
                       data_below(pair->j->gate->data, VERIFY_WHOLE_ONE_IN) == 0;
    for (size_t i = 0; i < VERIFY_SAMPLE && !whole && !pair->j->is_decided; i++) {
        const struct place place = random_place(pair);
        (void)verify_place(pair, &place);
    }
    for (size_t arg = 0; arg < pair->task->arg_count; arg++) {
        if (pair->task->args[arg].role == ARG_IN)
            continue;
        const size_t count = pair->candidate->elements[arg];
        const size_t ends = count < VERIFY_ENDS ? count : VERIFY_ENDS;
        for (size_t set = 0; set < pair->ring->sets && !pair->j->is_decided; set++) {
            (void)verify_range(pair, arg, set, 0, whole ? count : ends);
            if (!whole)
                (void)verify_range(pair, arg, set, count - ends, ends);
        }
    }
}

/* A set with a known result is held to the class, as in the checks: one that works with less care
 * when it is timed stays within the wide bound of the others. */
static void verify_set(struct pair *pair, const struct rig *rig, size_t set)
{
    static const char *const mechanisms[] = {[COMPARISON_CLASS] = "M9-class",
                                             [COMPARISON_VALUE] = "M9-value",
                                             [COMPARISON_PRECISION] = "M9-precision"};
    struct judgement *j = pair->j;
    const struct task_case *problem = rig->problem;
    for (size_t arg = 0; arg < pair->task->arg_count && !j->is_decided; arg++) {
        const struct yardstick *y = &pair->known[set]->outputs[arg];
        if (y->count == 0)
            continue;
        void *got = pair_argument(rig, pair->ring, set, arg);
        rows_blank(&rig->rows[arg], y->dtype, got); /* they were looked at before */
        const struct comparison found = compare_output(y, got);
        if (found.fault == COMPARISON_OK)
            continue;
        j->rival_decided = rig != pair->candidate;
        (void)decide(
            j, VERDICT_WRONG, mechanisms[found.fault],
            "case %s: in call %zu of a timed sample %s is %.9g, should be %.9g (error %.3g "
            "x the baseline's by its %s; class %s allows %g; values: %s)",
            problem->name, set + 1, element_name(pair->task, problem, arg, found.index, j->arena),
            found.got, found.want, found.error, found.criterion,
            precision_class_name(pair->task->precision),
            precision_class_factor(pair->task->precision),
            distribution_name(pair_distribution(pair, set)));
    }
}

void verify_known(struct pair *pair)
{
    struct judgement *j = pair->j;
    const struct probe *probes = j->gate->cases[pair->case_index].probes;
    for (size_t set = 0; set < pair->ring->sets && !j->is_decided; set++) {
        if (!pair->known[set])
            continue;
        if (j->rival.bytes)
            verify_set(pair, pair->baseline, set);
        if (!j->is_decided)
            verify_set(pair, pair->candidate, set);
        /* A cold sample is a single call, which a candidate can tell from those that count. */
        if (!pair->ring->is_cold)
            j->timed_results[pair->case_index] |= UINT32_C(1) << (pair->known[set] - probes);
    }
}
