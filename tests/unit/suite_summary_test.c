/* What is made of the results of a suite: numbers that can be worked out by hand. */
#include "base/str.h"
#include "os/file.h"
#include "suite/suite.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct place {
    struct arena arena;
    char *dir;
    struct err err;
    struct buf lines;
};

static int set_up(void **state)
{
    static struct place place;
    static const char arms[] =
        "budget: {candidates: 4}\narms: [{name: a}, {name: b, memory: on}]\n";
    place = (struct place){0};
    *state = &place;
    return os_make_temp_dir("kope-suite", &place.arena, &place.dir, &place.err) &&
                   os_write_file(os_path_join(&place.arena, place.dir, "arms.yaml"), arms,
                                 strlen(arms), false, &place.err)
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    const bool ok = os_remove_tree(p->dir, &p->err);
    arena_free(&p->arena);
    buf_free(&p->lines);
    return ok ? 0 : -1;
}

/* Speedups so far after 1, 2, 3 and 4 candidates, and what was confirmed. */
static void add_confirmed(struct place *p, const char *arm, const char *task, int seed,
                          const double best[4], double confirmed)
{
    (void)buf_printf(&p->lines,
                     "{\"arm\":\"%s\",\"task\":\"%s\",\"family\":\"f\",\"seed\":%d,\"run\":\"r\","
                     "\"evaluations\":4,\"seconds\":30.0,\"win\":%s,\"log_ratio\":%.17g,"
                     "\"curve\":[%.17g,%.17g,%.17g,%.17g]}\n",
                     arm, task, seed, confirmed > 1 ? "true" : "false", log(confirmed),
                     log(best[0]), log(best[1]), log(best[2]), log(best[3]));
}

/* The last is confirmed as it is. */
static void add(struct place *p, const char *arm, const char *task, int seed, const double best[4])
{
    add_confirmed(p, arm, task, seed, best, best[3]);
}

static bool summarise(struct place *p, struct suite_summary *out)
{
    assert_true(os_write_file(os_path_join(&p->arena, p->dir, "results.jsonl"), buf_text(&p->lines),
                              p->lines.length, false, &p->err));
    return suite_summarise(p->dir, &p->arena, out, &p->err);
}

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-9))
        fail_msg("%.12g is not %.12g", value, wanted);
}

static void suite_summarise__two_arms__by_hand(void **state)
{
    struct place *p = *state;
    struct suite_summary s;
    add(p, "a", "x", 1, (const double[]){1, 1, 1, 4});    /* 4 evaluations to the best, 4 */
    add(p, "b", "x", 1, (const double[]){4, 4, 4, 4});    /* 1 */
    add(p, "a", "y", 1, (const double[]){1, 1, 1, 1});    /* never: 5 */
    add(p, "b", "y", 1, (const double[]){1, 1.93, 2, 2}); /* 2: within 5 % */
    add(p, "a", "y", 2, (const double[]){2, 2, 2, 2});
    assert_true(summarise(p, &s));
    assert_int_equal(s.arm_count, 2);
    assert_int_equal(s.task_count, 2);
    assert_int_equal(s.seeds, 1);
    assert_int_equal(s.budget, 4);
    assert_int_equal(s.left_out, 1); /* seed 2 of y, which b has not done */
    const struct suite_arm_result *a = &s.arms[0], *b = &s.arms[1];
    assert_near(a->evaluations.mid, sqrt(4.0 * 5.0));
    assert_near(b->evaluations.mid, sqrt(1.0 * 2.0));
    assert_near(b->fewer.mid, sqrt(4.0 * 2.5));
    assert_near(b->fewer.low, 2.5);
    assert_near(b->fewer.high, 4.0);
    assert_near(a->fewer.low, 1.0);
    assert_near(a->speedup.mid, 2.0);
    assert_near(b->speedup.mid, sqrt(8.0));
    assert_near(b->faster.mid, sqrt(2.0));
    assert_int_equal(a->reached, 1);
    assert_int_equal(b->reached, 2);
    assert_int_equal(a->wins, 1);
    assert_near(a->share[0], sqrt(0.25 * 0.5));
    assert_near(b->share[3], 1.0);
    assert_near(s.tasks[0].best, 4.0);
    assert_near(s.tasks[1].evaluations[0], 5.0);
}

