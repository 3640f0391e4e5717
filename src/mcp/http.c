#include "mcp/transport.h"

#include "base/str.h"
#include "mcp/http_exchange.h"
#include "mcp/internal.h"
#include "os/os.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    MAX_CONNECTIONS = 64,
    MAX_SESSIONS = 64,
    SESSION_ID_BYTES = 33,
    CONNECTION_MEMORY_BYTES = 32 * 1024,
    IDLE_TIMEOUT_S = 120,
    WAIT_MS = 100,
    KEEP_ALIVE_WAITS = 150, /* of WAIT_MS: a comment on a silent stream */
};

struct http_session {
    char id[SESSION_ID_BYTES]; /* "" for a free place */
    const char *version;
    int64_t used_ns;
};

struct http {
    struct mcp_server *server;
    const struct mcp_http_opts *opts;
    pthread_mutex_t lock; /* of the sessions */
    struct http_session sessions[MAX_SESSIONS];
    atomic_bool is_stopping;
};

/* A request while its body comes in. */
struct request {
    struct buf body;
    bool is_too_long;
};

/* --- answers --- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status,
                              const char *content_type, const char *text, size_t length,
                              const char *header, const char *value)
{
    /* The library frees this copy, also where it fails. */
    char *copy = malloc(length + 1);
    if (!copy)
        return MHD_NO;
    memcpy(copy, text, length);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, copy, MHD_RESPMEM_MUST_FREE);
    if (!response)
        return MHD_NO;
    if (content_type)
        (void)MHD_add_response_header(response, "Content-Type", content_type);
    if (header)
        (void)MHD_add_response_header(response, header, value);
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why,
                              const char *header, const char *value)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_string(&w, "jsonrpc", "2.0");
    json_key(&w, "error");
    json_begin_object(&w);
    json_put_int(&w, "code", MCP_INVALID_REQUEST);
    json_put_string(&w, "message", why);
    json_end_object(&w);
    json_end_object(&w);
    return answer(connection, status, "application/json", buf_text(&text), text.length, header,
                  value);
}

/* --- who may speak --- */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* "localhost", "127.0.0.1" or "[::1]", with a port or without. */
static bool is_local_host(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) == 0 &&
            (host[length] == '\0' ||
             (host[length] == ':' &&
              strspn(host + length + 1, "0123456789") == strlen(host + length + 1))))
            return true;
    }
    return false;
}

/* A browser says which page asks, and a name that was rebound shows in Host. */
static bool is_local(struct MHD_Connection *connection)
{
    const char *host = header_of(connection, "Host");
    const char *origin = header_of(connection, "Origin");
    if (host && !is_local_host(host))
        return false;
    if (!origin)
        return true;
    return (str_starts_with(origin, "http://") && is_local_host(origin + 7)) ||
           (str_starts_with(origin, "https://") && is_local_host(origin + 8));
}

/* Takes as long for any wrong token of the same length. */
static bool has_token(struct MHD_Connection *connection, const char *token)
{
    static const char scheme[] = "Bearer ";
    const char *shown = header_of(connection, "Authorization");
    if (!shown || strncasecmp(shown, scheme, strlen(scheme)) != 0)
        return false;
    shown += strlen(scheme);
    if (strlen(shown) != strlen(token))
        return false;
    unsigned difference = 0;
    for (size_t i = 0; token[i] != '\0'; i++)
        difference |= (unsigned)(unsigned char)shown[i] ^ (unsigned)(unsigned char)token[i];
    return difference == 0;
}

/* --- sessions of the legacy era --- */

static void lock(struct http *http)
{
    if (pthread_mutex_lock(&http->lock) != 0)
        BUG("mcp: a lock fails");
}

static void unlock(struct http *http)
{
    if (pthread_mutex_unlock(&http->lock) != 0)
        BUG("mcp: a lock fails");
}

/* The place of a session, or NULL; the lock is held. */
static struct http_session *session_at(struct http *http, const char *id)
{
    for (size_t i = 0; i < MAX_SESSIONS; i++) {
        if (id[0] != '\0' && str_equal(http->sessions[i].id, id))
            return &http->sessions[i];
    }
    return NULL;
}

