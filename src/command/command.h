/*
 * The command table: one row a command, from which the command line, its help, the man page and
 * shell completion are made (and later MCP tools and HTTP routes).
 *
 * A command takes values by parameter name and gives text, JSON and an exit code; it writes nothing
 * itself. Values are strings that command_bind has checked against their type. Threads: one call,
 * one thread. The result's buffers belong to the caller.
 */
#ifndef KOPE_COMMAND_COMMAND_H
#define KOPE_COMMAND_COMMAND_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COMMAND_MAX_PARAMS = 24 };

/* PARAM_REST is a positional that takes all words from its place on; its value holds them with a
 * newline between each two (command_list gives them one by one). */
enum param_type { PARAM_FLAG, PARAM_TEXT, PARAM_PATH, PARAM_INT, PARAM_DURATION, PARAM_REST };

struct param {
    const char *name;  /* "budget": --budget; or the name of a positional */
    const char *value; /* how its value is called in help: "N", "DIR"; NULL for a flag */
    const char *help;
    const char *otherwise; /* default in words, for help; NULL: none */
    enum param_type type;
    bool positional, required;
    const char *choices; /* words separated by '|'; NULL: any */
};

struct command;

struct command_call {
    const struct command *command;
    const char *values[COMMAND_MAX_PARAMS]; /* by position in command->params; NULL: not given */
    const struct observer *observer;
    struct arena *arena;
};

struct command_result {
    struct buf text; /* for people */
    struct buf json; /* one document, for programs */
    int exit_code;   /* 0, or e.g. by verdict */
};

struct command {
    const char *name; /* "optimize", "memory stats" */
    const char *summary;
    const char *description;    /* paragraphs for help and man */
    const char *examples;       /* lines "command # what it does" */
    const struct param *params; /* ends with a zeroed one */
    /* NULL: a front end of its own, which the program runs (mcp). */
    bool (*run)(const struct command_call *call, struct command_result *out, struct err *err);
};

/* The table, ended by a zeroed row. */
extern const struct command *const command_table[];
extern const size_t command_count;

/* The command that the words begin with ("memory", "stats", ...); `*out_used` words of them name
 * it. ERR_USAGE with the nearest name. */
bool command_find(const char *const *words, size_t count, const struct command **out,
                  size_t *out_used, struct err *err);

/* Binds command-line words to parameters: options in any order, "--" ends them. ERR_USAGE for what
 * is unknown, missing or of the wrong type. */
bool command_bind(const struct command *command, const char *const *words, size_t count,
                  struct command_call *out, struct err *err);

/* Values: NULL, false or the default where not given. An unknown name is a bug. */
const char *command_text(const struct command_call *call, const char *name);
bool command_flag(const struct command_call *call, const char *name);
int64_t command_int(const struct command_call *call, const char *name, int64_t otherwise);
int64_t command_duration_ns(const struct command_call *call, const char *name);
/* The words of a PARAM_REST, in the call's arena. */
const char *const *command_list(const struct command_call *call, const char *name, size_t *count);

/* `kope help`, `kope help optimize`, kope(1) as roff, completion for bash, zsh or fish. */
void command_write_overview(struct buf *out);
void command_write_help(const struct command *command, struct buf *out);
void command_write_man(struct buf *out);
bool command_write_completion(const char *shell, struct buf *out, struct err *err);

/* A progress event as one JSON line, and an error as JSON. */
void command_write_progress_json(const struct progress *progress, struct buf *out);
void command_write_error_json(const struct err *err, struct buf *out);

/* The result of a run as one JSON document; `output_path` NULL: its source was not written. */
void command_write_result_json(const struct optimize_result *result, const char *output_path,
                               struct buf *out);

/* The member "findings" of a JSON object: what tools found, with the moves that answer it. */
struct json_writer;
struct profile_line;
void command_write_findings_json(const struct profile_line *lines, size_t count,
                                 struct json_writer *w);

#endif
