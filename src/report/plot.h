/*
 * Figures as SVG: axes with round ticks, linear and logarithmic, and the few primitives that the
 * report's figures need. No page, no data model: numbers in, markup out.
 *
 * Colours, strokes and fonts are CSS classes of the page (style.c), so one figure serves light,
 * dark and print. Coordinates are SVG user units (px at scale 1), y downwards. Pure; threads: any.
 */
#ifndef KOPE_REPORT_PLOT_H
#define KOPE_REPORT_PLOT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum { PLOT_MAX_TICKS = 12 };

/* Maps low..high to at_low..at_high (which may run backwards). A log axis has low > 0. */
struct plot_axis {
    double low, high;
    double at_low, at_high;
    bool is_log;
};

/* Position of a value, held within the axis; a NaN is at `at_low`. */
double plot_at(const struct plot_axis *axis, double value);

/* Round values within the axis, 2 to PLOT_MAX_TICKS where possible: 1-2-5 steps, on a log axis
 * decades thinned or filled with 2 and 5 (or linear steps where it spans less than a factor 2). */
size_t plot_ticks(const struct plot_axis *axis, double ticks[PLOT_MAX_TICKS]);

/* A log axis for ratios: holds low..high and 1, padded, never narrower than +-10 %. */
struct plot_axis plot_ratio_axis(double low, double high);

/* "2", "0.05", "1.25": as few digits as tell the ticks apart. */
struct plot_number {
    char text[24];
};
struct plot_number plot_tick_text(double tick);

/* One figure: `id` unique in the page (letters, digits, '-'); `title` and `description` are for
 * readers who cannot see it. With `is_fixed` it keeps its size,
 * shrinks by a fifth at most, and then its box scrolls. */
struct svg_frame {
    const char *id, *title, *description;
    double width, height;
    bool is_fixed;
};
void svg_open(struct buf *out, const struct svg_frame *frame);
void svg_close(struct buf *out);

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

void svg_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2);
void svg_rect(struct buf *out, const char *class, double x, double y, double width, double height);
void svg_text(struct buf *out, const char *class, enum svg_anchor anchor, double x, double y,
              const char *text);
/* A group with a tooltip; close with svg_group_close. */
void svg_group_open(struct buf *out, const char *class, const char *tooltip);
void svg_group_close(struct buf *out);

/* Marks differ in shape as well as in colour. */
enum svg_mark {
    MARK_DISC,
    MARK_RING,
    MARK_SQUARE,
    MARK_BOX, /* hollow */
    MARK_TRIANGLE,
    MARK_TRIANGLE_DOWN,
    MARK_DIAMOND,
    MARK_CROSS,
    MARK_DASH,
    MARK_COUNT
};
void svg_draw_mark(struct buf *out, enum svg_mark mark, const char *class, double x, double y,
                   double radius);

#endif
