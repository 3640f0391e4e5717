/*
 * Building on the cpu target: flags, sources and objects that must be refused, and what good ones
 * give.
 */
#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"
#include "target/cpu/cpu.h"
#include "target/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static const char task_text[] = "name: k\n"
                                "family: elementwise\n"
                                "dtype: float32\n"
                                "axes: [n]\n"
                                "args:\n"
                                "  - {name: x, role: in, shape: [n]}\n"
                                "  - {name: y, role: out, shape: [n]}\n"
                                "cases:\n"
                                "  - {n: 1024}\n"
                                "held_out:\n"
                                "  - {n: 57}\n";

#define HEAD "#include <stdint.h>\n"
#define KERNEL(body) "void k(const real *x, real *y, int64_t n)\n{\n" body "\n}\n"
#define PLAIN "for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i];"

struct fixture {
    struct target *target;
    const struct task *task;
    struct arena arena;
    struct err err;
};

static int set_up(void **state)
{
    static struct fixture f;
    *state = &f;
    static const char reference[] = HEAD KERNEL(PLAIN);
    if (!target_open("cpu", NULL, &f.target, &f.err) ||
        !task_parse(task_text, strlen(task_text), reference, "", &f.arena, &f.task, &f.err)) {
        print_error("%s (%s)\n", f.err.message, f.err.hint);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    target_close(&f->target);
    arena_free(&f->arena);
    return 0;
}

static struct build_result build_with(struct fixture *f, const char *source, const char *compiler,
                                      const char *flags, bool trusted)
{
    struct candidate candidate = {.source = source, .compiler = compiler};
    struct build_result result;
    assert_true(candidate_parse_flags(flags, &f->arena, &candidate));
    const struct build_request request = {
        .task = f->task, .candidate = &candidate, .real_name = "float", .is_trusted = trusted};
    if (!target_build(f->target, &request, &f->arena, &result, &f->err))
        fail_msg("%s", f->err.message);
    return result;
}

static struct build_result build(struct fixture *f, const char *source)
{
    return build_with(f, source, NULL, "", false);
}

static void assert_built(const struct build_result *result)
{
    if (result->status != BUILD_OK)
        fail_msg("[%s] %s\n%s", result->mechanism, result->evidence, result->diagnostics);
    assert_non_null(result->image);
    assert_int_equal(strlen(result->code_id.text), HASH_ID_CHARS);
}

static void assert_refused(struct fixture *f, const char *source, const char *mechanism,
                           const char *evidence)
{
    const struct build_result result = build(f, source);
    if (result.status != BUILD_REJECTED || !str_equal(result.mechanism, mechanism) ||
        !strstr(result.evidence, evidence))
        fail_msg("status %d [%s] %s, wanted [%s] %s\n%s", (int)result.status, result.mechanism,
                 result.evidence, mechanism, evidence, result.diagnostics);
}

static void target_build__plain_source__builds_with_every_compiler(void **state)
{
    struct fixture *f = *state;
    const struct target_features *features = target_features(f->target);
    assert_true(features->compiler_count > 0);
    for (size_t i = 0; i < features->compiler_count; i++) {
        const struct build_result result = build_with(
            f, HEAD KERNEL(PLAIN), features->compilers[i].name, "-O3 -march=native", false);
        assert_built(&result);
        assert_true(result.build_ns > 0);
    }
}

static void target_notes__every_compiler__record_and_assembly_with_lines(void **state)
{
    struct fixture *f = *state;
    const struct target_features *features = target_features(f->target);
    for (size_t i = 0; i < features->compiler_count; i++) {
        const struct candidate candidate = {
            .source = HEAD KERNEL("for (int64_t i = 1; i < n; i++) y[i] = y[i - 1] * 0.5f + x[i];"),
            .compiler = features->compilers[i].name,
            .flags = {"-O3", "-march=native"},
            .flag_count = 2};
        const struct build_request request = {
            .task = f->task, .candidate = &candidate, .real_name = "float"};
        struct build_notes notes;
        if (!target_notes(f->target, &request, &f->arena, &notes, &f->err))
            fail_msg("%s", f->err.message);
        assert_string_equal(notes.record.problem, "");
        assert_string_equal(notes.assembly.problem, "");
        assert_string_equal(notes.family, features->compilers[i].family);
        assert_string_equal(notes.record.tool, features->compilers[i].name);
        assert_non_null(strstr(notes.record.text, "candidate.c"));
        assert_non_null(strstr(notes.assembly.text, ".loc"));
        assert_false(notes.record.is_cut || notes.assembly.is_cut);
    }
}

static void target_notes__refused_or_wrong__a_problem_in_words(void **state)
{
    static const struct {
        const char *source, *flag, *problem;
    } rows[] = {
        {HEAD KERNEL(PLAIN), "-fplugin=x", "flag '-fplugin=x' is refused"},
        {HEAD KERNEL("this is no C"), "-O2", "this"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct candidate candidate = {
            .source = rows[i].source, .flags = {rows[i].flag}, .flag_count = 1};
        const struct build_request request = {
            .task = f->task, .candidate = &candidate, .real_name = "float"};
        struct build_notes notes;
        if (!target_notes(f->target, &request, &f->arena, &notes, &f->err))
            fail_msg("%s", f->err.message);
        assert_string_equal(notes.record.text, "");
        assert_non_null(strstr(notes.record.problem, rows[i].problem));
        assert_string_equal(notes.assembly.problem, notes.record.problem);
    }
}

static void target_notes__no_time_for_it__not_done_in_time(void **state)
{
    struct fixture *f = *state;
    const struct candidate candidate = {.source = HEAD KERNEL(PLAIN)};
    const struct build_request request = {
        .task = f->task, .candidate = &candidate, .real_name = "float", .notes_limit_ns = 1};
    struct build_notes notes;
    if (!target_notes(f->target, &request, &f->arena, &notes, &f->err))
        fail_msg("%s", f->err.message);
    assert_true(notes.timed_out);
    assert_string_equal(notes.record.problem, "it was not done in time");
}

/* Where llvm-mca is: a report, or what is wrong with the block; where it is not: that. */
static void target_throughput__a_block__a_report_or_a_reason(void **state)
{
    struct fixture *f = *state;
    struct tool_output good, bad;
    if (!target_throughput(f->target, "\tnop\n", &f->arena, &good, &f->err) ||
        !target_throughput(f->target, "\tthis is none\n", &f->arena, &bad, &f->err))
        fail_msg("%s", f->err.message);
    assert_true(bad.problem[0] != '\0' && bad.text[0] == '\0');
    if (good.problem[0] == '\0')
        assert_non_null(strstr(good.text, "Total Cycles:"));
    else
        assert_true(good.text[0] == '\0');
}

/* A folder of its own at the front of PATH, with one program in it. */
static char *put_on_path(struct fixture *f, const char *name, const char *script, char **old_path)
{
    char *dir = NULL;
    *old_path = arena_strdup(&f->arena, getenv("PATH"));
    assert_true(os_make_temp_dir("kope-test", &f->arena, &dir, &f->err));
    const char *file = os_path_join(&f->arena, dir, name);
    assert_true(os_write_file(file, script, strlen(script), false, &f->err));
    assert_int_equal(chmod(file, 0755), 0);
    assert_int_equal(setenv("PATH", arena_printf(&f->arena, "%s:%s", dir, *old_path), 1), 0);
    return dir;
}

static const struct target_tool *mca_of(struct fixture *f, struct target_tool *tools)
{
    const size_t count = target_tools(f->target, &f->arena, tools, TARGET_MAX_TOOLS);
    for (size_t i = 0; i < count; i++) {
        if (str_starts_with(tools[i].name, "llvm-mca"))
            return &tools[i];
    }
    fail_msg("no llvm-mca among %zu tools", count);
    return NULL;
}

static void target_throughput__out_of_reach_of_the_box__a_problem_and_no_error(void **state)
{
    struct fixture *f = *state;
    char *path = NULL;
    struct target_tool tools[TARGET_MAX_TOOLS];
    struct tool_output said = {.tool = ""};
    char *dir = put_on_path(f, "llvm-mca-40", "#!/bin/sh\necho 'Total Cycles: 5'\n", &path);
    const bool ok = target_throughput(f->target, "\tnop\n", &f->arena, &said, &f->err);
    const struct target_tool *tool = mca_of(f, tools);
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_true(os_remove_tree(dir, &f->err));
    if (!ok)
        fail_msg("%s", f->err.message);
    if (os_landlock_abi() <= 0)
        skip();
    /* Another one, which it can read, goes before it; doctor says the same. */
    assert_string_equal(tool->name, said.tool);
    if (str_equal(said.tool, "llvm-mca-40")) {
        assert_non_null(strstr(said.problem, "cannot read"));
        assert_string_equal(tool->problem, said.problem);
    }
}

static void target_notes__compiler_is_gone__a_problem_and_no_error(void **state)
{
    struct fixture *f = *state;
    CLEANUP(target_close) struct target *target = NULL;
    char *path = NULL;
    char *dir = put_on_path(f, "gcc-98",
                            "#!/bin/sh\n[ $1 = -dumpfullversion ] && echo 98.1.0 && exit\n"
                            "exec gcc \"$@\"\n",
                            &path);
    const bool is_open = target_open("cpu", NULL, &target, &f->err);
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_true(os_remove_tree(dir, &f->err));
    assert_true(is_open);
    const struct candidate candidate = {
        .source = HEAD KERNEL(PLAIN), .compiler = "gcc-98", .flags = {"-O2"}, .flag_count = 1};
    const struct build_request request = {
        .task = f->task, .candidate = &candidate, .real_name = "float"};
    struct build_notes notes;
    if (!target_notes(target, &request, &f->arena, &notes, &f->err))
        fail_msg("%s", f->err.message);
    assert_string_equal(notes.record.tool, "gcc-98");
    assert_non_null(strstr(notes.record.problem, "gcc-98"));
    assert_string_equal(notes.assembly.problem, notes.record.problem);
}

static void target_build__syntax_error__failed_with_diagnostics(void **state)
{
    struct fixture *f = *state;
    const struct build_result result = build(f, HEAD KERNEL("y[0] = missing;"));
    assert_int_equal(result.status, BUILD_FAILED);
    assert_string_equal(result.mechanism, "compiler");
    assert_non_null(strstr(result.evidence, "error:"));
    assert_non_null(strstr(result.diagnostics, "missing"));
}

static void target_build__no_entry__failed_and_says_the_signature(void **state)
{
    struct fixture *f = *state;
    const struct build_result result = build(f, "int unrelated;\n");
    assert_int_equal(result.status, BUILD_FAILED);
    assert_string_equal(result.mechanism, "linker");
    assert_non_null(strstr(result.evidence, "void k(const float *x, float *y, int64_t n)"));
}

static void target_build__same_code_in_other_words__same_code_id(void **state)
{
    struct fixture *f = *state;
    const struct build_result a = build(f, HEAD KERNEL(PLAIN));
    const struct build_result b =
        build(f, "/* renamed */\n" HEAD "void k(const float *a, float *b, int64_t m)\n"
                 "{ for (int64_t j = 0; j < m; j++) b[j] = a[j] * 2; }\n");
    const struct build_result c = build(f, HEAD KERNEL("for (int64_t i = 0; i < n; i++) "
                                                       "y[i] = 3 * x[i];"));
    const struct build_result d =
        build_with(f, HEAD KERNEL(PLAIN), NULL, "-O1 -march=native", false);
    assert_built(&a);
    assert_built(&b);
    assert_built(&c);
    assert_string_equal(a.code_id.text, b.code_id.text);
    assert_string_not_equal(a.code_id.text, c.code_id.text);
    assert_string_not_equal(a.code_id.text, d.code_id.text);
}

static void target_build__twice__second_is_remembered(void **state)
{
    struct fixture *f = *state;
    const char *source = HEAD KERNEL("y[n - 1] = x[0];");
    const struct build_result first = build(f, source);
    const struct build_result second = build(f, source);
    assert_built(&first);
    assert_built(&second);
    assert_int_equal(first.image_bytes, second.image_bytes);
    assert_memory_equal(first.image, second.image, first.image_bytes);
}

static void target_build__libmvec_and_fast_math__builds(void **state)
{
    struct fixture *f = *state;
    const struct build_result result = build_with(
        f, "#include <math.h>\n" HEAD KERNEL("for (int64_t i = 0; i < n; i++) y[i] = expf(x[i]);"),
        NULL, "-O3 -march=native -ffast-math", false);
    assert_built(&result);
}

static void target_build__polly__builds_where_it_is(void **state)
{
    struct fixture *f = *state;
    const struct target_features *features = target_features(f->target);
    for (size_t i = 0; i < features->compiler_count; i++) {
        const struct target_compiler *c = &features->compilers[i];
        if (!str_equal(c->family, "clang"))
            continue;
        const struct build_result result =
            build_with(f, HEAD KERNEL(PLAIN), c->name, "-O3 -mllvm -polly", false);
        assert_int_equal(result.status, c->has_polly ? BUILD_OK : BUILD_REJECTED);
    }
}

static void target_build__flag_outside_the_list__rejected(void **state)
{
    static const char *const refused[] = {
        "-o",
        "-ooutput",
        "-wrapper",
        "-B/tmp",
        "-include",
        "-I/etc",
        "-DX=1",
        "-xc++",
        "@file",
        "-fplugin=x.so",
        "-save-temps",
        "-Wl,-z,now",
        "-lm",
        "-specs=x",
        "-fuse-ld=gold",
        "-S",
        "-E",
        "-M",
        "-fdump-tree-all",
        "-fprofile-generate",
        "-flto",
        "-fopenmp",
        "-pg",
        "-ftest-coverage",
        "-finstrument-functions",
        "-mabi=ms",
        "-mcmodel=large",
        "-march=/etc",
        "--sysroot=/",
        "-fno-pic",
        "-static",
        "-Xlinker",
        "-fcf-protection",
        "-mllvm",
        "--param=x=y",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *why = NULL;
        const struct build_result result =
            build_with(f, HEAD KERNEL(PLAIN), NULL, refused[i], false);
        if (result.status != BUILD_REJECTED || !str_equal(result.mechanism, "flags"))
            fail_msg("'%s' was not refused", refused[i]);
        assert_false(target_flag_allowed(f->target, "gcc", refused[i], &why));
        assert_non_null(why);
    }
}

static void target_flag_allowed__optimization_flags__yes(void **state)
{
    static const char *const gcc[] = {
        "-O3",
        "-march=x86-64-v3",
        "-mprefer-vector-width=512",
        "-funroll-loops",
        "-ffast-math",
        "-fno-math-errno",
        "-fassociative-math",
        "-floop-nest-optimize",
        "-fgraphite-identity",
        "--param=max-unroll-times=8",
        "-fvect-cost-model=unlimited",
        "-ftree-loop-distribution",
        "-mno-avx512f",
        "-ffp-contract=off",
        "-fopenmp-simd",
        "-fprefetch-loop-arrays",
    };
    static const char *const clang[] = {
        "-mllvm",           "-polly",          "-unroll-count=4",    "-force-vector-width=8",
        "-fveclib=libmvec", "-fslp-vectorize", "-fno-trapping-math",
    };
    struct fixture *f = *state;
    const char *why = "";
    for (size_t i = 0; i < sizeof gcc / sizeof *gcc; i++) {
        if (!flag_is_allowed("gcc", gcc[i], &why))
            fail_msg("%s: %s", gcc[i], why);
    }
    for (size_t i = 0; i < sizeof clang / sizeof *clang; i++) {
        if (!flag_is_allowed("clang", clang[i], &why))
            fail_msg("%s: %s", clang[i], why);
    }
    (void)f;
}

static void target_build__unknown_compiler__rejected(void **state)
{
    struct fixture *f = *state;
    const struct build_result result = build_with(f, HEAD KERNEL(PLAIN), "icc", "-O3", false);
    assert_int_equal(result.status, BUILD_REJECTED);
    assert_string_equal(result.mechanism, "flags");
}

static void target_build__hostile_source__rejected(void **state)
{
    static const char *const refused[] = {
        "#include \"/etc/passwd\"\n",
        "#include </etc/passwd>\n",
        "#include <stdio.h>\n",
        "#inc\\\nlude <unistd.h>\n",
        "%:include <unistd.h>\n",
        "/* a */ # /* b */ include /* c */ <unistd.h>\n",
        "#define H <unistd.h>\n#include H\n",
        "#include_next <math.h>\n",
        "#embed \"/etc/passwd\"\n",
        "#if __has_include(</etc/shadow>)\n#endif\n",
        "__asm__(\".incbin \\\"/etc/passwd\\\"\");\n",
        "asm volatile (\"syscall\");\n",
        "extern float f(float) __asm__(\"system\");\n",
        "__attribute__((constructor)) static void f(void) {}\n",
        "__attribute__((section(\".init_array\"))) void *p;\n",
        "__attribute__((alias(\"k\"))) void f(void);\n",
        "__attribute__((target_clones(\"avx2\", \"default\"))) void f(void) {}\n",
        "#pragma GCC dependency \"/etc/passwd\"\n",
        "#pragma GCC pch_preprocess \"x\"\n",
        "const char *p = R\"(\")\"; asm(\"syscall\"); //\";\n",
        "const char *p = \"unterminated\n",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *source =
            arena_printf(&f->arena, "%s%s", refused[i], HEAD KERNEL("(void)x, (void)y, (void)n;"));
        const struct build_result result = build(f, source);
        if (result.status != BUILD_REJECTED || !str_equal(result.mechanism, "M12-source"))
            fail_msg("not refused: %s status %d [%s] %s", refused[i], (int)result.status,
                     result.mechanism, result.evidence);
    }
}

static void target_build__harmless_source__passes_the_screen(void **state)
{
    struct fixture *f = *state;
    const struct build_result result =
        build(f, "#include <immintrin.h>\n#include <math.h>\n#include <string.h>\n" HEAD
                 "// a comment with \"asm\" and #include <x>\n"
                 "#pragma GCC optimize(\"unroll-loops\")\n"
                 "static const char text[] = \"asm('syscall') #include\";\n"
                 "static const int section = 3, alias = 4;\n"
                 "__attribute__((noinline, target(\"avx2\"))) static float f(float a)\n"
                 "{ __asm__ volatile(\"\" : \"+x\"(a) : : \"memory\"); return a; }\n" KERNEL(
                     "y[n - 1] = f(x[0]) + (float)(section + alias + text[n & 7]);"));
    assert_built(&result);
}

static void target_build__forbidden_function__rejected_by_name(void **state)
{
    static const char *const names[] = {"system", "open",     "socket", "fork",          "execve",
                                        "kill",   "ptrace",   "printf", "clock_gettime", "dlopen",
                                        "mmap",   "mprotect", "getenv", "pthread_create"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *source =
            arena_printf(&f->arena, HEAD "long %s();\n" KERNEL("(void)x; y[n] = (float)%s();"),
                         names[i], names[i]);
        assert_refused(f, source, "M12-object", names[i]);
    }
}

static void target_build__forbidden_instruction__rejected_by_name(void **state)
{
    static const struct {
        const char *code, *name;
    } cases[] = {
        {"y[n] = (float)__builtin_ia32_rdtsc() + x[0];", "rdtsc"},
        {"unsigned a; y[n] = (float)__builtin_ia32_rdtscp(&a) + x[0];", "rdtscp"},
        {"__builtin_ia32_ldmxcsr(0x9fc0); y[n] = x[0];", "ldmxcsr"},
        {"y[n] = (float)_xbegin() + x[0];", "xbegin"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *source =
            arena_printf(&f->arena,
                         "#include <immintrin.h>\n#pragma GCC target(\"rtm\")\n" HEAD
                         "void k(const real *x, real *y, int64_t n)\n{\n%s\n}\n",
                         cases[i].code);
        assert_refused(f, source, "M12-object", cases[i].name);
    }
}

/* Trusted sources skip the screen, so these reach the object's rules. */
static void target_build__forbidden_object__rejected(void **state)
{
    static const struct {
        const char *source, *evidence;
    } cases[] = {
        {"volatile int c; __attribute__((constructor)) static void f(void) { c++; }\n",
         "constructor"},
        {"volatile int c; __attribute__((destructor)) static void f(void) { c++; }\n",
         "destructor"},
        {"static void *g(void) { return 0; }\nvoid f(void) __attribute__((ifunc(\"g\")));\n",
         "indirect"},
        {"_Thread_local int t = 3;\n", "thread-local"},
        {"char big[2000000] = {1};\n", "writable static data"},
        {"__asm__(\".section .evil,\\\"awx\\\"\\n.byte 1\\n.text\");\n", "writable and executable"},
        {"void f(void) { __asm__ volatile(\"syscall\"); }\n", "syscall"},
        {"void f(void) { __asm__ volatile(\"int $0x80\"); }\n", "int"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *source = arena_printf(&f->arena, "%s%s", cases[i].source, HEAD KERNEL(PLAIN));
        const struct build_result result = build_with(f, source, NULL, "", true);
        if (result.status != BUILD_REJECTED || !str_equal(result.mechanism, "M12-object") ||
            !strstr(result.evidence, cases[i].evidence))
            fail_msg("%s: status %d [%s] %s\n%s", cases[i].source, (int)result.status,
                     result.mechanism, result.evidence, result.diagnostics);
    }
}

static void target_build__asks_for_secret__compiler_cannot_read_it(void **state)
{
    struct fixture *f = *state;
    char *dir = NULL;
    assert_true(os_make_temp_dir("kope-secret", &f->arena, &dir, &f->err));
    const char *path = os_path_join(&f->arena, dir, "secret.h");
    assert_true(os_write_file(path, "int s3cret = ;\n", 15, false, &f->err));
    const char *source = arena_printf(&f->arena, "#include \"%s\"\n%s", path, HEAD KERNEL(PLAIN));
    const struct build_result result = build_with(f, source, NULL, "", true);
    assert_int_equal(result.status, BUILD_FAILED);
    assert_null(strstr(result.diagnostics, "s3cret"));
    assert_true(os_remove_tree(dir, &f->err));
}

/* A target whose images are kept in `dir`. */
static void open_kept(struct fixture *kept, const struct fixture *f, const char *dir)
{
    *kept = (struct fixture){.task = f->task};
    if (!target_open("cpu", dir, &kept->target, &kept->err))
        fail_msg("%s", kept->err.message);
}

static void target_build__another_process_built_it__image_comes_from_the_store(void **state)
{
    struct fixture *f = *state, first, second;
    char *dir = NULL;
    assert_true(os_make_temp_dir("kope-store", &f->arena, &dir, &f->err));
    open_kept(&first, f, dir);
    const struct build_result made = build(&first, HEAD KERNEL(PLAIN));
    assert_built(&made);
    assert_false(made.is_kept);
    assert_true(made.timings.compile_ns > 0 && made.timings.link_ns > 0);
    open_kept(&second, f, dir);
    const struct build_result kept = build(&second, HEAD KERNEL(PLAIN));
    assert_built(&kept);
    assert_true(kept.is_kept);
    assert_string_equal(kept.code_id.text, made.code_id.text);
    assert_int_equal(kept.image_bytes, made.image_bytes);
    assert_memory_equal(kept.image, made.image, made.image_bytes);

    /* Another flag is another image; a clean build is served by nothing. */
    const struct build_result other = build_with(&second, HEAD KERNEL(PLAIN), NULL, "-O1", false);
    assert_false(other.is_kept);
    const struct candidate candidate = {.source = HEAD KERNEL(PLAIN)};
    const struct build_request clean = {
        .task = f->task, .candidate = &candidate, .real_name = "float", .is_clean = true};
    struct build_result anew;
    assert_true(target_build(second.target, &clean, &second.arena, &anew, &second.err));
    assert_false(anew.is_kept);
    tear_down(&(void *){&first});
    tear_down(&(void *){&second});
    assert_true(os_remove_tree(dir, &f->err));
}

static void target_build__stored_image_was_changed__built_anew(void **state)
{
    struct fixture *f = *state, first, second;
    char *dir = NULL, **names = NULL, *bytes = NULL;
    size_t count = 0, length = 0;
    assert_true(os_make_temp_dir("kope-store", &f->arena, &dir, &f->err));
    open_kept(&first, f, dir);
    assert_false(build(&first, HEAD KERNEL(PLAIN)).is_kept);
    const char *objects = os_path_join(&f->arena, dir, "objects");
    assert_true(os_list_dir(objects, &f->arena, &names, &count, &f->err));
    assert_int_equal(count, 1);
    const char *path = os_path_join(&f->arena, objects, names[0]);
    assert_true(os_read_file(path, 1 << 24, &f->arena, &bytes, &length, &f->err));
    bytes[length / 2] ^= 1;
    assert_true(os_write_file(path, bytes, length, false, &f->err));
    open_kept(&second, f, dir);
    const struct build_result made = build(&second, HEAD KERNEL(PLAIN));
    assert_built(&made);
    assert_false(made.is_kept);
    tear_down(&(void *){&first});
    tear_down(&(void *){&second});
    assert_true(os_remove_tree(dir, &f->err));
}

static void target_build_all__good_and_bad_ones__results_in_order(void **state)
{
    struct fixture *f = *state;
    enum { COUNT = 5 };
    const struct candidate candidates[COUNT] = {
        {.source = HEAD KERNEL("for (int64_t i = 0; i < n; i++) y[i] = x[i] + 1;")},
        {.source = HEAD KERNEL("this is no C")},
        {.source = HEAD KERNEL("for (int64_t i = 0; i < n; i++) y[i] = x[i] + 2;")},
        {.source = HEAD "__asm__(\"nop\");\n" KERNEL(PLAIN)},
        {.source = HEAD KERNEL("for (int64_t i = 0; i < n; i++) y[i] = x[i] + 3;")},
    };
    static const enum build_status wanted[COUNT] = {BUILD_OK, BUILD_FAILED, BUILD_OK,
                                                    BUILD_REJECTED, BUILD_OK};
    struct build_request requests[COUNT];
    struct build_result results[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        requests[i] = (struct build_request){
            .task = f->task, .candidate = &candidates[i], .real_name = "float"};
    if (!target_build_all(f->target, requests, COUNT, &f->arena, results, &f->err))
        fail_msg("%s", f->err.message);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(results[i].status, wanted[i]);
    assert_string_not_equal(results[0].code_id.text, results[2].code_id.text);
    for (size_t i = 0; i < COUNT; i += 2)
        assert_string_equal(build(f, candidates[i].source).code_id.text, results[i].code_id.text);
    assert_true(build(f, candidates[4].source).is_kept);
}

static void target_probe__this_machine__plausible_and_kept(void **state)
{
    struct fixture *f = *state;
    struct target *again = NULL;
    char *dir = NULL;
    assert_true(os_make_temp_dir("kope-cache", &f->arena, &dir, &f->err));
    if (!target_open("cpu", dir, &again, &f->err) || !target_probe(again, false, &f->err))
        fail_msg("%s", f->err.message);
    const struct target_features measured = *target_features(again);
    assert_true(measured.peak_gflops_f32 > 1 && measured.peak_gflops_f32 < 2000);
    assert_true(measured.peak_gflops_f64 > 0.5);
    assert_true(measured.bandwidth_gbs[0] > 1);
    assert_true(measured.bandwidth_gbs[3] > 0.1);
    assert_true(measured.copy_gbs > 0.1);
    assert_string_equal(measured.id.text, target_features(f->target)->id.text);
    target_close(&again);
    assert_true(target_open("cpu", dir, &again, &f->err));
    assert_true(target_features(again)->peak_gflops_f32 == measured.peak_gflops_f32);
    assert_true(target_features(again)->measured_wall_ns == measured.measured_wall_ns);
    target_close(&again);
    assert_true(os_remove_tree(dir, &f->err));
}

/* It was busy when it was measured, but for one rate, which is better than any measurement. */
static void target_probe__measured_again__keeps_the_best_of_each_rate(void **state)
{
    struct fixture *f = *state;
    struct target *again = NULL;
    char *dir = NULL;
    const char *id = target_features(f->target)->id.text;
    const char *kept = arena_printf(&f->arena,
                                    "{\"format\":2,\"id\":\"%s\",\"peak_gflops_f32\":0.01,"
                                    "\"peak_gflops_f64\":0.01,\"bandwidth_gbs\":[0.01,0.01,"
                                    "0.01,0.01],\"copy_gbs\":123456,\"measured_wall_ns\":1}",
                                    id);
    assert_true(os_make_temp_dir("kope-cache", &f->arena, &dir, &f->err));
    assert_true(os_write_file(os_path_join(&f->arena, dir, arena_printf(&f->arena, "%s.json", id)),
                              kept, strlen(kept), false, &f->err));
    assert_true(target_open("cpu", dir, &again, &f->err));
    assert_true(target_features(again)->copy_gbs > 123455); /* it was read */
    if (!target_probe(again, true, &f->err))
        fail_msg("%s", f->err.message);
    assert_true(target_features(again)->copy_gbs > 123455);
    assert_true(target_features(again)->peak_gflops_f32 > 1);
    assert_true(target_features(again)->bandwidth_gbs[3] > 0.1);
    target_close(&again);
    assert_true(os_remove_tree(dir, &f->err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(target_build__plain_source__builds_with_every_compiler),
        cmocka_unit_test(target_notes__every_compiler__record_and_assembly_with_lines),
        cmocka_unit_test(target_notes__refused_or_wrong__a_problem_in_words),
        cmocka_unit_test(target_notes__no_time_for_it__not_done_in_time),
        cmocka_unit_test(target_throughput__a_block__a_report_or_a_reason),
        cmocka_unit_test(target_throughput__out_of_reach_of_the_box__a_problem_and_no_error),
        cmocka_unit_test(target_notes__compiler_is_gone__a_problem_and_no_error),
        cmocka_unit_test(target_build__syntax_error__failed_with_diagnostics),
        cmocka_unit_test(target_build__no_entry__failed_and_says_the_signature),
        cmocka_unit_test(target_build__same_code_in_other_words__same_code_id),
        cmocka_unit_test(target_build__twice__second_is_remembered),
        cmocka_unit_test(target_build__libmvec_and_fast_math__builds),
        cmocka_unit_test(target_build__polly__builds_where_it_is),
        cmocka_unit_test(target_build__flag_outside_the_list__rejected),
        cmocka_unit_test(target_flag_allowed__optimization_flags__yes),
        cmocka_unit_test(target_build__unknown_compiler__rejected),
        cmocka_unit_test(target_build__hostile_source__rejected),
        cmocka_unit_test(target_build__harmless_source__passes_the_screen),
        cmocka_unit_test(target_build__forbidden_function__rejected_by_name),
        cmocka_unit_test(target_build__forbidden_instruction__rejected_by_name),
        cmocka_unit_test(target_build__forbidden_object__rejected),
        cmocka_unit_test(target_build__asks_for_secret__compiler_cannot_read_it),
        cmocka_unit_test(target_build__another_process_built_it__image_comes_from_the_store),
        cmocka_unit_test(target_build__stored_image_was_changed__built_anew),
        cmocka_unit_test(target_build_all__good_and_bad_ones__results_in_order),
        cmocka_unit_test(target_probe__this_machine__plausible_and_kept),
        cmocka_unit_test(target_probe__measured_again__keeps_the_best_of_each_rate),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
