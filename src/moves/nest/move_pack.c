/* pack(b:j_s): what each round of j_s reads of b, copied first into a local array in the order in
 * which it is read. pack(b:j_s,i_s): the copies of all rounds of j_s once, in front of i_s. */
#include "moves/nest/affine.h"
#include "moves/nest/edit.h"
#include "moves/nest/move.h"

#include "base/str.h"

#include <string.h>

enum { MAX_COUNTERS = 8, LEAST_BYTES = 16384, MOST_BYTES = 262144, MOST_BYTES_IN_FRONT = 1 << 20 };

/* A loop inside, whose counter is in the subscript. */
struct counter {
    struct nest_stmt *loop;
    int64_t extent; /* rounds at most, where that is a number; 0: `end` - from */
    const struct nest_expr *end;
};

struct packing {
    struct nest_edit *edit;
    struct nest_stmt *loop;
    struct nest_stmt
        *before; /* around `loop`: the copies are made in front of it; NULL: in `loop` */
    const struct nest_symbol *array;
    const char **refusal;
    const struct nest_expr *access; /* the one form in which the array is read */
    struct counter counters[MAX_COUNTERS];
    size_t count;
    bool is_ok;
};

static bool look_at(void *context, const struct nest_expr *expr, bool is_target)
{
    struct packing *p = context;
    if ((expr->kind != NEST_ACCESS && expr->kind != NEST_NAME) || expr->symbol != p->array)
        return true;
    if (is_target || expr->kind == NEST_NAME)
        p->is_ok = nest_refuse(p->edit, p->refusal, "'%s' is not only read, element by element",
                               p->array->name);
    else if (expr->arg_count != 1)
        p->is_ok = nest_refuse(p->edit, p->refusal, "'%s' has several subscripts", p->array->name);
    else if (p->access && !nest_expr_same(p->access, expr))
        p->is_ok =
            nest_refuse(p->edit, p->refusal, "'%s' is read in more than one form", p->array->name);
    p->access = expr;
    return p->is_ok;
}

static bool look_at_stmt(void *context, struct nest_stmt *stmt, int depth)
{
    struct packing *p = context;
    (void)depth;
    if (stmt->kind == NEST_OPAQUE)
        p->is_ok = nest_refuse(p->edit, p->refusal, "the loop holds what is not understood");
    /* A pointer into the array, or a vector of it, is another way to it. */
    if (stmt->kind == NEST_DECLARE && stmt->symbol->kind == NEST_POINTER)
        p->is_ok = nest_refuse(p->edit, p->refusal, "the loop declares a pointer");
    return p->is_ok && nest_walk_exprs(stmt, look_at, p);
}

static bool difference(const struct nest_expr *a, const struct nest_expr *b, int64_t *out)
{
    struct poly x;
    struct poly y;
    return poly_of(a, &x) && poly_of(b, &y) && poly_add(&x, &y, -1) && poly_is_constant(&x, out) &&
           *out > 0;
}

/* The rounds of "j < (j_s + 32 < n ? j_s + 32 : n)" from j_s on are 32 at most. */
static void measure(const struct packing *p, struct counter *c)
{
    int64_t extent = 0;
    if (difference(c->end, c->loop->from, &extent)) {
        c->extent = extent;
        return;
    }
    for (size_t i = 1; c->end->kind == NEST_CONDITIONAL && i < 3; i++) {
        const struct nest_expr *other = c->end->args[i];
        if (difference(other, c->loop->from, &extent) &&
            nest_expr_same(c->end, nest_smaller(p->edit, c->end->args[1], c->end->args[2])))
            c->extent = extent;
    }
}

static bool find_counters(void *context, struct nest_stmt *stmt, int depth)
{
    struct packing *p = context;
    (void)depth;
    if (stmt->kind != NEST_FOR || !nest_expr_uses(p->access, stmt->symbol))
        return true;
    struct counter *c = &p->counters[p->count];
    *c = (struct counter){.loop = stmt, .end = nest_end(p->edit, stmt)};
    if (p->count + 1 == MAX_COUNTERS || stmt->step != 1 || !c->end)
        return p->is_ok =
                   nest_refuse(p->edit, p->refusal, "loop '%s' does not count by 1", stmt->name);
    measure(p, c);
    p->count++;
    return true;
}

