/* Sequences for what a nest looks like. */
#include "moves/nest/pattern.h"

#include "moves/nest/pattern_internal.h"
#include "moves/nest/vector.h"

#include "base/str.h"

enum { MAX_LOOPS = 24, TILES_BESIDE_PACKED = 2, FEW_ROUNDS = 4 };

struct growth patterns_begin(const struct patterns *p)
{
    return (struct growth){.now = p->nest, .target = *p->target, .arena = p->arena};
}

void patterns_add(struct patterns *p, const struct growth *g, const char *name, const char *intent,
                  double prior)
{
    if (!g->steps || p->count == NEST_MAX_PATTERNS)
        return;
    for (size_t i = 0; i < p->count; i++) {
        if (str_equal(p->out[i].steps, g->steps))
            return;
    }
    p->out[p->count++] = (struct nest_pattern){
        .name = name, .intent = intent, .steps = g->steps, .prior_log_ratio = prior};
}

/* nest_only_loop, through the braces that a nest has as it was read. */
static const struct nest_stmt *only_loop(const struct nest_stmt *loop)
{
    const struct nest_stmt *body = loop->body;
    while (body && body->kind == NEST_BLOCK && !body->next)
        body = body->body;
    return body && body->kind == NEST_FOR && !body->next ? body : NULL;
}

/* --- vectors over every loop that takes them ---------------------------------------------------
 */

/* Loops of one list and below, outer ones first; below one that was taken there is nothing left. */
static void vectorize_list(struct growth *g, const struct nest_stmt *first,
                           const struct nest_stmt *but, int64_t rounds, size_t *taken)
{
    const char *refusal = NULL;
    for (const struct nest_stmt *s = first; s; s = s->next) {
        const struct nest_edit edit = {.arena = g->arena, .target = g->target};
        if (s == but)
            continue;
        if (s->kind == NEST_FOR && !nest_list_has(s->body, NEST_FOR))
            (void)grow(g, "reciprocal(%s)", s->name);
        if (s->kind == NEST_FOR && *taken < MAX_LOOPS && grow(g, "argmax(%s)", s->name)) {
            ++*taken;
            continue;
        }
        if (s->kind == NEST_FOR && *taken < MAX_LOOPS && vector_fits(&edit, s, &refusal) &&
            grow(g, "vectorize(%s:%lld)", s->name, (long long)rounds)) {
            ++*taken;
            continue;
        }
        vectorize_list(g, s->body, but, rounds, taken);
        vectorize_list(g, s->otherwise, but, rounds, taken);
    }
}

/* All that is not in `but`. The nest is walked as it was: its loops keep their names. */
static size_t vectorize_but(struct growth *g, const struct nest_stmt *but, int64_t rounds)
{
    size_t taken = 0;
    vectorize_list(g, g->now->body, but, rounds, &taken);
    return taken;
}

size_t patterns_vectorize(struct growth *g, int64_t rounds)
{
    return vectorize_but(g, NULL, rounds);
}

static bool collect_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct names *loops = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && nest_is_innermost(stmt) &&
        loops->count < sizeof loops->items / sizeof *loops->items)
        loops->items[loops->count++] = stmt->name;
    return true;
}

/* The first pass over a row asks for the next one. */
static bool prefetch_rows(struct growth *g)
{
    struct names loops = {0};
    (void)nest_walk(g->now->body, collect_loop, &loops);
    for (size_t i = 0; i < loops.count; i++) {
        const struct nest_stmt *around =
            nest_parent(g->now, nest_find_loop(g->now, loops.items[i]));
        if (around && around->kind == NEST_FOR &&
            grow(g, "prefetch(%s,%s:1)", loops.items[i], around->name))
            return true;
    }
    return false;
}

static bool is_no_result(void *context, const struct nest_expr *expr, bool is_target)
{
    (void)context;
    return is_target || expr->kind != NEST_ACCESS || !expr->symbol->is_parameter ||
           !expr->symbol->is_written;
}

static bool reads_no_result(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return (stmt->kind != NEST_ASSIGN || stmt->target->kind != NEST_ACCESS ||
            str_equal(stmt->op, "=")) &&
           nest_walk_exprs(stmt, is_no_result, context);
}

/* Results go past the caches, where none is read again here. */
static bool stream_all(struct growth *g, const struct nest *plain)
{
    struct names loops = {0};
    bool any = false;
    if (!nest_walk(plain->body, reads_no_result, NULL))
        return false;
    (void)nest_walk(g->now->body, collect_loop, &loops);
    for (size_t i = 0; i < loops.count; i++)
        any = grow(g, "stream(%s)", loops.items[i]) || any;
    return any;
}

