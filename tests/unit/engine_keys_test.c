/* A key in the environment, echoed by the server wherever it can: after a whole run it is in no
 * file that the run has left, raw or unpacked, and in no message. */
#include "engine_llm_fixture.h"

#include <zstd.h>

#define KEY "sk-planted-0123456789abcdef"

enum { FILE_LIMIT_BYTES = 64 * 1024 * 1024 };

static bool holds(const char *data, size_t length, const char *what)
{
    const size_t n = strlen(what);
    for (size_t i = 0; i + n <= length; i++) {
        if (data[i] == what[0] && memcmp(data + i, what, n) == 0)
            return true;
    }
    return false;
}

/* Files under `path` that hold `what`, as they are or unpacked. */
static int files_with(const char *path, const char *what, struct arena *arena)
{
    struct err err = {0};
    char **names = NULL;
    size_t count = 0;
    int found = 0;
    if (os_path_is_dir(path)) {
        assert_true(os_list_dir(path, arena, &names, &count, &err));
        for (size_t i = 0; i < count; i++)
            found += files_with(os_path_join(arena, path, names[i]), what, arena);
        return found;
    }
    char *data = NULL;
    size_t length = 0;
    if (!os_read_file(path, FILE_LIMIT_BYTES, arena, &data, &length, &err))
        fail_msg("%s", err.message);
    if (holds(data, length, what))
        return 1;
    if (!str_ends_with(path, ".zst"))
        return 0;
    const unsigned long long size = ZSTD_getFrameContentSize(data, length);
    assert_true(size < FILE_LIMIT_BYTES);
    char *unpacked = arena_alloc(arena, (size_t)size + 1);
    assert_int_equal(ZSTD_decompress(unpacked, (size_t)size, data, length), size);
    return holds(unpacked, (size_t)size, what);
}

static void optimize__key_echoed_everywhere__in_no_file(void **state)
{
    struct place *p = *state;
    const char *source = arena_printf(
        &p->arena,
        "void scale2(const real *x, real *y, int64_t n);\n/* fake: time=500us, key " KEY " */\n");
    p->opts.budget = 1;
    p->opts.trace = os_path_join(&p->arena, p->dir, "spans.jsonl");
    p->opts.trace_content = true;
    p->steps[p->step_count++] = (struct http_peer_step){
        .status = "500 " KEY,
        .headers = "retry-after-ms: 1\r\nX-Key: " KEY "\r\n",
        .body = "{\"error\":{\"message\":\"" KEY "\",\"code\":\"" KEY "\"}}"};
    say(p, "not a proposal, but " KEY);
    say(p, arena_printf(&p->arena, "{\"proposals\":[%s]}",
                        proposal(p, "to keep " KEY, 0.5, source, NULL, NULL)));
    serve(p);
    assert_int_equal(setenv("OPENAI_API_KEY", KEY, 1), 0);
    const bool ok = engine_optimize(&p->opts, NULL, &p->arena, &p->result, &p->err);
    assert_int_equal(unsetenv("OPENAI_API_KEY"), 0);
    if (!ok)
        fail_msg("%s", p->err.message);
    assert_int_equal(requests(p), 3);
    assert_non_null(strstr(p->peer.requests[2], "Authorization: Bearer " KEY));
    assert_true(p->result.has_win);
    assert_null(strstr(p->result.best_source, KEY));
    assert_int_equal(files_with(p->dir, KEY, &p->arena), 0);
    assert_int_equal(files_with(p->dir, "sk-planted", &p->arena), 0);
    /* The search finds what is there: the source in the store, the intent in the graph, the reply
     * in the spans. */
    assert_true(files_with(p->dir, "key [key] */", &p->arena) >= 2);
    assert_true(files_with(p->opts.memory_dir, "to keep [key]", &p->arena) >= 1);
    assert_true(files_with(p->dir, "not a proposal, but [key]", &p->arena) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {PLACE(optimize__key_echoed_everywhere__in_no_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