/* The bounds are the same in every round inside. */
static bool check_bounds(const struct packing *p)
{
    for (size_t i = 0; i < p->count; i++) {
        for (struct nest_stmt *around = nest_parent(p->edit->nest, p->counters[i].loop);
             around && around != p->loop; around = nest_parent(p->edit->nest, around)) {
            if (around->kind == NEST_FOR &&
                (nest_expr_uses(p->counters[i].loop->from, around->symbol) ||
                 nest_expr_uses(p->counters[i].end, around->symbol)))
                return nest_refuse(p->edit, p->refusal, "the bounds of loop '%s' change inside",
                                   p->counters[i].loop->name);
        }
        if (!nest_has_fixed_bounds(p->edit->nest, p->counters[i].loop))
            return nest_refuse(p->edit, p->refusal, "the bounds of loop '%s' are not fixed",
                               p->counters[i].loop->name);
    }
    return true;
}

/* One size that is not known first, then those that are as they hang in each other, but the
 * outermost of them innermost: what is cut into strips is read side by side. */
static bool order_counters(struct packing *p)
{
    struct counter sorted[MAX_COUNTERS];
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (p->counters[i].extent == 0)
            sorted[count++] = p->counters[i];
    }
    if (count > 1)
        return nest_refuse(p->edit, p->refusal,
                           "loops '%s' and '%s' both have no size that is known: cut one into "
                           "strips",
                           sorted[0].loop->name, sorted[1].loop->name);
    const struct counter *strip = NULL;
    for (size_t i = 0; i < p->count; i++) {
        if (p->counters[i].extent > 0 && strip)
            sorted[count++] = p->counters[i];
        else if (p->counters[i].extent > 0)
            strip = &p->counters[i];
    }
    if (strip)
        sorted[count++] = *strip;
    for (size_t i = 0; i < count; i++)
        p->counters[i] = sorted[i];
    return true;
}

/* What stands between one round's copy and the next for every round of the counter, and the size of
 * a copy for each round of the one loop whose size is not known. */
static int64_t known_elements(const struct packing *p)
{
    int64_t known = 1;
    for (size_t i = 0; i < p->count; i++)
        known *= p->counters[i].extent ? p->counters[i].extent : 1;
    return known;
}

/* `rounds` of the loop's counter in elements of the copies. */
static const struct nest_expr *in_elements(const struct packing *p, const struct nest_expr *rounds)
{
    const struct counter *first = &p->counters[0];
    const struct nest_expr *elements =
        nest_index(p->edit, "*", rounds, nest_number(p->edit, known_elements(p) / p->loop->step));
    return first->extent ? elements
                         : nest_index(p->edit, "*", elements,
                                      nest_index(p->edit, "-", first->end, first->loop->from));
}

/* Where the element of these counters lies in the local array; `round` is the loop's counter. */
static const struct nest_expr *place(const struct packing *p, const struct nest_symbol *round,
                                     const struct nest_symbol *const *counters)
{
    const struct nest_expr *at = nest_number(p->edit, 0);
    for (size_t i = 0; i < p->count; i++) {
        const struct counter *c = &p->counters[i];
        const struct nest_expr *offset =
            nest_index(p->edit, "-", nest_name(p->edit, counters[i]), c->loop->from);
        int64_t from = 0;
        if (nest_is_number(c->loop->from, &from) && from == 0)
            offset = nest_name(p->edit, counters[i]);
        if (i > 0)
            at = nest_index(p->edit, "*", at, nest_number(p->edit, c->extent));
        at = nest_index(p->edit, "+", at, offset);
    }
    if (!p->before)
        return at;
    const struct nest_expr *from =
        nest_index(p->edit, "-", nest_name(p->edit, round), p->loop->from);
    return nest_index(p->edit, "+", in_elements(p, from), at);
}

static const struct nest_expr *in_round(const struct packing *p, const struct nest_symbol *round,
                                        const struct nest_expr *expr)
{
    return round == p->loop->symbol
               ? expr
               : nest_replace(p->edit, expr, p->loop->symbol, nest_name(p->edit, round));
}

/* for p2, for j2: b_pack[place] = b[...]; in front of another loop within a loop over all rounds.
 */
