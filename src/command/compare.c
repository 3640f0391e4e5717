#include "command/internal.h"

#include "journal/event.h"

#include <math.h>

static const struct param compare_params[] = {
    {"a", "A.c", "C source that defines the task's entry point", NULL, PARAM_PATH, true, true,
     NULL},
    {"b", "B.c", "what is compared with it", NULL, PARAM_PATH, true, true, NULL},
    PARAM_TASK,
    {"time", "T", "most time for the timing of one case, such as 500ms or 10s",
     "3s; 10s with --confirm", PARAM_DURATION, false, false, NULL},
    {"pairs", "N", "most pairs of one case", "240; 400 with --confirm", PARAM_INT, false, false,
     NULL},
    {"case", "NAME", "only this one, held out or not", "all but the held-out ones", PARAM_TEXT,
     false, false, NULL},
    {"confirm", NULL, "as for a winner: clean builds, held-out shapes, tight intervals", NULL,
     PARAM_FLAG, false, false, NULL},
    {"compiler", "NAME", "for both", "the baseline's", PARAM_TEXT, false, false, NULL},
    {"flags", "FLAGS", "for both, in one argument", "the baseline's", PARAM_TEXT, false, false,
     NULL},
    {"b-compiler", "NAME", "for B alone", "--compiler", PARAM_TEXT, false, false, NULL},
    {"b-flags", "FLAGS", "for B alone", "--flags", PARAM_TEXT, false, false, NULL},
    {"target", "NAME", "where they run", "cpu", PARAM_TEXT, false, false, NULL},
    {0},
};

/* A ratio with its interval, and what it says. */
struct ratio {
    double mid, low, high; /* logarithms */
    struct difference difference;
};

static const char *sign_name(const struct ratio *r)
{
    const int sign = r->difference.sign;
    return sign > 0 ? "faster" : sign < 0 ? "slower" : "no difference";
}

/* "1.060x [1.04, 1.08], faster"; "1.000x [...], no difference; one of 2.6 % would have been seen"
 */
static const char *in_words(const struct ratio *r, struct arena *arena)
{
    const char *text = arena_printf(arena, "%.3fx [%.3f, %.3f], %s", exp(r->mid), exp(r->low),
                                    exp(r->high), sign_name(r));
    if (r->difference.sign != 0)
        return text;
    return arena_printf(arena, "%s; one of %.1f %% would have been seen", text,
                        100 * expm1(r->difference.unseen_log));
}

static struct ratio ratio_of_case(const struct case_result *c)
{
    return (struct ratio){c->log_ratio, c->log_low, c->log_high,
                          verdict_difference(c->log_low, c->log_high, c->noise)};
}

/* Of the cases that count: those that are not held out, unless only such were timed. */
static struct ratio ratio_of_all(const struct verdict *v)
{
    bool held_out = true;
    for (size_t i = 0; i < v->case_count; i++)
        held_out = held_out && v->cases[i].held_out;
    const double low = held_out ? v->held_out_low : v->log_low;
    const double high = held_out ? v->held_out_high : v->log_high;
    return (struct ratio){held_out ? v->held_out_log_ratio : v->log_ratio, low, high,
                          verdict_difference(low, high, verdict_noise(v, held_out))};
}

static void write_timed(const struct compare_result *result, struct json_writer *w,
                        struct arena *arena, struct buf *text)
{
    static const char *const sides[] = {"A", "B"};
    const struct verdict *v = &result->timed;
    const struct ratio all = ratio_of_all(v);
    (void)buf_printf(text, "%s: B against A: %s\n", result->task->name, in_words(&all, arena));
    (void)buf_printf(text, "  %-30s %10s %10s %6s  %s\n", "case", "A", "B", "pairs",
                     "B against A, 95 % interval");
    for (size_t i = 0; i < v->case_count; i++) {
        const struct case_result *c = &v->cases[i];
        const struct ratio ratio = ratio_of_case(c);
        (void)buf_printf(text, "  %-30.30s %10s %10s %6lld  %s%s\n", c->name,
                         command_time_text(c->baseline_ns, arena),
                         command_time_text(c->candidate_ns, arena), (long long)c->pairs,
                         in_words(&ratio, arena), c->held_out ? "  (held out)" : "");
    }
    command_write_cold(v, sides, arena, text);
    json_put_string(w, "result", sign_name(&all));
    json_put_real(w, "ratio", exp(all.mid));
    json_put_real(w, "ratio_low", exp(all.low));
    json_put_real(w, "ratio_high", exp(all.high));
    json_put_real(w, "would_have_been_seen", exp(all.difference.unseen_log));
}

