#include "gate/data.h"

#include "base/err.h"
#include "base/rng.h"
#include "gate/element.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POOL_ELEMENTS = 1 << 16,
    POISON_PATTERN_BYTES = 1 << 16, /* a power of two */
    SHORTEST_BLOCK = 512,           /* of elements that are taken from the pool together */
    LONGEST_BLOCK = 4096,
    FEW_NEW = 3,         /* elements drawn anew in a buffer that is filled from the pool */
    MOST_CHANGES = 8,    /* elements of a changed copy */
    CLUSTER_EVERY = 512, /* elements that have one cluster of maxima */
    LONGEST_CLUSTER = 16,
    CONSTANT_BITS = 6, /* so few that sums of a constant are exact, whatever their order */
};

static const char *const names[] = {
    [DISTRIBUTION_DECLARED] = "declared",
    [DISTRIBUTION_CHANGED] = "changed elements",
    [DISTRIBUTION_SPIKES] = "spikes",
    [DISTRIBUTION_MAGNITUDES] = "mixed magnitudes",
    [DISTRIBUTION_TIES] = "ties",
    [DISTRIBUTION_POSITIVE] = "one sign",
    [DISTRIBUTION_JITTER] = "near-constant",
    [DISTRIBUTION_SORTED] = "sorted",
    [DISTRIBUTION_TINY] = "tiny",
    [DISTRIBUTION_INTEGERS] = "exact integers",
    [DISTRIBUTION_CLUSTERED] = "clustered maxima",
    [DISTRIBUTION_CONSTANT] = "constant",
    [DISTRIBUTION_SPECIAL] = "NaN and infinities",
    [DISTRIBUTION_ONE_SPECIAL] = "NaN or an infinity",
    [DISTRIBUTION_SITUATION] = "declared special values",
};
static_assert(sizeof names / sizeof *names == DISTRIBUTION_COUNT, "name each distribution");

struct data {
    const struct task *task;
    struct rng rng;
    void *pool[TASK_MAX_ARGS]; /* POOL_ELEMENTS of the argument's dtype; NULL where not drawn */
    uint64_t *poison[POISON_COUNT];
    size_t wide_arg;  /* of DISTRIBUTION_INTEGERS: the argument with 12-bit integers */
    bool is_falling;  /* of DISTRIBUTION_SORTED */
    double level;     /* of DISTRIBUTION_JITTER and _SORTED: where in the range, no round number */
    size_t special;   /* of DISTRIBUTION_ONE_SPECIAL */
    size_t situation; /* of DISTRIBUTION_SITUATION */
};

const char *distribution_name(enum distribution distribution)
{
    return names[distribution];
}

