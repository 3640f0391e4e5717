/* Exchanges with a scripted server: what is understood, what is retried, what never leaks. */
#include "base/arena.h"
#include "base/str.h"
#include "llm/llm.h"
#include "os/os.h"

#include "../peers/http_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KEY "sk-test-0123456789abcdef"
#define KEY_VARIABLE "KOPE_TEST_KEY"
#define MS INT64_C(1000000)
#define OK_JSON                                                                                    \
    "{\"id\":\"x\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," \
    "\"content\":\"hello\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":20,"         \
    "\"completion_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":16},"                    \
    "\"completion_tokens_details\":{\"reasoning_tokens\":5}}}"
#define DELTA(text) "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define SSE_OK                                                                                     \
    DELTA("hel")                                                                                   \
    DELTA("lo")                                                                                    \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"              \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":7}}\n\n"          \
    "data: [DONE]\n\n"
#define FAST "retry-after-ms: 5\r\n"

static const struct llm_message question[] = {{.role = "system", .text = "Be brief."},
                                              {.role = "user", .text = "Say hello."}};
static const struct llm_request hello = {.messages = question, .count = 2};

struct talk {
    struct http_peer peer;
    struct arena arena;
    struct llm *llm;
    struct llm_reply reply;
    struct err err;
    bool ok;
    int64_t wall_ns;
    size_t requests;
};

static void ask(struct talk *talk)
{
    const int64_t start_ns = os_now_ns();
    talk->reply = (struct llm_reply){0};
    talk->err = (struct err){0};
    talk->ok = llm_chat(talk->llm, &hello, &talk->arena, &talk->reply, &talk->err);
    talk->wall_ns = os_now_ns() - start_ns;
    talk->requests = atomic_load(&talk->peer.request_count);
}

/* Starts the peer, asks once; the caller ends with close_talk. */
static void open_talk(struct talk *talk, const struct http_peer_step *steps, size_t count,
                      struct llm_opts opts)
{
    *talk = (struct talk){.peer = {.steps = steps, .step_count = count}};
    http_peer_start(&talk->peer);
    opts.base_url = talk->peer.url;
    opts.model = "test-model";
    opts.key_variable = KEY_VARIABLE;
    assert_true(llm_open(&opts, &talk->llm, &talk->err));
    ask(talk);
}

static void close_talk(struct talk *talk)
{
    llm_close(&talk->llm);
    http_peer_stop(&talk->peer);
    arena_free(&talk->arena);
}

static void assert_hello(const struct talk *talk)
{
    if (!talk->ok)
        print_error("%s (%s)\n", talk->err.message, talk->err.hint);
    assert_true(talk->ok);
    assert_string_equal(talk->reply.text, "hello");
    assert_string_equal(talk->reply.finish_reason, "stop");
}

static void assert_failed(const struct talk *talk, enum err_kind kind, size_t requests)
{
    assert_false(talk->ok);
    if (talk->err.kind != kind)
        print_error("%s (%s)\n", talk->err.message, talk->err.hint);
    assert_int_equal(talk->err.kind, kind);
    assert_int_equal(talk->requests, requests);
    assert_null(strstr(talk->err.message, KEY));
    assert_null(strstr(talk->err.hint, KEY));
}

static void llm_chat__plain_json__text_and_usage(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {{.body = OK_JSON}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){.max_output_tokens = 77});
    assert_hello(&talk);
    assert_int_equal(talk.reply.usage.input_tokens, 20);
    assert_int_equal(talk.reply.usage.cached_tokens, 16);
    assert_int_equal(talk.reply.usage.output_tokens, 7);
    assert_int_equal(talk.reply.usage.reasoning_tokens, 5);
    assert_false(talk.reply.usage.is_estimate);
    assert_int_equal(talk.reply.attempts, 1);
    assert_int_equal(talk.reply.lost_tokens, 0);
    const char *asked = talk.peer.requests[0];
    assert_non_null(strstr(asked, "POST /v1/chat/completions HTTP/1.1\r\n"));
    assert_non_null(strstr(asked, "Authorization: Bearer " KEY "\r\n"));
    assert_non_null(strstr(asked, "{\"model\":\"test-model\",\"messages\":[{\"role\":\"system\","
                                  "\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":"
                                  "\"Say hello.\"}],\"max_tokens\":77,\"stream\":true,"
                                  "\"stream_options\":{\"include_usage\":true}}"));
    assert_non_null(strstr(talk.reply.request_json, "Say hello."));
    assert_non_null(strstr(talk.reply.reply_json, "\"content\":\"hello\""));
    close_talk(&talk);
}

