/*
 * Driver "agent": a coding agent works on a copy of the best source in a folder of its own, under a
 * wall clock, with an allow-list for its environment and a cap on its output. When it ends, or is
 * ended, the files are read; its exit code and what it says decide nothing. An agent is the user's
 * own program and runs with the user's rights: it is not boxed, the candidate is.
 */
#include "propose/driver.h"

#include "base/buf.h"
#include "base/str.h"
#include "os/file.h"
#include "os/process.h"
#include "propose/agent_row.h"
#include "propose/agent_workspace.h"
#include "json/json.h"

#include <string.h>

#define DEFAULT_TIMEOUT_NS (INT64_C(600) * 1000 * 1000 * 1000)
enum { DEFAULT_TURNS = 40, OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024, QUOTED_BYTES = 300 };

struct agent_state {
    const struct agent_row *row;
    const char *name;        /* what it is called in messages and in the journal */
    const char *const *argv; /* of a command of one's own; NULL: by the row */
    const struct agent_server *server;
    const char *model;
    const char *workspaces; /* NULL: temporary ones */
    int64_t timeout_ns, turns;
    int64_t count;
    char *folder; /* the one for all proposals; NULL: each has its own */
    bool keeps_files;
};

static bool find_command(struct agent_state *state, const char *command, struct arena *arena,
                         struct err *err)
{
    const char **argv = NULL;
    const char *const *words = NULL;
    if (!agent_split_command(command, arena, &words, err))
        return false;
    size_t count = 0;
    while (words[count])
        count++;
    argv = arena_array(arena, count + 1, sizeof *argv);
    memcpy(argv, words, count * sizeof *argv);
    /* It will run in another folder. */
    char *program = os_find_program(argv[0], arena);
    char *real = NULL;
    if (!program || !os_path_real(program, arena, &real, err)) {
        (void)err_set(err, ERR_MISSING_TOOL, "there is no agent or program '%s'", argv[0]);
        return err_hint(err, "agents known by name are: %s", agent_row_names());
    }
    argv[0] = strchr(argv[0], '/') ? real : program;
    state->argv = argv;
    state->row = &agent_row_command;
    state->name = os_path_base(argv[0]);
    return true;
}

static bool find_agent(struct agent_state *state, const char *command, struct arena *arena,
                       struct err *err)
{
    const struct agent_row *row = agent_row_find(command);
    if (!row)
        return find_command(state, command, arena, err);
    if (!os_find_program(row->words[0].text, arena)) {
        (void)err_set(err, ERR_MISSING_TOOL, "agent '%s' (%s) is not on PATH", row->name,
                      row->summary);
        return err_hint(err, "install it, or name a command of your own: agent:'COMMAND ...'");
    }
    state->row = row;
    state->name = row->name;
    return true;
}

static bool agent_open(struct proposer *proposer, const struct proposer_opts *opts, struct err *err)
{
    struct agent_state *state = proposer->state;
    const struct agent_opts *agent = opts->agent;
    if (!agent || !agent->command)
        BUG("propose: the agent proposer needs an agent");
    if (!find_agent(state, agent->command, &proposer->arena, err))
        return false;
    if (agent->server) {
        struct agent_server *server = arena_alloc(&proposer->arena, sizeof *server);
        server->argv = agent->server;
        state->server = server;
    }
    state->model = agent->model;
    state->workspaces = agent->workspaces;
    state->keeps_files = agent->keeps_files;
    state->timeout_ns = agent->timeout_ns ? agent->timeout_ns : DEFAULT_TIMEOUT_NS;
    state->turns = agent->turns ? agent->turns : DEFAULT_TURNS;
    return true;
}

/* A new folder for one proposal. */
static bool make_folder(struct agent_state *state, struct arena *arena, char **out, struct err *err)
{
    if (!state->workspaces)
        return os_make_temp_dir("kope-agent", arena, out, err);
    char *dir = NULL;
    do
        dir = arena_printf(arena, "%s/step-%03lld", state->workspaces, (long long)++state->count);
    while (os_path_exists(dir));
    char *real = NULL;
    if (!os_make_dirs(dir, err) || !os_path_real(dir, arena, &real, err))
        return false;
    *out = real;
    return true;
}

static bool run_agent(const struct agent_state *state, const struct agent_workspace *workspace,
                      struct arena *arena, struct process_result *out, struct err *err)
{
    const struct agent_fill fill = {.server = state->server,
                                    .config_path = workspace->config_path,
                                    .prompt_path = workspace->prompt_path,
                                    .model = state->model,
                                    .turns = state->turns};
    const char *env[] = {arena_printf(arena, "KOPE_WORKSPACE=%s", workspace->dir), NULL};
    const struct process_opts opts = {
        .argv = state->argv ? state->argv : agent_row_argv(state->row, &fill, arena),
        .dir = workspace->dir,
        .env = env,
        .keep_env = state->row->keep_env,
        .input = state->row->prompt_on_stdin ? workspace->prompt : NULL,
        .timeout_ns = state->timeout_ns,
        .output_limit_bytes = OUTPUT_LIMIT_BYTES,
    };
    return os_run(&opts, arena, out, err);
}

