/* The llm proposer against a scripted server: the reply contract, one repair, what is paid. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "propose/propose.h"
#include "propose/reply.h"
#include "json/json.h"

#include "../peers/chat_reply.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HEADER                                                                                     \
    "{\"intent\": \"four accumulators\", \"hypothesis\": \"hides the latency\", "                  \
    "\"predicted_speedup\": 2.5}\n"
#define FILE_TEXT "void total(const real *x, real *y, int64_t n)\n{\n    y[0] = x[n - 1];\n}\n"
#define GOOD "Here it is.\n```json\n" HEADER "```\nand\n```c\n" FILE_TEXT "```\n"

static const struct task task = {.name = "total", .entry = "total"};
static const struct candidate parent = {
    .source = "", .compiler = "gcc-12", .flags = {"-O3", "-march=native"}, .flag_count = 2};

struct session {
    struct arena arena;
    struct http_peer peer;
    struct http_peer_step steps[2];
    struct proposer *proposer;
    struct proposal proposal;
    struct propose_record record;
    char *kept[4];
    size_t kept_count;
    struct err err;
    bool ok, exhausted;
};

static bool keep(void *context, const struct propose_exchange *exchange, struct err *err)
{
    struct session *s = context;
    (void)err;
    assert_true(s->kept_count < 4);
    s->kept[s->kept_count++] = arena_strdup(&s->arena, exchange->exchange_json);
    return true;
}

static void run(struct session *s, struct propose_request request, size_t steps)
{
    s->peer.steps = s->steps;
    s->peer.step_count = steps;
    http_peer_start(&s->peer);
    const struct llm_opts llm = {.base_url = s->peer.url,
                                 .model = "m",
                                 .key_variable = "KOPE_TEST_NO_KEY",
                                 .max_output_tokens = 1000,
                                 .retries = -1};
    const struct propose_models models = {.small = llm, .large = llm};
    const struct proposer_opts opts = {.spec = {.kind = "llm"}, .task = &task, .models = &models};
    if (!proposer_open(&opts, &s->proposer, &s->err))
        fail_msg("%s", s->err.message);
    assert_string_equal(proposer_kind(s->proposer), "llm");
    request.parent = &parent;
    static const struct propose_prompt prompt = {.system = "Answer well.",
                                                 .facts = "a machine\n",
                                                 .task = "## Task: total",
                                                 .now = "Go on."};
    request.prompt = &prompt;
    request.record = &s->record;
    s->record = (struct propose_record){.keep = keep, .context = s};
    s->ok = proposer_next(s->proposer, &request, &s->arena, &s->exhausted, &s->proposal, &s->err);
    assert_false(s->exhausted);
}

static size_t requests(struct session *s)
{
    return atomic_load(&s->peer.request_count);
}

static void end(struct session *s)
{
    proposer_close(&s->proposer);
    http_peer_stop(&s->peer);
    arena_free(&s->arena);
}

static void assert_is_good(const struct session *s)
{
    if (!s->ok)
        fail_msg("%s", s->err.message);
    assert_null(s->proposal.failure);
    assert_string_equal(s->proposal.intent, "four accumulators");
    assert_string_equal(s->proposal.hypothesis, "hides the latency");
    assert_true(fabs(s->proposal.predicted_log_ratio - log(2.5)) < 1e-12);
    assert_string_equal(s->proposal.candidate.source, FILE_TEXT);
    assert_string_equal(s->proposal.candidate.compiler, "gcc-12");
    assert_int_equal(s->proposal.candidate.flag_count, 2);
    assert_null(s->proposal.candidate.recipe);
}

static void proposer_next__good_reply__candidate(void **state)
{
    struct session s = {0};
    (void)state;
    s.steps[0] = chat_reply(&s.arena, GOOD, "stop", 100, 50);
    run(&s, (struct propose_request){.budget = &(struct llm_budget){100000, -1.0}}, 1);
    assert_is_good(&s);
    assert_int_equal(s.proposal.tokens_in, 100);
    assert_int_equal(s.proposal.tokens_out, 50);
    assert_non_null(strstr(s.peer.requests[0], "a machine\\n## Task: totalGo on."));
    assert_non_null(strstr(s.peer.requests[0], "\"json_schema\""));
    struct err err;
    const struct json *exchange = NULL;
    assert_int_equal(s.kept_count, 1);
    assert_true(json_parse(s.kept[0], strlen(s.kept[0]), "exchange", &s.arena, &exchange, &err));
    assert_string_equal(json_string(json_get(json_get(exchange, "reply"), "content"), ""), GOOD);
    end(&s);
}

static void proposer_next__malformed_once__repaired(void **state)
{
    struct session s = {0};
    (void)state;
    s.steps[0] = chat_reply(&s.arena, "Sorry, here is the idea only.", "stop", 100, 50);
    s.steps[1] = chat_reply(&s.arena, GOOD, "stop", 170, 60);
    run(&s, (struct propose_request){0}, 2);
    assert_is_good(&s);
    assert_int_equal(s.proposal.tokens_in, 270);
    assert_int_equal(s.proposal.tokens_out, 110);
    assert_int_equal(requests(&s), 2);
    assert_non_null(strstr(s.peer.requests[1], "Sorry, here is the idea only."));
    assert_non_null(strstr(s.peer.requests[1], "there is no ```json block"));
    assert_int_equal(s.kept_count, 2);
    end(&s);
}

static void proposer_next__malformed_twice__failure_that_is_paid_for(void **state)
{
    struct session s = {0};
    (void)state;
    s.steps[0] = chat_reply(&s.arena, "```json\n{}\n```\n```c\nint x;\n```\n", "stop", 100, 50);
    s.steps[1] = chat_reply(&s.arena, "no", "stop", 170, 60);
    run(&s, (struct propose_request){0}, 2);
    assert_true(s.ok);
    assert_non_null(strstr(s.proposal.failure, "malformed reply twice: there is no ```json"));
    assert_string_equal(s.proposal.candidate.source, "");
    assert_int_equal(s.proposal.tokens_in, 270);
    assert_int_equal(s.proposal.tokens_out, 110);
    assert_int_equal(requests(&s), 2);
    end(&s);
}

/* Asked for once more, then the gate's business: it judges what the model insists on. */
static void proposer_next__no_entry_point_twice__is_a_candidate(void **state)
{
    static const char wrong[] = "{\"proposals\":[{\"intent\":\"a\",\"hypothesis\":\"b\","
                                "\"predicted_log_speedup\":0.5,\"file\":\"int x;\"}]}";
    struct session s = {0};
    (void)state;
    s.steps[0] = chat_reply(&s.arena, wrong, "stop", 100, 50);
    s.steps[1] = chat_reply(&s.arena, wrong, "stop", 170, 60);
    run(&s, (struct propose_request){0}, 2);
    assert_true(s.ok);
    assert_int_equal(requests(&s), 2);
    assert_non_null(strstr(s.peer.requests[1], "does not define the entry point"));
    assert_null(s.proposal.failure);
    assert_string_equal(s.proposal.candidate.source, "int x;");
    assert_int_equal(s.proposal.tokens_in, 270);
    end(&s);
}

