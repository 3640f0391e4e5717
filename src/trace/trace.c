#include "trace/trace.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "llm/http.h"
#include "os/os.h"
#include "json/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACE_ID_BYTES = 16,
    SPAN_ID_BYTES = 8,
    MAX_ATTRIBUTES = 48,
    MAX_VALUE_BYTES = 256 * 1024,
    STATUS_ERROR = 2,
};
#define POST_DEADLINE_NS (INT64_C(5) * 1000000000)

enum value_type { VALUE_TEXT, VALUE_TEXTS, VALUE_INT, VALUE_REAL, VALUE_BOOL };

struct attribute {
    const char *name;
    enum value_type type;
    const char *text;
    const char *const *texts;
    size_t text_count;
    int64_t integer;
    double real;
    bool boolean;
};

struct trace_span {
    struct trace *trace;
    struct arena arena;
    unsigned char id[SPAN_ID_BYTES], parent[SPAN_ID_BYTES];
    bool has_parent, has_ended;
    enum trace_kind kind;
    const char *name, *error;
    int64_t start_ns, end_ns;
    struct attribute attributes[MAX_ATTRIBUTES];
    size_t attribute_count;
};

struct trace {
    unsigned char id[TRACE_ID_BYTES];
    bool with_content;
    const char *service, *version;
    FILE *file;        /* or: */
    struct http *http; /* with */
    const char *url;
    bool is_loopback;
    struct arena arena;
    struct trace_span **spans; /* not written yet */
    size_t count, capacity;
    const char *problem;
};

static bool is_url(const char *text)
{
    return str_starts_with(text, "http://") || str_starts_with(text, "https://");
}

/* Of the machine itself: then no proxy is asked. */
static bool is_loopback(const char *url)
{
    const char *host = strstr(url, "://") + 3;
    return str_starts_with(host, "127.") || str_starts_with(host, "localhost") ||
           str_starts_with(host, "[::1]");
}

static bool open_destination(struct trace *trace, const char *destination, struct err *err)
{
    if (is_url(destination)) {
        if (strchr(destination, '@') || strchr(destination, '?')) {
            (void)err_set(err, ERR_BAD_INPUT, "the address for traces has a user or a query");
            return err_hint(err, "it looks like http://127.0.0.1:4318/v1/traces");
        }
        trace->url = arena_strdup(&trace->arena, destination);
        trace->is_loopback = is_loopback(destination);
        trace->http = http_open();
        return true;
    }
    trace->file = fopen(destination, "we");
    if (!trace->file)
        return err_set_errno(err, errno, "cannot write the trace '%s'", destination);
    return true;
}

bool trace_open(const struct trace_opts *opts, struct trace **out, struct err *err)
{
    struct trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        BUG("trace: out of memory");
    os_random(trace->id, sizeof trace->id);
    trace->with_content = opts->with_content;
    trace->service = arena_strdup(&trace->arena, opts->service ? opts->service : "");
    trace->version = arena_strdup(&trace->arena, opts->version ? opts->version : "");
    if (!open_destination(trace, opts->destination, err)) {
        trace_close(&trace);
        return false;
    }
    *out = trace;
    return true;
}

static void free_span(struct trace_span *span)
{
    arena_free(&span->arena);
    free(span);
}

void trace_close(struct trace **trace)
{
    struct trace *closing = *trace;
    if (!closing)
        return;
    trace_flush(closing);
    for (size_t i = 0; i < closing->count; i++)
        free_span(closing->spans[i]);
    free(closing->spans);
    if (closing->file)
        (void)fclose(closing->file);
    http_close(&closing->http);
    arena_free(&closing->arena);
    free(closing);
    *trace = NULL;
}

bool trace_wants_content(const struct trace *trace)
{
    return trace && trace->with_content;
}

const char *trace_problem(const struct trace *trace)
{
    return trace ? trace->problem : NULL;
}

