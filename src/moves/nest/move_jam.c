/* jam(i:4): four rounds of i at once, statement by statement, in the loops inside (unroll and jam):
 * what the rounds share is loaded once, and their sums are independent. */
#include "moves/nest/depend.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

enum { MOST_COPIES = 64, MOST_STATEMENTS = 800 };

struct jam {
    struct nest_edit *edit;
    struct nest_stmt *loop;
    int64_t factor;
    const struct nest_stmt *through[NEST_MAX_DEPTH * 8]; /* loops that all rounds share */
    size_t through_count;
    bool is_too_deep;
};

static bool is_shared(const struct jam *jam, const struct nest_stmt *loop)
{
    for (size_t i = 0; i < jam->through_count; i++) {
        if (jam->through[i] == loop)
            return true;
    }
    return false;
}

/* Loops with the same bounds in every round are shared; what is below another one is not. */
static void find_shared(struct jam *jam, struct nest_stmt *first)
{
    const struct nest_symbol *counter = jam->loop->symbol;
    for (struct nest_stmt *s = first; s; s = s->next) {
        if (s->kind != NEST_FOR || nest_expr_uses(s->from, counter) ||
            nest_expr_uses(s->bound, counter) || nest_list_declares_any(jam->loop->body, s->from) ||
            nest_list_declares_any(jam->loop->body, s->bound) ||
            !nest_has_fixed_bounds(jam->edit->nest, s))
            continue;
        if (jam->through_count == sizeof jam->through / sizeof *jam->through) {
            jam->is_too_deep = true;
            return;
        }
        jam->through[jam->through_count++] = s;
        find_shared(jam, s->body);
    }
}

/* [block of i, ..., place of what is copied, i, the rest] */
static void reorder(void *context, const struct nest_stmt *stmt, struct order *order)
{
    const struct jam *jam = context;
    const size_t at = order_find(order, jam->loop);
    (void)stmt;
    if (at == order->count)
        return;
    size_t last = at;
    for (size_t i = at + 1; i < order->count; i++) {
        const struct nest_stmt *loop = order->terms[i].loop;
        if (loop && !is_shared(jam, loop))
            break;
        if (loop)
            last = i;
    }
    const struct order_term round = order->terms[at];
    order->terms[at].divide = jam->factor;
    order_insert(order, last + 2 <= order->count ? last + 2 : order->count, round);
}

/* The copies of a list side by side. */
static struct nest_stmt *merge(const struct jam *jam, struct nest_stmt **copies)
{
    struct nest_stmt *list = NULL;
    while (copies[0]) {
        struct nest_stmt *heads[MOST_COPIES];
        for (int64_t k = 0; k < jam->factor; k++) {
            heads[k] = copies[k];
            copies[k] = copies[k]->next;
            heads[k]->next = NULL;
        }
        list = nest_append(list, heads[0]);
        if (is_shared(jam, heads[0])) {
            struct nest_stmt *bodies[MOST_COPIES];
            for (int64_t k = 0; k < jam->factor; k++) {
                bodies[k] = heads[k]->body;
                if (k > 0)
                    nest_replace_in(jam->edit, bodies[k], heads[k]->symbol,
                                    nest_name(jam->edit, heads[0]->symbol));
            }
            heads[0]->body = merge(jam, bodies);
            continue;
        }
        for (int64_t k = 1; k < jam->factor; k++)
            list = nest_append(list, heads[k]);
    }
    return list;
}

static bool count(void *context, struct nest_stmt *stmt, int depth)
{
    size_t *counted = context;
    (void)stmt;
    (void)depth;
    return ++*counted <= MOST_STATEMENTS;
}

static bool make_copies(struct jam *jam)
{
    struct nest_edit *edit = jam->edit;
    struct nest_stmt *copies[MOST_COPIES] = {jam->loop->body};
    for (int64_t k = 1; k < jam->factor; k++) {
        copies[k] = nest_copy_list(edit, jam->loop->body);
        nest_replace_in(edit, copies[k], jam->loop->symbol,
                        nest_index(edit, "+", nest_name(edit, jam->loop->symbol),
                                   nest_number(edit, k * jam->loop->step)));
    }
    jam->loop->step *= jam->factor;
    jam->loop->body = merge(jam, copies);
    return true;
}

static bool check(struct jam *jam, const char **refusal)
{
    CLEANUP(depend_close) struct depend *depend = NULL;
    struct depend_answer answer;
    size_t size = 0;
    struct nest_edit *edit = jam->edit;
    (void)nest_walk(jam->loop->body, count, &size);
    if (jam->is_too_deep || (int64_t)size * jam->factor > MOST_STATEMENTS)
        return nest_refuse(edit, refusal, "the body would have more than %d statements",
                           MOST_STATEMENTS);
    if (!depend_open(edit, jam->loop, 1, &depend, refusal))
        return false;
    if (!depend_allows(depend, reorder, jam, &(struct depend_opts){.relax_reductions = true},
                       &answer))
        return nest_refuse(edit, refusal, "%s", answer.why);
    return depend_may_relax(edit, &answer, refusal);
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct jam jam = {.edit = edit};
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    jam.loop = nest_step_loop(edit, step, 0, refusal);
    if (!jam.loop || !nest_step_number(edit, step, 0, 2, &jam.factor, refusal) ||
        !nest_counts_upward(edit, jam.loop, refusal))
        return false;
    if (jam.factor > MOST_COPIES)
        return nest_refuse(edit, refusal, "more than %d rounds at once", MOST_COPIES);
    if (nest_is_innermost(jam.loop))
        return nest_refuse(edit, refusal, "loop '%s' holds no other: unroll it", jam.loop->name);
    if (!nest_has_fixed_bounds(edit->nest, jam.loop))
        return nest_refuse(edit, refusal, "a bound of loop '%s' is computed in the nest",
                           jam.loop->name);
    find_shared(&jam, jam.loop->body);
    if (jam.through_count == 0)
        return nest_refuse(edit, refusal, "the bounds of every loop in '%s' depend on its counter",
                           jam.loop->name);
    return check(&jam, refusal) && nest_split_rest(edit, jam.loop, jam.factor, NULL, refusal) &&
           make_copies(&jam);
}

static bool add_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && !nest_is_innermost(stmt) && list->count + 1 < list->capacity) {
        nest_suggest(list, "jam(%s:4)", stmt->name);
        nest_suggest(list, "jam(%s:2)", stmt->name);
    }
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_loop, arena, out, capacity);
}

const struct nest_move nest_move_jam = {
    .name = "jam",
    .group = "structure",
    .intent = "does several rounds of an outer loop at once in the loops inside, so that they "
              "share what they load",
    .parameters = "jam(LOOP:ROUNDS); ROUNDS 2 to 64, such that the sums fit the registers",
    .precondition = "the loops inside have the same bounds in every round, and no dependence runs "
                    "from one round to what stands earlier in a later one",
    .effect = "fewer loads for each operation, independent sums",
    .breaks = "larger code; too many sums spill",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};
