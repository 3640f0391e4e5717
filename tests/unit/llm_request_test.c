/* What is sent in each dialect, what it may cost before it is sent, and what it did cost. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "llm/llm.h"
#include "os/os.h"
#include "json/json.h"

#include "../peers/http_peer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KEY "sk-test-0123456789abcdef"
#define KEY_VARIABLE "KOPE_TEST_KEY"
#define FAST "retry-after-ms: 1\r\n"
#define SCHEMA "{\"type\":\"object\",\"additionalProperties\":false}"
#define CHAT(text, usage)                                                                          \
    "{\"choices\":[{\"message\":{\"content\":\"" text "\"},\"finish_reason\":\"stop\"}],"          \
    "\"usage\":" usage "}"
#define MESSAGE(text, usage)                                                                       \
    "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],"               \
    "\"stop_reason\":\"end_turn\",\"usage\":" usage "}"
#define RESPONSE(text)                                                                             \
    "{\"status\":\"completed\",\"output\":[{\"content\":[{\"type\":\"output_text\",\"text\":"      \
    "\"" text "\"}]}],\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}"

static const struct llm_message prompt[] = {
    {.role = "system", .text = "Be brief. ", .cache = LLM_CACHE_LONG},
    {.role = "user", .text = "The machine. ", .cache = LLM_CACHE_LONG},
    {.role = "user", .text = "The task. ", .cache = LLM_CACHE_SHORT},
    {.role = "user", .text = ""},
    {.role = "user", .text = "Go on."},
};
static const struct llm_request ask_prompt = {.messages = prompt, .count = 5};

struct talk {
    struct http_peer peer;
    struct arena arena;
    struct llm *llm;
    struct llm_reply reply;
    struct err err;
};

static void open_talk(struct talk *talk, const struct http_peer_step *steps, size_t count,
                      struct llm_opts opts)
{
    *talk = (struct talk){.peer = {.steps = steps, .step_count = count}};
    http_peer_start(&talk->peer);
    opts.base_url = talk->peer.url;
    opts.model = "m";
    opts.key_variable = opts.key_variable ? opts.key_variable : KEY_VARIABLE;
    if (!llm_open(&opts, &talk->llm, &talk->err))
        fail_msg("%s", talk->err.message);
}

static void close_talk(struct talk *talk)
{
    llm_close(&talk->llm);
    http_peer_stop(&talk->peer);
    arena_free(&talk->arena);
}

static void ask(struct talk *talk, const struct llm_request *request)
{
    if (!llm_chat(talk->llm, request, &talk->arena, &talk->reply, &talk->err))
        fail_msg("%s (%s)", talk->err.message, talk->err.hint);
}

static bool is_refused(struct talk *talk, const struct llm_request *request, enum err_kind kind)
{
    talk->err = (struct err){0};
    return !llm_chat(talk->llm, request, &talk->arena, &talk->reply, &talk->err) &&
           talk->err.kind == kind;
}

/* The body of the last request that the peer got. */
static const char *asked(const struct talk *talk)
{
    const size_t count = atomic_load(&talk->peer.request_count);
    assert_true(count > 0);
    return strstr(talk->peer.requests[count - 1], "\r\n\r\n") + 4;
}

static void assert_asked(const struct talk *talk, const char *want)
{
    if (!strstr(asked(talk), want))
        fail_msg("no %s in %s", want, asked(talk));
}