static void proposer_next__cut_off__repaired_or_failure(void **state)
{
    struct session s = {0};
    (void)state;
    s.steps[0] = chat_reply(&s.arena, "```json\n" HEADER "```\n```c\nvoid to", "length", 100, 1000);
    s.steps[1] =
        chat_reply(&s.arena, GOOD, "length", 170, 1000); /* whole by chance is not enough */
    run(&s, (struct propose_request){0}, 2);
    assert_true(s.ok);
    assert_non_null(strstr(s.proposal.failure, "cut off at 1000 tokens"));
    assert_non_null(strstr(s.peer.requests[1], "it has to be shorter"));
    assert_int_equal(s.proposal.tokens_out, 2000);
    end(&s);
}

static void proposer_next__refusal__failure_at_once(void **state)
{
    struct session s = {0};
    (void)state;
    s.steps[0] = chat_reply(&s.arena, "", "content_filter", 100, 0);
    run(&s, (struct propose_request){0}, 1);
    assert_true(s.ok);
    assert_non_null(strstr(s.proposal.failure, "the model refused"));
    assert_int_equal(requests(&s), 1);
    end(&s);
}

static void proposer_next__judged_before__asked_for_another(void **state)
{
    struct session s = {0};
    (void)state;
    struct candidate known = parent;
    known.source = FILE_TEXT;
    const struct hash_id id = candidate_id(&known);
    const char *tried[] = {"some recipe", id.text};
    s.steps[0] = chat_reply(&s.arena, GOOD, "stop", 100, 50);
    run(&s, (struct propose_request){.tried = tried, .tried_count = 2}, 1);
    assert_true(s.ok);
    assert_int_equal(requests(&s), 2);
    assert_non_null(strstr(s.proposal.failure, "judged before"));
    end(&s);
}

