/* What choosing by a size came to: what it gains over the best alone, and what the choice costs
 * against each of the two at its own sizes. */
#include "engine/dispatch.h"

#include "engine/replay.h"

#include "base/str.h"
#include "moves/dispatch.h"
#include "stats/stats.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* What stands in the intent of such a decision, as far as it is understood. */
struct stated {
    const char *size; /* "m*n" */
    size_t factors[TASK_MAX_AXES];
    size_t factor_count;
    int64_t most;
    const struct graph_decision *parts[2]; /* NULL: the reference */
};

static bool find_axis(const struct task *task, const char *name, size_t length, size_t *out)
{
    for (size_t i = 0; i < task->axis_count; i++) {
        if (strlen(task->axes[i].name) == length &&
            strncmp(task->axes[i].name, name, length) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool read_size(const struct run *run, const char *at, size_t length, struct stated *out)
{
    out->size = arena_strndup(run->arena, at, length);
    for (const char *name = out->size; out->factor_count < TASK_MAX_AXES;) {
        const size_t end = strcspn(name, "*");
        if (!find_axis(run->task, name, end, &out->factors[out->factor_count]))
            return false;
        out->factor_count++;
        if (name[end] == '\0')
            return true;
        name += end + 1;
    }
    return false;
}

static bool read_part(const struct graph_decisions *all, const char *at, const char *before,
                      const struct graph_decision **out)
{
    static const char decision[] = "decision ";
    *out = NULL;
    if (!str_starts_with(at, before))
        return false;
    at += strlen(before);
    if (str_starts_with(at, "the reference"))
        return true;
    if (!str_starts_with(at, decision))
        return false;
    at += strlen(decision);
    size_t length = 0;
    while (isxdigit((unsigned char)at[length]))
        length++;
    for (size_t i = 0; length >= 12 && i < all->count; i++) {
        if (strncmp(all->items[i].id, at, length) == 0)
            *out = &all->items[i];
    }
    return *out != NULL;
}

/* "chooses by m*n: up to 4096 as decision 0123456789ab, above as the reference". */
static bool read_intent(const struct run *run, const struct graph_decisions *all,
                        const char *intent, struct stated *out)
{
    static const char by[] = "chooses by ";
    static const char up_to[] = ": up to ";
    const char *bound = strstr(intent, up_to);
    char *end = NULL;
    *out = (struct stated){.size = ""};
    if (!str_starts_with(intent, by) || !bound ||
        !read_size(run, intent + strlen(by), (size_t)(bound - intent) - strlen(by), out))
        return false;
    out->most = strtoll(bound + strlen(up_to), &end, 10);
    const char *above = strstr(end, ", above");
    return above && read_part(all, end, " as ", &out->parts[0]) &&
           read_part(all, above, ", above as ", &out->parts[1]);
}

static const struct case_result *case_named(const struct case_result *cases, size_t count,
                                            const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(cases[i].name, name))
            return &cases[i];
    }
    return NULL;
}

static bool is_large(const struct stated *s, const struct task_case *c)
{
    double product = 1.0;
    for (size_t i = 0; i < s->factor_count; i++)
        product *= (double)c->axes[s->factors[i]];
    return product > (double)s->most;
}

struct outcome_cases {
    const struct case_result *cases;
    size_t count;
};

static bool load_cases(struct run *run, const struct graph_decision *d, struct outcome_cases *out,
                       struct err *err)
{
    return !d || graph_outcome_cases(run->memory.graph, d->id, false, run->arena, &out->cases,
                                     &out->count, err);
}

/* Time of the one that chooses over that of the one that it chose, in a case; both are over the
 * same baseline, in independent measurements. */
static struct stats_interval cost_in_case(const struct case_result *chosen,
                                          const struct case_result *dispatched)
{
    static const struct case_result reference = {0};
    const struct case_result *c = chosen ? chosen : &reference;
    const double middle = c->log_ratio - dispatched->log_ratio;
    const double below =
        hypot(c->log_ratio - c->log_low, dispatched->log_high - dispatched->log_ratio);
    const double above =
        hypot(c->log_high - c->log_ratio, dispatched->log_ratio - dispatched->log_low);
    return (struct stats_interval){exp(middle), exp(middle - below), exp(middle + above),
                                   (size_t)dispatched->pairs};
}

/* Over the cases that are known of both; false where there are none. */
static bool cost_of(struct run *run, const struct graph_decision *d, const struct stated *s,
                    struct stats_interval *out, struct err *err)
{
    struct stats_interval parts[TASK_MAX_CASES];
    double weights[TASK_MAX_CASES];
    struct outcome_cases own = {0};
    struct outcome_cases of_parts[2] = {{0}, {0}};
    size_t count = 0;
    if (!load_cases(run, d, &own, err) || !load_cases(run, s->parts[0], &of_parts[0], err) ||
        !load_cases(run, s->parts[1], &of_parts[1], err))
        return false;
    for (size_t i = 0; i < run->task->case_count; i++) {
        const struct task_case *c = &run->task->cases[i];
        const int side = is_large(s, c);
        const struct case_result *dispatched = case_named(own.cases, own.count, c->name);
        const struct case_result *chosen =
            case_named(of_parts[side].cases, of_parts[side].count, c->name);
        if (c->held_out || !dispatched || (s->parts[side] && !chosen))
            continue;
        weights[count] = c->weight;
        parts[count++] = cost_in_case(chosen, dispatched);
    }
    *out = (struct stats_interval){.count = 0};
    if (count > 0)
        *out = stats_combine_log(parts, weights, count);
    return true;
}

/* Of the two and of what was best then. */
static double best_alone(const struct graph_decisions *all, const struct graph_decision *d,
                         const struct stated *s)
{
    double best = 0.0;
    for (int side = 0; side < 2; side++) {
        if (s->parts[side])
            best = fmax(best, s->parts[side]->log_ratio);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (str_equal(all->items[i].id, d->parent))
            best = fmax(best, all->items[i].log_ratio);
    }
    return best;
}

static bool sentence(struct run *run, const struct graph_decisions *all,
                     const struct graph_decision *d, const char **out, double *gain,
                     struct err *err)
{
    struct stated s;
    struct stats_interval cost;
    *out = NULL;
    *gain = 0.0;
    if (!read_intent(run, all, d->intent, &s))
        return true; /* of another version */
    const char *what =
        arena_printf(run->arena, "dispatch by %s at %lld", s.size, (long long)s.most);
    if (d->kind != VERDICT_TIMED) {
        *out = arena_printf(run->arena, "%s: %s", what, verdict_kind_name(d->kind));
        return true;
    }
    if (!cost_of(run, d, &s, &cost, err))
        return false;
    *gain = d->log_ratio - best_alone(all, d, &s);
    *out = arena_printf(run->arena, "%s: %.2fx over the better one alone", what, exp(*gain));
    if (cost.count > 0)
        *out = arena_printf(
            run->arena, "%s; choosing costs %.1f %% [%.1f, %.1f] at their own sizes", *out,
            100.0 * (cost.mid - 1.0), 100.0 * (cost.low - 1.0), 100.0 * (cost.high - 1.0));
    return true;
}

static const struct graph_decision *find_it(const struct graph_decisions *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (str_equal(all->items[i].step, DISPATCH_STEP) && all->items[i].has_outcome)
            return &all->items[i];
    }
    return NULL;
}

