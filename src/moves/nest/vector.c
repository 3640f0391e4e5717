/* Several rounds of loops as one: statements for each instance, with variables of their own. */
#include "moves/nest/vector.h"
#include "moves/nest/vector_internal.h"

#include "base/str.h"

#include <string.h>

size_t lanes_copy(const struct lanes *l, unsigned mask, const struct instance *at)
{
    size_t copy = 0;
    for (size_t t = 0; t < l->tiles->count; t++) {
        if (mask >> t & 1)
            copy = copy * (size_t)l->copies[t] + (size_t)at->at[t];
    }
    return copy;
}

int64_t lanes_instances(const struct lanes *l, unsigned mask)
{
    int64_t count = 1;
    for (size_t t = 0; t < l->tiles->count; t++)
        count *= mask >> t & 1 ? l->copies[t] : 1;
    return count;
}

bool lanes_advance(const struct lanes *l, unsigned mask, struct instance *at)
{
    for (size_t t = l->tiles->count; t-- > 0;) {
        if (!(mask >> t & 1))
            continue;
        if (++at->at[t] < l->copies[t])
            return true;
        at->at[t] = 0;
    }
    return false;
}

void lanes_emit(struct lanes *l, struct nest_stmt *stmt)
{
    stmt->next = NULL;
    *l->tail = stmt;
    l->tail = &stmt->next;
}

/* "sum_0_1": a number for each loop of which there are several rounds. */
static const char *name_of(const struct lanes *l, const struct lane_variable *variable,
                           const struct instance *at)
{
    const char *name = variable->symbol->name;
    for (size_t t = 0; t < l->tiles->count; t++) {
        if ((variable->mask >> t & 1) && l->copies[t] > 1)
            name = arena_printf(l->edit->arena, "%s_%lld", name, (long long)at->at[t]);
    }
    return name;
}

static const char *type_of(const struct lanes *l, const struct lane_variable *variable,
                           bool is_constant)
{
    if (!(variable->mask & l->vector_bit))
        return variable->symbol->type;
    return is_constant ? "const vreal" : "vreal";
}

static bool emit_declare(struct lanes *l, const struct nest_stmt *s, unsigned fixed,
                         struct instance at)
{
    struct lane_variable *variable = lanes_find(l, s->symbol);
    const unsigned mask = variable->mask & ~fixed;
    do {
        const struct nest_expr *value = NULL;
        if (s->value) {
            value = variable->mask & l->vector_bit ? lanes_vector(l, s->value, &at)
                                                   : lanes_value(l, s->value, &at);
            if (!value)
                return false;
        }
        struct nest_stmt *declared = nest_new_variable(
            l->edit, name_of(l, variable, &at),
            type_of(l, variable, s->value && !s->symbol->is_written), value, s->line);
        declared->symbol->is_integer = s->symbol->is_integer;
        declared->symbol->is_written = s->symbol->is_written;
        variable->copies[lanes_copy(l, variable->mask, &at)] = declared->symbol;
        lanes_emit(l, declared);
    } while (lanes_advance(l, mask, &at));
    return true;
}

static const struct nest_expr *call(const struct lanes *l, const char *name,
                                    const struct nest_expr *a, const struct nest_expr *b)
{
    struct nest_expr *expr = arena_alloc(l->edit->arena, sizeof *expr);
    expr->kind = NEST_CALL;
    expr->text = name;
    expr->args[expr->arg_count++] = a;
    if (b)
        expr->args[expr->arg_count++] = b;
    vector_need(l->edit, name);
    return expr;
}

/* Lanes whose places are no neighbours: for each lane the element of every instance. */
static bool emit_scatter(struct lanes *l, const struct nest_stmt *s, unsigned fixed,
                         struct instance at)
{
    const struct nest_stmt *counted = l->tiles->items[l->tiles->vector].loop;
    if (!vector_is_lane(l->edit, s->target->symbol->type))
        return nest_refuse(l->edit, l->refusal, "'%s' is of type '%s', not of the lanes'",
                           s->target->symbol->name, s->target->symbol->type);
    struct nest_stmt *loop = nest_new_loop(l->edit, "lane", "int64_t", nest_number(l->edit, 0),
                                           nest_number(l->edit, l->lanes), 1, NULL, s->line);
    const struct nest_expr *lane = nest_name(l->edit, loop->symbol);
    struct nest_stmt **tail = l->tail;
    l->tail = &loop->body;
    do {
        const struct nest_expr *from = lanes_vector(l, s->value, &at);
        if (!from)
            return false;
        const struct nest_expr *in_lane =
            nest_replace(l->edit, s->target, counted->symbol,
                         nest_index(l->edit, "+", nest_name(l->edit, counted->symbol), lane));
        lanes_emit(l, nest_assign(l->edit, lanes_scalar(l, in_lane, &at), s->op,
                                  call(l, "vreal_lane", from, lane), s->line));
    } while (lanes_advance(l, lanes_mask(l, s->target) & ~fixed, &at));
    l->tail = tail;
    lanes_emit(l, loop);
    return true;
}

