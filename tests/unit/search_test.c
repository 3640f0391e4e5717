/* Policies on landscapes whose best is known, and the bookkeeping that resume and parallel
 * evaluation rely on. */
#include "base/str.h"
#include "search/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_NODES = 512, DEPTH = 4, BRANCHES = 4 };

static const char *const policy_names[] = {"mcts",   "resample", "adaptive", "beam",
                                           "beam:1", "greedy",   "random"};
enum { POLICIES = sizeof policy_names / sizeof *policy_names };

/*
 * A tree of four levels with four moves each. The gain of a node is the sum of its moves' gains;
 * one path leads to the best, a second one looks better at first and is a trap.
 */
struct landscape {
    int children[MAX_NODES]; /* proposed so far */
    int depth[MAX_NODES];
    char path[MAX_NODES][DEPTH + 1];
    int count;
    int64_t evaluations;
    int64_t stop_after; /* 0: never */
};

static double gain_of(const char *path)
{
    double gain = 0;
    for (size_t i = 0; path[i]; i++)
        gain += 0.05 * (path[i] - '0');
    if (path[0] == '2')
        gain += 0.15 * (double)strlen(path); /* the way to the best: 2222 gives 1.0 */
    if (path[0] == '3')
        gain += 0.2; /* the trap */
    return gain;
}

static bool can_extend(void *context, int parent)
{
    const struct landscape *l = context;
    return l->depth[parent] < DEPTH && l->children[parent] < BRANCHES;
}

static bool evaluate(void *context, int parent, enum search_step step, struct search_outcome *out)
{
    struct landscape *l = context;
    (void)step;
    if (l->stop_after > 0 && l->evaluations == l->stop_after)
        return false;
    l->evaluations++;
    const int node = ++l->count;
    l->depth[node] = l->depth[parent] + 1;
    memcpy(l->path[node], l->path[parent], sizeof l->path[node]);
    l->path[node][l->depth[parent]] = (char)('0' + l->children[parent]++);
    const double gain = gain_of(l->path[node]);
    /* Moves that end in 1 do not build. */
    const bool is_valid = l->path[node][l->depth[node] - 1] != '1';
    *out =
        (struct search_outcome){.is_valid = is_valid, .log_ratio = gain, .low = gain, .high = gain};
    return true;
}

static struct search *open_search(const struct search_opts *opts)
{
    struct search *search = NULL;
    struct err err = {0};
    if (!search_open(opts, &search, &err))
        fail_msg("%s", err.message);
    return search;
}

static double run_policy(const char *policy, uint64_t seed, int64_t budget, struct landscape *l)
{
    struct search *search = open_search(&(struct search_opts){.policy = policy, .seed = seed});
    *l = (struct landscape){0};
    assert_true(search_run(search, &(struct search_evaluator){evaluate, can_extend, l}, budget));
    const double best = search_node(search, search_best(search))->outcome.log_ratio;
    search_close(&search);
    assert_null(search);
    return best;
}

static void search_run__known_tree__mcts_finds_the_best(void **state)
{
    (void)state;
    const double best = gain_of("2333"); /* 0.1 + 0.45 + 0.6 */
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct landscape l;
        assert_true(run_policy("mcts", seed, 120, &l) >= best - 1e-12);
    }
}

static void search_run__known_tree__greedy_climbs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct landscape l;
        assert_true(run_policy("greedy", seed, 30, &l) > 0.5);
        assert_true(run_policy("greedy", seed, 120, &l) >= gain_of("2333") - 1e-12);
    }
}

static void search_run__whole_tree__every_policy_covers_it_and_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < POLICIES; i++) {
        struct search *search = open_search(&(struct search_opts){.policy = policy_names[i]});
        struct landscape l = {0};
        assert_true(search_run(search, &(struct search_evaluator){evaluate, can_extend, &l}, 500));
        /* Four moves, three of them valid: 4 + 3 x 4 + 9 x 4 + 27 x 4. */
        assert_int_equal(l.evaluations, 160);
        assert_int_equal(search_node_count(search), 161);
        assert_non_null(strstr(search_end_reason(search), "nothing is left to try"));
        int node = 0;
        enum search_step step;
        assert_false(search_next(search, &node, &step));
        search_close(&search);
    }
}

