#include "suite/suite.h"

#include "report/plot.h"
#include "json/json.h"

#include <math.h>

/* --- text ------------------------------------------------------------------------------------- */

static const char *interval_text(const struct stats_interval *i, const char *unit,
                                 struct arena *arena)
{
    return arena_printf(arena, "%.2f%s [%.2f, %.2f]", i->mid, unit, i->low, i->high);
}

static void write_tasks(const struct suite_summary *s, struct arena *arena, struct buf *out)
{
    (void)buf_printf(out, "%-20s %-14s %8s", "task", "family", "best");
    for (size_t a = 0; a < s->arm_count; a++)
        (void)buf_printf(out, "  %17s", s->arms[a].name);
    (void)buf_append_str(out, "\n");
    for (size_t t = 0; t < s->task_count; t++) {
        const struct suite_task_result *task = &s->tasks[t];
        if (isnan(task->evaluations[0]))
            continue;
        (void)buf_printf(out, "%-20s %-14s %7.2fx", task->name, task->family, task->best);
        for (size_t a = 0; a < s->arm_count; a++)
            (void)buf_printf(
                out, "  %17s",
                arena_printf(arena, "%.1f, %.2fx", task->evaluations[a], task->speedups[a]));
        (void)buf_append_str(out, "\n");
    }
}