static void proposer_next__budget_too_small__error_before_the_call(void **state)
{
    struct session s = {0};
    (void)state;
    s.steps[0] = chat_reply(&s.arena, GOOD, "stop", 100, 50);
    run(&s, (struct propose_request){.budget = &(struct llm_budget){1020, -1.0}}, 1);
    assert_false(s.ok);
    assert_int_equal(s.err.kind, ERR_BUDGET);
    assert_int_equal(requests(&s), 0);
    end(&s);
}

static void proposer_next__no_budget_for_a_repair__failure(void **state)
{
    struct session s = {0};
    (void)state;
    s.steps[0] = chat_reply(&s.arena, "no", "stop", 2000, 50);
    run(&s, (struct propose_request){.budget = &(struct llm_budget){3000, -1.0}}, 1);
    assert_true(s.ok);
    assert_non_null(strstr(s.proposal.failure, "no repair: asking model 'm' may take"));
    assert_int_equal(s.proposal.tokens_in, 2000);
    assert_int_equal(requests(&s), 1);
    end(&s);
}

static void proposer_next__server_fails__error_first_but_failure_once_paid(void **state)
{
    struct session s = {0};
    struct session t = {0};
    (void)state;
    s.steps[0] = (struct http_peer_step){.status = "500 Oops"};
    run(&s, (struct propose_request){0}, 1);
    assert_false(s.ok);
    assert_int_equal(s.err.kind, ERR_NETWORK);
    end(&s);
    t.steps[0] = chat_reply(&t.arena, "no", "stop", 100, 50);
    t.steps[1] = (struct http_peer_step){.status = "500 Oops"};
    run(&t, (struct propose_request){0}, 2);
    assert_true(t.ok);
    assert_non_null(strstr(t.proposal.failure, "HTTP 500"));
    assert_int_equal(t.proposal.tokens_in, 100);
    end(&t);
}

/* Each with a part of the sentence that names the problem. */
static void reply_parse__malformed__says_what_is_wrong(void **state)
{
#define WITH(header) "```json\n" header "\n```\n```c\n" FILE_TEXT "```\n"
#define KEYS "\"intent\":\"a\",\"hypothesis\":\"b\""
    static const struct {
        const char *reply, *problem;
    } cases[] = {
        {"", "no ```json block"},
        {"```json\n" HEADER "```\n", "no ```c block"},
        {"```c\n" FILE_TEXT "```\n", "no ```json block"},
        {GOOD "```c\nint x;\n```\n", "more than one ```c"},
        {GOOD "```json\n{}\n```\n", "more than one ```json"},
        {GOOD "```sh\nmake\n```\n", "marked 'sh'"},
        {GOOD "```\nx\n```\n", "marked ''"},
        {"```json\n" HEADER "```\n```c\n" FILE_TEXT, "not closed"},
        {WITH("{"), "not valid JSON"},
        {WITH("[]"), "not an object"},
        {WITH("{}"), "no \"intent\""},
        {WITH("{\"intent\":7}"), "\"intent\" is not a string"},
        {WITH("{\"intent\":\"\"}"), "\"intent\" is not a string"},
        {WITH("{\"intent\":\"a\"}"), "no \"hypothesis\""},
        {WITH("{" KEYS "}"), "predicted_log_speedup"},
        {WITH("{" KEYS ",\"predicted_speedup\":\"2\"}"), "predicted_speedup"},
        {WITH("{" KEYS ",\"predicted_speedup\":0}"), "predicted_speedup"},
        {WITH("{" KEYS ",\"predicted_speedup\":-1}"), "predicted_speedup"},
        {WITH("{" KEYS ",\"predicted_speedup\":1e300}"), "predicted_speedup"},
        {WITH("{" KEYS ",\"predicted_speedup\":2,\"x\":1}"), "\"x\" that is not asked for"},
        {WITH("{" KEYS ",\"predicted_speedup\":2,\"flags\":\"-O3\"}"), "not an array"},
        {WITH("{" KEYS ",\"predicted_speedup\":2,\"flags\":[\"-O3 -g\"]}"), "with a space"},
        {WITH("{" KEYS ",\"predicted_speedup\":2,\"flags\":[\"/etc/passwd\"]}"), "not a compiler"},
        {WITH("{" KEYS ",\"predicted_speedup\":2,\"compiler\":[]}"), "\"compiler\" is not"},
        {"```json\n" HEADER "```\n```c\n\n```\n", "```c block is empty"},
        {"```json\n" HEADER "```\n```c\nint subtotal, total_2;\n```\n", "entry point 'total'"},
    };
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct proposal p = {0};
        const char *problem = reply_parse(cases[i].reply, &task, &parent, &arena, &p);
        if (!problem || !strstr(problem, cases[i].problem))
            fail_msg("case %zu: '%s'", i, problem ? problem : "accepted");
        assert_null(p.candidate.source);
    }
}

