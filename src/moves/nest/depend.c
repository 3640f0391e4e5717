/* Questions about dependences, answered by isl. */
#include "moves/nest/depend_internal.h"

#include "base/buf.h"
#include "base/str.h"

#include <isl/aff.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>

#include <string.h>

/* isl gives up after so many operations, and the answer is then that order matters: some 100 ms. */
enum { MOST_OPERATIONS = 2000000 };

/* --- opening -----------------------------------------------------------------------------------
 */

static bool open_part(const struct nest_edit *edit, const struct nest_stmt *first, size_t count,
                      bool is_bounds_only, struct depend **out, const char **refusal)
{
    struct depend *d = arena_alloc(edit->arena, sizeof *d);
    d->edit = edit;
    d->nest = edit->nest;
    d->arena = edit->arena;
    d->first = first;
    d->count = count;
    d->context = "";
    d->leaves = arena_array(edit->arena, DEPEND_MAX_LEAVES, sizeof *d->leaves);
    d->accesses = arena_array(edit->arena, DEPEND_MAX_ACCESSES, sizeof *d->accesses);
    d->isl = isl_ctx_alloc();
    if (!d->isl)
        BUG("isl has no memory");
    (void)isl_options_set_on_error(d->isl, ISL_ON_ERROR_CONTINUE);
    *out = d;
    if (depend_collect(d, is_bounds_only))
        return true;
    *refusal = d->why;
    depend_close(out);
    return false;
}

bool depend_open(const struct nest_edit *edit, const struct nest_stmt *first, size_t count,
                 struct depend **out, const char **refusal)
{
    return open_part(edit, first, count, false, out, refusal);
}

bool depend_open_bounds(const struct nest_edit *edit, const struct nest_stmt *loop,
                        struct depend **out, const char **refusal)
{
    return open_part(edit, loop, 1, true, out, refusal);
}

void depend_close(struct depend **depend)
{
    if (*depend && (*depend)->isl)
        isl_ctx_free((*depend)->isl);
    *depend = NULL;
}

const char *depend_params(struct depend *d)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < d->param_count; i++)
        (void)buf_printf(&text, "%s%s", i ? ", " : "[", d->params[i]);
    if (d->param_count > 0)
        (void)buf_append_str(&text, "] -> ");
    return arena_strdup(d->arena, buf_text(&text));
}

/* "s_i, s_j" */
static const char *counters(struct depend *d, const struct leaf *leaf, int as)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < leaf->depth; i++)
        (void)buf_printf(&text, "%s%s", i ? ", " : "", depend_counter(d, leaf->loops[i], as));
    return arena_strdup(d->arena, buf_text(&text));
}

static void begin(struct depend *d)
{
    isl_ctx_reset_operations(d->isl);
    isl_ctx_reset_error(d->isl);
    isl_ctx_set_max_operations(d->isl, MOST_OPERATIONS);
}

bool depend_is_empty(struct depend *d, const struct leaf *leaf, const char *constraints)
{
    const char *text = arena_printf(d->arena, "%s{ [%s] : %s%s%s }", depend_params(d),
                                    counters(d, leaf, AS_SOURCE), constraints,
                                    leaf->domain[AS_SOURCE], d->context);
    for (size_t i = 0; i < d->known_count; i++) {
        if (str_equal(d->known[i].text, text))
            return d->known[i].is_empty;
    }
    begin(d);
    isl_set *set = depend_read_set(d, text);
    const bool is_empty = isl_set_is_empty(set) == isl_bool_true;
    (void)isl_set_free(set);
    if (d->known_count < sizeof d->known / sizeof *d->known)
        d->known[d->known_count++] = (struct known_set){.text = text, .is_empty = is_empty};
    return is_empty;
}

/* --- pairs of runs -----------------------------------------------------------------------------
 */

