/* What of a memory comes into a prompt, in which order, and what stands beside it. */
#include "context_task.h"
#include "graph_fixture.h"

#include "context/context.h"
#include "context/internal.h"

#include <math.h>

struct scene {
    struct fixture *f;
    struct world *w;
    const struct task *task;
    const char *run, *other_run, *far_run;
};

static struct scene scene_new(struct fixture *f)
{
    struct scene s = {.f = f, .w = world_new(f)};
    assert_ok(f, task_parse(yaml_text, strlen(yaml_text), reference, "twice", &f->arena, &s.task,
                            &f->err));
    world_task(s.w, s.task->id.text, "twice", "elementwise", "float32");
    world_task(s.w, "other", "thrice", "elementwise", "float32");
    world_task(s.w, "far", "conv", "contraction", "float32");
    s.run = world_run(s.w, s.task->id.text, "zen3");
    s.other_run = world_run(s.w, "other", "zen3");
    s.far_run = world_run(s.w, "far", "spr");
    return s;
}

static const char *add(struct scene *s, const struct try *try, const char *task, const char *target,
                       enum verdict_kind kind, double log_ratio, const char *evidence)
{
    const char *d = world_decision(s->w, try);
    world_outcome(s->w,
                  &(struct found){d, task, target, kind, log_ratio,
                                  kind == VERDICT_TIMED && log_ratio > 0.0, false, evidence, d});
    return d;
}

static struct context build(struct scene *s, const struct context_request *more)
{
    struct graph *graph = world_graph(s->w);
    struct context_request request = *more;
    struct context context;
    request.task = s->task;
    request.target_id = "zen3";
    if (request.budget_tokens == 0)
        request.budget_tokens = 4000;
    assert_ok(s->f, context_build(graph, &request, &s->f->arena, &context, &s->f->err));
    graph_close(&graph);
    return context;
}

/* One without a kind where there is none. */
static const struct context_item *item_of(const struct context *context, const char *ref)
{
    static const struct context_item nothing = {.section = "", .kind = "", .ref = ""};
    for (size_t i = 0; i < context->item_count; i++) {
        if (strcmp(context->items[i].ref, ref) == 0)
            return &context->items[i];
    }
    return &nothing;
}

static bool holds(const struct context *context, const char *ref)
{
    return item_of(context, ref)->kind[0] != '\0';
}

static void context_build__experience_from_near_and_far__nearer_scores_more(void **state)
{
    struct scene s = scene_new(*state);
    const char *near = add(&s, &(struct try){s.other_run, "", "blocks", 1, {"blocks"}, "a=1"},
                           "other", "zen3", VERDICT_TIMED, 0.6, "");
    const char *far = add(&s, &(struct try){s.far_run, "", "packs", 1, {"packs"}, "b=1"}, "far",
                          "spr", VERDICT_TIMED, 0.6, "");
    const struct context context = build(&s, &(struct context_request){0});
    const struct context_item *a = item_of(&context, near);
    const struct context_item *b = item_of(&context, far);
    assert_true(a->score > 1.2 * b->score && b->score > 0.0);
}

static void note_finding(struct scene *s, const char *run, const char *decision, const char *kind)
{
    struct buf body = {0};
    event_write_finding(&(struct finding_event){.run_id = run,
                                                .decision_id = decision,
                                                .bottleneck = kind,
                                                .text = "a sentence",
                                                .tool = "gcc-12"},
                        &body);
    (void)world_add(s->w, EVENT_FINDING, &body);
}