static bool session_find(struct http *http, const char *id, struct mcp_session *out)
{
    lock(http);
    struct http_session *found = session_at(http, id);
    if (found) {
        found->used_ns = os_now_ns();
        *out = (struct mcp_session){.version = found->version, .scope = found};
    }
    unlock(http);
    return found != NULL;
}

/* A new one, in the place of the one that was used longest ago. */
static void session_add(struct http *http, const char *version, char id[SESSION_ID_BYTES])
{
    unsigned char random[16];
    os_random(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(id + 2 * i, 3, "%02x", random[i]);
    lock(http);
    struct http_session *oldest = &http->sessions[0];
    for (size_t i = 0; i < MAX_SESSIONS; i++) {
        if (http->sessions[i].used_ns < oldest->used_ns)
            oldest = &http->sessions[i];
    }
    memcpy(oldest->id, id, SESSION_ID_BYTES);
    oldest->version = version;
    oldest->used_ns = os_now_ns();
    unlock(http);
}

static bool session_remove(struct http *http, const char *id)
{
    lock(http);
    struct http_session *found = session_at(http, id);
    if (found)
        *found = (struct http_session){0};
    unlock(http);
    return found != NULL;
}

/* --- streams --- */

/* Has the client closed its end? */
static bool has_left(struct MHD_Connection *connection)
{
    char byte;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return !info || recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

struct stream {
    struct http *http;
    struct MHD_Connection *connection;
    struct exchange *exchange; /* NULL: the stream of a session, on which nothing comes */
    char session[SESSION_ID_BYTES];
    int waits; /* in which nothing came */
};

static bool session_is_there(struct http *http, const char *id)
{
    struct mcp_session session;
    return session_find(http, id, &session);
}

static ssize_t read_stream(void *context, uint64_t position, char *out, size_t room)
{
    static const char comment[] = ": still here\n\n";
    struct stream *s = context;
    (void)position;
    while (!atomic_load(&s->http->is_stopping)) {
        bool is_over = false;
        size_t got = 0;
        if (s->exchange)
            got = exchange_take(s->exchange, out, room, WAIT_MS, &is_over);
        else
            os_sleep_ns(WAIT_MS * INT64_C(1000000));
        if (got > 0)
            return (ssize_t)got;
        if (is_over || (!s->exchange && !session_is_there(s->http, s->session)))
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (has_left(s->connection))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (++s->waits >= KEEP_ALIVE_WAITS && room >= sizeof comment) {
            s->waits = 0;
            memcpy(out, comment, strlen(comment));
            return (ssize_t)strlen(comment);
        }
    }
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static void free_stream(void *context)
{
    struct stream *s = context;
    if (s->exchange) {
        /* Whatever has no answer yet has nobody to go to. */
        mcp_disconnected(s->http->server, &s->exchange->sink);
        exchange_release(s->exchange);
    }
    free(s);
}

static enum MHD_Result answer_stream(struct MHD_Connection *connection, const struct stream *what)
{
    struct stream *s = malloc(sizeof *s);
    if (!s)
        return MHD_NO;
    *s = *what;
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, CONNECTION_MEMORY_BYTES / 4, read_stream, s, free_stream);
    if (!response) {
        free_stream(s);
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, "Content-Type", "text/event-stream");
    (void)MHD_add_response_header(response, "Cache-Control", "no-cache");
    const enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* --- methods --- */

/* Without the blanks around it, in the arena; NULL stays NULL. */
static const char *trimmed(const char *text, struct arena *arena)
{
    if (!text)
        return NULL;
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return arena_strndup(arena, text, length);
}

static enum MHD_Result answer_exchange(struct http *http, struct MHD_Connection *connection,
                                       struct exchange *e, const char *session)
{
    enum exchange_state state;
    while ((state = exchange_wait(e, WAIT_MS)) == EXCHANGE_WAITING) {
        if (!has_left(connection) && !atomic_load(&http->is_stopping))
            continue;
        mcp_disconnected(http->server, &e->sink);
        exchange_release(e);
        return MHD_NO;
    }
    if (state == EXCHANGE_STREAMING)
        return answer_stream(
            connection, &(struct stream){.http = http, .connection = connection, .exchange = e});
    const enum MHD_Result result =
        answer(connection, e->status ? (unsigned)e->status : MHD_HTTP_ACCEPTED,
               e->status ? "application/json" : NULL, buf_text(&e->answer), e->answer.length,
               session ? "Mcp-Session-Id" : NULL, session);
    exchange_release(e);
    return result;
}

static enum MHD_Result take_message(struct http *http, struct MHD_Connection *connection,
                                    const struct buf *body)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char id[SESSION_ID_BYTES] = "";
    const struct mcp_headers headers = {
        .version = trimmed(header_of(connection, "MCP-Protocol-Version"), &arena),
        .method = trimmed(header_of(connection, "Mcp-Method"), &arena),
        .name = trimmed(header_of(connection, "Mcp-Name"), &arena)};
    const char *session_id = header_of(connection, "Mcp-Session-Id");
    const bool is_modern = headers.version && str_equal(headers.version, MCP_MODERN_VERSION);
    struct mcp_session session = {0};
    if (session_id && !is_modern && !session_find(http, session_id, &session))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "there is no such session", NULL, NULL);
    struct exchange *e = exchange_new();
    const bool gets_answer =
        mcp_receive(http->server, &session, &e->sink, &headers, buf_text(body), body->length);
    if (!gets_answer) {
        exchange_release(e);
        return answer(connection, MHD_HTTP_ACCEPTED, NULL, "", 0, NULL, NULL);
    }
    if (!session_id && session.version)
        session_add(http, session.version, id);
    return answer_exchange(http, connection, e, id[0] != '\0' ? id : NULL);
}

static enum MHD_Result take_post(struct http *http, struct MHD_Connection *connection,
                                 const struct request *request)
{
    const char *type = header_of(connection, "Content-Type");
    if (request->is_too_long)
        return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, "a message is longer than 2 MiB",
                      NULL, NULL);
    if (type && !str_starts_with(type, "application/json"))
        return refuse(connection, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "send application/json", NULL,
                      NULL);
    return take_message(http, connection, &request->body);
}

