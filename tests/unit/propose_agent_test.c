/* The agent proposer with scripted agents: the workspace, what is read back, limits, keys. */
#include "base/arena.h"
#include "base/str.h"
#include "os/file.h"
#include "propose/agent_row.h"
#include "propose/propose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define SOURCE "void total(const real *x, real *y, int64_t n)\n{\n    y[0] = x[n - 1];\n}\n"
#define KEY "sk-planted-0123456789abcdef"

static const struct task task = {
    .dir = "", .name = "total", .entry = "total", .reference = SOURCE, .threads = 1};
static const struct candidate parent = {
    .source = SOURCE, .compiler = "gcc-12", .flags = {"-O3", "-march=native"}, .flag_count = 2};
static const char *const server[] = {"/usr/bin/kope", "mcp", NULL};

struct fixture {
    struct arena arena;
    char *dir;
    struct proposal proposal;
    bool exhausted;
    struct err err;
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){0};
    assert_true(os_make_temp_dir("kope-test", &f->arena, &f->dir, &f->err));
}

static void close_fixture(struct fixture *f)
{
    (void)os_remove_tree(f->dir, &f->err);
    arena_free(&f->arena);
}

/* Runs a shell script as the agent, once. */
static bool run_script(struct fixture *f, const char *script, int64_t timeout_ns)
{
    struct proposer *proposer = NULL;
    const char *path = os_path_join(&f->arena, f->dir, "agent");
    const char *text = arena_printf(&f->arena, "#!/bin/sh\n%s\n", script);
    assert_true(os_write_file(path, text, strlen(text), false, &f->err));
    assert_int_equal(chmod(path, 0700), 0);
    const struct agent_opts agent = {.command = arena_printf(&f->arena, "'%s' 'two words'", path),
                                     .workspaces = os_path_join(&f->arena, f->dir, "work"),
                                     .server = server,
                                     .timeout_ns = timeout_ns};
    const struct proposer_opts opts = {.spec = {.kind = "agent"}, .task = &task, .agent = &agent};
    const struct propose_request request = {.parent = &parent, .context = "what is known\n"};
    assert_true(proposer_open(&opts, &proposer, &f->err));
    const bool ok =
        proposer_next(proposer, &request, &f->arena, &f->exhausted, &f->proposal, &f->err);
    proposer_close(&proposer);
    return ok;
}

static char *read_back(struct fixture *f, const char *name)
{
    char *text = NULL;
    const char *path = arena_printf(&f->arena, "%s/work/step-001/%s", f->dir, name);
    assert_true(os_read_file(path, 1 << 20, &f->arena, &text, NULL, &f->err));
    return text;
}

static void agent_next__kernel_and_decision_written__is_the_proposal(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    assert_true(run_script(
        &f,
        "cat >prompt.seen\nsed -i 's/n - 1/0/' kernel.c\n"
        "printf '{\"intent\":\"first\",\"hypothesis\":\"it is nearer\",\"predicted_speedup\":2.0,"
        "\"flags\":[\"-O2\"]}' >decision.json\necho \"$1\" >argument",
        0));
    assert_null(f.proposal.failure);
    assert_string_equal(f.proposal.intent, "first");
    assert_string_equal(f.proposal.candidate.compiler, "gcc-12");
    assert_string_equal(f.proposal.candidate.flags[0], "-O2");
    assert_int_equal(f.proposal.candidate.flag_count, 1);
    assert_non_null(strstr(f.proposal.candidate.source, "y[0] = x[0];"));
    assert_int_equal(strlen(f.proposal.candidate.source), strlen(SOURCE) - 4);
    assert_string_equal(read_back(&f, "argument"), "two words\n");
    assert_non_null(strstr(read_back(&f, "prompt.seen"), "AGENTS.md"));
    assert_string_equal(read_back(&f, "CONTEXT.md"), "what is known\n");
    assert_string_equal(read_back(&f, "CLAUDE.md"), "@AGENTS.md\n");
    assert_string_equal(read_back(&f, "task/reference.c"), SOURCE);
    assert_string_equal(
        read_back(&f, ".mcp.json"),
        "{\"mcpServers\":{\"kope\":{\"command\":\"/usr/bin/kope\",\"args\":[\"mcp\"]}}}");
    close_fixture(&f);
}

static void agent_next__form_not_filled_in__work_is_kept(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    assert_true(run_script(&f, "sed -i 's/n - 1/0/' kernel.c; exit 3", 0));
    assert_null(f.proposal.failure);
    assert_string_equal(f.proposal.intent, "changes by agent");
    assert_string_equal(f.proposal.candidate.flags[1], "-march=native");
    close_fixture(&f);
}

