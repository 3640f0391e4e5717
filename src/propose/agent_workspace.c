#include "propose/agent_workspace.h"

#include "base/str.h"
#include "os/file.h"
#include "propose/driver.h"
#include "propose/reply.h"
#include "json/json.h"

#include <string.h>

enum { DECISION_LIMIT_BYTES = REPLY_MAX_HEADER_BYTES };

static const char guide[] =
    "# Make one kernel faster\n"
    "\n"
    "You are asked for **one** change to `kernel.c` that makes it faster and keeps it right. After "
    "you have ended, a gate compiles the file, checks it against the reference in double precision "
    "on inputs that nobody has seen, and times it against the baseline on this machine. Only that "
    "verdict counts; what you write about the result does not.\n"
    "\n"
    "1. Read `CONTEXT.md`: the task, the machine, what was tried before and how it ended. The "
    "reference and the task file are in `task/`.\n"
    "2. Edit `kernel.c` in place. It holds the best source so far and has to stay one complete C17 "
    "file that defines the entry point with the same signature: `%s`\n"
    "3. Fill in `decision.json`: `intent` (what you change, in one sentence), `hypothesis` (why it "
    "will be faster, and what could prove that wrong), `predicted_speedup` (time of the current "
    "file divided by time of yours; it will be compared with the measurement). `compiler` and "
    "`flags` may be changed to others that `CONTEXT.md` lists.\n"
    "\n"
    "Rules of the gate: every size from 1 on has to work, not only the shapes that are listed; "
    "nothing outside the buffers is read or written; buffers are aligned to their element only and "
    "do not overlap, unless `CONTEXT.md` says that two arguments are one; no libraries but libc's "
    "memory functions and libm; no input or output, no "
    "system calls%s; nothing is kept from one call to the next. A candidate that games the "
    "measurement is rejected and remembered as such.\n"
    "\n"
    "%s"
    "Leave all other files as they are; they are not read back.\n";

static const char server_guide[] =
    "KOPE's MCP server `kope` is configured: with its tools you can have a candidate judged before "
    "you decide, and search what is remembered. Each judgement costs machine time.\n\n";

static bool write_text(const char *dir, const char *name, const char *text, struct arena *arena,
                       struct err *err)
{
    const char *path = os_path_join(arena, dir, name);
    return os_make_dirs(os_path_dir(arena, path), err) &&
           os_write_file(path, text, strlen(text), false, err);
}

static char *decision_template(const struct candidate *parent, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct json_writer w = {.out = &text};
    json_begin_object(&w);
    json_put_string(&w, "intent", "");
    json_put_string(&w, "hypothesis", "");
    json_put_real(&w, "predicted_speedup", 1.0);
    if (parent->compiler)
        json_put_string(&w, "compiler", parent->compiler);
    json_key(&w, "flags");
    json_begin_array(&w);
    for (size_t i = 0; i < parent->flag_count; i++)
        json_write_string(&w, parent->flags[i]);
    json_end_array(&w);
    json_end_object(&w);
    (void)buf_append_char(&text, '\n');
    return arena_strdup(arena, buf_text(&text));
}

/* The task's own files, as far as it has a folder. */
static bool copy_task(const char *dir, const struct task *task, struct arena *arena,
                      struct err *err)
{
    char *yaml = NULL;
    const char *source = os_path_join(arena, task->dir, "task.yaml");
    if (!write_text(dir, "task/reference.c", task->reference, arena, err))
        return false;
    if (task->dir[0] == '\0' || !os_path_exists(source))
        return true;
    return os_read_file(source, TASK_MAX_SOURCE_BYTES, arena, &yaml, NULL, err) &&
           write_text(dir, "task/task.yaml", yaml, arena, err);
}

static bool write_config(const char *dir, const struct agent_row *row,
                         const struct agent_server *server, struct arena *arena,
                         struct agent_workspace *out, struct err *err)
{
    CLEANUP(buf_free) struct buf text = {0};
    if (!server || !row->config_path)
        return true;
    row->write_config(server, &text);
    out->config_path = os_path_join(arena, dir, row->config_path);
    return write_text(dir, row->config_path, buf_text(&text), arena, err);
}

/* Where agents look for skills: the folders of the format and of its first user. */
static bool write_skills(const char *dir, const struct propose_request *request,
                         struct arena *arena, struct err *err)
{
    static const char *const folders[] = {".agents/skills", ".claude/skills"};
    for (size_t i = 0; i < request->skill_count; i++) {
        for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
            const char *name =
                arena_printf(arena, "%s/%s/SKILL.md", folders[f], request->skills[i].name);
            if (!write_text(dir, name, request->skills[i].text, arena, err))
                return false;
        }
    }
    return true;
}

