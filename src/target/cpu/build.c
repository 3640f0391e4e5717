#include "target/cpu/cpu.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include <inttypes.h>
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
    MOST_DISASSEMBLY_BYTES = 256 * 1024 * 1024,
    MOST_ARGUMENTS = 24 + CANDIDATE_MAX_FLAGS
};

static const char candidate_source[] = "candidate.c", candidate_object[] = "candidate.o";
static const char stub_source[] = "stub.c", stub_object[] = "stub.o";
static const char exports_file[] = "exports.map", image_file[] = "image.so";

/* One build on its way. */
struct building {
    struct target *target;
    const struct build_request *request;
    const struct target_compiler *compiler;
    const char *const *flags;
    size_t flag_count;
    struct arena *arena; /* of the result */
    struct arena *step;
    const char *dir;
    struct build_result *out;
    struct err *err;
};

/* Three ends of a step. */
enum step_end { STEP_DONE, STEP_RESULT /* `out` says it */, STEP_ERROR };

static enum step_end end_with(struct building *b, enum build_status status, const char *mechanism,
                              const char *evidence)
{
    b->out->status = status;
    b->out->mechanism = mechanism;
    b->out->evidence = arena_strdup(b->arena, evidence);
    return STEP_RESULT;
}

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

static bool run_tool(struct building *b, const char *const *argv, size_t output_limit,
                     struct process_result *out)
{
    const char *const write_paths[] = {b->dir, NULL};
    const struct process_opts opts = {.argv = argv,
                                      .dir = b->dir,
                                      .timeout_ns = COMPILE_LIMIT_NS,
                                      .output_limit_bytes = output_limit,
                                      .memory_limit_bytes = COMPILE_MEMORY_BYTES,
                                      .confine = true,
                                      .read_paths = build_read_paths(b->target, b->step),
                                      .write_paths = write_paths};
    return os_run(&opts, b->step, out, b->err);
}

static char *in_dir(const struct building *b, const char *name)
{
    return os_path_join(b->step, b->dir, name);
}

static bool write_text(struct building *b, const char *name, const char *text)
{
    return os_write_file(in_dir(b, name), text, strlen(text), false, b->err);
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
        return end_with(
            b, BUILD_TIMED_OUT, mechanism,
            arena_printf(b->step, "not done after %d s", (int)(COMPILE_LIMIT_NS / 1000000000)));
    if (result->exit_code == 0)
        return STEP_DONE;
    if (result->signal)
        return end_with(
            b, BUILD_FAILED, mechanism,
            arena_printf(b->step, "the %s died of signal %d", mechanism, result->signal));
    return end_with(b, BUILD_FAILED, mechanism, first_error(result->errors, b->step));
}

static bool uses_polly(const struct building *b)
{
    for (size_t i = 0; i < b->flag_count; i++) {
        if (str_starts_with(b->flags[i], "-polly"))
            return true;
    }
    return false;
}

static void fill_compile(const struct building *b, const char *source, const char *object,
                         const char *define_real, const char **argv)
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
    const char *plugin = uses_polly(b) ? compiler_polly_plugin(b->compiler, b->step) : NULL;
    if (plugin)
        argv[n++] = plugin;
    for (size_t i = 0; i < b->flag_count; i++)
        argv[n++] = b->flags[i];
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        argv[n++] = fixed[i];
    argv[n++] = define_real;
    argv[n++] = "-c";
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n++] = source;
    argv[n] = NULL;
}

static enum step_end compile(struct building *b, const char *source, const char *object)
{
    const char *argv[MOST_ARGUMENTS];
    struct process_result result;
    fill_compile(b, source, object, arena_printf(b->step, "-Dreal=%s", b->request->real_name),
                 argv);
    if (!run_tool(b, argv, MOST_DIAGNOSTICS * 4, &result))
        return STEP_ERROR;
    return judge_tool(b, &result, "compiler");
}

static enum step_end scan(struct building *b, const char *object, size_t length)
{
    const char *const argv[] = {cpu_state_of(b->target)->disassembler, "-d", "--no-show-raw-insn",
                                candidate_object, NULL};
    struct process_result result;
    if (!run_tool(b, argv, MOST_DISASSEMBLY_BYTES, &result))
        return STEP_ERROR;
    if (result.exit_code != 0 || result.truncated)
        return end_with(b, BUILD_REJECTED, "M12-object", "its code cannot be disassembled");
    const char *found = scan_instructions(result.out, b->step);
    if (!found)
        found = scan_bytes(object, length, scan_finds_indirect_jump(result.out), b->step);
    return found ? end_with(b, BUILD_REJECTED, "M12-object", found) : STEP_DONE;
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
            return end_with(b, BUILD_REJECTED, "M12-object", "the object is too large");
        return STEP_ERROR;
    }
    if (!object_check(object, length, &rules, b->step, &why))
        return end_with(b, BUILD_REJECTED, "M12-object", why);
    b->out->code_id = code_id(object, length);
    return scan(b, object, length);
}

/* Unpacks a call. The entry is hidden: the linker must find it in the candidate. `ptr` in order of
 * the arguments, `ints` the integer attributes and then the axes, `reals` the real attributes. */
