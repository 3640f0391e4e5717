/* The parts of an exchange one by one: reader, waits, faults, providers, secrets, replay. */
#include "base/arena.h"
#include "base/str.h"
#include "llm/dialect.h"
#include "llm/endpoint.h"
#include "llm/llm.h"
#include "llm/peer_error.h"
#include "llm/reply_reader.h"
#include "llm/retry.h"
#include "llm/secret.h"
#include "os/file.h"
#include "os/os.h"

#include "../peers/http_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char stream[] =
    "\xef\xbb\xbf: comment\r\n\r\n"
    "data: {\"id\":\"i\",\"choices\":[{\"delta\":{\"content\":\"a\\u00e9\"}}]}\r\n\r\n"
    "event: message\rdata: {\"choices\":[{\"delta\":{\"content\":\r"
    "data:[{\"type\":\"text\",\"text\":\"b\"}]},\"finish_reason\":\"stop\"}]}\r\r"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,"
    "\"prompt_cache_hit_tokens\":4}}\n\n"
    "data:[DONE]\n\ndata: garbage after the end\n\n";

static void reply_reader__any_split_of_the_bytes__same_reply(void **state)
{
    const size_t length = sizeof stream - 1;
    (void)state;
    for (size_t split = 0; split <= length; split++) {
        CLEANUP(arena_free) struct arena arena = {0};
        CLEANUP(reply_reader_free) struct reply_reader reader;
        reply_reader_init(&reader, dialect_by_name("deepseek"), 1000, &arena);
        assert_true(reply_reader_feed(&reader, 200, stream, split));
        assert_true(reply_reader_feed(&reader, 200, stream + split, length - split));
        reply_reader_finish(&reader);
        assert_true(reply_reader_is_whole(&reader));
        assert_true(reader.is_done);
        assert_string_equal(buf_text(&reader.text), "a\xc3\xa9"
                                                    "b");
        assert_string_equal(reader.finish_reason, "stop");
        assert_string_equal(reader.id, "i");
        assert_int_equal(reader.counts.input, 5);
        assert_int_equal(reader.counts.cached, 4);
    }
}

static void reply_reader__cut_anywhere_before_the_end__not_whole(void **state)
{
    const size_t end = (size_t)(strstr(stream, "\"finish_reason\"") - stream);
    (void)state;
    for (size_t cut = 0; cut <= end; cut++) {
        CLEANUP(arena_free) struct arena arena = {0};
        CLEANUP(reply_reader_free) struct reply_reader reader;
        reply_reader_init(&reader, dialect_by_name("deepseek"), 1000, &arena);
        (void)reply_reader_feed(&reader, 200, stream, cut);
        reply_reader_finish(&reader);
        assert_false(reply_reader_is_whole(&reader));
    }
}

static void retry_wait__doubles_to_eight_seconds_less_a_quarter(void **state)
{
    static const double most_s[] = {0.5, 1, 2, 4, 8, 8, 8, 8, 8, 8, 8, 8};
    struct rng rng = rng_seeded(7);
    (void)state;
    for (int attempt = 0; attempt < 12; attempt++) {
        for (int i = 0; i < 50; i++) {
            const double wait_s = (double)retry_wait_ns(attempt, -1, &rng) / 1e9;
            assert_true(wait_s <= most_s[attempt] && wait_s >= 0.749 * most_s[attempt]);
        }
    }
    assert_int_equal(retry_wait_ns(3, 12345, &rng), 12345);
}