static void llm_chat__chat__parts_of_one_role_are_one_message(void **state)
{
    struct talk talk;
    const struct http_peer_step step = {
        .body = CHAT("{}", "{\"prompt_tokens\":9,\"completion_tokens\":1}")};
    (void)state;
    open_talk(&talk, &step, 1,
              (struct llm_opts){.dialect = "openai",
                                .effort = "low",
                                .has_temperature = true,
                                .temperature = 0.5,
                                .max_output_tokens = 100});
    struct llm_request request = ask_prompt;
    request.schema_name = "answer";
    request.schema_json = SCHEMA;
    request.max_output_tokens = 20;
    ask(&talk, &request);
    assert_string_equal(
        asked(&talk),
        "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief. \"},{\"role\":"
        "\"user\",\"content\":\"The machine. The task. Go on.\"}],\"response_format\":{\"type\":"
        "\"json_schema\",\"json_schema\":{\"name\":\"answer\",\"schema\":" SCHEMA
        ",\"strict\":true}},\"max_completion_tokens\":20,\"temperature\":0.5,\"reasoning_effort\":"
        "\"low\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
    assert_int_equal(strlen(talk.reply.prefix_hash), 32);
    close_talk(&talk);
}

static void llm_chat__responses__instructions_and_input(void **state)
{
    struct talk talk;
    const struct http_peer_step step = {.body = RESPONSE("{}")};
    (void)state;
    open_talk(&talk, &step, 1, (struct llm_opts){.dialect = "openai-responses", .effort = "high"});
    struct llm_request request = ask_prompt;
    request.schema_name = "answer";
    request.schema_json = SCHEMA;
    ask(&talk, &request);
    assert_string_equal(
        asked(&talk),
        "{\"model\":\"m\",\"instructions\":\"Be brief. "
        "\",\"input\":[{\"role\":\"user\",\"content\":"
        "\"The machine. The task. Go on.\"}],\"text\":{\"format\":{\"type\":\"json_schema\","
        "\"name\":\"answer\",\"schema\":" SCHEMA ",\"strict\":true}},\"max_output_tokens\":8192,"
        "\"reasoning\":{\"effort\":\"high\"},\"store\":false,\"stream\":true}");
    close_talk(&talk);
}

static void llm_chat__anthropic__blocks_marks_and_headers(void **state)
{
    struct talk talk;
    const struct http_peer_step step = {
        .body = MESSAGE("{}", "{\"input_tokens\":9,\"output_tokens\":1}")};
    (void)state;
    open_talk(&talk, &step, 1,
              (struct llm_opts){.dialect = "anthropic", .thinking_tokens = 2048, .effort = "low"});
    struct llm_request request = ask_prompt;
    request.schema_name = "answer";
    request.schema_json = SCHEMA;
    ask(&talk, &request);
    assert_string_equal(
        asked(&talk),
        "{\"model\":\"m\",\"system\":[{\"type\":\"text\",\"text\":\"Be brief. \",\"cache_control\":"
        "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}],\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"text\",\"text\":\"The machine. \",\"cache_control\":{\"type\":\"ephemeral\","
        "\"ttl\":\"1h\"}},{\"type\":\"text\",\"text\":\"The task. \",\"cache_control\":{\"type\":"
        "\"ephemeral\"}},{\"type\":\"text\",\"text\":\"Go on.\"}]}],\"output_config\":{\"effort\":"
        "\"low\",\"format\":{\"type\":\"json_schema\",\"schema\":" SCHEMA "}},\"thinking\":{"
        "\"type\":\"enabled\",\"budget_tokens\":2048},\"max_tokens\":8192,\"stream\":true}");
    const char *head = talk.peer.requests[0];
    assert_non_null(strstr(head, "POST /v1/messages HTTP/1.1\r\n"));
    assert_non_null(strstr(head, "x-api-key: " KEY "\r\n"));
    assert_non_null(strstr(head, "anthropic-version: 2023-06-01\r\n"));
    assert_null(strstr(head, "Authorization"));
    assert_null(strstr(head, "temperature"));
    close_talk(&talk);
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *hit = strstr(text, what); hit; hit = strstr(hit + 1, what))
        count++;
    return count;
}

static void llm_chat__six_marks__the_last_four_and_none_for_long_after_short(void **state)
{
    struct talk talk;
    struct llm_message many[6];
    const struct http_peer_step step = {
        .body = MESSAGE("ok", "{\"input_tokens\":9,\"output_tokens\":1}")};
    (void)state;
    for (size_t i = 0; i < 6; i++)
        many[i] = (struct llm_message){
            .role = "user", .text = "part", .cache = i == 3 ? LLM_CACHE_SHORT : LLM_CACHE_LONG};
    open_talk(&talk, &step, 1, (struct llm_opts){.dialect = "anthropic"});
    ask(&talk, &(struct llm_request){.messages = many, .count = 6});
    assert_int_equal(count_of(asked(&talk), "cache_control"), 4);
    assert_int_equal(count_of(asked(&talk), "\"ttl\":\"1h\""), 1); /* only part 2 */
    close_talk(&talk);
}

