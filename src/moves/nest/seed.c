/* Longer sequences, built on the nest at hand. */
#include "moves/nest/seed_internal.h"

#include "base/str.h"
#include "task/task.h"

#include <string.h>

void seeds_add(struct seeds *seeds, const struct growth *g, const char *name, const char *intent,
               double prior)
{
    if (!g->steps || seeds->count == NEST_MAX_SEEDS)
        return;
    for (size_t i = 0; i < seeds->count; i++) {
        if (str_equal(seeds->out[i].steps, g->steps))
            return;
    }
    seeds->out[seeds->count++] = (struct nest_seed){
        .name = name, .intent = intent, .steps = g->steps, .prior_log_ratio = prior};
}

/* --- sums against the order of memory: the loop around them goes inside --------------------------
 */

/* The rounds of a loop over at most eight fixed places; 0. */
static int few_trips(const struct nest_stmt *loop)
{
    int64_t from = 0;
    int64_t bound = 0;
    return nest_is_number(loop->from, &from) && nest_is_number(loop->bound, &bound) &&
                   loop->step == 1 && bound - from > 0 && bound - from <= 8
               ? (int)(bound - from)
               : 0;
}

/* Leaves the loop that sums alone in a loop over `outer`, whose variables are arrays of a strip:
 * the name of that loop, or NULL. */
static const char *free_sum(struct growth *g, const char *outer, int strip)
{
    size_t place = 0;
    if (!grow(g, "strip(%s:%d)", outer, strip))
        return NULL;
    const struct names variables = names_declared_in(g->now, outer);
    for (size_t i = 0; i < variables.count; i++)
        (void)grow(g, "expand(%s,%s)", variables.items[i], outer);
    const struct nest_stmt *loop = nest_find_loop(g->now, outer);
    const struct nest_stmt *s = loop->body;
    for (; s && s->kind != NEST_FOR; s = s->next)
        place++;
    if (!s || (place > 0 && !grow(g, "distribute(%s:%zu)", outer, place)))
        return NULL;
    loop = nest_find_loop(g->now, outer);
    const char *name = place > 0 ? loop->next->name : outer;
    if (nest_find_loop(g->now, name)->body->next && !grow(g, "distribute(%s:1)", name))
        return NULL;
    return name;
}

/* Brings the loop `outer` inside of the loops that sum. */
static bool turn(struct growth *g, const char *outer, int strip, int rounds)
{
    const struct growth before = *g;
    const char *name = free_sum(g, outer, strip);
    const char *innermost = NULL;
    const struct nest_stmt *in = name ? nest_only_loop(nest_find_loop(g->now, name)) : NULL;
    while (in && grow(g, "interchange(%s,%s)", name, in->name)) {
        innermost = in->name;
        in = nest_only_loop(nest_find_loop(g->now, name));
    }
    if (!innermost) {
        *g = before;
        return false;
    }
    const int trips = few_trips(nest_find_loop(g->now, innermost));
    if (rounds > 1 && trips != 1)
        (void)grow(g, "jam(%s:%d)", innermost, trips > 0 ? trips : rounds);
    return true;
}

/* Every loop that sums in a worse order than the loop around it would. Not the copies for borders
 * and for the rest of the rounds. */
static bool turn_all(struct growth *g, const struct nest *original, int strip, int rounds)
{
    const struct names loops = names_of_loops(original);
    bool any = false;
    for (size_t i = 0; i < loops.count; i++) {
        struct contraction c;
        if (find_contraction(nest_find_loop(g->now, loops.items[i]), &c) &&
            contraction_should_turn(&c))
            any = turn(g, loops.items[i], strip, rounds) || any;
    }
    return any;
}

bool seeds_first_sum(const struct nest *nest, struct contraction *out)
{
    const struct names loops = names_of_loops(nest);
    for (size_t i = 0; i < loops.count; i++) {
        if (find_contraction(nest_find_loop(nest, loops.items[i]), out) &&
            contraction_should_turn(out))
            return true;
    }
    return false;
}

