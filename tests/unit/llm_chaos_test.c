/* The three APIs against a scripted server that misbehaves: every call gives the one reply that was
 * meant for it, and the accounting equals what the server counted. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/rng.h"
#include "base/str.h"
#include "llm/llm.h"
#include "os/os.h"

#include "../peers/http_peer.h"
#include "../peers/model_replies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define FAST "retry-after-ms: 1\r\n"

enum { INPUT_TOKENS = 40, OUTPUT_TOKENS = 7, CACHED_TOKENS = 3 };

static const struct llm_message question[] = {{.role = "system", .text = "Be brief."},
                                              {.role = "user", .text = "Say hello."}};
static const struct llm_request hello = {.messages = question, .count = 2};

struct talk {
    const struct model_api *api;
    struct http_peer peer;
    struct arena arena;
    struct llm *llm;
    struct llm_reply reply;
    struct err err;
    bool ok;
};

/* A format of the API with its values; Anthropic's input is told without what was cached. */
static const char *fill(struct talk *talk, const char *format, const char *text)
{
    const bool is_apart = str_equal(talk->api->dialect, "anthropic");
    char *out = arena_alloc(&talk->arena, strlen(format) + strlen(text) + 64);
    const char *from = format;
    char *to = out;
    const int numbers[] = {is_apart && strstr(format, "cache_read") ? INPUT_TOKENS - CACHED_TOKENS
                                                                    : INPUT_TOKENS,
                           OUTPUT_TOKENS};
    int n = 0;
    for (; *from != '\0'; from++) {
        if (from[0] == '%' && from[1] == 's')
            to += sprintf(to, "%s", text);
        else if (from[0] == '%' && from[1] == 'd')
            to += sprintf(to, "%d", numbers[n++]);
        else
            *to++ = *from;
        from += from[0] == '%';
    }
    return out;
}

static const char *replace(struct talk *talk, const char *text, const char *what, const char *with)
{
    CLEANUP(buf_free) struct buf out = {0};
    if (what[0] == '\0')
        return text;
    for (const char *hit = strstr(text, what); hit; hit = strstr(text, what)) {
        (void)buf_append(&out, text, (size_t)(hit - text));
        (void)buf_append_str(&out, with);
        text = hit + strlen(what);
    }
    (void)buf_append_str(&out, text);
    return arena_strdup(&talk->arena, buf_text(&out));
}

static void begin(struct talk *talk, size_t api)
{
    *talk = (struct talk){.api = &model_apis[api]};
}

static void start(struct talk *talk, const struct http_peer_step *steps, size_t count,
                  struct llm_opts opts)
{
    talk->peer = (struct http_peer){.steps = steps, .step_count = count};
    http_peer_start(&talk->peer);
    opts.dialect = talk->api->dialect;
    opts.base_url = talk->peer.url;
    opts.key_variable = "KOPE_TEST_NO_KEY";
    opts.model = "m";
    if (!llm_open(&opts, &talk->llm, &talk->err))
        fail_msg("%s", talk->err.message);
}

static void ask(struct talk *talk, const struct llm_request *request)
{
    talk->reply = (struct llm_reply){0};
    talk->err = (struct err){0};
    talk->ok = llm_chat(talk->llm, request, &talk->arena, &talk->reply, &talk->err);
}

static void stop(struct talk *talk)
{
    llm_close(&talk->llm);
    http_peer_stop(&talk->peer);
    arena_free(&talk->arena);
}

static void assert_reply(const struct talk *talk, const char *what, int attempts)
{
    if (!talk->ok || !str_equal(talk->reply.text, "hello") || talk->reply.attempts != attempts)
        fail_msg("%s, %s: %s '%s', %d attempts", talk->api->dialect, what, talk->err.message,
                 talk->ok ? talk->reply.text : "", talk->reply.attempts);
    assert_string_equal(talk->reply.finish_reason, "stop");
    assert_null(talk->reply.problem);
    assert_false(talk->reply.usage.is_estimate);
    assert_int_equal(talk->reply.usage.input_tokens, INPUT_TOKENS);
    assert_int_equal(talk->reply.usage.cached_tokens, CACHED_TOKENS);
    assert_int_equal(talk->reply.usage.output_tokens, OUTPUT_TOKENS);
    assert_int_equal(atomic_load(&talk->peer.request_count), attempts);
    assert_non_null(strstr(talk->peer.requests[0], talk->api->path));
}