static void llm_chat__stream__same_as_plain(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {{.body = SSE_OK}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_hello(&talk);
    assert_int_equal(talk.reply.usage.input_tokens, 20);
    assert_int_equal(talk.reply.usage.output_tokens, 7);
    assert_false(talk.reply.usage.is_estimate);
    close_talk(&talk);
}

static void llm_chat__stream_of_a_sloppy_server__understood(void **state)
{
    struct talk talk;
    /* Comments, CRLF, no space after the colon, an event over two lines, no blank line between
     * events, null fields, no [DONE], no usage. */
    const struct http_peer_step steps[] = {
        {.body =
             ": OPENROUTER PROCESSING\r\n\r\n\r\nid: 1\r\nevent: message\r\n"
             "data:{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}],"
             "\"usage\":null}\r\n\r\n"
             "data:{\"choices\":[{\"delta\":\r\ndata: {\"content\":\"hel\"}}]}\r\n\r\n"
             ": keep-alive\n"
             "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"other\"}}]}\n"
             "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_hello(&talk);
    assert_true(talk.reply.usage.is_estimate);
    assert_true(talk.reply.usage.input_tokens > 32);
    assert_true(talk.reply.usage.output_tokens > 0);
    close_talk(&talk);
}

static void llm_chat__connection_stays_open_after_done__ends_at_once(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {{.body = SSE_OK, .hold_open = true}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_hello(&talk);
    assert_true(talk.wall_ns < 2000 * MS);
    close_talk(&talk);
}

static void llm_chat__429_with_retry_after__waits_and_asks_again(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.status = "429 Too Many Requests",
         .headers = "Retry-After: 1\r\n",
         .body = "{\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}"},
        {.body = OK_JSON}};
    (void)state;
    open_talk(&talk, steps, 2, (struct llm_opts){0});
    assert_hello(&talk);
    assert_int_equal(talk.reply.attempts, 2);
    assert_true(talk.wall_ns >= 990 * MS && talk.wall_ns < 3000 * MS);
    close_talk(&talk);
}

static void llm_chat__retry_after_beyond_the_deadline__fails_without_waiting(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.status = "429 Too Many Requests", .headers = "Retry-After: 3600\r\n"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_NETWORK, 1);
    assert_non_null(strstr(talk.err.hint, "3.6e+03 s"));
    assert_true(talk.wall_ns < 2000 * MS);
    close_talk(&talk);
}

static void llm_chat__500_twice__third_attempt_counts(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.status = "500 Oops"}, {.status = "503 Busy", .headers = FAST}, {.body = SSE_OK}};
    (void)state;
    open_talk(&talk, steps, 3, (struct llm_opts){0});
    assert_hello(&talk);
    assert_int_equal(talk.reply.attempts, 3);
    assert_true(talk.wall_ns >= 370 * MS); /* 0.5 s less a quarter */
    close_talk(&talk);
}

static void llm_chat__500_for_ever__gives_up_after_its_retries(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.status = "500 Oops", .headers = FAST, .body = "sorry"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){.retries = 2});
    assert_failed(&talk, ERR_NETWORK, 3);
    assert_non_null(strstr(talk.err.message, "HTTP 500: sorry"));
    assert_non_null(strstr(talk.err.hint, "3 times"));
    close_talk(&talk);
}

static void llm_chat__x_should_retry_false__not_retried(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.status = "500 Oops", .headers = "x-should-retry: false\r\n"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_NETWORK, 1);
    close_talk(&talk);
}

static void llm_chat__x_should_retry_true__retried(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.status = "400 Bad", .headers = FAST "x-should-retry: true\r\n"}, {.body = OK_JSON}};
    (void)state;
    open_talk(&talk, steps, 2, (struct llm_opts){0});
    assert_hello(&talk);
    close_talk(&talk);
}

static void llm_chat__no_money__budget_error_without_retry(void **state)
{
    struct talk talk;
    const struct http_peer_step without_money[] = {
        {.status = "402 Payment Required",
         .headers = "x-should-retry: true\r\n",
         .body = "{\"error\":{\"message\":\"Insufficient Balance\"}}"}};
    const struct http_peer_step without_quota[] = {
        {.status = "429 Too Many Requests",
         .headers = FAST,
         .body = "{\"error\":{\"message\":\"quota\",\"code\":\"insufficient_quota\"}}"}};
    (void)state;
    open_talk(&talk, without_money, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_BUDGET, 1);
    close_talk(&talk);
    open_talk(&talk, without_quota, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_BUDGET, 1);
    close_talk(&talk);
}

