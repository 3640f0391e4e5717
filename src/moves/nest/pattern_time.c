/* Sequences for loops over time steps: what strips of a size that fits a cache come to. */
#include "moves/nest/pattern_internal.h"
#include "moves/nest/sweep.h"

#include "base/str.h"

/* VECTORS: at once, as of other stencils. DIRECTIONS: in which strips are cut. */
enum { VECTORS = 4, MOST_SITES = 4, MOST_SHIFT = 2, DIRECTIONS = 2 };

/* Where a round of the sweeps' outermost loop is a row, and where it is an element. */
struct regime {
    int cache; /* whose half a strip may fill with its steps, 0 the nearest */
    int64_t unknown_bytes, least, most, plain;
};
static const struct regime of_rows = {1, INT64_C(1) << 20, 4, 64, 32};
static const struct regime of_elements = {0, INT64_C(1) << 15, 256, 4096, 2048};

/* Rounds: more make fewer passes over memory, and strips that are long enough for them fewer
 * rounds at their ends. */
static const int steps[] = {16, 8, 4};

/* In both directions, where not even a few rounds of the outermost loop fit; the second one's are
 * rows or elements. */
enum { PAIRS = 4 };
struct strips {
    int64_t sizes[DIRECTIONS]; /* the second 0: in the first one only; both 0: none */
};
static const struct strips pairs_of_rows[PAIRS] = {{{16, 32}}, {{16, 16}}, {{8, 16}}, {{8, 8}}};
static const struct strips pairs_of_elements[PAIRS] = {
    {{32, 512}}, {{16, 512}}, {{16, 256}}, {{8, 256}}};

struct site {
    const struct nest *nest;
    const struct nest_stmt *time;
    struct nest_sweeps sweeps;
    const struct nest_stmt *second; /* the only loop in that of a sweep; NULL: there is none */
    const struct regime *regime;
};

struct sites {
    const struct nest *nest;
    struct site items[MOST_SITES];
    size_t count;
};

static bool find_site(void *context, struct nest_stmt *stmt, int depth)
{
    struct sites *sites = context;
    struct site site = {.nest = sites->nest, .time = stmt};
    (void)depth;
    if (sites->count == MOST_SITES || !nest_find_sweeps(stmt, &site.sweeps))
        return true;
    site.regime = nest_is_innermost(site.sweeps.first) ? &of_elements : &of_rows;
    site.second = nest_only_loop(site.sweeps.first);
    sites->items[sites->count++] = site;
    return true;
}

/* --- sizes -------------------------------------------------------------------------------------
 */

static bool is_unused(void *context, const struct nest_expr *expr, bool is_target)
{
    (void)is_target;
    return expr->kind != NEST_ACCESS || nest_base_of(expr->symbol) != context;
}

static bool leaves_alone(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return nest_walk_exprs(stmt, is_unused, context);
}

/* The first dimensions of an argument in a case, multiplied; 0: not known. */
static int64_t rounds_of(const struct task *task, const struct task_arg *arg,
                         const struct task_case *c, size_t dimensions)
{
    int64_t rounds = 1;
    for (size_t d = 0; d < dimensions && rounds > 0; d++) {
        int64_t number = 0;
        if (d == arg->rank || !str_parse_int64(arg->shape_text[d], &number))
            number = 0;
        for (size_t i = 0; d < arg->rank && i < task->axis_count; i++) {
            if (str_equal(task->axes[i].name, arg->shape_text[d]))
                number = c->axes[i];
        }
        rounds *= number;
    }
    return rounds;
}

/* What a round of the outermost loop, or of the two outermost, reads and writes in the largest
 * case; 0: not known. */