/* Do the arrays of most cases exceed the cache of a core, twice? Unknown: no. */
static bool exceeds_cache(const struct patterns *p)
{
    const struct task *task = p->nest->task;
    const double cache = (double)p->target->cache_bytes[1];
    size_t large = 0;
    for (size_t i = 0; i < task->case_count; i++)
        large += task_bytes(task, &task->cases[i]) > 2.0 * cache;
    return cache > 0.0 && 2 * large > task->case_count;
}

/* The same for rows that come from memory and go there. Where they do, asking for the next row
 * gains as much as anything (layer norm of 4096 x 1024 on a Zen 5: 1.17 times). */
static void add_memory(struct patterns *p, const struct growth *vectors, int count)
{
    static const struct {
        const char *name, *intent;
        bool prefetches, streams;
        double prior, from_memory;
    } rows[] = {
        {"prefetch", "the first pass over a row asks memory for the next one", true, false, 0.89,
         1.18},
        {"prefetch-stream",
         "the first pass over a row asks memory for the next one, results go past the caches", true,
         true, 0.88, 1.05},
        {"stream", "results go past the caches", false, true, 0.87, 0.95},
    };
    const bool is_from_memory = exceeds_cache(p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct growth g = *vectors;
        if ((!rows[i].prefetches || prefetch_rows(&g)) &&
            (!rows[i].streams || stream_all(&g, p->nest)))
            patterns_add(p, &g, arena_printf(p->arena, "nest-vectors-%d-%s", count, rows[i].name),
                         rows[i].intent, is_from_memory ? rows[i].from_memory : rows[i].prior);
    }
}

/* Loops over all of an array as one, from the inside out; false where there are none. */
static bool coalesce_all(struct growth *g)
{
    const struct names loops = names_of_loops(g->now);
    bool any = false;
    for (size_t i = loops.count; i-- > 0;) {
        const struct nest_stmt *outer = nest_find_loop(g->now, loops.items[i]);
        const struct nest_stmt *inner = outer ? only_loop(outer) : NULL;
        const struct growth before = *g;
        if (!inner || !grow(g, "coalesce(%s,%s)", outer->name, inner->name))
            continue;
        /* where it had to divide, the counters stand apart */
        if (nest_list_has(g->now->body, NEST_DECLARE) &&
            !nest_list_has(before.now->body, NEST_DECLARE))
            *g = before;
        else
            any = true;
    }
    return any;
}

static bool is_no_store(void *context, struct nest_stmt *stmt, int depth)
{
    (void)context;
    (void)depth;
    return stmt->kind != NEST_ASSIGN || stmt->target->kind != NEST_ACCESS;
}

/* Loops that only read, and no other around them, in four places of memory at a time. */
static bool stream_reads(struct growth *g)
{
    struct names loops = names_of_loops(g->now);
    bool any = false;
    for (size_t i = 0; i < loops.count; i++) {
        struct nest_stmt *loop = nest_find_loop(g->now, loops.items[i]);
        if (loop && nest_is_innermost(loop) && !nest_parent(g->now, loop) &&
            nest_walk(loop->body, is_no_store, NULL))
            any = grow(g, "streams(%s:4)", loops.items[i]) || any;
    }
    return any;
}

static void add_streams(struct patterns *p)
{
    static const int vectors[] = {2, 1};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct growth g = patterns_begin(p);
        if (stream_reads(&g) && patterns_vectorize(&g, vectors[i] * p->lanes) > 0)
            patterns_add(p, &g, arena_printf(p->arena, "nest-streams-4-vectors-%d", vectors[i]),
                         "what only reads does so in four places of memory at a time, in vectors",
                         (exceeds_cache(p) ? 1.25 : 0.8) - 0.03 * (double)i);
    }
}

