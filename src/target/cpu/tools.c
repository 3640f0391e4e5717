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

struct tool_output build_tool_failed(const char *tool, const char *problem)
{
    return (struct tool_output){.tool = tool, .text = "", .problem = problem};
}

static const char *problem_of(const struct process_result *result, struct arena *arena)
{
    if (result->timed_out)
        return "it was not done in time";
    if (result->signal)
        return arena_printf(arena, "it died of signal %d", result->signal);
    const char *at = strstr(result->errors, "error:");
    const char *line = at ? at + strlen("error:") : result->errors;
    line += strspn(line, " \n");
    char *said =
        arena_strndup(arena, line, str_cut_length(line, strcspn(line, "\n"), MOST_PROBLEM_BYTES));
    str_make_printable(said);
    return said[0] ? said : arena_printf(arena, "it ended with status %d", result->exit_code);
}

bool build_tool_said(struct building *b, const char *tool, const struct process_result *result,
                     struct tool_output *out)
{
    if (result->interrupted)
        return err_set(b->err, ERR_INTERRUPTED, "interrupted while %s ran", tool);
    if (result->timed_out || result->signal || result->exit_code != 0)
        *out = build_tool_failed(tool, problem_of(result, b->arena));
    else
        *out = (struct tool_output){.tool = tool,
                                    .text = arena_strdup(b->arena, result->out),
                                    .problem = "",
                                    .is_cut = result->truncated};
    return true;
}

struct tool_output build_take_file(const struct building *b, const char *tool, const char *name,
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
    const int64_t asked_ns = b->request->notes_limit_ns;
    const int64_t limit_ns = asked_ns > 0 && asked_ns < NOTES_LIMIT_NS ? asked_ns : NOTES_LIMIT_NS;
    struct process_result result;
    build_fill_compile(b, record_flags(b), candidate_source, assembly_file, argv);
    if (!build_write_source(b) || !build_run_tool(b, argv, limit_ns, MOST_SAID_BYTES, &result))
        return false;
    out->timed_out = result.timed_out;
    if (!build_tool_said(b, tool, &result, &out->record))
        return false;
    out->assembly = out->record;
    if (out->record.problem[0])
        return true;
    out->record = build_take_file(b, tool, record_file, MOST_FILE_BYTES);
    out->assembly = build_take_file(b, tool, assembly_file, MOST_FILE_BYTES);
    return true;
}

