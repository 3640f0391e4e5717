#include "target/cpu/building.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * From a source to an image: compile with -c, check the object, scan its instructions, compile the
 * calling stub, link both, check the image. Every program runs confined in a folder of its own.
 */
#define COMPILE_LIMIT_NS INT64_C(60000000000)
#define COMPILE_MEMORY_BYTES ((size_t)4 << 30)
enum {
    MOST_DIAGNOSTICS = 16 * 1024,
    MOST_OBJECT_BYTES = 64 * 1024 * 1024,
    MOST_DISASSEMBLY_BYTES = 256 * 1024 * 1024
};

static const char candidate_source[] = "candidate.c", candidate_object[] = "candidate.o";
static const char prelude_file[] = "prelude.h";
static const char stub_source[] = "stub.c", stub_object[] = "stub.o";
static const char exports_file[] = "exports.map", image_file[] = "image.so";

const char **build_read_paths(const struct target *target, struct arena *arena)
{
    static const char *const always[] = {"/usr",
                                         "/lib",
                                         "/lib32",
                                         "/lib64",
                                         "/bin",
                                         "/nix/store",
                                         "/etc/alternatives",
                                         "/etc/ld.so.cache"};
    const size_t always_count = sizeof always / sizeof *always;
    const struct target_features *f = &target->features;
    const char **paths = arena_array(arena, always_count + f->compiler_count + 1, sizeof *paths);
    size_t count = 0;
    for (size_t i = 0; i < always_count; i++)
        paths[count++] = always[i];
    for (size_t i = 0; i < f->compiler_count; i++) {
        char *real = NULL;
        struct err ignored;
        const char *home = os_env("HOME");
        if (!os_path_real(f->compilers[i].path, arena, &real, &ignored))
            continue;
        /* PREFIX/bin/gcc reads PREFIX, unless that is the root or holds somebody's home. */
        const char *prefix = os_path_dir(arena, os_path_dir(arena, real));
        if (strlen(prefix) > 1 && !(home && str_starts_with(home, prefix)))
            paths[count++] = prefix;
    }
    return paths;
}

static bool run_confined(struct building *b, const char *const *argv, int64_t limit_ns,
                         size_t output_limit, bool reads_own_proc, struct process_result *out)
{
    const char *const write_paths[] = {b->dir, NULL};
    const struct process_opts opts = {.argv = argv,
                                      .dir = b->dir,
                                      .timeout_ns = limit_ns,
                                      .output_limit_bytes = output_limit,
                                      .memory_limit_bytes = COMPILE_MEMORY_BYTES,
                                      .confine = true,
                                      .read_paths = build_read_paths(b->target, b->step),
                                      .write_paths = write_paths,
                                      .reads_own_proc = reads_own_proc};
    return os_run(&opts, b->step, out, b->err);
}

bool build_run_tool(struct building *b, const char *const *argv, int64_t limit_ns,
                    size_t output_limit, struct process_result *out)
{
    return run_confined(b, argv, limit_ns, output_limit, false, out);
}

bool build_run_simulator(struct building *b, const char *const *argv, int64_t limit_ns,
                         size_t output_limit, struct process_result *out)
{
    return run_confined(b, argv, limit_ns, output_limit, true, out);
}

static bool run_tool(struct building *b, const char *const *argv, size_t output_limit,
                     struct process_result *out)
{
    return build_run_tool(b, argv, COMPILE_LIMIT_NS, output_limit, out);
}

static char *in_dir(const struct building *b, const char *name)
{
    return os_path_join(b->step, b->dir, name);
}

bool build_put_file(struct building *b, const char *name, const void *bytes, size_t count)
{
    return os_write_file(in_dir(b, name), bytes, count, false, b->err);
}

static bool write_text(struct building *b, const char *name, const char *text)
{
    return build_put_file(b, name, text, strlen(text));
}

static const char *capped(const char *text, struct arena *arena)
{
    const size_t length = strlen(text);
    if (length <= MOST_DIAGNOSTICS)
        return arena_strdup(arena, text);
    return arena_printf(arena, "%.*s\n...", MOST_DIAGNOSTICS, text);
}

/* First line with "error" in it, for evidence. */
static const char *first_error(const char *text, struct arena *arena)
{
    const char *at = strstr(text, "error:");
    if (!at)
        at = text;
    while (at > text && at[-1] != '\n')
        at--;
    const size_t length = strcspn(at, "\n");
    return arena_strndup(arena, at, length < 300 ? length : 300);
}

