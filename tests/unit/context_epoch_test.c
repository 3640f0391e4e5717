/* What stands before HOT keeps its bytes from step to step, and only grows at its end. */
#include "context_task.h"
#include "graph_fixture.h"

#include "context/context.h"

#include <ctype.h>

/* A run of the task that tries one thing after the other. */
struct run {
    struct fixture *f;
    struct world *world;
    struct graph *graph;
    const struct task *task;
    const char *id;
    size_t applied;
    int tries;
};

static struct run run_begin(struct fixture *f)
{
    struct run r = {.f = f, .world = world_new(f)};
    assert_ok(f, task_parse(yaml_text, strlen(yaml_text), reference, "twice", &f->arena, &r.task,
                            &f->err));
    assert_ok(f, graph_open(":memory:", &r.graph, &f->err));
    world_task(r.world, r.task->id.text, "twice", "elementwise", "float32");
    r.id = world_run(r.world, r.task->id.text, "zen3");
    return r;
}

static const char *run_try(struct run *r, double log_ratio)
{
    struct arena *arena = &r->f->arena;
    const int n = ++r->tries;
    const char *move = arena_printf(arena, "move%d", n);
    const char *decision = world_decision(
        r->world,
        &(struct try){r->id, "", arena_printf(arena, "twice as wide, try %d", n), n, {move}, move});
    world_outcome(r->world, &(struct found){decision, r->task->id.text, "zen3", VERDICT_TIMED,
                                            log_ratio, true, false, "", move});
    for (; r->applied < r->world->count; r->applied++)
        assert_ok(r->f, graph_apply(r->graph, &r->world->events[r->applied], &r->f->err));
    return decision;
}

static struct context step(struct run *r, struct context_epoch *epoch, const char *source,
                           double withhold_share)
{
    struct context context;
    const struct context_request request = {.task = r->task,
                                            .target_id = "zen3",
                                            .system = "Answer well.",
                                            .facts = "a machine",
                                            .cold = "one\n\ntwo\n\n",
                                            .current_source = source,
                                            .current_summary = "timed: 1.5x faster [1.4, 1.6]",
                                            .finding = "waits for loads",
                                            .budget_tokens = 1500,
                                            .withhold_share = withhold_share,
                                            .seed = (uint64_t)r->tries,
                                            .epoch = epoch};
    assert_ok(r->f, context_build(r->graph, &request, &r->f->arena, &context, &r->f->err));
    assert_true(context.tokens <= 1500);
    return context;
}

static const char *prefix_of(struct run *r, const struct context *context)
{
    const char *now = strstr(context->text, "\n## Now\n");
    assert_non_null(now);
    return arena_strndup(&r->f->arena, context->text, (size_t)(now - context->text));
}

static void context_build__steps_of_an_epoch__prefix_only_grows(void **state)
{
    struct run r = run_begin(*state);
    struct context_epoch epoch = {0};
    const char *before = NULL;
    int grown = 0;
    for (int i = 0; i < 12; i++) {
        (void)run_try(&r, 0.1 * (12 - i));
        const struct context context =
            step(&r, &epoch, arena_printf(&r.f->arena, "void twice_%d(void);", i), 0.3);
        const char *prefix = prefix_of(&r, &context);
        if (before && strncmp(prefix, before, strlen(before)) != 0)
            fail_msg("step %d changed what was sent:\n%s\n---\n%s", i, before, prefix);
        grown += before && strlen(prefix) > strlen(before);
        before = prefix;
    }
    assert_int_equal(epoch.number, 1);
    assert_true(grown >= 3);
    context_epoch_free(&epoch);
    graph_close(&r.graph);
}

static void context_build__nothing_new__prefix_hash_is_equal(void **state)
{
    struct run r = run_begin(*state);
    struct context_epoch epoch = {0};
    (void)run_try(&r, 0.5);
    const struct context a = step(&r, &epoch, "void twice_a(void);", 0.0);
    const struct context b = step(&r, &epoch, "void twice_b(void);", 0.0);
    assert_string_equal(a.prefix_hash.text, b.prefix_hash.text);
    assert_string_not_equal(a.text, b.text);
    context_epoch_free(&epoch);
    graph_close(&r.graph);
}

static void context_build__hot_does_not_fit__a_new_epoch(void **state)
{
    struct run r = run_begin(*state);
    struct context_epoch epoch = {0};
    for (int i = 0; i < 8; i++)
        (void)run_try(&r, 0.5);
    (void)step(&r, &epoch, "x", 0.0);
    struct buf large = {0};
    while (epoch.number == 1 && large.length < 3000) {
        (void)buf_append_str(&large, "x[i] += 1; ");
        (void)step(&r, &epoch, buf_text(&large), 0.0);
    }
    buf_free(&large);
    assert_int_equal(epoch.number, 2);
    context_epoch_free(&epoch);
    graph_close(&r.graph);
}