static bool emit_assign(struct lanes *l, const struct nest_stmt *s, unsigned fixed,
                        struct instance at)
{
    const bool is_variable = s->target->kind == NEST_NAME;
    const unsigned target = lanes_mask(l, s->target);
    /* Rounds that differ in a variable have one each. An element that they have in common is added
     * to in every one of them, and what is emitted once would be once. */
    const unsigned rounds = is_variable ? lanes_mask(l, s->value) : (1u << l->tiles->count) - 1;
    if (rounds & ~target & ~fixed)
        return nest_refuse(l->edit, l->refusal, "several rounds assign to the same element of '%s'",
                           s->target->symbol->name);
    if (!is_variable && (target & l->vector_bit) && str_equal(s->op, "=") &&
        !lanes_are_neighbours(l, s->target))
        return emit_scatter(l, s, fixed, at);
    do {
        const struct nest_expr *place =
            is_variable ? lanes_scalar(l, s->target, &at) : lanes_place(l, s->target, &at);
        const bool is_splat = (target & l->vector_bit) && str_equal(s->op, "=");
        const struct nest_expr *from = !place     ? NULL
                                       : is_splat ? lanes_vector(l, s->value, &at)
                                                  : lanes_value(l, s->value, &at);
        if (from && (target & l->vector_bit) && !(lanes_mask(l, s->value) & l->vector_bit) &&
            !is_splat)
            from = lanes_beside(l, from);
        if (!from)
            return false;
        lanes_emit(l, nest_assign(l->edit, place, s->op, from, s->line));
    } while (lanes_advance(l, target & ~fixed, &at));
    return true;
}

static bool emit_list(struct lanes *l, const struct nest_stmt *first, unsigned fixed,
                      const struct instance *at);

/* The statements of a body; the place where statements go is as before afterwards. */
static bool emit_body(struct lanes *l, const struct nest_stmt *first, unsigned fixed,
                      const struct instance *at, struct nest_stmt **out)
{
    struct nest_stmt **tail = l->tail;
    *out = NULL;
    l->tail = out;
    const bool ok = emit_list(l, first, fixed, at);
    l->tail = tail;
    return ok;
}

static bool emit_for(struct lanes *l, const struct nest_stmt *s, unsigned fixed,
                     const struct instance *at)
{
    const unsigned bounds = lanes_mask(l, s->from) | lanes_mask(l, s->bound);
    if (bounds || fixed)
        return nest_refuse(l->edit, l->refusal,
                           "loop '%s' differs between the rounds that would become one", s->name);
    struct nest_stmt *loop = arena_memdup(l->edit->arena, s, sizeof *s);
    if (!emit_body(l, s->body, fixed, at, &loop->body))
        return false;
    lanes_emit(l, loop);
    return true;
}

static bool emit_if(struct lanes *l, const struct nest_stmt *s, unsigned fixed, struct instance at)
{
    const unsigned mask = lanes_mask(l, s->value) & ~fixed;
    do {
        struct nest_stmt *branch = nest_new_stmt(l->edit, NEST_IF, s->line);
        branch->value = lanes_scalar(l, s->value, &at);
        if (!emit_body(l, s->body, fixed | mask, &at, &branch->body) ||
            !emit_body(l, s->otherwise, fixed | mask, &at, &branch->otherwise))
            return false;
        lanes_emit(l, branch);
    } while (lanes_advance(l, mask, &at));
    return true;
}

static bool emit_stmt(struct lanes *l, const struct nest_stmt *s, unsigned fixed,
                      const struct instance *at)
{
    l->load_count = 0;
    l->may_name_loads = false;
    switch (s->kind) {
    case NEST_DECLARE:
        l->may_name_loads = lanes_instances(l, lanes_find(l, s->symbol)->mask & ~fixed) > 1;
        return emit_declare(l, s, fixed, *at);
    case NEST_ASSIGN:
        l->may_name_loads =
            lanes_instances(l, lanes_mask(l, s->target) & ~fixed) > 1 && l->tiles->count > 1;
        return emit_assign(l, s, fixed, *at);
    case NEST_FOR:
        return emit_for(l, s, fixed, at);
    case NEST_IF:
        return emit_if(l, s, fixed, *at);
    case NEST_BLOCK:
        return emit_list(l, s->body, fixed, at);
    case NEST_OPAQUE:
        break;
    }
    return nest_refuse(l->edit, l->refusal, "the body holds what is not understood");
}

