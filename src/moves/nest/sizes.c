/* Sequences with other numbers. */
#include "moves/nest/sizes.h"

#include "moves/nest_move.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

/* Which numbers a change is about. */
enum part {
    TILE_WIDTH,  /* of the register tile's loop in lanes, and the strip that was cut for it */
    TILE_HEIGHT, /* of its other loops */
    STRIP,       /* of loops that no register tile is as wide as */
    VECTORS,     /* rounds at once of a loop in vectors */
    BLOCK,       /* of tiles for a cache, strips of time steps among them */
    STEPS,       /* of time, that a strip goes through */
    ROUNDS,      /* unrolled or jammed */
    DISTANCE     /* of prefetches, in rounds */
};

struct row {
    struct nest_size_change change;
    enum part part;
    size_t site; /* the first register tile of a sequence, or the second */
    bool is_larger;
};

static const struct row rows[] = {
    {{"taller-tile", "keeps more rows of results in registers"}, TILE_HEIGHT, 0, true},
    {{"wider-tile", "keeps a vector more of each row of results in registers"},
     TILE_WIDTH,
     0,
     true},
    {{"shorter-tile", "keeps fewer rows of results in registers"}, TILE_HEIGHT, 0, false},
    {{"narrower-tile", "keeps a vector less of each row of results in registers"},
     TILE_WIDTH,
     0,
     false},
    {{"longer-strips", "does strips of twice as many rounds"}, STRIP, 0, true},
    {{"shorter-strips", "does strips of half as many rounds"}, STRIP, 0, false},
    {{"more-vectors", "does twice as many vectors at once"}, VECTORS, 0, true},
    {{"fewer-vectors", "does half as many vectors at once"}, VECTORS, 0, false},
    {{"taller-second-tile", "keeps more rows of the second sum's results in registers"},
     TILE_HEIGHT,
     1,
     true},
    {{"wider-second-tile", "keeps a vector more of each row of the second sum's results"},
     TILE_WIDTH,
     1,
     true},
    {{"shorter-second-tile", "keeps fewer rows of the second sum's results in registers"},
     TILE_HEIGHT,
     1,
     false},
    {{"narrower-second-tile", "keeps a vector less of each row of the second sum's results"},
     TILE_WIDTH,
     1,
     false},
    {{"larger-blocks", "works on blocks of twice the size"}, BLOCK, 0, true},
    {{"smaller-blocks", "works on blocks of half the size"}, BLOCK, 0, false},
    {{"more-steps", "takes a strip through twice as many time steps"}, STEPS, 0, true},
    {{"fewer-steps", "takes a strip through half as many time steps"}, STEPS, 0, false},
    {{"more-rounds", "unrolls or jams twice as many rounds"}, ROUNDS, 0, true},
    {{"fewer-rounds", "unrolls or jams half as many rounds"}, ROUNDS, 0, false},
    {{"farther-prefetch", "asks for data twice as many rounds ahead"}, DISTANCE, 0, true},
    {{"nearer-prefetch", "asks for data half as many rounds ahead"}, DISTANCE, 0, false},
};

const struct nest_size_change *nest_size_change(size_t number)
{
    return number < sizeof rows / sizeof *rows ? &rows[number].change : NULL;
}

/* --- the next size -----------------------------------------------------------------------------
 */

/* Rows of a register tile: between these there is little to gain. */
static const int64_t heights[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28};

static int64_t next_height(int64_t now, bool is_larger)
{
    const size_t count = sizeof heights / sizeof *heights;
    for (size_t i = 0; i < count; i++) {
        const int64_t height = heights[is_larger ? i : count - 1 - i];
        if (is_larger ? height > now : height < now)
            return height;
    }
    return 0;
}

/* The next number; 0 where there is none. */
static int64_t next_size(const struct row *row, int64_t now, int64_t lanes)
{
    const int64_t least = row->part == VECTORS ? lanes : row->part == DISTANCE ? 1 : 2;
    if (row->part == TILE_HEIGHT)
        return next_height(now, row->is_larger);
    if (row->part == TILE_WIDTH)
        return row->is_larger ? now + lanes : now - lanes;
    if (row->is_larger)
        return now <= NEST_MAX_FACTOR / 2 ? 2 * now : 0;
    return now % 2 == 0 && now / 2 >= least ? now / 2 : 0;
}

/* --- a sequence as steps -----------------------------------------------------------------------
 */

struct sequence {
    struct nest_step steps[NEST_MAX_STEPS];
    size_t count;
    int64_t lanes, sums, registers;
};

static bool parse(const char *text, struct arena *arena, struct sequence *out, const char **refusal)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, ";");
        if (out->count == NEST_MAX_STEPS) {
            *refusal = "too many steps";
            return false;
        }
        if (!nest_step_parse(arena_strndup(arena, text, length), arena, &out->steps[out->count++],
                             refusal))
            return false;
        text += length + (text[length] == ';');
    }
    return true;
}

static const char *print(const struct sequence *s, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < s->count; i++) {
        const struct nest_step *step = &s->steps[i];
        (void)buf_printf(&text, "%s%s(", i == 0 ? "" : ";", step->name);
        for (size_t a = 0; a < step->arg_count; a++)
            (void)buf_printf(&text, "%s%s%s%s", a == 0 ? "" : ",", step->args[a].name,
                             step->args[a].value ? ":" : "",
                             step->args[a].value ? step->args[a].value : "");
        (void)buf_append_str(&text, ")");
    }
    return arena_strdup(arena, buf_text(&text));
}

static bool is_dot(const struct nest_step *step)
{
    return str_equal(step->name, "dot") && step->arg_count == 3;
}

/* The loop of a register tile that is in the lanes: the longest of whole vectors, the innermost of
 * those. NULL: the step is no register tile. */
