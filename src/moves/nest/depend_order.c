/* Orders of statements, and what their text shows without isl. */
#include "moves/nest/depend_internal.h"

#include <string.h>

size_t order_find(const struct order *order, const struct nest_stmt *loop)
{
    for (size_t i = 0; i < order->count; i++) {
        if (order->terms[i].loop == loop)
            return i;
    }
    return order->count;
}

void order_insert(struct order *order, size_t at, struct order_term term)
{
    if (order->count == ORDER_MAX_TERMS || at > order->count)
        BUG("nest: an order of more than %d terms", ORDER_MAX_TERMS);
    memmove(&order->terms[at + 1], &order->terms[at], (order->count - at) * sizeof *order->terms);
    order->terms[at] = term;
    order->count++;
}

void order_remove(struct order *order, size_t at)
{
    order->count--;
    memmove(&order->terms[at], &order->terms[at + 1], (order->count - at) * sizeof *order->terms);
}

/* Is the term one of the first `shared` loops alone, which are in the same round in both runs? */
static bool is_shared_term(const struct leaf *leaf, const struct order_term *term, size_t shared)
{
    for (size_t i = 0; i < shared && i < leaf->depth; i++) {
        if (term->loop == leaf->loops[i])
            return !term->by;
    }
    return false;
}

static bool same_term(const struct order_term *x, const struct order_term *y)
{
    return x->place == y->place && x->loop == y->loop && x->factor == y->factor &&
           x->divide == y->divide && x->by == y->by && x->by_factor == y->by_factor;
}

/* How two orders compare, as far as their text shows it: what is known to be equal is left out, and
 * what stands behind two places that differ never counts. */
struct relation {
    const struct order_term *terms[2][ORDER_MAX_TERMS];
    size_t count;
    int decided; /* behind these terms: -1 the first comes first, 1 the second does, 0 neither */
};

static void relate(const struct leaf *leaf, const struct order *a, const struct order *b,
                   size_t shared, struct relation *out)
{
    static const struct order_term none;
    out->count = 0;
    out->decided = 0;
    for (size_t i = 0; i < a->count || i < b->count; i++) {
        const struct order_term *x = i < a->count ? &a->terms[i] : &none;
        const struct order_term *y = i < b->count ? &b->terms[i] : &none;
        const bool are_places = !x->loop && !x->by && !y->loop && !y->by;
        if (same_term(x, y) && (are_places || is_shared_term(leaf, x, shared)))
            continue;
        if (are_places) {
            out->decided = x->place < y->place ? -1 : 1;
            return;
        }
        out->terms[0][out->count] = x;
        out->terms[1][out->count++] = y;
    }
}

bool order_is_plainly_kept(const struct leaf *from, const struct leaf *to, const struct order *a,
                           const struct order *b, size_t shared)
{
    struct relation old;
    struct relation new;
    relate(from, &from->order, &to->order, shared, &old);
    relate(from, a, b, shared, &new);
    if ((new.count == 0 && new.decided < 0) || (old.count == 0 && old.decided >= 0))
        return true;
    if (old.count != new.count || old.decided != new.decided)
        return false;
    for (size_t i = 0; i < old.count; i++) {
        if (!same_term(old.terms[0][i], new.terms[0][i]) ||
            !same_term(old.terms[1][i], new.terms[1][i]))
            return false;
    }
    return true;
}
