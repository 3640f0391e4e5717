/* What each policy promises beyond what all of them do (search_test.c). */
#include "search/search.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_POLICIES = 16, MAX_ASKS = 400, MAX_IN_FLIGHT = 5 };

struct asked {
    int node;
    enum search_step step;
};

static struct search *open_policy(const char *policy, uint64_t seed)
{
    struct search *search = NULL;
    struct err err = {0};
    if (!search_open(&(struct search_opts){.policy = policy, .seed = seed}, &search, &err))
        fail_msg("%s", err.message);
    return search;
}

static int tell(struct search *search, int parent, enum search_step step, double log_ratio)
{
    return search_tell(
        search, parent,
        &(struct search_outcome){.is_valid = log_ratio > -9, .log_ratio = log_ratio, .step = step});
}

/* A value that depends on the tree only: of a child by its parent and its place among siblings. */
static double gain_at(const struct search *search, int parent)
{
    const struct search_node *p = search_node(search, parent);
    const uint64_t place = (uint64_t)(parent * 31 + p->child_count * 17 + 7) * 2654435761u;
    const double noise = (double)(place >> 7 & 0xff) / 255.0;
    return noise < 0.2 ? -10 : p->outcome.log_ratio + 0.3 * (noise - 0.4);
}

/*
 * The conformance of a policy with several evaluations on their way: a node has five children at
 * most, a tree 60 candidates. They come back in an order of their own; `asks` is what was asked.
 */
static size_t run_in_flight(struct search *search, int width, struct asked asks[MAX_ASKS])
{
    struct asked flying[MAX_IN_FLIGHT];
    size_t asked = 0, told = 0;
    int in_flight = 0;
    while (told < 60) {
        struct asked next = {0};
        while (in_flight < width && search_next(search, &next.node, &next.step)) {
            assert_true(next.step == STEP_SMALL || next.step == STEP_LARGE);
            assert_true(search_node(search, next.node)->outcome.is_valid);
            assert_true(asked < MAX_ASKS);
            asks[asked++] = next;
            if (search_node(search, next.node)->child_count >= 5)
                search_tell_exhausted(search, next.node);
            else
                flying[in_flight++] = next;
        }
        if (in_flight == 0)
            break;
        const int back = (int)(told * 7 % (size_t)in_flight);
        const struct asked done = flying[back];
        flying[back] = flying[--in_flight];
        (void)tell(search, done.node, done.step, gain_at(search, done.node));
        told++;
    }
    assert_true(told == 60 || search_end_reason(search)[0] != '\0');
    return asked;
}

static void policy__several_in_flight__ends_and_repeats(void **state)
{
    (void)state;
    const char *names[MAX_POLICIES], *summaries[MAX_POLICIES];
    const size_t count = search_policies(names, summaries, MAX_POLICIES);
    for (size_t i = 0; i < count; i++) {
        for (int width = 1; width <= MAX_IN_FLIGHT; width++) {
            static struct asked first[MAX_ASKS], second[MAX_ASKS];
            struct search *a = open_policy(names[i], 11), *b = open_policy(names[i], 11);
            const size_t asks = run_in_flight(a, width, first);
            assert_int_equal(run_in_flight(b, width, second), asks);
            for (size_t k = 0; k < asks; k++) {
                assert_int_equal(first[k].node, second[k].node);
                assert_int_equal(first[k].step, second[k].step);
            }
            search_close(&a);
            search_close(&b);
        }
    }
}

/* The next candidate that is really asked for: nodes with five children have no more. */
static struct asked ask(struct search *search)
{
    struct asked next = {.node = SEARCH_NO_NODE};
    while (search_next(search, &next.node, &next.step)) {
        if (search_node(search, next.node)->child_count < 5)
            return next;
        search_tell_exhausted(search, next.node);
    }
    return (struct asked){.node = SEARCH_NO_NODE};
}

/* A run that is cut anywhere and told again asks for the same, though it does not know which nodes
 * its proposer had nothing for. */
static void policy__cut_anywhere_and_told_again__asks_alike(void **state)
{
    (void)state;
    const char *names[MAX_POLICIES], *summaries[MAX_POLICIES];
    const size_t count = search_policies(names, summaries, MAX_POLICIES);
    for (size_t i = 0; i < count; i++) {
        struct search *whole = open_policy(names[i], 5);
        for (int n = 0; n < 60; n++) {
            struct search *resumed = open_policy(names[i], 5);
            for (int node = 1; node <= n; node++) {
                const struct search_node *known = search_node(whole, node);
                (void)search_tell(resumed, known->parent, &known->outcome);
            }
            const struct asked a = ask(whole), b = ask(resumed);
            assert_int_equal(a.node, b.node);
            search_close(&resumed);
            if (a.node == SEARCH_NO_NODE)
                break;
            assert_int_equal(a.step, b.step);
            (void)tell(whole, a.node, a.step, gain_at(whole, a.node));
        }
        search_close(&whole);
    }
}

