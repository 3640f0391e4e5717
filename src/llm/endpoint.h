/* A base URL taken apart, and addresses on its server. */
#ifndef KOPE_LLM_ENDPOINT_H
#define KOPE_LLM_ENDPOINT_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct endpoint {
    const char *base_url; /* without a '/' at its end */
    const char *host;
    bool is_loopback; /* no proxy is asked */
};

/* ERR_BAD_INPUT for what is no http(s) URL, and for one with a user, a password, a query or a
 * fragment (a secret does not belong there). */
bool endpoint_parse(const char *base_url, struct arena *arena, struct endpoint *out,
                    struct err *err);

/* The base URL and a path ("/chat/completions"). Where both have "/v1" it stands once: one API's
 * base URL ends in it and the other's does not, and people take one for the other. */
const char *endpoint_url(const struct endpoint *endpoint, const char *path, struct arena *arena);

#endif