struct trace_span *trace_begin(struct trace *trace, struct trace_span *parent, enum trace_kind kind,
                               const char *name, int64_t start_ns)
{
    if (!trace)
        return NULL;
    struct trace_span *span = calloc(1, sizeof *span);
    if (!span)
        BUG("trace: out of memory");
    span->trace = trace;
    os_random(span->id, sizeof span->id);
    span->kind = kind;
    span->name = arena_strdup(&span->arena, name);
    span->start_ns = start_ns ? start_ns : os_wall_ns();
    if (parent) {
        span->has_parent = true;
        memcpy(span->parent, parent->id, sizeof span->parent);
    }
    trace->spans =
        vec_reserve_one(trace->spans, trace->count, &trace->capacity, sizeof(struct trace_span *));
    trace->spans[trace->count++] = span;
    return span;
}

void trace_end(struct trace_span *span, int64_t end_ns)
{
    if (!span)
        return;
    const int64_t end = end_ns ? end_ns : os_wall_ns();
    span->end_ns = end > span->start_ns ? end : span->start_ns;
    span->has_ended = true;
}

static struct attribute *add(struct trace_span *span, const char *name, enum value_type type)
{
    if (span->attribute_count == MAX_ATTRIBUTES)
        BUG("trace: '%s' is one attribute too many", name);
    struct attribute *attribute = &span->attributes[span->attribute_count++];
    *attribute = (struct attribute){.name = name, .type = type};
    return attribute;
}

static const char *copy(struct trace_span *span, const char *value)
{
    return arena_strndup(&span->arena, value, strnlen(value, MAX_VALUE_BYTES));
}

void trace_text(struct trace_span *span, const char *name, const char *value)
{
    if (span && value)
        add(span, name, VALUE_TEXT)->text = copy(span, value);
}

