/* The spans of a run: OTLP's shape, the names of the GenAI conventions, no content unless asked. */
#include "engine_llm_fixture.h"

#include "../peers/otlp_shape.h"

struct seen {
    int by_name[6];
    int64_t input_tokens;
    bool has_error, has_content;
};

static const char *const names[6] = {"optimize", "step", "chat m", "judge", "confirm", "gate"};

static const struct json *attribute(const struct json *span, const char *key)
{
    const struct json *list = json_get(span, "attributes");
    for (const struct json *item = list->first; item; item = item->next) {
        if (str_equal(json_string(json_get(item, "key"), ""), key))
            return json_get(item, "value");
    }
    return NULL;
}

static void look(void *context, const struct json *span)
{
    struct seen *seen = context;
    const char *name = json_string(json_get(span, "name"), "");
    for (size_t i = 0; i < 6; i++)
        seen->by_name[i] += i == 5 ? str_starts_with(name, "gate ") : str_equal(name, names[i]);
    seen->has_content = seen->has_content || attribute(span, "gen_ai.input.messages") ||
                        attribute(span, "kope.intent");
    if (!str_equal(name, "chat m"))
        return;
    assert_int_equal(json_int(json_get(span, "kind"), 0), 3);
    assert_non_null(json_get(span, "parentSpanId"));
    assert_string_equal(
        json_string(json_get(attribute(span, "gen_ai.operation.name"), "stringValue"), ""), "chat");
    assert_string_equal(
        json_string(json_get(attribute(span, "gen_ai.request.model"), "stringValue"), ""), "m");
    assert_non_null(attribute(span, "gen_ai.provider.name"));
    if (attribute(span, "error.type")) {
        seen->has_error = true;
        return;
    }
    int64_t tokens = 0;
    assert_true(str_parse_int64(
        json_string(json_get(attribute(span, "gen_ai.usage.input_tokens"), "intValue"), ""),
        &tokens));
    seen->input_tokens += tokens;
    assert_non_null(attribute(span, "gen_ai.usage.output_tokens"));
    assert_non_null(attribute(span, "gen_ai.usage.cache_read.input_tokens"));
    const struct json *reasons = json_get(
        json_get(attribute(span, "gen_ai.response.finish_reasons"), "arrayValue"), "values");
    assert_string_equal(json_string(json_get(json_at(reasons, 0), "stringValue"), ""), "stop");
}

static struct seen traced_run(struct place *p, bool with_content)
{
    struct seen seen = {0};
    char *text = NULL;
    p->opts.trace = os_path_join(&p->arena, p->dir, "spans.json");
    p->opts.trace_content = with_content;
    p->opts.budget = 2;
    say(p, "no JSON");
    say(p, file_reply(p, 500));
    p->steps[p->step_count++] =
        (struct http_peer_step){.status = "400 Bad Request", .body = "{\"error\":\"no\"}"};
    optimize(p, NULL);
    assert_null(p->result.trace_problem);
    assert_true(os_read_file(p->opts.trace, 1 << 24, &p->arena, &text, NULL, &p->err));
    assert_true(otlp_each(text, &p->arena, look, &seen) > 5);
    return seen;
}

static void trace__a_run__is_told_without_content(void **state)
{
    struct place *p = *state;
    const struct seen seen = traced_run(p, false);
    assert_int_equal(seen.by_name[0], 1);
    assert_int_equal(seen.by_name[1], 2);
    assert_int_equal(seen.by_name[2], 3);
    assert_int_equal(seen.by_name[3], 1);
    assert_int_equal(seen.by_name[4], 1);
    assert_true(seen.by_name[5] >= 2);
    assert_int_equal(seen.input_tokens, 100 + 101);
    assert_true(seen.has_error);
    assert_false(seen.has_content);
}

static void trace__content_was_asked_for__is_there(void **state)
{
    assert_true(traced_run(*state, true).has_content);
}

static void trace__collector_is_gone__the_run_goes_on_and_says_so(void **state)
{
    struct place *p = *state;
    p->opts.trace = "http://127.0.0.1:9/v1/traces";
    p->opts.budget = 1;
    say(p, file_reply(p, 500));
    optimize(p, NULL);
    assert_true(p->result.has_win);
    assert_non_null(p->result.trace_problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE(trace__a_run__is_told_without_content),
        PLACE(trace__content_was_asked_for__is_there),
        PLACE(trace__collector_is_gone__the_run_goes_on_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