static const struct nest_step_arg *lanes_of(const struct sequence *s, const struct nest_step *step)
{
    const struct nest_step_arg *best = NULL;
    if (is_dot(step))
        return &step->args[1];
    if (!str_equal(step->name, "regtile"))
        return NULL;
    for (size_t a = 0; a < step->arg_count; a++) {
        const struct nest_step_arg *arg = &step->args[a];
        if (arg->value && arg->number % s->lanes == 0 && (!best || arg->number >= best->number))
            best = arg;
    }
    return best;
}

/* Of a vector of the register tile's results. */
static int64_t lanes_in(const struct sequence *s, const struct nest_step *tile)
{
    return is_dot(tile) ? s->sums : s->lanes;
}

/* The strip was cut for a register tile: of the same loop and size. */
static bool is_for_a_tile(const struct sequence *s, const struct nest_step_arg *strip)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct nest_step_arg *lanes = lanes_of(s, &s->steps[i]);
        if (lanes && str_equal(lanes->name, strip->name) && lanes->number == strip->number)
            return true;
    }
    return false;
}

static bool is_one_of(const char *name, const char *a, const char *b)
{
    return str_equal(name, a) || str_equal(name, b);
}

/* Has the argument a number that the change is about? `tile` is the register tile of its site, and
 * `lanes` its loop in the lanes; NULL: there is none. */
static bool is_meant(const struct sequence *s, const struct row *row, const struct nest_step *step,
                     size_t arg, const struct nest_step *tile, const struct nest_step_arg *lanes)
{
    const struct nest_step_arg *this = &step->args[arg];
    if (!this->value || this->number == 0)
        return false;
    switch (row->part) {
    case TILE_HEIGHT:
        return tile && step == tile && this != lanes && (!is_dot(step) || arg == 0);
    case TILE_WIDTH:
        return lanes && (this == lanes ||
                         (str_equal(step->name, "strip") && str_equal(this->name, lanes->name) &&
                          this->number == lanes->number));
    case STRIP:
        return str_equal(step->name, "strip") && !is_for_a_tile(s, this);
    case VECTORS:
        return str_equal(step->name, "vectorize");
    case BLOCK:
        return str_equal(step->name, "tile") || (str_equal(step->name, "skew") && arg > 0);
    case STEPS:
        return str_equal(step->name, "skew") && arg == 0;
    case ROUNDS:
        return is_one_of(step->name, "unroll", "jam");
    case DISTANCE:
        return str_equal(step->name, "prefetch");
    }
    return false;
}

/* Has the tile more results than registers hold, beside a row of what is read? `tile` is where it
 * stands. */
static bool is_too_large(const struct sequence *s, size_t tile)
{
    const struct nest_step_arg *lanes = lanes_of(s, &s->steps[tile]);
    int64_t vectors = lanes ? lanes->number / lanes_in(s, &s->steps[tile]) : 0;
    int64_t results = vectors;
    if (is_dot(&s->steps[tile])) { /* beside a row or a column of what is read */
        const int64_t height = s->steps[tile].args[0].number;
        return results * height + (height < vectors ? height : vectors) + 1 > s->registers;
    }
    for (size_t a = 0; a < s->steps[tile].arg_count && results <= s->registers; a++) {
        if (&s->steps[tile].args[a] != lanes)
            results *= s->steps[tile].args[a].number;
    }
    return results + vectors > s->registers;
}

/* Changes every number that is meant. */
static bool change(struct sequence *s, const struct row *row, struct arena *arena,
                   const char **refusal)
{
    const struct nest_step *tile = NULL;
    size_t tiles = 0;
    size_t changed = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (lanes_of(s, &s->steps[i]) && tiles++ == row->site)
            tile = &s->steps[i];
    }
    const struct nest_step_arg *lanes = tile ? lanes_of(s, tile) : NULL;
    const int64_t wide = lanes ? lanes_in(s, tile) : s->lanes;
    struct sequence result = *s;
    for (size_t i = 0; i < s->count; i++) {
        for (size_t a = 0; a < s->steps[i].arg_count; a++) {
            if (!is_meant(s, row, &s->steps[i], a, tile, lanes))
                continue;
            const int64_t next = next_size(row, s->steps[i].args[a].number, wide);
            if (next <= 0 || next > NEST_MAX_FACTOR) {
                *refusal = arena_printf(arena, "the size in %s has no next one", s->steps[i].text);
                return false;
            }
            result.steps[i].args[a].number = next;
            result.steps[i].args[a].value = arena_printf(arena, "%lld", (long long)next);
            changed++;
        }
    }
    if (tile && row->is_larger && (row->part == TILE_HEIGHT || row->part == TILE_WIDTH) &&
        is_too_large(&result, (size_t)(tile - s->steps))) {
        *refusal = arena_printf(arena, "the results of a larger tile do not fit %lld registers",
                                (long long)s->registers);
        return false;
    }
    *s = result;
    if (changed == 0)
        *refusal = "no step has such a size";
    return changed > 0;
}

bool nest_resize(const char *steps, const char *name, const struct nest_vectors *vectors,
                 struct arena *arena, const char **out, const char **refusal)
{
    struct sequence *s = arena_alloc(arena, sizeof *s);
    s->lanes = vectors->lanes;
    s->sums = vectors->sums;
    s->registers = vectors->registers;
    if (vectors->lanes < 2 || vectors->sums < 2) {
        *refusal = "the target has no vectors that are known";
        return false;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!str_equal(rows[i].change.name, name))
            continue;
        if (!parse(steps, arena, s, refusal) || !change(s, &rows[i], arena, refusal))
            return false;
        *out = print(s, arena);
        return true;
    }
    *refusal = arena_printf(arena, "there is no change of sizes '%s'", name);
    return false;
}