/* gzip without compression (RFC 1951, stored; RFC 1952) of a text under 64 KiB. */
static const char *gzip(struct talk *talk, const char *text, size_t *bytes)
{
    const size_t n = strlen(text);
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xedb88320U & (0U - (crc & 1U)));
    }
    crc ^= 0xffffffff;
    unsigned char *out = arena_alloc(&talk->arena, n + 32);
    static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1};
    memcpy(out, head, sizeof head);
    unsigned char *to = out + sizeof head;
    const size_t lengths[] = {n, ~n};
    for (size_t i = 0; i < 2; i++) {
        *to++ = (unsigned char)(lengths[i] & 0xff);
        *to++ = (unsigned char)(lengths[i] >> 8 & 0xff);
    }
    memcpy(to, text, n);
    to += n;
    const uint32_t tail[] = {crc, (uint32_t)n};
    for (size_t i = 0; i < 8; i++)
        *to++ = (unsigned char)(tail[i / 4] >> (8 * (i % 4)));
    *bytes = (size_t)(to - out);
    return (const char *)out;
}

static void llm_chat__whole_in_every_spelling__one_attempt(void **state)
{
    (void)state;
    for (size_t api = 0; api < MODEL_API_COUNT; api++) {
        struct talk talk;
        begin(&talk, api);
        const char *stream = fill(&talk, talk.api->stream, "llo");
        const char *crlf = replace(&talk, stream, "\n", "\r\n");
        const char *comments = replace(&talk, stream, "\n\n", "\n\n: OPENROUTER PROCESSING\n\n\n");
        size_t gzip_bytes = 0;
        const char *packed = gzip(&talk, stream, &gzip_bytes);
        const struct {
            const char *what;
            struct http_peer_step step;
        } cases[] = {
            {"stream", {.headers = "Content-Type: text/event-stream\r\n", .body = stream}},
            {"not streamed", {.body = fill(&talk, talk.api->json, "llo")}},
            {"CRLF", {.body = crlf}},
            {"comments", {.body = comments}},
            {"no space after the colon", {.body = replace(&talk, stream, "data: ", "data:")}},
            {"no end", {.body = replace(&talk, stream, talk.api->end, "")}},
            {"slow drip", {.body = fill(&talk, talk.api->json, "llo"), .drip_ms = 1}},
            {"left open", {.body = stream, .hold_open = true}},
            {"wrong content type", {.headers = "Content-Type: text/html\r\n", .body = stream}},
            {"compressed",
             {.headers = "Content-Encoding: gzip\r\n", .body = packed, .body_bytes = gzip_bytes}},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            start(&talk, &cases[i].step, 1, (struct llm_opts){0});
            ask(&talk, &hello);
            assert_reply(&talk, cases[i].what, 1);
            assert_int_equal(talk.reply.lost_tokens, 0);
            llm_close(&talk.llm);
            http_peer_stop(&talk.peer);
        }
        arena_free(&talk.arena);
    }
}

static void llm_chat__one_failure_that_passes__second_attempt(void **state)
{
    (void)state;
    for (size_t api = 0; api < MODEL_API_COUNT; api++) {
        struct talk talk;
        begin(&talk, api);
        const struct http_peer_step good = {.body = fill(&talk, talk.api->stream, "llo")};
        const char *cut = strstr(good.body, "he\"");
        const char *half = arena_strndup(&talk.arena, good.body, (size_t)(cut - good.body));
        const char *error = talk.api->error;
        const struct {
            const char *what;
            struct http_peer_step step;
            bool is_lost; /* it had begun to answer */
        } cases[] = {
            {"429", {.status = "429 Slow", .headers = "Retry-After: 0\r\n"}, false},
            {"408", {.status = "408 Timeout", .headers = FAST}, false},
            {"409", {.status = "409 Conflict", .headers = FAST}, false},
            {"500", {.status = "500 Oops", .headers = FAST, .body = "<html>"}, false},
            {"529",
             {.status = "529 Overloaded",
              .headers = FAST,
              .body = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}"},
             false},
            {"no answer", {.drop = true}, false},
            {"empty", {.headers = FAST}, false},
            {"cut in an event", {.headers = FAST, .body = half, .extra_declared = 99}, true},
            {"ends in an event", {.headers = FAST, .body = half}, true},
            {"ends in a character", {.headers = FAST, .body = talk.api->part}, true},
            {"error first", {.headers = FAST, .body = error}, true},
            {"malformed", {.headers = FAST, .body = "data: {\"choices\":[}\n\n"}, true},
            {"a page", {.headers = FAST "Content-Type: text/html\r\n", .body = "<html>"}, true},
            {"null", {.headers = FAST, .body = "data: null\n\n"}, true},
            {"no reply", {.headers = FAST, .body = "{\"object\":\"list\"}"}, true},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const struct http_peer_step steps[] = {cases[i].step, good};
            start(&talk, steps, 2, (struct llm_opts){0});
            ask(&talk, &hello);
            assert_reply(&talk, cases[i].what, 2);
            if ((talk.reply.lost_tokens > 0) != cases[i].is_lost)
                fail_msg("%s, %s: %lld lost", talk.api->dialect, cases[i].what,
                         (long long)talk.reply.lost_tokens);
            llm_close(&talk.llm);
            http_peer_stop(&talk.peer);
        }
        arena_free(&talk.arena);
    }
}