/* The first of the two that is not right, or the timing that came to no end; NULL where all is
 * well. */
static const struct verdict *failed(const struct compare_result *r, const char **who)
{
    for (int i = 0; i < 2; i++)
        if (r->checks[i].kind != VERDICT_TIMED) {
            *who = i == 0 ? "A" : "B";
            return &r->checks[i];
        }
    if (r->timed.kind == VERDICT_TIMED)
        return NULL;
    *who = r->timed.kind == VERDICT_TOO_NOISY ? "the comparison" : r->about_a ? "A" : "B";
    return &r->timed;
}

static void write_result(const struct compare_result *result, struct arena *arena,
                         struct command_result *out)
{
    struct json_writer w = {.out = &out->json};
    const char *who = NULL;
    const struct verdict *bad = failed(result, &who);
    json_begin_object(&w);
    json_put_string(&w, "event", "comparison");
    json_put_string(&w, "task", result->task->name);
    if (bad) {
        (void)buf_printf(&out->text, "%s: %s: ", result->task->name, who);
        command_write_verdict(bad, arena, &out->text);
        json_put_string(&w, "result", "none");
        json_put_string(&w, "about", who);
        out->exit_code = verdict_kind_exit_code(bad->kind);
    } else {
        write_timed(result, &w, arena, &out->text);
    }
    json_key(&w, "a");
    event_write_verdict(&w, &result->checks[0]);
    json_key(&w, "b");
    event_write_verdict(&w, &result->checks[1]);
    if (result->is_timed) {
        json_key(&w, "timed");
        event_write_verdict(&w, &result->timed);
    }
    json_end_object(&w);
}

static bool run_compare(const struct command_call *call, struct command_result *out,
                        struct err *err)
{
    const struct compare_opts opts = {
        .task_path = command_text(call, "task"),
        .a_path = command_text(call, "a"),
        .b_path = command_text(call, "b"),
        .target = command_text(call, "target"),
        .compiler = command_text(call, "compiler"),
        .flags = command_text(call, "flags"),
        .b_compiler = command_text(call, "b-compiler"),
        .b_flags = command_text(call, "b-flags"),
        .only_case = command_text(call, "case"),
        .time_budget_ns = command_duration_ns(call, "time"),
        .max_pairs = command_int(call, "pairs", 0),
        .confirm = command_flag(call, "confirm"),
    };
    if (opts.max_pairs != 0 && opts.max_pairs < 12)
        return err_set(err, ERR_USAGE, "--pairs %lld: at least 12 are needed",
                       (long long)opts.max_pairs);
    struct compare_result result;
    if (!engine_compare(&opts, call->observer, call->arena, &result, err))
        return false;
    write_result(&result, call->arena, out);
    return true;
}

const struct command command_compare = {
    .name = "compare",
    .summary = "time one candidate against another",
    .description =
        "Both must first be right; then B is timed against A in random-order pairs over several "
        "fresh processes.\n"
        "Ratios are A's time / B's: above 1, B is faster. A difference is claimed where the whole "
        "interval is beyond 2 % and beyond\n"
        "three times the noise of this very run; else it says 'no difference', and how small a "
        "difference would have been seen.\n"
        "The exit code is 0 where both were right and timed, whatever came of it; else that of "
        "the verdict on the one that is not\n"
        "right (A first): 20 build-failed, 21 rejected, 22 wrong, 23 crashed, 24 timed-out, 25 "
        "too-noisy.",
    .examples = "  kope compare old.c new.c examples/softmax\n"
                "  kope compare k.c k.c examples/softmax --b-flags '-O2 -march=native'\n"
                "  kope compare old.c new.c examples/softmax --case 'rows=512 cols=1024' --time "
                "20s",
    .params = compare_params,
    .run = run_compare,
};