static int64_t round_bytes(const struct site *site, size_t loops)
{
    const struct nest *nest = site->nest;
    const struct task *task = nest->task;
    int64_t most = 0;
    for (size_t c = 0; c < task->case_count; c++) {
        int64_t bytes = 0;
        for (size_t s = 0; s < nest->symbol_count; s++) {
            struct nest_symbol *symbol = nest->symbols[s];
            const size_t arg = (size_t)symbol->argument;
            if (symbol->kind != NEST_ARRAY || symbol->argument < 0 ||
                nest_walk(site->time->body, leaves_alone, symbol))
                continue;
            const int64_t rounds = rounds_of(task, &task->args[arg], &task->cases[c], loops);
            if (rounds > 0)
                bytes += (int64_t)task_arg_bytes(task, arg, &task->cases[c]) / rounds;
        }
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The longest strips whose rounds fit the cache with those that the steps lie `back`: half of it in
 * one direction, all of it in two, where not all is needed at once. */
static struct strips strips_of(const struct patterns *p, const struct site *site, int64_t back)
{
    const struct regime *regime = site->regime;
    const int64_t bytes = round_bytes(site, 1);
    const int64_t known = p->target->cache_bytes[regime->cache];
    const int64_t cache = known > 0 ? known : regime->unknown_bytes;
    if (bytes == 0)
        return (struct strips){{regime->plain}};
    int64_t size = regime->most;
    while (size > cache / 2 / bytes - back && size > 1)
        size /= 2;
    if (size >= regime->least)
        return (struct strips){{size}};
    const int64_t inner = site->second ? round_bytes(site, 2) : 0;
    const struct strips *pairs =
        inner > 0 && nest_is_innermost(site->second) ? pairs_of_elements : pairs_of_rows;
    for (size_t i = 0; inner > 0 && i < PAIRS; i++) {
        if ((pairs[i].sizes[0] + back) * (pairs[i].sizes[1] + back) <= cache / inner)
            return pairs[i];
    }
    return (struct strips){0};
}

/* --- sequences ---------------------------------------------------------------------------------
 */

/* "16" of the first direction, or of both with `between` in between. */
static const char *sizes_text(const struct patterns *p, const struct strips *strips,
                              const char *between)
{
    const long long first = strips->sizes[0];
    const long long second = strips->sizes[1];
    return second == 0 ? arena_printf(p->arena, "%lld", first)
                       : arena_printf(p->arena, "%lld%s%lld", first, between, second);
}

/* The least shift with which it applies; `out` gets the strips. */
static bool skew_site(struct growth *g, const struct patterns *p, const struct site *site,
                      int time_steps, struct strips *out)
{
    const char *second = site->second ? site->second->name : "";
    for (int shift = 1; shift <= MOST_SHIFT; shift++) {
        *out = strips_of(p, site, (int64_t)site->sweeps.count * time_steps * shift);
        if (out->sizes[0] == 0)
            return false;
        const char *step = arena_printf(p->arena, "skew(%s:%d,%s:%s", site->time->name, time_steps,
                                        site->sweeps.first->name,
                                        sizes_text(p, out, arena_printf(p->arena, ",%s:", second)));
        if (shift == 1 ? grow(g, "%s)", step) : grow(g, "%s,%d)", step, shift))
            return true;
    }
    return false;
}

/* All time loops of the nest alike; the first one's strips give the name. */
static void add_steps(struct patterns *p, const struct sites *sites, int time_steps, double prior)
{
    struct growth g = patterns_begin(p);
    struct strips strips = {0};
    bool any = false;
    for (size_t s = 0; s < sites->count; s++) {
        struct strips here;
        if (!skew_site(&g, p, &sites->items[s], time_steps, &here))
            continue;
        strips = any ? strips : here;
        any = true;
    }
    if (!any || patterns_vectorize(&g, VECTORS * p->lanes) == 0)
        return;
    const char *sizes = sizes_text(p, &strips, "x");
    patterns_add(p, &g, arena_printf(p->arena, "nest-time-%dx%s", time_steps, sizes),
                 arena_printf(p->arena,
                              "strips of %s rounds go through %d time steps while they are in a "
                              "cache, in vectors",
                              sizes, time_steps),
                 prior);
}

void patterns_add_time(struct patterns *p)
{
    struct sites sites = {0};
    struct nest *plain = NULL;
    const char *refusal = NULL;
    if (!nest_apply(p->nest, "", p->target, p->arena, &plain, &refusal))
        return;
    sites.nest = plain;
    (void)nest_walk(plain->body, find_site, &sites);
    for (size_t i = 0; sites.count > 0 && i < sizeof steps / sizeof *steps; i++)
        add_steps(p, &sites, steps[i], 1.35 - 0.01 * (double)i);
}