static const double special_values[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
enum { SPECIAL_VALUES = sizeof special_values / sizeof *special_values };

/* The range within which the task says values lie; a normal draw is cut at 6 deviations. */
struct range {
    double low, high, center, scale;
};

static struct range range_of(const struct draw *draw)
{
    switch (draw->kind) {
    case DRAW_NORMAL:
        return (struct range){draw->a - 6 * draw->b, draw->a + 6 * draw->b, draw->a, draw->b};
    case DRAW_UNIFORM:
    case DRAW_INTEGER:
        return (struct range){draw->a, draw->b, (draw->a + draw->b) / 2, (draw->b - draw->a) / 2};
    case DRAW_CONSTANT:
        break;
    }
    return (struct range){draw->a, draw->a, draw->a, 0};
}

static bool is_drawn(const struct task_arg *arg)
{
    return arg->role != ARG_OUT;
}

static bool is_float_draw(const struct task_arg *arg)
{
    return is_drawn(arg) && dtype_is_float(arg->dtype) &&
           (arg->draw.kind == DRAW_NORMAL || arg->draw.kind == DRAW_UNIFORM) && arg->draw.b != 0;
}

/* A float draw on both sides of zero. */
static bool spans_zero(const struct task_arg *arg)
{
    const struct range range = range_of(&arg->draw);
    return is_float_draw(arg) && range.low < 0 && range.high > 0;
}

/* A float draw that may be odd integers, -1, 0 and 1 times a power of two. */
static bool holds_integers(const struct task_arg *arg)
{
    const struct range range = range_of(&arg->draw);
    return is_float_draw(arg) && range.low <= 0 && range.high > 0;
}

static bool applies_to(enum distribution distribution, const struct task *task,
                       const struct task_arg *arg)
{
    switch (distribution) {
    case DISTRIBUTION_DECLARED:
        return true;
    case DISTRIBUTION_CHANGED:
    case DISTRIBUTION_SPIKES:
    case DISTRIBUTION_TIES:
    case DISTRIBUTION_SORTED:
    case DISTRIBUTION_CLUSTERED:
    case DISTRIBUTION_CONSTANT:
        return is_drawn(arg) && arg->draw.kind != DRAW_CONSTANT;
    case DISTRIBUTION_MAGNITUDES:
    case DISTRIBUTION_POSITIVE:
    case DISTRIBUTION_JITTER:
        return is_float_draw(arg);
    case DISTRIBUTION_TINY:
        return spans_zero(arg);
    case DISTRIBUTION_INTEGERS:
        return holds_integers(arg);
    case DISTRIBUTION_SPECIAL:
    case DISTRIBUTION_ONE_SPECIAL:
        return !task->finite_only && is_float_draw(arg);
    case DISTRIBUTION_SITUATION:
        return task->special_count > 0 && is_drawn(arg);
    case DISTRIBUTION_COUNT:
        break;
    }
    return false;
}

bool distribution_is_special(enum distribution distribution)
{
    return distribution == DISTRIBUTION_SPECIAL || distribution == DISTRIBUTION_ONE_SPECIAL ||
           distribution == DISTRIBUTION_SITUATION;
}

bool distribution_applies(enum distribution distribution, const struct task *task)
{
    for (size_t arg = 0; arg < task->arg_count; arg++)
        if (applies_to(distribution, task, &task->args[arg]))
            return true;
    return false;
}

static double draw_declared(struct rng *rng, const struct draw *draw)
{
    switch (draw->kind) {
    case DRAW_NORMAL:
        return draw->a + draw->b * rng_normal(rng);
    case DRAW_UNIFORM:
        return draw->a + (draw->b - draw->a) * rng_uniform(rng);
    case DRAW_INTEGER:
        return draw->a + (double)rng_below(rng, (uint64_t)(draw->b - draw->a) + 1);
    case DRAW_CONSTANT:
        break;
    }
    return draw->a;
}

static double extreme(struct rng *rng, const struct range *range)
{
    return rng_next(rng) >> 63 ? range->high : range->low;
}

/* The largest power of two that is not above. */
static double power_below(double value)
{
    return ldexp(1, ilogb(value));
}

static double draw_tiny(struct rng *rng, double scale, enum dtype dtype)
{
    const double smallest = dtype_smallest_normal(dtype);
    /* A float16 has denormals from 2^-14 down, and nothing under 2^-24. */
    const int first = dtype == DTYPE_F16 ? 8 : 20;
    const uint64_t octaves = dtype == DTYPE_F16 ? 16 : 40;
    const uint64_t choice = rng_below(rng, 64);
    const double sign = rng_next(rng) >> 63 ? 1 : -1;
    if (choice < 4)
        return sign * 0.0;
    if (choice == 4)
        return sign * smallest * rng_uniform(rng);
    return sign * scale * ldexp(1 + rng_uniform(rng), -first - (int)rng_below(rng, octaves));
}

/* The bits of the wide integers: 12, so that 4096 of them sum up exactly in float32, or all that a
 * half type has. */
static int probe_bits(enum dtype dtype)
{
    return dtype == DTYPE_F16 ? 11 : dtype == DTYPE_BF16 ? 8 : 12;
}

/* An odd integer of 12 bits, or -1, 0, 1, scaled by a power of two into the declared range; without
 * the negative ones where the range begins at zero. */
static double draw_integer_probe(struct rng *rng, bool is_wide, enum dtype dtype,
                                 const struct range *range)
{
    const bool has_sign = range->low < 0;
    const double unit = power_below((has_sign ? fmin(-range->low, range->high) : range->high) / 2);
    if (!is_wide)
        return unit * (has_sign ? (double)rng_below(rng, 3) - 1 : (double)rng_below(rng, 2));
    const double half = ldexp(1, probe_bits(dtype) - 1);
    const double odd = half + 1 + 2 * (double)rng_below(rng, (uint64_t)half / 2);
    return (has_sign && rng_next(rng) >> 63 ? -unit : unit) * odd / (2 * half);
}

/* Away from the middle, another for each argument, so that no two are equal. */
static double constant_value(const struct data *data, const struct task_arg *a,
                             const struct range *range)
{
    const double arg = (double)(a - data->task->args);
    const double away = range->scale * data->level * (1 - arg / (2 * TASK_MAX_ARGS));
    const double value = range->center + (data->is_falling ? -away : away);
    if (value == 0)
        return value;
    const int unit = ilogb(value) + 1 - CONSTANT_BITS;
    return ldexp(nearbyint(ldexp(value, -unit)), unit);
}

/* One value of a distribution other than the declared one; `at` runs from 0 to 1. */
static double draw_value(struct data *data, const struct task_arg *a, const struct range *range,
                         enum distribution distribution, double at)
{
    struct rng *rng = &data->rng;
    switch (distribution) {
    case DISTRIBUTION_SPIKES:
        return rng_below(rng, 64) == 0 ? extreme(rng, range) : draw_declared(rng, &a->draw);
    case DISTRIBUTION_MAGNITUDES: {
        const double shrink = ldexp(0.5 + 0.5 * rng_uniform(rng), -(int)rng_below(rng, 20));
        const double base = spans_zero(a) ? 0 : range->low;
        return base + (extreme(rng, range) - base) * shrink;
    }
    case DISTRIBUTION_TIES:
        return range->center + range->scale / 2 * ((double)rng_below(rng, 3) - 1);
    case DISTRIBUTION_POSITIVE:
        return range->center + fabs(draw_declared(rng, &a->draw) - range->center);
    case DISTRIBUTION_JITTER:
        return range->center + range->scale * (data->level + 1e-3 * (rng_uniform(rng) - 0.5));
    case DISTRIBUTION_SORTED: {
        /* Over a random part of the range, so that it is not symmetric. */
        const double place = data->is_falling ? 1 - at : at;
        return range->low +
               (range->high - range->low) * (0.4 * data->level + (0.9 - 0.5 * data->level) * place);
    }
    case DISTRIBUTION_TINY:
        return draw_tiny(rng, range->scale, a->dtype);
    case DISTRIBUTION_INTEGERS:
        return draw_integer_probe(rng, a == &data->task->args[data->wide_arg], a->dtype, range);
    case DISTRIBUTION_CONSTANT:
        return constant_value(data, a, range);
    case DISTRIBUTION_CLUSTERED:
        return range->high - 1e-3 * range->scale * rng_uniform(rng);
    case DISTRIBUTION_DECLARED:
    case DISTRIBUTION_CHANGED:
    case DISTRIBUTION_SPECIAL:
    case DISTRIBUTION_ONE_SPECIAL:
    case DISTRIBUTION_SITUATION:
    case DISTRIBUTION_COUNT:
        break;
    }
    return draw_declared(rng, &a->draw);
}

static void draw_pool(struct data *data, size_t arg)
{
    const struct task_arg *a = &data->task->args[arg];
    void *pool = malloc(POOL_ELEMENTS * dtype_bytes(a->dtype));
    if (!pool)
        BUG("gate: out of memory for a pool");
    for (size_t i = 0; i < POOL_ELEMENTS; i++)
        dtype_store(a->dtype, pool, i, draw_declared(&data->rng, &a->draw));
    data->pool[arg] = pool;
}

/* Of NaN and number both halves of a word are one of float, and the word is one of double; of the
 * half types each quarter is one of float16 and of bfloat16. */
static uint64_t poison_word(struct rng *rng, enum poison kind)
{
    static const struct {
        uint64_t random, fixed;
    } masks[] = {
        [POISON_NAN] = {0x8007ffff803fffff, 0x7ff800007fc00000},
        [POISON_NUMBER] = {0x80ffffff80ffffff, 0x7e0000007e000000},
        [POISON_HALF_NAN] = {0x803f803f803f803f, 0x7fc07fc07fc07fc0},
        [POISON_HALF_NUMBER] = {0x83ff83ff83ff83ff, 0x7800780078007800},
        [POISON_BYTES] = {UINT64_MAX, 0},
        [POISON_NO_BOOL] = {UINT64_MAX, 0x0202020202020202},
    };
    static_assert(sizeof masks / sizeof *masks == POISON_COUNT, "a word for each poison");
    return (rng_next(rng) & masks[kind].random) | masks[kind].fixed;
}

struct data *data_open(const struct task *task, struct rng rng)
{
    struct data *data = calloc(1, sizeof *data);
    if (!data)
        BUG("gate: out of memory");
    data->task = task;
    data->rng = rng;
    for (size_t arg = 0; arg < task->arg_count; arg++)
        if (is_drawn(&task->args[arg]))
            draw_pool(data, arg);
    for (unsigned kind = 0; kind < POISON_COUNT; kind++) {
        data->poison[kind] = malloc(POISON_PATTERN_BYTES);
        if (!data->poison[kind])
            BUG("gate: out of memory for poison");
        for (size_t i = 0; i < POISON_PATTERN_BYTES / sizeof(uint64_t); i++)
            data->poison[kind][i] = poison_word(&data->rng, (enum poison)kind);
    }
    data_begin(data);
    return data;
}

void data_close(struct data **data)
{
    if (!*data)
        return;
    for (size_t arg = 0; arg < TASK_MAX_ARGS; arg++)
        free((*data)->pool[arg]);
    for (unsigned kind = 0; kind < POISON_COUNT; kind++)
        free((*data)->poison[kind]);
    free(*data);
    *data = NULL;
}

void data_reseed(struct data *data, struct rng rng)
{
    data->rng = rng;
}

uint64_t data_below(struct data *data, uint64_t bound)
{
    return rng_below(&data->rng, bound);
}

void data_begin(struct data *data)
{
    size_t candidates[TASK_MAX_ARGS], count = 0;
    for (size_t arg = 0; arg < data->task->arg_count; arg++)
        if (holds_integers(&data->task->args[arg]))
            candidates[count++] = arg;
    data->wide_arg = count ? candidates[rng_below(&data->rng, count)] : 0;
    data->is_falling = rng_next(&data->rng) >> 63;
    data->level = 0.55 + 0.4 * rng_uniform(&data->rng);
}

void data_choose_situation(struct data *data, size_t situation)
{
    data->situation = situation;
}

void data_choose_special(struct data *data, size_t turn)
{
    data->special = turn % SPECIAL_VALUES;
}

/* May the sign of a value be flipped without leaving the declared distribution? */
static bool is_symmetric(const struct task_arg *arg)
{
    return is_float_draw(arg) &&
           (arg->draw.kind == DRAW_NORMAL ? arg->draw.a == 0 : arg->draw.a == -arg->draw.b);
}

static void flip_signs(enum dtype dtype, char *at, size_t count)
{
    const size_t bytes = dtype_bytes(dtype);
    for (size_t i = 0; i < count; i++)
        at[i * bytes + bytes - 1] ^= (char)0x80; /* the sign is in the last byte */
}

/* Exchanges low bits of the mantissa: values that stay in their octave, but are no longer those of
 * the pool. Without it a function of one element could be looked up by what it was before. */
static void vary_low_bits_f32(struct rng *rng, const struct range *range, char *at, size_t count)
{
    const uint64_t random = rng_next(rng);
    const uint32_t masks[2] = {(uint32_t)random & 0xffff, (uint32_t)(random >> 32) & 0xffff};
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        float value;
        memcpy(&bits, at + i * sizeof bits, sizeof bits);
        bits ^= masks[i % 2];
        memcpy(&value, &bits, sizeof value);
        if (!range || ((double)value >= range->low && (double)value <= range->high))
            memcpy(at + i * sizeof bits, &bits, sizeof bits);
    }
}

