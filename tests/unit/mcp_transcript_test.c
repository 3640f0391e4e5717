/*
 * Scripted conversations: tests/mcp/transcripts/NAME.jsonl against the whole server with the fake
 * target, in one process. A line is one of
 *   {"send": MESSAGE}      a message from the client
 *   {"raw": "TEXT"}        bytes that may be no message
 *   {"expect": SCHEMA}     the next message of the server must match; progress is passed over
 *   {"progress": SCHEMA}   the next message is a progress notification that matches
 *   {"silence": MS}        nothing comes within so many milliseconds
 *   {"restart": true}      the server ends, and another begins with the same memory
 * Every message of the server must also match tests/mcp/message.schema.json, and every structured
 * answer the output schema of its tool, with the same JSON as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "mcp/schema.h"
#include "mcp/server.h"
#include "mcp/service.h"
#include "os/file.h"
#include "os/os.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MESSAGES = 256, WAIT_NS = 1000000, FILE_BYTES = 1024 * 1024, MAX_TOOLS = 64 };
#define PATIENCE_NS INT64_C(60000000000)

struct talk {
    struct mcp_sink sink; /* first */
    struct arena arena;
    pthread_mutex_t lock;
    char *messages[MAX_MESSAGES];
    size_t count, read;
    const char *memory;
    const char *where; /* "legacy.jsonl:12" */
    const struct json *rules;
    struct service *service;
    struct mcp_server *server;
    struct mcp_session session;
    /* Tools of the calls that were sent, by id. */
    const struct json *ids[MAX_MESSAGES];
    const char *tools[MAX_MESSAGES];
    size_t call_count;
};

static void collect(struct mcp_sink *sink, const char *text, size_t length, int status)
{
    struct talk *t = (struct talk *)sink;
    (void)status;
    if (!text)
        return;
    (void)pthread_mutex_lock(&t->lock);
    assert_true(t->count < MAX_MESSAGES);
    t->messages[t->count] = strndup(text, length);
    assert_non_null(t->messages[t->count]);
    t->count++;
    (void)pthread_mutex_unlock(&t->lock);
}

static void keep(struct mcp_sink *sink)
{
    (void)sink;
}

/* The next message, or NULL where none comes in time. */
static const char *next_text(struct talk *t, int64_t patience_ns)
{
    const int64_t until = os_now_ns() + patience_ns;
    const char *found = NULL;
    while (!found) {
        (void)pthread_mutex_lock(&t->lock);
        if (t->read < t->count)
            found = t->messages[t->read++];
        (void)pthread_mutex_unlock(&t->lock);
        if (found || os_now_ns() > until)
            break;
        service_tick(t->service);
        os_sleep_ns(WAIT_NS);
    }
    return found;
}

static const struct json *parse(struct talk *t, const char *text)
{
    const struct json *value = NULL;
    struct err err = {0};
    if (!json_parse(text, strlen(text), "text", &t->arena, &value, &err))
        fail_msg("%s: %s in %s", t->where, err.message, text);
    return value;
}

static void check(struct talk *t, const struct json *schema, const struct json *value,
                  const char *text)
{
    struct err err = {0};
    if (!schema_check(schema, value, "message", &err))
        fail_msg("%s: %s\n  %s", t->where, err.message, text);
}

static const char *tool_called(const struct talk *t, const struct json *id)
{
    for (size_t i = t->call_count; id && i-- > 0;) {
        const struct json *known = t->ids[i];
        if (known->type == id->type && known->integer == id->integer &&
            str_equal(json_string(known, ""), json_string(id, "")))
            return t->tools[i];
    }
    return NULL;
}

/* A structured answer fits its tool, and its text is the same. */
static void check_structured(struct talk *t, const struct json *message, const char *text)
{
    const struct json *result = json_get(message, "result");
    const struct json *content = json_get(result, "structuredContent");
    const char *name = tool_called(t, json_get(message, "id"));
    if (!name || !result || json_bool(json_get(result, "isError"), false))
        return;
    const struct mcp_catalogue *catalogue = service_catalogue(t->service);
    for (size_t i = 0; content && i < catalogue->tool_count; i++) {
        if (str_equal(catalogue->tools[i].name, name))
            check(t, parse(t, catalogue->tools[i].output_schema), content, text);
    }
    const char *as_text =
        json_string(json_get(json_at(json_get(result, "content"), 0), "text"), "");
    struct buf again = {0};
    struct json_writer w = {.out = &again};
    if (content)
        json_write_value(&w, content);
    if (content && !str_equal(buf_text(&again), as_text))
        fail_msg("%s: the text is not the structured content\n  %s", t->where, text);
    buf_free(&again);
}

