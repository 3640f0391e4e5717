/* Loops cut into tiles, the rest of each behind it. */
#include "moves/nest/vector_tile.h"

#include "base/str.h"
#include "moves/nest/depend.h"

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

/* Rounds that fill no vector are done by one that ends with the last round and does some rounds
 * again, where there are enough; `rest` is then only for short loops. The loop of that one vector,
 * with `rest` in the other branch. */
static struct nest_stmt *overlap(struct nest_edit *edit, struct nest_stmt *rest,
                                 const struct nest_expr *begin, int64_t lanes)
{
    struct nest_stmt **link = nest_link(edit->nest, rest);
    struct nest_stmt *behind = rest->next;
    const struct nest_expr *end = rest->bound;
    const struct nest_expr *width = nest_number(edit, lanes);
    struct nest_stmt *branch = nest_new_stmt(edit, NEST_IF, rest->line);
    rest->next = NULL;
    branch->value = nest_binary(edit, "&&", nest_binary(edit, "<", rest->from, end),
                                nest_binary(edit, ">=", nest_index(edit, "-", end, begin), width));
    branch->otherwise = rest;
    branch->body = nest_copy_list(edit, rest);
    branch->body->from = nest_index(edit, "-", end, width);
    branch->next = behind;
    *link = branch;
    return branch->body;
}

/* Tiles of the loops from `at` on; those before are cut already. */
static bool cut(struct nest_edit *edit, struct vector_tiles tiles, size_t at, int64_t lanes,
                const char **refusal)
{
    struct nest_stmt *rest = NULL;
    struct vector_tile *tile = &tiles.items[at];
    if (at == tiles.count)
        return is_plain(&tiles) || vector_expand(edit, &tiles, refusal);
    if (tile->factor > 1 && !nest_split_rest(edit, tile->loop, tile->factor, &rest, refusal))
        return false;
    tile->step = tile->loop->step;
    tile->loop->step *= tile->factor;
    if (rest) {
        struct vector_tiles other = tiles;
        struct nest_stmt *loops[VECTOR_MAX_TILES];
        if (!chain_of(rest, tiles.count - at, loops))
            return nest_refuse(edit, refusal, "the loops do not hang directly in each other");
        for (size_t i = at; i < tiles.count; i++)
            other.items[i].loop = loops[i - at];
        other.items[at].factor = 1;
        if (at == tiles.vector && tile->factor > lanes)
            other.items[at].factor = lanes;
        else if (at == tiles.vector) {
            if (str_equal(rest->op, "<") && may_repeat(edit, rest)) {
                struct vector_tiles last = tiles;
                if (!chain_of(overlap(edit, rest, tiles.begin, lanes), tiles.count - at, loops))
                    return nest_refuse(edit, refusal, "the loops do not hang in each other");
                for (size_t i = at; i < tiles.count; i++)
                    last.items[i].loop = loops[i - at];
                last.items[at].step = last.items[at].loop->step;
                last.items[at].loop->step *= lanes;
                if (!cut(edit, last, at + 1, lanes, refusal))
                    return false;
            }
            other.vector = VECTOR_NONE;
        }
        if (!cut(edit, other, at, lanes, refusal))
            return false;
    }
    return cut(edit, tiles, at + 1, lanes, refusal);
}

bool vector_cut(struct nest_edit *edit, const struct vector_tiles *tiles, const char **refusal)
{
    const int64_t lanes = vector_lanes(edit, refusal);
    struct vector_tiles all = *tiles;
    all.begin = tiles->items[tiles->vector].loop->from;
    return lanes > 0 && cut(edit, all, 0, lanes, refusal);
}