static void vary_low_bits_f64(struct rng *rng, const struct range *range, char *at, size_t count)
{
    const uint64_t mask = rng_next(rng) >> 24;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        double value;
        memcpy(&bits, at + i * sizeof bits, sizeof bits);
        bits ^= mask;
        memcpy(&value, &bits, sizeof value);
        if (!range || (value >= range->low && value <= range->high))
            memcpy(at + i * sizeof bits, &bits, sizeof bits);
    }
}

static void vary_low_bits(struct rng *rng, const struct task_arg *a, char *at, size_t count)
{
    const struct range range = range_of(&a->draw);
    const struct range *limits = a->draw.kind == DRAW_UNIFORM ? &range : NULL;
    if (is_float_draw(a) && a->dtype == DTYPE_F32)
        vary_low_bits_f32(rng, limits, at, count);
    else if (is_float_draw(a) && a->dtype == DTYPE_F64)
        vary_low_bits_f64(rng, limits, at, count);
}

/* Blocks of the pool from random places, some with their signs flipped, low bits of each block
 * exchanged, and a few new elements. */
static void fill_from_pool(struct data *data, size_t arg, char *out, size_t count)
{
    const struct task_arg *a = &data->task->args[arg];
    const size_t bytes = dtype_bytes(a->dtype);
    const bool symmetric = is_symmetric(a);
    for (size_t done = 0; done < count;) {
        const size_t block = SHORTEST_BLOCK + rng_below(&data->rng, LONGEST_BLOCK - SHORTEST_BLOCK);
        const size_t length = block < count - done ? block : count - done;
        const size_t start = rng_below(&data->rng, POOL_ELEMENTS - length + 1);
        memcpy(out + done * bytes, (const char *)data->pool[arg] + start * bytes, length * bytes);
        if (symmetric && rng_next(&data->rng) >> 63)
            flip_signs(a->dtype, out + done * bytes, length);
        vary_low_bits(&data->rng, a, out + done * bytes, length);
        done += length;
    }
    for (size_t i = 0; i < FEW_NEW && count > 0; i++)
        dtype_store(a->dtype, out, rng_below(&data->rng, count),
                    draw_declared(&data->rng, &a->draw));
}

