#include "report/plot.h"

#include "report/markup.h"

#include <math.h>
#include <stdio.h>

double plot_at(const struct plot_axis *axis, double value)
{
    const double span = axis->is_log ? log(axis->high / axis->low) : axis->high - axis->low;
    const double way = axis->is_log ? log(value / axis->low) : value - axis->low;
    double share = way / span;
    if (!(share > 0)) /* NaN too */
        share = 0;
    if (share > 1)
        share = 1;
    return axis->at_low + share * (axis->at_high - axis->at_low);
}

/* Multiples of a 1-2-5 step; the finest step that gives at most `most` ticks. */
static size_t linear_ticks(double low, double high, size_t most, double *ticks)
{
    static const double steps[] = {1, 2, 5, 10};
    const double raw = (high - low) / (double)most;
    if (!(raw > 0) || !isfinite(raw))
        return 0;
    const double decade = pow(10, floor(log10(raw)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const double step = steps[i] * decade;
        const double first = ceil(low / step - 1e-9);
        const double last = floor(high / step + 1e-9);
        if (last - first + 1 > (double)most)
            continue;
        const size_t count = (size_t)(last - first + 1);
        for (size_t k = 0; k < count; k++)
            ticks[k] = (first + (double)k) * step;
        return count;
    }
    return 0;
}

/* mantissa x 10^(k x stride) within low..high; SIZE_MAX where more than `most`. */
static size_t decade_ticks(double low, double high, const double *mantissas, size_t mantissa_count,
                           int stride, size_t most, double *ticks)
{
    size_t count = 0;
    const int first = (int)floor(log10(low)) - stride;
    const int last = (int)ceil(log10(high));
    for (int k = first - (first % stride + stride) % stride; k <= last; k += stride) {
        for (size_t i = 0; i < mantissa_count; i++) {
            const double tick = mantissas[i] * pow(10, k);
            if (tick < low * (1 - 1e-9) || tick > high * (1 + 1e-9))
                continue;
            if (count == most)
                return SIZE_MAX;
            ticks[count++] = tick;
        }
    }
    return count;
}

static size_t log_ticks(double low, double high, size_t most, double *ticks)
{
    static const double full[] = {1, 1.5, 2, 3, 4, 5, 6, 8};
    static const double half[] = {1, 2, 5};
    if (high / low < 2)
        return linear_ticks(low, high, 6, ticks);
    size_t count = decade_ticks(low, high, full, 8, 1, most, ticks);
    if (count == SIZE_MAX)
        count = decade_ticks(low, high, half, 3, 1, most, ticks);
    for (int stride = 1; count == SIZE_MAX && stride < 400; stride++)
        count = decade_ticks(low, high, half, 1, stride, most, ticks);
    return count == SIZE_MAX ? 0 : count;
}

size_t plot_ticks(const struct plot_axis *axis, double ticks[PLOT_MAX_TICKS])
{
    if (axis->is_log)
        return log_ticks(axis->low, axis->high, 10, ticks);
    return linear_ticks(axis->low, axis->high, 10, ticks);
}

struct plot_axis plot_ratio_axis(double low, double high)
{
    const double from = isfinite(low) && low > 0 && low < 1 ? low : 1;
    const double to = isfinite(high) && high > 1 ? high : 1;
    const double pad = fmax(pow(to / from, 0.06), 1.02);
    return (struct plot_axis){
        .low = fmin(from / pad, 0.9), .high = fmax(to * pad, 1.1), .is_log = true};
}

struct plot_number plot_tick_text(double tick)
{
    struct plot_number number;
    if (fabs(tick) >= 1e6 || (tick != 0 && fabs(tick) < 1e-4))
        (void)snprintf(number.text, sizeof number.text, "%.0e", tick);
    else
        (void)snprintf(number.text, sizeof number.text, "%.6g", tick);
    return number;
}

void svg_open(struct buf *out, const struct svg_frame *frame)
{
    (void)buf_printf(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\" role=\"img\" "
                     "aria-labelledby=\"%s-t %s-d\" viewBox=\"0 0 %.0f %.0f\"",
                     frame->is_fixed ? "plot fixed" : "plot", frame->id, frame->id, frame->width,
                     frame->height);
    if (frame->is_fixed)
        (void)buf_printf(out, " width=\"%.0f\" height=\"%.0f\" style=\"min-width:%.0fpx\"",
                         frame->width, frame->height, frame->width * 0.8);
    (void)buf_printf(out, ">\n<title id=\"%s-t\">", frame->id);
    markup_text(out, frame->title);
    (void)buf_printf(out, "</title>\n<desc id=\"%s-d\">", frame->id);
    markup_text(out, frame->description);
    (void)buf_append_str(out, "</desc>\n");
}

void svg_close(struct buf *out)
{
    (void)buf_append_str(out, "</svg>\n");
}

void svg_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2)
{
    (void)buf_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                     class, x1, y1, x2, y2);
}

