/*
 * What servers of the three APIs say, for scripted peers: whole replies, streamed and not, and what
 * goes wrong in the middle. Formats with three values, in this order: the text (a JSON string's
 * inside), input tokens, output tokens.
 *
 * A row of `model_apis` each; static data in a header, since a unit test links to one module only.
 */
#ifndef KOPE_TESTS_MODEL_REPLIES_H
#define KOPE_TESTS_MODEL_REPLIES_H

struct model_api {
    const char *dialect;
    const char *path;   /* of the request, after the host */
    const char *stream; /* the whole reply as events; its text in two pieces, the first "he" */
    const char *json;   /* the same, not streamed */
    const char *part;   /* events without values that begin a reply and do not end it */
    const char *error;  /* an event that ends a stream with an error that may pass */
    const char *end;    /* the last event of `stream`, which some servers leave out */
    const char *length; /* as `stream`, cut off at the cap */
};

static const struct model_api model_apis[] = {
    {
        .dialect = "openai",
        .path = "/v1/chat/completions",
        .stream = "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":"
                  "{\"role\":\"assistant\",\"content\":\"he\"}}]}\n\n"
                  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"}}]}\n\n"
                  "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
                  "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,"
                  "\"prompt_tokens_details\":{\"cached_tokens\":3}}}\n\n"
                  "data: [DONE]\n\n",
        .json = "{\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"content\":"
                "\"he%s\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":%d,"
                "\"completion_tokens\":%d,\"prompt_tokens_details\":{\"cached_tokens\":3}}}",
        .part = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lost\"}}]}\n\n"
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"caf\xc3",
        .error = "data: {\"error\":{\"code\":502,\"message\":\"upstream\"}}\n\n",
        .end = "data: [DONE]\n\n",
        .length = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half %s\"}}]}\n\n"
                  "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}],\"usage\":"
                  "{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n",
    },
    {
        .dialect = "openai-responses",
        .path = "/v1/responses",
        .stream =
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":"
            "\"r1\",\"model\":\"m\",\"status\":\"in_progress\",\"output\":[],\"error\":null}}\n\n"
            "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\","
            "\"delta\":\"he\"}\n\n"
            "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\","
            "\"delta\":\"%s\"}\n\n"
            "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{"
            "\"id\":\"r1\",\"status\":\"completed\",\"error\":null,\"usage\":{\"input_tokens\":%d,"
            "\"output_tokens\":%d,\"input_tokens_details\":{\"cached_tokens\":3}}}}\n\n",
        .json = "{\"id\":\"r1\",\"object\":\"response\",\"status\":\"completed\",\"error\":null,"
                "\"model\":\"m\",\"output\":[{\"type\":\"reasoning\",\"summary\":[]},{\"type\":"
                "\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"he%s\"}]}],"
                "\"usage\":{\"input_tokens\":%d,\"output_tokens\":%d,\"input_tokens_details\":{"
                "\"cached_tokens\":3}}}",
        .part = "event: response.output_text.delta\ndata: {\"type\":"
                "\"response.output_text.delta\",\"delta\":\"lost\"}\n\n"
                "event: response.output_text.delta\ndata: {\"type\":"
                "\"response.output_text.delta\",\"delta\":\"caf\xc3",
        .error = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{"
                 "\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":"
                 "\"upstream\"}}}\n\n",
        .end = "", /* without its last event a response has no end */
        .length = "event: response.output_text.delta\ndata: {\"type\":"
                  "\"response.output_text.delta\",\"delta\":\"half %s\"}\n\n"
                  "event: response.incomplete\ndata: {\"type\":\"response.incomplete\",\"response\""
                  ":{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":"
                  "\"max_output_tokens\"},\"usage\":{\"input_tokens\":%d,\"output_tokens\":%d}}}"
                  "\n\n",
    },
    {
        .dialect = "anthropic",
        .path = "/v1/messages",
        /* 7 of the input are new, 3 from the cache; the last count is cumulative. */
        .stream =
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"a1\","
            "\"model\":\"m\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
            "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
            "event: ping\ndata: {\"type\":\"ping\"}\n\n"
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
            "\"delta\":{\"type\":\"text_delta\",\"text\":\"he\"}}\n\n"
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
            "\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n"
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
            "\"end_turn\"},\"usage\":{\"input_tokens\":%d,\"cache_read_input_tokens\":3,"
            "\"output_tokens\":%d}}\n\n"
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        .json = "{\"id\":\"a1\",\"type\":\"message\",\"model\":\"m\",\"content\":[{\"type\":"
                "\"text\",\"text\":\"he%s\"}],\"stop_reason\":\"end_turn\",\"usage\":{"
                "\"input_tokens\":%d,\"cache_read_input_tokens\":3,\"output_tokens\":%d}}",
        .part = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{"
                "\"input_tokens\":7,\"output_tokens\":1}}}\n\n"
                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
                "\"delta\":{\"type\":\"text_delta\",\"text\":\"caf\xc3",
        .error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
                 "\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
        .end = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        .length = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
                  "\"delta\":{\"type\":\"text_delta\",\"text\":\"half %s\"}}\n\n"
                  "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"
                  "\"stop_reason\":\"max_tokens\"},\"usage\":{\"input_tokens\":%d,"
                  "\"output_tokens\":%d}}\n\n"
                  "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    },
};
enum { MODEL_API_COUNT = sizeof model_apis / sizeof *model_apis };

#endif