static void add_turned(struct seeds *seeds)
{
    static const struct {
        const char *name, *intent;
        int jam, rounds;
        double prior;
    } rows[] = {
        {"turn-sums-4x4",
         "sums strips of neighbouring results in order in memory, for four outer rounds and four "
         "terms at once",
         4, 4, 2.0},
        {"turn-sums", "sums strips of neighbouring results at once, in order in memory", 1, 1, 1.2},
    };
    const struct names loops = names_of_loops(seeds->original);
    struct contraction c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct growth g = seeds->start;
        if (!seeds_first_sum(g.now, &c))
            return;
        const struct nest_stmt *sharer = contraction_sharer(g.now, &c);
        if (rows[i].jam > 1 && (!sharer || !grow(&g, "jam(%s:%d)", sharer->name, rows[i].jam)))
            continue;
        peel_borders(&g, &loops);
        if (turn_all(&g, seeds->original, 128, rows[i].rounds))
            seeds_add(seeds, &g, rows[i].name, rows[i].intent, rows[i].prior);
    }
}

/* --- sums with borders: the middle in register tiles --------------------------------------------
 */

/* Loops like `like` other than the one named: copies for the borders, eight rounds at once. */
static void jam_borders(struct growth *g, const struct nest_stmt *like, const char *but)
{
    const struct names loops = names_of_loops(g->now);
    for (size_t i = 0; i < loops.count; i++) {
        const struct nest_stmt *loop = nest_find_loop(g->now, loops.items[i]);
        if (loop && !str_equal(loop->name, but) && nest_expr_same(loop->from, like->from) &&
            nest_expr_same(loop->bound, like->bound))
            (void)grow(g, "jam(%s:8)", loop->name);
    }
}

/* The loops of a middle without borders: rows (the loop that shares most) around lanes. */
struct middle {
    const char *rows, *lanes;
};

/* Leaves the middle alone in its loops; the borders are done eight rounds at once. */
static bool free_middle(struct growth *g, const struct nest *original, struct middle *out)
{
    const struct names loops = names_of_loops(original);
    struct contraction c;
    if (!seeds_first_sum(g->now, &c) || count_conditions_in(g->now, c.outer->name) == 0)
        return false;
    const struct nest_stmt *sharer = contraction_sharer(g->now, &c);
    const struct nest_stmt *parent = nest_parent(g->now, c.outer);
    const char *lanes = c.outer->name;
    if (!sharer || !parent ||
        (parent != sharer && !grow(g, "interchange(%s,%s)", sharer->name, parent->name)))
        return false;
    const char *rows = sharer->name;
    const struct nest_stmt like = *sharer;
    peel_borders(g, &loops);
    if (count_conditions_in(g->now, lanes) > 0)
        return false;
    size_t place = 0;
    const struct nest_stmt *s = nest_find_loop(g->now, rows)->body;
    for (; s && !(s->kind == NEST_FOR && str_equal(s->name, lanes)); s = s->next)
        place++;
    if (!s || (place > 0 && !grow(g, "distribute(%s:%zu)", rows, place)))
        return false;
    const char *middle = place > 0 ? nest_find_loop(g->now, rows)->next->name : rows;
    if (nest_find_loop(g->now, middle)->body->next && !grow(g, "distribute(%s:1)", middle))
        return false;
    jam_borders(g, &like, middle);
    *out = (struct middle){.rows = middle, .lanes = lanes};
    return true;
}

static void add_bordered(struct seeds *seeds)
{
    static const int sizes[][2] = {{8, 2}, {4, 2}, {4, 4}};
    struct growth freed = seeds->start;
    struct middle middle;
    if (freed.lanes == 0 || !free_middle(&freed, seeds->original, &middle))
        return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct growth g = freed;
        if (!grow(&g, "regtile(%s:%d,%s:%lld)", middle.rows, sizes[i][0], middle.lanes,
                  (long long)(sizes[i][1] * g.lanes)))
            continue;
        seeds_add(seeds, &g, arena_printf(g.arena, "border-tile-%dx%d", sizes[i][0], sizes[i][1]),
                  arena_printf(g.arena,
                               "borders run apart; the middle in tiles of %d rows by %d vectors in "
                               "registers",
                               sizes[i][0], sizes[i][1]),
                  2.8 - 0.02 * (double)i);
    }
}

/* --- rows of several passes around sums: each pass on its own, for a strip of rows ---------------
 */

