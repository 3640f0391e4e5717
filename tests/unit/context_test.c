#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "context_task.h"

#include "base/tokens.h"
#include "context/context.h"
#include "context/internal.h"

#include <string.h>

static const struct task *load(struct arena *arena)
{
    const struct task *task = NULL;
    struct err err = {0};
    if (!task_parse(yaml_text, strlen(yaml_text), reference, "twice", arena, &task, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    return task;
}

static void context_build__empty_memory__holds_task_and_fits(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct graph *graph = NULL;
    struct context context;
    assert_true(graph_open(":memory:", &graph, &err));
    const struct context_request request = {.task = load(&arena),
                                            .target_id = "t",
                                            .facts = "a machine",
                                            .cold = "one\n\ntwo\n\n",
                                            .budget_tokens = 2000};
    assert_true(context_build(graph, &request, &arena, &context, &err));
    assert_non_null(strstr(context.text, "y[i] = 2 * x[i]"));
    assert_non_null(strstr(context.text, "one"));
    assert_true(context.tokens <= 2000);
    assert_true(tokens_bound(context.text, strlen(context.text)) <= context.tokens);
    assert_non_null(strstr(context_ledger(&context, &arena), "total"));
    graph_close(&graph);
    arena_free(&arena);
    (void)state;
}

static void context_build__budget_below_required__is_an_error_with_the_need(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct graph *graph = NULL;
    struct context context;
    assert_true(graph_open(":memory:", &graph, &err));
    const struct context_request request = {
        .task = load(&arena), .target_id = "t", .budget_tokens = 50};
    assert_false(context_build(graph, &request, &arena, &context, &err));
    assert_int_equal(err.kind, ERR_BUDGET);
    assert_non_null(strstr(err.hint, "--context-tokens"));
    graph_close(&graph);
    arena_free(&arena);
    (void)state;
}

static void context_build__any_budget__is_a_hard_bound(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct graph *graph = NULL;
    struct buf cold = {0};
    assert_true(graph_open(":memory:", &graph, &err));
    for (int i = 0; i < 100; i++)
        (void)buf_printf(&cold, "paragraph %d (){}[];;;;++--==!!?? with some words in it\n\n", i);
    for (int64_t budget = 400; budget < 6000; budget += 173) {
        struct context context;
        const struct context_request request = {.task = load(&arena),
                                                .target_id = "t",
                                                .cold = buf_text(&cold),
                                                .budget_tokens = budget};
        if (!context_build(graph, &request, &arena, &context, &err)) {
            assert_int_equal(err.kind, ERR_BUDGET);
            continue;
        }
        assert_true(tokens_bound(context.text, strlen(context.text)) + 2 * TOKENS_PER_MESSAGE <=
                    budget);
    }
    buf_free(&cold);
    graph_close(&graph);
    arena_free(&arena);
    (void)state;
}

/* Skills and rules of the caller are items like others: labelled, in the ledger, cited by label. */
static void context_build__offers__are_labelled_and_in_the_ledger(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct graph *graph = NULL;
    struct context context;
    const struct context_offer offers[] = {
        {CONTEXT_SKILL, "split-sums", "four accumulators hide the latency of an addition", 0.4},
        {CONTEXT_RULE, "no-aligned-load", "buffers are aligned to their element only\n", 0.2},
        {CONTEXT_SKILL, "worthless", "is never shown", 0.0}};
    assert_true(graph_open(":memory:", &graph, &err));
    const struct context_request request = {.task = load(&arena),
                                            .target_id = "t",
                                            .offers = offers,
                                            .offer_count = 3,
                                            .budget_tokens = 2000};
    assert_true(context_build(graph, &request, &arena, &context, &err));
    assert_non_null(strstr(context.text, "- skill split-sums: four accumulators"));
    assert_non_null(strstr(context.text, "- rule no-aligned-load: buffers are aligned"));
    assert_null(strstr(context.text, "is never shown"));
    assert_string_equal(context_label_ref(context.items, context.item_count, "E1"), "split-sums");
    assert_non_null(strstr(context_ledger(&context, &arena), "no-aligned-load"));
    graph_close(&graph);
    arena_free(&arena);
    (void)state;
}

static struct entries warm_of(size_t count)
{
    static struct entries warm;
    warm.count = 0;
    for (size_t i = 0; i < count; i++) {
        struct entry *entry =
            entries_add(&warm, "warm", "decision", "d", "some words of experience here\n");
        entry->item.score = 1.0 + (double)i;
        entry->key = i % 2 ? "odd" : "even";
        entry->is_failure = i % 5 == 0;
    }
    return warm;
}

static void context_choose__tokens_for_some__takes_the_best_within_them(void **state)
{
    struct entries warm = warm_of(40);
    int64_t used = 0;
    context_choose(&warm, 100, 0.0, 1);
    size_t failures = 0;
    for (size_t i = 0; i < warm.count; i++) {
        used += warm.items[i].is_chosen ? warm.items[i].item.tokens : 0;
        failures += warm.items[i].is_chosen && warm.items[i].is_failure;
    }
    assert_true(used > 50 && used <= 100);
    assert_true(failures >= 1);
    assert_true(warm.items[39].is_chosen);
    (void)state;
}

static void context_choose__share_withheld__is_near_its_propensity(void **state)
{
    int withheld = 0;
    int chosen = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct entries warm = warm_of(10);
        context_choose(&warm, 10000, 0.05, seed);
        for (size_t i = 0; i < warm.count; i++) {
            chosen += warm.items[i].is_chosen;
            withheld += warm.items[i].item.withheld;
            assert_true(!warm.items[i].is_chosen || warm.items[i].item.propensity == 0.95);
        }
    }
    assert_int_equal(chosen, 4000);
    assert_in_range(withheld, 140, 260);
    (void)state;
}

/* Every attempt is there in full, in order, until the window is full; then the oldest go first and
 * the newest stay. */
static void context_build_passive__history_grows__oldest_leave_a_full_window(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    struct context_attempt history[20];
    int64_t before = 0;
    for (size_t i = 0; i < 20; i++)
        history[i] = (struct context_attempt){
            .decision_id = arena_printf(&arena, "d%zu", i),
            .outcome = "- tried: timed\n",
            .source = arena_printf(&arena, "void attempt_%zu_(void) { int a[100]; }", i)};
    struct context_request request = {
        .task = load(&arena), .target_id = "t", .facts = "a machine", .history = history};
    for (request.history_count = 0; request.history_count <= 20; request.history_count++) {
        struct context context;
        assert_true(context_build_passive(&request, &arena, &context, &err));
        assert_true(context.tokens > before);
        assert_int_equal(context.item_count, CONTEXT_REQUIRED_ITEMS + request.history_count);
        before = context.tokens;
    }
    request.history_count = 20;
    request.budget_tokens = before / 2;
    struct context cut;
    assert_true(context_build_passive(&request, &arena, &cut, &err));
    assert_true(cut.tokens <= request.budget_tokens);
    assert_null(strstr(cut.text, "attempt_0_"));
    assert_non_null(strstr(cut.text, "attempt_19_"));
    assert_true(cut.item_count > CONTEXT_REQUIRED_ITEMS && cut.item_count < 24);
    request.budget_tokens = 20;
    assert_false(context_build_passive(&request, &arena, &cut, &err));
    assert_int_equal(err.kind, ERR_BUDGET);
    arena_free(&arena);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(context_build__empty_memory__holds_task_and_fits),
        cmocka_unit_test(context_build__budget_below_required__is_an_error_with_the_need),
        cmocka_unit_test(context_build__any_budget__is_a_hard_bound),
        cmocka_unit_test(context_build__offers__are_labelled_and_in_the_ledger),
        cmocka_unit_test(context_build_passive__history_grows__oldest_leave_a_full_window),
        cmocka_unit_test(context_choose__tokens_for_some__takes_the_best_within_them),
        cmocka_unit_test(context_choose__share_withheld__is_near_its_propensity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