static void add_vectors(struct patterns *p)
{
    static const int vectors[] = {4, 2, 8, 1};
    static const double priors[] = {1.2, 1.15, 1.1, 0.9};
    struct growth best = {0};
    struct growth flat = patterns_begin(p);
    if (coalesce_all(&flat) && patterns_vectorize(&flat, vectors[0] * p->lanes) > 0)
        patterns_add(p, &flat, arena_printf(p->arena, "nest-flat-vectors-%d", vectors[0]),
                     "rows that lie side by side as one loop, in vectors", 1.12);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct growth g = patterns_begin(p);
        if (patterns_vectorize(&g, vectors[i] * p->lanes) == 0)
            continue;
        if (i == 0)
            best = g;
        patterns_add(
            p, &g, arena_printf(p->arena, "nest-vectors-%d", vectors[i]),
            arena_printf(p->arena,
                         "every loop over neighbours in vectors, %d at once; exp and tanh by "
                         "polynomials",
                         vectors[i]),
            priors[i]);
    }
    if (best.now)
        add_memory(p, &best, vectors[0]);
    add_streams(p);
}

/* --- tiles of results in registers -------------------------------------------------------------
 */

struct tile_site {
    const struct nest_stmt *outer, *inner; /* directly in each other; the inner one fits vectors */
    const char *packed; /* an array that all rounds of the outer loop read; NULL */
};

struct site_search {
    const struct patterns *p;
    struct tile_site sites[4];
    size_t count;
};

struct shared_read {
    const struct tile_site *site;
    const struct nest_symbol *found;
};

/* Read by the lanes, and the same for every round of the outer loop. */
static bool look_for_shared(void *context, const struct nest_expr *expr, bool is_target)
{
    struct shared_read *search = context;
    if (expr->kind == NEST_ACCESS && !is_target && !expr->symbol->is_written &&
        nest_expr_uses(expr, search->site->inner->symbol) &&
        !nest_expr_uses(expr, search->site->outer->symbol))
        search->found = expr->symbol;
    return true;
}

static bool look_in_stmt(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return nest_walk_exprs(stmt, look_for_shared, context);
}

static bool find_site(void *context, struct nest_stmt *stmt, int depth)
{
    struct site_search *search = context;
    const struct nest_stmt *inner = stmt->kind == NEST_FOR ? only_loop(stmt) : NULL;
    (void)depth;
    if (!inner || !nest_list_has(inner->body, NEST_FOR) ||
        search->count == sizeof search->sites / sizeof *search->sites)
        return true;
    struct tile_site *site = &search->sites[search->count];
    struct shared_read read = {.site = site};
    *site = (struct tile_site){.outer = stmt, .inner = inner};
    (void)nest_walk(inner->body, look_in_stmt, &read);
    site->packed = read.found ? read.found->name : NULL;
    search->count++;
    return true;
}

struct tile_size {
    int rows, vectors;
};

/* As many accumulators as hide the latency of a multiply-add, and fit the registers: 32 where
 * vectors are of 64 bytes, else 16. */
static const struct tile_size wide[] = {{6, 4}, {8, 2}, {14, 2}, {8, 3}, {12, 2}, {4, 4}};
static const struct tile_size narrow[] = {{6, 2}, {4, 2}, {4, 3}, {3, 4}, {5, 2}, {8, 1}};

/* `rows` of the outer loop at a time, so that what they read stays in the second cache while the
 * panels of the packed array pass by; 0: all. */
static void add_packed(struct patterns *p, const struct tile_site *site, struct tile_size size,
                       int rows, double prior)
{
    struct growth g = patterns_begin(p);
    const char *i = site->outer->name;
    const char *j = site->inner->name;
    const long long lanes = size.vectors * p->lanes;
    (void)vectorize_but(&g, site->outer, 4 * p->lanes);
    if (!site->packed || (rows > 0 && !grow(&g, "strip(%s:%d)", i, rows)) ||
        !grow(&g, "strip(%s:%lld)", j, lanes) || !grow(&g, "interchange(%s,%s_s)", i, j) ||
        !grow(&g, "pack(%s:%s_s)", site->packed, j))
        return;
    turn_copy(&g, arena_printf(p->arena, "%s_s", j), false);
    if (!grow(&g, "regtile(%s:%d,%s:%lld)", i, size.rows, j, lanes))
        return;
    const char *sizes = arena_printf(p->arena, "%dx%d", size.rows, size.vectors);
    patterns_add(
        p, &g,
        rows > 0 ? arena_printf(p->arena, "nest-pack-%d-%s", rows, sizes)
                 : arena_printf(p->arena, "nest-pack-%s", sizes),
        arena_printf(p->arena,
                     "tiles of %d rows by %d vectors in registers; what all rows read is packed%s",
                     size.rows, size.vectors,
                     rows > 0 ? arena_printf(p->arena, ", for %d rows at a time", rows) : ""),
        prior);
}

