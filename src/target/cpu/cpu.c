#include "target/cpu/cpu.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__x86_64__)
static const char *const default_flags[] = {"-O3", "-march=native"};
#else
static const char *const default_flags[] = {"-O3", "-mcpu=native"};
#endif

/* Beside the program, by $KOPE_RUNNER, or where it was built: in that order. */
static bool find_runner(struct target *target, struct err *err)
{
    struct cpu_state *state = cpu_state_of(target);
    const char *places[] = {
        os_path_join(&target->arena, os_program_dir(&target->arena), "kope-runner"),
        os_env("KOPE_RUNNER"),
        KOPE_BUILD_DIR "/kope-runner",
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i] && os_path_exists(places[i])) {
            state->runner = arena_strdup(&target->arena, places[i]);
            return true;
        }
    }
    (void)err_set(err, ERR_MISSING_TOOL, "cannot find 'kope-runner' beside this program");
    return err_hint(err, "install it there, or set KOPE_RUNNER to its path");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *layers_in_words(uint32_t missing, struct arena *arena)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } layers[] = {
        {RUNNER_LAYER_LANDLOCK, "landlock"},     {RUNNER_LAYER_NAMESPACES, "namespaces"},
        {RUNNER_LAYER_TSC, "hidden clock"},      {RUNNER_LAYER_VDSO, "hidden vdso clock"},
        {RUNNER_LAYER_HIDDEN, "hidden process"},
    };
    const char *text = "";
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (missing & layers[i].bit)
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", layers[i].name);
    }
    return text;
}

void cpu_note_missing_layers(struct target *target, uint32_t missing)
{
    struct cpu_state *state = cpu_state_of(target);
    if (state->missing_layers && (missing & ~state->missing) == 0)
        return;
    state->missing |= missing;
    state->missing_layers = layers_in_words(state->missing, &target->arena);
}

/* Lines "symbol NAME" and one "missing BITS", as 'kope-runner --describe' prints them. */
static bool read_description(struct target *target, char *text, struct err *err)
{
    struct cpu_state *state = cpu_state_of(target);
    enum { NO_FILTERS = 0x40 };
    size_t capacity = 0;
    int64_t missing = NO_FILTERS;
    for (const char *c = text; *c; c++)
        capacity += *c == '\n';
    state->symbols = arena_array(&target->arena, capacity + 1, sizeof *state->symbols);
    while (*text) {
        char *end = text + strcspn(text, "\n");
        const bool last = *end == '\0';
        *end = '\0';
        if (str_starts_with(text, "symbol "))
            state->symbols[state->symbol_count++] =
                arena_strdup(&target->arena, text + strlen("symbol "));
        else if (str_starts_with(text, "missing "))
            (void)str_parse_int64(text + strlen("missing "), &missing);
        text = last ? end : end + 1;
    }
    if (state->symbol_count == 0)
        return err_set(err, ERR_IO, "'%s' does not describe itself", state->runner);
    if (missing >= NO_FILTERS)
        return err_set(err, ERR_UNSUPPORTED, "this kernel has no seccomp filters");
    qsort(state->symbols, state->symbol_count, sizeof *state->symbols, by_name);
    cpu_note_missing_layers(target, (uint32_t)missing);
    return true;
}

static bool describe_runner(struct target *target, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const char *runner = cpu_state_of(target)->runner;
    const char *const argv[] = {runner, "--describe", NULL};
    struct process_result result;
    if (!os_run(&(struct process_opts){.argv = argv}, &scratch, &result, err))
        return false;
    if (result.exit_code != 0)
        return err_set(err, ERR_IO, "'%s --describe' failed with status %d", runner,
                       result.exit_code);
    return read_description(target, result.out, err);
}

static bool find_tools(struct target *target, struct err *err)
{
    struct cpu_state *state = cpu_state_of(target);
    state->linker = os_find_program("ld", &target->arena);
    state->disassembler = os_find_program("objdump", &target->arena);
    if (!state->disassembler)
        state->disassembler = os_find_program("llvm-objdump", &target->arena);
    if (state->linker && state->disassembler)
        return true;
    (void)err_set(err, ERR_MISSING_TOOL, "cannot find '%s' on PATH",
                  state->linker ? "objdump" : "ld");
    return err_hint(err, "install binutils");
}

/* Size and time of change of the file that runs; at random where that cannot be told. */
static const char *program_of(struct arena *arena)
{
    struct stat status;
    if (stat("/proc/self/exe", &status) != 0)
        return arena_printf(arena, "%016llx", (unsigned long long)os_random_u64());
    return arena_printf(arena, "%lld %lld.%09ld", (long long)status.st_size,
                        (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

static bool cpu_open(struct target *target, struct err *err)
{
    if (!find_runner(target, err) || !describe_runner(target, err) || !find_tools(target, err) ||
        !compilers_find(target, err))
        return false;
    cpu_state_of(target)->program = program_of(&target->arena);
    machine_describe(target);
    if (fingerprint_read(target))
        return true;
    compilers_try(target);
    struct err ignored; /* a cache that cannot be written costs time only */
    (void)fingerprint_write(target, &ignored);
    return true;
}

static void cpu_close(struct target *target)
{
    launch_reap(target, true);
    cache_free(&cpu_state_of(target)->cache);
    cache_free(&cpu_state_of(target)->stubs);
}

static void cpu_default_build(const struct target *target, const char **compiler,
                              const char *const **flags, size_t *flag_count)
{
    *compiler = target->features.compilers[cpu_state_of(target)->default_compiler].name;
    *flags = default_flags;
    *flag_count = sizeof default_flags / sizeof *default_flags;
}

static bool cpu_flag_allowed(const struct target *target, const char *compiler, const char *flag,
                             const char **why_not)
{
    const struct target_compiler *found = compiler_named(target, compiler);
    if (!found) {
        *why_not = "there is no such compiler on this target";
        return false;
    }
    return flag_is_allowed(found->family, flag, why_not);
}

static const char *cpu_missing_layers(const struct target *target)
{
    return cpu_state_of(target)->missing_layers;
}

const struct target_driver target_cpu = {
    .version = TARGET_DRIVER_VERSION,
    .name = "cpu",
    .summary = "this machine, through the system's C compilers",
    .state_bytes = sizeof(struct cpu_state),
    .session_bytes = sizeof(struct cpu_session),
    .open = cpu_open,
    .close = cpu_close,
    .probe = cpu_probe,
    .default_build = cpu_default_build,
    .flag_allowed = cpu_flag_allowed,
    .build = cpu_build,
    .notes = cpu_notes,
    .throughput = cpu_throughput,
    .lines = cpu_lines,
    .misses = cpu_misses,
    .tools = cpu_tools,
    .prepare = cpu_session_prepare,
    .load = cpu_session_load,
    .give = cpu_session_give,
    .start = cpu_session_start,
    .run = cpu_session_run,
    .samples = cpu_session_samples,
    .set_ints = cpu_session_set_ints,
    .freeze = cpu_session_freeze,
    .thaw = cpu_session_thaw,
    .stop = cpu_session_stop,
    .end = cpu_session_end,
    .missing_layers = cpu_missing_layers,
};
