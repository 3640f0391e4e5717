#include "llm/http.h"

#include "base/str.h"
#include "os/os.h"

#include <curl/curl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { POLL_MS = 50, CONNECT_LIMIT_MS = 30000 };
#define GRACE_NS INT64_C(250000000) /* after the end of a stream, for what may follow */

struct http {
    CURLM *multi;
    CURL *easy;
};

/* What the write callback needs. */
struct sink {
    const struct http_request *request;
    CURL *easy;
    bool is_stopped;
};

struct http *http_open(void)
{
    struct http *http = calloc(1, sizeof *http);
    if (!http || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        BUG("llm: libcurl cannot be initialised");
    http->multi = curl_multi_init();
    http->easy = curl_easy_init();
    if (!http->multi || !http->easy)
        BUG("llm: out of memory");
    return http;
}

void http_close(struct http **http)
{
    if (!*http)
        return;
    curl_easy_cleanup((*http)->easy);
    (void)curl_multi_cleanup((*http)->multi);
    curl_global_cleanup();
    free(*http);
    *http = NULL;
}

static size_t on_write(char *data, size_t one, size_t length, void *context)
{
    struct sink *sink = context;
    long status = 0;
    (void)one; /* always 1 */
    (void)curl_easy_getinfo(sink->easy, CURLINFO_RESPONSE_CODE, &status);
    if (sink->request->on_data(sink->request->context, status, data, length))
        return length;
    sink->is_stopped = true;
    return length == 0 ? 1 : 0;
}

/* curl says by the type of each option what it takes; one that fails is a bug of ours. */
static void must(CURLcode code)
{
    if (code != CURLE_OK)
        BUG("llm: libcurl refuses an option: %s", curl_easy_strerror(code));
}

static struct curl_slist *make_headers(const struct http_request *request)
{
    char with_secret[20 * 1024];
    struct curl_slist *headers = NULL;
    static const char *const fixed[] = {"Content-Type: application/json",
                                        "Accept: text/event-stream, application/json", "Expect:"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        headers = curl_slist_append(headers, fixed[i]);
    for (size_t i = 0; request->headers && request->headers[i]; i++)
        headers = curl_slist_append(headers, request->headers[i]);
    if (request->secret) {
        (void)snprintf(with_secret, sizeof with_secret, "%s%s", request->secret_header,
                       request->secret);
        headers = curl_slist_append(headers, with_secret);
    }
    if (!headers)
        BUG("llm: out of memory");
    return headers;
}

static void prepare(CURL *easy, const struct http_request *request, struct curl_slist *headers,
                    struct sink *sink, char *problem)
{
    /* Newer than the oldest libcurl that we build with: a name that is being looked up does not
     * hold up the end of a call. */
    const struct curl_easyoption *quick_exit = curl_easy_option_by_name("QUICK_EXIT");
    curl_easy_reset(easy);
    must(curl_easy_setopt(easy, CURLOPT_URL, request->url));
    must(curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https"));
    must(curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L));
    /* Nothing compressed is asked for, but what comes compressed all the same is understood. */
    must(curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "identity"));
    /* On a connection that is used again libcurl sends a request a second time by itself where the
     * server has closed it meanwhile: paid for and not counted. So each request has its own. */
    must(curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L));
    must(curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L));
    must(curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L));
    must(curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L));
    must(curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L));
    must(curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_LIMIT_MS));
    must(curl_easy_setopt(easy, CURLOPT_USERAGENT, "kope/" KOPE_VERSION));
    must(curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers));
    must(curl_easy_setopt(easy, CURLOPT_POST, 1L));
    must(curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(request->body)));
    must(curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body));
    must(curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_write));
    must(curl_easy_setopt(easy, CURLOPT_WRITEDATA, sink));
    must(curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, problem));
    if (quick_exit)
        must(curl_easy_setopt(easy, quick_exit->id, 1L));
    if (request->is_loopback)
        must(curl_easy_setopt(easy, CURLOPT_PROXY, ""));
}

