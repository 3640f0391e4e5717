/* The ratio of each case as a forest plot: interval, median, noise floor; diamonds sum up. */
#include "report/internal.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 760, RIGHT = 616, TOP = 30, ROW = 24, NAME_CHARACTERS = 32 };

/* Left edge of the plot: room for the longest name. */
static double left_edge(const struct page *page)
{
    size_t longest = strlen("held out of the search:");
    for (size_t i = 0; i < page->input->best_case_count; i++) {
        const size_t length = strlen(text_or_empty(page->input->best_cases[i].name));
        longest = length > longest ? length : longest;
    }
    longest = longest < NAME_CHARACTERS ? longest : NAME_CHARACTERS;
    return 12 + 6.5 * (double)longest;
}

static bool is_plottable(const struct case_result *c)
{
    return isfinite(c->log_ratio) && isfinite(c->log_low) && isfinite(c->log_high) &&
           fabs(c->log_low) < 30 && fabs(c->log_high) < 30;
}

static struct plot_axis make_axis(const struct page *page)
{
    double low = 0;
    double high = 0;
    for (size_t i = 0; i < page->input->best_case_count; i++) {
        const struct case_result *c = &page->input->best_cases[i];
        if (!is_plottable(c))
            continue;
        low = fmin(low, c->log_low);
        high = fmax(high, c->log_high);
    }
    struct plot_axis axis = plot_ratio_axis(exp(low), exp(high));
    axis.at_low = left_edge(page);
    axis.at_high = RIGHT;
    return axis;
}

/* Differences that the gate calls no gain: the larger of 2 % and 3 x the rms of the A/A pairs. */
static double threshold(const struct case_result *c)
{
    const double noise = isfinite(c->noise) && c->noise > 0 && c->noise < 10 ? c->noise : 0;
    return fmax(log(1.02), 3 * noise);
}

static void draw_label(struct page *page, const char *name, const char *class, double x, double y)
{
    struct buf *out = page->out;
    (void)buf_printf(out, "<text class=\"%s\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">", class,
                     x - 12, y + 4);
    if (markup_clipped(out, name, NAME_CHARACTERS)) {
        (void)buf_append_str(out, "<title>");
        markup_text(out, name);
        (void)buf_append_str(out, "</title>");
    }
    (void)buf_append_str(out, "</text>\n");
}

static void draw_case(struct page *page, const struct plot_axis *axis, const struct case_result *c,
                      double y)
{
    const double x = plot_at(axis, exp(c->log_ratio));
    draw_label(page, c->name, "case", axis->at_low, y);
    if (!is_plottable(c)) {
        svg_text(page->out, "note", SVG_START, RIGHT + 12, y + 4, "not measured");
        return;
    }
    svg_group_open(page->out, "decision",
                   arena_printf(page->arena, "%s: %s [%s]", text_or_empty(c->name),
                                label_ratio(c->log_ratio).text,
                                label_interval(c->log_low, c->log_high).text));
    svg_line(page->out, "interval", plot_at(axis, exp(c->log_low)), y,
             plot_at(axis, exp(c->log_high)), y);
    svg_draw_mark(page->out, c->held_out ? MARK_BOX : MARK_DISC, "c-win", x, y, 4.5);
    svg_group_close(page->out);
    svg_text(page->out, "value", SVG_START, RIGHT + 12, y + 4, label_ratio(c->log_ratio).text);
    svg_text(page->out, "note", SVG_START, RIGHT + 62, y + 4,
             label_interval(c->log_low, c->log_high).text);
}

/* The weighted mean over the searched cases, as a diamond as wide as its interval. */
static void draw_mean(struct page *page, const struct plot_axis *axis, double y)
{
    const double x = plot_at(axis, exp(page->best_log_ratio));
    const double from = fmin(plot_at(axis, exp(page->best_low)), x - 6);
    const double to = fmax(plot_at(axis, exp(page->best_high)), x + 6);
    draw_label(page, "weighted mean", "case strong", axis->at_low, y);
    (void)buf_printf(page->out,
                     "<path class=\"mean\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n",
                     from, y, x, y - 6, to, y, x, y + 6);
    svg_text(page->out, "value strong", SVG_START, RIGHT + 12, y + 4,
             label_ratio(page->best_log_ratio).text);
    svg_text(page->out, "note", SVG_START, RIGHT + 62, y + 4,
             label_interval(page->best_low, page->best_high).text);
}