static void llm_chat__thinking__comes_back_as_it_came(void **state)
{
    struct talk talk;
    static const char stream[] =
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,"
        "\"output_tokens\":1}}}\n\n"
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
        "\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n"
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\","
        "\"thinking\":\"let \\\"me\\\"\"}}\n\n"
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\","
        "\"thinking\":\" see\"}}\n\n"
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"signature_delta\","
        "\"signature\":\"c2ln\"}}\n\n"
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
        "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":"
        "\"redacted_thinking\",\"data\":\"b64\"}}\n\n"
        "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":"
        "\"\"}}\n\n"
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":"
        "\"done\"}}\n\n"
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
        "\"output_tokens\":30}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
    static const char blocks[] = "{\"type\":\"thinking\",\"thinking\":\"let \\\"me\\\" see\","
                                 "\"signature\":\"c2ln\"},{\"type\":\"redacted_thinking\",\"data\":"
                                 "\"b64\"}";
    const struct http_peer_step step = {.body = stream};
    (void)state;
    open_talk(&talk, &step, 1, (struct llm_opts){.dialect = "anthropic", .thinking_tokens = 1024});
    ask(&talk, &ask_prompt);
    assert_string_equal(talk.reply.text, "done");
    assert_int_equal(talk.reply.usage.output_tokens, 30);
    assert_string_equal(talk.reply.thinking_json, arena_printf(&talk.arena, "[%s]", blocks));
    const struct llm_message next[] = {
        {.role = "user", .text = "Go on."},
        {.role = "assistant", .text = "done", .thinking_json = talk.reply.thinking_json},
        {.role = "user", .text = "Again."}};
    ask(&talk, &(struct llm_request){.messages = next, .count = 3});
    assert_asked(&talk, arena_printf(&talk.arena,
                                     "{\"role\":\"assistant\",\"content\":[%s,{\"type\":\"text\","
                                     "\"text\":\"done\"}]}",
                                     blocks));
    close_talk(&talk);
}

static void llm_chat__schema__as_strictly_as_the_dialect_can(void **state)
{
    static const struct {
        const char *dialect, *want;
    } cases[] = {
        {"vllm", "\"type\":\"json_schema\""},       {"llama.cpp", "\"type\":\"json_schema\""},
        {"ollama", "\"type\":\"json_schema\""},     {"deepseek", "{\"type\":\"json_object\"}"},
        {"openrouter", "\"type\":\"json_schema\""}, {"zai", "{\"type\":\"json_object\"}"},
    };
    const struct http_peer_step step = {
        .body = CHAT("{}", "{\"prompt_tokens\":9,\"completion_tokens\":1}")};
    struct llm_request request = ask_prompt;
    request.schema_name = "answer";
    request.schema_json = SCHEMA;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct talk talk;
        open_talk(&talk, &step, 1, (struct llm_opts){.dialect = cases[i].dialect});
        ask(&talk, &request);
        assert_asked(&talk, cases[i].want);
        assert_asked(&talk, "\"max_tokens\":");
        close_talk(&talk);
    }
}

static void llm_chat__schema_refused__next_best_and_remembered(void **state)
{
    struct talk talk;
    static const char no[] = "{\"error\":{\"message\":\"response_format is not supported\"}}";
    const struct http_peer_step steps[] = {
        {.status = "400 Bad", .body = no},
        {.status = "422 Bad", .body = no},
        {.body = CHAT("{}", "{\"prompt_tokens\":9,\"completion_tokens\":1}")}};
    struct llm_request request = ask_prompt;
    request.schema_name = "answer";
    request.schema_json = SCHEMA;
    (void)state;
    open_talk(&talk, steps, 3, (struct llm_opts){.dialect = "other", .retries = -1});
    ask(&talk, &request);
    assert_non_null(strstr(talk.peer.requests[1], "{\"type\":\"json_object\"}"));
    assert_null(strstr(asked(&talk), "response_format"));
    ask(&talk, &request);
    assert_int_equal(atomic_load(&talk.peer.request_count), 4);
    close_talk(&talk);
}

