#include "engine_place.h"

#include "engine/skill.h"
#include "engine/skill_store.h"

#include <math.h>
#include <stdlib.h>

struct place {
    struct arena arena;
    struct err err;
    char *dir;
    const char *task, *memory;
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    assert_true(os_make_temp_dir("kope-skill", &p->arena, &p->dir, &p->err));
    p->task = write_task(&p->arena, p->dir);
    p->memory = os_path_join(&p->arena, p->dir, "memory");
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    const bool ok = os_remove_tree(p->dir, &p->err);
    arena_free(&p->arena);
    free(p);
    return ok ? 0 : -1;
}

/* The script's time is that of the first marker that is still there: each mechanism brings one. */
static const char expert[] = "#include <stdint.h>\n"
                             "enum { LANES = 8 };\n"
                             "void scale2(const float *restrict x, float *restrict y, int64_t n)\n"
                             "{\n"
                             "    __builtin_expect(n > 0 /* , fake: time=300us */, 1);\n"
                             "#pragma omp simd /* fake: time=400us */\n"
                             "    for (int64_t i = 0; i < n; i++)\n"
                             "        y[i] = 2 * x[i]; /* fake: time=800us */\n"
                             "    __builtin_prefetch(x + n);\n"
                             "}\n";

static struct skill_lineage learn(struct place *p, const char *source)
{
    struct skill_lineage lineage;
    write_text(&p->arena, p->dir, "expert.c", source);
    const struct skill_learn_opts opts = {.memory_dir = p->memory,
                                          .target = "fake",
                                          .expert_path =
                                              os_path_join(&p->arena, p->dir, "expert.c"),
                                          .task_path = p->task,
                                          .rejections = 10};
    if (!engine_skill_learn(&opts, NULL, &p->arena, &lineage, &p->err))
        fail_msg("%s", p->err.message);
    return lineage;
}

static const struct lineage_step *step_of(const struct skill_lineage *lineage,
                                          const char *mechanism)
{
    for (size_t i = 0; i < lineage->count; i++) {
        if (str_equal(lineage->steps[i].mechanism, mechanism))
            return &lineage->steps[i];
    }
    fail_msg("no step '%s'", mechanism);
    return NULL;
}

static void skill_learn__what_pays_is_a_verified_skill_and_the_rest_is_refused(void **state)
{
    struct place *p = *state;
    struct skill_list list;
    struct skill_details details;
    const struct skill_lineage lineage = learn(p, expert);
    assert_string_equal(lineage.end_reason, "nothing is left to take out");
    assert_int_equal(lineage.accepted, 2);
    assert_int_equal(lineage.verified, 2);
    const struct lineage_step *simd = step_of(&lineage, "simd-pragma");
    assert_true(simd->is_accepted && simd->state == SKILL_VERIFIED);
    assert_true(fabs(simd->log_ratio - log(2.0)) < 0.02);
    assert_true(step_of(&lineage, "hints")->is_accepted);
    assert_false(step_of(&lineage, "prefetch")->is_accepted);
    assert_false(step_of(&lineage, "size")->is_accepted);
    assert_false(step_of(&lineage, "restrict-pointers")->is_accepted);
    assert_null(strstr(lineage.left, "omp simd"));
    assert_non_null(strstr(lineage.left, "restrict"));
    assert_true(
        engine_skill_show(p->memory, "fake", simd->skill, p->task, &p->arena, &details, &p->err));
    assert_true(details.applies);
    assert_string_equal(details.skill.state, "verified");
    assert_true(details.evidence_count >= 2);
    assert_non_null(strstr(details.after, "omp simd"));
    assert_null(strstr(details.before, "omp simd"));
    assert_true(engine_skill_list(p->memory, "fake", &p->arena, &list, &p->err));
    size_t verified = 0;
    for (size_t i = 0; i < list.count; i++)
        verified += str_equal(list.items[i].state, "verified");
    assert_int_equal(verified, 2);
}

