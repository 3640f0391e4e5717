/* Which moves apply to a nest as it is, and why the others do not. */
#include "moves/nest_move.h"

enum { MOST_OF_A_MOVE = 6 };

void nest_explain_moves(const struct nest *nest, const struct nest_target *target,
                        struct arena *arena,
                        void (*say)(void *context, const char *step, const char *refusal),
                        void *context)
{
    size_t count = 0;
    struct nest *plain = NULL;
    const char *refusal = NULL;
    const struct nest_move *const *moves = nest_moves(&count);
    if (!nest_apply(nest, "", target, arena, &plain, &refusal))
        return;
    for (size_t i = 0; i < count; i++) {
        const char *steps[MOST_OF_A_MOVE];
        const size_t found =
            moves[i]->suggest ? moves[i]->suggest(plain, target, arena, steps, MOST_OF_A_MOVE) : 0;
        for (size_t s = 0; s < found; s++) {
            struct nest *changed = NULL;
            CLEANUP(arena_free) struct arena work = {0};
            const bool applies = nest_apply(nest, steps[s], target, &work, &changed, &refusal);
            say(context, steps[s], applies ? NULL : arena_strdup(arena, refusal));
        }
    }
}