static enum MHD_Result take_get(struct http *http, struct MHD_Connection *connection)
{
    const char *id = header_of(connection, "Mcp-Session-Id");
    const char *wanted = header_of(connection, "Accept");
    if (!id || !wanted || !strstr(wanted, "text/event-stream"))
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET is for the stream of a session",
                      "Allow", "POST");
    if (!session_is_there(http, id))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "there is no such session", NULL, NULL);
    struct stream stream = {.http = http, .connection = connection};
    (void)snprintf(stream.session, sizeof stream.session, "%s", id);
    return answer_stream(connection, &stream);
}

static enum MHD_Result take_delete(struct http *http, struct MHD_Connection *connection)
{
    const char *id = header_of(connection, "Mcp-Session-Id");
    if (!id)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "DELETE is for a session", "Allow",
                      "POST");
    if (!session_remove(http, id))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "there is no such session", NULL, NULL);
    return answer(connection, MHD_HTTP_NO_CONTENT, NULL, "", 0, NULL, NULL);
}

static enum MHD_Result take_request(struct http *http, struct MHD_Connection *connection,
                                    const char *path, const char *method,
                                    const struct request *request)
{
    if (!http->opts->any_interface && !is_local(connection))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "only this machine may ask", NULL, NULL);
    if (http->opts->token && !has_token(connection, http->opts->token))
        return refuse(connection, MHD_HTTP_UNAUTHORIZED, "the bearer token is missing or wrong",
                      "WWW-Authenticate", "Bearer realm=\"kope\"");
    if (!str_equal(path, "/mcp"))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "the endpoint is /mcp", NULL, NULL);
    if (str_equal(method, "POST"))
        return take_post(http, connection, request);
    if (str_equal(method, "GET"))
        return take_get(http, connection);
    if (str_equal(method, "DELETE"))
        return take_delete(http, connection);
    return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "POST a message", "Allow", "POST");
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *length, void **slot)
{
    struct http *http = context;
    struct request *request = *slot;
    (void)version;
    if (!request) {
        *slot = calloc(1, sizeof *request);
        return *slot ? MHD_YES : MHD_NO;
    }
    if (*length > 0) {
        if (request->body.length + *length > MCP_MAX_MESSAGE_BYTES)
            request->is_too_long = true;
        else
            (void)buf_append(&request->body, data, *length);
        *length = 0;
        return MHD_YES;
    }
    return take_request(http, connection, path, method, request);
}

