/* A recorded run without its model: the same prompts byte for byte, the same decisions. */
#include "engine_llm_fixture.h"

static int files_below(struct place *p, const char *dir)
{
    char **names = NULL;
    size_t count = 0;
    int files = 0;
    assert_true(os_list_dir(dir, &p->arena, &names, &count, &p->err));
    for (size_t i = 0; i < count; i++) {
        const char *path = os_path_join(&p->arena, dir, names[i]);
        files += os_path_is_dir(path) ? files_below(p, path) : 1;
    }
    return files;
}

/* Replays the last run with the server gone. */
static bool replay(struct place *p)
{
    struct optimize_opts opts = p->opts;
    stop_peer(p);
    opts.proposer = "replay:last";
    opts.base_url = NULL;
    opts.config = NULL;
    opts.seed = 99; /* what the record says counts */
    opts.budget = 1;
    opts.proposals = 0;
    opts.fresh = false;
    return engine_optimize(&opts, NULL, &p->arena, &p->result, &p->err);
}

static void assert_replays(struct place *p, int64_t wanted_prompts)
{
    const struct optimize_result run = p->result;
    const size_t decided = decisions(p).count;
    const int files = files_below(p, os_path_join(&p->arena, p->opts.memory_dir, "journal")) +
                      files_below(p, os_path_join(&p->arena, p->opts.memory_dir, "store"));
    if (!replay(p))
        fail_msg("%s (%s)", p->err.message, p->err.hint);
    assert_true(p->result.is_replay);
    assert_int_equal(p->result.replayed_prompts, wanted_prompts);
    assert_int_equal(p->result.replayed_decisions, decided);
    assert_string_equal(p->result.run_id, run.run_id);
    assert_string_equal(p->result.end_reason, run.end_reason);
    assert_int_equal(p->result.evaluations, run.evaluations);
    assert_int_equal(p->result.tokens, run.tokens);
    assert_int_equal(p->result.has_win, run.has_win);
    if (run.has_win)
        assert_string_equal(p->result.best.id, run.best.id);
    assert_int_equal(files,
                     files_below(p, os_path_join(&p->arena, p->opts.memory_dir, "journal")) +
                         files_below(p, os_path_join(&p->arena, p->opts.memory_dir, "store")));
}

static void replay__a_run_with_everything__is_equal(void **state)
{
    struct place *p = *state;
    p->opts.budget = 7;
    p->opts.proposals = 2;
    say(p, "no JSON");
    say(p, file_reply(p, 800));
    say(p, arena_printf(&p->arena, "{\"proposals\":[%s,%s]}",
                        proposal(p, "a", 0.2, timed_file(p, 700), NULL, NULL),
                        proposal(p, "b", 0.6, NULL, "[{\"find\":\"no\",\"replace\":\"\"}]", NULL)));
    say(p, "{}");
    say(p, "{}");
    for (int i = 0; i < 5; i++)
        say(p, file_reply(p, 600 - 50 * i));
    optimize(p, NULL);
    assert_true(p->result.has_win);
    assert_replays(p, 8);
}

static bool interrupt(void)
{
    os_interrupt_set(true);
    return true;
}

static void replay__a_run_that_was_interrupted_and_resumed__is_equal(void **state)
{
    struct place *p = *state;
    p->opts.budget = 6;
    for (int i = 0; i < 3; i++)
        say(p, file_reply(p, 800 - 50 * i));
    p->steps[p->step_count++] = (struct http_peer_step){.on_request = interrupt, .drop = true};
    for (int i = 0; i < 3; i++)
        say(p, file_reply(p, 500 - 50 * i));
    optimize(p, NULL);
    assert_string_equal(p->result.end_reason, "interrupted");
    resume(p, NULL);
    assert_string_equal(p->result.end_reason, "budget");
    assert_replays(p, 6);
}

static void replay__with_experience_of_another_run__is_equal_until_that_is_gone(void **state)
{
    struct place *p = *state;
    char **names = NULL;
    size_t count = 0;
    p->opts.budget = 2;
    for (int i = 0; i < 4; i++)
        say(p, file_reply(p, 800 - 50 * i));
    optimize(p, NULL);
    const char *dir = os_path_join(&p->arena, p->opts.memory_dir, "journal");
    assert_true(os_list_dir(dir, &p->arena, &names, &count, &p->err));
    assert_int_equal(count, 1);
    p->opts.fresh = true;
    assert_true(engine_optimize(&p->opts, NULL, &p->arena, &p->result, &p->err));
    assert_non_null(strstr(p->peer.requests[2], "takes 800 us"));
    assert_replays(p, 2);
    assert_true(os_remove_tree(os_path_join(&p->arena, dir, names[0]), &p->err));
    assert_false(replay(p));
    assert_int_equal(p->err.kind, ERR_CORRUPT);
    assert_non_null(strstr(p->err.message, "differs from the record in context 1, first at byte"));
}

static void replay__another_task__is_refused(void **state)
{
    struct place *p = *state;
    p->opts.budget = 1;
    say(p, file_reply(p, 800));
    optimize(p, NULL);
    const char *path = os_path_join(&p->arena, p->opts.task_path, "reference.c");
    const char *other = arena_printf(&p->arena, "%s/* another */\n", reference);
    assert_true(os_write_file(path, other, strlen(other), false, &p->err));
    assert_false(replay(p));
    assert_int_equal(p->err.kind, ERR_BAD_INPUT);
    assert_non_null(strstr(p->err.message, "not of task"));
}

static void replay__an_offline_run__is_equal(void **state)
{
    struct place *p = *state;
    p->opts.proposer = "offline";
    p->opts.budget = 6;
    if (!engine_optimize(&p->opts, NULL, &p->arena, &p->result, &p->err))
        fail_msg("%s (%s)", p->err.message, p->err.hint);
    assert_replays(p, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE(replay__a_run_with_everything__is_equal),
        PLACE(replay__a_run_that_was_interrupted_and_resumed__is_equal),
        PLACE(replay__with_experience_of_another_run__is_equal_until_that_is_gone),
        PLACE(replay__another_task__is_refused),
        PLACE(replay__an_offline_run__is_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
