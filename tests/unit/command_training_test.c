#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command/training.h"

#include <math.h>
#include <string.h>

static struct graph_decision timed(const char *id, const char *parent, double log_ratio)
{
    return (struct graph_decision){.id = id,
                                   .parent = parent,
                                   .task_id = "t",
                                   .target_id = "zen3",
                                   .moves = "",
                                   .recipe = "",
                                   .mechanism = "",
                                   .evidence = "",
                                   .failure = "",
                                   .source_body = "",
                                   .context_id = "",
                                   .exchange_id = "",
                                   .derived_from = "",
                                   .has_outcome = true,
                                   .kind = VERDICT_TIMED,
                                   .log_ratio = log_ratio,
                                   .log_low = log_ratio - 0.1,
                                   .log_high = log_ratio + 0.1};
}

static void assert_near(double got, double want)
{
    assert_true(fabs(got - want) < 1e-12);
}

static const struct graph_run run = {.id = "r", .start_decision = "", .best_decision = ""};

static void training_reward_of__each_kind__as_documented(void **state)
{
    struct graph_decision d = timed("a", "", 0.5);
    (void)state;
    assert_true(training_reward_of(&d).value == 0.5);
    d.is_confirmed = true;
    d.confirmed_log_ratio = 0.4;
    assert_true(training_reward_of(&d).value == 0.4);
    d.kind = VERDICT_WRONG;
    assert_true(training_reward_of(&d).value == -1.0);
    d.kind = VERDICT_TOO_NOISY;
    assert_false(training_reward_of(&d).is_known);
    d.has_outcome = false;
    assert_false(training_reward_of(&d).is_known);
    d.failure = "reply is malformed twice";
    assert_true(training_reward_of(&d).value == -1.0);
}

static const struct json *step_of(const char *text, size_t at, struct arena *arena)
{
    const struct json *line = NULL;
    struct err err;
    assert_true(json_parse(text, strlen(text), "line", arena, &line, &err));
    return json_at(json_get(line, "steps"), at);
}

static double real_of(const struct json *step, const char *key)
{
    const struct json *value = json_get(step, key);
    assert_non_null(value);
    return json_real(value, 0.0);
}

/* Two at the baseline here and one in another run; an only child is compared with its run. */
static void training_write_trajectory__groups__advantages_add_up(void **state)
{
    struct arena arena = {0};
    struct buf line = {0};
    struct training_starts starts = {0};
    const struct graph_decision other = timed("x", "", 0.9);
    const struct graph_decision steps[] = {timed("a", "", 0.1), timed("b", "", 0.2),
                                           timed("c", "a", 0.5)};
    const struct graph_decisions list = {steps, 3};
    (void)state;
    training_starts_add(&starts, &list, &arena);
    training_starts_add(&starts, &(struct graph_decisions){&other, 1}, &arena);
    training_write_trajectory(&run, &list, &starts, &line);
    const struct json *a = step_of(buf_text(&line), 0, &arena);
    const struct json *b = step_of(buf_text(&line), 1, &arena);
    const struct json *c = step_of(buf_text(&line), 2, &arena);
    assert_int_equal(json_int(json_get(json_get(a, "group"), "size"), 0), 3);
    assert_near(real_of(a, "advantage"), 0.1 - 0.4);
    assert_near(real_of(b, "advantage"), 0.2 - 0.4);
    assert_true(real_of(a, "advantage_scaled") < real_of(b, "advantage_scaled"));
    assert_string_equal(json_string(json_get(json_get(c, "group"), "kind"), ""), "run");
    assert_near(real_of(c, "advantage"), 0.5 - 0.8 / 3);
    assert_string_equal(json_string(json_get(c, "parent"), ""), "a");
    training_starts_free(&starts);
    buf_free(&line);
    arena_free(&arena);
}

struct pairs {
    size_t count;
    char better[8], worse[8];
};

static bool take_pair(void *context, const struct training_pair *pair, struct err *err)
{
    struct pairs *pairs = context;
    (void)err;
    assert_true(pair->better_reward.low > pair->worse_reward.high);
    assert_string_equal(pair->better->parent, pair->worse->parent);
    strcpy(pairs->better, pair->better->id);
    strcpy(pairs->worse, pair->worse->id);
    pairs->count++;
    return true;
}

static void training_each_pair__intervals_overlap_or_parents_differ__no_pair(void **state)
{
    struct err err;
    int64_t left_out = 0;
    struct pairs pairs = {0};
    struct graph_decision steps[] = {timed("a", "", 0.1), timed("b", "", 0.25), timed("c", "", 0.4),
                                     timed("d", "a", 9.0), timed("e", "", 9.0)};
    (void)state;
    steps[4].kind = VERDICT_WRONG;
    assert_true(training_each_pair(&run, &(struct graph_decisions){steps, 5}, take_pair, &pairs,
                                   &left_out, &err));
    assert_int_equal(pairs.count, 1);
    assert_string_equal(pairs.better, "c");
    assert_string_equal(pairs.worse, "a");
    assert_int_equal(left_out, 0);
}

static void training_each_pair__many_siblings__capped_and_counted(void **state)
{
    enum { SIBLINGS = 30 };
    struct arena arena = {0};
    struct err err;
    int64_t left_out = 0;
    struct pairs pairs = {0};
    struct graph_decision steps[SIBLINGS];
    (void)state;
    for (int i = 0; i < SIBLINGS; i++)
        steps[i] = timed(arena_printf(&arena, "%d", i), "p", (double)i);
    assert_true(training_each_pair(&run, &(struct graph_decisions){steps, SIBLINGS}, take_pair,
                                   &pairs, &left_out, &err));
    assert_int_equal(pairs.count, TRAINING_PAIRS_PER_PARENT);
    assert_int_equal(left_out, SIBLINGS * (SIBLINGS - 1) / 2 - TRAINING_PAIRS_PER_PARENT);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_reward_of__each_kind__as_documented),
        cmocka_unit_test(training_write_trajectory__groups__advantages_add_up),
        cmocka_unit_test(training_each_pair__intervals_overlap_or_parents_differ__no_pair),
        cmocka_unit_test(training_each_pair__many_siblings__capped_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
