#include "llm/peer_error.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *text_of(const struct json *value, struct arena *arena)
{
    if (value && value->type == JSON_INT)
        return arena_printf(arena, "%lld", (long long)value->integer);
    return arena_strdup(arena, json_string(value, ""));
}

static long status_of(const struct json *error)
{
    static const char *const keys[] = {"code", "status", "status_code", "http_code"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct json *value = json_get(error, keys[i]);
        int64_t number = json_int(value, 0);
        if (value && value->type == JSON_STRING)
            (void)str_parse_int64(value->string, &number);
        if (number >= 100 && number <= 599)
            return (long)number;
    }
    return 0;
}

/* Where `word` is in `text`, whatever the case of its letters; NULL where it is not. */
static const char *find_nocase(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (; *text != '\0'; text++) {
        if (strncasecmp(text, word, length) == 0)
            return text;
    }
    return NULL;
}

/* What stands before the numbers of an overflow, in the words of OpenAI, vLLM, Anthropic and
 * llama.cpp. */
static const struct {
    const char *before;
    bool is_context; /* else the prompt's tokens */
} overflow_numbers[] = {
    {"context length is ", true},       {"context length of only ", true},
    {"context length of ", true},       {"tokens > ", true},
    {"available context size (", true}, {"resulted in ", false},
    {"you requested ", false},          {"passed ", false},
    {"prompt is too long: ", false},    {"request (", false},
};

/* Fills numbers that are not known from what the message says. */
static void take_numbers(struct peer_error *error)
{
    const int64_t most = INT64_C(1000000000);
    for (size_t i = 0; i < sizeof overflow_numbers / sizeof *overflow_numbers; i++) {
        int64_t *to =
            overflow_numbers[i].is_context ? &error->context_tokens : &error->prompt_tokens;
        const char *at = find_nocase(error->message, overflow_numbers[i].before);
        if (*to > 0 || !at)
            continue;
        const long long number = strtoll(at + strlen(overflow_numbers[i].before), NULL, 10);
        if (number > 0 && number <= most)
            *to = number;
    }
}

struct peer_error peer_error_from_json(const struct json *value, bool is_error_event,
                                       struct arena *arena)
{
    struct peer_error error = {.message = "", .type = "", .code = ""};
    const struct json *inner = json_get(value, "error");
    if (!inner && is_error_event)
        inner = value;
    if (!inner || inner->type == JSON_NULL || inner->type == JSON_BOOL ||
        (inner->type == JSON_STRING && inner->string[0] == '\0'))
        return error;
    error.is_set = true;
    if (inner->type == JSON_STRING) {
        error.message = arena_strdup(arena, inner->string);
        error.status = status_of(value);
        return error;
    }
    error.message = text_of(json_get(inner, "message"), arena);
    error.type = text_of(json_get(inner, "type"), arena);
    error.code = text_of(json_get(inner, "code"), arena);
    error.status = status_of(inner);
    error.prompt_tokens = json_int(json_get(inner, "n_prompt_tokens"), 0);
    error.context_tokens = json_int(json_get(inner, "n_ctx"), 0);
    take_numbers(&error);
    return error;
}

const char *peer_text_line(const char *text, size_t limit, struct arena *arena)
{
    const size_t length = strnlen(text, limit);
    char *line = arena_strndup(arena, text, length);
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = ' ';
    }
    if (text[length] == '\0')
        return line;
    /* Not in the middle of a character. */
    size_t end = length;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    line[end] = '\0';
    return arena_printf(arena, "%s...", line);
}

struct peer_error peer_error_from_body(long status, const char *body, size_t length,
                                       struct arena *arena)
{
    struct err ignored;
    const struct json *json = NULL;
    struct peer_error error = {.message = "", .type = "", .code = ""};
    if (json_parse(body, length, "error", arena, &json, &ignored)) {
        error = peer_error_from_json(json, false, arena);
        if (!error.is_set) {
            const char *detail = json_string(json_get(json, "detail"), "");
            error.message = json_string(json_get(json, "message"), detail);
            error.type = text_of(json_get(json, "type"), arena);
            error.code = text_of(json_get(json, "code"), arena);
        }
    }
    if (error.message[0] == '\0')
        error.message = arena_strndup(arena, body, strnlen(body, length));
    error.is_set = true;
    error.status = status;
    take_numbers(&error);
    return error;
}