/* What a tool's failure means for a candidate. */
static enum step_end judge_tool(struct building *b, const struct process_result *result,
                                const char *mechanism)
{
    b->out->diagnostics = capped(result->errors, b->arena);
    if (result->interrupted) {
        (void)err_set(b->err, ERR_INTERRUPTED, "interrupted during a build");
        return STEP_ERROR;
    }
    if (result->timed_out)
        return build_end_with(
            b, BUILD_TIMED_OUT, mechanism,
            arena_printf(b->step, "not done after %d s", (int)(COMPILE_LIMIT_NS / 1000000000)));
    if (result->exit_code == 0)
        return STEP_DONE;
    if (result->signal)
        return build_end_with(
            b, BUILD_FAILED, mechanism,
            arena_printf(b->step, "the %s died of signal %d", mechanism, result->signal));
    return build_end_with(b, BUILD_FAILED, mechanism, first_error(result->errors, b->step));
}

bool build_uses_polly(const struct building *b)
{
    for (size_t i = 0; i < b->flag_count; i++) {
        if (str_starts_with(b->flags[i], "-polly"))
            return true;
    }
    return false;
}

void build_fill_compile(const struct building *b, const char *const *more, const char *source,
                        const char *output, const char **argv)
{
    static const char *const fixed[] = {
        "-std=gnu17",
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-stack-protector",
        "-fno-asynchronous-unwind-tables",
        "-U_FORTIFY_SOURCE",
        "-DNDEBUG",
        "-fdiagnostics-color=never",
#if defined(__x86_64__)
        "-fcf-protection=none",
#endif
    };
    size_t n = 0;
    argv[n++] = b->compiler->path;
    const char *plugin = build_uses_polly(b) ? compiler_polly_plugin(b->compiler, b->step) : NULL;
    if (plugin)
        argv[n++] = plugin;
    for (size_t i = 0; i < b->flag_count; i++)
        argv[n++] = b->flags[i];
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        argv[n++] = fixed[i];
    argv[n++] = "-include";
    argv[n++] = prelude_file;
    for (size_t i = 0; more[i]; i++)
        argv[n++] = more[i];
    argv[n++] = "-o";
    argv[n++] = output;
    argv[n++] = source;
    argv[n] = NULL;
}

static enum step_end compile(struct building *b, const char *source, const char *object)
{
    const bool has_lines = b->request->has_lines && source == candidate_source;
    const char *const more[] = {"-c", has_lines ? "-g" : NULL, NULL};
    const char *argv[BUILD_MOST_ARGUMENTS];
    struct process_result result;
    build_fill_compile(b, more, source, object, argv);
    if (!run_tool(b, argv, MOST_DIAGNOSTICS * 4, &result))
        return STEP_ERROR;
    return judge_tool(b, &result, "compiler");
}

static enum step_end scan(struct building *b)
{
    const char *const argv[] = {cpu_state_of(b->target)->disassembler, "-d", "--no-show-raw-insn",
                                candidate_object, NULL};
    struct process_result result;
    if (!run_tool(b, argv, MOST_DISASSEMBLY_BYTES, &result))
        return STEP_ERROR;
    if (result.interrupted)
        return judge_tool(b, &result, "disassembler");
    if (result.exit_code != 0 || result.truncated)
        return build_end_with(b, BUILD_REJECTED, "M12-object", "its code cannot be disassembled");
    const char *found = scan_instructions(result.out, b->step);
    if (!found)
        found = scan_jumps(result.out, b->step);
    if (!found)
        found =
            scan_bytes(b->object, b->object_bytes, scan_finds_indirect_jump(result.out), b->step);
    return found ? build_end_with(b, BUILD_REJECTED, "M12-object", found) : STEP_DONE;
}

