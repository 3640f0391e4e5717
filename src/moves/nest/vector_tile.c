/* Loops cut into tiles, the rest of each behind it. */
#include "moves/nest/vector_tile.h"

#include "base/str.h"
#include "moves/nest/depend.h"

#include <stdlib.h>
#include <string.h>

bool vector_independent(const struct nest_edit *edit, const struct nest_stmt *loop,
                        const char **refusal)
{
    struct depend *depend = NULL;
    struct depend_answer answer = {0};
    if (!depend_open(edit, loop, 1, &depend, refusal))
        return false;
    bool ok =
        depend_is_parallel(depend, loop, &(struct depend_opts){.relax_reductions = true}, &answer);
    if (!ok)
        *refusal = answer.why;
    ok = ok && depend_may_relax(edit, &answer, refusal);
    depend_close(&depend);
    return ok;
}

/* The loops that hang in each other below `outermost`. */
static bool chain_of(struct nest_stmt *outermost, size_t count, struct nest_stmt **out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = outermost;
        outermost = outermost ? nest_only_loop(outermost) : NULL;
        if (!out[i])
            return false;
    }
    return true;
}

/* Nothing is put together: the loops stay as they are. */
static bool is_plain(const struct vector_tiles *tiles)
{
    for (size_t i = 0; i < tiles->count; i++) {
        if (tiles->items[i].factor > 1)
            return false;
    }
    return true;
}

/* --- what is left over -------------------------------------------------------------------------
 */

struct repetition {
    const struct nest_stmt *body;
    bool is_safe;
};

static bool list_reads(const struct nest_stmt *first, const struct nest_symbol *array)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        bool is_read = nest_expr_uses(s->value, array) || nest_expr_uses(s->from, array) ||
                       nest_expr_uses(s->bound, array);
        for (size_t i = 0; s->target && i < s->target->arg_count; i++)
            is_read = is_read || nest_expr_uses(s->target->args[i], array);
        if (is_read || list_reads(s->body, array) || list_reads(s->otherwise, array))
            return true;
    }
    return false;
}

/* A round done twice gives what it gave: elements are set, to what does not depend on them, and
 * variables are the round's own. */
static bool check_repetition(void *context, struct nest_stmt *s, int depth)
{
    struct repetition *r = context;
    (void)depth;
    if (s->kind == NEST_OPAQUE || (s->kind == NEST_DECLARE && s->symbol->kind != NEST_SCALAR))
        r->is_safe = false;
    if (s->kind != NEST_ASSIGN || !r->is_safe)
        return r->is_safe;
    if (s->target->kind == NEST_NAME)
        r->is_safe = nest_list_declares(r->body, s->target->symbol);
    else
        r->is_safe = s->target->kind == NEST_ACCESS && str_equal(s->op, "=") &&
                     s->target->symbol->kind == NEST_ARRAY &&
                     !list_reads(r->body, s->target->symbol);
    return r->is_safe;
}

static bool may_repeat(const struct nest_edit *edit, struct nest_stmt *loop)
{
    struct repetition r = {.body = loop->body, .is_safe = true};
    for (size_t i = 0; i < edit->nest->symbol_count; i++) {
        if (edit->nest->symbols[i]->kind == NEST_POINTER)
            return false;
    }
    (void)nest_walk(loop->body, check_repetition, &r);
    return r.is_safe;
}

/* Rounds that fill no whole tile are done by one that ends with the last round and does some rounds
 * again: "i_at = i + 8 <= m ? i : m - 8". Where there are fewer rounds than a tile has, a copy of
 * the loop does them: that copy, or NULL where it is known that there are enough. */
static struct nest_stmt *add_short(struct nest_edit *edit, struct nest_stmt *loop,
                                   const struct nest_expr *begin, int64_t width)
{
    struct nest_stmt **link = nest_link(edit->nest, loop);
    struct nest_stmt *behind = loop->next;
    const int64_t trips = nest_trip_count(edit, loop);
    if (trips >= 0 && nest_expr_same(loop->from, begin))
        return NULL;
    struct nest_stmt *branch = nest_new_stmt(edit, NEST_IF, loop->line);
    loop->next = NULL;
    branch->value = nest_binary(edit, ">=", nest_index(edit, "-", loop->bound, begin),
                                nest_number(edit, width));
    branch->otherwise = nest_copy_list(edit, loop);
    branch->body = loop;
    branch->next = behind;
    *link = branch;
    return branch->otherwise;
}

static void end_with_last(struct nest_edit *edit, struct nest_stmt *loop, int64_t width)
{
    const struct nest_expr *now = nest_name(edit, loop->symbol);
    const struct nest_expr *all = nest_number(edit, width);
    const struct nest_expr *fits =
        nest_binary(edit, "<=", nest_index(edit, "+", now, all), loop->bound);
    struct nest_stmt *declared = nest_new_variable(
        edit, arena_printf(edit->arena, "%s_at", loop->name),
        arena_printf(edit->arena, "const %s", nest_plain_type(edit, loop->symbol->type)),
        nest_conditional(edit, fits, now, nest_index(edit, "-", loop->bound, all)), loop->line);
    declared->symbol->is_integer = true;
    nest_replace_in(edit, loop->body, loop->symbol, nest_name(edit, declared->symbol));
    declared->next = loop->body;
    loop->body = declared;
}

