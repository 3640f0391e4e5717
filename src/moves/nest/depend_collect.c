/* The statements of a part of a nest with what they read and write. */
#include "moves/nest/depend_internal.h"

#include "base/buf.h"
#include "base/str.h"
#include "moves/nest/reader.h"

#include <string.h>

/* Where the walk is: the loops and conditions around, and the order so far. */
struct place {
    const struct nest_stmt *loops[NEST_MAX_DEPTH];
    size_t depth;
    struct order order;
    const struct nest_expr *conditions[NEST_MAX_DEPTH];
    bool is_negated[NEST_MAX_DEPTH];
    size_t condition_count;
};

static bool fail(struct depend *d, const char *why)
{
    if (!d->why)
        d->why = why;
    return false;
}

/* --- objects -----------------------------------------------------------------------------------
 */

struct depth_search {
    const struct nest_symbol *symbol;
    bool found;
    size_t depth;
};

static void find_depth(const struct nest_stmt *first, size_t count, size_t depth,
                       struct depth_search *search)
{
    for (const struct nest_stmt *s = first; s && count > 0 && !search->found;
         s = s->next, count--) {
        if (s->kind == NEST_DECLARE && s->symbol == search->symbol) {
            search->found = true;
            search->depth = depth;
        }
        find_depth(s->body, SIZE_MAX, depth + (s->kind == NEST_FOR), search);
        find_depth(s->otherwise, SIZE_MAX, depth, search);
    }
}

static struct access *add_access(struct depend *d, size_t leaf, const struct nest_symbol *object,
                                 bool is_write)
{
    struct depth_search search = {.symbol = object};
    if (d->access_count == DEPEND_MAX_ACCESSES) {
        (void)fail(d, "the loops hold more accesses than are looked at");
        return NULL;
    }
    find_depth(d->first, d->count, 0, &search);
    struct access *access = &d->accesses[d->access_count++];
    *access = (struct access){
        .leaf = leaf, .object = object, .is_write = is_write, .private_depth = search.depth};
    return access;
}

/* Every subscript but the first stays within its dimension in every run of the leaf: else the
 * dimensions of a flat array mean nothing. */
static bool stays_within(struct depend *d, const struct access *access,
                         const struct nest_symbol *array)
{
    const struct leaf *leaf = &d->leaves[access->leaf];
    const struct task_arg *arg =
        d->nest->task && array->argument >= 0 ? &d->nest->task->args[array->argument] : NULL;
    if (!arg)
        return true; /* dimensions of the language: beyond them is no C */
    for (size_t i = 1; i < access->rank; i++) {
        const char *subscript = access->subscripts[AS_SOURCE][i];
        int64_t number = 0;
        const char *size = NULL;
        for (size_t s = 0; s < d->nest->symbol_count && !size; s++) {
            const struct nest_symbol *symbol = d->nest->symbols[s];
            const struct nest_expr name = {.kind = NEST_NAME, .symbol = symbol};
            if (symbol->is_parameter && str_equal(symbol->task_name, arg->shape_text[i]))
                size = depend_affine(d, &name, AS_SOURCE);
        }
        if (!size && str_parse_int64(arg->shape_text[i], &number))
            size = arg->shape_text[i];
        if (!subscript || !size ||
            !depend_is_empty(d, leaf, arena_printf(d->arena, "%s < 0", subscript)) ||
            !depend_is_empty(d, leaf, arena_printf(d->arena, "%s >= %s", subscript, size)))
            return false;
    }
    return true;
}

/* By the place from where the array begins, as for a loop over all of a matrix: exact among
 * accesses that are all so; beside others, which have another rank, it may be anywhere. */
static void take_flat(struct depend *d, struct access *access, const struct nest_expr *expr)
{
    struct poly flat;
    const struct nest_symbol *array = NULL;
    const char *why = NULL;
    access->rank = 0;
    access->is_exact = false;
    if (access->object->rank > 0 || !nest_flatten(expr, &flat, &array, &why))
        return;
    for (int as = AS_SOURCE; as <= AS_TARGET; as++)
        access->subscripts[as][0] = depend_affine_poly(d, &flat, as);
    access->is_exact = access->subscripts[AS_SOURCE][0] && access->subscripts[AS_TARGET][0];
    access->rank = access->is_exact ? 1 : 0;
}

