#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool bind(const char *const *words, size_t count, struct command_call *call, struct err *err)
{
    const struct command *command = NULL;
    size_t used = 0;
    return command_find(words, count, &command, &used, err) &&
           command_bind(command, words + used, count - used, call, err);
}

static void command_table__every_row__is_complete(void **state)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = command_table[i];
        size_t count = 0;
        assert_true(c->name[0] != '\0' && c->summary[0] != '\0' && c->description[0] != '\0');
        assert_true(c->run || !strcmp(c->name, "mcp"));
        for (const struct param *p = c->params; p->name; p++) {
            assert_non_null(p->help);
            assert_true((p->type == PARAM_FLAG) == (p->value == NULL));
            count++;
        }
        assert_true(count <= COMMAND_MAX_PARAMS);
    }
    (void)state;
}

static void command_bind__options_in_any_form__are_bound(void **state)
{
    struct err err = {0};
    struct command_call call = {0};
    const char *words[] = {"optimize", "--budget=7", "dir", "--time", "10m", "--fresh"};
    assert_true(bind(words, 6, &call, &err));
    assert_string_equal(command_text(&call, "task"), "dir");
    assert_int_equal(command_int(&call, "budget", 0), 7);
    assert_int_equal(command_duration_ns(&call, "time"), INT64_C(600000000000));
    assert_true(command_flag(&call, "fresh"));
    assert_null(command_text(&call, "memory"));
    (void)state;
}

static void command_bind__double_dash__ends_options(void **state)
{
    struct err err = {0};
    struct command_call call = {0};
    const char *words[] = {"optimize", "--", "--odd-name"};
    assert_true(bind(words, 3, &call, &err));
    assert_string_equal(command_text(&call, "task"), "--odd-name");
    (void)state;
}

static void command_bind__what_is_wrong__is_a_usage_error(void **state)
{
    const char *const bad[][4] = {
        {"optimize", "t", "--budget", NULL},
        {"optimize", "t", "--budget=-3", NULL},
        {"optimize", "t", "--fresh=1", NULL},
        {"optimize", "t", "-x", NULL},
        {"memory", "stats", "extra", NULL},
        {"optimize", "--budget=1", "--budget=2", "t"},
        {"completion", "powershell", NULL, NULL},
        {"memory", NULL, NULL, NULL},
        {"", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        struct command_call call = {0};
        size_t count = 0;
        while (count < 4 && bad[i][count])
            count++;
        assert_false(bind(bad[i], count, &call, &err));
        assert_int_equal(err.kind, ERR_USAGE);
        assert_true(err.message[0] != '\0');
    }
    (void)state;
}

static void command_write_man__whole_table__names_each_command_and_option(void **state)
{
    struct buf man = {0};
    command_write_man(&man);
    for (size_t i = 0; i < command_count; i++) {
        assert_non_null(strstr(buf_text(&man), command_table[i]->name));
    }
    assert_non_null(strstr(buf_text(&man), "\\-\\-budget"));
    buf_free(&man);
    (void)state;
}

static void command_write_completion__bash__is_a_script_that_bash_reads(void **state)
{
    struct buf script = {0};
    struct err err = {0};
    assert_true(command_write_completion("bash", &script, &err));
    FILE *bash = popen("bash -n", "w");
    assert_non_null(bash);
    assert_int_equal(fwrite(buf_text(&script), 1, script.length, bash), script.length);
    assert_int_equal(pclose(bash), 0);
    buf_free(&script);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_table__every_row__is_complete),
        cmocka_unit_test(command_bind__options_in_any_form__are_bound),
        cmocka_unit_test(command_bind__double_dash__ends_options),
        cmocka_unit_test(command_bind__what_is_wrong__is_a_usage_error),
        cmocka_unit_test(command_write_man__whole_table__names_each_command_and_option),
        cmocka_unit_test(command_write_completion__bash__is_a_script_that_bash_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