static bool work_in_folder(struct building *b, bool (*work)(struct building *b, void *context),
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

bool build_ask_tool(struct building *b, const char *tool,
                    bool (*work)(struct building *b, void *context), void *context,
                    struct tool_output *out, struct err *err)
{
    struct err why;
    b->err = &why;
    if (work_in_folder(b, work, context))
        return true;
    if (why.kind != ERR_INTERRUPTED) {
        *out = build_tool_failed(tool, arena_strdup(b->arena, why.message));
        return true;
    }
    *err = why;
    return false;
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
    struct err why;
    struct building b = {.target = target,
                         .request = request,
                         .arena = arena,
                         .step = &step,
                         .out = &refused,
                         .err = &why};
    if (build_screen(&b) != STEP_DONE) {
        const char *tool = b.compiler ? b.compiler->name : "compiler";
        notes.record = notes.assembly =
            build_tool_failed(arena_strdup(arena, tool), refused.evidence);
    } else {
        const char *tool = arena_strdup(arena, b.compiler->name);
        notes.family = b.compiler->family;
        if (!build_ask_tool(&b, tool, make_notes, &notes, &notes.record, err))
            return false;
        if (!notes.assembly.tool)
            notes.assembly = notes.record;
    }
    *out = notes;
    return true;
}

/* --- llvm-mca ---------------------------------------------------------------------------------
 */

/* An llvm-mca of PATH: its file, and what is in the way where it cannot be used. */
struct mca {
    const char *name, *path, *problem; /* "llvm-mca-14"; "" where it is fine */
};

bool build_box_reads(const struct target *target, const char *path, struct arena *arena)
{
    struct err ignored;
    char *real = NULL;
    if (os_landlock_abi() <= 0)
        return true;
    if (!os_path_real(path, arena, &real, &ignored))
        return false;
    for (const char **folder = build_read_paths(target, arena); *folder; folder++) {
        char *within = NULL;
        if (!os_path_real(*folder, arena, &within, &ignored))
            continue;
        const size_t length = strlen(within);
        if (str_starts_with(real, within) && (real[length] == '/' || real[length] == '\0'))
            return true;
    }
    return false;
}

/* The newest on PATH that the box can read; else why there is none. */
static struct mca find_mca(const struct target *target, struct arena *arena)
{
    struct mca out = {.name = "llvm-mca", .problem = "not installed"};
    for (int version = NEWEST_MCA; version >= OLDEST_MCA - 1; version--) {
        const char *name =
            version < OLDEST_MCA ? "llvm-mca" : arena_printf(arena, "llvm-mca-%d", version);
        const char *path = os_find_program(name, arena);
        if (path && build_box_reads(target, path, arena))
            return (struct mca){name, path, ""};
        if (path && !out.path)
            out = (struct mca){
                name, path,
                arena_printf(arena, "the box of a compiler cannot read '%.100s'", path)};
    }
    return out;
}

struct throughput {
    const struct mca *mca;
    const char *block;
    struct tool_output *out;
};

static bool run_mca(struct building *b, void *context)
{
    const struct throughput *t = context;
    const char *const argv[] = {t->mca->path,           "-mcpu=native", "-iterations=100",
                                "-bottleneck-analysis", block_file,     NULL};
    struct process_result result;
    return build_put_file(b, block_file, t->block, strlen(t->block)) &&
           build_run_tool(b, argv, THROUGHPUT_LIMIT_NS, TARGET_MOST_TOOL_BYTES, &result) &&
           build_tool_said(b, t->mca->name, &result, t->out);
}

bool cpu_throughput(struct target *target, const char *block, struct arena *arena,
                    struct tool_output *out, struct err *err)
{
    CLEANUP(arena_free) struct arena step = {0};
    struct tool_output said = {.tool = ""};
    struct building b = {.target = target, .arena = arena, .step = &step};
    const struct mca mca = find_mca(target, arena);
    struct throughput t = {.mca = &mca, .block = block, .out = &said};
    if (mca.problem[0]) {
        *out = build_tool_failed(mca.name, mca.path ? mca.problem : "llvm-mca is not installed");
        return true;
    }
    if (!build_ask_tool(&b, mca.name, run_mca, &t, &said, err))
        return false;
    *out = said;
    return true;
}

size_t cpu_tools(const struct target *target, struct arena *arena, struct target_tool *out,
                 size_t capacity)
{
    const struct target_features *f = &target->features;
    const struct mca mca = find_mca(target, arena);
    const struct target_tool tools[] = {
        {.name = arena_printf(arena, "records of %s", f->compilers[0].name),
         .purpose = "which loops are not vectorized, and why",
         .problem = "",
         .help = ""},
        {.name = mca.name,
         .purpose = "what the hot loop waits for: ports, dependences, the front end",
         .problem = mca.problem,
         .help = mca.path ? "install it below /usr" : "apt-get install llvm"},
        {.name = "cachegrind",
         .purpose = "which line misses the caches",
         .problem = cachegrind_problem(target, arena),
         .help = "apt-get install valgrind"},
        {.name = "sampling by the CPU clock",
         .purpose = "which line takes the time",
         .problem = sampled_problem(arena),
         .help = "sysctl kernel.perf_event_paranoid=2; in a container allow perf_event_open"},
    };
    size_t count = 0;
    for (; count < sizeof tools / sizeof *tools && count < capacity; count++)
        out[count] = tools[count];
    return count;
}