static void llm_chat__schema__reply_in_a_fence_or_not_json(void **state)
{
    static const struct {
        const char *content, *text, *problem;
    } cases[] = {
        {"```json\\n{\\\"a\\\":1}\\n```", "\n{\"a\":1}\n", NULL},
        {"<think>hm</think>\\n{}", "{}", NULL},
        {"{\\\"a\\\":", "{\"a\":", "not valid JSON"},
        {"Sure! Here it is", "Sure! Here it is", "not valid JSON"},
        {"  ", "", "empty"},
    };
    struct llm_request request = ask_prompt;
    request.schema_name = "answer";
    request.schema_json = SCHEMA;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct talk talk;
        const char *format = CHAT("%s", "{\"prompt_tokens\":9,\"completion_tokens\":1}");
        const char *hole = strstr(format, "%s");
        char body[512];
        (void)snprintf(body, sizeof body, "%.*s%s%s", (int)(hole - format), format,
                       cases[i].content, hole + 2);
        const struct http_peer_step step = {.body = body};
        open_talk(&talk, &step, 1, (struct llm_opts){.dialect = "other"});
        ask(&talk, &request);
        if (!cases[i].problem)
            assert_null(talk.reply.problem);
        else
            assert_non_null(strstr(talk.reply.problem, cases[i].problem));
        assert_int_equal(talk.reply.is_repairable, cases[i].problem != NULL);
        assert_string_equal(talk.reply.text, cases[i].text);
        close_talk(&talk);
    }
}

static void llm_chat__counts_of_each_dialect__one_usage(void **state)
{
    static const struct {
        const char *dialect, *body;
        struct llm_usage usage;
        double usd; /* -1: prices decide */
    } cases[] = {
        {"openai",
         CHAT("x", "{\"prompt_tokens\":100,\"completion_tokens\":20,\"prompt_tokens_details\":{"
                   "\"cached_tokens\":60},\"completion_tokens_details\":{\"reasoning_tokens\":8}}"),
         {100, 60, 0, 20, 8, false},
         -1},
        {"deepseek",
         CHAT("x", "{\"prompt_tokens\":100,\"completion_tokens\":20,\"prompt_cache_hit_tokens\":64,"
                   "\"prompt_cache_miss_tokens\":36}"),
         {100, 64, 0, 20, 0, false},
         -1},
        {"openrouter",
         CHAT("x", "{\"prompt_tokens\":100,\"completion_tokens\":20,\"cost\":0.0123}"),
         {100, 0, 0, 20, 0, false},
         0.0123},
        {"llama.cpp",
         "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}],\"usage\":{"
         "\"prompt_tokens\":100,\"completion_tokens\":20},\"timings\":{\"cache_n\":90}}",
         {100, 90, 0, 20, 0, false},
         -1},
        {"anthropic",
         MESSAGE("x", "{\"input_tokens\":10,\"cache_creation_input_tokens\":30,"
                      "\"cache_read_input_tokens\":60,\"output_tokens\":20}"),
         {100, 60, 30, 20, 0, false},
         -1},
        {"other", /* nonsense is not believed */
         CHAT("x", "{\"prompt_tokens\":-5,\"completion_tokens\":1e30,\"cost\":-1}"),
         {0, 0, 0, 1, 0, true},
         -1},
    };
    const struct llm_prices prices = {
        .is_known = true, .input = 2.0, .cached_input = 0.5, .cache_write = 3.0, .output = 10.0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct talk talk;
        const struct http_peer_step step = {.body = cases[i].body};
        open_talk(&talk, &step, 1,
                  (struct llm_opts){.dialect = cases[i].dialect, .prices = prices});
        ask(&talk, &ask_prompt);
        const struct llm_usage *u = &talk.reply.usage;
        const struct llm_usage *want = &cases[i].usage;
        assert_int_equal(u->is_estimate, want->is_estimate);
        if (!want->is_estimate &&
            (u->input_tokens != want->input_tokens || u->cached_tokens != want->cached_tokens ||
             u->cache_write_tokens != want->cache_write_tokens ||
             u->output_tokens != want->output_tokens ||
             u->reasoning_tokens != want->reasoning_tokens))
            fail_msg("case %zu: %s", i, talk.reply.reply_json);
        const double fresh = (double)(u->input_tokens - u->cached_tokens - u->cache_write_tokens);
        const double usd = (2.0 * fresh + 0.5 * (double)u->cached_tokens +
                            3.0 * (double)u->cache_write_tokens + 10.0 * (double)u->output_tokens) /
                           1e6;
        assert_true(talk.reply.is_cost_known);
        assert_true(fabs(talk.reply.cost_usd - (cases[i].usd >= 0 ? cases[i].usd : usd)) < 1e-12);
        close_talk(&talk);
    }
}