static void context_build__states_with_findings__those_alike_score_more(void **state)
{
    struct scene s = scene_new(*state);
    const char *of_task = s.task->id.text;
    const char *a = add(&s, &(struct try){s.run, "", "one", 1, {"m1"}, "a=1"}, of_task, "zen3",
                        VERDICT_TIMED, 0.1, "");
    const char *b = add(&s, &(struct try){s.run, "", "two", 2, {"m2"}, "b=1"}, of_task, "zen3",
                        VERDICT_TIMED, 0.1, "");
    note_finding(&s, s.run, a, "chain");
    note_finding(&s, s.run, a, "latency");
    note_finding(&s, s.run, b, "memory");
    const char *alike = add(&s, &(struct try){s.run, a, "three", 3, {"m3"}, "c=1"}, of_task, "zen3",
                            VERDICT_TIMED, 0.5, "");
    const char *other = add(&s, &(struct try){s.run, b, "four", 4, {"m4"}, "d=1"}, of_task, "zen3",
                            VERDICT_TIMED, 0.5, "");
    const struct context blind = build(&s, &(struct context_request){0});
    const struct context context = build(
        &s, &(struct context_request){.finding_kinds = "chain latency", .findings = "- a line\n"});
    const double before = item_of(&blind, alike)->score;
    assert_true(before > 0.0);
    assert_true(fabs(item_of(&context, alike)->score / before - 1.25) < 1e-9);
    assert_true(fabs(item_of(&context, other)->score / item_of(&blind, other)->score - 0.8) < 1e-9);
    assert_non_null(
        strstr(context.hot, "What tools found, with the moves that answer it:\n- a line"));
    const struct context half = build(&s, &(struct context_request){.finding_kinds = "chain"});
    assert_true(item_of(&half, alike)->score > 1.01 * before &&
                item_of(&half, alike)->score < 1.24 * before);
}

static void context_build__current_is_better_already__what_was_won_is_worth_less(void **state)
{
    struct scene s = scene_new(*state);
    const char *won = add(&s, &(struct try){s.other_run, "", "blocks", 1, {"blocks"}, "a=1"},
                          "other", "zen3", VERDICT_TIMED, 0.6, "");
    const struct context at_start = build(&s, &(struct context_request){0});
    const struct context later = build(&s, &(struct context_request){.current_log_ratio = 0.9});
    assert_true(item_of(&later, won)->score < 0.5 * item_of(&at_start, won)->score);
}

static void context_build__same_step_lost_elsewhere__stands_beside(void **state)
{
    struct scene s = scene_new(*state);
    const char *won =
        add(&s, &(struct try){s.other_run, "", "unroll the doubles", 1, {"unroll"}, "u=1"}, "other",
            "zen3", VERDICT_TIMED, 0.4, "");
    for (int i = 0; i < 6; i++)
        (void)add(&s,
                  &(struct try){s.other_run,
                                "",
                                "else",
                                2,
                                {arena_printf(&s.f->arena, "m%d", i)},
                                arena_printf(&s.f->arena, "m=%d", i)},
                  "other", "zen3", VERDICT_TIMED, 0.1 * i, "");
    const char *lost = add(&s, &(struct try){s.run, "", "unroll the doubles", 1, {"unroll"}, "u=1"},
                           s.task->id.text, "zen3", VERDICT_TIMED, -0.3, "");
    const struct context context = build(&s, &(struct context_request){0});
    const struct context_item *against = item_of(&context, lost);
    assert_string_equal(against->kind, "contradiction");
    assert_ptr_equal(against - 1, item_of(&context, won));
    /* Where there is room for one but not for both, neither is chosen alone. */
    const struct context_item *pro = item_of(&context, won);
    struct entries warm = {.count = 0};
    struct entry *a = entries_add(&warm, "warm", "contradiction", "lost", "some words of it\n");
    a->beside = "won";
    a->item.score = 1.0;
    struct entry *b = entries_add(&warm, "warm", "decision", "won", "some words of it\n");
    b->is_contradicted = true;
    b->item.score = 1.0;
    context_choose(&warm, a->item.tokens + b->item.tokens - 1, 0.0, 1);
    assert_false(warm.items[0].is_chosen || warm.items[1].is_chosen);
    context_choose(&warm, a->item.tokens + b->item.tokens, 0.9, 5);
    assert_string_equal(warm.items[0].item.ref, "won");
    assert_true(warm.items[0].is_chosen && warm.items[1].is_chosen);
    assert_int_equal(warm.items[0].item.withheld, warm.items[1].item.withheld);
    assert_true(pro->score > 0.0);
}

/* From an equal state on another task to the steps that were taken from there, each with what
 * followed it. */
static void context_build__state_with_the_same_recipe__its_steps_are_found(void **state)
{
    struct scene s = scene_new(*state);
    const char *base = add(&s, &(struct try){s.far_run, "", "packs", 1, {"packs"}, "p=1"}, "far",
                           "spr", VERDICT_TIMED, 0.5, "");
    const char *next =
        add(&s, &(struct try){s.far_run, base, "then swaps", 2, {"swaps"}, "p=1 s=1"}, "far", "spr",
            VERDICT_TIMED, 0.6, "");
    (void)add(&s, &(struct try){s.far_run, next, "then vectors", 3, {"vectors"}, "p=1 s=1 v=1"},
              "far", "spr", VERDICT_TIMED, 1.3, "");
    const struct context without = build(&s, &(struct context_request){0});
    assert_false(holds(&without, next));
    const struct context with = build(&s, &(struct context_request){.current_recipe = "p=1"});
    assert_true(holds(&with, next));
    assert_non_null(strstr(with.text, "then moves vectors: 2.01x"));
}

