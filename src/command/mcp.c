#include "command/internal.h"

static const struct param mcp_params[] = {
    {"http", "ADDRESS", "serve HTTP there instead of standard input and output: 127.0.0.1:8080",
     NULL, PARAM_TEXT, false, false, NULL},
    {"root", "DIRS", "folders, separated by ':', that paths of a client must lie in",
     "the current folder", PARAM_TEXT, false, false, NULL},
    PARAM_MEMORY,
    {"token-env", "NAME", "with --http: the variable that holds the bearer token",
     "a new token, shown on standard error", PARAM_TEXT, false, false, NULL},
    {"token-file", "FILE", "with --http: a file whose first line is the bearer token", NULL,
     PARAM_PATH, false, false, NULL},
    {"expose", NULL, "with --http: also addresses that other machines can reach", NULL, PARAM_FLAG,
     false, false, NULL},
    {0},
};

const struct command command_mcp = {
    .name = "mcp",
    .summary = "serve the gate and the memory to coding agents",
    .description =
        "Speaks the Model Context Protocol, on standard input and output or over HTTP, to clients "
        "of every revision from\n"
        "2024-11-05 to 2026-07-28. An agent opens a task, reads the bounded context and gives "
        "candidates to the gate; each attempt is\n"
        "judged and remembered as in 'kope optimize'. Ends with its input.",
    .examples = "  claude mcp add kope -- kope mcp --root /path/to/kernels\n"
                "  codex mcp add kope -- kope mcp --root /path/to/kernels\n"
                "  kope mcp --http 127.0.0.1:8080 --token-env KOPE_TOKEN",
    .params = mcp_params,
};