void suite_write_text(const struct suite_summary *s, struct arena *arena, struct buf *out)
{
    (void)buf_printf(
        out,
        "%zu tasks, %lld seeds, %lld candidates at most; of each arm: evaluations to "
        "95 %% of the best that was confirmed (found, where nothing was), confirmed speedup\n",
        s->task_count, (long long)s->seeds, (long long)s->budget);
    write_tasks(s, arena, out);
    (void)buf_printf(out, "\n%-16s %-22s %11s %-24s %-22s %-24s %8s\n", "arm",
                     "evaluations to 95 %", "reached", "fewer than the first by", "speedup",
                     "over the first's", "minutes");
    for (size_t a = 0; a < s->arm_count; a++) {
        const struct suite_arm_result *arm = &s->arms[a];
        (void)buf_printf(
            out, "%-16s %-22s %11s %-24s %-22s %-24s %8.1f\n", arm->name,
            interval_text(&arm->evaluations, "", arena),
            arena_printf(arena, "%lld of %lld", (long long)arm->reached, (long long)arm->runs),
            interval_text(&arm->fewer, "x", arena), interval_text(&arm->speedup, "x", arena),
            interval_text(&arm->faster, "x", arena), arm->seconds / 60.0);
    }
    (void)buf_append_str(out, "geometric means, paired by task and seed; 95 % intervals by "
                              "bootstrap over the tasks\n");
    if (s->left_out > 0)
        (void)buf_printf(out, "left out: %lld runs that not every arm has done yet\n",
                         (long long)s->left_out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_interval(struct json_writer *w, const char *key, const struct stats_interval *i)
{
    json_key(w, key);
    json_begin_array(w);
    json_write_real(w, i->mid);
    json_write_real(w, i->low);
    json_write_real(w, i->high);
    json_end_array(w);
}

static void put_reals(struct json_writer *w, const char *key, const double *values, size_t count)
{
    json_key(w, key);
    json_begin_array(w);
    for (size_t i = 0; i < count; i++)
        json_write_real(w, values[i]);
    json_end_array(w);
}

static void write_arm(const struct suite_summary *s, const struct suite_arm_result *arm,
                      struct json_writer *w)
{
    json_begin_object(w);
    json_put_string(w, "arm", arm->name);
    json_put_int(w, "runs", arm->runs);
    json_put_int(w, "reached", arm->reached);
    json_put_int(w, "wins", arm->wins);
    put_interval(w, "evaluations", &arm->evaluations);
    put_interval(w, "fewer", &arm->fewer);
    put_interval(w, "speedup", &arm->speedup);
    put_interval(w, "faster", &arm->faster);
    json_put_real(w, "seconds", arm->seconds);
    json_put_int(w, "tokens", arm->tokens);
    put_reals(w, "share", arm->share, (size_t)s->budget);
    json_end_object(w);
}

void suite_write_json(const struct suite_summary *s, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_int(&w, "seeds", s->seeds);
    json_put_int(&w, "budget", s->budget);
    json_put_int(&w, "left_out", s->left_out);
    json_key(&w, "arms");
    json_begin_array(&w);
    for (size_t a = 0; a < s->arm_count; a++)
        write_arm(s, &s->arms[a], &w);
    json_end_array(&w);
    json_key(&w, "tasks");
    json_begin_array(&w);
    for (size_t t = 0; t < s->task_count; t++) {
        json_begin_object(&w);
        json_put_string(&w, "task", s->tasks[t].name);
        json_put_string(&w, "family", s->tasks[t].family);
        json_put_real(&w, "best_speedup", s->tasks[t].best);
        put_reals(&w, "evaluations", s->tasks[t].evaluations, s->arm_count);
        put_reals(&w, "speedups", s->tasks[t].speedups, s->arm_count);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
}

/* --- figure ----------------------------------------------------------------------------------- */

enum { WIDTH = 760, HEIGHT = 360, LEFT = 60, RIGHT = 590, TOP = 20, BOTTOM = 310 };

/* The figure stands alone, so it brings its look along. Colours after Okabe and Ito (2008). */
static const char style[] =
    "<style>svg{background:#fdfdfb;font:12px sans-serif;fill:#1c1e22}.grid{stroke:#dcd9d2}"
    ".axis{stroke:#8b8f97}.tick,.axis-title{fill:#575c66}.curve{fill:none;stroke-width:2}"
    "@media (prefers-color-scheme:dark){svg{background:#16181c;fill:#e4e2dd}.grid{stroke:#34383f}"
    ".tick,.axis-title{fill:#a0a4ac}}</style>\n";
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#8b8f97", "#8a6d00"};
static const char *const dashes[] = {"none", "7 3", "2 3", "9 3 2 3"};

static void draw_axes(const struct plot_axis *x, const struct plot_axis *y, struct arena *arena,
                      struct buf *out)
{
    double ticks[PLOT_MAX_TICKS];
    size_t count = plot_ticks(y, ticks);
    for (size_t i = 0; i < count; i++) {
        const double at = plot_at(y, ticks[i]);
        svg_line(out, "grid", LEFT, at, RIGHT, at);
        svg_text(out, "tick", SVG_END, LEFT - 8, at + 4,
                 arena_printf(arena, "%.0f %%", 100.0 * ticks[i]));
    }
    count = plot_ticks(x, ticks);
    for (size_t i = 0; i < count; i++) {
        const double at = plot_at(x, ticks[i]);
        svg_line(out, "axis", at, BOTTOM, at, BOTTOM + 4);
        svg_text(out, "tick", SVG_MIDDLE, at, BOTTOM + 18, plot_tick_text(ticks[i]).text);
    }
    svg_line(out, "axis", LEFT, BOTTOM, RIGHT, BOTTOM);
    svg_text(out, "axis-title", SVG_END, RIGHT, BOTTOM + 36, "candidates judged");
}

static void draw_arm(const struct suite_summary *s, size_t arm, const struct plot_axis *x,
                     const struct plot_axis *y, struct buf *out)
{
    const double *share = s->arms[arm].share;
    const char *colour = colours[arm % (sizeof colours / sizeof *colours)];
    const char *dash = dashes[arm % (sizeof dashes / sizeof *dashes)];
    const double key = TOP + 18.0 * (double)arm;
    (void)buf_printf(out,
                     "<path class=\"curve\" stroke=\"%s\" stroke-dasharray=\"%s\" d=\"M%.1f %.1f",
                     colour, dash, plot_at(x, 1), plot_at(y, share[0]));
    for (int64_t n = 1; n < s->budget; n++)
        (void)buf_printf(out, "H%.1fV%.1f", plot_at(x, (double)n + 1), plot_at(y, share[n]));
    (void)buf_printf(out,
                     "\"/>\n<path class=\"curve\" stroke=\"%s\" stroke-dasharray=\"%s\" "
                     "d=\"M%d %.1fH%d\"/>\n",
                     colour, dash, RIGHT + 14, key, RIGHT + 44);
    svg_text(out, "key", SVG_START, RIGHT + 50, key + 4, s->arms[arm].name);
}

void suite_write_svg(const struct suite_summary *s, struct arena *arena, struct buf *out)
{
    double low = 0.9, high = 1.0;
    for (size_t a = 0; a < s->arm_count; a++) {
        low = fmin(low, s->arms[a].share[0]);
        high = fmax(high, s->arms[a].share[s->budget > 0 ? s->budget - 1 : 0]);
    }
    const struct plot_axis x = {.low = 1,
                                .high = fmax(2, (double)s->budget),
                                .at_low = LEFT,
                                .at_high = RIGHT,
                                .is_log = true};
    const struct plot_axis y = {
        .low = floor(low * 10.0) / 10.0, .high = high, .at_low = BOTTOM, .at_high = TOP};
    const struct svg_frame frame = {
        .id = "suite",
        .title = "How near to the best known speedup, by candidates judged",
        .description = arena_printf(arena,
                                    "geometric mean over %zu tasks and %lld seeds of the best so "
                                    "far as a share of the best that any run confirmed",
                                    s->task_count, (long long)s->seeds),
        .width = WIDTH,
        .height = HEIGHT};
    svg_open(out, &frame);
    (void)buf_append_str(out, style);
    draw_axes(&x, &y, arena, out);
    for (size_t a = 0; a < s->arm_count; a++)
        draw_arm(s, a, &x, &y, out);
    svg_close(out);
}