/* Runs the transfer; `*code` is curl's verdict where the end is HTTP_COMPLETE. */
static enum http_end drive(struct http *http, const struct http_request *request, CURLcode *code)
{
    int64_t last_ns = request->deadline_ns;
    for (;;) {
        int running = 0;
        int queued = 0;
        if (curl_multi_perform(http->multi, &running) != CURLM_OK)
            return HTTP_BROKEN;
        const CURLMsg *done = curl_multi_info_read(http->multi, &queued);
        if (done) {
            *code = done->data.result;
            return HTTP_COMPLETE;
        }
        const int64_t now_ns = os_now_ns();
        if (*request->is_complete && last_ns > now_ns + GRACE_NS)
            last_ns = now_ns + GRACE_NS;
        if (os_interrupted())
            return HTTP_INTERRUPTED;
        if (now_ns >= last_ns)
            return *request->is_complete ? HTTP_STOPPED : HTTP_DEADLINE;
        const int64_t left_ms = (last_ns - now_ns) / 1000000 + 1;
        (void)curl_multi_poll(http->multi, NULL, 0, left_ms < POLL_MS ? (int)left_ms : POLL_MS,
                              NULL);
    }
}

static bool is_hopeless(CURLcode code)
{
    static const CURLcode hopeless[] = {
        CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT,       CURLE_PEER_FAILED_VERIFICATION,
        CURLE_SSL_CACERT_BADFILE,   CURLE_SSL_ISSUER_ERROR,    CURLE_SSL_INVALIDCERTSTATUS,
        CURLE_SSL_CERTPROBLEM,      CURLE_SSL_ENGINE_NOTFOUND, CURLE_BAD_CONTENT_ENCODING};
    for (size_t i = 0; i < sizeof hopeless / sizeof *hopeless; i++) {
        if (hopeless[i] == code)
            return true;
    }
    return false;
}

static const char *header(CURL *easy, const char *name)
{
    struct curl_header *found = NULL;
    if (curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
        return NULL;
    return found->value;
}

/* Seconds or a date, milliseconds first; -1 where there is neither. */
static int64_t retry_after_ns(CURL *easy)
{
    const double longest_s = 1e6;
    const char *ms = header(easy, "retry-after-ms");
    const char *after = header(easy, "retry-after");
    double seconds = -1.0;
    if (ms && str_parse_double(ms, &seconds)) {
        seconds /= 1e3;
    } else if (after && !str_parse_double(after, &seconds)) {
        const time_t date = curl_getdate(after, NULL);
        if (date != (time_t)-1)
            seconds = fmax(0.0, (double)date - (double)os_wall_ns() / 1e9);
    }
    if (!(seconds >= 0.0))
        return -1;
    return (int64_t)(fmin(seconds, longest_s) * 1e9);
}

static int should_retry(CURL *easy)
{
    const char *value = header(easy, "x-should-retry");
    if (!value)
        return -1;
    return strcasecmp(value, "true") == 0 ? 1 : strcasecmp(value, "false") == 0 ? 0 : -1;
}

void http_post(struct http *http, const struct http_request *request, struct http_result *out)
{
    char problem[CURL_ERROR_SIZE] = "";
    CURLcode code = CURLE_OK;
    struct sink sink = {.request = request, .easy = http->easy};
    struct curl_slist *headers = make_headers(request);
    *out = (struct http_result){.retry_after_ns = -1, .should_retry = -1};
    prepare(http->easy, request, headers, &sink, problem);
    if (curl_multi_add_handle(http->multi, http->easy) != CURLM_OK)
        BUG("llm: libcurl refuses a transfer");
    out->end = drive(http, request, &code);
    if (out->end == HTTP_COMPLETE && code != CURLE_OK)
        out->end = sink.is_stopped ? HTTP_STOPPED : is_hopeless(code) ? HTTP_REFUSED : HTTP_BROKEN;
    (void)curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &out->status);
    out->retry_after_ns = retry_after_ns(http->easy);
    out->should_retry = should_retry(http->easy);
    (void)snprintf(out->problem, sizeof out->problem, "%s",
                   problem[0] != '\0' ? problem : curl_easy_strerror(code));
    (void)curl_multi_remove_handle(http->multi, http->easy);
    curl_easy_reset(http->easy); /* drops its pointers to what ends here */
    curl_slist_free_all(headers);
}
