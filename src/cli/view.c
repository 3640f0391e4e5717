#include "cli/view.h"

#include "base/buf.h"
#include "base/str.h"
#include "command/command.h"
#include "os/os.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct view view_make(bool json, bool quiet)
{
    struct view view = {.mode = VIEW_PLAIN};
    const char *term = os_env("TERM");
    const bool terminal = os_is_terminal(STDERR_FILENO) && term && !str_equal(term, "dumb");
    if (json)
        view.mode = VIEW_JSON;
    else if (quiet)
        view.mode = VIEW_QUIET;
    else if (terminal)
        view.mode = VIEW_LIVE;
    view.colour = terminal && !os_env("NO_COLOR");
    return view;
}

static const char *colour_of(const struct view *view, const char *code)
{
    return view->colour ? code : "";
}

/* What was changed, as short as it can be said: the names of the moves, else the intent. */
static void what_changed(const struct decision_event *decision, char *out, size_t bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < decision->move_count && used < bytes; i++) {
        const int n =
            snprintf(out + used, bytes - used, "%s%s", i ? " + " : "", decision->moves[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    if (decision->move_count == 0)
        (void)snprintf(out, bytes, "%s", decision->intent);
    str_make_printable(out);
}

/* One line about a judged candidate, without its end. */
static void describe(const struct progress *p, char *out, size_t bytes)
{
    const struct verdict *v = p->verdict;
    char result[64];
    char change[128] = "";
    if (p->decision)
        what_changed(p->decision, change, sizeof change);
    if (v->kind == VERDICT_TIMED)
        (void)snprintf(result, sizeof result, "%6.2fx [%.2f, %.2f]", exp(v->log_ratio),
                       exp(v->log_low), exp(v->log_high));
    else
        (void)snprintf(result, sizeof result, "%s (%s)", verdict_kind_name(v->kind), v->mechanism);
    (void)snprintf(out, bytes, "%3lld/%lld  %-22s %s%s%s", (long long)p->evaluations,
                   (long long)p->budget, result, p->is_new_best ? "* " : "  ", change,
                   v->from_record ? " (same code as before)" : "");
}

static void duration(double seconds, char *out, size_t bytes)
{
    if (seconds < 60.0)
        (void)snprintf(out, bytes, "%.0fs", seconds);
    else
        (void)snprintf(out, bytes, "%dm%02ds", (int)(seconds / 60.0), (int)fmod(seconds, 60.0));
}

/* Time left by the pace of the search so far and what confirming will take, or by the limit where
 * that is nearer. */
static double seconds_left(const struct progress *p)
{
    const double elapsed = (double)p->elapsed_ns * 1e-9;
    const double searching = elapsed - (double)p->opening_ns * 1e-9;
    double left = p->evaluations
                      ? searching / (double)p->evaluations * (double)(p->budget - p->evaluations) +
                            (double)p->reserve_ns * 1e-9
                      : -1.0;
    if (p->time_limit_ns) {
        const double limit = fmax(0.0, (double)p->time_limit_ns * 1e-9 - elapsed);
        left = left < 0.0 ? limit : fmin(left, limit);
    }
    return left;
}

static void plain(const struct view *view, const struct progress *p)
{
    char line[512] = "";
    char left[32] = "";
    if (p->text) {
        (void)snprintf(line, sizeof line, "%s", p->text);
        str_make_printable(line);
    }
    switch (p->kind) {
    case PROGRESS_STAGE:
        (void)fprintf(stderr, "%s\n", line);
        break;
    case PROGRESS_STARTED:
        (void)fprintf(stderr, "run %.12s\n", p->run_id);
        break;
    case PROGRESS_REMEMBERED:
        (void)fprintf(stderr, "starting from memory: %s\n", line);
        break;
    case PROGRESS_JUDGED:
        describe(p, line, sizeof line);
        if (seconds_left(p) >= 0.0)
            duration(seconds_left(p), left, sizeof left);
        (void)fprintf(stderr, "%s  [best %.2fx, %s left]\n", line, exp(p->best_log_ratio), left);
        break;
    case PROGRESS_CONFIRMED:
        (void)fprintf(stderr, "%s: %s\n", p->verdict->confirmed ? "confirmed" : "not confirmed",
                      line);
        break;
    case PROGRESS_PROPOSED:
    case PROGRESS_ENDED:
        break;
    }
    (void)view;
}

/* Eight heights of a bar for the best-so-far curve, on a log axis. */
static void sparkline(const struct view *view, int width, struct buf *out)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const double top = fmax(0.05, view->curve_count ? view->curve[view->curve_count - 1] : 0.0);
    const int count = view->curve_count < width ? view->curve_count : width;
    for (int i = 0; i < count; i++) {
        const int at = view->curve_count <= width ? i : i * (view->curve_count - 1) / (width - 1);
        int level = (int)(view->curve[at] / top * 7.0 + 0.5);
        level = level < 0 ? 0 : level > 7 ? 7 : level;
        (void)buf_append_str(out, bars[level]);
    }
}

static void end_line(struct view *view, struct buf *frame)
{
    (void)buf_append_str(frame, "\033[K\n");
    view->lines++;
}

static void draw_head(struct view *view, const struct progress *p, int columns, struct buf *frame)
{
    char spent[32];
    char left[32] = "?";
    duration((double)p->elapsed_ns * 1e-9, spent, sizeof spent);
    if (seconds_left(p) >= 0.0)
        duration(seconds_left(p), left, sizeof left);
    const char *bold = colour_of(view, "\033[1m");
    const char *good = colour_of(view, p->best_log_ratio > 0.0 ? "\033[1;32m" : "\033[1m");
    const char *off = colour_of(view, "\033[0m");
    (void)buf_printf(
        frame, "%skope%s %.12s   best %s%.2fx%s   %lld/%lld judged, tree %lld   %s spent, %s left",
        bold, off, p->run_id ? p->run_id : "", good, exp(p->best_log_ratio), off,
        (long long)p->evaluations, (long long)p->budget, (long long)p->tree_size, spent, left);
    end_line(view, frame);
    sparkline(view, columns < 100 ? columns - 2 : 98, frame);
    end_line(view, frame);
    for (int kind = VERDICT_COUNT; kind-- > 0;) {
        if (p->by_verdict[kind] != 0 || kind == VERDICT_TIMED)
            (void)buf_printf(frame, "%s%lld %s", kind == VERDICT_TIMED ? "" : ", ",
                             (long long)p->by_verdict[kind],
                             verdict_kind_name((enum verdict_kind)kind));
    }
    if (p->builds_saved != 0)
        (void)buf_printf(frame, "; %lld refused by rules", (long long)p->builds_saved);
    if (p->repeats != 0)
        (void)buf_printf(frame, "; %lld came to code judged before", (long long)p->repeats);
    if (p->token_budget || p->tokens)
        (void)buf_printf(frame, "   tokens %lld of %lld", (long long)p->tokens,
                         (long long)p->token_budget);
    end_line(view, frame);
}

static void draw(struct view *view, const struct progress *p)
{
    CLEANUP(buf_free) struct buf frame = {0};
    const int columns = os_terminal_columns(STDERR_FILENO);
    if (view->lines > 0)
        (void)buf_printf(&frame, "\033[%dA\r", view->lines);
    view->lines = 0;
    if (p->run_id)
        draw_head(view, p, columns, &frame);
    if (view->remembered[0] != '\0') {
        (void)buf_printf(&frame, "%.*s", columns - 1, view->remembered);
        end_line(view, &frame);
    }
    for (int i = 0; i < view->recent_count; i++) {
        (void)buf_printf(&frame, "%.*s", columns - 1, view->recent[i]);
        end_line(view, &frame);
    }
    if (view->stage[0] != '\0') {
        (void)buf_printf(&frame, "%s%.*s%s", colour_of(view, "\033[2m"), columns - 1, view->stage,
                         colour_of(view, "\033[0m"));
        end_line(view, &frame);
    }
    (void)buf_append_str(&frame, "\033[J");
    (void)fputs(buf_text(&frame), stderr);
    (void)fflush(stderr);
}

/* The line for what happened last; the oldest gives way. */
static char *next_recent(struct view *view)
{
    if (view->recent_count == VIEW_RECENT) {
        memmove(view->recent[0], view->recent[1], sizeof view->recent - sizeof view->recent[0]);
        view->recent_count--;
    }
    return view->recent[view->recent_count++];
}

static void live(struct view *view, const struct progress *p)
{
    view->stage[0] = '\0';
    if (p->kind == PROGRESS_STAGE)
        (void)snprintf(view->stage, sizeof view->stage, "%s ...", p->text);
    if (p->kind == PROGRESS_PROPOSED && p->decision) {
        char change[128];
        what_changed(p->decision, change, sizeof change);
        (void)snprintf(view->stage, sizeof view->stage, "judging: %s", change);
    }
    if (p->kind == PROGRESS_REMEMBERED)
        (void)snprintf(view->remembered, sizeof view->remembered, "from memory: %s", p->text);
    str_make_printable(view->remembered);
    if (p->kind == PROGRESS_CONFIRMED)
        (void)snprintf(next_recent(view), sizeof view->recent[0], "%s: %s",
                       p->verdict->confirmed ? "confirmed" : "not confirmed", p->text);
    if (p->kind == PROGRESS_JUDGED) {
        describe(p, next_recent(view), sizeof view->recent[0]);
        if (view->curve_count < (int)(sizeof view->curve / sizeof *view->curve))
            view->curve[view->curve_count++] = p->best_log_ratio;
    }
    draw(view, p);
}

static void on_progress(void *context, const struct progress *progress)
{
    struct view *view = context;
    CLEANUP(buf_free) struct buf line = {0};
    switch (view->mode) {
    case VIEW_JSON:
        command_write_progress_json(progress, &line);
        (void)fprintf(stdout, "%s\n", buf_text(&line));
        (void)fflush(stdout);
        break;
    case VIEW_LIVE:
        live(view, progress);
        break;
    case VIEW_PLAIN:
        plain(view, progress);
        break;
    case VIEW_QUIET:
        break;
    }
}

struct observer view_observer(struct view *view)
{
    return (struct observer){.on_progress = on_progress, .context = view};
}

void view_finish(struct view *view)
{
    view->lines = 0;
}
