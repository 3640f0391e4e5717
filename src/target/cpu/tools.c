/*
 * What compilers and llvm-mca say of a build, for profiles. Each runs in a folder of its own and as
 * confined as a compiler that builds; what it says is capped here and read in profile/.
 */
#include "target/cpu/building.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include <string.h>

#define NOTES_LIMIT_NS INT64_C(30000000000)
#define THROUGHPUT_LIMIT_NS INT64_C(10000000000)
enum { MOST_SAID_BYTES = 16 * 1024, MOST_PROBLEM_BYTES = 200, NEWEST_MCA = 40, OLDEST_MCA = 10 };

static const char candidate_source[] = "candidate.c", assembly_file[] = "candidate.s";
static const char record_file[] = "record.txt", block_file[] = "block.s";

static struct tool_output failed(const char *tool, const char *problem)
{
    return (struct tool_output){.tool = tool, .text = "", .problem = problem};
}

/* Why a tool that was run gave nothing. */
static const char *problem_of(const struct process_result *result, struct arena *arena)
{
    if (result->timed_out)
        return "it was not done in time";
    if (result->signal)
        return arena_printf(arena, "it died of signal %d", result->signal);
    const char *at = strstr(result->errors, "error:");
    const char *line = at ? at + strlen("error:") : result->errors;
    line += strspn(line, " \n");
    const size_t length = strcspn(line, "\n");
    char *said =
        arena_strndup(arena, line, length < MOST_PROBLEM_BYTES ? length : MOST_PROBLEM_BYTES);
    str_make_printable(said);
    return said[0] ? said : arena_printf(arena, "it ended with status %d", result->exit_code);
}

/* A file that a tool wrote, as far as it is taken: cut at the end of a line. */
static struct tool_output take_file(const struct building *b, const char *tool, const char *name,
                                    size_t most_bytes)
{
    struct tool_output out = {.tool = tool, .text = "", .problem = ""};
    char *text = NULL;
    size_t length = 0;
    struct err problem;
    if (!os_read_plain_file(os_path_join(b->step, b->dir, name), most_bytes, b->step, &text,
                            &length, &problem)) {
        /* gcc makes no file where it has nothing to say. */
        if (problem.kind != ERR_NOT_FOUND)
            out.problem = arena_strdup(b->arena, problem.message);
        return out;
    }
    if (memchr(text, '\0', length)) {
        out.problem = "it wrote bytes that are no text";
        return out;
    }
    size_t kept = length;
    if (kept > TARGET_MOST_TOOL_BYTES) {
        kept = TARGET_MOST_TOOL_BYTES;
        while (kept > 0 && text[kept - 1] != '\n')
            kept--;
        out.is_cut = true;
    }
    out.text = arena_strndup(b->arena, text, kept);
    return out;
}

/* gcc and clang each have a record of their own; -g1 brings the lines and changes no code. */
static const char *const *record_flags(const struct building *b)
{
    static const char *const gcc[] = {"-S", "-g1", "-fopt-info-vec-optimized-missed=record.txt",
                                      NULL};
    static const char *const clang[] = {"-S",
                                        "-g1",
                                        "-fsave-optimization-record",
                                        "-foptimization-record-file=record.txt",
                                        "-foptimization-record-passes=loop-vectorize",
                                        NULL};
    return str_equal(b->compiler->family, "gcc") ? gcc : clang;
}

static bool notes_in_dir(struct building *b, struct build_notes *out)
{
    enum { MOST_FILE_BYTES = 64 * 1024 * 1024 };
    const char *argv[BUILD_MOST_ARGUMENTS];
    const char *tool = arena_strdup(b->arena, b->compiler->name);
    struct process_result result;
    build_fill_compile(b, record_flags(b), candidate_source, assembly_file, argv);
    if (!build_write_source(b) ||
        !build_run_tool(b, argv, NOTES_LIMIT_NS, MOST_SAID_BYTES, &result))
        return false;
    if (result.interrupted)
        return err_set(b->err, ERR_INTERRUPTED, "interrupted while a compiler ran");
    if (result.timed_out || result.signal || result.exit_code != 0) {
        out->record = out->assembly = failed(tool, problem_of(&result, b->arena));
        return true;
    }
    out->record = take_file(b, tool, record_file, MOST_FILE_BYTES);
    out->assembly = take_file(b, tool, assembly_file, MOST_FILE_BYTES);
    return true;
}