static const char *order_text(struct depend *d, const struct leaf *leaf, const struct order *order,
                              size_t length)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < length; i++) {
        const struct order_term none = {0};
        const struct order_term *t = i < order->count ? &order->terms[i] : &none;
        (void)buf_append_str(&text, i ? ", " : "");
        if (t->place != 0 || (!t->loop && !t->by))
            (void)buf_printf(&text, "%lld", (long long)t->place);
        if (t->loop && t->divide == 0)
            (void)buf_printf(&text, " %s %s",
                             t->factor < 0 ? "-"
                             : t->place    ? "+"
                                           : "",
                             depend_counter(d, t->loop, AS_SOURCE));
        if (t->loop && t->divide > 0) {
            const char *from = depend_affine(d, t->loop->from, AS_SOURCE);
            if (!from)
                return NULL;
            (void)buf_printf(&text, "%s floor((%s - (%s)) / %lld)", t->place ? " +" : "",
                             depend_counter(d, t->loop, AS_SOURCE), from,
                             (long long)(t->divide * t->loop->step));
        }
        if (t->by)
            (void)buf_printf(&text, " + %lld %s", (long long)t->by_factor,
                             depend_counter(d, t->by, AS_SOURCE));
    }
    return arena_printf(d->arena, "%s{ L%td[%s] -> [%s] }", depend_params(d), leaf - d->leaves,
                        counters(d, leaf, AS_SOURCE), buf_text(&text));
}

static size_t shared_depth(const struct access *a, const struct access *b)
{
    return a->private_depth < b->private_depth ? a->private_depth : b->private_depth;
}

/* Runs of `a` and of `b` that touch the same memory. */
static const char *conflict_text(struct depend *d, const struct access *a, const struct access *b)
{
    CLEANUP(buf_free) struct buf text = {0};
    const struct leaf *from = &d->leaves[a->leaf];
    const struct leaf *to = &d->leaves[b->leaf];
    const size_t shared = shared_depth(a, b);
    (void)buf_printf(&text, "%s{ L%zu[%s] -> L%zu[%s] : 0 = 0%s%s%s", depend_params(d), a->leaf,
                     counters(d, from, AS_SOURCE), b->leaf, counters(d, to, AS_TARGET),
                     from->domain[AS_SOURCE], to->domain[AS_TARGET], d->context);
    for (size_t i = 0; i < shared && i < from->depth && i < to->depth; i++)
        (void)buf_printf(&text, " and %s = %s", depend_counter(d, from->loops[i], AS_SOURCE),
                         depend_counter(d, to->loops[i], AS_TARGET));
    for (size_t i = 0; a->rank == b->rank && i < a->rank; i++) {
        if (a->subscripts[AS_SOURCE][i] && b->subscripts[AS_TARGET][i])
            (void)buf_printf(&text, " and %s = %s", a->subscripts[AS_SOURCE][i],
                             b->subscripts[AS_TARGET][i]);
    }
    (void)buf_append_str(&text, " }");
    return arena_strdup(d->arena, buf_text(&text));
}

struct question {
    struct depend *d;
    const struct depend_opts *opts;
    struct depend_answer *answer;
    const struct order *orders; /* the new one of each leaf */
    const char **before;        /* the order of each leaf as the text has it, as maps */
    const char **after;         /* the new one; NULL: not affine */
    isl_map **maps[2];          /* of both for each leaf, once they were asked for; else NULL */
};

enum { BEFORE, AFTER };

/* A copy of a leaf's order as a map. */
static isl_map *order_map(const struct question *q, size_t leaf, int which)
{
    isl_map **map = &q->maps[which][leaf];
    if (!*map)
        *map = isl_map_read_from_str(q->d->isl, which == BEFORE ? q->before[leaf] : q->after[leaf]);
    return isl_map_copy(*map);
}

static bool can_relax(const struct depend *d, const struct access *a, const struct access *b)
{
    const struct leaf *x = &d->leaves[a->leaf];
    const struct leaf *y = &d->leaves[b->leaf];
    return a->is_accumulator && b->is_accumulator && x->kind == y->kind &&
           (x == y || x->kind == REDUCTION_SUM || x->kind == REDUCTION_PRODUCT);
}

static bool is_signed_integer(const struct nest_symbol *symbol)
{
    return symbol->is_integer && !strstr(symbol->type, "unsigned") && !strstr(symbol->type, "uint");
}

static void note_relaxed(const struct question *q, const struct access *a)
{
    const enum reduction_kind kind = q->d->leaves[a->leaf].kind;
    q->answer->has_reduction = true;
    if (!a->object->is_integer)
        q->answer->has_real = true;
    else if (kind != REDUCTION_EXTREMUM && is_signed_integer(a->object))
        q->answer->has_signed_sum = true;
}