static void llm_chat__error_in_mid_stream__asked_again_without_what_came_before(void **state)
{
    (void)state;
    for (size_t api = 0; api < MODEL_API_COUNT; api++) {
        struct talk talk;
        begin(&talk, api);
        const char *good = fill(&talk, talk.api->stream, "llo");
        const char *after = strstr(strstr(good, "he\""), "\n\n") + 2;
        const char *begun = arena_strndup(&talk.arena, good, (size_t)(after - good));
        const struct http_peer_step steps[] = {
            {.headers = FAST, .body = arena_printf(&talk.arena, "%s%s", begun, talk.api->error)},
            {.body = good}};
        start(&talk, steps, 2, (struct llm_opts){0});
        ask(&talk, &hello);
        assert_reply(&talk, "error in mid-stream", 2);
        assert_true(talk.reply.lost_tokens > 0);
        stop(&talk);
    }
}

static void llm_chat__cut_off_at_the_cap__a_problem_that_can_be_repaired(void **state)
{
    (void)state;
    for (size_t api = 0; api < MODEL_API_COUNT; api++) {
        struct talk talk;
        begin(&talk, api);
        const struct http_peer_step step = {.body = fill(&talk, talk.api->length, "a thought")};
        start(&talk, &step, 1, (struct llm_opts){0});
        ask(&talk, &hello);
        assert_true(talk.ok);
        assert_string_equal(talk.reply.finish_reason, "length");
        assert_string_equal(talk.reply.text, "half a thought");
        assert_non_null(strstr(talk.reply.problem, "cut off at 7 tokens"));
        assert_true(talk.reply.is_repairable);
        stop(&talk);
    }
}

static void llm_chat__hopeless__one_attempt_and_the_right_kind(void **state)
{
    static const struct {
        struct http_peer_step step;
        enum err_kind kind;
        const char *hint;
    } cases[] = {
        {{.status = "302 Found", .headers = "Location: /elsewhere\r\n"},
         ERR_NETWORK,
         "redirects are not followed"},
        {{.status = "402 Payment", .headers = FAST "x-should-retry: true\r\n"},
         ERR_BUDGET,
         "no credit"},
        {{.status = "429 Slow",
          .headers = FAST,
          .body = "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"\"}}"},
         ERR_BUDGET,
         "no credit"},
        {{.status = "400 Bad",
          .body = "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                  "\"Your credit balance is too low to access the API\"}}"},
         ERR_BUDGET,
         "no credit"},
        {{.status = "400 Bad",
          .body = "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                  "\"prompt is too long: 212345 tokens > 200000 maximum\"}}"},
         ERR_LIMIT,
         "the prompt has 212345 tokens, the server takes 200000"},
        {{.status = "400 Bad",
          .body = "{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"This model's "
                  "maximum context length is 4097 tokens. However, your messages resulted in 5012 "
                  "tokens.\"}}"},
         ERR_LIMIT,
         "the prompt has 5012 tokens, the server takes 4097"},
        {{.status = "400 Bad",
          .body = "{\"object\":\"error\",\"message\":\"This model's maximum context length is 4096 "
                  "tokens. However, you requested 5000 tokens (3000 in the messages, 2000 in the "
                  "completion).\"}"},
         ERR_LIMIT,
         "the prompt has 5000 tokens, the server takes 4096"},
        {{.status = "500 Oops",
          .body = "{\"error\":{\"message\":\"the request (9000 tokens) exceeds the available "
                  "context size (4096 tokens), try increasing it\"}}"},
         ERR_LIMIT,
         "the prompt has 9000 tokens, the server takes 4096"},
        {{.status = "401 Unauthorized",
          .body = "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\"}}"},
         ERR_NETWORK,
         "set $KOPE_TEST_NO_KEY to a key"},
        {{.headers = "Content-Encoding: rot13\r\n", .body = "uryyb"}, ERR_NETWORK, ""},
    };
    (void)state;
    for (size_t api = 0; api < MODEL_API_COUNT; api++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct talk talk;
            begin(&talk, api);
            start(&talk, &cases[i].step, 1, (struct llm_opts){0});
            ask(&talk, &hello);
            if (talk.ok || talk.err.kind != cases[i].kind || !strstr(talk.err.hint, cases[i].hint))
                fail_msg("%s, case %zu: %s (%s)", talk.api->dialect, i, talk.err.message,
                         talk.err.hint);
            assert_int_equal(atomic_load(&talk.peer.request_count), 1);
            stop(&talk);
        }
    }
}

