#include "target/cpu/cpu.h"

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A name that may be a compiler: gcc, gcc-12, clang, clang-19. */
static const char *family_of(const char *name)
{
    static const char *const families[] = {"gcc", "clang"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (!str_starts_with(name, families[i]))
            continue;
        const char *rest = name + strlen(families[i]);
        if (*rest == '\0')
            return families[i];
        if (*rest == '-' && rest[1] != '\0' && rest[1 + strspn(rest + 1, "0123456789")] == '\0')
            return families[i];
    }
    return NULL;
}

/* "12.2.0"; NULL where it does not say. */
static const char *version_of(const char *path, const char *family, struct arena *arena)
{
    const char *const gcc[] = {path, "-dumpfullversion", NULL};
    const char *const clang[] = {path, "-dumpversion", NULL};
    struct process_result result;
    struct err ignored;
    const struct process_opts opts = {.argv = str_equal(family, "gcc") ? gcc : clang,
                                      .timeout_ns = INT64_C(10000000000)};
    if (!os_run(&opts, arena, &result, &ignored) || result.exit_code != 0 ||
        !isdigit((unsigned char)result.out[0]))
        return NULL;
    return arena_strndup(arena, result.out, strspn(result.out, "0123456789."));
}

static bool is_known(const struct target_features *f, const char *name)
{
    for (size_t i = 0; i < f->compiler_count; i++) {
        if (str_equal(f->compilers[i].name, name))
            return true;
    }
    return false;
}

/* One of each family and major version: the first on PATH. */
static void add_compiler(struct target *target, const char *path, const char *family)
{
    struct target_features *f = &target->features;
    char *real = NULL;
    struct err ignored;
    if (f->compiler_count == TARGET_MAX_COMPILERS ||
        !os_path_real(path, &target->arena, &real, &ignored) || strstr(real, "ccache"))
        return;
    const char *version = version_of(path, family, &target->arena);
    if (!version)
        return;
    const char *name =
        arena_printf(&target->arena, "%s-%.*s", family, (int)strcspn(version, "."), version);
    if (is_known(f, name))
        return;
    f->compilers[f->compiler_count++] =
        (struct target_compiler){.name = name, .family = family, .version = version, .path = real};
}

static void add_from_dir(struct target *target, const char *dir, struct arena *scratch)
{
    char **names = NULL;
    size_t count = 0;
    struct err ignored;
    if (!os_list_dir(dir, scratch, &names, &count, &ignored))
        return;
    for (size_t i = 0; i < count; i++) {
        const char *family = family_of(names[i]);
        if (family)
            add_compiler(target, os_path_join(&target->arena, dir, names[i]), family);
    }
}

static int newest_first(const void *a, const void *b)
{
    const struct target_compiler *x = a, *y = b;
    const int family = strcmp(y->family, x->family); /* gcc, then clang */
    const long major_x = strtol(x->version, NULL, 10), major_y = strtol(y->version, NULL, 10);
    return family ? family : (major_y > major_x) - (major_y < major_x);
}

bool compilers_find(struct target *target, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct target_features *f = &target->features;
    const char *path = os_env("PATH");
    while (path && *path) {
        const size_t length = strcspn(path, ":");
        if (length > 0)
            add_from_dir(target, arena_strndup(&scratch, path, length), &scratch);
        path += length + (path[length] == ':');
    }
    if (f->compiler_count == 0) {
        (void)err_set(err, ERR_MISSING_TOOL, "no C compiler on PATH");
        return err_hint(err, "install gcc or clang");
    }
    qsort(f->compilers, f->compiler_count, sizeof *f->compilers, newest_first);
    return true;
}

const struct target_compiler *compiler_named(const struct target *target, const char *name)
{
    const struct target_features *f = &target->features;
    return name ? target_compiler_named(target, name)
                : &f->compilers[cpu_state_of(target)->default_compiler];
}

/* Where a plugin lies beside the compiler ("../lib/LLVMPolly.so"); Debian builds Polly in, and
 * loading it twice fails: it is asked for only where the plain option is unknown. */
static const char *plugin_flag(const char *compiler_path, struct arena *arena)
{
    const char *root = os_path_dir(arena, os_path_dir(arena, compiler_path));
    const char *library = os_path_join(arena, root, "lib/LLVMPolly.so");
    return os_path_exists(library) ? arena_printf(arena, "-fplugin=%s", library) : NULL;
}

static bool compiles(const struct target *target, const char *const *argv, const char *dir,
                     struct arena *scratch)
{
    const char *const write_paths[] = {dir, NULL};
    struct process_result result;
    struct err ignored;
    const struct process_opts opts = {.argv = argv,
                                      .dir = dir,
                                      .confine = true,
                                      .read_paths = build_read_paths(target, scratch),
                                      .write_paths = write_paths,
                                      .timeout_ns = INT64_C(20000000000)};
    return os_run(&opts, scratch, &result, &ignored) && result.exit_code == 0;
}

static bool try_polly(const struct target *target, const struct target_compiler *compiler,
                      const char *plugin, const char *dir, struct arena *scratch)
{
    const char *argv[12] = {compiler->path};
    size_t n = 1;
    if (plugin)
        argv[n++] = plugin;
    argv[n++] = "-O3";
    argv[n++] = "-mllvm";
    argv[n++] = "-polly";
    argv[n++] = "-c";
    argv[n++] = "trial.c";
    argv[n] = NULL;
    return compiles(target, argv, dir, scratch);
}

const char *compiler_polly_plugin(const struct target_compiler *compiler, struct arena *arena)
{
    return compiler->polly_is_plugin ? plugin_flag(compiler->path, arena) : NULL;
}

static void try_one(const struct target *target, struct target_compiler *c, const char *dir,
                    struct arena *scratch)
{
    const char *const simd[] = {c->path, "-fopenmp-simd", "-c", "trial.c", NULL};
    const char *const graphite[] = {c->path, "-O2", "-floop-nest-optimize", "-c", "trial.c", NULL};
    c->has_openmp_simd = compiles(target, simd, dir, scratch);
    if (str_equal(c->family, "gcc")) {
        c->has_graphite = compiles(target, graphite, dir, scratch);
        return;
    }
    c->has_polly = try_polly(target, c, NULL, dir, scratch);
    const char *plugin = c->has_polly ? NULL : plugin_flag(c->path, scratch);
    if (plugin)
        c->has_polly = c->polly_is_plugin = try_polly(target, c, plugin, dir, scratch);
}

void compilers_try(struct target *target)
{
    static const char trial[] = "void f(float *a, long n)\n{\n"
                                "    for (long i = 0; i < n; i++)\n        a[i] += 1;\n}\n";
    CLEANUP(arena_free) struct arena scratch = {0};
    struct target_features *f = &target->features;
    struct err ignored;
    char *dir = NULL;
    if (!os_make_temp_dir("kope-trial", &scratch, &dir, &ignored))
        return;
    if (os_write_file(os_path_join(&scratch, dir, "trial.c"), trial, strlen(trial), false,
                      &ignored)) {
        for (size_t i = 0; i < f->compiler_count; i++)
            try_one(target, &f->compilers[i], dir, &scratch);
    }
    (void)os_remove_tree(dir, &ignored);
}