/* The least and the greatest value of one distance, as "1", "+", "-" or "*". */
static const char *direction(struct depend *d, isl_set *distances, unsigned at, bool *is_zero)
{
    isl_local_space *space = isl_local_space_from_space(isl_set_get_space(distances));
    isl_aff *distance = isl_aff_var_on_domain(space, isl_dim_set, at);
    isl_val *low = isl_set_min_val(distances, distance);
    isl_val *high = isl_set_max_val(distances, distance);
    (void)isl_aff_free(distance);
    const bool has_low = low && isl_val_is_int(low) == isl_bool_true;
    const bool has_high = high && isl_val_is_int(high) == isl_bool_true;
    const long least = has_low ? isl_val_get_num_si(low) : 0;
    const long most = has_high ? isl_val_get_num_si(high) : 0;
    (void)isl_val_free(low);
    (void)isl_val_free(high);
    *is_zero = has_low && has_high && least == 0 && most == 0;
    if (has_low && has_high && least == most)
        return arena_printf(d->arena, "%ld", least);
    return has_low && least > 0 ? "+" : has_high && most < 0 ? "-" : "*";
}

/* "dependence on y carried by i, distance (1, -1)" of pairs that would change their order. */
static const char *explain(struct depend *d, const struct access *a, const struct access *b,
                           isl_map *broken)
{
    CLEANUP(buf_free) struct buf map = {0};
    CLEANUP(buf_free) struct buf text = {0};
    const struct leaf *from = &d->leaves[a->leaf];
    const struct leaf *to = &d->leaves[b->leaf];
    size_t common = 0;
    while (common < from->depth && common < to->depth && from->loops[common] == to->loops[common])
        common++;
    (void)buf_printf(&map, "%s{ [L%zu[%s] -> L%zu[%s]] -> [", depend_params(d), a->leaf,
                     counters(d, from, AS_SOURCE), b->leaf, counters(d, to, AS_TARGET));
    for (size_t i = 0; i < common; i++)
        (void)buf_printf(&map, "%s%s - %s", i ? ", " : "",
                         depend_counter(d, to->loops[i], AS_TARGET),
                         depend_counter(d, from->loops[i], AS_SOURCE));
    (void)buf_append_str(&map, "] }");
    isl_set *distances = isl_set_apply(isl_map_wrap(isl_map_copy(broken)),
                                       isl_map_read_from_str(d->isl, buf_text(&map)));
    const isl_size params = isl_set_dim(distances, isl_dim_param);
    if (params > 0)
        distances = isl_set_project_out(distances, isl_dim_param, 0, (unsigned)params);
    const char *carrier = NULL;
    (void)buf_append_str(&text, ", distance (");
    for (size_t i = 0; i < common; i++) {
        bool is_zero = true;
        (void)buf_printf(&text, "%s%s", i ? ", " : "",
                         direction(d, distances, (unsigned)i, &is_zero));
        if (!is_zero && !carrier)
            carrier = from->loops[i]->name;
    }
    (void)buf_append_char(&text, ')');
    (void)isl_set_free(distances);
    if (!carrier)
        return arena_printf(d->arena, "dependence on %s from line %d to line %d", a->object->name,
                            from->stmt->line, to->stmt->line);
    return arena_printf(d->arena, "dependence on %s carried by %s%s", a->object->name, carrier,
                        buf_text(&text));
}

/* Is there a run of `a` before one of `b` in the text that comes after it in the new order? */
static bool keeps(const struct question *q, const struct access *a, const struct access *b)
{
    struct depend *d = q->d;
    if (!q->after[a->leaf] || !q->after[b->leaf]) {
        q->answer->why = "a loop begins at what is not affine";
        return false;
    }
    const size_t shared = shared_depth(a, b);
    if (order_is_plainly_kept(&d->leaves[a->leaf], &d->leaves[b->leaf], &q->orders[a->leaf],
                              &q->orders[b->leaf], shared))
        return true;
    begin(d);
    isl_map *pairs = depend_read_map(d, conflict_text(d, a, b));
    if (isl_map_is_empty(pairs) == isl_bool_true) {
        (void)isl_map_free(pairs);
        return true;
    }
    isl_map *old = isl_map_lex_lt_map(order_map(q, a->leaf, BEFORE), order_map(q, b->leaf, BEFORE));
    pairs = isl_map_intersect(pairs, old);
    if (isl_map_is_empty(pairs) == isl_bool_true) {
        (void)isl_map_free(pairs);
        return true;
    }
    isl_map *new = isl_map_lex_ge_map(order_map(q, a->leaf, AFTER), order_map(q, b->leaf, AFTER));
    pairs = isl_map_intersect(pairs, new);
    const isl_bool is_empty = isl_map_is_empty(pairs);
    if (is_empty == isl_bool_false)
        q->answer->why = explain(d, a, b, pairs);
    else if (is_empty != isl_bool_true)
        q->answer->why =
            arena_printf(d->arena, "dependence on %s that is too hard to look at", a->object->name);
    (void)isl_map_free(pairs);
    return is_empty == isl_bool_true;
}