static void llm_chat__budget_of_tokens__kept_before_the_call_and_between_attempts(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {{.headers = FAST, .body = "data: {\"choices\":[{\n\n"}};
    (void)state;
    open_talk(&talk, steps, 1, (struct llm_opts){.dialect = "other", .max_output_tokens = 100});
    const int64_t bytes = (int64_t)strlen("Be brief. The machine. The task. Go on.") + 5 * 16;
    const int64_t bound = llm_bound(talk.llm, &ask_prompt).input_tokens;
    struct llm_budget budget = {.tokens = bound + 99, .usd = -1.0};
    struct llm_request request = ask_prompt;
    request.budget = &budget;
    assert_true(is_refused(&talk, &request, ERR_BUDGET));
    assert_int_equal(atomic_load(&talk.peer.request_count), 0);
    assert_non_null(strstr(talk.err.message, "may take"));
    /* One attempt fits; what it may have cost leaves no room for another. */
    budget.tokens = bytes + 100;
    assert_true(is_refused(&talk, &request, ERR_BUDGET));
    assert_int_equal(atomic_load(&talk.peer.request_count), 1);
    assert_non_null(strstr(talk.err.message, "after 1 attempts"));
    budget.tokens = 0;
    assert_true(is_refused(&talk, &request, ERR_BUDGET));
    close_talk(&talk);
}

static void llm_chat__budget_of_money__needs_prices_and_is_kept(void **state)
{
    struct talk talk;
    const struct http_peer_step step = {
        .body = CHAT("x", "{\"prompt_tokens\":60,\"completion_tokens\":1}")};
    const struct llm_budget budget = {.tokens = -1, .usd = 0.001};
    struct llm_request request = ask_prompt;
    request.budget = &budget;
    (void)state;
    open_talk(&talk, &step, 1, (struct llm_opts){.dialect = "other", .max_output_tokens = 100});
    assert_true(is_refused(&talk, &request, ERR_BAD_INPUT));
    close_talk(&talk);
    struct llm_opts opts = {.dialect = "other",
                            .max_output_tokens = 100,
                            .prices = {.is_known = true, .input = 1.0, .output = 9.0}};
    open_talk(&talk, &step, 1, opts);
    assert_true(is_refused(&talk, &request, ERR_BUDGET)); /* 0.0009 of reply and 0.0001 of prompt */
    assert_non_null(strstr(talk.err.message, "may cost 0.001"));
    assert_int_equal(atomic_load(&talk.peer.request_count), 0);
    close_talk(&talk);
    opts.prices.output = 5.0;
    open_talk(&talk, &step, 1, opts);
    ask(&talk, &request);
    close_talk(&talk);
}

static void llm_chat__budget_near__asks_the_server_to_count(void **state)
{
    struct talk talk;
    const struct http_peer_step steps[] = {
        {.body = "{\"input_tokens\":12}"},
        {.body = MESSAGE("x", "{\"input_tokens\":12,\"output_tokens\":1}")}};
    const struct llm_budget budget = {.tokens = 112, .usd = -1.0};
    struct llm_request request = ask_prompt;
    request.budget = &budget;
    (void)state;
    open_talk(&talk, steps, 2, (struct llm_opts){.dialect = "anthropic", .max_output_tokens = 100});
    ask(&talk, &request);
    assert_non_null(strstr(talk.peer.requests[0], "POST /v1/messages/count_tokens "));
    assert_null(strstr(talk.peer.requests[0], "max_tokens"));
    assert_null(strstr(talk.peer.requests[0], "\"stream\""));
    close_talk(&talk);
}

