/* What the tests of the engine with a model share: a task for the fake target, a scripted server,
 * replies as models write them. */
#ifndef KOPE_TESTS_ENGINE_LLM_FIXTURE_H
#define KOPE_TESTS_ENGINE_LLM_FIXTURE_H

#include "engine_place.h"

#include "../peers/chat_reply.h"

#include "engine/engine.h"
#include "journal/event.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_STEPS = 40 };

struct place {
    struct arena arena;
    char *dir;
    struct http_peer peer;
    struct http_peer_step steps[MAX_STEPS];
    size_t step_count;
    bool is_serving;
    int64_t served_tokens; /* of all replies in the script */
    struct optimize_opts opts;
    struct optimize_result result;
    struct err err;
};

static inline int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    struct err err = {0};
    assert_non_null(p);
    assert_true(os_make_temp_dir("kope-llm", &p->arena, &p->dir, &err));
    p->opts = (struct optimize_opts){.task_path = write_task(&p->arena, p->dir),
                                     .memory_dir = os_path_join(&p->arena, p->dir, "memory"),
                                     .target = "fake",
                                     .proposer = "llm:m",
                                     .seed = 1,
                                     .has_seed = true,
                                     .budget = 4};
    *state = p;
    return 0;
}

static inline void stop_peer(struct place *p)
{
    if (p->is_serving)
        http_peer_stop(&p->peer);
    p->is_serving = false;
}

static inline int remove_place(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    os_interrupt_set(false);
    stop_peer(p);
    assert_true(os_remove_tree(p->dir, &err));
    arena_free(&p->arena);
    free(p);
    return 0;
}

#define PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

/* A proposal as a model writes it; of file, edits and move (JSON) one is given. */
static inline const char *proposal(struct place *p, const char *intent, double log_speedup,
                                   const char *file, const char *edits, const char *move)
{
    struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_string(&w, "intent", intent);
    json_put_string(&w, "hypothesis", "it does less");
    json_put_real(&w, "predicted_log_speedup", log_speedup);
    json_put_string(&w, "file", file);
    json_end_object(&w);
    const char *json =
        arena_printf(&p->arena,
                     "%.*s,\"uses\":[],\"compiler\":null,\"flags\":%s,"
                     "\"edits\":%s,\"move\":%s}",
                     (int)text.length - 1, buf_text(&text), move ? "null" : "[\"-O3\"]",
                     edits ? edits : "null", move ? move : "null");
    buf_free(&text);
    return json;
}

/* A whole file that takes so many microseconds; the reference takes 1000. */
static inline const char *timed_file(struct place *p, int us)
{
    return arena_printf(
        &p->arena, "void scale2(const real *x, real *y, int64_t n);\n/* fake: time=%dus */\n", us);
}

static inline const char *file_reply(struct place *p, int us)
{
    return arena_printf(&p->arena, "{\"proposals\":[%s]}",
                        proposal(p, arena_printf(&p->arena, "takes %d us", us), 0.5,
                                 timed_file(p, us), NULL, NULL));
}

static inline struct http_peer_step reply_step(struct place *p, const char *text,
                                               const char *finish, int in, int out)
{
    p->served_tokens += in + out;
    return chat_reply(&p->arena, text, finish, in, out);
}

static inline void say(struct place *p, const char *text)
{
    assert_true(p->step_count < MAX_STEPS);
    const int n = (int)p->step_count;
    p->steps[p->step_count++] = reply_step(p, text, "stop", 100 + n, 50 + n);
}

static inline void serve(struct place *p)
{
    p->peer = (struct http_peer){.steps = p->steps, .step_count = p->step_count};
    http_peer_start(&p->peer);
    p->is_serving = true;
    p->opts.base_url = p->peer.url;
    (void)setenv("OPENAI_API_KEY", "no-secret-here", 1);
}

static inline size_t requests(struct place *p)
{
    return atomic_load(&p->peer.request_count);
}

static inline void optimize(struct place *p, const struct observer *observer)
{
    serve(p);
    if (!engine_optimize(&p->opts, observer, &p->arena, &p->result, &p->err))
        fail_msg("%s (%s)", p->err.message, p->err.hint);
}

static inline void resume(struct place *p, const struct observer *observer)
{
    os_interrupt_set(false);
    const struct optimize_opts opts = {.memory_dir = p->opts.memory_dir};
    if (!engine_resume("last", &opts, observer, &p->arena, &p->result, &p->err))
        fail_msg("%s (%s)", p->err.message, p->err.hint);
}

static inline struct memory open_graph(struct place *p)
{
    struct memory memory = {0};
    if (!memory_open(p->opts.memory_dir, false, &p->arena, &memory, &p->err))
        fail_msg("%s", p->err.message);
    return memory;
}

static inline struct graph_decisions decisions(struct place *p)
{
    CLEANUP(memory_close) struct memory memory = open_graph(p);
    struct graph_decisions all;
    assert_true(graph_run_decisions(memory.graph, p->result.run_id, &p->arena, &all, &p->err));
    return all;
}

static inline const struct graph_exchange *exchanges(struct place *p, size_t *count)
{
    CLEANUP(memory_close) struct memory memory = open_graph(p);
    const struct graph_exchange *all = NULL;
    assert_true(graph_exchanges(memory.graph, p->result.run_id, &p->arena, &all, count, &p->err));
    return all;
}

/* What the journal says was spent. */
static inline int64_t kept_tokens(struct place *p)
{
    size_t count = 0;
    int64_t tokens = 0;
    const struct graph_exchange *all = exchanges(p, &count);
    for (size_t i = 0; i < count; i++)
        tokens += all[i].tokens_in + all[i].tokens_out + all[i].tokens_lost;
    return tokens;
}

/* The memory as a kill would leave it: its one segment cut before the n-th event with the
 * words. */
static inline void cut_at(struct place *p, const char *mark, int n)
{
    char **names = NULL;
    char *text = NULL;
    size_t count = 0;
    size_t length = 0;
    const char *dir = os_path_join(&p->arena, p->opts.memory_dir, "journal");
    assert_true(os_list_dir(dir, &p->arena, &names, &count, &p->err));
    assert_int_equal(count, 1);
    const char *path = os_path_join(&p->arena, dir, names[0]);
    assert_true(os_read_file(path, 1 << 24, &p->arena, &text, &length, &p->err));
    const char *at = text;
    for (int i = 0; i < n; i++) {
        at = strstr(i == 0 ? at : at + 1, mark);
        assert_non_null(at);
    }
    while (at > text && at[-1] != '\n')
        at--;
    assert_true(os_write_file(path, text, (size_t)(at - text), false, &p->err));
}

/* Before the n-th event of a kind. */
static inline void cut_before(struct place *p, const char *kind, int n)
{
    cut_at(p, arena_printf(&p->arena, "\"kind\":\"%s\"", kind), n);
}

#endif