/* Many calls in a row, each with its own text, over a server that fails more often than not. */
static void llm_chat__many_calls_over_chaos__nothing_lost_nothing_doubled(void **state)
{
    enum { CALLS = 16, MOST_STEPS = 200 };
    (void)state;
    for (size_t api = 0; api < MODEL_API_COUNT; api++) {
        struct talk talk;
        struct http_peer_step steps[MOST_STEPS];
        size_t count = 0;
        struct rng rng = rng_seeded(20 + api);
        begin(&talk, api);
        for (int call = 0; call < CALLS; call++) {
            for (uint64_t failures = rng_below(&rng, 4); failures > 0; failures--) {
                const struct http_peer_step kinds[] = {
                    {.status = "429 Slow", .headers = FAST},
                    {.status = "503 Busy", .headers = FAST},
                    {.headers = FAST, .extra_declared = 9},
                    {.headers = FAST, .body = talk.api->part},
                    {.headers = FAST, .body = talk.api->part, .extra_declared = 500},
                    {.headers = FAST, .body = talk.api->error},
                    {.headers = FAST, .body = "{\"nonsense\":"},
                };
                steps[count++] = kinds[rng_below(&rng, sizeof kinds / sizeof *kinds)];
            }
            const char *text = arena_printf(&talk.arena, "llo %d", call);
            steps[count++] = (struct http_peer_step){
                .body =
                    fill(&talk, rng_below(&rng, 3) == 0 ? talk.api->json : talk.api->stream, text)};
        }
        start(&talk, steps, count, (struct llm_opts){0});
        int64_t input = 0;
        int64_t output = 0;
        size_t attempts = 0;
        for (int call = 0; call < CALLS; call++) {
            ask(&talk, &hello);
            if (!talk.ok)
                fail_msg("%s, call %d: %s", talk.api->dialect, call, talk.err.message);
            assert_string_equal(talk.reply.text, arena_printf(&talk.arena, "hello %d", call));
            input += talk.reply.usage.input_tokens;
            output += talk.reply.usage.output_tokens;
            attempts += (size_t)talk.reply.attempts;
        }
        assert_int_equal(attempts, atomic_load(&talk.peer.request_count));
        assert_int_equal(attempts, count);
        assert_int_equal(input, CALLS * INPUT_TOKENS);
        assert_int_equal(output, CALLS * OUTPUT_TOKENS);
        stop(&talk);
    }
}

static void llm_chat__huge_reply__limit(void **state)
{
    (void)state;
    for (size_t api = 0; api < MODEL_API_COUNT; api++) {
        struct talk talk;
        begin(&talk, api);
        char *text = arena_alloc(&talk.arena, 5001);
        memset(text, 'x', 5000);
        const struct http_peer_step steps[] = {{.body = fill(&talk, talk.api->stream, text)},
                                               {.body = fill(&talk, talk.api->json, text)}};
        start(&talk, steps, 2, (struct llm_opts){.reply_limit_bytes = 4096});
        for (int i = 0; i < 2; i++) {
            ask(&talk, &hello);
            assert_false(talk.ok);
            assert_int_equal(talk.err.kind, ERR_LIMIT);
        }
        assert_int_equal(atomic_load(&talk.peer.request_count), 2);
        stop(&talk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llm_chat__whole_in_every_spelling__one_attempt),
        cmocka_unit_test(llm_chat__one_failure_that_passes__second_attempt),
        cmocka_unit_test(llm_chat__error_in_mid_stream__asked_again_without_what_came_before),
        cmocka_unit_test(llm_chat__cut_off_at_the_cap__a_problem_that_can_be_repaired),
        cmocka_unit_test(llm_chat__hopeless__one_attempt_and_the_right_kind),
        cmocka_unit_test(llm_chat__many_calls_over_chaos__nothing_lost_nothing_doubled),
        cmocka_unit_test(llm_chat__huge_reply__limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
