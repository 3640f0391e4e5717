/*
 * The decision tree: each decision a chip with number and speedup. It grows to the right, where
 * bushy trees read best, or downwards where that fits the page better: a long search is deep.
 */
#include "report/internal.h"

#include <inttypes.h>
#include <string.h>

enum { CHIP_WIDTH = 96, CHIP_HEIGHT = 20, MARGIN = 8, PAGE_WIDTH = 928 };
/* Pitch of levels and of neighbours. */
enum { LEVEL_RIGHT = 118, NEXT_RIGHT = 27, LEVEL_DOWN = 44, NEXT_DOWN = 104 };

/* Which decisions are drawn: all, or the first ones and the path to the best. Node 0 of `parents`
 * is the baseline; `decisions[node]` names what is drawn. */
struct drawn {
    size_t *parents, *decisions;
    size_t count;
};

static struct drawn choose_nodes(const struct page *page)
{
    const size_t all = page->input->decision_count;
    const size_t most = all < REPORT_TREE_MAX_NODES ? all : REPORT_TREE_MAX_NODES;
    size_t *node_of = arena_array(page->arena, all + 1, sizeof(size_t));
    size_t left = most;
    struct drawn drawn = {.parents = arena_array(page->arena, most + 1, sizeof(size_t)),
                          .decisions = arena_array(page->arena, most + 1, sizeof(size_t)),
                          .count = 1};
    for (size_t i = 0; i < all; i++)
        left -= page->on_best_path[i] && left > 0;
    drawn.decisions[0] = REPORT_NO_DECISION;
    for (size_t i = 0; i < all && drawn.count <= most; i++) {
        const size_t parent = page->parents[i];
        const bool has_parent = parent == REPORT_NO_DECISION || node_of[parent] != 0;
        if (!has_parent || (!page->on_best_path[i] && left == 0))
            continue;
        left -= !page->on_best_path[i];
        node_of[i] = drawn.count;
        drawn.parents[drawn.count] = parent == REPORT_NO_DECISION ? 0 : node_of[parent];
        drawn.decisions[drawn.count++] = i;
    }
    return drawn;
}

struct canvas {
    struct tree_layout layout;
    bool is_down;
    double width, height;
};

static struct canvas make_canvas(const struct tree_layout *layout)
{
    const double depth = (double)layout->depth;
    const double right = 2 * MARGIN + depth * LEVEL_RIGHT + CHIP_WIDTH;
    const double down = 2 * MARGIN + layout->rows * NEXT_DOWN + CHIP_WIDTH;
    struct canvas canvas = {.layout = *layout, .is_down = right > PAGE_WIDTH && down < right};
    canvas.width = canvas.is_down ? down : right;
    canvas.height = 2 * MARGIN + CHIP_HEIGHT +
                    (canvas.is_down ? depth * LEVEL_DOWN : layout->rows * NEXT_RIGHT);
    return canvas;
}

/* Left edge and middle line of a node's chip. */
static double chip_x(const struct canvas *canvas, size_t node)
{
    const struct tree_place *place = &canvas->layout.places[node];
    return MARGIN + (canvas->is_down ? place->row * NEXT_DOWN : (double)place->depth * LEVEL_RIGHT);
}

static double chip_y(const struct canvas *canvas, size_t node)
{
    const struct tree_place *place = &canvas->layout.places[node];
    return MARGIN + CHIP_HEIGHT / 2.0 +
           (canvas->is_down ? (double)place->depth * LEVEL_DOWN : place->row * NEXT_RIGHT);
}

