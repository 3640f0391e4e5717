/*
 * How providers of the one protocol differ, as rows: which variable holds the key and how the cap
 * on the reply is called.
 */
#ifndef KOPE_LLM_PROVIDER_H
#define KOPE_LLM_PROVIDER_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct provider {
    const char *name;
    const char *host;             /* NULL: any other */
    const char *key_variable;     /* where the key is by default */
    const char *max_tokens_field; /* name of the cap on output tokens in a request */
};

/* Never NULL: the last row stands for every server that no other row names. */
const struct provider *provider_find(const char *host);

/* A base URL taken apart. */
struct endpoint {
    const char *url; /* of chat completions */
    const char *host;
    bool is_loopback; /* no proxy is asked */
};

/* ERR_BAD_INPUT for what is no http(s) URL, and for one with a user, a password, a query or a
 * fragment (a secret does not belong there). */
bool endpoint_parse(const char *base_url, struct arena *arena, struct endpoint *out,
                    struct err *err);

#endif
