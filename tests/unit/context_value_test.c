/* The worth of items in memories whose truth is known. */
#include "graph_fixture.h"

#include "base/rng.h"
#include "context/value.h"
#include "graph/internal.h"

#include <math.h>

enum { STEPS = 5, MEMORIES = 24, RUNS_EACH = 80 };

struct simulation {
    struct fixture *f;
    struct world *w;
    struct graph *graph;
    struct rng rng;
    double propensity, helps;
};

static struct simulation simulation_of(struct fixture *f, double helps, uint64_t seed)
{
    struct simulation s = {.f = f, .w = world_new(f), .rng = rng_seeded(seed), .helps = helps};
    s.propensity = 0.9;
    assert_ok(f, graph_open(":memory:", &s.graph, &f->err));
    return s;
}

static struct simulation simulation_new(struct fixture *f, double helps)
{
    return simulation_of(f, helps, 23);
}

/* Without the searched text, which nothing here asks for. */
static void take_in(struct simulation *s)
{
    struct bulk bulk = {0};
    assert_ok(s->f, graph_begin(s->graph, &s->f->err));
    assert_ok(s->f, bulk_begin(s->graph, &bulk, &s->f->err));
    for (size_t i = 0; i < s->w->count; i++) {
        bool is_new = false;
        assert_ok(s->f, apply_event(s->graph, &s->w->events[i], &is_new, &s->f->err));
    }
    assert_ok(s->f, graph_end(s->graph, true, &s->f->err));
    s->w->count = 0;
}

static struct context_item draw_item(struct simulation *s, const char *kind, const char *ref)
{
    return (struct context_item){.section = "warm",
                                 .kind = kind,
                                 .ref = ref,
                                 .bytes = 200,
                                 .tokens = 50,
                                 .score = 0.1,
                                 .propensity = s->propensity,
                                 .withheld = rng_uniform(&s->rng) >= s->propensity};
}

/* A run whose prompts hold a skill that helps or is withheld, a failure that does nothing, and what
 * is always there. */
static void simulate_run(struct simulation *s, const char *task)
{
    struct buf body = {0};
    const char *run = world_run(s->w, task, "zen3");
    const struct context_item items[] = {
        draw_item(s, "skill", "split-sums"),
        draw_item(s, "failure", "never-works"),
        {.section = "hot", .kind = "task", .ref = "task", .tokens = 100, .propensity = 1.0}};
    event_write_context(&(struct context_event){.run_id = run, .items = items, .item_count = 3},
                        &body);
    const char *context = world_add(s->w, EVENT_CONTEXT, &body);
    const double base = 0.6 + 0.1 * rng_normal(&s->rng) + (items[0].withheld ? 0.0 : s->helps);
    for (int i = 0; i < STEPS; i++) {
        event_write_decision(&(struct decision_event){.run_id = run,
                                                      .sequence = i + 1,
                                                      .step = "small",
                                                      .proposer = "llm",
                                                      .context_id = context},
                             &body);
        const char *decision = world_add(s->w, EVENT_DECISION, &body);
        world_outcome(s->w, &(struct found){decision, task, "zen3", VERDICT_TIMED,
                                            base + 0.1 * rng_normal(&s->rng), true, false, "", ""});
    }
    take_in(s);
}

static struct context_value value_of(struct simulation *s)
{
    struct context_value value;
    assert_ok(s->f, context_value(s->graph, &s->f->arena, &value, &s->f->err));
    return value;
}

static struct context_worth kind_of(const struct context_value *value, const char *kind)
{
    for (size_t i = 0; i < value->kind_count; i++) {
        if (strcmp(value->kinds[i].kind, kind) == 0)
            return value->kinds[i];
    }
    fail_msg("there is no kind '%s'", kind);
    return (struct context_worth){.kind = ""};
}

static void simulate(struct simulation *s, int runs)
{
    world_task(s->w, "a", "sum", "reduction", "");
    world_task(s->w, "b", "conv", "contraction", "");
    for (int i = 0; i < runs; i++)
        simulate_run(s, i % 2 ? "a" : "b");
}