/* Failures have a share of their own: a flood of wins does not push them out. */
static void context_build__many_wins__failures_keep_their_share(void **state)
{
    struct scene s = scene_new(*state);
    for (int i = 0; i < 30; i++)
        (void)add(&s,
                  &(struct try){s.other_run,
                                "",
                                "doubles",
                                i,
                                {arena_printf(&s.f->arena, "m%d", i)},
                                arena_printf(&s.f->arena, "m=%d doubles", i)},
                  "other", "zen3", VERDICT_TIMED, 0.5 + 0.01 * i, "");
    const char *failed = add(&s, &(struct try){s.other_run, "", "doubles fast", 40, {"fast"}, "f"},
                             "other", "zen3", VERDICT_WRONG, 0.0, "element 3 is NaN");
    const struct context context = build(&s, &(struct context_request){.budget_tokens = 1200});
    assert_true(holds(&context, failed));
    assert_string_equal(item_of(&context, failed)->kind, "failure");
    assert_true(context.tokens <= 1200);
}

static void context_build__beliefs_of_moves__are_shown_with_what_is_against_them(void **state)
{
    struct scene s = scene_new(*state);
    static const struct transfer_move moves[] = {{"blocks", KNOWLEDGE_STRUCTURE, 0.0, false}};
    for (int i = 0; i < 6; i++) {
        (void)add(&s, &(struct try){s.other_run, "", "blocks", i, {"blocks"}, "a=1"}, "other",
                  "zen3", VERDICT_TIMED, 0.6, "");
        (void)add(&s, &(struct try){s.far_run, "", "blocks", i, {"blocks"}, "a=1"}, "far", "zen3",
                  VERDICT_TIMED, -0.4, "");
    }
    struct graph *graph = world_graph(s.w);
    struct transfer transfer;
    const struct transfer_place here = {s.task->id.text, "elementwise", "", "zen3"};
    assert_ok(s.f, transfer_learn(graph, moves, 1, &here, &s.f->arena, &transfer, &s.f->err));
    graph_close(&graph);
    const struct context context = build(&s, &(struct context_request){.transfer = &transfer});
    const struct context_item *item = item_of(&context, "move:blocks");
    assert_string_equal(item->kind, "move");
    assert_non_null(strstr(context.text, "best on thrice 1.82x (6 tries)"));
    assert_non_null(strstr(context.text, "against it: conv 0.67x (6 tries)"));
}

static void context_build__long_path__earlier_steps_are_a_few_words(void **state)
{
    struct scene s = scene_new(*state);
    struct graph_decision path[40];
    for (size_t i = 0; i < 40; i++)
        path[i] = (struct graph_decision){.id = arena_printf(&s.f->arena, "p%zu", i),
                                          .intent = arena_printf(&s.f->arena, "step %zu", i),
                                          .moves = "",
                                          .mechanism = "",
                                          .evidence = "",
                                          .has_outcome = true,
                                          .kind = i % 4 ? VERDICT_TIMED : VERDICT_WRONG,
                                          .log_ratio = 0.01 * (double)i};
    const struct context_request request = {.path = path, .path_count = 40};
    const struct context context = build(&s, &request);
    assert_non_null(strstr(context.hot, "16 steps; then step 16: wrong; step 17: 1.19x"));
    assert_non_null(strstr(context.hot, "- step 39: log-ratio"));
    assert_null(strstr(context.hot, "step 3:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(context_build__experience_from_near_and_far__nearer_scores_more),
        FIXTURE(context_build__states_with_findings__those_alike_score_more),
        FIXTURE(context_build__current_is_better_already__what_was_won_is_worth_less),
        FIXTURE(context_build__same_step_lost_elsewhere__stands_beside),
        FIXTURE(context_build__state_with_the_same_recipe__its_steps_are_found),
        FIXTURE(context_build__many_wins__failures_keep_their_share),
        FIXTURE(context_build__beliefs_of_moves__are_shown_with_what_is_against_them),
        FIXTURE(context_build__long_path__earlier_steps_are_a_few_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