static void peer_error_classify__by_status_words_and_the_peers_word(void **state)
{
    static const struct {
        long status;
        const char *code, *message;
        int should_retry;
        enum peer_fault fault;
    } cases[] = {
        {408, "", "", -1, PEER_FAULT_TRANSIENT},
        {409, "", "", -1, PEER_FAULT_TRANSIENT},
        {429, "", "", -1, PEER_FAULT_TRANSIENT},
        {500, "", "", -1, PEER_FAULT_TRANSIENT},
        {529, "", "", -1, PEER_FAULT_TRANSIENT},
        {500, "", "", 0, PEER_FAULT_REQUEST},
        {400, "", "", -1, PEER_FAULT_REQUEST},
        {400, "", "", 1, PEER_FAULT_TRANSIENT},
        {404, "", "", -1, PEER_FAULT_REQUEST},
        {302, "", "", -1, PEER_FAULT_REQUEST},
        {401, "", "", -1, PEER_FAULT_KEY},
        {403, "", "", -1, PEER_FAULT_KEY},
        {402, "", "", 1, PEER_FAULT_QUOTA},
        {429, "insufficient_quota", "", 1, PEER_FAULT_QUOTA},
        {400, "context_length_exceeded", "", -1, PEER_FAULT_OVERFLOW},
        {500, "", "This model's Maximum Context Length is 8", 1, PEER_FAULT_OVERFLOW},
        {0, "", "who knows", -1, PEER_FAULT_TRANSIENT},
        {0, "invalid_request_error", "", -1, PEER_FAULT_REQUEST},
        {0, "overloaded_error", "", -1, PEER_FAULT_TRANSIENT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct peer_error error = {.is_set = true,
                                         .status = cases[i].status,
                                         .code = cases[i].code,
                                         .type = "",
                                         .message = cases[i].message};
        if (peer_error_classify(&error, cases[i].should_retry) != cases[i].fault)
            fail_msg("case %zu", i);
    }
}

static void peer_text_line__bytes_from_outside__one_short_line(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    assert_string_equal(peer_text_line("a\nb\x1b[2J", 100, &arena), "a b [2J");
    assert_string_equal(peer_text_line("\xc3\xa9\xc3\xa9", 3, &arena), "\xc3\xa9...");
    assert_string_equal(peer_text_line("abc", 3, &arena), "abc");
}

static void dialect_by_host__a_row_or_other(void **state)
{
    (void)state;
    assert_string_equal(dialect_by_host("API.openai.com")->max_tokens_field,
                        "max_completion_tokens");
    assert_string_equal(dialect_by_host("api.deepseek.com")->name, "deepseek");
    assert_string_equal(dialect_by_host("openrouter.ai")->key_variable, "OPENROUTER_API_KEY");
    assert_string_equal(dialect_by_host("api.openai.com.evil.example")->name, "other");
    assert_string_equal(dialect_by_host("localhost")->max_tokens_field, "max_tokens");
}

static void endpoint_parse__loopback_is_told_from_what_looks_like_it(void **state)
{
    static const struct {
        const char *base_url, *url;
        bool is_loopback;
    } cases[] = {
        {"http://localhost:8080/v1/", "http://localhost:8080/v1/chat/completions", true},
        {"http://127.1.2.3", "http://127.1.2.3/chat/completions", true},
        {"http://[::1]:11434/v1", "http://[::1]:11434/v1/chat/completions", true},
        {"http://127.example.org/v1", "http://127.example.org/v1/chat/completions", false},
        {"https://localhost.example.org", "https://localhost.example.org/chat/completions", false},
    };
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct endpoint endpoint;
        struct err err;
        assert_true(endpoint_parse(cases[i].base_url, &arena, &endpoint, &err));
        assert_string_equal(endpoint_url(&endpoint, "/chat/completions", &arena), cases[i].url);
        assert_int_equal(endpoint.is_loopback, cases[i].is_loopback);
    }
}

static void secret_redact__every_occurrence_but_no_placeholders(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    assert_string_equal(secret_redact("12345678", "12345678x1234567812345678", &arena),
                        "[key]x[key][key]");
    assert_string_equal(secret_redact("none", "none of it", &arena), "none of it");
    assert_string_equal(secret_redact(NULL, "text", &arena), "text");
}

#define OK_JSON "{\"choices\":[{\"message\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}"