static void draw_edge(struct page *page, const struct canvas *canvas, size_t from, size_t to,
                      size_t decision)
{
    const struct graph_decision *d = &page->input->decisions[decision];
    const bool is_large = strcmp(text_or_empty(d->step), "large") == 0;
    const bool down = canvas->is_down;
    const double x1 = chip_x(canvas, from) + (down ? CHIP_WIDTH / 2.0 : CHIP_WIDTH);
    const double y1 = chip_y(canvas, from) + (down ? CHIP_HEIGHT / 2.0 : 0);
    const double x2 = chip_x(canvas, to) + (down ? CHIP_WIDTH / 2.0 : 0);
    const double y2 = chip_y(canvas, to) - (down ? CHIP_HEIGHT / 2.0 : 0);
    const double x = (x1 + x2) / 2;
    const double y = (y1 + y2) / 2;
    (void)buf_printf(page->out,
                     "<path class=\"edge%s%s\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n",
                     page->on_best_path[decision] ? " best" : "", is_large ? " large" : "", x1, y1,
                     down ? x1 : x, down ? y : y1, down ? x2 : x, down ? y : y2, x2, y2);
}

static void draw_root(struct page *page, const struct canvas *canvas)
{
    svg_group_open(page->out, "chip root", "the baseline: the reference, compiled");
    (void)buf_printf(page->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"3\"/>",
                     chip_x(canvas, 0), chip_y(canvas, 0) - CHIP_HEIGHT / 2.0, CHIP_WIDTH,
                     CHIP_HEIGHT);
    svg_text(page->out, "chip-text", SVG_MIDDLE, chip_x(canvas, 0) + CHIP_WIDTH / 2.0,
             chip_y(canvas, 0) + 4, "baseline");
    svg_group_close(page->out);
}

static void draw_chip(struct page *page, const struct canvas *canvas, size_t node, size_t decision)
{
    const struct graph_decision *d = &page->input->decisions[decision];
    const enum look look = look_of(d);
    const struct look_style *style = look_style(look);
    const double x = chip_x(canvas, node);
    const double y = chip_y(canvas, node);
    const bool is_timed = look <= LOOK_TIMED;
    svg_group_open(page->out,
                   arena_printf(page->arena, "chip%s%s",
                                page->on_best_path[decision] ? " best" : "",
                                is_timed ? "" : " dead"),
                   look_tooltip(d, page->arena));
    (void)buf_printf(page->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"3\"/>",
                     x, y - CHIP_HEIGHT / 2.0, CHIP_WIDTH, CHIP_HEIGHT);
    svg_draw_mark(page->out, style->mark, style->class, x + 11, y, 4);
    svg_text(page->out, "chip-text", SVG_START, x + 20, y + 4,
             arena_printf(page->arena, "#%" PRId64, d->sequence));
    svg_text(page->out, is_timed ? "chip-text value" : "chip-text", SVG_END, x + CHIP_WIDTH - 6,
             y + 4, is_timed ? label_ratio(d->log_ratio).text : style->brief);
    svg_group_close(page->out);
}

void figure_draw_tree(struct page *page, size_t *out_shown)
{
    const struct drawn drawn = choose_nodes(page);
    const struct tree_layout layout = tree_lay_out(drawn.parents, drawn.count, page->arena);
    const struct canvas canvas = make_canvas(&layout);
    const struct svg_frame frame = {
        .id = "fig-tree",
        .title = "Decision tree",
        .description = "Each decision hangs from the one that it changed; the path to the best is "
                       "drawn bold. The table of all decisions gives each parent.",
        .width = canvas.width,
        .height = canvas.height,
        .is_fixed = true};
    svg_open(page->out, &frame);
    for (int best = 0; best <= 1; best++) {
        for (size_t i = 1; i < drawn.count; i++) {
            if (page->on_best_path[drawn.decisions[i]] == (best == 1))
                draw_edge(page, &canvas, drawn.parents[i], i, drawn.decisions[i]);
        }
    }
    draw_root(page, &canvas);
    for (size_t i = 1; i < drawn.count; i++)
        draw_chip(page, &canvas, i, drawn.decisions[i]);
    svg_close(page->out);
    *out_shown = drawn.count - 1;
}
