/*
 * The folder in which a coding agent works on one proposal, and what is read back from it.
 *
 *   AGENTS.md       what to do, what will be judged and how (CLAUDE.md points to it)
 *   kernel.c        the current best source; the agent edits it
 *   decision.json   intent, hypothesis, prediction, compiler and flags; the agent fills it in
 *   CONTEXT.md      task, machine, experience: the bounded context of this step
 *   task/           task.yaml and the reference, to read
 *   .agents/skills/ the verified skills that apply (and .claude/skills/)
 *   and the configuration that tells the agent of KOPE's MCP server
 *
 * What the agent says counts for nothing: only the two files are read, as hostile input, and the
 * gate judges them. Threads: one workspace, one thread.
 */
#ifndef KOPE_PROPOSE_AGENT_WORKSPACE_H
#define KOPE_PROPOSE_AGENT_WORKSPACE_H

#include "propose/agent_row.h"
#include "propose/propose.h"

struct agent_workspace {
    const char *dir;
    const char *config_path; /* NULL: none */
    const char *prompt_path;
    const char *prompt;   /* what is said to the agent */
    const char *decision; /* decision.json as it was written */
};

/* Fills the folder `dir`, which exists. `server` NULL: the agent is told of no server. */
bool agent_workspace_write(const char *dir, const struct agent_row *row,
                           const struct agent_server *server, const struct task *task,
                           const struct propose_request *request, struct arena *arena,
                           struct agent_workspace *out, struct err *err);

/* Reads the candidate and the decision. NULL and a filled proposal, or in words why there is no
 * candidate. */
const char *agent_workspace_read(const struct agent_workspace *workspace,
                                 const struct agent_row *row, const char *agent_name,
                                 const struct task *task, const struct propose_request *request,
                                 struct arena *arena, struct proposal *out);

#endif