static enum step_end check_object(struct building *b)
{
    const struct cpu_state *state = cpu_state_of(b->target);
    const struct object_rules rules = {.symbols = state->symbols,
                                       .symbol_count = state->symbol_count,
                                       .threads = b->request->task->threads > 1};
    char *object = NULL;
    size_t length = 0;
    const char *why = "";
    if (!os_read_file(in_dir(b, candidate_object), MOST_OBJECT_BYTES, b->step, &object, &length,
                      b->err)) {
        if (b->err->kind == ERR_LIMIT)
            return build_end_with(b, BUILD_REJECTED, "M12-object", "the object is too large");
        return STEP_ERROR;
    }
    if (!object_check(object, length, &rules, b->step, &why))
        return build_end_with(b, BUILD_REJECTED, "M12-object", why);
    b->out->code_id = code_id(object, length, b->request->task->entry);
    b->object = object;
    b->object_bytes = length;
    return STEP_DONE;
}

/* The scan of the instructions beside the linker: each takes about as long. */
struct inspection {
    struct building building; /* its own arena, result and error */
    struct arena arena;
    struct build_result result;
    struct err err;
    pthread_t thread;
    bool has_thread;
    enum step_end end;
    int64_t ns;
};

static void *inspect(void *context)
{
    struct inspection *inspection = context;
    const int64_t start = os_now_ns();
    inspection->end = scan(&inspection->building);
    inspection->ns = os_now_ns() - start;
    return NULL;
}

static void inspection_start(struct inspection *inspection, const struct building *b)
{
    *inspection = (struct inspection){.building = *b};
    inspection->building.arena = inspection->building.step = &inspection->arena;
    inspection->building.out = &inspection->result;
    inspection->building.err = &inspection->err;
    inspection->has_thread = pthread_create(&inspection->thread, NULL, inspect, inspection) == 0;
    if (!inspection->has_thread)
        (void)inspect(inspection);
}

/* What it found goes before what the linker said. */
static enum step_end inspection_end(struct inspection *inspection, struct building *b,
                                    enum step_end linked)
{
    if (inspection->has_thread)
        (void)pthread_join(inspection->thread, NULL);
    const struct build_result *found = &inspection->result;
    b->out->timings.inspect_ns += inspection->ns;
    if (inspection->end == STEP_ERROR)
        *b->err = inspection->err;
    else if (inspection->end == STEP_RESULT)
        (void)build_end_with(b, found->status, found->mechanism, found->evidence);
    arena_free(&inspection->arena);
    return inspection->end == STEP_DONE ? linked : inspection->end;
}

/* Unpacks a call. The entry is hidden: the linker must find it in the candidate. `ptr` in order of
 * the buffers, `ints` the integer attributes and then the axes, `reals` the real attributes. */
static char *stub_text(const struct task *task, const char *real_name, struct arena *arena)
{
    struct buf text = {0};
    size_t ints = 0, reals = 0;
    (void)buf_printf(&text,
                     "__attribute__((visibility(\"hidden\"))) %s;\n"
                     "__attribute__((visibility(\"default\")))\n"
                     "void %s(void *const *ptr, const int64_t *ints, const double *reals)\n{\n"
                     "    (void)ptr, (void)ints, (void)reals;\n    %s(",
                     task_signature(task, real_name, arena), RUNNER_ENTRY, task->entry);
    for (size_t i = 0; i < task->arg_count; i++)
        (void)buf_printf(&text, "%sptr[%zu]", i ? ", " : "", task_arg_buffer(task, i));
    for (size_t i = 0; i < task->attr_count; i++) {
        if (task->attrs[i].is_integer)
            (void)buf_printf(&text, ", ints[%zu]", ints++);
        else
            (void)buf_printf(&text, ", (%s)reals[%zu]",
                             dtype_is_half(task->dtype) ? "real_acc" : real_name, reals++);
    }
    for (size_t i = 0; i < task->axis_count; i++)
        (void)buf_printf(&text, ", ints[%zu]", ints++);
    (void)buf_append_str(&text, ");\n}\n");
    char *out = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return out;
}

/* The stub is ours: whatever goes wrong with it is an error of the host. */
static enum step_end compile_stub(struct building *b)
{
    static const char *const flags[] = {"-O2"};
    struct building stub = *b;
    struct build_result result = {0};
    stub.flags = flags;
    stub.flag_count = 1;
    stub.out = &result;
    if (!write_text(b, stub_source, stub_text(b->request->task, b->request->real_name, b->step)))
        return STEP_ERROR;
    const enum step_end end = compile(&stub, stub_source, stub_object);
    if (end != STEP_RESULT)
        return end;
    (void)err_set(b->err, ERR_IO, "the calling stub of '%s' does not compile: %s",
                  b->request->task->name, result.evidence);
    return STEP_ERROR;
}