static struct asked next_of(struct search *search)
{
    struct asked next = {0};
    assert_true(search_next(search, &next.node, &next.step));
    return next;
}

static void beam__level_is_done__goes_on_from_its_best_only(void **state)
{
    (void)state;
    static const double gains[8] = {0.1, 0.7, 0.3, 0.9, 0.2, 0.0, -0.1, 0.4};
    struct search *search = open_policy("beam:2", 1);
    for (int i = 0; i < 8; i++) { /* two places of four children each: all from the root */
        const struct asked next = next_of(search);
        assert_int_equal(next.node, SEARCH_ROOT);
        assert_int_equal(next.step, STEP_LARGE);
        (void)tell(search, next.node, next.step, gains[i]);
    }
    int from_best = 0, from_second = 0;
    for (int i = 0; i < 8; i++) {
        const struct asked next = next_of(search);
        from_best += next.node == 4;
        from_second += next.node == 2;
        (void)tell(search, next.node, next.step, i == 0 ? -0.5 : -10);
    }
    assert_int_equal(from_best, 4);
    assert_int_equal(from_second, 4);
    assert_int_equal(next_of(search).node, 9); /* slower, but the best of the third level */
    search_close(&search);
}

static void beam__last_of_a_level_is_on_its_way__waits(void **state)
{
    (void)state;
    struct search *search = open_policy("beam:1", 1);
    struct asked next = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(next_of(search).node, SEARCH_ROOT);
    assert_false(search_next(search, &next.node, &next.step));
    assert_string_equal(search_end_reason(search), "");
    for (int i = 0; i < 4; i++)
        (void)tell(search, SEARCH_ROOT, STEP_LARGE, 0.1 * i);
    assert_int_equal(next_of(search).node, 4);
    search_close(&search);
}

/* Two small children a candidate, never more; a quarter of the steps is large, and starts at a
 * head. */
static void adaptive__many_steps__small_ones_are_two_a_candidate(void **state)
{
    (void)state;
    struct search *search = open_policy("adaptive", 3);
    int small_children[402] = {0}, large = 0;
    for (int i = 0; i < 400; i++) {
        const struct asked next = next_of(search);
        if (next.step == STEP_SMALL) {
            assert_int_not_equal(next.node, SEARCH_ROOT);
            assert_true(++small_children[next.node] <= 2);
        } else {
            assert_int_not_equal(search_node(search, next.node)->outcome.step, STEP_SMALL);
            large++;
        }
        const double parent = search_node(search, next.node)->outcome.log_ratio;
        (void)tell(search, next.node, next.step, parent + (i % 3 == 0 ? 0.02 : -0.02));
    }
    assert_in_range(large, 70, 130);
    search_close(&search);
}

/* The root gave a jump, all later steps little: the root's decision is made again far more often
 * than mcts alone would. */
static void resample__one_decision_made_the_gain__decides_there_again(void **state)
{
    (void)state;
    int from_root[2] = {0};
    const char *const names[2] = {"mcts", "resample"};
    for (int p = 0; p < 2; p++) {
        for (uint64_t seed = 0; seed < 200; seed++) {
            struct search *search = open_policy(names[p], seed);
            int at = tell(search, SEARCH_ROOT, STEP_LARGE, 1.0);
            for (int i = 0; i < 9; i++) /* enough for the root not to widen */
                (void)tell(search, SEARCH_ROOT, STEP_LARGE, -0.5);
            for (int i = 0; i < 6; i++)
                at = tell(search, at, STEP_SMALL, 1.0 + 0.001 * (i + 1));
            from_root[p] += next_of(search).node == SEARCH_ROOT;
            search_close(&search);
        }
    }
    assert_int_equal(from_root[0], 0);
    assert_in_range(from_root[1], 30, 70);
}