static struct nest_stmt *copy_loops(struct packing *p, const struct nest_symbol *buffer)
{
    struct nest_stmt *outermost = NULL;
    struct nest_stmt **link = &outermost;
    const struct nest_symbol *counters[MAX_COUNTERS];
    const struct nest_symbol *round = p->loop->symbol;
    if (p->before) {
        outermost = nest_new_loop(p->edit, round->name, round->type, p->loop->from,
                                  nest_end(p->edit, p->loop), p->loop->step, NULL, p->loop->line);
        round = outermost->symbol;
        link = &outermost->body;
    }
    const struct nest_expr *from = in_round(p, round, p->access);
    for (size_t i = 0; i < p->count; i++) {
        const struct counter *c = &p->counters[i];
        *link = nest_new_loop(p->edit, c->loop->symbol->name, c->loop->symbol->type,
                              in_round(p, round, c->loop->from), in_round(p, round, c->end), 1,
                              NULL, p->loop->line);
        counters[i] = (*link)->symbol;
        from = nest_replace(p->edit, from, c->loop->symbol, nest_name(p->edit, counters[i]));
        link = &(*link)->body;
    }
    const struct nest_expr *at = in_round(p, round, place(p, round, counters));
    *link = nest_assign(p->edit, nest_access(p->edit, buffer, &at, 1), "=", from, p->loop->line);
    return outermost;
}

static const struct nest_expr *redirect(const struct packing *p, const struct nest_expr *expr,
                                        const struct nest_expr *to)
{
    if (!expr || !nest_expr_uses(expr, p->array))
        return expr;
    if (expr->kind == NEST_ACCESS && expr->symbol == p->array)
        return to;
    struct nest_expr *copy = arena_memdup(p->edit->arena, expr, sizeof *expr);
    for (size_t i = 0; i < expr->arg_count; i++)
        copy->args[i] = redirect(p, expr->args[i], to);
    return copy;
}

static void redirect_in(const struct packing *p, struct nest_stmt *first,
                        const struct nest_expr *to)
{
    for (struct nest_stmt *s = first; s; s = s->next) {
        s->target = redirect(p, s->target, to);
        s->value = redirect(p, s->value, to);
        redirect_in(p, s->body, to);
        redirect_in(p, s->otherwise, to);
    }
}

/* Of the local array: part of the second cache, a larger one where all that is read is kept. */
static int64_t most_elements(const struct packing *p)
{
    const int64_t most = p->before ? MOST_BYTES_IN_FRONT : MOST_BYTES;
    const int64_t cache = p->edit->target.cache_bytes[1] / (p->before ? 2 : 4);
    const int64_t bytes = cache < LEAST_BYTES ? LEAST_BYTES : cache > most ? most : cache;
    return bytes / (int64_t)dtype_bytes(p->edit->nest->task->dtype);
}

static int64_t capacity_of(const struct packing *p, int64_t *rows)
{
    const int64_t capacity = most_elements(p);
    int64_t row = 1;
    for (size_t i = 0; i < p->count; i++) {
        if (p->counters[i].extent > capacity / row)
            return 0;
        row *= p->counters[i].extent ? p->counters[i].extent : 1;
    }
    const bool has_rows = p->counters[0].extent == 0;
    *rows = has_rows ? capacity / row : 0;
    return has_rows ? *rows * row : row;
}

/* Do all rounds' copies fit, and is there a round that reads them? */
static const struct nest_expr *fits_in_front(const struct packing *p, int64_t capacity)
{
    struct nest_edit *edit = p->edit;
    const struct nest_expr *step = nest_number(edit, p->loop->step);
    const struct nest_expr *last = nest_number(edit, p->loop->step - 1);
    const struct nest_expr *rounds =
        nest_index(edit, "+", nest_index(edit, "-", nest_end(edit, p->loop), p->loop->from), last);
    if (p->loop->step > 1)
        rounds = nest_index(edit, "*", nest_index(edit, "/", rounds, step), step);
    return nest_binary(
        edit, "&&", nest_binary(edit, "<", p->before->from, nest_end(edit, p->before)),
        nest_binary(edit, "<=", in_elements(p, rounds), nest_number(edit, capacity)));
}

/* The statements with the copy in front where it fits, and as they were where not. */
static struct nest_stmt *branch(const struct packing *p, const struct nest_expr *fits,
                                struct nest_stmt *packed, struct nest_stmt *plain)
{
    struct nest_stmt *branch = nest_new_stmt(p->edit, NEST_IF, p->loop->line);
    branch->value = fits;
    branch->body = packed;
    branch->otherwise = plain;
    return branch;
}