bool agent_workspace_write(const char *dir, const struct agent_row *row,
                           const struct agent_server *server, const struct task *task,
                           const struct propose_request *request, struct arena *arena,
                           struct agent_workspace *out, struct err *err)
{
    struct agent_workspace workspace = {
        .dir = dir,
        .prompt_path = os_path_join(arena, dir, "PROMPT.md"),
        .prompt = "Read AGENTS.md in this folder and do what it says: improve kernel.c once and "
                  "fill in decision.json.",
        .decision = decision_template(request->parent, arena),
    };
    const char *threads = task->threads > 1
                              ? arena_printf(arena, ", at most %lld threads (OpenMP or pthreads)",
                                             (long long)task->threads)
                              : ", no threads";
    const char *text = arena_printf(arena, guide, task_signature(task, "real", arena), threads,
                                    server ? server_guide : "");
    if (!write_text(dir, "AGENTS.md", text, arena, err) ||
        !write_text(dir, "CLAUDE.md", "@AGENTS.md\n", arena, err) ||
        !write_text(dir, "CONTEXT.md", request->context, arena, err) ||
        !write_text(dir, "PROMPT.md", workspace.prompt, arena, err) ||
        !write_text(dir, "kernel.c", request->parent->source, arena, err) ||
        !write_text(dir, "decision.json", workspace.decision, arena, err) ||
        !copy_task(dir, task, arena, err) || !write_skills(dir, request, arena, err) ||
        !write_config(dir, row, server, arena, &workspace, err))
        return false;
    *out = workspace;
    return true;
}

/* A run of backticks that is longer than any in the two texts. */
static char *make_fence(const char *a, const char *b, struct arena *arena)
{
    size_t longest = 2;
    const char *texts[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        for (const char *c = texts[i]; *c != '\0'; c++) {
            const size_t run = strspn(c, "`");
            longest = run > longest ? run : longest;
            c += run > 0 ? run - 1 : 0;
        }
    }
    char *fence = arena_alloc(arena, longest + 2);
    memset(fence, '`', longest + 1);
    return fence;
}

/* The decision that the agent has written, or a plain one in its place: that it did not fill in the
 * form is no reason to lose its work. */
static const char *decision_text(const struct agent_workspace *workspace, const char *agent_name,
                                 const struct candidate *parent, struct arena *arena)
{
    struct err err;
    char *text = NULL;
    const char *path = os_path_join(arena, workspace->dir, "decision.json");
    if (os_read_file(path, DECISION_LIMIT_BYTES, arena, &text, NULL, &err) &&
        !str_equal(text, workspace->decision))
        return text;
    struct candidate plain = candidate_copy(parent, arena);
    const char *form = decision_template(&plain, arena);
    /* The form begins with the two empty texts. */
    static const char empty[] = "{\"intent\":\"\",\"hypothesis\":\"\"";
    return arena_printf(arena, "{\"intent\":\"changes by %s\",\"hypothesis\":\"not stated\"%s",
                        agent_name, form + strlen(empty));
}

const char *agent_workspace_read(const struct agent_workspace *workspace,
                                 const struct agent_row *row, const char *agent_name,
                                 const struct task *task, const struct propose_request *request,
                                 struct arena *arena, struct proposal *out)
{
    struct err err;
    struct proposal parsed = {0};
    char *source = NULL;
    size_t length = 0;
    const char *path = os_path_join(arena, workspace->dir, "kernel.c");
    if (!os_read_file(path, CANDIDATE_MAX_SOURCE_BYTES, arena, &source, &length, &err))
        return arena_printf(arena, "kernel.c cannot be read: %s", err.message);
    if (strlen(source) != length)
        return "kernel.c holds a NUL byte";
    source = agent_row_redact(row, source, arena);
    const char *decision =
        agent_row_redact(row, decision_text(workspace, agent_name, request->parent, arena), arena);
    const char *fence = make_fence(source, decision, arena);
    const char *reply = arena_printf(arena, "%sjson\n%s\n%s\n%sc\n%s\n%s\n", fence, decision, fence,
                                     fence, source, fence);
    const char *problem = reply_parse(reply, task, request->parent, arena, &parsed);
    if (problem)
        return problem;
    parsed.candidate.source = source; /* not a byte more than the file */
    const struct hash_id before = candidate_id(request->parent);
    const struct hash_id after = candidate_id(&parsed.candidate);
    if (str_equal(before.text, after.text))
        return "nothing was changed in kernel.c";
    if (propose_was_tried(request, after.text))
        return "this very candidate was judged before";
    *out = parsed;
    return NULL;
}
