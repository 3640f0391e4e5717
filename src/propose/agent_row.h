/*
 * Coding agents that KOPE knows how to run: a row each, with the command, how the prompt goes in,
 * where the agent looks for its MCP servers, and where its output says what it used. Any other
 * command can be used as an agent too; it then gets the prompt on its standard input and tells
 * nothing of its usage. Pure data and functions; threads: any.
 */
#ifndef KOPE_PROPOSE_AGENT_ROW_H
#define KOPE_PROPOSE_AGENT_ROW_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AGENT_MAX_WORDS = 64 };

/* How KOPE's own MCP server is started; words end with NULL. */
struct agent_server {
    const char *const *argv;
};

/* One word of a command line. "{mcp}" in it becomes the path of the configuration file,
 * "{mcp.command}" and "{mcp.args}" JSON text, "{turns}" the most turns, "{prompt_file}" the path of
 * the prompt; "{model}" alone is the option and the name of the model, or nothing. */
struct agent_word {
    const char *text;
    bool needs_mcp; /* left out where there is no server to name */
};

/* Where the output tells the usage: every object that `path` leads to ("*": each member) in every
 * JSON document of the output, its numbers added up. */
struct agent_usage_rule {
    const char *event; /* documents with this "type" only; NULL: every document */
    const char *path;
    const char *const *input; /* names of numbers that are input tokens, cached ones included */
    const char *const *output;
};

struct agent_row {
    const char *name, *summary;
    const struct agent_word *words; /* ends with a NULL text */
    const char *model_option;       /* "--model" */
    bool prompt_on_stdin;
    const char *config_path; /* in the workspace; NULL: none */
    void (*write_config)(const struct agent_server *server, struct buf *out);
    const char *const *keep_env; /* what it may see of this process's environment */
    const char *const *keys;     /* of those the secret ones: taken out of all that it says */
    struct agent_usage_rule usage;
};

/* The row of that name, or NULL: it is a command then. */
const struct agent_row *agent_row_find(const char *name);
/* For a command of one's own. */
extern const struct agent_row agent_row_command;
/* "claude, codex, ..." */
const char *agent_row_names(void);

struct agent_fill {
    const struct agent_server *server; /* NULL: none */
    const char *config_path, *prompt_path;
    const char *model; /* NULL: the agent's own */
    int64_t turns;
};
/* The command line, ending with NULL. */
const char *const *agent_row_argv(const struct agent_row *row, const struct agent_fill *fill,
                                  struct arena *arena);

/* Splits a command into words at blanks; '...' and "..." keep blanks, a backslash the next
 * character. ERR_USAGE for an open quote and for no word. */
bool agent_split_command(const char *command, struct arena *arena, const char *const **out,
                         struct err *err);

/* A copy of `text` without the values of the row's secret variables. */
char *agent_row_redact(const struct agent_row *row, const char *text, struct arena *arena)
    __attribute__((returns_nonnull));

/* Tokens by the rule; both 0 where the output does not tell. */
void agent_read_usage(const struct agent_usage_rule *rule, const char *output, int64_t *input,
                      int64_t *out_tokens);

#endif
