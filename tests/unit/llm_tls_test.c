/* A server whose certificate nobody vouches for: refused at once, and it never sees the key. */
#include "base/arena.h"
#include "llm/llm.h"
#include "os/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct tls_peer {
    SSL_CTX *tls;
    EVP_PKEY *key;
    X509 *certificate;
    int listen_fd, port;
    pthread_t thread;
    atomic_bool is_stopping;
    atomic_int connections, bytes; /* bytes: of requests, after a handshake */
};

static void serve_one(struct tls_peer *peer, int fd)
{
    char text[4096];
    SSL *ssl = SSL_new(peer->tls);
    assert_non_null(ssl);
    (void)atomic_fetch_add(&peer->connections, 1);
    if (SSL_set_fd(ssl, fd) == 1 && SSL_accept(ssl) == 1) {
        const int got = SSL_read(ssl, text, sizeof text);
        if (got > 0)
            (void)atomic_fetch_add(&peer->bytes, got);
    }
    SSL_free(ssl);
    (void)close(fd);
}

static void *serve(void *context)
{
    struct tls_peer *peer = context;
    while (!atomic_load(&peer->is_stopping)) {
        struct pollfd wanted = {.fd = peer->listen_fd, .events = POLLIN};
        const int fd = poll(&wanted, 1, 10) > 0 ? accept(peer->listen_fd, NULL, NULL) : -1;
        if (fd >= 0)
            serve_one(peer, fd);
    }
    return NULL;
}

/* A certificate for 127.0.0.1 that is signed by itself. */
static void make_certificate(struct tls_peer *peer)
{
    peer->key = EVP_EC_gen("P-256");
    peer->certificate = X509_new();
    assert_non_null(peer->key);
    assert_non_null(peer->certificate);
    X509_NAME *name = X509_get_subject_name(peer->certificate);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(peer->certificate), 1), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(peer->certificate), -60));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(peer->certificate), 3600));
    assert_int_equal(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                                (const unsigned char *)"127.0.0.1", -1, -1, 0),
                     1);
    assert_int_equal(X509_set_issuer_name(peer->certificate, name), 1);
    assert_int_equal(X509_set_pubkey(peer->certificate, peer->key), 1);
    assert_true(X509_sign(peer->certificate, peer->key, EVP_sha256()) > 0);
}

static void start(struct tls_peer *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    make_certificate(peer);
    peer->tls = SSL_CTX_new(TLS_server_method());
    assert_non_null(peer->tls);
    assert_int_equal(SSL_CTX_use_certificate(peer->tls, peer->certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(peer->tls, peer->key), 1);
    peer->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(peer->listen_fd >= 0);
    assert_int_equal(bind(peer->listen_fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(peer->listen_fd, 8), 0);
    assert_int_equal(getsockname(peer->listen_fd, (struct sockaddr *)&address, &length), 0);
    peer->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&peer->thread, NULL, serve, peer), 0);
}

static void stop(struct tls_peer *peer)
{
    atomic_store(&peer->is_stopping, true);
    assert_int_equal(pthread_join(peer->thread, NULL), 0);
    (void)close(peer->listen_fd);
    SSL_CTX_free(peer->tls);
    X509_free(peer->certificate);
    EVP_PKEY_free(peer->key);
}

static void llm_chat__certificate_of_nobody__refused_without_the_key(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(llm_close) struct llm *llm = NULL;
    struct tls_peer peer = {0};
    const struct llm_message message = {.role = "user", .text = "hello"};
    const struct llm_request request = {.messages = &message, .count = 1};
    struct llm_reply reply;
    struct err err = {0};
    char url[64];
    (void)state;
    start(&peer);
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%d/v1", peer.port);
    assert_int_equal(setenv("KOPE_TEST_KEY", "sk-test-0123456789abcdef", 1), 0);
    const struct llm_opts opts = {
        .base_url = url, .model = "m", .key_variable = "KOPE_TEST_KEY", .retries = 3};
    assert_true(llm_open(&opts, &llm, &err));
    const int64_t begin_ns = os_now_ns();
    assert_false(llm_chat(llm, &request, &arena, &reply, &err));
    assert_true(os_now_ns() - begin_ns < INT64_C(5000000000));
    stop(&peer);
    assert_int_equal(err.kind, ERR_NETWORK);
    assert_non_null(strstr(err.message, "certificate"));
    assert_int_equal(atomic_load(&peer.connections), 1);
    assert_int_equal(atomic_load(&peer.bytes), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llm_chat__certificate_of_nobody__refused_without_the_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