/* Words by which providers name a fault, whatever their status is; the first that is found counts.
 * 1113 and 1261 are z.ai's. */
static const struct {
    const char *word;
    bool in_message; /* else it is the code or the type, exactly */
    enum peer_fault fault;
} named_faults[] = {
    {"insufficient_quota", false, PEER_FAULT_QUOTA},
    {"billing_error", false, PEER_FAULT_QUOTA},
    {"1113", false, PEER_FAULT_QUOTA},
    {"credit balance is too low", true, PEER_FAULT_QUOTA},
    {"insufficient balance", true, PEER_FAULT_QUOTA},
    {"context_length_exceeded", false, PEER_FAULT_OVERFLOW},
    {"exceed_context_size_error", false, PEER_FAULT_OVERFLOW},
    {"request_too_large", false, PEER_FAULT_OVERFLOW},
    {"1261", false, PEER_FAULT_OVERFLOW},
    {"maximum context length", true, PEER_FAULT_OVERFLOW},
    {"prompt is too long", true, PEER_FAULT_OVERFLOW},
    {"exceed context limit", true, PEER_FAULT_OVERFLOW},
    {"exceeds the context window", true, PEER_FAULT_OVERFLOW},
    {"exceeds the context length", true, PEER_FAULT_OVERFLOW},
    {"exceeds the available context size", true, PEER_FAULT_OVERFLOW},
    {"invalid_api_key", false, PEER_FAULT_KEY},
    {"authentication_error", false, PEER_FAULT_KEY},
    {"permission_error", false, PEER_FAULT_KEY},
    {"rate_limit_exceeded", false, PEER_FAULT_TRANSIENT},
    {"rate_limit_error", false, PEER_FAULT_TRANSIENT},
    {"overloaded_error", false, PEER_FAULT_TRANSIENT},
    {"api_error", false, PEER_FAULT_TRANSIENT},
    {"timeout_error", false, PEER_FAULT_TRANSIENT},
    {"server_error", false, PEER_FAULT_TRANSIENT},
    {"invalid_request_error", false, PEER_FAULT_REQUEST},
    {"not_found_error", false, PEER_FAULT_REQUEST},
};

static bool named_fault(const struct peer_error *error, enum peer_fault *out)
{
    for (size_t i = 0; i < sizeof named_faults / sizeof *named_faults; i++) {
        const char *word = named_faults[i].word;
        if (named_faults[i].in_message
                ? find_nocase(error->message, word) != NULL
                : str_equal(error->code, word) || str_equal(error->type, word)) {
            *out = named_faults[i].fault;
            return true;
        }
    }
    return false;
}

enum peer_fault peer_error_classify(const struct peer_error *error, int should_retry)
{
    enum peer_fault named = PEER_FAULT_REQUEST;
    const bool is_named = named_fault(error, &named);
    if (error->status == 402 || (is_named && named == PEER_FAULT_QUOTA))
        return PEER_FAULT_QUOTA;
    if (is_named && named == PEER_FAULT_OVERFLOW)
        return PEER_FAULT_OVERFLOW;
    if (should_retry == 1)
        return PEER_FAULT_TRANSIENT;
    if (error->status == 401 || error->status == 403 || (is_named && named == PEER_FAULT_KEY))
        return PEER_FAULT_KEY;
    if (should_retry == 0)
        return PEER_FAULT_REQUEST;
    if (error->status == 408 || error->status == 409 || error->status == 429 ||
        error->status >= 500)
        return PEER_FAULT_TRANSIENT;
    /* After HTTP 200 there may be nothing but words: unnamed trouble in a stream is the peer's. */
    if (error->status == 0)
        return is_named ? named : PEER_FAULT_TRANSIENT;
    return PEER_FAULT_REQUEST;
}