/* The outermost loop with at least two loops in its body, one of them around a sum; NULL. */
static const struct nest_stmt *find_rows(const struct nest *nest)
{
    const struct names loops = names_of_loops(nest);
    for (size_t i = 0; i < loops.count; i++) {
        const struct nest_stmt *loop = nest_find_loop(nest, loops.items[i]);
        size_t passes = 0;
        size_t sums = 0;
        for (const struct nest_stmt *s = loop->body; s; s = s->next) {
            passes += s->kind == NEST_FOR;
            sums += s->kind == NEST_FOR && nest_list_has(s->body, NEST_FOR);
        }
        if (passes >= 2)
            return sums > 0 ? loop : NULL;
    }
    return NULL;
}

/* In a pass around a sum, what stands behind the sum's result goes into a pass of its own. */
static void part_conditions(struct growth *g, const char *rows)
{
    const struct nest_stmt *pass = nest_find_loop(g->now, rows)->body;
    while (pass) {
        const char *name = pass->kind == NEST_FOR ? pass->name : NULL;
        size_t place = 0;
        const struct nest_stmt *s = name && nest_list_has(pass->body, NEST_FOR) ? pass->body : NULL;
        while (s && s->kind != NEST_IF) {
            s = s->next;
            place++;
        }
        pass = pass->next;
        if (!s || place == 0 || !grow(g, "distribute(%s:%zu)", name, place))
            continue;
        pass = nest_find_loop(g->now, name)->next->next; /* behind both */
    }
}

/* Each pass around a sum in a loop of rows of its own. `*parts` are the loops over rows. */
static void part_rows(struct growth *g, const char *rows, struct names *parts)
{
    const char *name = rows;
    for (;;) {
        size_t place = 0;
        const struct nest_stmt *loop = nest_find_loop(g->now, name);
        if (parts->count == sizeof parts->items / sizeof *parts->items)
            return;
        parts->items[parts->count++] = name;
        const struct nest_stmt *s = loop->body;
        const bool begins = s && s->kind == NEST_FOR && nest_list_has(s->body, NEST_FOR);
        for (; s && (place == 0 || !(s->kind == NEST_FOR && nest_list_has(s->body, NEST_FOR)));
             s = s->next) {
            place++;
            if (begins && place == 1) {
                s = s->next;
                break;
            }
        }
        if (!s || !grow(g, "distribute(%s:%zu)", name, place))
            return;
        name = nest_find_loop(g->now, name)->next->name;
    }
}

/* What the tiles of a pass read across memory is packed: for each strip of rows, or once in front
 * of all of them (`around`, else NULL). */
static bool pack_for(struct growth *g, const char *array, const char *lanes, const char *around)
{
    if (around ? !grow(g, "pack(%s:%s_s,%s)", array, lanes, around)
               : !grow(g, "pack(%s:%s_s)", array, lanes))
        return false;
    turn_copy(g, around ? around : arena_printf(g->arena, "%s_s", lanes), around != NULL);
    return true;
}

/* A sum by tiles; where its lanes jump in memory, from a packed copy. */
static bool tile_pass(struct growth *g, const char *rows, int height, int64_t width,
                      const char *around)
{
    const struct nest_stmt *inner = nest_only_loop(nest_find_loop(g->now, rows));
    const char *lanes = inner ? inner->name : NULL;
    if (!inner || !nest_list_has(inner->body, NEST_FOR))
        return false;
    if (grow(g, "regtile(%s:%d,%s:%lld)", rows, height, lanes, (long long)width))
        return true;
    for (size_t i = 0; i < g->now->symbol_count; i++) {
        const struct nest_symbol *array = g->now->symbols[i];
        struct growth packed = *g;
        if (array->kind != NEST_ARRAY || !array->is_parameter || array->is_written ||
            !nest_list_uses(inner->body, array))
            continue;
        if (grow(&packed, "strip(%s:%lld)", lanes, (long long)width) &&
            grow(&packed, "interchange(%s,%s_s)", rows, lanes) &&
            pack_for(&packed, array->name, lanes, around) &&
            grow(&packed, "regtile(%s:%d,%s:%lld)", rows, height, lanes, (long long)width)) {
            *g = packed;
            return true;
        }
    }
    return false;
}

/* Loops over neighbours in what is left: the element that they reduce to in a variable, in vectors.
 */