static void sprinkle_special(struct data *data, size_t arg, size_t kind, void *out, size_t count)
{
    for (uint64_t left = 1 + rng_below(&data->rng, 3); left > 0 && count > 0; left--)
        dtype_store(data->task->args[arg].dtype, out, rng_below(&data->rng, count),
                    special_values[kind]);
}

/* From `drawn` elements on: blocks of those before, from random places. */
static void repeat_blocks(struct data *data, void *values, size_t drawn, size_t count, size_t bytes)
{
    char *out = values;
    for (size_t done = drawn; done < count;) {
        const size_t block = SHORTEST_BLOCK + rng_below(&data->rng, LONGEST_BLOCK - SHORTEST_BLOCK);
        const size_t length = block < count - done ? block : count - done;
        const size_t start = rng_below(&data->rng, drawn - length + 1);
        memcpy(out + done * bytes, out + start * bytes, length * bytes);
        done += length;
    }
}

/* A value that the argument may have: within the range, and whole where the draw is. */
static void store_valid(const struct task_arg *a, const struct range *range, double value,
                        void *out, size_t index)
{
    if (a->draw.kind != DRAW_NORMAL)
        value = fmin(fmax(value, range->low), range->high);
    if (a->draw.kind == DRAW_INTEGER)
        value = nearbyint(value);
    dtype_store(a->dtype, out, index, value);
}