static int large_steps(const struct search_prior *prior, double large_gain, double small_gain)
{
    int large = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        const struct search_opts opts = {.policy = "mcts", .seed = seed, .prior = *prior};
        struct search *search = NULL;
        struct err err = {0};
        assert_true(search_open(&opts, &search, &err));
        const int at = tell(search, SEARCH_ROOT, STEP_LARGE, 0.5);
        search_tell_exhausted(search, SEARCH_ROOT);
        for (int i = 0; i < 10; i++) {
            (void)tell(search, at, STEP_LARGE, 0.5 + large_gain);
            (void)tell(search, at, STEP_SMALL, 0.5 + small_gain);
        }
        large += next_of(search).step == STEP_LARGE;
        search_close(&search);
    }
    return large;
}

/* An eighth of the steps below the root where nothing speaks for either kind; experience, and what
 * this tree shows, move that. */
static void mcts__what_steps_gain__moves_their_shares(void **state)
{
    (void)state;
    const struct search_prior none = {0}, large = {.large_gain = 0.5, .weight = 8};
    const int even = large_steps(&none, -0.1, -0.1);
    assert_in_range(large_steps(&none, -0.1, 0.3), 8, even);
    assert_true(large_steps(&none, 0.5, -0.1) > even + 80);
    assert_true(large_steps(&large, -0.1, -0.1) > even + 80);
}

/* A landscape as flags make it: sixteen switches, each with a gain or a loss of its own in any
 * company. A small step turns one of them, a large one three. */
enum { SWITCHES = 16, LANDSCAPE_BUDGET = 40, LANDSCAPE_SEEDS = 20 };
struct landscape {
    struct rng rng;
    double gains[SWITCHES];
    uint32_t states[LANDSCAPE_BUDGET + 1];
    int count;
};

static bool turn_switches(void *context, int parent, enum search_step step,
                          struct search_outcome *out)
{
    struct landscape *l = context;
    uint32_t state = l->states[parent];
    for (int turns = step == STEP_LARGE ? 3 : 1; turns > 0; turns--)
        state ^= UINT32_C(1) << rng_below(&l->rng, SWITCHES);
    l->states[l->count++] = state;
    *out = (struct search_outcome){.is_valid = true};
    for (int i = 0; i < SWITCHES; i++)
        out->log_ratio += (state >> i & 1u) != 0 ? l->gains[i] : 0.0;
    return true;
}

static double found_in_landscapes(const char *policy)
{
    double sum = 0.0;
    for (uint64_t seed = 1; seed <= LANDSCAPE_SEEDS; seed++) {
        struct landscape l = {.rng = rng_seeded(seed), .count = 1};
        const struct search_evaluator evaluator = {.evaluate = turn_switches, .context = &l};
        for (int i = 0; i < SWITCHES; i++)
            l.gains[i] = 0.26 * rng_uniform(&l.rng) - 0.08;
        struct search *search = open_policy(policy, seed);
        assert_true(search_run(search, &evaluator, LANDSCAPE_BUDGET));
        sum += search_node(search, search_best(search))->outcome.log_ratio;
        search_close(&search);
    }
    return sum / LANDSCAPE_SEEDS;
}

/* Where every step adds up, nothing is gained by looking around: greedy is what to be measured by.
 * A tree that spends its visits on breadth finds three quarters of it. */
static void mcts__steps_add_up__finds_what_greedy_finds(void **state)
{
    (void)state;
    const double greedy = found_in_landscapes("greedy");
    assert_true(greedy > 0.5);
    assert_true(found_in_landscapes("mcts") > 0.97 * greedy);
}

static void search_open__width_of_a_beam__is_checked(void **state)
{
    (void)state;
    static const char *const wrong[] = {"beam:0",   "beam:", "beam:x", "beam:1001",
                                        "greedy:2", "bea",   "",       ":3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err err = {0};
        assert_false(search_check_policy(wrong[i], &err));
        assert_int_equal(err.kind, ERR_USAGE);
    }
    struct err err = {0};
    assert_true(search_check_policy("beam:1000", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy__several_in_flight__ends_and_repeats),
        cmocka_unit_test(policy__cut_anywhere_and_told_again__asks_alike),
        cmocka_unit_test(beam__level_is_done__goes_on_from_its_best_only),
        cmocka_unit_test(beam__last_of_a_level_is_on_its_way__waits),
        cmocka_unit_test(adaptive__many_steps__small_ones_are_two_a_candidate),
        cmocka_unit_test(resample__one_decision_made_the_gain__decides_there_again),
        cmocka_unit_test(mcts__what_steps_gain__moves_their_shares),
        cmocka_unit_test(mcts__steps_add_up__finds_what_greedy_finds),
        cmocka_unit_test(search_open__width_of_a_beam__is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
