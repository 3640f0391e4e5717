/* Ctrl-C and kills at every point between a question to a model and the end of what it proposed:
 * nothing is lost, nothing is paid for or judged twice. */
#include "engine_llm_fixture.h"

static bool interrupt(void)
{
    os_interrupt_set(true);
    return true;
}

/* Interrupts at the n-th event of a kind. */
struct stopper {
    enum progress_kind kind;
    int after;
};

static void stop_there(void *context, const struct progress *progress)
{
    struct stopper *stopper = context;
    if (progress->kind == stopper->kind && --stopper->after == 0)
        os_interrupt_set(true);
}

static const char *three_files(struct place *p)
{
    return arena_printf(&p->arena, "{\"proposals\":[%s,%s,%s]}",
                        proposal(p, "a", 0.2, timed_file(p, 800), NULL, NULL),
                        proposal(p, "b", 0.6, NULL, "[{\"find\":\"no\",\"replace\":\"\"}]", NULL),
                        proposal(p, "c", 0.9, timed_file(p, 400), NULL, NULL));
}

static void assert_whole(struct place *p, size_t wanted_decisions, size_t wanted_requests)
{
    const struct graph_decisions all = decisions(p);
    assert_string_equal(p->result.end_reason, "budget");
    assert_int_equal(all.count, wanted_decisions);
    assert_int_equal(requests(p), wanted_requests);
    for (size_t i = 0; i < all.count; i++) {
        assert_int_equal(all.items[i].sequence, i + 1);
        assert_true(all.items[i].has_outcome || all.items[i].failure[0] != '\0');
        for (size_t j = 0; j < i; j++)
            assert_false(all.items[i].failure[0] == '\0' &&
                         str_equal(all.items[i].candidate_id, all.items[j].candidate_id));
    }
    assert_int_equal(kept_tokens(p), p->served_tokens);
    assert_int_equal(p->result.tokens, p->served_tokens);
}

static void resume__interrupted_while_the_model_answers__asks_again(void **state)
{
    struct place *p = *state;
    p->opts.budget = 1;
    p->steps[p->step_count++] = (struct http_peer_step){.on_request = interrupt, .drop = true};
    say(p, file_reply(p, 500));
    optimize(p, NULL);
    assert_string_equal(p->result.end_reason, "interrupted");
    assert_int_equal(decisions(p).count, 0);
    resume(p, NULL);
    assert_whole(p, 1, 2);
    /* The very prompt again. */
    const char *first = strstr(p->peer.requests[0], "\"messages\"");
    const char *second = strstr(p->peer.requests[1], "\"messages\"");
    assert_string_equal(first, second);
}

static void resume__interrupted_within_a_batch__judges_the_rest_without_asking(void **state)
{
    struct place *p = *state;
    struct stopper stopper = {PROGRESS_JUDGED, 1};
    const struct observer observer = {stop_there, &stopper};
    p->opts.budget = 2;
    p->opts.proposals = 3;
    say(p, three_files(p));
    optimize(p, &observer);
    assert_string_equal(p->result.end_reason, "interrupted");
    assert_int_equal(p->result.evaluations, 1);
    assert_int_equal(decisions(p).count, 3);
    resume(p, NULL);
    assert_whole(p, 3, 1);
    assert_true(p->result.has_win);
}

static void resume__interrupted_before_the_gate__judges_what_was_proposed(void **state)
{
    struct place *p = *state;
    struct stopper stopper = {PROGRESS_PROPOSED, 2};
    const struct observer observer = {stop_there, &stopper};
    p->opts.budget = 3;
    for (int i = 0; i < 3; i++)
        say(p, file_reply(p, 800 - 100 * i));
    optimize(p, &observer);
    assert_string_equal(p->result.end_reason, "interrupted");
    resume(p, NULL);
    assert_whole(p, 3, 3);
}

static void resume__killed_between_answer_and_decisions__takes_them_up(void **state)
{
    struct place *p = *state;
    p->opts.budget = 2;
    p->opts.proposals = 3;
    say(p, three_files(p));
    optimize(p, NULL);
    cut_before(p, "decision", 1);
    resume(p, NULL);
    assert_whole(p, 3, 1);
}

static void resume__killed_between_two_decisions__takes_up_the_others(void **state)
{
    struct place *p = *state;
    p->opts.budget = 2;
    p->opts.proposals = 3;
    say(p, three_files(p));
    optimize(p, NULL);
    cut_before(p, "decision", 2);
    resume(p, NULL);
    assert_whole(p, 3, 1);
}

static void resume__killed_between_the_turns__asks_for_the_repair_only(void **state)
{
    struct place *p = *state;
    p->opts.budget = 1;
    say(p, "no JSON at all");
    say(p, file_reply(p, 500));
    optimize(p, NULL);
    assert_int_equal(requests(p), 2);
    cut_before(p, "exchange", 2);
    resume(p, NULL);
    assert_whole(p, 1, 3);
    assert_non_null(strstr(p->peer.requests[2], "no JSON at all"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE(resume__interrupted_while_the_model_answers__asks_again),
        PLACE(resume__interrupted_within_a_batch__judges_the_rest_without_asking),
        PLACE(resume__interrupted_before_the_gate__judges_what_was_proposed),
        PLACE(resume__killed_between_answer_and_decisions__takes_them_up),
        PLACE(resume__killed_between_two_decisions__takes_up_the_others),
        PLACE(resume__killed_between_the_turns__asks_for_the_repair_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
