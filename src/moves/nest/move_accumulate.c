/* accumulate(sum): what is summed in a variable and then stored is summed where it is stored. */
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/str.h"

/* The declaration of the variable with the list that it is in. */
static struct nest_stmt *find_in(struct nest_stmt *first, const struct nest_symbol *symbol)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        if (s->kind == NEST_DECLARE && s->symbol == symbol)
            return s;
        struct nest_stmt *found = find_in(s->body, symbol);
        if (!found)
            found = find_in(s->otherwise, symbol);
        if (found)
            return found;
    }
    return NULL;
}

struct alias_search {
    const struct nest_symbol *array;
    bool found;
};

static bool names_array(void *context, const struct nest_expr *expr, bool is_target)
{
    struct alias_search *search = context;
    (void)is_target;
    if (expr->symbol && nest_base_of(expr->symbol) == search->array)
        search->found = true;
    return !search->found;
}

static bool walks_array(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return nest_walk_exprs(stmt, names_array, context);
}

/* Is the array (through any name) touched in the statements from `first` up to `end`? */
static bool touches(struct nest_stmt *first, const struct nest_stmt *end,
                    const struct nest_symbol *array)
{
    struct alias_search search = {.array = array};
    for (struct nest_stmt *s = first; s != end && !search.found; s = s->next) {
        struct nest_stmt alone = *s;
        alone.next = NULL;
        (void)nest_walk(&alone, walks_array, &search);
    }
    return search.found;
}

/* The statement behind the declaration that stores the variable and is the last to use it. */
static struct nest_stmt *find_store(struct nest_stmt *declared)
{
    const struct nest_symbol *symbol = declared->symbol;
    for (struct nest_stmt *s = declared->next; s; s = s->next) {
        if (s->kind == NEST_ASSIGN && str_equal(s->op, "=") && s->target->kind == NEST_ACCESS &&
            s->value->kind == NEST_NAME && s->value->symbol == symbol &&
            !nest_list_uses(s->next, symbol))
            return s;
    }
    return NULL;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    if (!nest_step_count(edit, step, 1, 1, refusal))
        return false;
    struct nest_symbol *symbol = nest_step_symbol(edit, step, 0, refusal);
    struct nest_stmt *declared = symbol ? find_in(edit->nest->body, symbol) : NULL;
    if (!symbol)
        return false;
    if (!declared || symbol->kind != NEST_SCALAR || !declared->value)
        return nest_refuse(edit, refusal, "'%s' is no local variable with a first value",
                           symbol->name);
    struct nest_stmt *store = find_store(declared);
    if (!store)
        return nest_refuse(edit, refusal, "'%s' is not stored as it is, as its last use",
                           symbol->name);
    const struct nest_symbol *array = store->target->symbol;
    if (!str_equal(nest_plain_type(edit, symbol->type), nest_plain_type(edit, array->type)))
        return nest_refuse(edit, refusal, "'%s' is %s and '%s' holds %s", symbol->name,
                           symbol->type, array->name, array->type);
    for (size_t i = 0; i < store->target->arg_count; i++) {
        const struct nest_stmt bound = {.from = store->target->args[i],
                                        .bound = store->target->args[i]};
        if (!nest_has_fixed_bounds(edit->nest, &bound))
            return nest_refuse(edit, refusal, "where '%s' is stored is computed in the nest",
                               symbol->name);
    }
    struct nest_stmt alone = *declared;
    alone.next = NULL;
    if (touches(&alone, NULL, nest_base_of(array)) ||
        touches(declared->next, store, nest_base_of(array)))
        return nest_refuse(edit, refusal, "'%s' is read or written before '%s' is stored to it",
                           array->name, symbol->name);
    if (nest_list_has(declared, NEST_OPAQUE))
        return nest_refuse(edit, refusal, "a statement behind '%s' is not understood",
                           symbol->name);
    const struct nest_expr *place = store->target;
    struct nest_stmt **end = nest_link(edit->nest, store);
    *end = store->next;
    nest_replace_in(edit, declared->next, symbol, place);
    *declared = (struct nest_stmt){.kind = NEST_ASSIGN,
                                   .line = declared->line,
                                   .next = declared->next,
                                   .target = place,
                                   .op = "=",
                                   .value = declared->value};
    return true;
}

static bool add_variable(void *context, struct nest_stmt *stmt, int depth)
{
    struct nest_suggestions *list = context;
    (void)depth;
    if (stmt->kind == NEST_DECLARE && stmt->symbol->kind == NEST_SCALAR && stmt->value &&
        find_store(stmt) && nest_list_assigns(stmt->next, stmt->symbol))
        nest_suggest(list, "accumulate(%s)", stmt->symbol->name);
    return true;
}

static size_t suggest(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity)
{
    return nest_suggest_each(nest, target, add_variable, arena, out, capacity);
}

const struct nest_move nest_move_accumulate = {
    .name = "accumulate",
    .group = "data",
    .intent = "sums where the result is stored, so that the loop of the sum can go outside",
    .parameters = "accumulate(VARIABLE)",
    .precondition = "the variable has a first value and is stored as its last use, to an array of "
                    "its type that is not touched before",
    .effect = "none by itself: distribute and interchange become legal",
    .breaks = "each addition goes through memory",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
    .suggest = suggest,
};