static void llm_chat__context_too_long__limit_error(void **state)
{
    struct talk talk;
    const struct http_peer_step openai[] = {
        {.status = "400 Bad Request",
         .body = "{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}"}};
    const struct http_peer_step vllm[] = {
        {.status = "400 Bad Request",
         .body = "{\"object\":\"error\",\"message\":\"This model's maximum context length is 4096 "
                 "tokens\",\"code\":400}"}};
    const struct http_peer_step llama[] = {
        {.status = "400 Bad Request",
         .body = "{\"error\":{\"code\":400,\"message\":\"over\",\"type\":"
                 "\"exceed_context_size_error\",\"n_prompt_tokens\":9000,\"n_ctx\":4096}}"}};
    (void)state;
    open_talk(&talk, openai, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_LIMIT, 1);
    close_talk(&talk);
    open_talk(&talk, vllm, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_LIMIT, 1);
    close_talk(&talk);
    open_talk(&talk, llama, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_LIMIT, 1);
    assert_non_null(strstr(talk.err.hint, "9000"));
    close_talk(&talk);
}

static void llm_chat__cut_stream__asked_again_and_what_it_cost_is_told(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {{.body = DELTA("hel"), .extra_declared = 500},
                                           {.body = DELTA("hel")},
                                           {.drop = true},
                                           {.body = SSE_OK}};
    (void)state;
    open_talk(&talk, steps, 4, (struct llm_opts){0});
    assert_hello(&talk);
    assert_int_equal(talk.reply.attempts, 4);
    /* Twice the prompt, estimated at 8 (so at most 9) tokens in two messages, and "hel", at most 3
     * (its bytes). */
    assert_int_equal(talk.reply.lost_tokens, 2 * (9 + 2 * 16 + 3));
    close_talk(&talk);
}

static void llm_chat__error_in_mid_stream__by_what_it_says(void **state)
{
    struct talk talk;
    const struct http_peer_step gateway[] = {
        {.headers = FAST,
         .body =
             DELTA("hel") "data: {\"error\":{\"code\":502,\"message\":\"upstream\"},\"choices\":"
                          "[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n"},
        {.body = SSE_OK}};
    const struct http_peer_step request[] = {
        {.body = DELTA("hel") "event: error\ndata: {\"message\":\"no such tool\",\"type\":"
                              "\"invalid_request_error\"}\n\n"}};
    (void)state;
    open_talk(&talk, gateway, 2, (struct llm_opts){0});
    assert_hello(&talk);
    assert_int_equal(talk.reply.attempts, 2);
    close_talk(&talk);
    open_talk(&talk, request, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_NETWORK, 1);
    assert_non_null(strstr(talk.err.message, "no such tool"));
    close_talk(&talk);
}

static void llm_chat__error_in_a_body_after_200__is_an_error(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.body = "\n\n{\"error\":{\"code\":403,\"message\":\"moderation\"}}"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_NETWORK, 1);
    assert_non_null(strstr(talk.err.message, "HTTP 403"));
    close_talk(&talk);
}

static void llm_chat__slow_drip__ends_at_the_deadline(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {{.body = SSE_OK, .drip_ms = 5}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){.deadline_ns = 300 * MS});
    assert_failed(&talk, ERR_NETWORK, 1);
    assert_non_null(strstr(talk.err.message, "within 0.3 s"));
    assert_true(talk.wall_ns >= 300 * MS && talk.wall_ns < 1000 * MS);
    close_talk(&talk);
}

static void llm_chat__malformed_json__network_error(void **state)
{
    struct talk talk;
    const struct http_peer_step plain[] = {{.headers = FAST, .body = "{\"choices\":[{\"mess"}};
    const struct http_peer_step stream[] = {{.headers = FAST, .body = "data: {\"choices\":\n\n"}};
    const struct http_peer_step empty[] = {{.headers = FAST, .body = "{\"object\":\"list\"}"}};
    const struct http_peer_step page[] = {{.headers = FAST, .body = "<html>hello</html>"}};
    const struct http_peer_step *all[] = {plain, stream, empty, page};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        open_talk(&talk, all[i], 1, (struct llm_opts){.retries = 1});
        assert_failed(&talk, ERR_NETWORK, 2);
        close_talk(&talk);
    }
}

static void llm_chat__key_echoed_in_an_error__replaced(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.status = "401 Unauthorized",
         .body = "{\"error\":{\"message\":\"Incorrect API key: \\u0073k-test-0123456789abcdef.\","
                 "\"code\":\"" KEY "\"}}"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_NETWORK, 1);
    assert_non_null(strstr(talk.err.message, "Incorrect API key: [key]."));
    assert_non_null(strstr(talk.err.hint, "$" KEY_VARIABLE));
    close_talk(&talk);
}

