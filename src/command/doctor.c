#include "command/internal.h"

#include "base/str.h"
#include "config/config.h"
#include "llm/llm.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"
#include "target/target.h"

#include <string.h>

static const struct param doctor_params[] = {PARAM_MEMORY, {0}};

struct finding_list {
    struct json_writer *w;
    struct buf *text;
    bool fatal;
};

static void say(struct finding_list *list, const char *state, const char *what, const char *advice)
{
    (void)buf_printf(list->text, "%-8s %s%s%s\n", state, what,
                     advice[0] != '\0' ? "\n         -> " : "", advice);
    json_begin_object(list->w);
    json_put_string(list->w, "state", state);
    json_put_string(list->w, "what", what);
    json_put_string(list->w, "advice", advice);
    json_end_object(list->w);
    list->fatal = list->fatal || str_equal(state, "missing");
}

static void check_compilers(struct finding_list *list, const struct target_features *f,
                            struct arena *arena)
{
    bool gcc = false;
    bool clang = false;
    bool polly = false;
    for (size_t i = 0; i < f->compiler_count; i++) {
        gcc = gcc || str_equal(f->compilers[i].family, "gcc");
        clang = clang || str_equal(f->compilers[i].family, "clang");
        polly = polly || f->compilers[i].has_polly;
        say(list, "ok",
            arena_printf(arena, "compiler %s %s", f->compilers[i].name, f->compilers[i].version),
            "");
    }
    if (!gcc)
        say(list, "missing", "no gcc: it builds the baseline", "apt-get install gcc");
    if (!clang)
        say(list, "less", "no clang: half of the compiler moves are out of reach",
            "apt-get install clang-19");
    if (!polly)
        say(list, "less", "no clang with Polly: its loop tiling is out of reach",
            "apt-get install clang-19");
}

/* What it means that the box lacks a layer; names as target_missing_layers has them. */
static const struct {
    const char *name, *meaning, *help;
} layers_known[] = {
    {"landlock", "no Landlock: files are guarded by seccomp alone",
     "a kernel from 5.13 on with CONFIG_SECURITY_LANDLOCK, and 'landlock' among its lsm="},
    {"namespaces", "no namespaces of its own: network and IPC are guarded by seccomp alone",
     "let users make user namespaces: sysctl kernel.unprivileged_userns_clone, "
     "user.max_user_namespaces"},
    {"hidden clock",
     "the time-stamp counter is not hidden: the scan of its instructions alone stands "
     "between a candidate and a clock",
     "a kernel with PR_SET_TSC, on a processor or hypervisor that traps what it forbids"},
    {"hidden vdso clock",
     "the kernel's page of clocks is not hidden: a candidate that finds it can tell "
     "the time",
     "a kernel that lets a process unmap [vvar]"},
    {"hidden process",
     "the child is not hidden: programs of the same user may look into it, and it may "
     "outlive kope",
     "a kernel that allows PR_SET_DUMPABLE and PR_SET_PDEATHSIG"},
};

/* Is it one of the names between commas? */
static bool is_listed(const char *layers, const char *name)
{
    while (*layers) {
        const size_t length = strcspn(layers, ",");
        if (length == strlen(name) && strncmp(layers, name, length) == 0)
            return true;
        layers += length;
        layers += strspn(layers, ", ");
    }
    return false;
}

static void check_sandbox(struct finding_list *list, const struct target *target,
                          struct arena *arena)
{
    const char *layers = target_missing_layers(target);
    const int abi = os_landlock_abi();
    if (abi > 0)
        say(list, "ok", arena_printf(arena, "Landlock ABI %d", abi), "");
    say(list, os_has_seccomp() ? "ok" : "missing", "seccomp filters",
        os_has_seccomp() ? "" : "a kernel with CONFIG_SECCOMP_FILTER");
    for (size_t i = 0; i < sizeof layers_known / sizeof *layers_known; i++)
        if (is_listed(layers, layers_known[i].name))
            say(list, "less",
                arena_printf(arena, "sandbox without '%s': %s", layers_known[i].name,
                             layers_known[i].meaning),
                layers_known[i].help);
    if (layers[0] == '\0')
        say(list, "ok", "every sandbox layer", "");
}

