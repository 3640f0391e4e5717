/*
 * Tidy trees after Reingold and Tilford (1981): subtrees are drawn alike wherever they stand, are
 * packed until their contours touch, and a parent is centred over its children. Depth runs to the
 * right here, so the contours are the top and bottom rows by depth. Parents come before their
 * children, so one pass backwards replaces the recursion and no input can exhaust the stack.
 */
#include "report/internal.h"

struct contour {
    double *top, *bottom; /* by depth below the subtree's root, relative to the root's row */
    size_t depth;         /* levels */
};

/* How far `below` must be shifted down for its top to clear `above` by a row. */
static double clearance(const struct contour *above, const struct contour *below)
{
    double shift = 0;
    for (size_t d = 0; d < above->depth && d < below->depth; d++) {
        const double need = above->bottom[d] + 1 - below->top[d];
        if (need > shift || d == 0)
            shift = need;
    }
    return shift;
}

static struct contour contour_new(size_t depth, struct arena *arena)
{
    return (struct contour){.top = arena_array(arena, depth, sizeof(double)),
                            .bottom = arena_array(arena, depth, sizeof(double)),
                            .depth = depth};
}

/* `above` with `below` shifted by `shift` added. */
static struct contour contour_join(const struct contour *above, const struct contour *below,
                                   double shift, struct arena *arena)
{
    const size_t depth = above->depth > below->depth ? above->depth : below->depth;
    struct contour joined = contour_new(depth, arena);
    for (size_t d = 0; d < depth; d++) {
        joined.top[d] = d < above->depth ? above->top[d] : below->top[d] + shift;
        joined.bottom[d] = d < below->depth ? below->bottom[d] + shift : above->bottom[d];
    }
    return joined;
}

/* Packs the children of `node` and centres it; their offsets become relative to it. */
static struct contour place_children(const size_t *children, size_t child_count,
                                     const struct contour *contours, double *offsets,
                                     struct arena *arena)
{
    struct contour packed = {0};
    double last = 0;
    for (size_t i = 0; i < child_count; i++) {
        const struct contour *child = &contours[children[i]];
        last = i == 0 ? 0 : clearance(&packed, child);
        offsets[children[i]] = last;
        packed = i == 0 ? *child : contour_join(&packed, child, last, arena);
    }
    const double middle = last / 2;
    struct contour whole = contour_new(packed.depth + 1, arena);
    for (size_t i = 0; i < child_count; i++)
        offsets[children[i]] -= middle;
    for (size_t d = 0; d < packed.depth; d++) {
        whole.top[d + 1] = packed.top[d] - middle;
        whole.bottom[d + 1] = packed.bottom[d] - middle;
    }
    return whole;
}

/* Children of `node` in order; returns how many. */
static size_t find_children(const size_t *parents, size_t count, size_t node, size_t *children)
{
    size_t n = 0;
    for (size_t i = node + 1; i < count; i++) {
        if (parents[i] == node)
            children[n++] = i;
    }
    return n;
}

struct tree_layout tree_lay_out(const size_t *parents, size_t count, struct arena *arena)
{
    struct tree_layout layout = {.places = arena_array(arena, count, sizeof *layout.places)};
    struct contour *contours = arena_array(arena, count, sizeof *contours);
    double *offsets = arena_array(arena, count, sizeof *offsets);
    size_t *children = arena_array(arena, count, sizeof *children);
    double topmost = 0;

    for (size_t i = count; i-- > 0;) {
        const size_t n = find_children(parents, count, i, children);
        contours[i] = place_children(children, n, contours, offsets, arena);
    }
    for (size_t d = 0; count > 0 && d < contours[0].depth; d++)
        topmost = contours[0].top[d] < topmost ? contours[0].top[d] : topmost;
    for (size_t i = 0; i < count; i++) {
        struct tree_place *place = &layout.places[i];
        place->row = i == 0 ? -topmost : layout.places[parents[i]].row + offsets[i];
        place->depth = i == 0 ? 0 : layout.places[parents[i]].depth + 1;
        layout.rows = place->row > layout.rows ? place->row : layout.rows;
        layout.depth = place->depth > layout.depth ? place->depth : layout.depth;
    }
    return layout;
}