/* What the agent says, and its exit code, decide nothing. */
static void agent_next__nothing_changed__is_a_failure_with_its_ending(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    assert_true(run_script(&f, "echo '10x faster!'; echo 'no licence' >&2; exit 7", 0));
    assert_non_null(strstr(f.proposal.failure, "nothing was changed in kernel.c"));
    assert_non_null(strstr(f.proposal.failure, "exit code 7: no licence"));
    assert_non_null(strstr(f.proposal.exchange_json, "10x faster!"));
    close_fixture(&f);
}

static void agent_next__bad_files__are_failures(void **state)
{
    static const struct {
        const char *script, *message;
    } cases[] = {
        {"rm kernel.c", "kernel.c cannot be read"},
        {"rm kernel.c; mkdir kernel.c", "kernel.c cannot be read"},
        {"rm kernel.c; ln -s /dev/zero kernel.c", "kernel.c cannot be read"},
        {"head -c 600000 /dev/zero | tr '\\0' x >kernel.c", "kernel.c cannot be read"},
        {"printf 'a\\0b' >kernel.c", "NUL byte"},
        {"echo 'int other;' >kernel.c", "entry point 'total'"},
        {"echo // >>kernel.c; echo '{' >decision.json", "not valid JSON"},
        {"echo // >>kernel.c; echo '[]' >decision.json", "not an object"},
        {"echo // >>kernel.c; echo '{\"intent\":\"a\",\"hypothesis\":\"b\","
         "\"predicted_speedup\":1.0,\"verdict\":\"timed\"}' >decision.json",
         "not asked for"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        open_fixture(&f);
        assert_true(run_script(&f, cases[i].script, 0));
        assert_non_null(f.proposal.failure);
        if (!strstr(f.proposal.failure, cases[i].message))
            fail_msg("'%s' gave: %s", cases[i].script, f.proposal.failure);
        close_fixture(&f);
    }
}

/* Backticks in the source do not end it early. */
static void agent_next__source_with_fences__is_read_whole(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    assert_true(run_script(&f, "printf '/*\\n```\\n````c\\n*/\\n' >>kernel.c", 0));
    assert_null(f.proposal.failure);
    assert_true(str_ends_with(f.proposal.candidate.source, "/*\n```\n````c\n*/\n"));
    close_fixture(&f);
}

static void agent_next__runs_over_its_time__group_is_killed_and_work_read(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    assert_true(run_script(&f, "echo // >>kernel.c; sleep 60 & sleep 60", INT64_C(300000000)));
    assert_null(f.proposal.failure);
    assert_non_null(strstr(f.proposal.exchange_json, "\"timed_out\":true"));
    close_fixture(&f);
}

static void agent_next__agent_echoes_a_key__it_is_in_nothing_that_comes_back(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    assert_int_equal(setenv("OPENAI_API_KEY", KEY, 1), 0);
    assert_true(run_script(&f,
                           "env >env.seen; echo " KEY "; echo " KEY " >&2; echo '/* " KEY
                           " */' >>kernel.c\n"
                           "printf '{\"intent\":\"" KEY "\",\"hypothesis\":\"b\","
                           "\"predicted_speedup\":2.0}' >decision.json",
                           0));
    assert_null(f.proposal.failure);
    assert_null(strstr(f.proposal.candidate.source, KEY));
    assert_null(strstr(f.proposal.intent, KEY));
    assert_null(strstr(f.proposal.exchange_json, KEY));
    /* A command of one's own is given no key at all. */
    assert_null(strstr(read_back(&f, "env.seen"), "OPENAI_API_KEY"));
    assert_int_equal(unsetenv("OPENAI_API_KEY"), 0);
    close_fixture(&f);
}

static void agent_open__no_such_program__names_the_agents(void **state)
{
    struct err err;
    struct proposer *proposer = NULL;
    const struct agent_opts agent = {.command = "there-is-no-such-agent --now"};
    const struct proposer_opts opts = {.spec = {.kind = "agent"}, .task = &task, .agent = &agent};
    (void)state;
    assert_false(proposer_open(&opts, &proposer, &err));
    assert_int_equal(err.kind, ERR_MISSING_TOOL);
    assert_non_null(strstr(err.hint, "claude"));
}

static void agent_split__quotes_and_backslashes__as_a_shell_would(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    const char *const *words = NULL;
    (void)state;
    assert_true(agent_split_command(" a 'b c' \"d\\\"e\" f\\ g '' ", &arena, &words, &err));
    assert_string_equal(words[0], "a");
    assert_string_equal(words[1], "b c");
    assert_string_equal(words[2], "d\"e");
    assert_string_equal(words[3], "f g");
    assert_string_equal(words[4], "");
    assert_null(words[5]);
    assert_false(agent_split_command("a 'b", &arena, &words, &err));
    assert_false(agent_split_command("  ", &arena, &words, &err));
}

static void agent_row_argv__each_row__has_its_mcp_server_and_model(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct agent_server kope = {.argv = server};
    (void)state;
    const struct agent_fill fill = {.server = &kope,
                                    .config_path = "/w/.mcp.json",
                                    .prompt_path = "/w/p",
                                    .model = "m1",
                                    .turns = 7};
    const char *const *claude = agent_row_argv(agent_row_find("claude"), &fill, &arena);
    const char *const *codex = agent_row_argv(agent_row_find("codex"), &fill, &arena);
    bool has_turns = false, has_path = false, has_args = false, has_model = false;
    for (size_t i = 0; claude[i]; i++) {
        has_turns = has_turns || str_equal(claude[i], "7");
        has_path = has_path || str_equal(claude[i], "/w/.mcp.json");
        has_model = has_model || str_equal(claude[i], "m1");
    }
    for (size_t i = 0; codex[i]; i++)
        has_args = has_args || str_equal(codex[i], "mcp_servers.kope.args=[\"mcp\"]");
    assert_true(has_turns && has_path && has_args && has_model);
    const struct agent_fill bare = {.prompt_path = "/w/p", .turns = 7};
    codex = agent_row_argv(agent_row_find("codex"), &bare, &arena);
    for (size_t i = 0; codex[i]; i++) {
        assert_null(strstr(codex[i], "mcp"));
        assert_null(strchr(codex[i], '{'));
    }
}

static void agent_read_usage__real_shapes__are_added_up(void **state)
{
    static const struct {
        const char *agent, *output;
        int64_t input, output_tokens;
    } cases[] = {
        {"claude",
         "{\"type\":\"result\",\"result\":\"done\",\"usage\":{\"input_tokens\":10,"
         "\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":30,"
         "\"output_tokens\":5},\"modelUsage\":{\"m\":{\"inputTokens\":10}}}",
         60, 5},
        {"codex",
         "{\"type\":\"thread.started\"}\nnoise\n"
         "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":100,\"cached_input_tokens\":40,"
         "\"output_tokens\":7}}\n"
         "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}\n",
         101, 9},
        {"gemini",
         "{\"response\":\"x\",\"stats\":{\"models\":{\"a\":{\"tokens\":{\"prompt\":3,"
         "\"candidates\":4,\"thoughts\":5}},\"b\":{\"tokens\":{\"prompt\":1}}}}}",
         4, 9},
        {"qwen",
         "[{\"type\":\"system\"},{\"type\":\"result\",\"usage\":{\"input_tokens\":8,"
         "\"output_tokens\":9}}]",
         8, 9},
        {"opencode",
         "{\"type\":\"step_finish\",\"part\":{\"tokens\":{\"input\":6,\"output\":2,"
         "\"reasoning\":1}}}\n",
         6, 3},
        {"claude", "no JSON at all", 0, 0},
        {"claude", "{\"usage\":{\"input_tokens\":-5,\"output_tokens\":\"many\"}}", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t input = -1, output = -1;
        agent_read_usage(&agent_row_find(cases[i].agent)->usage, cases[i].output, &input, &output);
        assert_int_equal(input, cases[i].input);
        assert_int_equal(output, cases[i].output_tokens);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agent_next__kernel_and_decision_written__is_the_proposal),
        cmocka_unit_test(agent_next__form_not_filled_in__work_is_kept),
        cmocka_unit_test(agent_next__nothing_changed__is_a_failure_with_its_ending),
        cmocka_unit_test(agent_next__bad_files__are_failures),
        cmocka_unit_test(agent_next__source_with_fences__is_read_whole),
        cmocka_unit_test(agent_next__runs_over_its_time__group_is_killed_and_work_read),
        cmocka_unit_test(agent_next__agent_echoes_a_key__it_is_in_nothing_that_comes_back),
        cmocka_unit_test(agent_open__no_such_program__names_the_agents),
        cmocka_unit_test(agent_split__quotes_and_backslashes__as_a_shell_would),
        cmocka_unit_test(agent_row_argv__each_row__has_its_mcp_server_and_model),
        cmocka_unit_test(agent_read_usage__real_shapes__are_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