static void add_tile(struct patterns *p, const struct tile_site *site, struct tile_size size,
                     double prior)
{
    struct growth g = patterns_begin(p);
    (void)vectorize_but(&g, site->outer, 4 * p->lanes);
    if (!grow(&g, "regtile(%s:%lld,%s:%d)", site->inner->name, (long long)(size.vectors * p->lanes),
              site->outer->name, size.rows) &&
        !grow(&g, "regtile(%s:%d,%s:%lld)", site->outer->name, size.rows, site->inner->name,
              (long long)(size.vectors * p->lanes)))
        return;
    patterns_add(p, &g, arena_printf(p->arena, "nest-tile-%dx%d", size.rows, size.vectors),
                 arena_printf(p->arena, "tiles of %d rows by %d vectors in registers", size.rows,
                              size.vectors),
                 prior);
}

/* For more rows than the second cache holds. */
static const struct {
    int rows;
    struct tile_size wide, narrow;
} strips[] = {{256, {6, 4}, {6, 2}}, {256, {14, 2}, {4, 3}}, {128, {6, 4}, {6, 2}}};

static void add_tiles(struct patterns *p)
{
    struct site_search search = {.p = p};
    const bool is_wide = p->target->vector_bytes >= 64;
    const struct tile_size *sizes = is_wide ? wide : narrow;
    const size_t count = is_wide ? sizeof wide / sizeof *wide : sizeof narrow / sizeof *narrow;
    (void)nest_walk(p->nest->body, find_site, &search);
    for (size_t s = 0; s < search.count; s++) {
        const size_t before = p->count;
        for (size_t i = 0; i < count; i++)
            add_packed(p, &search.sites[s], sizes[i], 0, 3.0 - 0.02 * (double)i);
        for (size_t i = 0; p->count > before && i < sizeof strips / sizeof *strips; i++)
            add_packed(p, &search.sites[s], is_wide ? strips[i].wide : strips[i].narrow,
                       strips[i].rows, 2.69 - 0.01 * (double)i);
        const size_t most = p->count > before ? TILES_BESIDE_PACKED : count;
        for (size_t i = 0; i < most; i++)
            add_tile(p, &search.sites[s], sizes[i], 2.6 - 0.02 * (double)i);
    }
}

/* --- sums of products of narrow integers ---------------------------------------------------------
 */

/* The first loop of a body, through braces. */
static const struct nest_stmt *first_loop(const struct nest_stmt *s)
{
    while (s && s->kind != NEST_FOR)
        s = s->kind == NEST_BLOCK && !s->next ? s->body : s->next;
    return s;
}

/* Four to a lane where the machine has that, else two; sums as many as the registers hold beside a
 * group of each row. */
static void add_dots(struct patterns *p)
{
    static const struct tile_size wide_sums[] = {{6, 4}, {4, 5}, {8, 3}, {5, 5}};
    static const struct tile_size narrow_sums[] = {{6, 2}, {4, 2}, {4, 3}, {2, 4}};
    static const int groups[] = {4, 2};
    const bool is_wide = p->target->vector_bytes >= 64;
    const struct tile_size *sizes = is_wide ? wide_sums : narrow_sums;
    const long long lanes = p->target->vector_bytes / 4;
    struct site_search search = {.p = p};
    (void)nest_walk(p->nest->body, find_site, &search);
    for (size_t s = 0; s < search.count; s++) {
        const struct nest_stmt *inner = search.sites[s].inner;
        const struct nest_stmt *sum = first_loop(inner->body);
        for (size_t i = 0; sum && i < 2 * sizeof wide_sums / sizeof *wide_sums; i++) {
            const int group = groups[i % 2];
            const size_t which = i / 2;
            const struct tile_size size = sizes[which];
            struct growth g = patterns_begin(p);
            if (!grow(&g, "dot(%s:%d,%s:%lld,%s:%d)", search.sites[s].outer->name, size.rows,
                      inner->name, size.vectors * lanes, sum->name, group))
                continue;
            patterns_add(
                p, &g, arena_printf(p->arena, "nest-dot%d-%dx%d", group, size.rows, size.vectors),
                arena_printf(p->arena,
                             "%d products to a lane, tiles of %d rows by %d vectors of sums in "
                             "registers",
                             group, size.rows, size.vectors),
                (group == 4 ? 4.0 : 3.5) - 0.02 * (double)which);
            p->out[p->count - 1].is_exact = true;
        }
    }
}