/* A landscape gives each order of moves a time of its own; the expert's is scripted. */
static const char *write_landscape(struct place *p, const char *name)
{
    const char *dir = os_path_join(&p->arena, p->dir, name);
    write_text(&p->arena, dir, "task.yaml", task_yaml);
    write_text(
        &p->arena, dir, "reference.c",
        arena_printf(&p->arena, "/* fake: landscape fake: time=900us %s */\n%s", name, reference));
    return dir;
}

static struct skill_lineage learn_landscape(struct place *p, const char *time)
{
    p->task = write_landscape(p, "landscape");
    return learn(p, arena_printf(&p->arena, "/* fake: time=%s */\n%s", time, reference));
}

static void skill_learn__moves_that_come_to_the_expert__are_a_skill_by_name(void **state)
{
    struct place *p = *state;
    struct skill_details details;
    struct optimize_result result;
    const struct skill_lineage lineage = learn_landscape(p, "895us");
    const struct lineage_step *told = step_of(&lineage, "structure");
    assert_true(told->is_accepted && told->is_general && told->state == SKILL_VERIFIED);
    assert_true(str_starts_with(told->skill, "structure-of-scale2-"));
    assert_non_null(strstr(told->what, "nest-"));
    assert_string_equal(lineage.end_reason, "nothing is left to take out");
    assert_true(
        engine_skill_show(p->memory, "fake", told->skill, p->task, &p->arena, &details, &p->err));
    assert_true(details.applies);
    assert_string_equal(details.skill.change, arena_printf(&p->arena, "do=%s", told->what));
    assert_non_null(strstr(details.skill.applies, "depth == 1"));
    /* A run on another task with such loops begins with it, whatever else promises more. */
    const struct optimize_opts opts = {.task_path = write_landscape(p, "elsewhere"),
                                       .memory_dir = p->memory,
                                       .target = "fake",
                                       .policy = "mcts",
                                       .proposer = "offline",
                                       .budget = 1,
                                       .seed = 1,
                                       .has_seed = true};
    if (!engine_optimize(&opts, NULL, &p->arena, &result, &p->err))
        fail_msg("%s", p->err.message);
    assert_non_null(strstr(result.start_text, "1 verified skill here: structure-of-scale2-"));
    /* What was gained is of those moves, and of the skill. */
    assert_true(
        engine_skill_show(p->memory, "fake", told->skill, p->task, &p->arena, &details, &p->err));
    assert_int_equal(details.evidence_count, 3);
    assert_string_equal(details.evidence[2].kind, "reuse");
}

static void skill_learn__no_order_of_moves_comes_to_the_expert__says_so(void **state)
{
    struct place *p = *state;
    const struct skill_lineage lineage = learn_landscape(p, "100us");
    const struct lineage_step *told = step_of(&lineage, "structure");
    assert_false(told->is_accepted);
    assert_non_null(strstr(told->text, "does not come to the expert"));
    assert_int_equal(lineage.accepted, 0);
}

static void skill_learn__an_expert_that_is_wrong__is_an_error(void **state)
{
    struct place *p = *state;
    struct skill_lineage lineage;
    write_text(&p->arena, p->dir, "expert.c", "/* fake: wrong */");
    const struct skill_learn_opts opts = {.memory_dir = p->memory,
                                          .target = "fake",
                                          .expert_path =
                                              os_path_join(&p->arena, p->dir, "expert.c"),
                                          .task_path = p->task};
    assert_false(engine_skill_learn(&opts, NULL, &p->arena, &lineage, &p->err));
    assert_int_equal(p->err.kind, ERR_BAD_INPUT);
    assert_non_null(strstr(p->err.message, "expert.c' is not right"));
}