static bool keeps_pair(const struct question *q, const struct access *a, const struct access *b)
{
    if (a->object != b->object || a->object == q->opts->ignore || (!a->is_write && !b->is_write))
        return true;
    if (keeps(q, a, b))
        return true;
    if (!q->opts->relax_reductions || !can_relax(q->d, a, b))
        return false;
    note_relaxed(q, a);
    q->answer->why = NULL;
    return true;
}

static bool keeps_all_pairs(const struct question *q)
{
    const struct depend *d = q->d;
    for (size_t a = 0; a < d->access_count; a++) {
        for (size_t b = a; b < d->access_count; b++) {
            if (!keeps_pair(q, &d->accesses[a], &d->accesses[b]) ||
                (a != b && !keeps_pair(q, &d->accesses[b], &d->accesses[a])))
                return false;
        }
    }
    return true;
}

static size_t longest_order(const struct depend *d, const struct order *orders)
{
    size_t length = 1;
    for (size_t i = 0; i < d->leaf_count; i++) {
        if (orders[i].count > length)
            length = orders[i].count;
        if (d->leaves[i].order.count > length)
            length = d->leaves[i].order.count;
    }
    return length;
}

bool depend_allows(struct depend *d, depend_reorder reorder, void *context,
                   const struct depend_opts *opts, struct depend_answer *answer)
{
    static const struct depend_opts nothing;
    const size_t count = d->leaf_count + 1;
    struct order *orders = arena_array(d->arena, count, sizeof *orders);
    struct question q = {
        .d = d, .opts = opts ? opts : &nothing, .answer = answer, .orders = orders};
    q.before = arena_array(d->arena, count, sizeof *q.before);
    q.after = arena_array(d->arena, count, sizeof *q.after);
    q.maps[BEFORE] = arena_array(d->arena, count, sizeof(isl_map *));
    q.maps[AFTER] = arena_array(d->arena, count, sizeof(isl_map *));
    *answer = (struct depend_answer){0};
    for (size_t i = 0; i < d->leaf_count; i++) {
        orders[i] = d->leaves[i].order;
        reorder(context, d->leaves[i].stmt, &orders[i]);
    }
    const size_t length = longest_order(d, orders);
    for (int round = 0; round < 2; round++) { /* the first finds all parameters */
        for (size_t i = 0; i < d->leaf_count; i++) {
            q.before[i] = order_text(d, &d->leaves[i], &d->leaves[i].order, length);
            q.after[i] = order_text(d, &d->leaves[i], &orders[i], length);
        }
    }
    const bool keeps_all = keeps_all_pairs(&q);
    for (size_t i = 0; i < d->leaf_count; i++) {
        (void)isl_map_free(q.maps[BEFORE][i]);
        (void)isl_map_free(q.maps[AFTER][i]);
    }
    return keeps_all;
}

bool depend_may_relax(const struct nest_edit *edit, const struct depend_answer *answer,
                      const char **refusal)
{
    if (answer->has_signed_sum)
        return nest_refuse(edit, refusal,
                           "a sum of signed integers could overflow in another order");
    return !answer->has_real || nest_allow(edit, NUMERICS_REASSOCIATE, refusal);
}

struct backward {
    const struct nest_stmt *loop;
};

static void run_backward(void *context, const struct nest_stmt *stmt, struct order *order)
{
    const struct backward *backward = context;
    const size_t at = order_find(order, backward->loop);
    (void)stmt;
    if (at < order->count)
        order->terms[at].factor = -order->terms[at].factor;
}