static enum step_end make_stub(struct building *b)
{
    char *object = NULL;
    if (b->stub.object)
        return os_write_file(in_dir(b, stub_object), b->stub.object, b->stub.bytes, false, b->err)
                   ? STEP_DONE
                   : STEP_ERROR;
    const enum step_end end = compile_stub(b);
    if (end != STEP_DONE)
        return end;
    if (!os_read_file(in_dir(b, stub_object), MOST_OBJECT_BYTES, b->step, &object, &b->stub.bytes,
                      b->err))
        return STEP_ERROR;
    b->stub.object = object;
    return STEP_DONE;
}

static enum step_end link_image(struct building *b)
{
    const char *const argv[] = {cpu_state_of(b->target)->linker,
                                "-shared",
                                "-Bsymbolic",
                                "-z",
                                "noexecstack",
                                "-z",
                                "separate-code",
                                "-z",
                                "now",
                                "-z",
                                "max-page-size=4096",
                                "--hash-style=sysv",
                                "--build-id=none",
                                "--version-script=exports.map",
                                "-o",
                                image_file,
                                stub_object,
                                candidate_object,
                                NULL};
    struct process_result result;
    if (!write_text(b, exports_file, "{ global: " RUNNER_ENTRY "; local: *; };\n") ||
        !run_tool(b, argv, MOST_DIAGNOSTICS * 4, &result))
        return STEP_ERROR;
    if (result.exit_code == 0 || result.timed_out || result.interrupted)
        return judge_tool(b, &result, "linker");
    const enum step_end end = judge_tool(b, &result, "linker");
    if (strstr(result.errors, b->request->task->entry))
        b->out->evidence =
            arena_printf(b->arena, "it does not define '%s', or defines it otherwise than as '%s'",
                         b->request->task->entry,
                         task_signature(b->request->task, b->request->real_name, b->step));
    return end;
}

static enum step_end take_image(struct building *b)
{
    char *image = NULL;
    size_t length = 0;
    const char *why = "";
    if (!os_read_file(in_dir(b, image_file), MOST_OBJECT_BYTES, b->arena, &image, &length, b->err))
        return STEP_ERROR;
    if (!image_check(image, length, b->step, &why))
        return build_end_with(b, BUILD_REJECTED, "M12-object", why);
    b->out->image = image;
    b->out->image_bytes = length;
    b->out->status = BUILD_OK;
    b->out->mechanism = "";
    b->out->evidence = "";
    return STEP_DONE;
}

static enum step_end link_inspected(struct building *b)
{
    struct inspection inspection;
    const int64_t start = os_now_ns();
    inspection_start(&inspection, b);
    enum step_end end = make_stub(b);
    if (end == STEP_DONE)
        end = link_image(b);
    if (end == STEP_DONE)
        end = take_image(b);
    b->out->timings.link_ns = os_now_ns() - start;
    return inspection_end(&inspection, b, end);
}

bool build_write_source(struct building *b)
{
    const char *prelude = task_prelude(b->request->task, b->request->real_name, b->step);
    return write_text(b, prelude_file, prelude) &&
           write_text(b, candidate_source, b->request->candidate->source);
}

static enum step_end make_in_dir(struct building *b)
{
    if (!build_write_source(b))
        return STEP_ERROR;
    int64_t start = os_now_ns();
    enum step_end end = compile(b, candidate_source, candidate_object);
    const char *diagnostics = b->out->diagnostics;
    b->out->timings.compile_ns = os_now_ns() - start;
    start = os_now_ns();
    if (end == STEP_DONE)
        end = check_object(b);
    b->out->timings.inspect_ns = os_now_ns() - start;
    if (end == STEP_DONE)
        end = link_inspected(b);
    if (end == STEP_DONE)
        b->out->diagnostics = diagnostics; /* the compiler's, not the linker's empty ones */
    return end;
}

enum step_end build_make(struct building *b)
{
    char *dir = NULL;
    struct err ignored;
    if (!os_make_temp_dir("kope-build", b->step, &dir, b->err))
        return STEP_ERROR;
    b->dir = dir;
    const enum step_end end = make_in_dir(b);
    (void)os_remove_tree(dir, &ignored);
    return end;
}
