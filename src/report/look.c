#include "report/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

static const struct look_style styles[] = {
    [LOOK_WIN] = {"faster", "", "c-win", MARK_DISC},
    [LOOK_BEHIND] = {"faster, but behind", "", "c-win", MARK_RING},
    [LOOK_TIMED] = {"no gain", "", "c-timed", MARK_RING},
    [LOOK_TOO_NOISY] = {"too noisy", "noisy", "c-noisy", MARK_BOX},
    [LOOK_WRONG] = {"wrong", "wrong", "c-wrong", MARK_CROSS},
    [LOOK_CRASHED] = {"crashed", "crashed", "c-crashed", MARK_TRIANGLE},
    [LOOK_TIMED_OUT] = {"timed out", "time-out", "c-timeout", MARK_TRIANGLE_DOWN},
    [LOOK_REJECTED] = {"rejected", "rejected", "c-rejected", MARK_DIAMOND},
    [LOOK_BUILD_FAILED] = {"build failed", "no build", "c-build", MARK_SQUARE},
    [LOOK_UNJUDGED] = {"not judged", "unjudged", "c-unjudged", MARK_DASH},
};
static_assert(sizeof styles / sizeof *styles == LOOK_COUNT, "style each look");

enum look look_of(const struct graph_decision *decision)
{
    if (!decision->has_outcome)
        return LOOK_UNJUDGED;
    switch (decision->kind) {
    case VERDICT_BUILD_FAILED:
        return LOOK_BUILD_FAILED;
    case VERDICT_REJECTED:
        return LOOK_REJECTED;
    case VERDICT_WRONG:
        return LOOK_WRONG;
    case VERDICT_CRASHED:
        return LOOK_CRASHED;
    case VERDICT_TIMED_OUT:
        return LOOK_TIMED_OUT;
    case VERDICT_TOO_NOISY:
        return LOOK_TOO_NOISY;
    case VERDICT_TIMED:
        if (decision->is_win)
            return decision->confirm_failed ? LOOK_TIMED : LOOK_WIN;
        /* Would it have counted, had it been timed to the end? */
        return verdict_difference(decision->log_low, decision->log_high, 0).sign > 0 ? LOOK_BEHIND
                                                                                     : LOOK_TIMED;
    case VERDICT_COUNT:
        break;
    }
    return LOOK_UNJUDGED;
}

const struct look_style *look_style(enum look look)
{
    return &styles[look];
}

void look_draw_inline(struct buf *out, enum look look)
{
    (void)buf_append_str(out, "<svg class=\"key\" viewBox=\"-8 -8 16 16\" aria-hidden=\"true\">");
    svg_draw_mark(out, styles[look].mark, styles[look].class, 0, 0, 5);
    (void)buf_append_str(out, "</svg>");
}

const char *look_tooltip(const struct graph_decision *decision, struct arena *arena)
{
    const char *intent = text_or_empty(decision->intent);
    if (!decision_has_ratio(decision))
        return arena_printf(arena, "#%" PRId64 ", %s: %s", decision->sequence,
                            styles[look_of(decision)].name, intent);
    return arena_printf(arena, "#%" PRId64 ", %s [%s], %s: %s", decision->sequence,
                        label_ratio(decision->log_ratio).text,
                        label_interval(decision->log_low, decision->log_high).text,
                        styles[look_of(decision)].name, intent);
}

bool decision_has_ratio(const struct graph_decision *decision)
{
    return decision->has_outcome && decision->kind == VERDICT_TIMED &&
           isfinite(decision->log_ratio) && fabs(decision->log_ratio) < 30;
}
