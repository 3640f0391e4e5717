/* Parts of a winner, on scripted times: a step that others work on goes with them. */
#include "engine_session_fixture.h"

#include "engine/skill.h"
#include "graph/graph.h"

/* A winner that claims this recipe; what is timed is its source. */
static void win(struct place *p, const char *recipe)
{
    struct engine_session *session = NULL;
    struct err err = {0};
    struct engine_judged judged;
    struct optimize_result result;
    const struct engine_attempt attempt = {
        .intent = "a try", .candidate = {.source = "/* fake: time=500us */", .recipe = recipe}};
    if (!engine_session_open(&p->opts, NULL, &session, &err) ||
        !engine_session_evaluate(session, &attempt, &p->arena, &judged, &err) ||
        !engine_session_finish(session, &result, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    assert_true(result.has_win);
    engine_session_close(&session);
}

static void engine_ablate__steps_on_steps__go_with_what_they_need(void **state)
{
    static const struct {
        const char *part, *needing;
    } want[] = {
        {"nest=strip(i:64)", "unroll(i_s:2)"}, /* makes the loop that this one works on */
        {"nest=unroll(i:4)", ""},
        {"nest=unroll(i_s:2)", ""},
        {"fast=no-errno", ""},
    };
    struct place *p = *state;
    struct err err = {0};
    struct ablation_result result;
    /* A landscape takes every flag. */
    write_text(&p->arena, os_path_join(&p->arena, p->dir, "task"), "reference.c",
               arena_printf(&p->arena, "%s/* fake: landscape */\n", reference));
    win(p, "compiler=fakecc-1 nest=strip(i:64);unroll(i:4);unroll(i_s:2) opt=3 march=native "
           "fast=no-errno");
    const struct ablate_opts opts = {
        .memory_dir = p->opts.run.memory_dir, .target = "fake", .run = "last"};
    if (!engine_ablate(&opts, NULL, &p->arena, &result, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    assert_int_equal(result.count, sizeof want / sizeof *want);
    for (size_t i = 0; i < result.count; i++) {
        assert_string_equal(result.items[i].part, want[i].part);
        assert_string_equal(result.items[i].needing, want[i].needing);
        assert_true(result.items[i].is_timed);
    }
}

/* The target that is meant without an option is this machine; nothing of it is measured. */
static void engine_ablate__run_of_another_target__names_the_option(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct ablation_result result = {.count = 7};
    win(p, "compiler=fakecc-1 opt=3 march=native fast=no-errno");
    const struct ablate_opts opts = {.memory_dir = p->opts.run.memory_dir, .run = "last"};
    assert_false(engine_ablate(&opts, NULL, &p->arena, &result, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    assert_non_null(strstr(err.message, " is of target 'fake', not of 'cpu'"));
    assert_non_null(strstr(err.hint, "--target fake"));
    assert_int_equal(result.count, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE(engine_ablate__steps_on_steps__go_with_what_they_need),
        PLACE(engine_ablate__run_of_another_target__names_the_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