/* The largest values side by side, at a random place in every few hundred elements. */
static void place_clusters(struct data *data, size_t arg, void *out, size_t count)
{
    const struct task_arg *a = &data->task->args[arg];
    const struct range range = range_of(&a->draw);
    for (size_t block = 0; block < count; block += CLUSTER_EVERY) {
        const size_t room = count - block < CLUSTER_EVERY ? count - block : CLUSTER_EVERY;
        const size_t most = room < LONGEST_CLUSTER ? room : LONGEST_CLUSTER;
        const size_t length = 1 + rng_below(&data->rng, most);
        const size_t start = block + rng_below(&data->rng, room - length + 1);
        for (size_t i = start; i < start + length; i++)
            store_valid(a, &range, draw_value(data, a, &range, DISTRIBUTION_CLUSTERED, 0), out, i);
    }
}

static void fill_situation(struct data *data, size_t arg, void *out, size_t count)
{
    const struct task_arg *a = &data->task->args[arg];
    const struct special_arg *special = &data->task->specials[data->situation].args[arg];
    switch (special->kind) {
    case SPECIAL_DRAWN:
        for (size_t i = 0; i < count; i++)
            dtype_store(a->dtype, out, i, draw_declared(&data->rng, &special->draw));
        return;
    case SPECIAL_VALUE:
        for (size_t i = 0; i < count; i++)
            dtype_store(a->dtype, out, i, special->value);
        return;
    case SPECIAL_ONE:
        fill_from_pool(data, arg, out, count);
        if (count > 0)
            dtype_store(a->dtype, out, rng_below(&data->rng, count), special->value);
        return;
    case SPECIAL_FREE:
    case SPECIAL_FINITE:
        fill_from_pool(data, arg, out, count);
        return;
    }
}