static void vectorize_passes(struct growth *g, const char *rows)
{
    struct names passes = {0};
    for (const struct nest_stmt *s = nest_find_loop(g->now, rows)->body; s; s = s->next) {
        if (s->kind == NEST_FOR && nest_is_innermost(s) && passes.count < 64)
            passes.items[passes.count++] = s->name;
    }
    for (size_t i = 0; i < passes.count; i++) {
        const struct names one = {.items = {passes.items[i]}, .count = 1};
        peel_borders(g, &one);
        for (size_t a = 0; a < g->now->symbol_count; a++) {
            if (g->now->symbols[a]->kind == NEST_ARRAY && !g->now->symbols[a]->is_parameter)
                (void)grow(g, "promote(%s,%s)", g->now->symbols[a]->name, passes.items[i]);
        }
        (void)grow(g, "vectorize(%s:%lld)", passes.items[i], (long long)(4 * g->lanes));
    }
}

/* Rows at once, rows and vectors of a tile, and whether what all strips read is packed only once.
 */
struct apart {
    int strip, height, vectors;
    bool packs_once;
};

/* False where the loop over rows cannot be cut, whatever the sizes are. */
static bool add_apart(struct seeds *seeds, const char *rows, const struct apart *size, double prior)
{
    struct growth g = seeds->start;
    struct names parts = {0};
    bool any = false;
    const char *around = size->packs_once ? arena_printf(g.arena, "%s_s", rows) : NULL;
    part_conditions(&g, rows);
    if (!grow(&g, "strip(%s:%d)", rows, size->strip))
        return false;
    const struct names variables = names_declared_in(g.now, rows);
    for (size_t v = 0; v < variables.count; v++)
        (void)grow(&g, "expand(%s,%s)", variables.items[v], rows);
    part_rows(&g, rows, &parts);
    for (size_t p = 0; p < parts.count; p++) {
        if (!tile_pass(&g, parts.items[p], size->height, size->vectors * g.lanes, around))
            vectorize_passes(&g, parts.items[p]);
        else
            any = true;
    }
    if (any)
        seeds_add(
            seeds, &g,
            arena_printf(g.arena, "rows-apart-%d%s", size->strip,
                         size->packs_once ? "-packed-once" : ""),
            arena_printf(g.arena,
                         "each pass over a strip of %d rows on its own: sums in tiles of "
                         "registers, the others in vectors%s",
                         size->strip,
                         size->packs_once ? "; what is read across memory is packed once" : ""),
            prior);
    return true;
}

static void add_passes(struct seeds *seeds)
{
    static const struct apart wide[] = {
        {48, 6, 4, true}, {96, 6, 4, true}, {48, 6, 4, false}, {32, 8, 2, true}, {64, 8, 2, false}};
    static const struct apart narrow[] = {
        {32, 8, 2, true}, {64, 8, 2, true}, {64, 8, 2, false}, {32, 8, 2, false}};
    const bool is_wide = seeds->start.target.vector_bytes >= 64;
    const struct apart *sizes = is_wide ? wide : narrow;
    const size_t count = is_wide ? sizeof wide / sizeof *wide : sizeof narrow / sizeof *narrow;
    const struct nest_stmt *found = find_rows(seeds->start.now);
    for (size_t i = 0; found && seeds->start.lanes > 0 && i < count; i++) {
        if (!add_apart(seeds, found->name, &sizes[i], 3.0 - 0.02 * (double)i))
            return;
    }
}

size_t nest_seeds(const struct nest *nest, const struct nest_target *target, struct arena *arena,
                  struct nest_seed out[NEST_MAX_SEEDS])
{
    struct seeds seeds = {.out = out};
    struct nest *original = NULL;
    const char *refusal = NULL;
    if (nest->opaque_count > 0 || nest->loop_count == 0 ||
        nest->loop_count > NEST_MAX_GROWN_LOOPS || !nest->task ||
        !nest_apply(nest, "", target, arena, &original, &refusal))
        return 0;
    seeds.original = original;
    seeds.start = (struct growth){.arena = arena, .now = original};
    if (target)
        seeds.start.target = *target;
    if (dtype_is_float(nest->task->dtype) && !dtype_is_half(nest->task->dtype))
        seeds.start.lanes =
            seeds.start.target.vector_bytes >= 16
                ? seeds.start.target.vector_bytes / (int64_t)dtype_bytes(nest->task->dtype)
                : 0;
    privatize_all(&seeds.start);
    add_passes(&seeds);
    seeds_add_padded(&seeds);
    seeds_add_across(&seeds);
    add_bordered(&seeds);
    if (seeds.count == 0) /* those come to the same by registers */
        add_turned(&seeds);
    return seeds.count;
}