static struct nest_stmt *declare_copy(const struct packing *p, int64_t capacity)
{
    struct nest_edit *edit = p->edit;
    struct nest_stmt *declared = nest_new_stmt(edit, NEST_DECLARE, p->loop->line);
    declared->symbol =
        nest_new_symbol(edit, NEST_ARRAY, arena_printf(edit->arena, "%s_pack", p->array->name),
                        "_Alignas(64) real");
    declared->symbol->dimensions[declared->symbol->rank++] = nest_number(edit, capacity);
    declared->symbol->is_written = true;
    return declared;
}

static bool rewrite(struct packing *p)
{
    struct nest_edit *edit = p->edit;
    struct nest_stmt *scope = p->before ? p->before : p->loop;
    int64_t rows = 0;
    const int64_t capacity = capacity_of(p, &rows);
    const struct nest_symbol *counters[MAX_COUNTERS];
    if (capacity == 0)
        return nest_refuse(edit, p->refusal, "what a round reads of '%s' is too large",
                           p->array->name);
    struct nest_stmt *declared = declare_copy(p, p->before ? most_elements(p) : capacity);
    struct nest_stmt *behind = scope->next;
    struct nest_stmt *plain = NULL;
    scope->next = NULL;
    if (p->before)
        plain = nest_copy_list(edit, scope);
    else if (rows > 0)
        plain = nest_copy_list(edit, scope->body);
    scope->next = behind;
    for (size_t i = 0; i < p->count; i++)
        counters[i] = p->counters[i].loop->symbol;
    const struct nest_expr *at = place(p, p->loop->symbol, counters);
    struct nest_stmt *copy = copy_loops(p, declared->symbol);
    redirect_in(p, p->loop->body, nest_access(edit, declared->symbol, &at, 1));
    if (p->before) {
        struct nest_stmt **link = nest_link(edit->nest, scope);
        declared->next = nest_append(copy, scope);
        *link = branch(p, fits_in_front(p, most_elements(p)), declared, plain);
        (*link)->next = behind;
        scope->next = NULL;
        return true;
    }
    declared->next = nest_append(copy, p->loop->body);
    p->loop->body = declared;
    if (rows > 0) {
        const struct counter *c = &p->counters[0];
        const struct nest_expr *fits = nest_binary(
            edit, "<=", nest_index(edit, "-", c->end, c->loop->from), nest_number(edit, rows));
        p->loop->body = branch(p, fits, declared, plain);
    }
    return true;
}

/* --- copies in front of a loop around ------------------------------------------------------------
 */

/* An expression whose value must be known in front of `before`. */
struct outside {
    const struct packing *p;
    bool is_known;
};

static bool is_counter_inside(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    return stmt->kind != NEST_FOR || stmt->symbol != context;
}

static bool is_own(const struct packing *p, const struct nest_symbol *symbol)
{
    bool own = symbol == p->loop->symbol;
    for (size_t i = 0; i < p->count; i++)
        own = own || symbol == p->counters[i].loop->symbol;
    return own;
}

/* Counters of the copy's own loops, and what nothing inside declares, counts or assigns. */
static bool is_known_outside(const struct packing *p, const struct nest_expr *expr)
{
    struct nest_symbol *symbol = (struct nest_symbol *)(uintptr_t)expr->symbol;
    if (expr->kind == NEST_CALL || (expr->kind == NEST_ACCESS && symbol != p->array))
        return false;
    if (expr->kind == NEST_NAME && !is_own(p, symbol) &&
        (symbol == p->before->symbol || nest_list_declares(p->before->body, symbol) ||
         nest_list_assigns(p->before->body, symbol) ||
         !nest_walk(p->before->body, is_counter_inside, symbol)))
        return false;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (!is_known_outside(p, expr->args[i]))
            return false;
    }
    return true;
}

/* Nothing in `before` writes to the array. */
static bool only_reads(void *context, struct nest_stmt *stmt, int depth)
{
    const struct packing *p = context;
    (void)depth;
    return stmt->kind != NEST_OPAQUE &&
           (stmt->kind != NEST_DECLARE || stmt->symbol->kind != NEST_POINTER) &&
           (stmt->kind != NEST_ASSIGN || stmt->target->symbol != p->array);
}