/* The noise floor of a group of rows, under everything else. */
static double draw_noise(struct page *page, const struct plot_axis *axis, bool held_out, double y)
{
    for (size_t i = 0; i < page->input->best_case_count; i++) {
        const struct case_result *c = &page->input->best_cases[i];
        if (c->held_out != held_out)
            continue;
        const double from = plot_at(axis, exp(-threshold(c)));
        svg_rect(page->out, "noise", from, y - ROW / 2.0, plot_at(axis, exp(threshold(c))) - from,
                 ROW);
        y += ROW;
    }
    return y;
}

static double draw_group(struct page *page, const struct plot_axis *axis, bool held_out, double y)
{
    for (size_t i = 0; i < page->input->best_case_count; i++) {
        const struct case_result *c = &page->input->best_cases[i];
        if (c->held_out != held_out)
            continue;
        draw_case(page, axis, c, y);
        y += ROW;
    }
    return y;
}

static void draw_axis(struct page *page, const struct plot_axis *axis, double bottom)
{
    double ticks[PLOT_MAX_TICKS];
    const size_t count = plot_ticks(axis, ticks);
    for (size_t i = 0; i < count; i++) {
        const double x = plot_at(axis, ticks[i]);
        svg_line(page->out, "grid", x, TOP - 8, x, bottom);
        svg_text(page->out, "tick", SVG_MIDDLE, x, bottom + 16,
                 arena_printf(page->arena, "%s×", plot_tick_text(ticks[i]).text));
    }
    svg_line(page->out, "axis", axis->at_low, bottom, RIGHT, bottom);
    svg_line(page->out, "baseline", plot_at(axis, 1), TOP - 8, plot_at(axis, 1), bottom);
    svg_text(page->out, "note", SVG_MIDDLE, plot_at(axis, 1), TOP - 14, "baseline");
    svg_text(page->out, "axis-title", SVG_END, RIGHT, bottom + 34,
             "baseline time / candidate time");
}

static size_t count_cases(const struct page *page, bool held_out)
{
    size_t count = 0;
    for (size_t i = 0; i < page->input->best_case_count; i++)
        count += page->input->best_cases[i].held_out == held_out;
    return count;
}

void figure_draw_cases(struct page *page)
{
    const struct plot_axis axis = make_axis(page);
    const bool has_held_out = count_cases(page, true) > 0;
    const size_t rows = page->input->best_case_count + page->has_interval + has_held_out;
    const double bottom = TOP + (double)rows * ROW + 4;
    const struct svg_frame frame = {
        .id = "fig-cases",
        .title = "Measured speedup of each case with its 95 % interval",
        .description = "One row for each case on a logarithmic axis of speedup; the table below "
                       "holds the same numbers.",
        .width = WIDTH,
        .height = bottom + 42};
    svg_open(page->out, &frame);
    double y = draw_noise(page, &axis, false, TOP + ROW / 2.0);
    (void)draw_noise(page, &axis, true, y + (page->has_interval ? 2 * ROW : ROW));
    draw_axis(page, &axis, bottom);
    y = draw_group(page, &axis, false, TOP + ROW / 2.0);
    if (page->has_interval) {
        draw_mean(page, &axis, y);
        y += ROW;
    }
    if (has_held_out) {
        svg_line(page->out, "grid", 0, y - ROW / 2.0 + 2, RIGHT + 130, y - ROW / 2.0 + 2);
        svg_text(page->out, "note", SVG_END, axis.at_low - 12, y + 5, "held out of the search:");
        (void)draw_group(page, &axis, true, y + ROW);
    }
    svg_close(page->out);
}
