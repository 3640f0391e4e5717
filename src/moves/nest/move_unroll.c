/* unroll(k:4): the body four times in a round, and the rest of the rounds behind it. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

enum { MOST_STATEMENTS = 400 };

static bool count(void *context, struct nest_stmt *stmt, int depth)
{
    size_t *counted = context;
    (void)stmt;
    (void)depth;
    return ++*counted <= MOST_STATEMENTS;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    int64_t factor = 0;
    size_t size = 0;
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    struct nest_stmt *loop = nest_step_loop(edit, step, 0, refusal);
    if (!loop || !nest_step_number(edit, step, 0, 2, &factor, refusal))
        return false;
    if (nest_list_has(loop->body, NEST_OPAQUE))
        return nest_refuse(edit, refusal, "loop '%s' holds a statement that is not understood",
                           loop->name);
    (void)nest_walk(loop->body, count, &size);
    if ((int64_t)size * factor > MOST_STATEMENTS)
        return nest_refuse(edit, refusal, "the body would have more than %d statements",
                           MOST_STATEMENTS);
    if (!nest_split_rest(edit, loop, factor, NULL, refusal))
        return false;
    struct nest_stmt *more = NULL;
    for (int64_t i = 1; i < factor; i++) {
        struct nest_stmt *copy = nest_copy_list(edit, loop->body);
        nest_replace_in(edit, copy, loop->symbol,
                        nest_index(edit, "+", nest_name(edit, loop->symbol),
                                   nest_number(edit, i * loop->step)));
        more = nest_append(more, copy);
    }
    loop->step *= factor;
    loop->body = nest_append(loop->body, more);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    (void)target;
    return nest_suggest_innermost(nest, "unroll(%s:4)", arena, out, capacity);
}

const struct nest_move nest_move_unroll = {
    .name = "unroll",
    .group = "structure",
    .intent = "does several rounds of a loop in one",
    .parameters = "unroll(LOOP:FACTOR); FACTOR 2 to 64",
    .precondition = "the loop counts upward and holds nothing that is not understood",
    .effect = "fewer branches; independent rounds overlap",
    .breaks = "larger code; too many live values spill",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};
