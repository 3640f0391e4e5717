#include "command/training.h"

#include "base/str.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The confirmation, where there is one, is the better measurement of the two. */
struct training_reward training_reward_of(const struct graph_decision *d)
{
    const double failure = TRAINING_FAILURE_REWARD;
    if (!d->has_outcome)
        return d->failure[0] != '\0' ? (struct training_reward){true, failure, failure, failure}
                                     : (struct training_reward){0};
    if (d->kind == VERDICT_TOO_NOISY)
        return (struct training_reward){0};
    if (d->kind != VERDICT_TIMED)
        return (struct training_reward){true, failure, failure, failure};
    if (d->is_confirmed)
        return (struct training_reward){true, d->confirmed_log_ratio, d->confirmed_low,
                                        d->confirmed_high};
    return (struct training_reward){true, d->log_ratio, d->log_low, d->log_high};
}

static void group_add(struct training_group *group, struct training_reward reward)
{
    if (!reward.is_known)
        return;
    group->count++;
    group->sum += reward.value;
    group->sum_squares += reward.value * reward.value;
}

static double group_mean(const struct training_group *group)
{
    return group->sum / (double)group->count;
}

static double group_deviation(const struct training_group *group)
{
    const double mean = group_mean(group);
    const double variance = group->sum_squares / (double)group->count - mean * mean;
    return variance > 1e-18 ? sqrt(variance) : 0.0;
}

static const struct training_start *find_start(const struct training_starts *starts,
                                               const char *task_id, const char *target_id)
{
    for (size_t i = 0; i < starts->count; i++)
        if (str_equal(starts->items[i].task_id, task_id) &&
            str_equal(starts->items[i].target_id, target_id))
            return &starts->items[i];
    return NULL;
}

void training_starts_add(struct training_starts *starts, const struct graph_decisions *run,
                         struct arena *arena)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct graph_decision *d = &run->items[i];
        if (d->parent[0] != '\0')
            continue;
        const struct training_start *known = find_start(starts, d->task_id, d->target_id);
        size_t at = known ? (size_t)(known - starts->items) : starts->count;
        if (!known) {
            starts->items = vec_reserve_one(starts->items, starts->count, &starts->capacity,
                                            sizeof *starts->items);
            starts->items[starts->count++] =
                (struct training_start){.task_id = arena_strdup(arena, d->task_id),
                                        .target_id = arena_strdup(arena, d->target_id),
                                        .group = {.kind = "siblings"}};
        }
        group_add(&starts->items[at].group, training_reward_of(d));
    }
}

void training_starts_free(struct training_starts *starts)
{
    free(starts->items);
    *starts = (struct training_starts){0};
}

/* Siblings where there are at least two, else all of the run. */
static struct training_group group_of(const struct graph_decision *d,
                                      const struct graph_decisions *steps,
                                      const struct training_starts *starts)
{
    struct training_group siblings = {.kind = "siblings"};
    struct training_group run = {.kind = "run"};
    const struct training_start *start =
        d->parent[0] == '\0' ? find_start(starts, d->task_id, d->target_id) : NULL;
    for (size_t i = 0; i < steps->count; i++) {
        const struct training_reward reward = training_reward_of(&steps->items[i]);
        group_add(&run, reward);
        if (str_equal(steps->items[i].parent, d->parent))
            group_add(&siblings, reward);
    }
    if (start)
        siblings = start->group;
    return siblings.count > 1 ? siblings : run;
}

static void put_text_or_null(struct json_writer *w, const char *key, const char *text)
{
    json_put_string(w, key, text[0] != '\0' ? text : NULL);
}

static void write_interval(struct json_writer *w, struct training_reward reward)
{
    json_key(w, "interval");
    json_begin_array(w);
    json_write_real(w, reward.low);
    json_write_real(w, reward.high);
    json_end_array(w);
}

static void write_reward(const struct graph_decision *d, const struct graph_decisions *steps,
                         const struct training_starts *starts, struct json_writer *w)
{
    const struct training_reward reward = training_reward_of(d);
    json_key(w, "reward");
    if (!reward.is_known) {
        json_write_null(w);
        return;
    }
    json_write_real(w, reward.value);
    write_interval(w, reward);
    const struct training_group group = group_of(d, steps, starts);
    const double deviation = group_deviation(&group);
    const double advantage = reward.value - group_mean(&group);
    json_key(w, "group");
    json_begin_object(w);
    json_put_string(w, "kind", group.kind);
    json_put_int(w, "size", group.count);
    json_put_real(w, "mean", group_mean(&group));
    json_put_real(w, "deviation", deviation);
    json_end_object(w);
    json_put_real(w, "advantage", advantage);
    json_put_real(w, "advantage_scaled", deviation > 0.0 ? advantage / deviation : 0.0);
}

