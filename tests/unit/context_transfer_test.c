/* Posteriors and discounts from graphs whose truth is known. */
#include "graph_fixture.h"

#include "base/rng.h"
#include "context/transfer.h"

#include <math.h>

static void add_target(struct world *w, const char *id, const char *arch, int64_t vector_bytes,
                       double gflops, double gbs)
{
    struct buf body = {0};
    event_write_target(&(struct target_event){.target_id = id,
                                              .name = "cpu",
                                              .arch = arch,
                                              .vector_bytes = vector_bytes,
                                              .peak_gflops_f32 = gflops,
                                              .memory_gbs = gbs},
                       &body);
    (void)world_add(w, EVENT_TARGET, &body);
}

static void measure(struct world *w, const char *run, const char *task, const char *target,
                    const char *move, double gain)
{
    const char *d = world_decision(w, &(struct try){run, "", move, 1, {move}, move});
    world_outcome(w,
                  &(struct found){d, task, target, VERDICT_TIMED, gain, gain > 0.0, false, "", ""});
}

static const struct transfer_move moves[] = {{"blocks", KNOWLEDGE_STRUCTURE, 0.2, false},
                                             {"tile-64", KNOWLEDGE_SIZES, 0.0, false},
                                             {"fast", KNOWLEDGE_FLAGS, 0.1, false}};

static struct transfer learn(struct fixture *f, struct world *w, const char *task,
                             const char *family, const char *target)
{
    struct graph *graph = world_graph(w);
    struct transfer out;
    const struct transfer_place here = {task, family, "", target};
    assert_ok(f, transfer_learn(graph, moves, 3, &here, &f->arena, &out, &f->err));
    graph_close(&graph);
    return out;
}

static void transfer_learn__empty_memory__gives_the_priors(void **state)
{
    struct fixture *f = *state;
    const struct transfer t = learn(f, world_new(f), "t", "reduction", "here");
    assert_int_equal(t.belief_count, 3);
    const struct transfer_belief *b = transfer_find(&t, "blocks");
    assert_true(fabs(b->mean - 0.2) < 1e-9 && b->sd > 0.2 && b->evidence == 0.0);
    assert_true(b->failure_rate == 0.0 && !b->best && !b->worst);
    assert_null(transfer_find(&t, "unknown"));
    /* Before experience: sizes carry less far than structure. */
    const struct transfer_place other = {"t", "reduction", "", "elsewhere"};
    assert_true(transfer_variance(&t, KNOWLEDGE_SIZES, &other) >
                2.0 * transfer_variance(&t, KNOWLEDGE_STRUCTURE, &other));
    assert_true(transfer_distance(&t, "here") == 0.0 && transfer_distance(&t, "elsewhere") == 1.0);
}

static void transfer_learn__same_task__is_believed_most(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    world_task(w, "t", "sum", "reduction", "");
    world_task(w, "u", "conv", "contraction", "");
    const char *run = world_run(w, "t", "here");
    for (int i = 0; i < 6; i++)
        measure(w, run, "t", "here", "blocks", 0.6);
    const struct transfer here = learn(f, w, "t", "reduction", "here");
    const struct transfer there = learn(f, w, "u", "contraction", "here");
    const struct transfer_belief own = *transfer_find(&here, "blocks");
    const struct transfer_belief other = *transfer_find(&there, "blocks");
    assert_true(fabs(own.mean - 0.6) < 0.05 && own.evidence == 6.0);
    assert_true(other.mean > 0.2 && other.mean < own.mean);
    assert_true(other.sd > 1.5 * own.sd);
    assert_non_null(own.best);
    assert_string_equal(own.best->task_id, "t");
}

/* What a move on the loops promises here is read off the loops here: five families where it gained
 * nothing say little against it, as they do against flags. */
