/* Sums with borders as sums without: a padded copy, and tiles of results in registers. */
#include "moves/nest/move.h"
#include "moves/nest/seed_internal.h"

enum { MOST_STEPS = 8, VECTORS = 4 };

/* The innermost loop around the lanes that something the sum reads depends on, and the lanes do
 * not: its rounds share all else. It comes directly around the lanes; NULL: there is none. */
static const char *bring_rows(struct growth *g, const struct contraction *c)
{
    const struct nest_stmt *parent = nest_parent(g->now, c->outer);
    for (const struct nest_stmt *rows = parent; rows && rows->kind == NEST_FOR;
         rows = nest_parent(g->now, rows)) {
        const char *name = rows->name;
        if (contraction_shared_array(c, rows))
            return rows == parent || grow(g, "interchange(%s,%s)", name, parent->name) ? name
                                                                                       : NULL;
    }
    return NULL;
}

/* Tiles of rows that share what they read; false where the nest takes none. */
static bool add_tiles(struct seeds *seeds, const struct growth *padded, const struct contraction *c)
{
    static const int sizes[][2] = {{8, 2}, {4, 4}, {6, 4}, {4, 2}};
    struct growth turned = *padded;
    const char *lanes = c->outer->name;
    const char *rows = bring_rows(&turned, c);
    const size_t before = seeds->count;
    for (size_t i = 0; rows && i < sizeof sizes / sizeof *sizes; i++) {
        struct growth g = turned;
        const long long rounds = sizes[i][1] * g.lanes;
        if (!grow(&g, "regtile(%s:%d,%s:%lld)", rows, sizes[i][0], lanes, rounds))
            continue;
        seeds_add(seeds, &g, arena_printf(g.arena, "pad-tile-%dx%d", sizes[i][0], sizes[i][1]),
                  arena_printf(g.arena,
                               "a copy with a border of zeros takes no conditions; tiles of %d "
                               "rows by %d vectors in registers",
                               sizes[i][0], sizes[i][1]),
                  i == 0 ? 3.3 : 3.19 - 0.02 * (double)i);
    }
    return seeds->count > before;
}

void seeds_add_padded(struct seeds *seeds)
{
    const struct growth *start = &seeds->start;
    struct growth vectors = {0};
    const char *steps[MOST_STEPS];
    const size_t count = start->lanes == 0 ? 0
                                           : nest_move_pad.suggest(start->now, &start->target,
                                                                   start->arena, steps, MOST_STEPS);
    for (size_t i = 0; i < count; i++) {
        struct growth padded = *start;
        const long long rounds = VECTORS * start->lanes;
        struct contraction c;
        if (!grow(&padded, "%s", steps[i]) || !seeds_first_sum(padded.now, &c))
            continue;
        if (add_tiles(seeds, &padded, &c))
            return;
        if (!vectors.steps && grow(&padded, "vectorize(%s:%lld)", c.outer->name, rounds))
            vectors = padded;
    }
    seeds_add(seeds, &vectors, "pad-vectors-4",
              "a copy with a border of zeros takes no conditions; in vectors", 1.3);
}