static void suite_summarise__two_seeds__a_task_counts_once(void **state)
{
    struct place *p = *state;
    struct suite_summary s;
    add(p, "a", "x", 1, (const double[]){1, 1, 1, 3});
    add(p, "b", "x", 1, (const double[]){3, 3, 3, 3});
    for (int seed = 1; seed <= 4; seed++) {
        add(p, "a", "y", seed, (const double[]){2, 2, 2, 2});
        add(p, "b", "y", seed, (const double[]){2, 2, 2, 2});
    }
    assert_true(summarise(p, &s));
    assert_near(s.arms[1].fewer.mid, 2.0); /* sqrt(4 x 1), not the fifth root of 4 */
}

/* Nobody has to come near a time that was luck. */
static void suite_summarise__a_lucky_time__the_best_is_what_was_confirmed(void **state)
{
    struct place *p = *state;
    struct suite_summary s;
    add_confirmed(p, "a", "x", 1, (const double[]){1, 2, 2, 2.3}, 2.05);
    add_confirmed(p, "b", "x", 1, (const double[]){1, 1, 2, 2}, 1.9);
    add_confirmed(p, "a", "y", 1, (const double[]){1, 1.2, 1.2, 1.2}, 1); /* not confirmed */
    add_confirmed(p, "b", "y", 1, (const double[]){1, 1, 1, 1}, 1);
    assert_true(summarise(p, &s));
    assert_near(s.tasks[0].best, 2.05);
    assert_near(s.tasks[0].evaluations[0], 2.0);
    assert_near(s.tasks[0].evaluations[1], 3.0);
    assert_near(s.tasks[1].best, 1.2); /* found, where nothing is confirmed */
    assert_near(s.tasks[1].evaluations[1], 5.0);
    buf_clear(&p->lines);
    /* A small gain: nothing is not near to it. And a confirmation that was lucky. */
    add_confirmed(p, "a", "x", 1, (const double[]){1, 1.03, 1.04, 1.04}, 1.04);
    add_confirmed(p, "b", "x", 1, (const double[]){1, 1, 1, 1}, 1);
    add_confirmed(p, "a", "y", 1, (const double[]){1, 1, 2, 2}, 2.4);
    add_confirmed(p, "b", "y", 1, (const double[]){1, 1, 1, 1}, 1);
    assert_true(summarise(p, &s));
    assert_near(s.tasks[0].evaluations[0], 2.0);
    assert_near(s.tasks[0].evaluations[1], 5.0);
    assert_near(s.tasks[1].best, 2.0);
    assert_near(s.tasks[1].evaluations[0], 3.0);
}

static void suite_summarise__bad_results__named_by_line(void **state)
{
    struct place *p = *state;
    struct suite_summary s;
    assert_false(summarise(p, &s)); /* none */
    assert_int_equal(p->err.kind, ERR_NOT_FOUND);
    add(p, "a", "x", 1, (const double[]){1, 1, 1, 3});
    (void)buf_append_str(&p->lines, "{\"arm\":\"a\",\"task\":\"y\",\"seed\":1,\"evaluations\":2,"
                                    "\"curve\":[0.5]}\n");
    assert_false(summarise(p, &s));
    assert_int_equal(p->err.kind, ERR_CORRUPT);
    assert_non_null(strstr(p->err.message, "line 2"));
    buf_clear(&p->lines);
    add(p, "../../a", "x", 1, (const double[]){1, 1, 1, 3});
    assert_false(summarise(p, &s));
    assert_int_equal(p->err.kind, ERR_CORRUPT);
    buf_clear(&p->lines);
    add(p, "a", "\\u001b[2J", 1, (const double[]){1, 1, 1, 3});
    assert_false(summarise(p, &s));
    assert_int_equal(p->err.kind, ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(suite_summarise__two_arms__by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            suite_summarise__a_lucky_time__the_best_is_what_was_confirmed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(suite_summarise__two_seeds__a_task_counts_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(suite_summarise__bad_results__named_by_line, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