static void fill_drawn(struct data *data, size_t arg, enum distribution distribution, void *out,
                       size_t count)
{
    const struct task_arg *a = &data->task->args[arg];
    const struct range range = range_of(&a->draw);
    const bool repeats = distribution != DISTRIBUTION_SORTED && count > 2 * (size_t)POOL_ELEMENTS;
    const size_t drawn = repeats ? POOL_ELEMENTS : count;
    for (size_t i = 0; i < drawn; i++)
        store_valid(a, &range, draw_value(data, a, &range, distribution, (double)i / (double)count),
                    out, i);
    repeat_blocks(data, out, drawn, count, dtype_bytes(a->dtype));
}

void data_fill(struct data *data, size_t arg, enum distribution distribution, void *out,
               size_t count)
{
    const bool applies = applies_to(distribution, data->task, &data->task->args[arg]);
    if (!applies || distribution == DISTRIBUTION_DECLARED || distribution == DISTRIBUTION_CHANGED) {
        fill_from_pool(data, arg, out, count);
    } else if (distribution == DISTRIBUTION_SITUATION) {
        fill_situation(data, arg, out, count);
    } else if (distribution == DISTRIBUTION_SPECIAL) {
        fill_from_pool(data, arg, out, count);
        for (size_t kind = 0; kind < SPECIAL_VALUES; kind++)
            sprinkle_special(data, arg, kind, out, count);
    } else if (distribution == DISTRIBUTION_ONE_SPECIAL) {
        fill_from_pool(data, arg, out, count);
        sprinkle_special(data, arg, data->special, out, count);
    } else if (distribution == DISTRIBUTION_CLUSTERED) {
        fill_from_pool(data, arg, out, count);
        place_clusters(data, arg, out, count);
    } else {
        fill_drawn(data, arg, distribution, out, count);
    }
}

void data_change_one(struct data *data, size_t arg, void *element, bool high)
{
    const struct task_arg *a = &data->task->args[arg];
    if (!is_drawn(a) || a->draw.kind == DRAW_CONSTANT)
        return;
    const struct range range = range_of(&a->draw);
    const double wanted = high ? range.high : range.low;
    const double now = dtype_element(a->dtype, element, 0);
    dtype_store(a->dtype, element, 0, now == wanted ? (high ? range.low : range.high) : wanted);
}

void data_change(struct data *data, size_t arg, void *values, size_t count)
{
    const size_t bytes = dtype_bytes(data->task->args[arg].dtype);
    const bool high = rng_next(&data->rng) >> 63;
    for (size_t i = 0; i < MOST_CHANGES && i < count; i++)
        data_change_one(data, arg, (char *)values + rng_below(&data->rng, count) * bytes, high);
}

/* One step of the last place is a step of the bits, away from zero or towards it. Zeros, what is
 * not finite and the two ends of the finite numbers stay. */
static void perturb_f32(char *at, size_t count, struct rng *rng)
{
    enum { SMALLEST = 1, INFINITE = 0x7f800000 };
    uint64_t coins = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        coins = i % 64 == 0 ? rng_next(rng) : coins >> 1;
        memcpy(&bits, at + i * sizeof bits, sizeof bits);
        const uint32_t magnitude = bits & 0x7fffffff;
        const bool moves = magnitude > SMALLEST && magnitude < INFINITE - 1;
        bits += moves ? (coins & 1 ? 1 : UINT32_MAX) : 0;
        memcpy(at + i * sizeof bits, &bits, sizeof bits);
    }
}

static void perturb_f64(char *at, size_t count, struct rng *rng)
{
    static const uint64_t smallest = 1, infinite = UINT64_C(0x7ff0000000000000);
    uint64_t coins = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        coins = i % 64 == 0 ? rng_next(rng) : coins >> 1;
        memcpy(&bits, at + i * sizeof bits, sizeof bits);
        const uint64_t magnitude = bits & (UINT64_MAX >> 1);
        const bool moves = magnitude > smallest && magnitude < infinite - 1;
        bits += moves ? (coins & 1 ? 1 : UINT64_MAX) : 0;
        memcpy(at + i * sizeof bits, &bits, sizeof bits);
    }
}