static bool add_element(struct depend *d, size_t leaf, const struct nest_expr *expr, bool is_write)
{
    struct poly subscripts[NEST_MAX_DIMENSIONS];
    size_t rank = 0;
    const struct nest_symbol *array = nest_base_of(expr->symbol);
    const char *why = NULL;
    struct access *access = add_access(d, leaf, array, is_write);
    struct nest_expr *inlined = arena_memdup(d->arena, expr, sizeof *expr);
    if (!access)
        return false;
    for (size_t i = 0; i < expr->arg_count; i++)
        inlined->args[i] = depend_inline(d, expr->args[i]);
    if (!nest_delinearize(d->nest, inlined, subscripts, &rank, &array, &why)) {
        take_flat(d, access, inlined);
        return true;
    }
    access->rank = rank;
    access->is_exact = true;
    for (size_t i = 0; i < rank; i++) {
        for (int as = AS_SOURCE; as <= AS_TARGET; as++)
            access->subscripts[as][i] = depend_affine_poly(d, &subscripts[i], as);
        access->is_exact = access->is_exact && access->subscripts[AS_SOURCE][i];
    }
    if (rank > 1 && !stays_within(d, access, array))
        take_flat(d, access, inlined);
    return true;
}

static bool is_helper(const struct nest *nest, const char *name)
{
    for (size_t i = 0; i < nest->symbol_count; i++) {
        if (nest->symbols[i]->kind == NEST_FUNCTION && str_equal(nest->symbols[i]->name, name))
            return true;
    }
    return false;
}

static bool add_reads(struct depend *d, size_t leaf, const struct nest_expr *expr)
{
    if (!expr)
        return true;
    if (expr->kind == NEST_CALL && is_helper(d->nest, expr->text))
        return fail(d, arena_printf(d->arena, "'%s' is called, and what it does is not looked at",
                                    expr->text));
    if (expr->kind == NEST_ACCESS && !add_element(d, leaf, expr, false))
        return false;
    if (expr->kind == NEST_NAME) {
        const enum nest_symbol_kind kind = expr->symbol->kind;
        if (kind == NEST_ARRAY || kind == NEST_POINTER) {
            /* handed to a function: it may do anything with it */
            if (!add_access(d, leaf, nest_base_of(expr->symbol), true))
                return false;
        } else if (kind == NEST_SCALAR &&
                   (depend_is_assigned(d, expr->symbol) || !expr->symbol->is_parameter)) {
            struct access *access = add_access(d, leaf, expr->symbol, false);
            if (!access)
                return false;
            access->is_exact = true;
        }
    }
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (!add_reads(d, leaf, expr->args[i]))
            return false;
    }
    return true;
}

/* --- leaves ------------------------------------------------------------------------------------
 */

static void set_domain(struct depend *d, struct leaf *leaf, const struct place *place)
{
    leaf->is_exact = true;
    for (int as = AS_SOURCE; as <= AS_TARGET; as++) {
        CLEANUP(buf_free) struct buf text = {0};
        for (size_t i = 0; i < place->depth; i++)
            leaf->is_exact = depend_bounds(d, place->loops[i], as, &text) && leaf->is_exact;
        for (size_t i = 0; i < place->condition_count; i++)
            leaf->is_exact =
                depend_condition(d, place->conditions[i], place->is_negated[i], as, &text) &&
                leaf->is_exact;
        leaf->domain[as] = arena_strdup(d->arena, buf_text(&text));
    }
}

static bool add_leaf(struct depend *d, const struct nest_stmt *stmt, const struct place *place,
                     size_t *out)
{
    if (d->leaf_count == DEPEND_MAX_LEAVES)
        return fail(d, "the loops hold more statements than are looked at");
    struct leaf *leaf = &d->leaves[d->leaf_count];
    *leaf = (struct leaf){.stmt = stmt, .depth = place->depth, .order = place->order};
    memcpy(leaf->loops, place->loops, sizeof leaf->loops);
    set_domain(d, leaf, place);
    *out = d->leaf_count++;
    return true;
}

