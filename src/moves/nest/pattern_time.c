/* Sequences for loops over time steps: what strips of a size that fits a cache come to. */
#include "moves/nest/pattern_internal.h"
#include "moves/nest/sweep.h"

#include "base/str.h"

/* VECTORS: at once, as of other stencils. */
enum { VECTORS = 4, MOST_SITES = 4, MOST_SHIFT = 2 };

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

struct site {
    const struct nest_stmt *time;
    struct nest_sweeps sweeps;
    const struct regime *regime;
};

struct sites {
    struct site items[MOST_SITES];
    size_t count;
};

static bool find_site(void *context, struct nest_stmt *stmt, int depth)
{
    struct sites *sites = context;
    struct site site = {.time = stmt};
    (void)depth;
    if (sites->count == MOST_SITES || !nest_find_sweeps(stmt, &site.sweeps))
        return true;
    site.regime = nest_is_innermost(site.sweeps.first) ? &of_elements : &of_rows;
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

/* The first dimension of an argument in a case; 0: not known. */
static int64_t rows_of(const struct task *task, const struct task_arg *arg,
                       const struct task_case *c)
{
    int64_t number = 0;
    for (size_t i = 0; i < task->axis_count; i++) {
        if (str_equal(task->axes[i].name, arg->shape_text[0]))
            return c->axes[i];
    }
    return str_parse_int64(arg->shape_text[0], &number) ? number : 0;
}

/* What one round of the outermost loop reads and writes in the largest case; 0: not known. */
static int64_t round_bytes(const struct nest *nest, const struct site *site)
{
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
            const int64_t rows = rows_of(task, &task->args[arg], &task->cases[c]);
            if (rows > 0)
                bytes += (int64_t)task_arg_bytes(task, arg, &task->cases[c]) / rows;
        }
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The longest strip whose rounds fit the cache with those that its steps lie back; 0: none. */
static int64_t strip_size(const struct patterns *p, const struct site *site, int64_t back)
{
    const struct regime *regime = site->regime;
    const int64_t bytes = round_bytes(p->nest, site);
    const int64_t cache = p->target->cache_bytes[regime->cache];
    if (bytes == 0)
        return regime->plain;
    const int64_t room = (cache > 0 ? cache : regime->unknown_bytes) / 2 / bytes - back;
    int64_t size = regime->most;
    while (size > room && size > 1)
        size /= 2;
    return size >= regime->least ? size : 0;
}

/* --- sequences ---------------------------------------------------------------------------------
 */

/* The least shift with which it applies. `size` gets the strip of the last one. */
static bool skew_site(struct growth *g, const struct patterns *p, const struct site *site,
                      int time_steps, int64_t *size)
{
    const char *first = site->sweeps.first->name;
    for (int shift = 1; shift <= MOST_SHIFT; shift++) {
        *size = strip_size(p, site, (int64_t)site->sweeps.count * time_steps * shift);
        if (*size == 0)
            return false;
        const char *step = arena_printf(p->arena, "skew(%s:%d,%s:%lld", site->time->name,
                                        time_steps, first, (long long)*size);
        if (shift == 1 ? grow(g, "%s)", step) : grow(g, "%s,%d)", step, shift))
            return true;
    }
    return false;
}

void patterns_add_time(struct patterns *p)
{
    struct sites sites = {0};
    (void)nest_walk(p->nest->body, find_site, &sites);
    for (size_t i = 0; sites.count > 0 && i < sizeof steps / sizeof *steps; i++) {
        struct growth g = patterns_begin(p);
        int64_t size = 0;
        bool any = false;
        for (size_t s = 0; s < sites.count; s++) {
            int64_t here = 0;
            if (!skew_site(&g, p, &sites.items[s], steps[i], &here))
                continue;
            size = any ? size : here;
            any = true;
        }
        if (!any || patterns_vectorize(&g, VECTORS * p->lanes) == 0)
            continue;
        patterns_add(p, &g, arena_printf(p->arena, "nest-time-%dx%lld", steps[i], (long long)size),
                     arena_printf(p->arena,
                                  "strips of %lld rounds go through %d time steps while they are "
                                  "in a cache, in vectors",
                                  (long long)size, steps[i]),
                     1.35 - 0.01 * (double)i);
    }
}