/* Stored in fewer bits than the task computes in: its values are exact, and one of its ulps is no
 * rounding of the computation. */
static bool is_coarse(const struct task *task, const struct task_arg *arg)
{
    return dtype_roundoff(arg->dtype) > dtype_roundoff(task->accumulate);
}

void data_perturb_wide(struct data *data, size_t arg, double *values, size_t count)
{
    const struct task_arg *a = &data->task->args[arg];
    if (!is_float_draw(a) || !is_coarse(data->task, a))
        return;
    const struct range range = range_of(&a->draw);
    const bool has_ends = a->draw.kind == DRAW_UNIFORM;
    const double step = 2 * dtype_roundoff(data->task->accumulate);
    uint64_t coins = 0;
    for (size_t i = 0; i < count; i++) {
        coins = i % 64 == 0 ? rng_next(&data->rng) : coins >> 1;
        const double moved = values[i] * (coins & 1 ? 1 + step : 1 - step);
        if (!has_ends || (moved >= range.low && moved <= range.high))
            values[i] = moved;
    }
}

void data_perturb(struct data *data, size_t arg, const void *from, void *to, size_t count)
{
    const struct task_arg *a = &data->task->args[arg];
    const size_t bytes = dtype_bytes(a->dtype);
    memcpy(to, from, count * bytes);
    if (!is_float_draw(a) || is_coarse(data->task, a))
        return;
    if (a->dtype == DTYPE_F32)
        perturb_f32(to, count, &data->rng);
    else
        perturb_f64(to, count, &data->rng);
    if (a->draw.kind != DRAW_UNIFORM)
        return;
    /* A uniform draw has ends that must not be passed: outside them a function may be undefined. */
    const struct range range = range_of(&a->draw);
    for (size_t i = 0; i < count; i++) {
        const double value = dtype_element(a->dtype, to, i);
        if (value < range.low || value > range.high)
            memcpy((char *)to + i * bytes, (const char *)from + i * bytes, bytes);
    }
}

enum poison data_poison_kind(const struct task *task, size_t arg, enum distribution distribution)
{
    const enum dtype dtype = task->args[arg].dtype;
    const bool may_be_nan = distribution_is_special(distribution);
    if (dtype == DTYPE_BOOL)
        return POISON_NO_BOOL;
    if (!dtype_is_float(dtype))
        return POISON_BYTES;
    if (dtype_is_half(dtype))
        return may_be_nan ? POISON_HALF_NUMBER : POISON_HALF_NAN;
    return may_be_nan ? POISON_NUMBER : POISON_NAN;
}

size_t data_poison_place(struct data *data)
{
    return rng_below(&data->rng, POISON_PATTERN_BYTES / sizeof(uint64_t)) * sizeof(uint64_t);
}

void data_poison(const struct data *data, enum poison kind, size_t place, size_t offset, void *at,
                 size_t bytes)
{
    const char *pattern = (const char *)data->poison[kind];
    for (size_t done = 0; done < bytes;) {
        const size_t from = (place + offset + done) % POISON_PATTERN_BYTES;
        const size_t left = POISON_PATTERN_BYTES - from;
        const size_t length = left < bytes - done ? left : bytes - done;
        memcpy((char *)at + done, pattern + from, length);
        done += length;
    }
}

bool data_poison_intact(const struct data *data, enum poison kind, size_t place, size_t offset,
                        const void *at, size_t bytes, size_t *where)
{
    const char *pattern = (const char *)data->poison[kind];
    const char *held = at;
    for (size_t done = 0; done < bytes;) {
        const size_t from = (place + offset + done) % POISON_PATTERN_BYTES;
        const size_t left = POISON_PATTERN_BYTES - from;
        const size_t length = left < bytes - done ? left : bytes - done;
        if (memcmp(held + done, pattern + from, length) != 0) {
            size_t i = 0;
            while (held[done + i] == pattern[from + i])
                i++;
            *where = done + i;
            return false;
        }
        done += length;
    }
    return true;
}