/* The header that a server at $OPENAI_BASE_URL sees with the default variable. */
static void llm_chat__defaults_from_the_environment(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(llm_close) struct llm *llm = NULL;
    const struct http_peer_step steps[] = {{.body = OK_JSON}};
    struct http_peer peer = {.steps = steps, .step_count = 1};
    const struct llm_message message = {.role = "user", .text = "hello"};
    const struct llm_request request = {.messages = &message, .count = 1};
    struct llm_reply reply;
    struct err err;
    (void)state;
    http_peer_start(&peer);
    assert_int_equal(setenv("OPENAI_BASE_URL", peer.url, 1), 0);
    assert_true(llm_open(&(struct llm_opts){.model = "m"}, &llm, &err));
    assert_int_equal(setenv("OPENAI_API_KEY", "sk-read-when-called", 1), 0);
    assert_true(llm_chat(llm, &request, &arena, &reply, &err));
    assert_int_equal(unsetenv("OPENAI_API_KEY"), 0);
    assert_int_equal(unsetenv("OPENAI_BASE_URL"), 0);
    assert_non_null(strstr(peer.requests[0], "Bearer sk-read-when-called\r\n"));
    http_peer_stop(&peer);
}

static void llm_chat__replay__answers_in_order_then_an_error(void **state)
{
    static const char lines[] = "{\"content\":\"one\",\"finish_reason\":\"length\",\"usage\":"
                                "{\"input_tokens\":7,\"output_tokens\":3}}\n\n"
                                "{\"content\":\"two\"}\n{\"text\":\"no content\"}\nnot json";
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(llm_close) struct llm *llm = NULL;
    const struct llm_message message = {.role = "user", .text = "hello"};
    const struct llm_request request = {.messages = &message, .count = 1};
    struct llm_reply reply;
    struct err err = {0};
    char *dir = NULL;
    (void)state;
    assert_true(os_make_temp_dir("kope-llm", &arena, &dir, &err));
    const char *path = os_path_join(&arena, dir, "replies.jsonl");
    assert_true(os_write_file(path, lines, strlen(lines), false, &err));
    const struct llm_opts opts = {.dialect = "replay", .base_url = path, .model = "m"};
    assert_true(llm_open(&opts, &llm, &err));
    assert_true(os_remove_tree(dir, &err));
    assert_true(llm_chat(llm, &request, &arena, &reply, &err));
    assert_string_equal(reply.text, "one");
    assert_string_equal(reply.finish_reason, "length");
    assert_int_equal(reply.usage.output_tokens, 3);
    assert_false(reply.usage.is_estimate);
    assert_true(llm_chat(llm, &request, &arena, &reply, &err));
    assert_string_equal(reply.text, "two");
    assert_true(reply.usage.is_estimate);
    assert_false(llm_chat(llm, &request, &arena, &reply, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
    assert_false(llm_chat(llm, &request, &arena, &reply, &err));
    assert_non_null(strstr(err.message, "line 5"));
    assert_false(llm_chat(llm, &request, &arena, &reply, &err));
    assert_non_null(strstr(err.message, "no more replies"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reply_reader__any_split_of_the_bytes__same_reply),
        cmocka_unit_test(reply_reader__cut_anywhere_before_the_end__not_whole),
        cmocka_unit_test(retry_wait__doubles_to_eight_seconds_less_a_quarter),
        cmocka_unit_test(peer_error_classify__by_status_words_and_the_peers_word),
        cmocka_unit_test(peer_text_line__bytes_from_outside__one_short_line),
        cmocka_unit_test(dialect_by_host__a_row_or_other),
        cmocka_unit_test(endpoint_parse__loopback_is_told_from_what_looks_like_it),
        cmocka_unit_test(secret_redact__every_occurrence_but_no_placeholders),
        cmocka_unit_test(llm_chat__defaults_from_the_environment),
        cmocka_unit_test(llm_chat__replay__answers_in_order_then_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