static void llm_bound__learns_from_what_the_server_counts(void **state)
{
    struct talk talk;
    char long_text[4001];
    for (size_t i = 0; i < 4000; i++)
        long_text[i] = "test "[i % 5];
    long_text[4000] = '\0'; /* 800 words of 4 letters: estimated at 800 */
    const struct llm_message message = {.role = "user", .text = long_text};
    const struct llm_request one = {.messages = &message, .count = 1};
    const struct http_peer_step step = {
        .body = CHAT("ok", "{\"prompt_tokens\":1616,\"completion_tokens\":1}")};
    (void)state;
    open_talk(&talk, &step, 1, (struct llm_opts){.dialect = "other"});
    assert_int_equal(llm_bound(talk.llm, &one).input_tokens, 880 + 16);
    ask(&talk, &one);
    const struct llm_calibration learnt = llm_calibration(talk.llm);
    assert_int_equal(learnt.exchanges, 1);
    assert_true(fabs(learnt.mean_ratio - 2.02) < 1e-9);
    assert_true(fabs(learnt.worst_ratio - 2.0) < 1e-9);
    /* The same beginning: its count and the bytes of the rest. */
    const struct llm_message more[] = {
        message, {.role = "assistant", .text = "ok"}, {.role = "user", .text = "again"}};
    const struct llm_request longer = {.messages = more, .count = 3};
    assert_int_equal(llm_bound(talk.llm, &longer).input_tokens, 1616 + 7 + 2 * 16);
    /* Another text: twice the estimate, and a little. */
    long_text[0] = 'b';
    const int64_t bound = llm_bound(talk.llm, &one).input_tokens;
    assert_int_equal(bound, 1632 + 16);
    close_talk(&talk);
}

static void llm_chat__context_too_small__shorter_reply_or_limit(void **state)
{
    struct talk talk;
    const struct http_peer_step step = {
        .body = CHAT("ok", "{\"prompt_tokens\":60,\"completion_tokens\":1}")};
    (void)state;
    open_talk(
        &talk, &step, 1,
        (struct llm_opts){.dialect = "ollama", .max_output_tokens = 600, .context_tokens = 500});
    ask(&talk, &ask_prompt);
    const int64_t bound = 5 * 16 + 18; /* estimated at 16 */
    assert_asked(&talk, arena_printf(&talk.arena, "\"max_tokens\":%lld", (long long)(500 - bound)));
    close_talk(&talk);
    open_talk(
        &talk, &step, 1,
        (struct llm_opts){.dialect = "ollama", .max_output_tokens = 290, .context_tokens = 300});
    assert_true(is_refused(&talk, &ask_prompt, ERR_LIMIT));
    assert_non_null(strstr(talk.err.message, "takes 300 with its reply"));
    assert_int_equal(atomic_load(&talk.peer.request_count), 0);
    close_talk(&talk);
}

/* The key in every place where a peer can put it. */
static void llm_chat__key_echoed__replaced_in_pieces_escapes_and_names(void **state)
{
    static const char stream[] =
        "data: {\"id\":\"" KEY KEY KEY KEY KEY KEY "\",\"choices\":[{\"delta\":{\"content\":"
        "\"a sk-test-0123\"}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\"456789abcd\"}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\"\\u0065f b\"},\"finish_reason\":\"" KEY
        "\"}]}\n\ndata: [DONE]\n\n";
    static const char message[] =
        "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"thinking\","
        "\"thinking\":\"" KEY "\",\"signature\":\"s\"}}\n\n"
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":"
        "\"" KEY "\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
    struct talk talk;
    const struct http_peer_step chat = {.headers = "X-Echo: " KEY "\r\n", .body = stream};
    const struct http_peer_step anthropic = {.body = message};
    const struct http_peer_step page = {.status = "404 " KEY, .body = "no " KEY " here"};
    (void)state;
    open_talk(&talk, &chat, 1, (struct llm_opts){.dialect = "other"});
    const struct llm_message leak = {.role = "user", .text = "my key is " KEY};
    ask(&talk, &(struct llm_request){.messages = &leak, .count = 1});
    assert_string_equal(talk.reply.text, "a [key] b");
    assert_null(strstr(talk.reply.reply_json, "sk-test"));
    assert_null(strstr(talk.reply.request_json, "sk-test"));
    assert_string_equal(talk.reply.finish_reason, "[key]");
    assert_asked(&talk, "my key is [key]");
    close_talk(&talk);
    open_talk(&talk, &anthropic, 1, (struct llm_opts){.dialect = "anthropic"});
    ask(&talk, &ask_prompt);
    assert_string_equal(talk.reply.text, "[key]");
    assert_null(talk.reply.thinking_json); /* its signature would not fit any more */
    close_talk(&talk);
    open_talk(&talk, &page, 1, (struct llm_opts){.dialect = "openai-responses"});
    assert_true(is_refused(&talk, &ask_prompt, ERR_NETWORK));
    assert_null(strstr(talk.err.message, "sk-test"));
    assert_non_null(strstr(talk.err.message, "no [key] here"));
    close_talk(&talk);
}

