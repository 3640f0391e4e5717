/* Loops cut into tiles, the rest of each behind it. */
#include "moves/nest/vector_tile.h"
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
        else if (at == tiles.vector)
            other.vector = VECTOR_NONE;
        if (!cut(edit, other, at, lanes, refusal))
            return false;
    }
    return cut(edit, tiles, at + 1, lanes, refusal);
}

bool vector_cut(struct nest_edit *edit, const struct vector_tiles *tiles, const char **refusal)
{
    const int64_t lanes = vector_lanes(edit, refusal);
    return lanes > 0 && cut(edit, *tiles, 0, lanes, refusal);
}