void svg_rect(struct buf *out, const char *class, double x, double y, double width, double height)
{
    (void)buf_printf(out,
                     "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                     class, x, y, width, height);
}

void svg_text(struct buf *out, const char *class, enum svg_anchor anchor, double x, double y,
              const char *text)
{
    static const char *const anchors[] = {
        [SVG_START] = "start", [SVG_MIDDLE] = "middle", [SVG_END] = "end"};
    (void)buf_printf(out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class,
                     anchors[anchor], x, y);
    markup_text(out, text);
    (void)buf_append_str(out, "</text>\n");
}

void svg_group_open(struct buf *out, const char *class, const char *tooltip)
{
    (void)buf_printf(out, "<g class=\"%s\"><title>", class);
    markup_text(out, tooltip);
    (void)buf_append_str(out, "</title>");
}

void svg_group_close(struct buf *out)
{
    (void)buf_append_str(out, "</g>\n");
}

/* Outlines in a box of -1..1, as (move or line, x, y); {0} ends. The sizes are chosen so that all
 * marks look equally large. */
struct stroke {
    char command;
    double x, y;
};

static const struct stroke outlines[MARK_COUNT][6] = {
    [MARK_SQUARE] = {{'M', -.86, -.86}, {'L', .86, -.86}, {'L', .86, .86}, {'L', -.86, .86}},
    [MARK_BOX] = {{'M', -.8, -.8}, {'L', .8, -.8}, {'L', .8, .8}, {'L', -.8, .8}},
    [MARK_TRIANGLE] = {{'M', 0, -1.1}, {'L', 1.1, .8}, {'L', -1.1, .8}},
    [MARK_TRIANGLE_DOWN] = {{'M', 0, 1.1}, {'L', 1.1, -.8}, {'L', -1.1, -.8}},
    [MARK_DIAMOND] = {{'M', 0, -1.25}, {'L', 1.25, 0}, {'L', 0, 1.25}, {'L', -1.25, 0}},
    [MARK_CROSS] = {{'M', -.9, -.9}, {'L', .9, .9}, {'M', -.9, .9}, {'L', .9, -.9}},
    [MARK_DASH] = {{'M', -1, 0}, {'L', 1, 0}},
};

void svg_draw_mark(struct buf *out, enum svg_mark mark, const char *class, double x, double y,
                   double radius)
{
    const bool is_open = mark == MARK_RING || mark == MARK_BOX;
    const bool is_stroke = mark == MARK_CROSS || mark == MARK_DASH;
    const char *style = is_open ? "open" : is_stroke ? "stroke" : "solid";
    if (mark == MARK_DISC || mark == MARK_RING) {
        (void)buf_printf(out, "<circle class=\"mark %s %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
                         style, class, x, y, is_open ? radius * 0.9 : radius);
        return;
    }
    (void)buf_printf(out, "<path class=\"mark %s %s\" d=\"", style, class);
    for (const struct stroke *s = outlines[mark]; s->command; s++)
        (void)buf_printf(out, "%c%.1f %.1f", s->command, x + s->x * radius, y + s->y * radius);
    (void)buf_printf(out, "%s\"/>\n", is_stroke ? "" : "Z");
}