bool depend_is_parallel(struct depend *d, const struct nest_stmt *loop,
                        const struct depend_opts *opts, struct depend_answer *answer)
{
    struct backward backward = {.loop = loop};
    return depend_allows(d, run_backward, &backward, opts, answer);
}

/* --- values ------------------------------------------------------------------------------------
 */

/* Runs of the read that read what a write in the same round of `loop` wrote before. */
static isl_set *covered_by(struct depend *d, const struct access *write, const struct access *read,
                           const struct nest_stmt *loop)
{
    CLEANUP(buf_free) struct buf text = {0};
    const struct leaf *from = &d->leaves[write->leaf];
    const struct leaf *to = &d->leaves[read->leaf];
    const char *pairs = conflict_text(d, write, read);
    const size_t length = from->order.count > to->order.count ? from->order.count : to->order.count;
    (void)buf_append(&text, pairs, strlen(pairs) - 1);
    for (size_t i = 0; i < from->depth && i < to->depth; i++) {
        (void)buf_printf(&text, " and %s = %s", depend_counter(d, from->loops[i], AS_SOURCE),
                         depend_counter(d, to->loops[i], AS_TARGET));
        if (from->loops[i] == loop)
            break;
    }
    (void)buf_append_str(&text, "}");
    isl_map *map = depend_read_map(d, buf_text(&text));
    isl_map *before =
        isl_map_lex_lt_map(isl_map_read_from_str(d->isl, order_text(d, from, &from->order, length)),
                           isl_map_read_from_str(d->isl, order_text(d, to, &to->order, length)));
    return isl_map_range(isl_map_intersect(map, before));
}

static bool reads_its_own(struct depend *d, const struct access *read, const struct nest_stmt *loop)
{
    const struct leaf *leaf = &d->leaves[read->leaf];
    begin(d);
    isl_set *left = depend_read_set(
        d, arena_printf(d->arena, "%s{ L%zu[%s] : 0 = 0%s%s }", depend_params(d), read->leaf,
                        counters(d, leaf, AS_TARGET), leaf->domain[AS_TARGET], d->context));
    for (size_t i = 0; i < d->access_count; i++) {
        const struct access *write = &d->accesses[i];
        if (write->object == read->object && write->is_write && write->is_exact &&
            write->rank == read->rank && d->leaves[write->leaf].is_exact)
            left = isl_set_subtract(left, covered_by(d, write, read, loop));
    }
    const bool is_covered = isl_set_is_empty(left) == isl_bool_true;
    (void)isl_set_free(left);
    return is_covered;
}

bool depend_is_private(struct depend *d, const struct nest_stmt *loop,
                       const struct nest_symbol *array)
{
    for (size_t i = 0; i < d->access_count; i++) {
        const struct access *read = &d->accesses[i];
        if (read->object != array || read->is_write)
            continue;
        if (!read->is_exact || !reads_its_own(d, read, loop))
            return false;
    }
    return true;
}

static bool list_holds(const struct nest_stmt *first, const struct nest_stmt *stmt)
{
    for (const struct nest_stmt *s = first; s; s = s->next) {
        if (s == stmt || list_holds(s->body, stmt) || list_holds(s->otherwise, stmt))
            return true;
    }
    return false;
}

int depend_decides(struct depend *d, const struct nest_stmt *at, const struct nest_expr *condition)
{
    struct leaf leaf = {0};
    CLEANUP(buf_free) struct buf domain = {0};
    CLEANUP(buf_free) struct buf holds = {0};
    CLEANUP(buf_free) struct buf fails = {0};
    for (size_t i = 0; i < d->inner_count; i++) {
        if (!list_holds(d->inner[i]->body, at))
            continue;
        leaf.loops[leaf.depth++] = d->inner[i];
        (void)depend_bounds(d, d->inner[i], AS_SOURCE, &domain);
    }
    leaf.domain[AS_SOURCE] = buf_text(&domain);
    const bool knows_it = depend_condition(d, condition, false, AS_SOURCE, &holds);
    const bool knows_other = depend_condition(d, condition, true, AS_SOURCE, &fails);
    if (knows_other &&
        depend_is_empty(d, &leaf, arena_printf(d->arena, "0 = 0%s", buf_text(&fails))))
        return 1;
    if (knows_it && depend_is_empty(d, &leaf, arena_printf(d->arena, "0 = 0%s", buf_text(&holds))))
        return -1;
    return 0;
}