/* Can its last tile do rounds again that others have done? Not of a loop whose rounds are spread
 * over threads, which would write the same element at once; nor of one that leaves rounds out, as
 * where the last tile would begin ("n - 3") is then no round; nor of the loop in the lanes as a
 * whole, whose tiles shall lie at multiples of a vector. */
static bool may_overlap(const struct nest_edit *edit, const struct vector_tiles *tiles, size_t at)
{
    const struct vector_tile *tile = &tiles->items[at];
    const char *refusal = NULL;
    const int64_t trips = nest_trip_count(edit, tile->loop);
    const bool is_rest = at == tiles->vector && !nest_expr_same(tile->loop->from, tiles->begin);
    return !tile->loop->pragma && tile->loop->step == 1 && (at != tiles->vector || is_rest) &&
           str_equal(tile->loop->op, "<") && nest_counts_upward(edit, tile->loop, &refusal) &&
           (trips < 0 || is_rest || (trips >= tile->factor && trips % tile->factor != 0)) &&
           may_repeat(edit, tile->loop);
}

static bool cut(struct nest_edit *edit, struct vector_tiles tiles, size_t at, int64_t lanes,
                const char **refusal);

/* Tiles from `at` on of the loops of which `rest` is the outermost: rounds that are left over. */
static bool cut_rest(struct nest_edit *edit, const struct vector_tiles *tiles, size_t at,
                     struct nest_stmt *rest, int64_t lanes, const char **refusal)
{
    struct vector_tiles other = *tiles;
    struct nest_stmt *loops[VECTOR_MAX_TILES];
    if (!chain_of(rest, tiles->count - at, loops))
        return nest_refuse(edit, refusal, "the loops do not hang directly in each other");
    for (size_t i = at; i < tiles->count; i++)
        other.items[i].loop = loops[i - at];
    other.items[at].factor = 1;
    if (at == tiles->vector && tiles->items[at].factor > lanes)
        other.items[at].factor = lanes;
    else if (at == tiles->vector)
        other.vector = VECTOR_NONE;
    return cut(edit, other, at, lanes, refusal);
}

static bool cut_overlapping(struct nest_edit *edit, struct vector_tiles tiles, size_t at,
                            int64_t lanes, const char **refusal)
{
    struct vector_tile *tile = &tiles.items[at];
    const int64_t width = tile->factor * tile->loop->step;
    const struct nest_expr *begin = at == tiles.vector ? tiles.begin : tile->loop->from;
    struct nest_stmt *few = add_short(edit, tile->loop, begin, width);
    tile->step = tile->loop->step;
    if (few && !cut_rest(edit, &tiles, at, few, lanes, refusal))
        return false;
    tile->loop->step = width;
    if (!cut(edit, tiles, at + 1, lanes, refusal))
        return false;
    end_with_last(edit, tile->loop, width);
    return true;
}

/* Tiles of the loops from `at` on; those before are cut already. */
static bool cut(struct nest_edit *edit, struct vector_tiles tiles, size_t at, int64_t lanes,
                const char **refusal)
{
    struct nest_stmt *rest = NULL;
    struct vector_tile *tile = &tiles.items[at];
    if (at == tiles.count)
        return is_plain(&tiles) || vector_expand(edit, &tiles, refusal);
    if (tile->factor > 1 && may_overlap(edit, &tiles, at))
        return cut_overlapping(edit, tiles, at, lanes, refusal);
    if (tile->factor > 1 && !nest_split_rest(edit, tile->loop, tile->factor, &rest, refusal))
        return false;
    tile->step = tile->loop->step;
    tile->loop->step *= tile->factor;
    return (!rest || cut_rest(edit, &tiles, at, rest, lanes, refusal)) &&
           cut(edit, tiles, at + 1, lanes, refusal);
}

/* How many loops OpenMP makes one of, this one and those in it; all where that is no number. */
static long collapsed(const struct nest_stmt *loop)
{
    const char *clause = loop->pragma ? strstr(loop->pragma, "collapse") : NULL;
    const char *number = clause ? strchr(clause, '(') : NULL;
    char *end = NULL;
    if (!number)
        return 1;
    const long count = strtol(number + 1, &end, 10);
    return end[strspn(end, " ")] == ')' ? count : NEST_MAX_DEPTH;
}

/* Loops that are one to OpenMP hang directly in each other, with nothing beside them: what is left
 * over of one has no place there; and the rounds of each are spread over threads. */
static bool check_collapse(const struct nest_edit *edit, const struct nest_stmt *loop,
                           const char **refusal)
{
    struct nest_stmt *around[NEST_MAX_DEPTH];
    const size_t depth = nest_loops_around(edit->nest, loop, around);
    bool is_alone = collapsed(loop) <= 1;
    for (size_t i = 0; i < depth; i++)
        is_alone = is_alone && collapsed(around[i]) <= (long)(depth - i);
    if (!is_alone)
        return nest_refuse(edit, refusal,
                           "loop '%s' is one with others by 'collapse' of an OpenMP pragma",
                           loop->name);
    return true;
}

bool vector_cut(struct nest_edit *edit, const struct vector_tiles *tiles, const char **refusal)
{
    const int64_t lanes = vector_lanes(edit, refusal);
    for (size_t i = 0; i < tiles->count; i++) {
        if (!check_collapse(edit, tiles->items[i].loop, refusal))
            return false;
    }
    struct vector_tiles all = *tiles;
    all.begin = tiles->items[tiles->vector].loop->from;
    return lanes > 0 && cut(edit, all, 0, lanes, refusal);
}