void trace_texts(struct trace_span *span, const char *name, const char *const *values, size_t count)
{
    if (!span)
        return;
    struct attribute *attribute = add(span, name, VALUE_TEXTS);
    const char **texts = arena_array(&span->arena, count + 1, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = copy(span, values[i]);
    attribute->texts = texts;
    attribute->text_count = count;
}

void trace_int(struct trace_span *span, const char *name, int64_t value)
{
    if (span)
        add(span, name, VALUE_INT)->integer = value;
}

void trace_real(struct trace_span *span, const char *name, double value)
{
    if (span)
        add(span, name, VALUE_REAL)->real = value;
}

void trace_bool(struct trace_span *span, const char *name, bool value)
{
    if (span)
        add(span, name, VALUE_BOOL)->boolean = value;
}

void trace_fail(struct trace_span *span, const char *error_type)
{
    if (!span)
        return;
    span->error = copy(span, error_type);
    trace_text(span, "error.type", error_type);
}

static void put_hex(struct json_writer *w, const char *key, const unsigned char *bytes,
                    size_t count)
{
    char text[2 * TRACE_ID_BYTES + 1];
    for (size_t i = 0; i < count; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    json_put_string(w, key, text);
}

/* 64-bit integers are decimal strings in OTLP's JSON. */
static void put_int64(struct json_writer *w, const char *key, int64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    json_put_string(w, key, text);
}

static void write_texts(struct json_writer *w, const struct attribute *attribute)
{
    json_key(w, "arrayValue");
    json_begin_object(w);
    json_key(w, "values");
    json_begin_array(w);
    for (size_t i = 0; i < attribute->text_count; i++) {
        json_begin_object(w);
        json_put_string(w, "stringValue", attribute->texts[i]);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void write_attribute(struct json_writer *w, const struct attribute *attribute)
{
    json_begin_object(w);
    json_put_string(w, "key", attribute->name);
    json_key(w, "value");
    json_begin_object(w);
    switch (attribute->type) {
    case VALUE_TEXT:
        json_put_string(w, "stringValue", attribute->text);
        break;
    case VALUE_TEXTS:
        write_texts(w, attribute);
        break;
    case VALUE_INT:
        put_int64(w, "intValue", attribute->integer);
        break;
    case VALUE_REAL:
        json_put_real(w, "doubleValue", attribute->real);
        break;
    case VALUE_BOOL:
        json_put_bool(w, "boolValue", attribute->boolean);
        break;
    }
    json_end_object(w);
    json_end_object(w);
}

static void write_span(struct json_writer *w, const struct trace_span *span)
{
    json_begin_object(w);
    put_hex(w, "traceId", span->trace->id, sizeof span->trace->id);
    put_hex(w, "spanId", span->id, sizeof span->id);
    if (span->has_parent)
        put_hex(w, "parentSpanId", span->parent, sizeof span->parent);
    json_put_string(w, "name", span->name);
    json_put_int(w, "kind", span->kind);
    put_int64(w, "startTimeUnixNano", span->start_ns);
    put_int64(w, "endTimeUnixNano", span->end_ns);
    json_key(w, "attributes");
    json_begin_array(w);
    for (size_t i = 0; i < span->attribute_count; i++)
        write_attribute(w, &span->attributes[i]);
    json_end_array(w);
    json_key(w, "status");
    json_begin_object(w);
    if (span->error) {
        json_put_int(w, "code", STATUS_ERROR);
        json_put_string(w, "message", span->error);
    }
    json_end_object(w);
    json_end_object(w);
}

static void write_resource(struct json_writer *w, const struct trace *trace)
{
    const struct attribute service[] = {
        {.name = "service.name", .type = VALUE_TEXT, .text = trace->service},
        {.name = "service.version", .type = VALUE_TEXT, .text = trace->version}};
    json_key(w, "resource");
    json_begin_object(w);
    json_key(w, "attributes");
    json_begin_array(w);
    for (size_t i = 0; i < 2; i++)
        write_attribute(w, &service[i]);
    json_end_array(w);
    json_end_object(w);
}

/* ExportTraceServiceRequest with the spans that have ended. */
static void write_request(const struct trace *trace, struct buf *out)
{
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, "resourceSpans");
    json_begin_array(&w);
    json_begin_object(&w);
    write_resource(&w, trace);
    json_key(&w, "scopeSpans");
    json_begin_array(&w);
    json_begin_object(&w);
    json_key(&w, "scope");
    json_begin_object(&w);
    json_put_string(&w, "name", trace->service);
    json_put_string(&w, "version", trace->version);
    json_end_object(&w);
    json_key(&w, "spans");
    json_begin_array(&w);
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->spans[i]->has_ended)
            write_span(&w, trace->spans[i]);
    }
    json_end_array(&w);
    json_end_object(&w);
    json_end_array(&w);
    json_end_object(&w);
    json_end_array(&w);
    json_end_object(&w);
}

static void note(struct trace *trace, const char *problem)
{
    if (!trace->problem)
        trace->problem = problem;
}

static bool ignore_data(void *context, long status, const char *data, size_t length)
{
    (void)context;
    (void)status;
    (void)data;
    (void)length;
    return true;
}

static void post(struct trace *trace, const char *body)
{
    struct http_result result = {0};
    const bool never = false; /* the answer is as long as it is */
    http_post(trace->http,
              &(struct http_request){.url = trace->url,
                                     .body = body,
                                     .is_loopback = trace->is_loopback,
                                     .deadline_ns = os_now_ns() + POST_DEADLINE_NS,
                                     .on_data = ignore_data,
                                     .is_complete = &never},
              &result);
    if (result.end == HTTP_COMPLETE && result.status >= 200 && result.status <= 299)
        return;
    if (result.end == HTTP_INTERRUPTED)
        note(trace, "interrupted before the last spans were sent");
    else if (result.status != 0)
        note(trace,
             arena_printf(&trace->arena, "'%s' answered HTTP %ld", trace->url, result.status));
    else
        note(trace,
             arena_printf(&trace->arena, "no answer from '%s': %s", trace->url, result.problem));
}

static void drop_ended(struct trace *trace)
{
    size_t left = 0;
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->spans[i]->has_ended)
            free_span(trace->spans[i]);
        else
            trace->spans[left++] = trace->spans[i];
    }
    trace->count = left;
}

void trace_flush(struct trace *trace)
{
    bool any = false;
    for (size_t i = 0; trace && i < trace->count; i++)
        any = any || trace->spans[i]->has_ended;
    if (!any)
        return;
    CLEANUP(buf_free) struct buf request = {0};
    write_request(trace, &request);
    if (request.truncated)
        note(trace, "spans of more than 64 MiB were left out");
    else if (trace->http)
        post(trace, buf_text(&request));
    else if (fprintf(trace->file, "%s\n", buf_text(&request)) < 0 || fflush(trace->file) != 0)
        note(trace, "the trace's file could not be written");
    drop_ended(trace);
}
