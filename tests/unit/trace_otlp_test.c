/* Spans in the JSON form of OTLP: fields, types, parents; to a file and to a collector. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../peers/http_peer.h"
#include "../peers/otlp_shape.h"

#include "base/str.h"
#include "os/file.h"
#include "trace/trace.h"

#include <stdlib.h>

static void write_some(struct trace *trace)
{
    struct trace_span *run = trace_begin(trace, NULL, TRACE_INTERNAL, "run", 1000);
    struct trace_span *chat = trace_begin(trace, run, TRACE_CLIENT, "chat m", 2000);
    static const char *const reasons[] = {"stop", "length"};
    trace_text(chat, "gen_ai.request.model", "m \"\x1b\xff\n");
    trace_int(chat, "gen_ai.usage.input_tokens", INT64_MAX);
    trace_texts(chat, "gen_ai.response.finish_reasons", reasons, 2);
    trace_real(chat, "kope.cost_usd", 0.5);
    trace_bool(chat, "kope.is_estimate", true);
    trace_text(chat, "absent", NULL);
    trace_fail(chat, "network");
    trace_end(chat, 3000);
    trace_flush(trace);
    trace_flush(trace);  /* nothing new */
    trace_end(run, 500); /* before its start: clocks step */
}

static void trace__to_a_file__a_request_a_line(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    struct trace *trace = NULL;
    char *dir = NULL;
    char *text = NULL;
    (void)state;
    assert_true(os_make_temp_dir("kope-trace", &arena, &dir, &err));
    const char *path = os_path_join(&arena, dir, "spans.json");
    const struct trace_opts opts = {.destination = path, .service = "kope", .version = "1"};
    assert_true(trace_open(&opts, &trace, &err));
    assert_false(trace_wants_content(trace));
    write_some(trace);
    assert_null(trace_problem(trace));
    trace_close(&trace);
    assert_true(os_read_file(path, 1 << 20, &arena, &text, NULL, &err));
    assert_non_null(strstr(text, "\"intValue\":\"9223372036854775807\""));
    assert_non_null(strstr(text, "\"startTimeUnixNano\":\"2000\",\"endTimeUnixNano\":\"3000\""));
    assert_non_null(strstr(text, "\"startTimeUnixNano\":\"1000\",\"endTimeUnixNano\":\"1000\""));
    assert_non_null(strstr(text, "\"status\":{\"code\":2,\"message\":\"network\"}"));
    assert_null(strstr(text, "absent"));
    assert_int_equal(otlp_check(text, &arena), 2);
    assert_true(os_remove_tree(dir, &err));
}

static void trace__to_a_collector__posted(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    struct trace *trace = NULL;
    const struct http_peer_step steps[] = {{.body = "{}"}, {.status = "503 Busy", .body = "{}"}};
    struct http_peer peer = {.steps = steps, .step_count = 2};
    (void)state;
    http_peer_start(&peer);
    const struct trace_opts opts = {
        .destination = peer.url, .service = "kope", .version = "1", .with_content = true};
    assert_true(trace_open(&opts, &trace, &err));
    assert_true(trace_wants_content(trace));
    write_some(trace);
    assert_int_equal(atomic_load(&peer.request_count), 1);
    assert_null(trace_problem(trace));
    trace_flush(trace);
    assert_int_equal(atomic_load(&peer.request_count), 2);
    assert_non_null(strstr(trace_problem(trace), "answered HTTP 503"));
    trace_close(&trace);
    const char *body = strstr(peer.requests[0], "\r\n\r\n");
    assert_non_null(strstr(peer.requests[0], "application/json"));
    assert_int_equal(otlp_check(body + 4, &arena), 1);
    http_peer_stop(&peer);
}

static void trace__destination_that_is_none__is_an_error_at_once(void **state)
{
    static const char *const bad[] = {"/nonexistent/x.json", "http://user:pw@host/v1/traces",
                                      "https://host/v1/traces?key=1"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        struct trace *trace = NULL;
        assert_false(trace_open(&(struct trace_opts){.destination = bad[i]}, &trace, &err));
        assert_null(trace);
        assert_null(strstr(err.message, "pw"));
    }
}

static void trace__null__does_nothing(void **state)
{
    struct trace *none = NULL;
    (void)state;
    write_some(NULL);
    assert_false(trace_wants_content(NULL));
    assert_null(trace_problem(NULL));
    trace_close(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace__to_a_file__a_request_a_line),
        cmocka_unit_test(trace__to_a_collector__posted),
        cmocka_unit_test(trace__destination_that_is_none__is_an_error_at_once),
        cmocka_unit_test(trace__null__does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