static void
transfer_learn__nothing_gained_in_other_families__structure_keeps_its_prior(void **state)
{
    static const struct transfer_move likely[] = {{"scan", KNOWLEDGE_STRUCTURE, 0.8, false},
                                                  {"fast", KNOWLEDGE_FLAGS, 0.8, false}};
    static const char *const families[] = {"a", "b", "c", "d", "e"};
    struct fixture *f = *state;
    struct world *w = world_new(f);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        world_task(w, families[i], families[i], families[i], "");
        const char *run = world_run(w, families[i], "here");
        /* It does much for some nests, whatever it does for this one. */
        measure(w, run, families[i], "here", "scan", i == 0 ? 1.5 : 0.0);
        measure(w, run, families[i], "here", "fast", 0.0);
    }
    struct graph *graph = world_graph(w);
    struct transfer t;
    const struct transfer_place here = {"t", "scan", "", "here"};
    assert_ok(f, transfer_learn(graph, likely, 2, &here, &f->arena, &t, &f->err));
    graph_close(&graph);
    assert_true(transfer_find(&t, "scan")->mean > 0.5);
    assert_true(transfer_find(&t, "fast")->mean < 0.25);
}

/* A move that other families tried where it could gain nothing, and one that this family tried. */
static void transfer_learn__own_family_alone__is_not_told_by_others(void **state)
{
    static const struct transfer_move alone[] = {{"bundle", KNOWLEDGE_STRUCTURE, 1.5, true},
                                                 {"known", KNOWLEDGE_STRUCTURE, 1.5, true},
                                                 {"shared", KNOWLEDGE_STRUCTURE, 1.5, false}};
    static const char *const families[] = {"a", "b", "c", "d", "e"};
    struct fixture *f = *state;
    struct world *w = world_new(f);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        world_task(w, families[i], families[i], families[i], "");
        const char *run = world_run(w, families[i], "here");
        for (size_t m = 0; m < 3; m++)
            measure(w, run, families[i], "here", alone[m].name, 0.0);
    }
    struct graph *graph = world_graph(w);
    struct transfer t;
    const struct transfer_place here = {"t", "c", "", "here"};
    assert_ok(f, transfer_learn(graph, alone, 3, &here, &f->arena, &t, &f->err));
    const struct transfer_place nowhere = {"t", "scan", "", "here"};
    struct transfer fresh;
    assert_ok(f, transfer_learn(graph, alone, 3, &nowhere, &f->arena, &fresh, &f->err));
    graph_close(&graph);
    assert_true(fabs(transfer_find(&fresh, "bundle")->mean - 1.5) < 1e-9);
    assert_true(transfer_find(&fresh, "bundle")->evidence == 0.0);
    assert_true(transfer_find(&fresh, "shared")->mean < 1.4);
    assert_true(transfer_find(&fresh, "shared")->evidence > 0.0);
    assert_true(transfer_find(&t, "known")->evidence == 1.0);
    assert_true(transfer_find(&t, "known")->mean < 1.4);
}

/* Gains of one move agree between two unlike machines, those of another do not: the discount of
 * each kind of knowledge is learned from such pairs. */
static void transfer_learn__unlike_targets__discount_by_kind(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    struct rng rng = rng_seeded(3);
    add_target(w, "here", "x86_64", 32, 100.0, 20.0);
    add_target(w, "wide", "x86_64", 64, 300.0, 40.0);
    for (int i = 0; i < 12; i++) {
        const char *task = arena_printf(&f->arena, "t%d", i);
        world_task(w, task, task, "reduction", "");
        const char *a = world_run(w, task, "here");
        const char *b = world_run(w, task, "wide");
        const double structure = 0.5 + 0.1 * rng_normal(&rng);
        for (int k = 0; k < 2; k++) {
            measure(w, a, task, "here", "blocks", structure + 0.02 * rng_normal(&rng));
            measure(w, b, task, "wide", "blocks", structure + 0.02 * rng_normal(&rng));
            measure(w, a, task, "here", "tile-64", 0.3 + 0.02 * rng_normal(&rng));
            measure(w, b, task, "wide", "tile-64", (i % 2 ? 1.5 : -0.9) + 0.02 * rng_normal(&rng));
        }
    }
    const struct transfer t = learn(f, w, "t0", "reduction", "here");
    assert_true(t.discounts[KNOWLEDGE_SIZES].machines == 12);
    assert_true(t.discounts[KNOWLEDGE_SIZES].machine >
                8.0 * t.discounts[KNOWLEDGE_STRUCTURE].machine);
    assert_true(transfer_distance(&t, "wide") > 1.0);
    /* On a task known only from the other machine: structure is believed, the size is not. */
    world_task(w, "new", "new", "reduction", "");
    const char *run = world_run(w, "new", "wide");
    for (int k = 0; k < 4; k++) {
        measure(w, run, "new", "wide", "blocks", 0.9);
        measure(w, run, "new", "wide", "tile-64", 1.5);
    }
    const struct transfer n = learn(f, w, "new", "reduction", "here");
    assert_true(transfer_find(&n, "blocks")->mean > 0.6);
    assert_true(transfer_find(&n, "tile-64")->mean < 0.75);
}

