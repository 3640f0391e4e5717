/*
 * The reply of a chat completion that a scripted peer gives: not streamed, one choice, with its
 * usage. Static functions in a header, since a unit test links to one module only.
 */
#ifndef KOPE_TESTS_CHAT_REPLY_H
#define KOPE_TESTS_CHAT_REPLY_H

#include "base/arena.h"
#include "base/buf.h"
#include "http_peer.h"
#include "json/json.h"

/* In the arena; `finish` is "stop", "length"; the two counts are of tokens. */
static inline struct http_peer_step chat_reply(struct arena *arena, const char *text,
                                               const char *finish, int in, int out)
{
    struct buf body = {0};
    struct json_writer w = {.out = &body};
    json_begin_object(&w);
    json_key(&w, "choices");
    json_begin_array(&w);
    json_begin_object(&w);
    json_key(&w, "message");
    json_begin_object(&w);
    json_put_string(&w, "content", text);
    json_end_object(&w);
    json_put_string(&w, "finish_reason", finish);
    json_end_object(&w);
    json_end_array(&w);
    json_key(&w, "usage");
    json_begin_object(&w);
    json_put_int(&w, "prompt_tokens", in);
    json_put_int(&w, "completion_tokens", out);
    json_end_object(&w);
    json_end_object(&w);
    const struct http_peer_step step = {.body = arena_strdup(arena, buf_text(&body))};
    buf_free(&body);
    return step;
}

#endif
