/* kope.yaml: what is read, what is refused and where the message points, which file is found. */
#include "base/arena.h"
#include "base/str.h"
#include "config/config.h"
#include "os/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct folder {
    struct arena arena;
    char *dir;
    const char *path; /* kope.yaml in it */
};

static void write_text(const char *path, const char *text)
{
    struct err err;
    assert_true(os_write_file(path, text, strlen(text), false, &err));
}

static int set_up(void **state)
{
    static struct folder folder;
    struct err err;
    folder = (struct folder){0};
    if (!os_make_temp_dir("kope-config", &folder.arena, &folder.dir, &err))
        return -1;
    folder.path = os_path_join(&folder.arena, folder.dir, "kope.yaml");
    (void)unsetenv("KOPE_CONFIG");
    (void)setenv("XDG_CONFIG_HOME", folder.dir, 1);
    (void)setenv("HOME", folder.dir, 1);
    *state = &folder;
    return chdir(folder.dir);
}

static int tear_down(void **state)
{
    struct folder *folder = *state;
    struct err err;
    const bool ok = chdir("/") == 0 && os_remove_tree(folder->dir, &err);
    arena_free(&folder->arena);
    return ok ? 0 : -1;
}

static const char whole[] = "proposer: llm:local\n"
                            "policy: greedy\n"
                            "memory: ~/mem\n"
                            "context_tokens: 12000\n"
                            "budget: {tokens: 500000, usd: 2.5}\n"
                            "roles:\n"
                            "  small_step: local\n"
                            "  large_step: big\n"
                            "models:\n"
                            "  local:\n"
                            "    dialect: llama.cpp\n"
                            "    base_url: http://127.0.0.1:8080/v1\n"
                            "    model: tiny\n"
                            "    max_output_tokens: 512\n"
                            "    context_tokens: 4096\n"
                            "    retries: 0\n"
                            "    deadline: 90s\n"
                            "    temperature: 0.2\n"
                            "  big:\n"
                            "    dialect: anthropic\n"
                            "    model: large\n"
                            "    key_variable: MY_KEY\n"
                            "    thinking_tokens: 2048\n"
                            "    prices: {input: 3, cached_input: 0.3, output: 15}\n";

static void config_load__every_key__as_written(void **state)
{
    struct folder *f = *state;
    const struct config *config = NULL;
    struct err err;
    write_text(f->path, whole);
    if (!config_load(f->path, &f->arena, &config, &err))
        fail_msg("%s", err.message);
    assert_string_equal(config->proposer, "llm:local");
    assert_string_equal(config->policy, "greedy");
    assert_string_equal(config->memory_dir, os_path_join(&f->arena, f->dir, "mem"));
    assert_int_equal(config->context_tokens, 12000);
    assert_int_equal(config->token_budget, 500000);
    assert_true(config->cost_budget_usd == 2.5);
    assert_int_equal(config->model_count, 2);
    assert_string_equal(config->roles[CONFIG_SMALL_STEP]->name, "local");
    assert_ptr_equal(config->roles[CONFIG_LARGE_STEP], &config->models[1]);
    assert_null(config->roles[CONFIG_RERANKER]);
    const struct llm_opts *local = &config->models[0].llm;
    assert_string_equal(local->dialect, "llama.cpp");
    assert_int_equal(local->retries, -1);
    assert_int_equal(local->deadline_ns, INT64_C(90000000000));
    assert_true(local->has_temperature && local->temperature == 0.2);
    assert_false(local->prices.is_known);
    const struct llm_opts *big = &config->models[1].llm;
    assert_string_equal(big->key_variable, "MY_KEY");
    assert_int_equal(big->retries, 0);
    assert_false(big->has_temperature);
    assert_true(big->prices.is_known && big->prices.cached_input == 0.3);
    assert_true(big->prices.cache_write == 3.0 && big->prices.output == 15.0);
    struct llm *llm = NULL;
    assert_true(llm_open(local, &llm, &err));
    assert_int_equal(llm_info(llm).context_tokens, 4096);
    llm_close(&llm);
}