/* The places that an accumulating statement reads only to accumulate. */
static void mark_accumulator(struct depend *d, size_t leaf, size_t first)
{
    struct leaf *l = &d->leaves[leaf];
    l->kind = l->stmt->kind == NEST_ASSIGN || l->stmt->kind == NEST_IF ? nest_reduction_of(l->stmt)
                                                                       : REDUCTION_NONE;
    if (l->kind == REDUCTION_NONE)
        return;
    const struct nest_expr *target =
        l->stmt->kind == NEST_IF ? l->stmt->body->target : l->stmt->target;
    l->reduction = nest_base_of(target->symbol);
    for (size_t i = first; i < d->access_count; i++)
        d->accesses[i].is_accumulator = d->accesses[i].object == l->reduction;
}

static bool add_assignment(struct depend *d, const struct nest_stmt *stmt, size_t leaf)
{
    const struct nest_expr *target = stmt->target;
    const bool reads_too = !str_equal(stmt->op, "=");
    if (!add_reads(d, leaf, stmt->value))
        return false;
    if (target->kind == NEST_NAME) {
        struct access *access = add_access(d, leaf, target->symbol, true);
        if (!access)
            return false;
        access->is_exact = true;
        return !reads_too || add_reads(d, leaf, target);
    }
    for (size_t i = 0; i < target->arg_count; i++) {
        if (!add_reads(d, leaf, target->args[i]))
            return false;
    }
    if (target->kind == NEST_CALL) /* a vector: its array was handed to a function above */
        return true;
    return add_element(d, leaf, target, true) &&
           (!reads_too || add_element(d, leaf, target, false));
}

static bool collect(struct depend *d, const struct nest_stmt *first, size_t count,
                    struct place *place);

static struct order_term at_place(int64_t place)
{
    return (struct order_term){.place = place};
}

/* The newest leaf goes where it has no access since `first`: bounds of counters and sizes. */
static void drop_silent(struct depend *d, size_t first)
{
    if (d->access_count == first)
        d->leaf_count--;
}

static bool collect_loop(struct depend *d, const struct nest_stmt *loop, struct place *place)
{
    size_t leaf = 0;
    const size_t first = d->access_count;
    if (!add_leaf(d, loop, place, &leaf) || !add_reads(d, leaf, loop->from) ||
        !add_reads(d, leaf, loop->bound))
        return false;
    drop_silent(d, first);
    if (place->depth == NEST_MAX_DEPTH || place->order.count + 3 >= ORDER_MAX_TERMS)
        return fail(d, "the loops are too deep");
    const struct place before = *place;
    place->loops[place->depth++] = loop;
    place->order.terms[place->order.count++] = at_place(1); /* behind what its bounds read */
    place->order.terms[place->order.count++] =
        (struct order_term){.loop = loop, .factor = loop->step > 0 ? 1 : -1};
    const bool ok = collect(d, loop->body, SIZE_MAX, place);
    *place = before;
    return ok;
}

/* `if (e > s) s = e;` is one statement that accumulates. */
static bool collect_if(struct depend *d, const struct nest_stmt *stmt, struct place *place)
{
    size_t leaf = 0;
    const size_t first = d->access_count;
    if (!add_leaf(d, stmt, place, &leaf) || !add_reads(d, leaf, stmt->value))
        return false;
    if (nest_reduction_of(stmt) != REDUCTION_NONE) {
        if (!add_assignment(d, stmt->body, leaf))
            return false;
        d->leaves[leaf].is_exact = false;
        mark_accumulator(d, leaf, first);
        return true;
    }
    drop_silent(d, first);
    if (place->condition_count == NEST_MAX_DEPTH)
        return fail(d, "the conditions are too deep");
    const size_t at = place->condition_count++;
    const struct order before = place->order;
    place->conditions[at] = stmt->value;
    place->is_negated[at] = false;
    order_insert(&place->order, place->order.count, at_place(1));
    bool ok = collect(d, stmt->body, SIZE_MAX, place);
    place->order = before;
    order_insert(&place->order, place->order.count, at_place(2));
    place->is_negated[at] = true;
    ok = ok && collect(d, stmt->otherwise, SIZE_MAX, place);
    place->order = before;
    place->condition_count--;
    return ok;
}