/* Makes the folder, works in it, removes it. */
static bool in_folder(struct building *b, bool (*work)(struct building *b, void *context),
                      void *context)
{
    char *dir = NULL;
    struct err ignored;
    if (!os_make_temp_dir("kope-profile", b->step, &dir, b->err))
        return false;
    b->dir = dir;
    const bool ok = work(b, context);
    (void)os_remove_tree(dir, &ignored);
    return ok;
}

static bool make_notes(struct building *b, void *context)
{
    return notes_in_dir(b, context);
}

bool cpu_notes(struct target *target, const struct build_request *request, struct arena *arena,
               struct build_notes *out, struct err *err)
{
    CLEANUP(arena_free) struct arena step = {0};
    struct build_result refused = {.evidence = ""};
    struct build_notes notes = {.family = ""};
    struct building b = {.target = target,
                         .request = request,
                         .arena = arena,
                         .step = &step,
                         .out = &refused,
                         .err = err};
    if (build_screen(&b) != STEP_DONE) {
        notes.record = notes.assembly = failed("", refused.evidence);
    } else {
        notes.family = b.compiler->family;
        if (!in_folder(&b, make_notes, &notes))
            return err_within(err, "asking %s about '%s'", b.compiler->name, request->task->name);
    }
    *out = notes;
    return true;
}

/* --- llvm-mca ---------------------------------------------------------------------------------
 */

/* The newest on PATH, and how it is called; NULL. */
static const char *find_mca(struct arena *arena, const char **name)
{
    for (int version = NEWEST_MCA; version >= OLDEST_MCA; version--) {
        *name = arena_printf(arena, "llvm-mca-%d", version);
        const char *path = os_find_program(*name, arena);
        if (path)
            return path;
    }
    *name = "llvm-mca";
    return os_find_program(*name, arena);
}

struct throughput {
    const char *path, *name, *block;
    struct tool_output *out;
};

static bool run_mca(struct building *b, void *context)
{
    const struct throughput *t = context;
    const char *const argv[] = {
        t->path, "-mcpu=native", "-iterations=100", "-bottleneck-analysis", block_file, NULL};
    struct process_result result;
    if (!os_write_file(os_path_join(b->step, b->dir, block_file), t->block, strlen(t->block), false,
                       b->err) ||
        !build_run_tool(b, argv, THROUGHPUT_LIMIT_NS, TARGET_MOST_TOOL_BYTES, &result))
        return false;
    if (result.interrupted)
        return err_set(b->err, ERR_INTERRUPTED, "interrupted while %s ran", t->name);
    if (result.timed_out || result.signal || result.exit_code != 0) {
        *t->out = failed(t->name, problem_of(&result, b->arena));
        return true;
    }
    *t->out = (struct tool_output){.tool = t->name,
                                   .text = arena_strdup(b->arena, result.out),
                                   .problem = "",
                                   .is_cut = result.truncated};
    return true;
}

bool cpu_throughput(struct target *target, const char *block, struct arena *arena,
                    struct tool_output *out, struct err *err)
{
    CLEANUP(arena_free) struct arena step = {0};
    struct tool_output said = {.tool = ""};
    struct throughput t = {.block = block, .out = &said};
    struct building b = {.target = target, .arena = arena, .step = &step, .err = err};
    t.path = find_mca(arena, &t.name);
    if (!t.path) {
        *out = failed("llvm-mca", "llvm-mca is not installed");
        return true;
    }
    if (!in_folder(&b, run_mca, &t))
        return err_within(err, "running %s", t.name);
    *out = said;
    return true;
}

size_t cpu_tools(const struct target *target, struct arena *arena, struct target_tool *out,
                 size_t capacity)
{
    const struct target_features *f = &target->features;
    const char *mca = NULL;
    const bool has_mca = find_mca(arena, &mca) != NULL;
    const struct target_tool tools[] = {
        {.name = arena_printf(arena, "records of %s", f->compilers[0].name),
         .purpose = "which loops are not vectorized, and why",
         .problem = "",
         .help = ""},
        {.name = mca,
         .purpose = "what the hot loop waits for: ports, dependences, the front end",
         .problem = has_mca ? "" : "not installed",
         .help = "apt-get install llvm"},
        {.name = "sampling by the CPU clock",
         .purpose = "which line takes the time",
         .problem = "the box hides the child of a candidate from perf_event",
         .help = ""},
    };
    size_t count = 0;
    for (; count < sizeof tools / sizeof *tools && count < capacity; count++)
        out[count] = tools[count];
    return count;
}
