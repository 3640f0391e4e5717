/* kope: the command line. Finds the command, binds its words, shows progress, prints what came of
 * it. */
#include "base/str.h"
#include "cli/view.h"
#include "command/command.h"
#include "mcp/mcp.h"
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct globals {
    bool json, quiet, help, version;
};

static bool is_global(const char *word, struct globals *globals)
{
    const struct {
        const char *word;
        bool *flag;
    } options[] = {{"--json", &globals->json},
                   {"--quiet", &globals->quiet},
                   {"--help", &globals->help},
                   {"-h", &globals->help},
                   {"--version", &globals->version}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (str_equal(word, options[i].word)) {
            *options[i].flag = true;
            return true;
        }
    }
    return false;
}

/* Global options may stand anywhere before "--"; the others are kept in order. */
static size_t take_globals(int argc, char **argv, const char **words, struct globals *globals)
{
    size_t count = 0;
    bool options = true;
    for (int i = 1; i < argc; i++) {
        options = options && !str_equal(argv[i], "--");
        if (!options || !is_global(argv[i], globals))
            words[count++] = argv[i];
    }
    return count;
}

static int print_error(const struct err *err, bool json)
{
    if (json) {
        CLEANUP(buf_free) struct buf line = {0};
        command_write_error_json(err, &line);
        (void)fprintf(stdout, "%s\n", buf_text(&line));
    } else {
        const bool colour = os_is_terminal(STDERR_FILENO) && !os_env("NO_COLOR");
        (void)fprintf(stderr, "%skope:%s %s\n", colour ? "\033[1;31m" : "", colour ? "\033[0m" : "",
                      err->message);
        if (err->hint[0] != '\0')
            (void)fprintf(stderr, "  %s\n", err->hint);
    }
    return err_kind_exit_code(err->kind);
}

static int print_result(struct command_result *result, bool json)
{
    const struct buf *out = json ? &result->json : &result->text;
    if (!json && out->data)
        str_make_printable(out->data);
    const bool written = fwrite(buf_text(out), 1, out->length, stdout) == out->length &&
                         (!json || fputc('\n', stdout) != EOF) && fflush(stdout) == 0;
    if (!written) {
        (void)fprintf(stderr, "kope: cannot write the result to standard output\n");
        return err_kind_exit_code(ERR_IO);
    }
    return result->exit_code;
}

static int run(const char *const *words, size_t count, const struct globals *globals)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    const struct command *command = NULL;
    size_t used = 0;
    if (!command_find(words, count, &command, &used, &err))
        return print_error(&err, globals->json);
    struct command_result result = {0};
    if (globals->help) {
        command_write_help(command, &result.text);
        const int code = print_result(&result, false);
        buf_free(&result.text);
        return code;
    }
    struct view view = view_make(globals->json, globals->quiet);
    const struct observer observer = view_observer(&view);
    struct command_call call = {.observer = &observer, .arena = &arena};
    int code = 0;
    if (!command_bind(command, words + used, count - used, &call, &err) ||
        !(command->run ? command->run(&call, &result, &err) : mcp_main(&call, &err))) {
        view_finish(&view);
        code = print_error(&err, globals->json);
    } else {
        view_finish(&view);
        code = command->run ? print_result(&result, globals->json) : 0;
    }
    buf_free(&result.text);
    buf_free(&result.json);
    return code;
}

int main(int argc, char **argv)
{
    struct globals globals = {0};
    os_forbid_core();
    os_interrupt_install();
    os_forbid_inspection();
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        return err_kind_exit_code(ERR_IO);
    size_t count = take_globals(argc, argv, words, &globals);
    if (globals.version && count == 0)
        words[count++] = "version";
    if (count == 0) {
        words[count++] = "help";
        globals.help = false;
    }
    const int code = run(words, count, &globals);
    free(words);
    return code;
}
