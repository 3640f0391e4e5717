/*
 * `kope mcp`: the Model Context Protocol as a front end. Standard output carries messages only;
 * what people should see goes to standard error. Serves until the client leaves or a signal comes.
 */
#ifndef KOPE_MCP_MCP_H
#define KOPE_MCP_MCP_H

#include "base/err.h"
#include "command/command.h"

#include <stdbool.h>

/* Runs the command with its bound parameters. */
bool mcp_main(const struct command_call *call, struct err *err);

#endif