static void context_value__item_that_helps__interval_covers_its_worth(void **state)
{
    struct simulation s = simulation_new(*state, 0.2);
    simulate(&s, 120);
    const struct context_value value = value_of(&s);
    assert_int_equal(value.runs, 120);
    assert_int_equal(value.decisions, 120 * STEPS);
    assert_int_equal(value.trials, 2 * 120 * STEPS);
    assert_int_equal(value.kind_count, 2); /* what is always there has no worth */
    const struct context_worth skill = kind_of(&value, "skill");
    const struct context_worth failure = kind_of(&value, "failure");
    assert_true(skill.is_known && failure.is_known);
    assert_true(skill.low > 0.0 && skill.low <= 0.2 && skill.high >= 0.2);
    assert_true(failure.low <= 0.0 && failure.high >= 0.0);
    assert_int_equal(value.item_count, 2);
    assert_string_equal(value.items[0].ref, "split-sums");
    assert_true(value.items[0].low > 0.0);
    const char *text = context_value_text(&value, 10, &s.f->arena);
    assert_non_null(strstr(text, "skill split-sums"));
    graph_close(&s.graph);
}

static void context_value__item_that_does_nothing__interval_covers_zero(void **state)
{
    struct simulation s = simulation_new(*state, 0.0);
    simulate(&s, 120);
    const struct context_value value = value_of(&s);
    const struct context_worth skill = kind_of(&value, "skill");
    assert_true(skill.is_known && skill.low <= 0.0 && skill.high >= 0.0);
    assert_true(skill.high - skill.low < 0.3);
    graph_close(&s.graph);
}

struct covered {
    int known, inside;
    double mean, width; /* sums */
};

static void cover(struct covered *c, const struct context_worth *worth, double truth)
{
    if (!worth->is_known)
        return;
    c->known++;
    c->inside += worth->low <= truth && worth->high >= truth;
    c->mean += worth->effect;
    c->width += worth->high - worth->low;
}

static void assert_covers(const struct covered *c, double truth)
{
    print_message("truth %.2f: %d of %d intervals hold it, mean %.3f, width %.3f\n", truth,
                  c->inside, c->known, c->mean / c->known, c->width / c->known);
    assert_true(c->known >= MEMORIES / 2);
    assert_true(c->inside >= 0.9 * c->known);
    assert_true(fabs(c->mean / c->known - truth) < 0.03);
    assert_true(c->width / c->known < 0.4);
}

/* Of the estimates that are made (enough was withheld), and of narrow ones. */
static void context_value__many_memories__intervals_cover(void **state)
{
    struct covered helps = {0};
    struct covered idle = {0};
    for (uint64_t seed = 0; seed < MEMORIES; seed++) {
        struct simulation s = simulation_of(*state, 0.2, seed);
        simulate(&s, RUNS_EACH);
        const struct context_value value = value_of(&s);
        const struct context_worth skill = kind_of(&value, "skill");
        const struct context_worth failure = kind_of(&value, "failure");
        cover(&helps, &skill, 0.2);
        cover(&idle, &failure, 0.0);
        graph_close(&s.graph);
    }
    assert_covers(&helps, 0.2);
    assert_covers(&idle, 0.0);
}

static void context_value__few_runs__says_what_is_needed(void **state)
{
    struct simulation s = simulation_new(*state, 0.2);
    simulate(&s, 4);
    const struct context_value value = value_of(&s);
    assert_false(kind_of(&value, "skill").is_known);
    const char *text = context_value_text(&value, 10, &s.f->arena);
    assert_non_null(strstr(text, "not enough data on skill: withheld in"));
    assert_non_null(strstr(text, "5 of each are needed"));
    graph_close(&s.graph);
}

static void context_value__no_prompts__says_so(void **state)
{
    struct simulation s = simulation_new(*state, 0.2);
    const struct context_value value = value_of(&s);
    assert_int_equal(value.trials, 0);
    assert_non_null(strstr(context_value_text(&value, 10, &s.f->arena), "not enough data"));
    graph_close(&s.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(context_value__item_that_helps__interval_covers_its_worth),
        FIXTURE(context_value__item_that_does_nothing__interval_covers_zero),
        FIXTURE(context_value__many_memories__intervals_cover),
        FIXTURE(context_value__few_runs__says_what_is_needed),
        FIXTURE(context_value__no_prompts__says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