static void llm_open__which_key__follows_the_host(void **state)
{
    static const struct {
        const char *dialect, *base_url, *want;
    } cases[] = {
        {NULL, "https://api.deepseek.com", "DEEPSEEK_API_KEY"},
        {"anthropic", "https://api.deepseek.com/anthropic", "DEEPSEEK_API_KEY"},
        {"openai-responses", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
        {"anthropic", NULL, "ANTHROPIC_API_KEY"},
        {"vllm", NULL, "VLLM_API_KEY"},
        {"openai", "http://127.0.0.1:1/v1", "OPENAI_API_KEY"},
        {"zai", NULL, "ZAI_API_KEY"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct llm *llm = NULL;
        struct err err;
        const struct llm_opts opts = {
            .dialect = cases[i].dialect, .base_url = cases[i].base_url, .model = "m"};
        if (!llm_open(&opts, &llm, &err))
            fail_msg("case %zu: %s", i, err.message);
        assert_string_equal(llm_info(llm).key_variable, cases[i].want);
        llm_close(&llm);
    }
}

static void llm_open__setting_that_the_dialect_lacks__refused(void **state)
{
    static const struct llm_opts cases[] = {
        {.dialect = "zai", .effort = "low"},
        {.dialect = "openai", .thinking_tokens = 2048},
        {.dialect = "anthropic", .thinking_tokens = 5},
        {.dialect = "anthropic", .thinking_tokens = 9000},
        {.dialect = "anthropic", .max_tokens_field = "max_tokens"},
        {.dialect = "openai", .has_temperature = true, .temperature = 3.0},
        {.dialect = "other"}, /* no base URL */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct llm *llm = NULL;
        struct err err = {0};
        struct llm_opts opts = cases[i];
        opts.model = "m";
        if (llm_open(&opts, &llm, &err) || err.kind != ERR_BAD_INPUT)
            fail_msg("case %zu", i);
        assert_null(llm);
    }
}

static int set_up(void **state)
{
    (void)state;
    (void)unsetenv("OPENAI_BASE_URL");
    (void)unsetenv("ANTHROPIC_BASE_URL");
    return setenv(KEY_VARIABLE, KEY, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llm_chat__chat__parts_of_one_role_are_one_message),
        cmocka_unit_test(llm_chat__responses__instructions_and_input),
        cmocka_unit_test(llm_chat__anthropic__blocks_marks_and_headers),
        cmocka_unit_test(llm_chat__six_marks__the_last_four_and_none_for_long_after_short),
        cmocka_unit_test(llm_chat__thinking__comes_back_as_it_came),
        cmocka_unit_test(llm_chat__schema__as_strictly_as_the_dialect_can),
        cmocka_unit_test(llm_chat__schema_refused__next_best_and_remembered),
        cmocka_unit_test(llm_chat__schema__reply_in_a_fence_or_not_json),
        cmocka_unit_test(llm_chat__counts_of_each_dialect__one_usage),
        cmocka_unit_test(llm_chat__budget_of_tokens__kept_before_the_call_and_between_attempts),
        cmocka_unit_test(llm_chat__budget_of_money__needs_prices_and_is_kept),
        cmocka_unit_test(llm_chat__budget_near__asks_the_server_to_count),
        cmocka_unit_test(llm_bound__learns_from_what_the_server_counts),
        cmocka_unit_test(llm_chat__context_too_small__shorter_reply_or_limit),
        cmocka_unit_test(llm_chat__key_echoed__replaced_in_pieces_escapes_and_names),
        cmocka_unit_test(llm_open__which_key__follows_the_host),
        cmocka_unit_test(llm_open__setting_that_the_dialect_lacks__refused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
