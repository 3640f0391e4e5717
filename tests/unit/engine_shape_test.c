/* The same candidates from a coding agent and through MCP: the graph has the same shape. The kope
 * that was built beside this test is run as its users run it. */
#include "base/arena.h"
#include "base/str.h"
#include "engine/engine.h"
#include "os/file.h"
#include "os/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define KOPE KOPE_BUILD_DIR "/kope"
#define TASK KOPE_SOURCE_DIR "/tests/mcp/data/scale2"

enum { CANDIDATES = 4 };
static const char *const sources[CANDIDATES] = {
    "/* fake: time=700us */ scale2\n",
    "/* fake: wrong */ scale2\n",
    "/* fake: time=500us */ scale2\n",
    "/* fake: time=900us */ scale2\n",
};

struct fixture {
    struct arena arena;
    char *dir;
    struct err err;
};

static void open_fixture(struct fixture *f)
{
    assert_true(os_make_temp_dir("kope-shape", &f->arena, &f->dir, &f->err));
    for (int i = 0; i < CANDIDATES; i++) {
        const char *path = arena_printf(&f->arena, "%s/candidates/%d.c", f->dir, i + 1);
        assert_true(os_make_dirs(os_path_dir(&f->arena, path), &f->err));
        assert_true(os_write_file(path, sources[i], strlen(sources[i]), false, &f->err));
    }
}

static void run(struct fixture *f, const char *const *argv)
{
    struct process_result result;
    const struct process_opts opts = {
        .argv = argv, .dir = f->dir, .timeout_ns = INT64_C(60000000000)};
    if (!os_run(&opts, &f->arena, &result, &f->err))
        fail_msg("%s: %s", argv[0], f->err.message);
    const size_t length = strlen(result.out);
    const char *tail = result.out + (length > 600 ? length - 600 : 0);
    if (result.exit_code != 0)
        fail_msg("%s ended with %d:\n%s\n%s", argv[0], result.exit_code, tail, result.errors);
}

/* Index of a decision by id; -1 is the baseline. */
static int index_of(const struct graph_decisions *all, const char *id)
{
    for (size_t i = 0; i < all->count; i++) {
        if (str_equal(all->items[i].id, id))
            return (int)i;
    }
    return -1;
}

/* A line for each decision: all of its place in the graph, and nothing that names a machine, a
 * moment or a proposer. */
static char *shape_of(struct fixture *f, const char *memory_dir)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct memory memory = {0};
    struct graph_run found;
    struct graph_decisions all;
    assert_true(memory_open(memory_dir, false, &f->arena, &memory, &f->err));
    assert_true(graph_find_run(memory.graph, "last", &f->arena, &found, &f->err));
    assert_true(graph_run_decisions(memory.graph, found.id, &f->arena, &all, &f->err));
    for (size_t i = 0; i < all.count; i++) {
        const struct graph_decision *d = &all.items[i];
        (void)buf_printf(&text, "%zu parent %d source %s verdict %s win %d confirmed %d gain %d\n",
                         i, index_of(&all, d->parent), d->source_body,
                         d->has_outcome ? verdict_kind_name(d->kind) : "none", d->is_win,
                         d->is_confirmed, d->has_gain);
    }
    memory_close(&memory);
    return arena_strdup(&f->arena, buf_text(&text));
}

static void engine__agent_and_mcp__graphs_have_one_shape(void **state)
{
    struct fixture f = {0};
    (void)state;
    open_fixture(&f);
    const char *by_agent = os_path_join(&f.arena, f.dir, "agent");
    const char *by_mcp = os_path_join(&f.arena, f.dir, "mcp");
    const char *folder = os_path_join(&f.arena, f.dir, "candidates");
    const char *agent =
        arena_printf(&f.arena, "agent:%s/tests/fake-agent %s", KOPE_SOURCE_DIR, folder);
    const char *const optimize[] = {
        KOPE,  "optimize", TASK, "--target", "fake", "--memory", by_agent, "--proposer",
        agent, "--budget", "4",  "--seed",   "1",    "--policy", "greedy", NULL};
    run(&f, optimize);
    const char *drive[7 + CANDIDATES] = {
        KOPE_SOURCE_DIR "/tests/mcp/drive", KOPE, by_mcp, TASK, "fake", "4"};
    for (int i = 0; i < CANDIDATES; i++)
        drive[6 + i] = arena_printf(&f.arena, "%s/%d.c", folder, i + 1);
    run(&f, drive);
    const char *shape = shape_of(&f, by_agent);
    assert_string_equal(shape_of(&f, by_mcp), shape);
    assert_non_null(strstr(shape, "3 parent 2")); /* the last one went on from the best */
    assert_non_null(strstr(shape, "verdict wrong"));
    assert_non_null(strstr(shape, "confirmed 1"));
    (void)os_remove_tree(f.dir, &f.err);
    arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engine__agent_and_mcp__graphs_have_one_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