static void context_epoch_restore__goes_on_with_the_same_bytes(void **state)
{
    struct run r = run_begin(*state);
    struct context_epoch lived = {0};
    struct context_epoch restored = {0};
    for (int i = 0; i < 4; i++)
        (void)run_try(&r, 0.2 * i);
    const struct context first = step(&r, &lived, "a", 0.4);
    context_epoch_restore(&restored, first.text, first.system_text, first.items, first.item_count);
    (void)run_try(&r, 0.9);
    const struct context a = step(&r, &lived, "b", 0.4);
    const struct context b = step(&r, &restored, "b", 0.4);
    assert_string_equal(a.text, b.text);
    /* What does not fit together is not taken up. */
    struct context_epoch none = {0};
    context_epoch_restore(&none, first.text, "another contract", first.items, first.item_count);
    context_epoch_restore(&none, "", first.system_text, first.items, first.item_count);
    context_epoch_restore(&none, first.text, first.system_text, first.items, 0);
    assert_null(none.prefix);
    context_epoch_free(&lived);
    context_epoch_free(&restored);
    graph_close(&r.graph);
}

static void context_build__before_hot__no_ids_and_no_fractions(void **state)
{
    struct run r = run_begin(*state);
    struct context_epoch epoch = {0};
    const char *decision = run_try(&r, 0.4321);
    const struct context context = step(&r, &epoch, "a", 0.0);
    const char *prefix = prefix_of(&r, &context);
    assert_non_null(strstr(prefix, "E1 - twice"));
    assert_null(strstr(prefix, decision));
    for (const char *at = strchr(prefix, '.'); at; at = strchr(at + 1, '.'))
        assert_false(at > prefix && isdigit((unsigned char)at[-1]) &&
                     isdigit((unsigned char)at[1]));
    assert_string_equal(context_label_ref(context.items, context.item_count, "E1"), decision);
    assert_null(context_label_ref(context.items, context.item_count, "E2"));
    assert_null(context_label_ref(context.items, context.item_count, "E0"));
    assert_null(context_label_ref(context.items, context.item_count, "E"));
    context_epoch_free(&epoch);
    graph_close(&r.graph);
}

static bool reversed(void *context, const char *const *texts, size_t count, size_t *order,
                     struct err *err)
{
    (void)texts;
    (void)err;
    ++*(int *)context;
    for (size_t i = 0; i < count; i++)
        order[i] = count - 1 - i;
    return true;
}

/* The item whose score times `sign` is greatest. */
static const char *warm_by_score(const struct context *context, double sign)
{
    const struct context_item *best = NULL;
    for (size_t i = 0; i < context->item_count; i++) {
        const struct context_item *item = &context->items[i];
        if (strcmp(item->section, "warm") == 0 &&
            (!best || sign * item->score > sign * best->score))
            best = item;
    }
    return best ? best->ref : "";
}

static void context_build__order__is_asked_once_an_epoch(void **state)
{
    struct run r = run_begin(*state);
    struct context_epoch epoch = {0};
    struct context_epoch plain = {0};
    int asked = 0;
    const struct context_order order = {.order = reversed, .context = &asked};
    for (int i = 0; i < 3; i++)
        (void)run_try(&r, 0.1 + 0.3 * i);
    struct context context;
    struct context_request request = {.task = r.task,
                                      .target_id = "zen3",
                                      .budget_tokens = 1500,
                                      .epoch = &epoch,
                                      .order = &order};
    assert_ok(r.f, context_build(r.graph, &request, &r.f->arena, &context, &r.f->err));
    assert_ok(r.f, context_build(r.graph, &request, &r.f->arena, &context, &r.f->err));
    assert_int_equal(asked, 1);
    const struct context by_score = step(&r, &plain, "a", 0.0);
    /* What was worst by score has got the best score. */
    assert_string_equal(warm_by_score(&context, 1.0), warm_by_score(&by_score, -1.0));
    assert_string_equal(warm_by_score(&context, -1.0), warm_by_score(&by_score, 1.0));
    context_epoch_free(&epoch);
    context_epoch_free(&plain);
    graph_close(&r.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(context_build__steps_of_an_epoch__prefix_only_grows),
        FIXTURE(context_build__nothing_new__prefix_hash_is_equal),
        FIXTURE(context_build__hot_does_not_fit__a_new_epoch),
        FIXTURE(context_epoch_restore__goes_on_with_the_same_bytes),
        FIXTURE(context_build__before_hot__no_ids_and_no_fractions),
        FIXTURE(context_build__order__is_asked_once_an_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
