/* Is a reply what was asked for: whole, and JSON where a schema was given? */
#include "llm/driver.h"

#include "base/str.h"
#include "json/json.h"

#include <string.h>

/* Models that think in the open begin with it; it is not part of the answer. */
static const char *after_thoughts(const char *text)
{
    static const char opening[] = "<think>";
    static const char closing[] = "</think>";
    const char *begin = text + strspn(text, " \t\r\n");
    const char *end = str_starts_with(begin, opening) ? strstr(begin, closing) : NULL;
    if (!end)
        return text;
    end += strlen(closing);
    return end + strspn(end, " \t\r\n");
}

/* JSON often comes in a fenced block, whatever was asked; the text inside it. */
static const char *inside_fence(const char *text, struct arena *arena)
{
    text += strspn(text, " \t\r\n");
    if (!str_starts_with(text, "```"))
        return text;
    const char *begin = strchr(text, '\n');
    if (!begin)
        return text;
    size_t length = strlen(begin);
    while (length > 0 && strchr(" \t\r\n", begin[length - 1]))
        length--;
    if (length < 3 || strncmp(begin + length - 3, "```", 3) != 0)
        return text;
    return arena_strndup(arena, begin, length - 3);
}

static const char *problem_of(const struct llm_request *request, struct arena *arena,
                              struct llm_reply *reply)
{
    reply->is_repairable = true;
    if (str_equal(reply->finish_reason, "content_filter") ||
        str_equal(reply->finish_reason, "refusal")) {
        reply->is_repairable = false;
        return arena_printf(arena, "the model refused: %.300s",
                            reply->text[0] != '\0' ? reply->text : reply->finish_reason);
    }
    if (str_equal(reply->finish_reason, "length"))
        return arena_printf(arena, "the reply was cut off at %lld tokens; it has to be shorter",
                            (long long)reply->usage.output_tokens);
    if (reply->text[strspn(reply->text, " \t\r\n")] == '\0')
        return "the reply is empty";
    struct err err = {0};
    const struct json *value = NULL;
    if (request->schema_json &&
        !json_parse(reply->text, strlen(reply->text), "reply", arena, &value, &err))
        return arena_printf(arena, "the reply is not valid JSON (%s)", err.message);
    return NULL;
}

void llm_judge_reply(const struct llm_request *request, struct arena *arena,
                     struct llm_reply *reply)
{
    reply->text = after_thoughts(reply->text);
    if (request->schema_json)
        reply->text = inside_fence(reply->text, arena);
    reply->problem = problem_of(request, arena, reply);
    reply->is_repairable = reply->is_repairable && reply->problem;
}
