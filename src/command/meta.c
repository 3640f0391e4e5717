#include "command/internal.h"

static const struct param help_params[] = {
    {"command", "COMMAND", "the command to explain", "all, in a line each", PARAM_TEXT, true, false,
     NULL},
    {"word", "WORD", "its second word", NULL, PARAM_TEXT, true, false, NULL},
    {0},
};

static bool run_help(const struct command_call *call, struct command_result *out, struct err *err)
{
    const char *words[] = {command_text(call, "command"), command_text(call, "word")};
    const struct command *command = NULL;
    size_t used = 0;
    if (!words[0]) {
        command_write_overview(&out->text);
    } else {
        if (!command_find(words, words[1] ? 2 : 1, &command, &used, err))
            return false;
        command_write_help(command, &out->text);
    }
    struct json_writer w = {.out = &out->json};
    json_write_string(&w, buf_text(&out->text));
    return true;
}

const struct command command_help = {
    .name = "help",
    .summary = "explain kope or one of its commands",
    .description = "Without a word: all commands in a line each.",
    .params = help_params,
    .run = run_help,
};

static const struct param completion_params[] = {
    {"shell", "SHELL", "for which shell", NULL, PARAM_TEXT, true, true, "bash|zsh|fish"},
    {0},
};

static bool run_completion(const struct command_call *call, struct command_result *out,
                           struct err *err)
{
    if (!command_write_completion(command_text(call, "shell"), &out->text, err))
        return false;
    struct json_writer w = {.out = &out->json};
    json_write_string(&w, buf_text(&out->text));
    return true;
}

const struct command command_completion = {
    .name = "completion",
    .summary = "completion for bash, zsh or fish",
    .description = "Prints a script to source.",
    .examples = "  source <(kope completion bash)",
    .params = completion_params,
    .run = run_completion,
};

static const struct param no_params[] = {{0}};

static bool run_man(const struct command_call *call, struct command_result *out, struct err *err)
{
    (void)call;
    (void)err;
    command_write_man(&out->text);
    struct json_writer w = {.out = &out->json};
    json_write_string(&w, buf_text(&out->text));
    return true;
}

const struct command command_man = {
    .name = "man",
    .summary = "the man page kope(1), as roff",
    .description = "Made from the command table. The build writes it to man/kope.1.",
    .examples = "  kope man | man -l -",
    .params = no_params,
    .run = run_man,
};

static bool run_version(const struct command_call *call, struct command_result *out,
                        struct err *err)
{
    (void)call;
    (void)err;
    (void)buf_append_str(&out->text, "kope " KOPE_VERSION "\n");
    struct json_writer w = {.out = &out->json};
    json_begin_object(&w);
    json_put_string(&w, "version", KOPE_VERSION);
    json_end_object(&w);
    return true;
}

const struct command command_version = {
    .name = "version",
    .summary = "the version of kope",
    .description = "Prints the version.",
    .params = no_params,
    .run = run_version,
};