static bool emit_list(struct lanes *l, const struct nest_stmt *first, unsigned fixed,
                      const struct instance *at)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if (!emit_stmt(l, s, fixed, at))
            return false;
    }
    return true;
}

/* --- accumulators ------------------------------------------------------------------------------
 */

/* "vreal sum_0 = vreal_of(0);" in front of the loop. */
static void begin_gathering(struct lanes *l, struct lane_variable *variable)
{
    struct instance at = {{0}};
    do {
        const struct nest_expr *begin = variable->gather == GATHER_SUM
                                            ? nest_number(l->edit, 0)
                                            : nest_name(l->edit, variable->symbol);
        const char *name =
            arena_printf(l->edit->arena, "%s_%lld", variable->symbol->name, (long long)at.at[0]);
        struct nest_stmt *declared =
            nest_new_variable(l->edit, name, "vreal", call(l, "vreal_of", begin, NULL), 0);
        declared->symbol->is_written = true;
        variable->copies[lanes_copy(l, variable->mask, &at)] = declared->symbol;
        lanes_emit(l, declared);
    } while (lanes_advance(l, variable->mask, &at));
}

/* "sum += vreal_sum(sum_0 + sum_1);" behind it; pairs first, so that errors stay small. */
static void end_gathering(struct lanes *l, const struct lane_variable *variable)
{
    const struct nest_expr *parts[VECTOR_MAX_COPIES];
    size_t count = (size_t)l->copies[0];
    for (size_t i = 0; i < count; i++)
        parts[i] = nest_name(l->edit, variable->copies[i]);
    const bool is_sum = variable->gather == GATHER_SUM;
    const bool is_largest = variable->gather == GATHER_LARGEST;
    for (; count > 1; count = (count + 1) / 2) {
        for (size_t i = 0; i < count / 2; i++)
            parts[i] = is_sum ? nest_binary(l->edit, "+", parts[2 * i], parts[2 * i + 1])
                              : call(l, is_largest ? "vreal_max" : "vreal_min", parts[2 * i],
                                     parts[2 * i + 1]);
        if (count % 2)
            parts[count / 2] = parts[count - 1];
    }
    const struct nest_expr *into = nest_name(l->edit, variable->symbol);
    const struct nest_expr *all =
        is_sum ? call(l, "vreal_sum", parts[0], NULL)
               : call(l, is_largest ? "vreal_largest" : "vreal_smallest", parts[0], into);
    lanes_emit(l, nest_assign(l->edit, into, is_sum ? "+=" : "=", all, 0));
}

static void gather_around(struct lanes *l, struct nest_stmt *loop)
{
    struct nest_stmt **link = nest_link(l->edit->nest, loop);
    struct nest_stmt *next = loop->next;
    struct nest_stmt *before = NULL;
    l->tail = &before;
    for (size_t i = 0; i < l->variable_count; i++) {
        if (l->variables[i].gather != GATHER_NONE)
            begin_gathering(l, &l->variables[i]);
    }
    if (before)
        *link = before;
    *l->tail = loop;
    l->tail = &loop->next;
    loop->next = NULL;
    for (size_t i = 0; i < l->variable_count; i++) {
        if (l->variables[i].gather != GATHER_NONE)
            end_gathering(l, &l->variables[i]);
    }
    *l->tail = next;
}

/* --- the whole ---------------------------------------------------------------------------------
 */

bool vector_expand(struct nest_edit *edit, const struct vector_tiles *tiles, const char **refusal)
{
    struct lanes *l = arena_alloc(edit->arena, sizeof *l);
    struct nest_stmt *innermost = tiles->items[tiles->count - 1].loop;
    const struct instance at = {{0}};
    int64_t all = 1;
    l->edit = edit;
    l->tiles = tiles;
    l->refusal = refusal;
    l->lanes = vector_lanes(edit, refusal);
    l->vector_bit = tiles->vector == VECTOR_NONE ? 0 : 1u << tiles->vector;
    if (l->lanes == 0)
        return false;
    for (size_t t = 0; t < tiles->count; t++) {
        l->copies[t] = tiles->items[t].factor / (t == tiles->vector ? l->lanes : 1);
        all *= l->copies[t];
    }
    if (all > VECTOR_MAX_COPIES)
        return nest_refuse(edit, refusal, "more than %d copies of the body", VECTOR_MAX_COPIES);
    vector_need(edit, "vreal_at");
    if (!lanes_analyse(l, innermost->body))
        return false;
    if (tiles->count == 1)
        gather_around(l, innermost);
    struct nest_stmt *body = NULL;
    if (!emit_body(l, innermost->body, 0, &at, &body))
        return false;
    innermost->body = body;
    return true;
}