static void transfer_learn__contradictory_evidence__widens_and_is_named(void **state)
{
    struct fixture *f = *state;
    struct world *agreeing = world_new(f);
    struct world *split = world_new(f);
    for (int i = 0; i < 6; i++) {
        const char *task = arena_printf(&f->arena, "t%d", i);
        world_task(agreeing, task, task, "reduction", "");
        world_task(split, task, task, "reduction", "");
        const char *a = world_run(agreeing, task, "here");
        const char *b = world_run(split, task, "here");
        for (int k = 0; k < 3; k++) {
            measure(agreeing, a, task, "here", "fast", 0.2);
            measure(split, b, task, "here", "fast", i % 2 ? 0.9 : -0.5);
        }
    }
    const struct transfer one = learn(f, agreeing, "new", "reduction", "here");
    const struct transfer two = learn(f, split, "new", "reduction", "here");
    const struct transfer_belief *a = transfer_find(&one, "fast");
    const struct transfer_belief *b = transfer_find(&two, "fast");
    assert_true(fabs(a->mean - b->mean) < 0.1);
    assert_true(b->sd > 2.0 * a->sd);
    assert_non_null(b->best);
    assert_non_null(b->worst);
    assert_null(a->worst);
    assert_true(b->worst->sum < 0.0 && b->best->sum > 0.0);
}

/* Many worlds with tasks as unlike as is expected: the interval for an unseen task holds its truth.
 */
static void transfer_learn__drawn_worlds__posterior_covers(void **state)
{
    struct fixture *f = *state;
    struct rng rng = rng_seeded(5);
    int inside = 0;
    enum { WORLDS = 60 };
    for (int round = 0; round < WORLDS; round++) {
        struct world *w = world_new(f);
        const double family = 0.3 + 0.2 * rng_normal(&rng);
        for (int i = 0; i < 8; i++) {
            const char *task = arena_printf(&f->arena, "t%d-%d", round, i);
            world_task(w, task, task, "reduction", "");
            const char *run = world_run(w, task, "here");
            const double truth = family + 0.15 * rng_normal(&rng);
            for (int k = 0; k < 3; k++)
                measure(w, run, task, "here", "blocks", truth + 0.1 * rng_normal(&rng));
        }
        const struct transfer t = learn(f, w, "unseen", "reduction", "here");
        const struct transfer_belief *b = transfer_find(&t, "blocks");
        inside += fabs(family + 0.15 * rng_normal(&rng) - b->mean) <= 1.96 * b->sd;
    }
    assert_in_range(inside, 53, WORLDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(transfer_learn__empty_memory__gives_the_priors),
        FIXTURE(transfer_learn__same_task__is_believed_most),
        FIXTURE(transfer_learn__nothing_gained_in_other_families__structure_keeps_its_prior),
        FIXTURE(transfer_learn__own_family_alone__is_not_told_by_others),
        FIXTURE(transfer_learn__unlike_targets__discount_by_kind),
        FIXTURE(transfer_learn__contradictory_evidence__widens_and_is_named),
        FIXTURE(transfer_learn__drawn_worlds__posterior_covers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