/* Tools of a profile: without one its findings are missing, nothing else. */
static void check_tools(struct finding_list *list, const struct target *target, struct arena *arena)
{
    struct target_tool tools[TARGET_MAX_TOOLS];
    const size_t count = target_tools(target, arena, tools, TARGET_MAX_TOOLS);
    for (size_t i = 0; i < count; i++) {
        const bool is_there = tools[i].problem[0] == '\0';
        say(list, is_there ? "ok" : "less",
            is_there ? arena_printf(arena, "profile: %s", tools[i].name)
                     : arena_printf(arena, "profile without %s (%s): %s", tools[i].name,
                                    tools[i].purpose, tools[i].problem),
            is_there ? "" : tools[i].help);
    }
}

/* A model, and whether the variable of its key is set; never its value. */
static void check_model(struct finding_list *list, const struct config_model *model,
                        struct arena *arena)
{
    CLEANUP(llm_close) struct llm *llm = NULL;
    struct err problem = {0};
    if (!llm_open(&model->llm, &llm, &problem)) {
        say(list, "less", arena_printf(arena, "model %s: %s", model->name, problem.message),
            problem.hint);
        return;
    }
    const struct llm_info info = llm_info(llm);
    const bool needs_key = info.key_variable[0] != '\0' && !info.is_loopback;
    say(list, info.has_key || !needs_key ? "ok" : "less",
        arena_printf(arena, "model %s: %s at %s%s%s%s", model->name, info.model, info.base_url,
                     info.key_variable[0] != '\0' ? ", $" : "", info.key_variable,
                     info.key_variable[0] == '\0' ? ""
                     : info.has_key               ? " is set"
                                                  : " is not set"),
        info.has_key || !needs_key
            ? ""
            : arena_printf(arena, "set %s to a key of this server", info.key_variable));
}

static void check_models(struct finding_list *list, struct arena *arena)
{
    const struct config *config = NULL;
    struct err problem = {0};
    if (!config_load(NULL, arena, &config, &problem)) {
        say(list, "missing", problem.message, problem.hint);
        return;
    }
    say(list, "ok",
        config->path ? arena_printf(arena, "%s names %zu models", config->path, config->model_count)
                     : "no kope.yaml: no named models, everything has its default",
        "");
    for (size_t i = 0; i < config->model_count; i++)
        check_model(list, &config->models[i], arena);
}

static bool run_doctor(const struct command_call *call, struct command_result *out, struct err *err)
{
    struct json_writer w = {.out = &out->json};
    struct finding_list list = {.w = &w, .text = &out->text};
    const char *memory = command_text(call, "memory");
    memory = memory ? memory : memory_default_dir(call->arena);
    CLEANUP(target_close) struct target *target = NULL;
    struct err problem = {0};
    (void)err;
    json_begin_array(&w);
    say(&list, "ok",
        arena_printf(call->arena, "kope " KOPE_VERSION " on %s", os_kernel(call->arena)), "");
    if (target_open("cpu", os_path_join(call->arena, memory, "targets"), &target, &problem)) {
        check_compilers(&list, target_features(target), call->arena);
        check_sandbox(&list, target, call->arena);
        check_tools(&list, target, call->arena);
    } else {
        say(&list, "missing", problem.message, problem.hint);
    }
    int cpus[2];
    const size_t cpu_count = os_cpus_allowed(cpus, 2);
    say(&list, cpu_count >= 2 ? "ok" : "less",
        cpu_count >= 2
            ? "two or more processors: gate and candidate each have one"
            : "one processor only: the gate and the candidate share it, timings are noisier",
        "");
    say(&list, "ok",
        arena_printf(call->arena, "memory at %s%s", memory,
                     os_path_is_dir(memory) ? "" : " (made at the first run)"),
        "");
    check_models(&list, call->arena);
    const double load = os_load_average();
    if (load > 0.5 * (double)cpu_count)
        say(&list, "less",
            arena_printf(call->arena, "load average %.2f: timings will need more pairs", load),
            "stop other work while measuring");
    json_end_array(&w);
    out->exit_code = list.fatal ? err_kind_exit_code(ERR_MISSING_TOOL) : 0;
    return true;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "what is missing on this machine, and how to get it",
    .description = "Compilers, sandbox layers, tools of a profile, processors, memory, models. "
                   "'less' works with less; "
                   "'missing' does not work: exit code 5.",
    .params = doctor_params,
    .run = run_doctor,
};
