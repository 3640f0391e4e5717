/* regtile(j:32,i:8): tiles of 8 by 32 results in vector variables, the tiles of j outermost. */
#include "moves/nest/move.h"
#include "moves/nest/vector_tile.h"

#include "base/str.h"

/* The named loops as they hang in each other, outermost first. */
static bool find_chain(const struct nest_edit *edit, struct nest_stmt *const *named, size_t count,
                       struct nest_stmt **chain, const char **refusal)
{
    struct nest_stmt *outermost = NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_inside = false;
        for (size_t j = 0; j < count; j++)
            is_inside = is_inside || nest_only_loop(named[j]) == named[i];
        if (!is_inside && outermost)
            return nest_refuse(edit, refusal,
                               "loop '%s' and loop '%s' do not hang directly in "
                               "each other",
                               outermost->name, named[i]->name);
        if (!is_inside)
            outermost = named[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (!outermost)
            return nest_refuse(edit, refusal, "a loop is named twice");
        chain[i] = outermost;
        outermost = nest_only_loop(outermost);
    }
    return true;
}

/* Gives the chain the order in which the step names the loops. */
static bool reorder(struct nest_edit *edit, struct nest_stmt *const *named, size_t count,
                    struct nest_stmt *const *chain, const char **refusal)
{
    struct nest_stmt **link = nest_link(edit->nest, chain[0]);
    struct nest_stmt *behind = chain[0]->next;
    struct nest_stmt *body = chain[count - 1]->body;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (nest_expr_uses(chain[j]->bound, chain[i]->symbol) ||
                nest_expr_uses(chain[j]->from, chain[i]->symbol))
                return nest_refuse(edit, refusal, "the bounds of loop '%s' depend on loop '%s'",
                                   chain[j]->name, chain[i]->name);
        }
    }
    for (size_t i = 0; i < count; i++) {
        named[i]->next = i == 0 ? behind : NULL;
        named[i]->body = i + 1 < count ? named[i + 1] : body;
    }
    *link = named[0];
    return true;
}

static bool find_vector(const struct nest_edit *edit, struct vector_tiles *tiles, int64_t lanes,
                        const char **refusal)
{
    for (size_t i = tiles->count; i-- > 0;) {
        tiles->vector = i;
        if (tiles->items[i].factor % lanes == 0 && vector_fits(edit, tiles->items[i].loop, refusal))
            return true;
    }
    return nest_refuse(edit, refusal,
                       "no loop of the tile touches neighbours with a multiple of %lld rounds",
                       (long long)lanes);
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct vector_tiles tiles = {.count = step->arg_count};
    struct nest_stmt *named[VECTOR_MAX_TILES];
    struct nest_stmt *chain[VECTOR_MAX_TILES];
    if (!nest_step_count(edit, step, 2, VECTOR_MAX_TILES, refusal))
        return false;
    for (size_t i = 0; i < tiles.count; i++) {
        named[i] = nest_step_loop(edit, step, i, refusal);
        if (!named[i] || !nest_step_number(edit, step, i, 1, &tiles.items[i].factor, refusal))
            return false;
        tiles.items[i].loop = named[i];
    }
    const int64_t lanes = vector_lanes(edit, refusal);
    if (lanes == 0 || !find_chain(edit, named, tiles.count, chain, refusal) ||
        !find_vector(edit, &tiles, lanes, refusal))
        return false;
    for (size_t i = 0; i < tiles.count; i++) {
        if (!vector_independent(edit, named[i], refusal))
            return false;
    }
    return reorder(edit, named, tiles.count, chain, refusal) && vector_cut(edit, &tiles, refusal);
}

const struct nest_move nest_move_regtile = {
    .name = "regtile",
    .group = "machine",
    .intent = "keeps a tile of results in vector registers through the loops inside",
    .parameters = "regtile(LOOP:ROUNDS, ...); two to four loops, outermost first as they shall be; "
                  "one with a multiple of a vector's lanes; the product in vectors at most the "
                  "registers",
    .precondition = "the loops hang directly in each other, their rounds are independent",
    .effect = "each load serves a row or a column of the tile: tens of times on products",
    .breaks = "with more than the registers can hold values spill; other orders of sums",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};