static const char *next_message(struct talk *t, bool skip_progress, const struct json **out)
{
    for (;;) {
        const char *text = next_text(t, PATIENCE_NS);
        if (!text)
            fail_msg("%s: no message comes", t->where);
        const struct json *message = parse(t, text);
        check(t, t->rules, message, text);
        check_structured(t, message, text);
        if (skip_progress && json_get(message, "method"))
            continue;
        *out = message;
        return text;
    }
}

static void send_text(struct talk *t, const char *text, size_t length)
{
    (void)mcp_receive(t->server, &t->session, &t->sink, NULL, text, length);
}

static void send_message(struct talk *t, const struct json *message)
{
    struct buf text = {0};
    struct json_writer w = {.out = &text};
    const struct json *id = json_get(message, "id");
    json_write_value(&w, message);
    if (id && str_equal(json_string(json_get(message, "method"), ""), "tools/call")) {
        t->ids[t->call_count] = id;
        t->tools[t->call_count++] = json_string(json_get(json_get(message, "params"), "name"), "");
    }
    send_text(t, buf_text(&text), text.length);
    buf_free(&text);
}

static void start_server(struct talk *t)
{
    static const char *const roots[] = {KOPE_SOURCE_DIR "/tests/mcp/data"};
    const struct service_opts opts = {.memory_dir = t->memory, .roots = roots, .root_count = 1};
    struct err err = {0};
    if (!service_open(&opts, &t->service, &err))
        fail_msg("%s", err.message);
    t->server = mcp_server_open(service_catalogue(t->service));
    t->session = (struct mcp_session){.scope = t};
}

static void stop_server(struct talk *t)
{
    service_stop(t->service);
    mcp_server_close(&t->server);
    service_close(&t->service);
}

static void do_line(struct talk *t, const struct json *line)
{
    const struct json *step = line->first;
    const struct json *message = NULL;
    if (str_equal(step->key, "send")) {
        send_message(t, step);
    } else if (str_equal(step->key, "raw")) {
        send_text(t, step->string, step->string_length);
    } else if (str_equal(step->key, "expect") || str_equal(step->key, "progress")) {
        const char *text = next_message(t, step->key[0] == 'e', &message);
        check(t, step, message, text);
    } else if (str_equal(step->key, "silence")) {
        const char *text = next_text(t, json_int(step, 0) * 1000000);
        if (text)
            fail_msg("%s: not silent: %s", t->where, text);
    } else if (str_equal(step->key, "restart")) {
        stop_server(t);
        start_server(t);
    } else if (!str_equal(step->key, "about")) {
        fail_msg("%s: no step '%s'", t->where, step->key);
    }
}

static void begin(struct talk *t, const char *memory)
{
    struct err err = {0};
    char *rules = NULL;
    t->memory = memory;
    t->sink = (struct mcp_sink){.send = collect, .retain = keep, .release = keep};
    assert_int_equal(pthread_mutex_init(&t->lock, NULL), 0);
    assert_true(os_read_file(KOPE_SOURCE_DIR "/tests/mcp/message.schema.json", FILE_BYTES,
                             &t->arena, &rules, NULL, &err));
    t->where = "message.schema.json";
    t->rules = parse(t, rules);
    start_server(t);
}

static void end(struct talk *t)
{
    stop_server(t);
    for (size_t i = 0; i < t->count; i++)
        free(t->messages[i]);
    (void)pthread_mutex_destroy(&t->lock);
    arena_free(&t->arena);
}

static void run_transcript(const char *name)
{
    struct talk talk = {0};
    struct arena arena = {0};
    struct err err = {0};
    char *dir = NULL;
    char *text = NULL;
    const char *path = arena_printf(&arena, "%s/tests/mcp/transcripts/%s", KOPE_SOURCE_DIR, name);
    assert_true(os_make_temp_dir("kope-mcp", &arena, &dir, &err));
    begin(&talk, os_path_join(&arena, dir, "memory"));
    assert_true(os_read_file(path, FILE_BYTES, &arena, &text, NULL, &err));
    int number = 0;
    for (char *line = text; line && *line != '\0'; number++) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        talk.where = arena_printf(&arena, "%s:%d", name, number + 1);
        if (line[0] != '\0')
            do_line(&talk, parse(&talk, line));
        line = next;
    }
    end(&talk);
    assert_true(os_remove_tree(dir, &err));
    arena_free(&arena);
}

static void mcp_transcript__every_file__is_as_written(void **state)
{
    struct arena arena = {0};
    struct err err = {0};
    char **names = NULL;
    size_t count = 0;
    assert_true(
        os_list_dir(KOPE_SOURCE_DIR "/tests/mcp/transcripts", &arena, &names, &count, &err));
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        print_message("  %s\n", names[i]);
        run_transcript(names[i]);
    }
    arena_free(&arena);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mcp_transcript__every_file__is_as_written),
    };
    return cmocka_run_group_tests_name("mcp_transcript", tests, NULL, NULL);
}