/* --- stencils: tiles of neighbouring rounds that read much of the same ---------------------------
 */

/* Vectors that the first loop of vectors loads in a round: those of its tile, named or not. */
struct load_count {
    size_t loads;
    bool is_found;
};

static bool count_load(void *context, const struct nest_expr *expr, bool is_target)
{
    struct load_count *count = context;
    count->loads += !is_target && expr->kind == NEST_CALL && str_equal(expr->text, "vreal_at");
    return true;
}

static bool count_in_stmt(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return nest_walk_exprs(stmt, count_load, context);
}

static bool count_in_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct load_count *count = context;
    (void)depth;
    if (count->is_found || stmt->kind != NEST_FOR || !nest_is_innermost(stmt))
        return true;
    (void)nest_walk(stmt->body, count_in_stmt, count);
    count->is_found = count->loads > 0;
    return true;
}

static size_t loads_of(const struct growth *g)
{
    struct load_count count = {0};
    (void)nest_walk(g->now->body, count_in_loop, &count);
    return count.loads;
}

/* Do a few rounds of the outer loop load less than as many times what one does? Points of a grid
 * without its middle are read again two rounds later. */
static bool shares_loads(const struct patterns *p, const struct nest_stmt *outer,
                         const struct nest_stmt *inner)
{
    struct growth one = patterns_begin(p);
    struct growth few = patterns_begin(p);
    return grow(&one, "vectorize(%s:%lld)", inner->name, (long long)p->lanes) &&
           grow(&few, "regtile(%s:%d,%s:%lld)", outer->name, FEW_ROUNDS, inner->name,
                (long long)p->lanes) &&
           loads_of(&few) < FEW_ROUNDS * loads_of(&one);
}

/* Planes (1: no such loop), rows, vectors; the priors are those of vectors and a little more, since
 * it is tried for what it shares. */
static const struct {
    int planes;
    struct tile_size size;
    double prior;
} stencil_tiles[] = {{4, {2, 2}, 1.23}, {2, {4, 2}, 1.22},  {1, {4, 2}, 1.215},
                     {1, {8, 2}, 1.21}, {2, {2, 2}, 1.205}, {1, {4, 4}, 1.203}};

struct stencil_site {
    const struct nest_stmt *planes; /* NULL: none that hangs directly around the rows */
    const struct nest_stmt *rows, *inner;
};

struct stencil_search {
    const struct patterns *p;
    struct stencil_site sites[4];
    size_t count;
};

/* The innermost loop with the one or two around it, if its rounds share what they read. */
static bool find_stencil(void *context, struct nest_stmt *stmt, int depth)
{
    struct stencil_search *search = context;
    const struct patterns *p = search->p;
    const struct nest_edit edit = {.arena = p->arena, .target = *p->target};
    const struct nest_stmt *inner = stmt->kind == NEST_FOR ? only_loop(stmt) : NULL;
    const char *refusal = NULL;
    (void)depth;
    if (!inner || nest_list_has(inner->body, NEST_FOR) ||
        search->count == sizeof search->sites / sizeof *search->sites ||
        !vector_fits(&edit, inner, &refusal) || !shares_loads(p, stmt, inner))
        return true;
    const struct nest_stmt *around = nest_parent(p->nest, stmt);
    while (around && around->kind == NEST_BLOCK)
        around = nest_parent(p->nest, around);
    const bool hangs = around && around->kind == NEST_FOR && only_loop(around) == stmt;
    search->sites[search->count++] = (struct stencil_site){hangs ? around : NULL, stmt, inner};
    return true;
}

static bool tile_stencil(struct growth *g, const struct stencil_site *site, int planes,
                         struct tile_size size, int64_t lanes)
{
    const char *tile = arena_printf(g->arena, "%s:%d,%s:%lld", site->rows->name, size.rows,
                                    site->inner->name, (long long)(size.vectors * lanes));
    if (planes == 1)
        return grow(g, "regtile(%s)", tile);
    return site->planes && grow(g, "regtile(%s:%d,%s)", site->planes->name, planes, tile);
}