/* A skill with an example of these times, on trial where it was learned. */
static struct skill_trial try_example(struct place *p, const char *name, const char *before,
                                      const char *after)
{
    struct memory memory = {0};
    struct skill_trial trial;
    const struct task *task = NULL;
    bool is_new = false;
    assert_true(task_load(p->task, &p->arena, &task, &p->err));
    struct graph_skill skill = {.name = name,
                                .intent = "a test",
                                .applies = "loops > 0",
                                .needs = "",
                                .change = "",
                                .breaks = "",
                                .origin = "lineage",
                                .learned_on = task->id.text,
                                .build = "fakecc-1 -O3"};
    assert_true(memory_open(p->memory, true, &p->arena, &memory, &p->err));
    assert_true(memory_put_text(&memory, before, &p->arena, &skill.before_body, &p->err));
    assert_true(memory_put_text(&memory, after, &p->arena, &skill.after_body, &p->err));
    const struct hash_id id = skill_make_id(&skill);
    skill.id = id.text;
    assert_true(skill_store_define(&memory, &skill, &is_new, &p->err));
    memory_close(&memory);
    const struct skill_verify_opts opts = {
        .memory_dir = p->memory, .target = "fake", .name = id.text, .task_path = p->task};
    if (!engine_skill_verify(&opts, NULL, &p->arena, &trial, &p->err))
        fail_msg("%s", p->err.message);
    return trial;
}

static void skill_verify__gains_admit_and_losses_contradict(void **state)
{
    struct place *p = *state;
    struct skill_trial trial =
        try_example(p, "gain", "/* fake: time=900us */", "/* fake: time=300us */");
    assert_true(trial.applies && trial.on_held_out);
    assert_int_equal(trial.after, SKILL_VERIFIED);
    assert_true(fabs(trial.log_ratio - log(3.0)) < 0.02);
    trial = try_example(p, "loss", "/* fake: time=300us */", "/* fake: time=900us */");
    assert_int_equal(trial.after, SKILL_CONTRADICTED);
    trial = try_example(p, "wrong", "/* fake: time=300us */", "/* fake: wrong */");
    assert_int_equal(trial.after, SKILL_CANDIDATE);
    assert_int_equal(trial.verdict.kind, VERDICT_WRONG);
    assert_int_equal(trial.belief.failed, 1);
}

/* The same time on both sides, with jitter: no trial may admit it. */
static void skill_verify__a_against_a__admits_nothing(void **state)
{
    struct place *p = *state;
    enum { TRIALS = 6 };
    for (int i = 0; i < TRIALS; i++) {
        const char *name = arena_printf(&p->arena, "noise-%d", i);
        const struct skill_trial trial = try_example(
            p, name, arena_printf(&p->arena, "/* fake: time=500us fake: jitter=8 a%d */", i),
            arena_printf(&p->arena, "/* fake: time=500us fake: jitter=8 b%d */", i));
        assert_int_equal(trial.after, SKILL_CANDIDATE);
    }
}

static void memory_rebuild__after_lineage__is_the_same_graph(void **state)
{
    struct place *p = *state;
    struct memory memory = {0};
    struct hash_id before;
    struct hash_id after;
    (void)learn(p, expert);
    assert_true(memory_open(p->memory, true, &p->arena, &memory, &p->err));
    assert_true(graph_digest(memory.graph, &before, &p->err));
    assert_true(graph_rebuild(memory.graph, memory.journal, NULL, &p->err));
    assert_true(graph_digest(memory.graph, &after, &p->err));
    assert_string_equal(before.text, after.text);
    memory_close(&memory);
}

#define PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE(skill_learn__what_pays_is_a_verified_skill_and_the_rest_is_refused),
        PLACE(skill_learn__moves_that_come_to_the_expert__are_a_skill_by_name),
        PLACE(skill_learn__no_order_of_moves_comes_to_the_expert__says_so),
        PLACE(skill_learn__an_expert_that_is_wrong__is_an_error),
        PLACE(skill_verify__gains_admit_and_losses_contradict),
        PLACE(skill_verify__a_against_a__admits_nothing),
        PLACE(memory_rebuild__after_lineage__is_the_same_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