static void write_step(const struct graph_decision *d, const struct graph_decisions *steps,
                       const struct training_starts *starts, struct json_writer *w)
{
    json_begin_object(w);
    json_put_string(w, "decision", d->id);
    put_text_or_null(w, "parent", d->parent);
    json_put_int(w, "sequence", d->sequence);
    json_put_string(w, "step", d->step);
    json_put_string(w, "intent", d->intent);
    json_put_string(w, "hypothesis", d->hypothesis);
    json_put_real(w, "predicted_log_ratio", d->predicted_log_ratio);
    json_put_string(w, "moves", d->moves);
    put_text_or_null(w, "recipe", d->recipe);
    json_put_string(w, "compiler", d->compiler);
    json_put_string(w, "flags", d->flags);
    put_text_or_null(w, "source_body", d->source_body);
    put_text_or_null(w, "context", d->context_id);
    put_text_or_null(w, "exchange", d->exchange_id);
    put_text_or_null(w, "derived_from", d->derived_from);
    json_put_int(w, "tokens_in", d->tokens_in);
    json_put_int(w, "tokens_out", d->tokens_out);
    json_put_string(w, "verdict", d->has_outcome ? verdict_kind_name(d->kind) : NULL);
    put_text_or_null(w, "mechanism", d->has_outcome ? d->mechanism : "");
    put_text_or_null(w, "evidence", d->has_outcome ? d->evidence : d->failure);
    json_put_bool(w, "is_confirmed", d->is_confirmed);
    json_put_bool(w, "is_refuted", d->confirm_failed);
    write_reward(d, steps, starts, w);
    json_end_object(w);
}

static void write_where(const struct graph_run *run, struct json_writer *w)
{
    json_put_string(w, "run", run->id);
    json_put_string(w, "task", run->task_id);
    json_put_string(w, "task_name", run->task_name);
    json_put_string(w, "family", run->family);
    json_put_string(w, "target", run->target_id);
    json_put_string(w, "proposer", run->proposer);
}

void training_write_trajectory(const struct graph_run *run, const struct graph_decisions *steps,
                               const struct training_starts *starts, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "format", "kope-trajectory");
    json_put_int(&w, "version", 1);
    write_where(run, &w);
    json_put_string(&w, "policy", run->policy);
    json_put_string(&w, "end_reason", run->has_ended ? run->end_reason : NULL);
    put_text_or_null(&w, "start_decision", run->start_decision);
    put_text_or_null(&w, "best_decision", run->has_ended ? run->best_decision : "");
    json_put_real(&w, "return", run->has_ended ? run->best_log_ratio : 0.0);
    json_key(&w, "steps");
    json_begin_array(&w);
    for (size_t i = 0; i < steps->count; i++)
        write_step(&steps->items[i], steps, starts, &w);
    json_end_array(&w);
    json_end_object(&w);
    (void)buf_append_char(out, '\n');
}

/* ---- Pairs. */

static bool is_timed(const struct graph_decision *d)
{
    return d->has_outcome && d->kind == VERDICT_TIMED;
}

static int compare_siblings(const void *a, const void *b)
{
    const struct graph_decision *x = *(const struct graph_decision *const *)a;
    const struct graph_decision *y = *(const struct graph_decision *const *)b;
    const int by_parent = strcmp(x->parent, y->parent);
    const double p = training_reward_of(x).value;
    const double q = training_reward_of(y).value;
    if (by_parent != 0)
        return by_parent;
    return p != q ? (p < q) - (p > q) : strcmp(x->id, y->id);
}

bool training_each_pair(const struct graph_run *run, const struct graph_decisions *steps,
                        bool (*write)(void *context, const struct training_pair *pair,
                                      struct err *err),
                        void *context, int64_t *left_out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const struct graph_decision **timed = arena_array(&scratch, steps->count, sizeof *timed);
    size_t count = 0;
    for (size_t i = 0; i < steps->count; i++)
        if (is_timed(&steps->items[i]))
            timed[count++] = &steps->items[i];
    if (count > 1)
        qsort(timed, count, sizeof *timed, compare_siblings);
    int64_t written = 0;
    for (size_t i = 0; i < count; i++) {
        if (i != 0 && !str_equal(timed[i]->parent, timed[i - 1]->parent))
            written = 0;
        for (size_t j = i + 1; j < count && str_equal(timed[j]->parent, timed[i]->parent); j++) {
            const struct training_pair pair = {run, timed[i], timed[j],
                                               training_reward_of(timed[i]),
                                               training_reward_of(timed[j])};
            if (!(pair.better_reward.low > pair.worse_reward.high))
                continue;
            if (written++ >= TRAINING_PAIRS_PER_PARENT)
                *left_out += 1;
            else if (!write(context, &pair, err))
                return false;
        }
    }
    return true;
}

static void write_side(const char *key, const struct graph_decision *d,
                       struct training_reward reward, const char *source, struct json_writer *w)
{
    json_key(w, key);
    json_begin_object(w);
    json_put_string(w, "decision", d->id);
    json_put_string(w, "intent", d->intent);
    json_put_string(w, "moves", d->moves);
    put_text_or_null(w, "recipe", d->recipe);
    json_put_string(w, "compiler", d->compiler);
    json_put_string(w, "flags", d->flags);
    json_put_real(w, "log_ratio", reward.value);
    write_interval(w, reward);
    json_put_bool(w, "is_confirmed", d->is_confirmed);
    json_put_string(w, "source", source);
    json_end_object(w);
}

void training_write_pair(const struct training_pair *pair, const char *better_source,
                         const char *worse_source, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_string(&w, "format", "kope-pair");
    json_put_int(&w, "version", 1);
    write_where(pair->run, &w);
    put_text_or_null(&w, "parent", pair->better->parent);
    write_side("better", pair->better, pair->better_reward, better_source, &w);
    write_side("worse", pair->worse, pair->worse_reward, worse_source, &w);
    json_put_real(&w, "margin", pair->better_reward.low - pair->worse_reward.high);
    json_end_object(&w);
    (void)buf_append_char(out, '\n');
}