/* How the agent ended, for messages; "" where there is nothing to say. */
static const char *ending(const struct agent_state *state, const struct process_result *result,
                          struct arena *arena)
{
    if (result->timed_out)
        return arena_printf(arena, "; '%s' was stopped after %.0f s", state->name,
                            (double)state->timeout_ns / 1e9);
    if (result->signal)
        return arena_printf(arena, "; '%s' was ended by signal %d", state->name, result->signal);
    if (result->exit_code == 0)
        return "";
    const size_t length = strlen(result->errors);
    const char *tail =
        length > QUOTED_BYTES ? result->errors + length - QUOTED_BYTES : result->errors;
    char *text = agent_row_redact(state->row, tail, arena);
    str_make_printable(text);
    return arena_printf(arena, "; '%s' ended with exit code %d: %s", state->name, result->exit_code,
                        text);
}

static char *exchange(const struct agent_state *state, const struct agent_workspace *workspace,
                      const struct process_result *result, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_string(&w, "agent", state->name);
    json_put_string(&w, "prompt", workspace->prompt);
    json_put_int(&w, "exit_code", result->exit_code);
    json_put_bool(&w, "timed_out", result->timed_out);
    json_put_bool(&w, "truncated", result->truncated);
    json_put_int(&w, "wall_ns", result->wall_ns);
    json_put_string(&w, "output", agent_row_redact(state->row, result->out, arena));
    json_put_string(&w, "errors", agent_row_redact(state->row, result->errors, arena));
    json_end_object(&w);
    return arena_strdup(arena, buf_text(&text));
}

/* The folder of this proposal. */
static bool take_folder(struct proposer *proposer, struct arena *arena, char **out, struct err *err)
{
    struct agent_state *state = proposer->state;
    if (!state->keeps_files)
        return make_folder(state, arena, out, err);
    if (!state->folder && !make_folder(state, &proposer->arena, &state->folder, err))
        return false;
    *out = state->folder;
    return true;
}

static void drop_folder(const struct agent_state *state, const char *dir)
{
    struct err ignored;
    if (!state->workspaces)
        (void)os_remove_tree(dir, &ignored);
}

static void agent_close(struct proposer *proposer)
{
    const struct agent_state *state = proposer->state;
    if (state->folder)
        drop_folder(state, state->folder);
}

static bool work(struct proposer *proposer, const struct propose_request *request, const char *dir,
                 struct arena *arena, struct proposal *out, struct err *err)
{
    const struct agent_state *state = proposer->state;
    struct agent_workspace workspace;
    struct process_result result;
    if (!agent_workspace_write(dir, state->row, state->server, proposer->task, request, arena,
                               &workspace, err) ||
        !run_agent(state, &workspace, arena, &result, err))
        return false;
    if (result.interrupted)
        return err_set(err, ERR_INTERRUPTED, "'%s' was stopped while it worked", state->name);
    struct proposal proposal = {0};
    const char *problem = agent_workspace_read(&workspace, state->row, state->name, proposer->task,
                                               request, arena, &proposal);
    if (problem)
        proposal = (struct proposal){
            .candidate = {.source = ""},
            .failure = arena_printf(arena, "%s%s", problem, ending(state, &result, arena))};
    agent_read_usage(&state->row->usage, result.out, &proposal.tokens_in, &proposal.tokens_out);
    proposal.exchange_json = exchange(state, &workspace, &result, arena);
    *out = proposal;
    return true;
}

static bool agent_next(struct proposer *proposer, const struct propose_request *request,
                       struct arena *arena, bool *exhausted, struct proposal *out, struct err *err)
{
    const struct agent_state *state = proposer->state;
    char *dir = NULL;
    if (!request->context)
        BUG("propose: the agent proposer needs a context");
    *exhausted = false; /* an agent always has something to try */
    if (!take_folder(proposer, arena, &dir, err))
        return false;
    const bool ok = work(proposer, request, dir, arena, out, err);
    if (!state->keeps_files)
        drop_folder(state, dir);
    return ok;
}

const struct proposer_driver proposer_driver_agent = {
    .version = PROPOSER_DRIVER_VERSION,
    .name = "agent",
    .summary = "a coding agent, or any command, in a folder of its own",
    .argument = "COMMAND",
    .needs_argument = true,
    .state_bytes = sizeof(struct agent_state),
    .open = agent_open,
    .close = agent_close,
    .next = agent_next,
};