static void on_done(void *context, struct MHD_Connection *connection, void **slot,
                    enum MHD_RequestTerminationCode code)
{
    struct request *request = *slot;
    (void)context;
    (void)connection;
    (void)code;
    if (!request)
        return;
    buf_free(&request->body);
    free(request);
    *slot = NULL;
}

/* --- start and end --- */

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } socket;
    char host[64]; /* as it stands in a URL */
    bool is_v6, is_local;
};

/* "HOST:PORT" with a numeric host, or localhost. */
static bool parse_address(const char *text, struct address *out, struct err *err)
{
    struct address a = {0};
    const char *colon = strrchr(text, ':');
    int64_t port = -1;
    char name[64];
    if (!colon || (size_t)(colon - text) >= sizeof name || !str_parse_int64(colon + 1, &port) ||
        port < 0 || port > UINT16_MAX) {
        (void)err_set(err, ERR_USAGE, "'%.80s' is no address", text);
        return err_hint(err, "write 127.0.0.1:8080; port 0 takes any that is free");
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
    (void)snprintf(a.host, sizeof a.host, "%s", name);
    const size_t length = strlen(name);
    if (length > 2 && name[0] == '[' && name[length - 1] == ']') {
        name[length - 1] = '\0';
        a.is_v6 = true;
        a.socket.v6.sin6_family = AF_INET6;
        a.socket.v6.sin6_port = htons((uint16_t)port);
        if (inet_pton(AF_INET6, name + 1, &a.socket.v6.sin6_addr) != 1)
            return err_set(err, ERR_USAGE, "'%.80s' is no address", text);
        a.is_local = IN6_IS_ADDR_LOOPBACK(&a.socket.v6.sin6_addr);
    } else {
        a.socket.v4.sin_family = AF_INET;
        a.socket.v4.sin_port = htons((uint16_t)port);
        const char *host = str_equal(name, "localhost") ? "127.0.0.1" : name;
        if (inet_pton(AF_INET, host, &a.socket.v4.sin_addr) != 1)
            return err_set(err, ERR_USAGE, "'%.80s' is no address", text);
        a.is_local = (ntohl(a.socket.v4.sin_addr.s_addr) >> 24) == 127;
    }
    *out = a;
    return true;
}

static void serve(struct http *http, struct MHD_Daemon *daemon, const struct address *address)
{
    const struct mcp_http_opts *opts = http->opts;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    char url[128];
    (void)snprintf(url, sizeof url, "http://%s:%u/mcp", address->host,
                   info ? (unsigned)info->port : 0u);
    if (opts->on_ready)
        opts->on_ready(opts->on_ready_context, url);
    while (!os_signalled()) {
        if (opts->host.tick)
            opts->host.tick(opts->host.context);
        os_sleep_ns(WAIT_MS * INT64_C(1000000));
    }
    atomic_store(&http->is_stopping, true);
}

static void be_silent(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments;
}

bool mcp_serve_http(struct mcp_server *server, const struct mcp_http_opts *opts, struct err *err)
{
    struct http http = {.server = server, .opts = opts};
    struct address address;
    if (!parse_address(opts->address, &address, err))
        return false;
    if (!address.is_local && !opts->any_interface) {
        (void)err_set(err, ERR_USAGE, "others can reach '%s'", opts->address);
        return err_hint(err, "bind 127.0.0.1, or add --expose where that is meant");
    }
    if (pthread_mutex_init(&http.lock, NULL) != 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        BUG("mcp: cannot set up");
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ERROR_LOG |
            (address.is_v6 ? MHD_USE_IPv6 : MHD_NO_FLAG),
        0, NULL, NULL, on_request, &http, MHD_OPTION_EXTERNAL_LOGGER, be_silent, NULL,
        MHD_OPTION_SOCK_ADDR, &address.socket.any, MHD_OPTION_NOTIFY_COMPLETED, on_done, NULL,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_TIMEOUT_S,
        MHD_OPTION_END);
    const bool ok = daemon != NULL;
    if (ok) {
        serve(&http, daemon, &address);
        MHD_stop_daemon(daemon);
    }
    if (opts->host.stop)
        opts->host.stop(opts->host.context);
    (void)pthread_mutex_destroy(&http.lock);
    return ok || err_set(err, ERR_IO, "cannot listen on '%s': is the port in use?", opts->address);
}