static bool find_note(struct run *run, const char **out, struct err *err)
{
    const struct graph_finding *findings = NULL;
    size_t count = 0;
    *out = NULL;
    if (!graph_findings(run->memory.graph, run->run_id, run->arena, &findings, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(findings[i].bottleneck, DISPATCH_MOVE))
            *out = findings[i].text;
    }
    return true;
}

bool dispatch_note(struct run *run, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    struct graph_decisions all;
    const char *text = NULL;
    double gain = 0.0;
    if (!graph_run_decisions(run->memory.graph, run->run_id, run->arena, &all, err))
        return false;
    const struct graph_decision *d = find_it(&all);
    if (!d)
        return true;
    if (run->replay)
        return replay_findings(run, d->id, err);
    if (!find_note(run, &text, err))
        return false;
    if (text) /* a process before this one has noted it */
        return true;
    if (!sentence(run, &all, d, &text, &gain, err))
        return false;
    if (!text)
        return true;
    event_write_finding(&(struct finding_event){.run_id = run->run_id,
                                                .decision_id = d->id,
                                                .bottleneck = DISPATCH_MOVE,
                                                .text = text,
                                                .number = exp(gain),
                                                .tool = "gate"},
                        &body);
    return memory_append(&run->memory, EVENT_FINDING, &body, NULL, err);
}

bool dispatch_text(struct run *run, const char **out, struct err *err)
{
    if (!find_note(run, out, err))
        return false;
    if (!*out && run->no_dispatch)
        *out = arena_printf(run->arena, "no dispatch by a size: %s", run->no_dispatch);
    return true;
}