static void search_run__same_seed__same_tree(void **state)
{
    (void)state;
    for (size_t i = 0; i < POLICIES; i++) {
        struct landscape a, b;
        (void)run_policy(policy_names[i], 7, 60, &a);
        (void)run_policy(policy_names[i], 7, 60, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void search_run__evaluator_stops__nothing_is_in_flight(void **state)
{
    (void)state;
    struct search *search = open_search(&(struct search_opts){0});
    struct landscape l = {.stop_after = 5};
    assert_false(search_run(search, &(struct search_evaluator){evaluate, can_extend, &l}, 20));
    assert_int_equal(search_node_count(search), 6);
    assert_int_equal(search_node(search, SEARCH_ROOT)->in_flight, 0);
    search_close(&search);
}

/* A run that is cut and told again goes on with the very nodes of the run that was not. */
static void search_tell__resumed__continues_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < POLICIES; i++) {
        const struct search_opts opts = {.policy = policy_names[i], .seed = 99};
        struct search *whole = open_search(&opts), *resumed = open_search(&opts);
        struct landscape l = {0};
        const struct search_evaluator evaluator = {evaluate, can_extend, &l};
        assert_true(search_run(whole, &evaluator, 25));
        for (int node = 1; node <= 25; node++) {
            const struct search_node *n = search_node(whole, node);
            assert_int_equal(search_tell(resumed, n->parent, &n->outcome), node);
        }
        struct landscape continued = l;
        const struct search_evaluator again = {evaluate, can_extend, &continued};
        assert_true(search_run(whole, &evaluator, 60));
        assert_true(search_run(resumed, &again, 60));
        assert_memory_equal(&l, &continued, sizeof l);
        assert_int_equal(search_best(whole), search_best(resumed));
        search_close(&whole);
        search_close(&resumed);
    }
}

static int tell(struct search *search, int parent, double log_ratio)
{
    return search_tell(search, parent,
                       &(struct search_outcome){.is_valid = true, .log_ratio = log_ratio});
}

static void search_next__several_in_flight__mcts_spreads(void **state)
{
    (void)state;
    struct search *search = open_search(&(struct search_opts){.policy = "mcts", .seed = 3});
    const int a = tell(search, SEARCH_ROOT, 0.50), b = tell(search, SEARCH_ROOT, 0.499);
    search_tell_exhausted(search, SEARCH_ROOT);
    int64_t from_a = 0, from_b = 0;
    for (int i = 0; i < 6; i++) {
        int node = 0;
        enum search_step step;
        assert_true(search_next(search, &node, &step));
        from_a += node == a;
        from_b += node == b;
    }
    /* Without virtual loss all six would go to one of two nearly equal nodes. */
    assert_int_equal(from_a + from_b, 6);
    assert_true(from_a >= 2 && from_b >= 2);
    assert_int_equal(search_node(search, SEARCH_ROOT)->in_flight, 6);
    for (int64_t i = 0; i < from_a; i++)
        (void)tell(search, a, 0.1);
    assert_int_equal(search_node(search, SEARCH_ROOT)->in_flight, from_b);
    assert_int_equal(search_node(search, a)->in_flight, 0);
    search_close(&search);
}

static void search_next__all_waits_for_the_last__no_reason_yet(void **state)
{
    (void)state;
    for (size_t i = 0; i < POLICIES; i++) {
        struct search *search = open_search(&(struct search_opts){.policy = policy_names[i]});
        int node = 0;
        enum search_step step;
        assert_true(search_next(search, &node, &step));
        search_tell_exhausted(search, SEARCH_ROOT); /* answers that request */
        assert_false(search_next(search, &node, &step));
        assert_string_not_equal(search_end_reason(search), "");
        search_close(&search);

        search = open_search(&(struct search_opts){.policy = policy_names[i]});
        assert_true(search_next(search, &node, &step));
        assert_true(search_next(search, &node, &step));
        search_tell_exhausted(search, SEARCH_ROOT);
        assert_false(search_next(search, &node, &step));
        assert_string_equal(search_end_reason(search), "");
        assert_int_equal(tell(search, SEARCH_ROOT, 0.3), 1);
        assert_true(search_next(search, &node, &step));
        assert_int_equal(node, 1);
        search_close(&search);
    }
}

static void search_next__no_better_one__stagnation_says_so(void **state)
{
    (void)state;
    struct search *search = open_search(&(struct search_opts){.stagnation = 3});
    (void)tell(search, SEARCH_ROOT, 0.2);
    for (int i = 0; i < 3; i++)
        (void)tell(search, SEARCH_ROOT, 0.1);
    int node = 0;
    enum search_step step;
    assert_false(search_next(search, &node, &step));
    assert_string_equal(search_end_reason(search), "stagnation: 3 candidates without a better one");
    assert_int_equal(search_best(search), 1);
    search_close(&search);
}

static void search_tell__failed_or_dead_end__never_extended(void **state)
{
    (void)state;
    for (size_t i = 0; i < POLICIES; i++) {
        struct search *search = open_search(&(struct search_opts){.policy = policy_names[i]});
        const int failed = search_tell(search, SEARCH_ROOT, &(struct search_outcome){0});
        const int nan = tell(search, SEARCH_ROOT, (double)NAN);
        const int dead = search_tell(
            search, SEARCH_ROOT,
            &(struct search_outcome){.is_valid = true, .log_ratio = 2, .is_dead_end = true});
        for (int k = 0; k < 50; k++) {
            int node = 0;
            enum search_step step;
            assert_true(search_next(search, &node, &step));
            assert_true(node != failed && node != nan && node != dead);
            (void)tell(search, node, -0.5);
        }
        assert_int_equal(search_best(search), dead);
        search_close(&search);
    }
}

static void search_best__all_slower__the_root_stands(void **state)
{
    (void)state;
    struct search *search = open_search(&(struct search_opts){0});
    (void)tell(search, SEARCH_ROOT, -0.2);
    (void)tell(search, 1, -0.1);
    assert_int_equal(search_best(search), SEARCH_ROOT);
    assert_int_equal(search_node(search, SEARCH_ROOT)->parent, SEARCH_NO_NODE);
    assert_int_equal(search_node(search, SEARCH_ROOT)->visits, 2);
    assert_true(search_node(search, 1)->best_below > -0.11);
    assert_null(search_node(search, 3));
    search_close(&search);
}

static void search_open__unknown_policy__names_the_known(void **state)
{
    (void)state;
    struct search *search = NULL;
    struct err err = {0};
    assert_false(search_open(&(struct search_opts){.policy = "best"}, &search, &err));
    assert_null(search);
    assert_int_equal(err.kind, ERR_USAGE);
    const char *names[8], *summaries[8];
    const size_t count = search_policies(names, summaries, 8);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(strstr(err.hint, names[i]));
        assert_true(summaries[i][0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_run__known_tree__mcts_finds_the_best),
        cmocka_unit_test(search_run__known_tree__greedy_climbs),
        cmocka_unit_test(search_run__whole_tree__every_policy_covers_it_and_ends),
        cmocka_unit_test(search_run__same_seed__same_tree),
        cmocka_unit_test(search_run__evaluator_stops__nothing_is_in_flight),
        cmocka_unit_test(search_tell__resumed__continues_alike),
        cmocka_unit_test(search_next__several_in_flight__mcts_spreads),
        cmocka_unit_test(search_next__all_waits_for_the_last__no_reason_yet),
        cmocka_unit_test(search_next__no_better_one__stagnation_says_so),
        cmocka_unit_test(search_tell__failed_or_dead_end__never_extended),
        cmocka_unit_test(search_best__all_slower__the_root_stands),
        cmocka_unit_test(search_open__unknown_policy__names_the_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