static void config_load__wrong__says_where_and_what_to_do(void **state)
{
    static const struct {
        const char *text, *message, *hint;
    } cases[] = {
        {"proposr: offline\n", ":1:1: unknown key 'proposr'", "did you mean 'proposer'?"},
        {"models:\n  m: {model: x, dialect: opnai}\n", ":2:26: there is no model dialect 'opnai'",
         "did you mean 'openai'?"},
        {"models:\n  m:\n    model: x\n    max_tokens: 3\n", ":4:5: unknown key 'max_tokens'",
         "'max_output_tokens'"},
        {"models:\n  m: {dialect: other}\n", ":2:6: 'model' is missing", ""},
        {"models:\n  'a b': {model: x}\n", "'a b' is no name for a model", "letters, digits"},
        {"models: [a]\n", ":1:9: 'models' must be a mapping", ""},
        {"models:\n  m: {model: x, deadline: soon}\n", "'deadline' must be a duration", "90s"},
        {"models:\n  m: {model: x, retries: -1}\n", "'retries' must be from 0 to 100", ""},
        {"models:\n  m: {model: x, prices: {input: 1}}\n", "'output' is missing", ""},
        {"models:\n  m: {model: x, prices: {input: -1, output: 1}}\n", "US dollars", ""},
        {"models:\n  m: {model: x, max_output_tokens: 9, context_tokens: 9}\n",
         "leaves nothing of 'context_tokens'", ""},
        {"roles: {small_step: a}\nmodels:\n  b: {model: x}\n", ":1:21: there is no model 'a'", ""},
        {"roles: {smallstep: b}\nmodels:\n  b: {model: x}\n", "unknown key 'smallstep'",
         "did you mean 'small_step'?"},
        {"proposer: llm:locl\nmodels:\n  local: {model: x}\n", ":1:11: there is no model 'locl'",
         "did you mean 'local'?"},
        {"budget: {usd: -3}\n", "'usd' must be an amount of money", ""},
    };
    struct folder *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct config *config = NULL;
        struct err err = {0};
        write_text(f->path, cases[i].text);
        if (config_load(f->path, &f->arena, &config, &err) || err.kind != ERR_BAD_INPUT ||
            !strstr(err.message, cases[i].message) || !strstr(err.hint, cases[i].hint))
            fail_msg("case %zu: %s (%s)", i, err.message, err.hint);
        assert_non_null(strstr(err.message, "kope.yaml:"));
        assert_null(config);
    }
}

static void config_load__a_key_instead_of_its_variable__refused_and_not_repeated(void **state)
{
    static const char *const keys[] = {"sk-ant-api03-abcDEF", "hf_abcdefGHIJ", "abc def", "''"};
    struct folder *f = *state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct config *config = NULL;
        struct err err = {0};
        write_text(f->path, arena_printf(&f->arena, "models:\n  m: {model: x, key_variable: %s}\n",
                                         keys[i]));
        assert_false(config_load(f->path, &f->arena, &config, &err));
        assert_non_null(strstr(err.message, ":2:31: 'key_variable' must be the name"));
        assert_null(strstr(err.message, keys[i]));
        assert_null(strstr(err.hint, keys[i]));
    }
}

static void config_load__looked_for__in_order(void **state)
{
    struct folder *f = *state;
    const struct config *config = NULL;
    struct err err = {0};
    assert_true(config_load(NULL, &f->arena, &config, &err));
    assert_null(config->path);
    assert_int_equal(config->model_count, 0);
    assert_true(os_make_dirs("kope", &err));
    write_text("kope/kope.yaml", "policy: random\n");
    assert_true(config_load(NULL, &f->arena, &config, &err));
    assert_string_equal(config->policy, "random");
    write_text("kope.yaml", "# nothing\nmodels:\n");
    assert_true(config_load(NULL, &f->arena, &config, &err));
    assert_string_equal(config->path, "kope.yaml");
    assert_null(config->policy);
    write_text("named.yaml", "policy: mcts\n");
    assert_int_equal(setenv("KOPE_CONFIG", "named.yaml", 1), 0);
    assert_true(config_load(NULL, &f->arena, &config, &err));
    assert_string_equal(config->policy, "mcts");
    assert_int_equal(setenv("KOPE_CONFIG", "gone.yaml", 1), 0);
    assert_false(config_load(NULL, &f->arena, &config, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void config_load__anybody_may_write_the_file_here__refused(void **state)
{
    struct folder *f = *state;
    const struct config *config = NULL;
    struct err err = {0};
    write_text("kope.yaml", "policy: random\n");
    assert_int_equal(chmod("kope.yaml", 0666), 0);
    assert_false(config_load(NULL, &f->arena, &config, &err));
    assert_non_null(strstr(err.hint, "chmod o-w"));
    assert_true(config_load("kope.yaml", &f->arena, &config, &err)); /* named: meant */
}

static void config_model__unknown__nearest_name(void **state)
{
    struct folder *f = *state;
    const struct config *config = NULL;
    const struct config_model *model = NULL;
    struct err err = {0};
    assert_true(config_load(NULL, &f->arena, &config, &err));
    assert_false(config_model(config, "local", &model, &err));
    assert_non_null(strstr(err.message, "kope.yaml, which does not exist"));
    write_text(f->path, whole);
    assert_true(config_load(f->path, &f->arena, &config, &err));
    assert_true(config_model(config, "big", &model, &err));
    assert_string_equal(model->llm.model, "large");
    assert_false(config_model(config, "bog", &model, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_string_equal(err.hint, "did you mean 'big'?");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(config_load__every_key__as_written),
        TEST(config_load__wrong__says_where_and_what_to_do),
        TEST(config_load__a_key_instead_of_its_variable__refused_and_not_repeated),
        TEST(config_load__looked_for__in_order),
        TEST(config_load__anybody_may_write_the_file_here__refused),
        TEST(config_model__unknown__nearest_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
