#include "task/verdict.h"

#include "base/buf.h"
#include "base/str.h"

#include <assert.h>
#include <math.h>

enum { SUMMARY_EVIDENCE_BYTES = 240 };

static const char *const verdict_names[] = {
    [VERDICT_BUILD_FAILED] = "build-failed",
    [VERDICT_REJECTED] = "rejected",
    [VERDICT_WRONG] = "wrong",
    [VERDICT_CRASHED] = "crashed",
    [VERDICT_TIMED_OUT] = "timed-out",
    [VERDICT_TOO_NOISY] = "too-noisy",
    [VERDICT_TIMED] = "timed",
};
static_assert(sizeof verdict_names / sizeof *verdict_names == VERDICT_COUNT, "name each verdict");

const char *verdict_kind_name(enum verdict_kind kind)
{
    return verdict_names[kind];
}

bool verdict_kind_from_name(const char *name, enum verdict_kind *out)
{
    for (int i = 0; i < VERDICT_COUNT; i++) {
        if (str_equal(verdict_names[i], name)) {
            *out = (enum verdict_kind)i;
            return true;
        }
    }
    return false;
}

bool verdict_is_evaluation(const char *mechanism)
{
    return !str_equal(mechanism, VERDICT_BY_RULE) && !str_equal(mechanism, VERDICT_BY_REPEAT);
}

int verdict_kind_exit_code(enum verdict_kind kind)
{
    return kind == VERDICT_TIMED ? 0 : 20 + (int)kind;
}

/* Appends `text` on one line, cut with '...' where long, never inside a UTF-8 character. */
static void append_line(struct buf *out, const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (i >= SUMMARY_EVIDENCE_BYTES && (byte & 0xC0U) != 0x80U) {
            (void)buf_append_str(out, "...");
            return;
        }
        (void)buf_append_char(out, byte < ' ' ? (char)' ' : text[i]);
    }
}

static void append_failure(struct buf *out, const struct verdict *verdict)
{
    const char *why = verdict->evidence ? verdict->evidence : "";
    if (!*why && verdict->mechanism)
        why = verdict->mechanism;
    (void)buf_append_str(out, verdict_names[verdict->kind]);
    if (*why) {
        (void)buf_append_str(out, ": ");
        append_line(out, why);
    }
}

static void append_timed(struct buf *out, const struct verdict *verdict)
{
    const double ratio = exp(verdict->log_ratio);
    const double low = exp(verdict->log_low);
    const double high = exp(verdict->log_high);
    if (verdict->case_count == 0)
        (void)buf_append_str(out, "right, not timed");
    else if (verdict->is_win)
        (void)buf_printf(out, "timed: %.2fx faster [%.2f, %.2f]", ratio, low, high);
    else if (verdict->log_high < 0.0)
        (void)buf_printf(out, "timed: %.2fx, slower [%.2f, %.2f]", ratio, low, high);
    else
        (void)buf_printf(out, "no difference %.2fx [%.2f, %.2f]", ratio, low, high);
    if (verdict->has_held_out)
        (void)buf_printf(out, ", held out %.2fx [%.2f, %.2f]", exp(verdict->held_out_log_ratio),
                         exp(verdict->held_out_low), exp(verdict->held_out_high));
}

char *verdict_summary(const struct verdict *verdict, struct arena *arena)
{
    struct buf text = {0};
    if (verdict->kind == VERDICT_TIMED)
        append_timed(&text, verdict);
    else
        append_failure(&text, verdict);
    char *out = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return out;
}

static const char *copy_text(const char *text, struct arena *arena)
{
    return text ? arena_strdup(arena, text) : NULL;
}

int64_t gate_timings_own_ns(const struct gate_timings *t)
{
    const int64_t beside = t->inspect_ns > t->link_ns ? t->inspect_ns : t->link_ns;
    return t->total_ns - t->compile_ns - beside - t->time_ns;
}

struct verdict verdict_copy(const struct verdict *verdict, struct arena *arena)
{
    struct verdict copy = *verdict;
    copy.mechanism = copy_text(verdict->mechanism, arena);
    copy.evidence = copy_text(verdict->evidence, arena);
    copy.diagnostics = copy_text(verdict->diagnostics, arena);
    copy.missing_layers = copy_text(verdict->missing_layers, arena);
    copy.compiler = copy_text(verdict->compiler, arena);
    copy.flags = copy_text(verdict->flags, arena);
    copy.seed = copy_text(verdict->seed, arena);
    copy.cases = NULL;
    if (verdict->case_count != 0)
        copy.cases =
            arena_memdup(arena, verdict->cases, verdict->case_count * sizeof *verdict->cases);
    for (size_t i = 0; i < copy.case_count; i++)
        copy.cases[i].name = copy_text(verdict->cases[i].name, arena);
    for (size_t i = 0; i < copy.case_count; i++)
        if (copy.cases[i].sample_count != 0)
            copy.cases[i].samples =
                arena_memdup(arena, verdict->cases[i].samples,
                             verdict->cases[i].sample_count * sizeof *copy.cases[i].samples);
    return copy;
}

struct difference verdict_difference(double log_low, double log_high, double noise)
{
    /* The middle errs too. Nine times in ten by less than 1.28 of its deviations, of which the
     * interval's half has 1.96 or more. */
    static const double LUCK = 1.2816 / 1.96;
    const double threshold = fmax(log(1.02), 3 * noise);
    return (struct difference){.sign = log_low > threshold     ? 1
                                       : log_high < -threshold ? -1
                                                               : 0,
                               .unseen_log = threshold + (log_high - log_low) / 2 * (1 + LUCK)};
}

double verdict_noise(const struct verdict *verdict, bool held_out)
{
    double squares = 0, sum = 0;
    for (size_t i = 0; i < verdict->case_count; i++) {
        const struct case_result *c = &verdict->cases[i];
        if (c->held_out != held_out)
            continue;
        squares += c->weight * c->weight * c->noise * c->noise;
        sum += c->weight;
    }
    return sum > 0 ? sqrt(squares) / sum : 0;
}
