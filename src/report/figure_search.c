/* The search in time: each decision as a mark over its number, and the best so far as a staircase.
 */
#include "report/internal.h"

#include <inttypes.h>
#include <math.h>

enum { WIDTH = 760, LEFT = 56, RIGHT = 704, TOP = 14, BOTTOM = 272, LANE = 296, HEIGHT = 346 };

struct curve {
    struct plot_axis x, y;
    bool *is_step; /* by decision: it improved on all before */
    bool has_lane; /* something was not timed */
};

static struct curve make_curve(const struct page *page)
{
    const struct report_input *input = page->input;
    double low = 0;
    double high = 0;
    double best = 0;
    struct curve curve = {
        .is_step = arena_array(page->arena, input->decision_count + 1, sizeof *curve.is_step)};
    for (size_t i = 0; i < input->decision_count; i++) {
        const struct graph_decision *d = &input->decisions[i];
        if (!decision_has_ratio(d)) {
            curve.has_lane = true;
            continue;
        }
        low = fmin(low, d->log_ratio);
        high = fmax(high, d->log_ratio);
        curve.is_step[i] = look_of(d) == LOOK_WIN && d->log_ratio > best;
        if (curve.is_step[i])
            best = d->log_ratio;
    }
    low = fmax(low, -fmax(high, log(4))); /* one very slow candidate must not flatten the rest */
    curve.y = plot_ratio_axis(exp(low), exp(high));
    curve.y.at_low = BOTTOM;
    curve.y.at_high = TOP;
    curve.x = (struct plot_axis){.low = 0.5,
                                 .high = (double)input->decision_count + 0.5,
                                 .at_low = LEFT + 8,
                                 .at_high = RIGHT - 8};
    return curve;
}

static void draw_axes(struct page *page, const struct curve *curve)
{
    struct buf *out = page->out;
    double ticks[PLOT_MAX_TICKS];
    const size_t rows = plot_ticks(&curve->y, ticks);
    for (size_t i = 0; i < rows; i++) {
        const double y = plot_at(&curve->y, ticks[i]);
        svg_line(out, "grid", LEFT, y, RIGHT, y);
        svg_text(out, "tick", SVG_END, LEFT - 8, y + 4,
                 arena_printf(page->arena, "%s×", plot_tick_text(ticks[i]).text));
    }
    const double one = plot_at(&curve->y, 1);
    svg_line(out, "baseline", LEFT, one, RIGHT, one);
    svg_text(out, "note", SVG_START, RIGHT + 6, one + 4, "baseline");
    svg_line(out, "axis", LEFT, BOTTOM, RIGHT, BOTTOM);
    if (curve->has_lane) {
        svg_rect(out, "lane", LEFT, LANE - 12, RIGHT - LEFT, 24);
        svg_text(out, "tick", SVG_END, LEFT - 8, LANE + 4, "no time");
    }
    const size_t columns = plot_ticks(&curve->x, ticks);
    const double foot = curve->has_lane ? LANE + 12 : BOTTOM;
    for (size_t i = 0; i < columns; i++) {
        const double x = plot_at(&curve->x, ticks[i]);
        if (ticks[i] != floor(ticks[i]))
            continue;
        svg_line(out, "axis", x, foot, x, foot + 4);
        svg_text(out, "tick", SVG_MIDDLE, x, foot + 17, plot_tick_text(ticks[i]).text);
    }
    svg_text(out, "axis-title", SVG_END, RIGHT, foot + 34, "decision, in the order of evaluation");
}

static void draw_staircase(struct page *page, const struct curve *curve)
{
    const struct report_input *input = page->input;
    double best = 0;
    for (size_t i = 0; i < input->decision_count; i++) {
        if (!curve->is_step[i])
            continue;
        if (best <= 0)
            (void)buf_printf(page->out, "<path class=\"staircase\" d=\"M%d %.1f", LEFT,
                             plot_at(&curve->y, 1));
        best = input->decisions[i].log_ratio;
        (void)buf_printf(page->out, "H%.1fV%.1f", plot_at(&curve->x, (double)i + 1),
                         plot_at(&curve->y, exp(best)));
    }
    if (best <= 0)
        return;
    (void)buf_printf(page->out, "H%d\"/>\n", RIGHT);
    svg_text(page->out, "note strong", SVG_START, RIGHT + 6, plot_at(&curve->y, exp(best)) + 4,
             label_ratio(best).text);
}

static void draw_decision(struct page *page, const struct curve *curve, size_t index)
{
    const struct graph_decision *d = &page->input->decisions[index];
    const struct look_style *style = look_style(look_of(d));
    const double x = plot_at(&curve->x, (double)index + 1);
    const double y = decision_has_ratio(d) ? plot_at(&curve->y, exp(d->log_ratio)) : LANE;
    svg_group_open(page->out, "decision", look_tooltip(d, page->arena));
    if (decision_has_ratio(d) && isfinite(d->log_low) && isfinite(d->log_high))
        svg_line(page->out, "whisker", x, plot_at(&curve->y, exp(d->log_low)), x,
                 plot_at(&curve->y, exp(d->log_high)));
    if (index == page->best && page->is_verified)
        (void)buf_printf(page->out, "<circle class=\"halo\" cx=\"%.1f\" cy=\"%.1f\" r=\"8\"/>\n", x,
                         y);
    svg_draw_mark(page->out, style->mark, style->class, x, y,
                  page->input->decision_count > 150 ? 3 : 4.5);
    svg_group_close(page->out);
}

/* Numbers at the steps of the staircase; where two would collide the later one stays. */
static void draw_numbers(struct page *page, const struct curve *curve)
{
    double next_x = (double)INFINITY;
    for (size_t i = page->input->decision_count; i-- > 0;) {
        const struct graph_decision *d = &page->input->decisions[i];
        const double x = plot_at(&curve->x, (double)i + 1);
        if (!curve->is_step[i] || next_x - x < 26)
            continue;
        svg_text(page->out, "note", SVG_END, x - 7, plot_at(&curve->y, exp(d->log_ratio)) - 6,
                 arena_printf(page->arena, "#%" PRId64, d->sequence));
        next_x = x;
    }
}

void figure_draw_search(struct page *page)
{
    const struct curve curve = make_curve(page);
    const size_t count = page->input->decision_count;
    const struct svg_frame frame = {
        .id = "fig-search",
        .title = "Speedup of each decision and the best so far",
        .description = arena_printf(page->arena,
                                    "%zu decisions in order; speedup over the baseline on a "
                                    "logarithmic axis. The same numbers stand in the table of all "
                                    "decisions.",
                                    count),
        .width = WIDTH,
        .height = curve.has_lane ? HEIGHT : HEIGHT - (LANE + 12 - BOTTOM)};
    svg_open(page->out, &frame);
    draw_axes(page, &curve);
    draw_staircase(page, &curve);
    for (size_t i = 0; i < count; i++)
        draw_decision(page, &curve, i);
    draw_numbers(page, &curve);
    svg_close(page->out);
}