static char *stub_text(const struct task *task, const char *real_name, struct arena *arena)
{
    struct buf text = {0};
    size_t ints = 0, reals = 0;
    (void)buf_printf(&text,
                     "#include <stdbool.h>\n#include <stdint.h>\n"
                     "__attribute__((visibility(\"hidden\"))) %s;\n"
                     "__attribute__((visibility(\"default\")))\n"
                     "void %s(void *const *ptr, const int64_t *ints, const double *reals)\n{\n"
                     "    (void)ptr, (void)ints, (void)reals;\n    %s(",
                     task_signature(task, real_name, arena), RUNNER_ENTRY, task->entry);
    for (size_t i = 0; i < task->arg_count; i++)
        (void)buf_printf(&text, "%sptr[%zu]", i ? ", " : "", i);
    for (size_t i = 0; i < task->attr_count; i++) {
        if (task->attrs[i].is_integer)
            (void)buf_printf(&text, ", ints[%zu]", ints++);
        else
            (void)buf_printf(&text, ", (%s)reals[%zu]", real_name, reals++);
    }
    for (size_t i = 0; i < task->axis_count; i++)
        (void)buf_printf(&text, ", ints[%zu]", ints++);
    (void)buf_append_str(&text, ");\n}\n");
    char *out = arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return out;
}

/* The stub is ours: whatever goes wrong with it is an error of the host. */
static enum step_end make_stub(struct building *b)
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
        return end_with(b, BUILD_REJECTED, "M12-object", why);
    b->out->image = image;
    b->out->image_bytes = length;
    b->out->status = BUILD_OK;
    b->out->mechanism = "";
    b->out->evidence = "";
    return STEP_DONE;
}

static enum step_end build_in_dir(struct building *b)
{
    if (!write_text(b, candidate_source, b->request->candidate->source))
        return STEP_ERROR;
    enum step_end end = compile(b, candidate_source, candidate_object);
    const char *diagnostics = b->out->diagnostics;
    if (end == STEP_DONE)
        end = check_object(b);
    if (end == STEP_DONE)
        end = make_stub(b);
    if (end == STEP_DONE)
        end = link_image(b);
    if (end == STEP_DONE)
        end = take_image(b);
    if (end == STEP_DONE)
        b->out->diagnostics = diagnostics; /* the compiler's, not the linker's empty ones */
    return end;
}

/* What can be said without building. */
static enum step_end screen(struct building *b)
{
    const struct candidate *candidate = b->request->candidate;
    const char *bad = "", *why = "";
    b->compiler = compiler_named(b->target, candidate->compiler);
    if (!b->compiler)
        return end_with(b, BUILD_REJECTED, "flags",
                        arena_printf(b->step, "there is no compiler '%.60s' on this target",
                                     candidate->compiler ? candidate->compiler : "gcc"));
    b->flags = candidate->flags;
    b->flag_count = candidate->flag_count;
    if (b->flag_count == 0) {
        const char *ignored = NULL;
        target_default_build(b->target, &ignored, &b->flags, &b->flag_count);
    }
    if (!flags_are_allowed(b->compiler->family, b->flags, b->flag_count, &bad, &why))
        return end_with(b, BUILD_REJECTED, "flags",
                        arena_printf(b->step, "flag '%.100s' is refused: %s", bad, why));
    if (uses_polly(b) && !b->compiler->has_polly)
        return end_with(b, BUILD_REJECTED, "flags",
                        arena_printf(b->step, "%s has no Polly here", b->compiler->name));
    if (strlen(candidate->source) > CANDIDATE_MAX_SOURCE_BYTES && !b->request->is_trusted)
        return end_with(b, BUILD_REJECTED, "M12-source", "the source is larger than 512 KiB");
    if (!b->request->is_trusted && !screen_source(candidate->source, b->step, &why))
        return end_with(b, BUILD_REJECTED, "M12-source", why);
    return STEP_DONE;
}

static struct hash_id key_of(const struct building *b)
{
    const char *parts[CANDIDATE_MAX_FLAGS + 6];
    size_t n = 0;
    parts[n++] = b->compiler->path;
    parts[n++] = b->compiler->version;
    parts[n++] = b->request->real_name;
    parts[n++] = b->request->is_trusted ? "trusted" : "candidate";
    parts[n++] = arena_printf(b->step, "%s %" PRId64,
                              task_signature(b->request->task, b->request->real_name, b->step),
                              b->request->task->threads);
    for (size_t i = 0; i < b->flag_count; i++)
        parts[n++] = b->flags[i];
    parts[n++] = b->request->candidate->source;
    return hash_strings(parts, n);
}

/* In a new folder, which is gone afterwards. */
static enum step_end build_new(struct building *b)
{
    char *dir = NULL;
    struct err ignored;
    if (!os_make_temp_dir("kope-build", b->step, &dir, b->err))
        return STEP_ERROR;
    b->dir = dir;
    const enum step_end end = build_in_dir(b);
    (void)os_remove_tree(dir, &ignored);
    return end;
}

bool cpu_build(struct target *target, const struct build_request *request, struct arena *arena,
               struct build_result *out, struct err *err)
{
    CLEANUP(arena_free) struct arena step = {0};
    struct build_result result = {.mechanism = "", .evidence = "", .diagnostics = ""};
    struct building b = {.target = target,
                         .request = request,
                         .arena = arena,
                         .step = &step,
                         .out = &result,
                         .err = err};
    struct cpu_state *state = cpu_state_of(target);
    const int64_t started = os_now_ns();
    if (screen(&b) == STEP_DONE) {
        const struct hash_id key = key_of(&b);
        const struct build_result *known = cache_find(state->cache, key);
        if (known) {
            *out = build_result_copy(known, arena);
            return true;
        }
        if (build_new(&b) == STEP_ERROR)
            return err_within(err, "building a candidate for '%s'", request->task->name);
        result.build_ns = os_now_ns() - started;
        if (result.status != BUILD_TIMED_OUT)
            cache_keep(&state->cache, key, &result);
    }
    result.build_ns = os_now_ns() - started;
    *out = result;
    return true;
}
