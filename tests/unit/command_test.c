#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
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

/* The next word of a line as a shell takes it, or NULL: 'a b' is one, and a comment, a pipe or a
 * bracket ends the command. Writes into the line. */
static char *next_word(char **line)
{
    char *at = *line + strspn(*line, " ");
    const bool is_quoted = *at == '\'';
    if (*at == '\0' || strchr("#|)", *at))
        return NULL;
    at += is_quoted;
    char *end = at + strcspn(at, is_quoted ? "'" : " )");
    *line = end + (*end != '\0' && *end != ')');
    if (*end == ')')
        **line = '\0';
    *end = '\0';
    return at;
}

/* Behind the last "kope " of a line that begins a word; NULL where there is none. In 'claude mcp
 * add kope -- kope mcp' that is the one that is ours. */
static char *last_call(char *line)
{
    static const char program[] = "kope ";
    char *last = NULL;
    for (char *at = strstr(line, program); at; at = strstr(at + 1, program)) {
        if (at == line || strchr(" (", at[-1]))
            last = at + strlen(program);
    }
    return last;
}

/* Not --json and --quiet, which the program takes for all commands. */
static void assert_is_bound(struct arena *arena, const char *command, char *line)
{
    enum { MOST_WORDS = 32 };
    const char *words[MOST_WORDS];
    struct command_call call = {.arena = arena};
    struct err err = {0};
    size_t count = 0;
    for (char *word; count < MOST_WORDS && (word = next_word(&line)) != NULL;) {
        if (strcmp(word, "--json") != 0 && strcmp(word, "--quiet") != 0)
            words[count++] = word;
    }
    if (!bind(words, count, &call, &err))
        fail_msg("an example of '%s' is refused: %s", command, err.message);
}

static void command_bind__examples_of_every_help__are_bound(void **state)
{
    struct arena arena = {0};
    size_t examples = 0;
    (void)state;
    for (size_t i = 0; i < command_count; i++) {
        const char *text = command_table[i]->examples;
        char *lines = arena_strdup(&arena, text ? text : "");
        for (char *rest = NULL, *line = strtok_r(lines, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest)) {
            char *call = last_call(line);
            if (call)
                assert_is_bound(&arena, command_table[i]->name, call);
            examples += call != NULL;
        }
    }
    assert_true(examples > command_count);
    arena_free(&arena);
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
        cmocka_unit_test(command_bind__examples_of_every_help__are_bound),
        cmocka_unit_test(command_bind__options_in_any_form__are_bound),
        cmocka_unit_test(command_bind__double_dash__ends_options),
        cmocka_unit_test(command_bind__what_is_wrong__is_a_usage_error),
        cmocka_unit_test(command_write_man__whole_table__names_each_command_and_option),
        cmocka_unit_test(command_write_completion__bash__is_a_script_that_bash_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