static void reply_parse__good_in_many_spellings__accepted(void **state)
{
    static const char *const replies[] = {
        GOOD,
        "<think>\n```c\nno\n```\n</think>\n" GOOD,
        "```c\n" FILE_TEXT "```\n```json\n" HEADER "```",
        "````JSON title\n" HEADER "````  \n```C\n" FILE_TEXT "```",
    };
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        struct proposal p = {0};
        const char *problem = reply_parse(replies[i], &task, NULL, &arena, &p);
        if (problem)
            fail_msg("case %zu: %s", i, problem);
        assert_string_equal(p.candidate.source, FILE_TEXT);
        assert_null(p.candidate.compiler);
        assert_int_equal(p.candidate.flag_count, 0);
    }
}

static void reply_parse__windows_line_ends__accepted(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct proposal p = {0};
    (void)state;
    assert_null(reply_parse("```json\r\n{" KEYS ",\"predicted_speedup\":2}\r\n```\r\n```c\r\nvoid "
                            "total(void) {}\r\n```\r\n",
                            &task, NULL, &arena, &p));
    assert_string_equal(p.candidate.source, "void total(void) {}\r\n");
}

static void reply_parse__compiler_and_flags__replace_the_parents(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct proposal both = {0};
    struct proposal compiler = {0};
    struct proposal flags = {0};
    (void)state;
    assert_null(reply_parse(WITH("{" KEYS ",\"predicted_speedup\":2,\"compiler\":\"clang-19\","
                                 "\"flags\":[\"-O2\"]}"),
                            &task, &parent, &arena, &both));
    assert_string_equal(both.candidate.compiler, "clang-19");
    assert_int_equal(both.candidate.flag_count, 1);
    assert_string_equal(both.candidate.flags[0], "-O2");
    assert_null(reply_parse(WITH("{" KEYS ",\"predicted_speedup\":2,\"compiler\":\"clang-19\"}"),
                            &task, &parent, &arena, &compiler));
    assert_int_equal(compiler.candidate.flag_count, 0); /* made for another compiler */
    assert_null(reply_parse(WITH("{" KEYS ",\"predicted_speedup\":2,\"flags\":[]}"), &task, &parent,
                            &arena, &flags));
    assert_string_equal(flags.candidate.compiler, "gcc-12");
    assert_int_equal(flags.candidate.flag_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proposer_next__good_reply__candidate),
        cmocka_unit_test(proposer_next__malformed_once__repaired),
        cmocka_unit_test(proposer_next__malformed_twice__failure_that_is_paid_for),
        cmocka_unit_test(proposer_next__no_entry_point_twice__is_a_candidate),
        cmocka_unit_test(proposer_next__cut_off__repaired_or_failure),
        cmocka_unit_test(proposer_next__refusal__failure_at_once),
        cmocka_unit_test(proposer_next__judged_before__asked_for_another),
        cmocka_unit_test(proposer_next__budget_too_small__error_before_the_call),
        cmocka_unit_test(proposer_next__no_budget_for_a_repair__failure),
        cmocka_unit_test(proposer_next__server_fails__error_first_but_failure_once_paid),
        cmocka_unit_test(reply_parse__malformed__says_what_is_wrong),
        cmocka_unit_test(reply_parse__good_in_many_spellings__accepted),
        cmocka_unit_test(reply_parse__windows_line_ends__accepted),
        cmocka_unit_test(reply_parse__compiler_and_flags__replace_the_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
