/* Sums over several loops (convolutions): in the lanes is the loop around whose rounds read most in
 * common, the channels of the result. What they read apart is packed so that they are neighbours;
 * what they have in common is one element for all lanes, so that borders, which differ along the
 * other loops, cost them nothing. */
#include "moves/nest/seed_internal.h"

#include "base/str.h"

/* Loops of the band by name: rows of tiles (the loop that declares the sum) and lanes. */
struct band {
    const char *rows, *lanes;
    const char *packed; /* what the lanes read apart, and the rows in common */
};

static bool find_band(const struct nest *nest, struct band *out)
{
    struct contraction c;
    if (!seeds_first_sum(nest, &c) || c.sum == c.inner)
        return false;
    const struct nest_stmt *sharer = contraction_sharer(nest, &c);
    const struct nest_symbol *packed = sharer ? contraction_shared_array(&c, sharer) : NULL;
    if (!packed || packed->kind != NEST_ARRAY || !packed->is_parameter || packed->is_written)
        return false;
    *out = (struct band){.rows = c.outer->name, .lanes = sharer->name, .packed = packed->name};
    return true;
}

/* The strips of the lanes as far out as they may go: what is packed for one serves all inside. */
static void bring_out(struct growth *g, const char *strips)
{
    const struct nest_stmt *around = nest_parent(g->now, nest_find_loop(g->now, strips));
    while (around && around->kind == NEST_FOR &&
           grow(g, "interchange(%s,%s)", around->name, strips))
        around = nest_parent(g->now, nest_find_loop(g->now, strips));
}

/* The lanes directly in the rows. */
static bool bring_in(struct growth *g, const struct band *band)
{
    const struct nest_stmt *rows = nest_find_loop(g->now, band->rows);
    while (nest_only_loop(rows) != nest_find_loop(g->now, band->lanes)) {
        const struct nest_stmt *next = nest_only_loop(nest_find_loop(g->now, band->lanes));
        if (!next || !grow(g, "interchange(%s,%s)", band->lanes, next->name))
            return false;
        rows = nest_find_loop(g->now, band->rows);
    }
    return true;
}

/* The borders beside the rows in vectors too. */
static void vectorize_beside(struct growth *g, const struct nest_stmt *rows, long long rounds)
{
    struct names beside = {0};
    const struct nest_stmt *parent = nest_parent(g->now, rows);
    const struct nest_stmt *first = parent ? parent->body : g->now->body;
    for (const struct nest_stmt *s = first; s; s = s->next) {
        const struct nest_stmt *lanes = s->kind == NEST_FOR && s != rows ? nest_only_loop(s) : NULL;
        if (lanes && beside.count < sizeof beside.items / sizeof *beside.items)
            beside.items[beside.count++] = lanes->name;
    }
    for (size_t i = 0; i < beside.count; i++)
        (void)grow(g, "vectorize(%s:%lld)", beside.items[i], rounds);
}

static bool grow_across(struct growth *g, const struct band *band, int rows, int vectors)
{
    const long long rounds = vectors * g->lanes;
    const char *strips = arena_printf(g->arena, "%s_s", band->lanes);
    const struct names borders = {.items = {band->rows}, .count = 1};
    if (!grow(g, "strip(%s:%lld)", band->lanes, rounds))
        return false;
    bring_out(g, strips);
    if (!grow(g, "pack(%s:%s)", band->packed, strips) || !bring_in(g, band))
        return false;
    peel_borders(g, &borders);
    vectorize_beside(g, nest_find_loop(g->now, band->rows), rounds);
    return grow(g, "regtile(%s:%d,%s:%lld)", band->rows, rows, band->lanes, rounds);
}

void seeds_add_across(struct seeds *seeds)
{
    /* As many accumulators as registers hold beside a row of the packed array. */
    static const int wide[][2] = {{6, 4}, {14, 2}, {8, 3}, {4, 4}};
    static const int narrow[][2] = {{6, 2}, {4, 3}, {4, 2}, {12, 1}};
    const bool is_wide = seeds->start.target.vector_bytes >= 64;
    struct band band;
    if (seeds->start.lanes == 0 || !find_band(seeds->start.now, &band))
        return;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        const int *size = is_wide ? wide[i] : narrow[i];
        struct growth g = seeds->start;
        if (!grow_across(&g, &band, size[0], size[1]))
            return;
        seeds_add(seeds, &g, arena_printf(g.arena, "across-%dx%d", size[0], size[1]),
                  arena_printf(g.arena,
                               "vectors along the loop that shares what the sums read, its own "
                               "packed; tiles of %d rows by %d vectors in registers",
                               size[0], size[1]),
                  3.2 - 0.02 * (double)i);
    }
}