static bool collect_one(struct depend *d, const struct nest_stmt *stmt, struct place *place)
{
    size_t leaf = 0;
    const size_t first = d->access_count;
    switch (stmt->kind) {
    case NEST_FOR:
        return collect_loop(d, stmt, place);
    case NEST_IF:
        return collect_if(d, stmt, place);
    case NEST_BLOCK:
        return collect(d, stmt->body, SIZE_MAX, place);
    case NEST_OPAQUE:
        return fail(
            d, arena_printf(d->arena, "line %d is not understood (%s)", stmt->line, stmt->reason));
    case NEST_ASSIGN:
        if (!add_leaf(d, stmt, place, &leaf) || !add_assignment(d, stmt, leaf))
            return false;
        mark_accumulator(d, leaf, first);
        return true;
    case NEST_DECLARE:
        if (stmt->symbol->kind == NEST_POINTER)
            return true;
        if (!add_leaf(d, stmt, place, &leaf))
            return false;
        if (stmt->symbol->kind == NEST_SCALAR) {
            struct access *access = add_access(d, leaf, stmt->symbol, true);
            if (!access)
                return false;
            access->is_exact = true;
        }
        return add_reads(d, leaf, stmt->value);
    }
    return true;
}

static bool collect(struct depend *d, const struct nest_stmt *first, size_t count,
                    struct place *place)
{
    int64_t number = 0;
    if (place->order.count + 2 >= ORDER_MAX_TERMS)
        return fail(d, "the statements are too deep");
    const size_t at = place->order.count++;
    for (const struct nest_stmt *s = first; s && count > 0; s = s->next, count--) {
        place->order.terms[at] = at_place(number++);
        if (!collect_one(d, s, place))
            return false;
    }
    place->order.count = at;
    return true;
}

/* --- the whole ---------------------------------------------------------------------------------
 */

static bool note_assigned(void *context, struct nest_stmt *stmt, int depth)
{
    struct depend *d = context;
    (void)depth;
    if (stmt->kind != NEST_ASSIGN || depend_is_assigned(d, stmt->target->symbol))
        return true;
    if (d->assigned_count == sizeof d->assigned / sizeof *d->assigned)
        return fail(d, "more names are assigned than are looked at");
    d->assigned[d->assigned_count++] = stmt->target->symbol;
    return true;
}

static bool note_inner(void *context, struct nest_stmt *stmt, int depth)
{
    struct depend *d = context;
    (void)depth;
    if (stmt->kind != NEST_FOR)
        return true;
    if (d->inner_count == sizeof d->inner / sizeof *d->inner)
        return fail(d, "there are more loops than are looked at");
    d->inner[d->inner_count++] = stmt;
    return true;
}

/* What holds of the sizes and of the counters around. */
static void set_context(struct depend *d, struct nest_stmt *const *around, size_t count)
{
    CLEANUP(buf_free) struct buf text = {0};
    const struct task *task = d->nest->task;
    for (size_t i = 0; task && i < task->axis_count; i++) {
        for (size_t s = 0; s < d->nest->symbol_count; s++) {
            const struct nest_symbol *symbol = d->nest->symbols[s];
            const struct nest_expr name = {.kind = NEST_NAME, .symbol = symbol};
            const char *value =
                symbol->is_parameter && str_equal(symbol->task_name, task->axes[i].name)
                    ? depend_affine(d, &name, AS_SOURCE)
                    : NULL;
            if (value)
                (void)buf_printf(&text, " and %s >= %lld and %s <= %lld", value,
                                 (long long)task->axes[i].minimum, value,
                                 (long long)task->axes[i].maximum);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct nest_expr counter = {.kind = NEST_NAME, .symbol = around[i]->symbol};
        const char *name = depend_affine(d, &counter, AS_SOURCE);
        if (name)
            (void)depend_range(d, around[i], name, AS_SOURCE, &text);
    }
    d->context = arena_strdup(d->arena, buf_text(&text));
}

bool depend_collect(struct depend *d, bool is_bounds_only)
{
    struct place place = {0};
    struct nest_stmt *around[NEST_MAX_DEPTH];
    const size_t outer = nest_loops_around(d->nest, d->first, around);
    const struct nest_stmt *s = d->first;
    (void)nest_walk(d->nest->body, note_assigned, d);
    for (size_t i = 0; i < d->count && s; i++, s = s->next) {
        if (s->kind == NEST_FOR && d->inner_count < sizeof d->inner / sizeof *d->inner)
            d->inner[d->inner_count++] = s;
        (void)nest_walk(s->body, note_inner, d);
        (void)nest_walk(s->otherwise, note_inner, d);
    }
    if (d->why)
        return false;
    set_context(d, around, outer);
    return is_bounds_only || collect(d, d->first, d->count, &place);
}