static void llm_chat__key_echoed_in_a_reply__replaced_everywhere(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.body = "{\"id\":\"" KEY "\",\"model\":\"" KEY "\",\"choices\":[{\"message\":{\"content\":"
                 "\"a " KEY " b " KEY "\"},\"finish_reason\":\"" KEY "\"}]}"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_true(talk.ok);
    assert_string_equal(talk.reply.text, "a [key] b [key]");
    assert_string_equal(talk.reply.finish_reason, "[key]");
    assert_null(strstr(talk.reply.reply_json, KEY));
    assert_null(strstr(talk.reply.request_json, KEY));
    close_talk(&talk);
}

static void llm_chat__key_with_a_line_break__not_sent(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {{.body = OK_JSON}};
    (void)state;
    assert_int_equal(setenv(KEY_VARIABLE, "secret-value\r\nX-Evil: 1", 1), 0);
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_int_equal(setenv(KEY_VARIABLE, KEY, 1), 0);
    assert_failed(&talk, ERR_BAD_INPUT, 0);
    assert_null(strstr(talk.err.message, "secret-value"));
    close_talk(&talk);
}

static void llm_chat__no_key__sent_without(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {{.body = OK_JSON}};
    (void)state;
    assert_int_equal(unsetenv(KEY_VARIABLE), 0);
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_int_equal(setenv(KEY_VARIABLE, KEY, 1), 0);
    assert_hello(&talk);
    assert_null(strstr(talk.peer.requests[0], "Authorization"));
    close_talk(&talk);
}

static void llm_chat__huge_reply__limit_error(void **state)
{
    struct talk talk;
    const struct http_peer_step text[] = {{.body = DELTA("0123456789"), .repeat = 5000}};
    const struct http_peer_step line[] = {{.body = "data: 0123456789", .repeat = 20000}};
    const struct http_peer_step noise[] = {{.body = ": 0123456789 0123456789\n", .repeat = 100000}};
    const struct http_peer_step json[] = {{.body = "{\"a\":0123456789", .repeat = 20000}};
    const struct http_peer_step *all[] = {text, line, noise, json};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        open_talk(&talk, all[i], 1, (struct llm_opts){.reply_limit_bytes = 4096});
        assert_failed(&talk, ERR_LIMIT, 1);
        close_talk(&talk);
    }
}

static bool interrupt_now(void)
{
    http_peer_wait_ms(100);
    os_interrupt_set(true);
    return true;
}

static void llm_chat__interrupted__ends_at_once(void **state)
{
    struct talk talk;
    const struct http_peer_step waiting[] = {{.hold_open = true, .on_request = interrupt_now}};
    const struct http_peer_step between[] = {
        {.status = "500 Oops", .headers = "Retry-After: 30\r\n", .on_request = interrupt_now}};
    (void)state;
    open_talk(&talk, waiting, 1, (struct llm_opts){0});
    os_interrupt_set(false);
    assert_failed(&talk, ERR_INTERRUPTED, 1);
    assert_true(talk.wall_ns < 1000 * MS);
    close_talk(&talk);
    open_talk(&talk, between, 1, (struct llm_opts){0});
    os_interrupt_set(false);
    assert_failed(&talk, ERR_INTERRUPTED, 1);
    assert_true(talk.wall_ns < 1000 * MS);
    close_talk(&talk);
}

static void llm_chat__redirect__not_followed(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.status = "302 Found", .headers = "Location: /v2/chat/completions\r\n"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_failed(&talk, ERR_NETWORK, 1);
    assert_non_null(strstr(talk.err.hint, "redirects are not followed"));
    close_talk(&talk);
}

static void llm_chat__proxy_in_the_environment__not_asked_for_loopback(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {{.body = OK_JSON}};
    (void)state;
    assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
    assert_int_equal(setenv("all_proxy", "http://127.0.0.1:1", 1), 0);
    open_talk(&talk, steps, 1, (struct llm_opts){.retries = -1});
    assert_int_equal(unsetenv("http_proxy"), 0);
    assert_int_equal(unsetenv("all_proxy"), 0);
    assert_hello(&talk);
    close_talk(&talk);
}

static void llm_chat__nobody_listens__network_error(void **state)
{
    struct talk talk = {0};
    (void)state;
    const struct llm_opts opts = {.base_url = "http://127.0.0.1:1/v1", .model = "m", .retries = -1};
    assert_true(llm_open(&opts, &talk.llm, &talk.err));
    ask(&talk);
    assert_failed(&talk, ERR_NETWORK, 0);
    llm_close(&talk.llm);
    arena_free(&talk.arena);
}