/* All stencils of the nest alike: those of a grid that goes to and fro are two. */
static void add_stencils(struct patterns *p)
{
    struct stencil_search search = {.p = p};
    (void)nest_walk(p->nest->body, find_stencil, &search);
    for (size_t i = 0; i < sizeof stencil_tiles / sizeof *stencil_tiles; i++) {
        const int planes = stencil_tiles[i].planes;
        const struct tile_size size = stencil_tiles[i].size;
        struct growth g = patterns_begin(p);
        for (size_t s = 0; s < search.count; s++)
            (void)tile_stencil(&g, &search.sites[s], planes, size, p->lanes);
        patterns_add(
            p, &g, arena_printf(p->arena, "nest-stencil-%dx%dx%d", planes, size.rows, size.vectors),
            arena_printf(p->arena,
                         "what neighbouring results read in common is loaded once: %d planes by %d "
                         "rows by %d vectors",
                         planes, size.rows, size.vectors),
            stencil_tiles[i].prior);
    }
}

/* --- sweeps: the next one right behind
 * ------------------------------------------------------------
 */

/* Each loop with the one behind it: together, or a round or two later. */
static bool fuse_all(struct growth *g)
{
    const struct names loops = names_of_loops(g->now);
    bool any = false;
    for (size_t i = 0; i < loops.count; i++) {
        const struct nest_stmt *first = nest_find_loop(g->now, loops.items[i]);
        const struct nest_stmt *next = first ? first->next : NULL;
        if (!next || next->kind != NEST_FOR || !nest_list_has(first->body, NEST_FOR))
            continue;
        const char *second = next->name;
        for (int shift = 0; shift <= 2; shift++) {
            if (shift == 0 ? grow(g, "fuse(%s,%s)", first->name, second)
                           : grow(g, "fuse(%s,%s:%d)", first->name, second, shift)) {
                any = true;
                break;
            }
        }
    }
    return any;
}

static void add_sweeps(struct patterns *p)
{
    static const int vectors[] = {4, 2};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct growth g = patterns_begin(p);
        if (!fuse_all(&g))
            return;
        if (patterns_vectorize(&g, vectors[i] * p->lanes) > 0)
            patterns_add(
                p, &g, arena_printf(p->arena, "nest-fused-vectors-%d", vectors[i]),
                "what one sweep makes is read by the next one while it is near, in vectors",
                1.25 - 0.01 * (double)i);
    }
}

/* --- transpositions ----------------------------------------------------------------------------
 */

static bool find_pair(void *context, struct nest_stmt *stmt, int depth)
{
    static const int blocks[] = {256, 32, 64, 1024};
    struct patterns *p = context;
    const struct nest_stmt *inner = stmt->kind == NEST_FOR ? only_loop(stmt) : NULL;
    (void)depth;
    if (!inner || nest_list_has(inner->body, NEST_FOR))
        return true;
    struct growth plain = patterns_begin(p);
    if (!grow(&plain, "transpose(%s,%s)", stmt->name, inner->name))
        return true;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct growth g = patterns_begin(p);
        if (grow(&g, "strip(%s:%d)", inner->name, blocks[i]) &&
            grow(&g, "interchange(%s,%s_s)", stmt->name, inner->name) &&
            grow(&g, "transpose(%s,%s)", stmt->name, inner->name))
            patterns_add(p, &g, arena_printf(p->arena, "nest-transpose-%d", blocks[i]),
                         arena_printf(p->arena,
                                      "squares turned in registers, in blocks of %d columns",
                                      blocks[i]),
                         1.6 - 0.1 * (double)i);
        if (grow(&g, "stream(%s)", inner->name))
            patterns_add(p, &g, arena_printf(p->arena, "nest-transpose-%d-stream", blocks[i]),
                         arena_printf(p->arena,
                                      "squares turned in registers, in blocks of %d columns; "
                                      "results go past the caches",
                                      blocks[i]),
                         1.55 - 0.1 * (double)i);
    }
    patterns_add(p, &plain, "nest-transpose", "squares turned in registers", 1.2);
    return true;
}

size_t nest_patterns(const struct nest *nest, const struct nest_target *target, struct arena *arena,
                     struct nest_pattern *out)
{
    const struct task *task = nest->task;
    struct patterns p = {.nest = nest, .target = target, .arena = arena, .out = out};
    if (!task || nest->loop_count > NEST_MAX_GROWN_LOOPS || target->vector_bytes < 16)
        return 0;
    if (!dtype_is_float(task->dtype)) {
        add_dots(&p);
        return p.count;
    }
    p.lanes = target->vector_bytes / (int64_t)dtype_bytes(task->dtype);
    add_tiles(&p);
    add_stencils(&p);
    patterns_add_time(&p);
    add_sweeps(&p);
    (void)nest_walk(nest->body, find_pair, &p);
    add_vectors(&p);
    return p.count;
}