static bool check_in_front(const struct packing *p)
{
    struct nest_edit *edit = p->edit;
    if (nest_parent(edit->nest, p->loop) != p->before)
        return nest_refuse(edit, p->refusal, "loop '%s' is not directly in loop '%s'",
                           p->loop->name, p->before->name);
    if (p->before->step < 0 || p->loop->step < 0 || !nest_end(edit, p->loop) ||
        !nest_end(edit, p->before) || !nest_has_fixed_bounds(edit->nest, p->loop))
        return nest_refuse(edit, p->refusal, "loops '%s' and '%s' do not both run upward",
                           p->before->name, p->loop->name);
    if (!nest_walk(p->before->body, only_reads, (void *)(uintptr_t)p))
        return nest_refuse(edit, p->refusal,
                           "loop '%s' does more with '%s' than to read it, or holds what is not "
                           "understood",
                           p->before->name, p->array->name);
    bool is_known = is_known_outside(p, p->access) && is_known_outside(p, p->loop->from) &&
                    is_known_outside(p, p->loop->bound);
    for (size_t i = 0; i < p->count; i++)
        is_known = is_known && is_known_outside(p, p->counters[i].loop->from) &&
                   is_known_outside(p, p->counters[i].end);
    if (!is_known)
        return nest_refuse(edit, p->refusal, "what is read of '%s' changes in loop '%s'",
                           p->array->name, p->before->name);
    const struct counter *first = &p->counters[0];
    if (known_elements(p) % p->loop->step != 0 ||
        (first->extent == 0 && (nest_expr_uses(first->end, p->loop->symbol) ||
                                nest_expr_uses(first->loop->from, p->loop->symbol))))
        return nest_refuse(edit, p->refusal, "the rounds of '%s' read parts of different sizes",
                           p->loop->name);
    return true;
}

static bool apply(struct nest_edit *edit, const struct nest_step *step, const char **refusal)
{
    struct packing p = {.edit = edit, .refusal = refusal, .is_ok = true};
    if (!nest_step_count(edit, step, 1, 2, refusal))
        return false;
    p.array = nest_step_symbol(edit, step, 0, refusal);
    if (!p.array)
        return false;
    p.loop = step->args[0].value ? nest_find_loop(edit->nest, step->args[0].value) : NULL;
    if (!p.loop)
        return nest_refuse(edit, refusal, "there is no loop '%s'",
                           step->args[0].value ? step->args[0].value : "");
    if (step->arg_count == 2) {
        p.before = nest_step_loop(edit, step, 1, refusal);
        if (!p.before)
            return false;
    }
    if (!edit->nest->task || p.array->kind != NEST_ARRAY || !p.array->is_parameter ||
        !strstr(p.array->type, "real"))
        return nest_refuse(edit, refusal, "'%s' is no argument that holds reals", p.array->name);
    for (size_t i = 0; i < edit->nest->symbol_count; i++) {
        if (edit->nest->symbols[i]->kind == NEST_POINTER)
            return nest_refuse(edit, refusal, "there is a pointer into an array");
    }
    if (!nest_walk(p.loop->body, look_at_stmt, &p))
        return false;
    if (!p.access)
        return nest_refuse(edit, refusal, "loop '%s' does not read '%s'", p.loop->name,
                           p.array->name);
    if (!nest_walk(p.loop->body, find_counters, &p) || !check_bounds(&p) || !order_counters(&p))
        return false;
    if (p.count == 0)
        return nest_refuse(edit, refusal, "a round of '%s' reads one element of '%s'", p.loop->name,
                           p.array->name);
    return (!p.before || check_in_front(&p)) && rewrite(&p);
}

const struct nest_move nest_move_pack = {
    .name = "pack",
    .group = "data",
    .intent = "copies what a round of a loop reads of an array into one place, in reading order",
    .parameters = "pack(ARRAY:LOOP); pack(ARRAY:LOOP,AROUND): once, in front of AROUND",
    .precondition =
        "the array is read only, in one form; all loops inside but one have a size that "
        "is known, as those cut into strips do",
    .effect = "neighbours lie side by side, few pages and no conflicts in the cache: 1.4 times on "
              "products",
    .breaks = "the copy costs, where it is read only once or twice; code twice, for sizes that do "
              "not fit",
    .numerics = NUMERICS_EXACT,
    .apply = apply,
};