static void llm_chat__field_refused__sent_once_more_without(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.status = "400 Bad", .body = "{\"error\":{\"message\":\"unknown field stream_options\"}}"},
        {.status = "400 Bad",
         .body = "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens'\",\"type\":"
                 "\"invalid_request_error\"}}"},
        {.body = OK_JSON}};
    (void)state;
    open_talk(&talk, steps, 3, (struct llm_opts){.retries = -1});
    assert_hello(&talk);
    assert_null(strstr(talk.peer.requests[2], "stream_options"));
    assert_non_null(strstr(talk.peer.requests[2], "\"max_completion_tokens\":8192"));
    ask(&talk); /* what was learnt stays */
    assert_hello(&talk);
    assert_int_equal(talk.requests, 4);
    close_talk(&talk);
}

static void llm_chat__refusal__said_so(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.body = "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"I will not\"},"
                 "\"finish_reason\":\"stop\"}]}"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){0});
    assert_true(talk.ok);
    assert_string_equal(talk.reply.finish_reason, "refusal");
    assert_string_equal(talk.reply.text, "I will not");
    close_talk(&talk);
}

static void llm_open__bad_options__refused(void **state)
{
    static const char *const urls[] = {"not a url",
                                       "ftp://host/v1",
                                       "https://user:pw@host/v1",
                                       "https://host/v1?key=1",
                                       "https://host/v1#x",
                                       ""};
    struct llm *llm = NULL;
    struct err err;
    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        const struct llm_opts opts = {.base_url = urls[i], .model = "m"};
        assert_false(llm_open(&opts, &llm, &err));
        assert_int_equal(err.kind, ERR_BAD_INPUT);
        assert_null(strstr(err.message, "pw"));
    }
    assert_false(llm_open(&(struct llm_opts){.dialect = "telepathy", .model = "m"}, &llm, &err));
    assert_int_equal(err.kind, ERR_UNSUPPORTED);
    assert_false(llm_open(&(struct llm_opts){0}, &llm, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_false(
        llm_open(&(struct llm_opts){.model = "m", .max_tokens_field = "tokens"}, &llm, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_null(llm);
}

static int set_up(void **state)
{
    (void)state;
    return setenv(KEY_VARIABLE, KEY, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llm_chat__plain_json__text_and_usage),
        cmocka_unit_test(llm_chat__stream__same_as_plain),
        cmocka_unit_test(llm_chat__stream_of_a_sloppy_server__understood),
        cmocka_unit_test(llm_chat__connection_stays_open_after_done__ends_at_once),
        cmocka_unit_test(llm_chat__429_with_retry_after__waits_and_asks_again),
        cmocka_unit_test(llm_chat__retry_after_beyond_the_deadline__fails_without_waiting),
        cmocka_unit_test(llm_chat__500_twice__third_attempt_counts),
        cmocka_unit_test(llm_chat__500_for_ever__gives_up_after_its_retries),
        cmocka_unit_test(llm_chat__x_should_retry_false__not_retried),
        cmocka_unit_test(llm_chat__x_should_retry_true__retried),
        cmocka_unit_test(llm_chat__no_money__budget_error_without_retry),
        cmocka_unit_test(llm_chat__context_too_long__limit_error),
        cmocka_unit_test(llm_chat__cut_stream__asked_again_and_what_it_cost_is_told),
        cmocka_unit_test(llm_chat__error_in_mid_stream__by_what_it_says),
        cmocka_unit_test(llm_chat__error_in_a_body_after_200__is_an_error),
        cmocka_unit_test(llm_chat__slow_drip__ends_at_the_deadline),
        cmocka_unit_test(llm_chat__malformed_json__network_error),
        cmocka_unit_test(llm_chat__key_echoed_in_an_error__replaced),
        cmocka_unit_test(llm_chat__key_echoed_in_a_reply__replaced_everywhere),
        cmocka_unit_test(llm_chat__key_with_a_line_break__not_sent),
        cmocka_unit_test(llm_chat__no_key__sent_without),
        cmocka_unit_test(llm_chat__huge_reply__limit_error),
        cmocka_unit_test(llm_chat__interrupted__ends_at_once),
        cmocka_unit_test(llm_chat__redirect__not_followed),
        cmocka_unit_test(llm_chat__proxy_in_the_environment__not_asked_for_loopback),
        cmocka_unit_test(llm_chat__nobody_listens__network_error),
        cmocka_unit_test(llm_chat__field_refused__sent_once_more_without),
        cmocka_unit_test(llm_chat__refusal__said_so),
        cmocka_unit_test(llm_open__bad_options__refused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
