#include "llm/endpoint.h"

#include "base/str.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

static bool is_loopback(const char *host)
{
    if (strcasecmp(host, "localhost") == 0 || str_equal(host, "[::1]"))
        return true;
    /* Digits and dots only: "127.example.org" is somewhere else. */
    return str_starts_with(host, "127.") && strspn(host, "0123456789.") == strlen(host);
}

/* A part of the URL in the arena; NULL where it has none. */
static const char *part(CURLU *url, CURLUPart what, struct arena *arena)
{
    char *text = NULL;
    if (curl_url_get(url, what, &text, 0) != CURLUE_OK)
        return NULL;
    const char *copy = arena_strdup(arena, text);
    curl_free(text);
    return copy;
}

static bool take_apart(CURLU *url, const char *base_url, struct arena *arena, struct endpoint *out,
                       struct err *err)
{
    if (curl_url_set(url, CURLUPART_URL, base_url, 0) != CURLUE_OK) {
        (void)err_set(err, ERR_BAD_INPUT, "the base URL of the model's server is not a URL");
        return err_hint(err, "it looks like https://api.openai.com/v1");
    }
    const char *scheme = part(url, CURLUPART_SCHEME, arena);
    const char *host = part(url, CURLUPART_HOST, arena);
    if (part(url, CURLUPART_USER, arena) || part(url, CURLUPART_PASSWORD, arena) ||
        part(url, CURLUPART_QUERY, arena) || part(url, CURLUPART_FRAGMENT, arena)) {
        (void)err_set(err, ERR_BAD_INPUT,
                      "the base URL of the model's server has a user, a query or a fragment");
        return err_hint(err, "leave them out; the key goes into an environment variable");
    }
    if (!host || !scheme || !(str_equal(scheme, "http") || str_equal(scheme, "https")))
        return err_set(err, ERR_BAD_INPUT,
                       "the base URL of the model's server must begin with http:// or https://");
    size_t length = strlen(base_url);
    while (length > 0 && base_url[length - 1] == '/')
        length--;
    *out = (struct endpoint){
        .base_url = arena_strndup(arena, base_url, length),
        .host = host,
        .is_loopback = is_loopback(host),
    };
    return true;
}

bool endpoint_parse(const char *base_url, struct arena *arena, struct endpoint *out,
                    struct err *err)
{
    CURLU *url = curl_url();
    if (!url)
        BUG("llm: out of memory");
    const bool ok = take_apart(url, base_url, arena, out, err);
    curl_url_cleanup(url);
    return ok;
}

const char *endpoint_url(const struct endpoint *endpoint, const char *path, struct arena *arena)
{
    static const char version[] = "/v1";
    if (str_starts_with(path, "/v1/") && str_ends_with(endpoint->base_url, version))
        path += strlen(version);
    return arena_printf(arena, "%s%s", endpoint->base_url, path);
}
