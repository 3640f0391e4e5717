/* Root causes against what the compilers really said (tests/diagnostics), and against hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "os/file.h"
#include "rule/cause.h"

#include <string.h>

#define FOLDER KOPE_SOURCE_DIR "/tests/diagnostics"

static char *read_file(const char *name, struct arena *arena)
{
    char *text = NULL;
    struct err err;
    if (!os_read_file(os_path_join(arena, FOLDER, name), 1 << 20, arena, &text, NULL, &err))
        fail_msg("%s", err.message);
    return text;
}

static char *between(const char *text, const char *before, const char *after, struct arena *arena)
{
    const char *begin = strstr(text, before);
    const char *end = begin ? strstr(begin + strlen(before), after) : NULL;
    if (!end)
        return NULL;
    begin += strlen(before);
    return arena_strndup(arena, begin, (size_t)(end - begin));
}

/* A source that only the rules on the object refuse: the warning says what it calls. */
static struct failure refused_object(const char *diagnostics, struct arena *arena)
{
    char *name = between(diagnostics, "implicit declaration of function \xe2\x80\x98",
                         "\xe2\x80\x99", arena);
    name = name ? name : between(diagnostics, "implicit declaration of function '", "'", arena);
    assert_non_null(name);
    return (struct failure){
        .kind = VERDICT_REJECTED,
        .mechanism = "M12-object",
        .diagnostics = diagnostics,
        .evidence = arena_printf(arena,
                                 "it uses '%s', which is not among the functions that a kernel may "
                                 "call (libm, memcpy, malloc and their like)",
                                 name)};
}

static void check_recorded(const char *name, struct arena *arena)
{
    const char *source =
        read_file(arena_printf(arena, "%.*s.c", (int)strcspn(name, "."), name), arena);
    const char *expected = between(source, "/* cause: ", " */", arena);
    const char *text = read_file(name, arena);
    struct failure failure = {
        .kind = VERDICT_BUILD_FAILED, .mechanism = "compiler", .diagnostics = text, .entry = "f"};
    if (!strstr(text, "error"))
        failure = refused_object(text, arena);
    const struct cause cause = cause_of(&failure, arena);
    if (!expected || !str_equal(cause.key, expected))
        fail_msg("%s: '%s', not '%s'", name, cause.key, expected ? expected : "?");
    assert_true(cause.is_lesson && cause.shows_at_build);
    assert_true(cause.words[0] != '\0');
    if (cause.line == 0)
        fail_msg("%s: no line", name);
}

static void cause_of__recorded_diagnostics__one_key_for_every_compiler(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err;
    char **names = NULL;
    size_t count = 0, checked = 0;
    assert_true(os_list_dir(FOLDER, &arena, &names, &count, &err));
    for (size_t i = 0; i < count; i++) {
        if (!str_ends_with(names[i], ".txt"))
            continue;
        check_recorded(names[i], &arena);
        checked++;
    }
    assert_true(checked > 100);
    arena_free(&arena);
}

static void assert_key(const struct failure *failure, const char *expected)
{
    struct arena arena = {0};
    assert_string_equal(cause_of(failure, &arena).key, expected);
    arena_free(&arena);
}

static void assert_host(const struct failure *failure)
{
    struct arena arena = {0};
    const struct cause cause = cause_of(failure, &arena);
    if (cause.is_lesson)
        fail_msg("'%s' would be a lesson", cause.key);
    assert_string_equal(cause.key, "");
    assert_true(cause.why_not[0] != '\0');
    arena_free(&arena);
}

static void cause_of__what_the_host_did__is_no_lesson(void **state)
{
    (void)state;
    static const char *const diagnostics[] = {
        "gcc: fatal error: Killed signal terminated program cc1\ncompilation terminated.\n",
        "candidate.c:9:1: fatal error: error writing to /tmp/ccX.s: No space left on device\n",
        "cc1: out of memory allocating 65536 bytes after a total of 811008 bytes\n",
        "cc1: error: out of memory allocating 65536 bytes after a total of 811008 bytes\n",
        "virtual memory exhausted: Cannot allocate memory\n",
        "/usr/bin/ld: final link failed: No space left on device\n",
        "clang: error: unable to execute command: Killed\n",
        "clang: error: unable to execute command: Resource temporarily unavailable\n",
        "LLVM ERROR: IO failure on output stream: No space left on device\n",
        "LLVM ERROR: out of memory\nAllocation failed\n",
        "gcc: fatal error: cannot execute 'as': vfork: Resource temporarily unavailable\n",
        "error: unable to make temporary file: Read-only file system\n",
        "Cannot create temporary file in /tmp/: Disk quota exceeded\n",
    };
    for (size_t i = 0; i < sizeof diagnostics / sizeof *diagnostics; i++)
        assert_host(&(struct failure){.kind = VERDICT_BUILD_FAILED,
                                      .mechanism = "compiler",
                                      .evidence = strchr(diagnostics[i], ':') ? diagnostics[i] : "",
                                      .diagnostics = diagnostics[i]});
    static const char *const evidence[] = {"not done after 60 s", "the compiler died of signal 9",
                                           "the compiler died of signal 11"};
    for (size_t i = 0; i < sizeof evidence / sizeof *evidence; i++)
        assert_host(&(struct failure){
            .kind = VERDICT_BUILD_FAILED, .mechanism = "compiler", .evidence = evidence[i]});
    assert_host(&(struct failure){.kind = VERDICT_TOO_NOISY, .mechanism = "noise"});
    assert_host(&(struct failure){.kind = VERDICT_TIMED_OUT, .mechanism = "limit"});
    assert_host(&(struct failure){.kind = VERDICT_CRASHED,
                                  .mechanism = "signal",
                                  .evidence = "signal 9: killed from outside, most likely for "
                                              "memory"});
    assert_host(&(struct failure){.kind = VERDICT_REJECTED, .mechanism = "rule", .evidence = "x"});
    assert_host(&(struct failure){.kind = VERDICT_TIMED});
}

static void cause_of__source_quotes_a_host_fault__is_a_lesson(void **state)
{
    (void)state;
    assert_key(&(struct failure){.kind = VERDICT_BUILD_FAILED,
                                 .mechanism = "compiler",
                                 .diagnostics = "candidate.c:1:2: error: #error Killed\n"
                                                "    1 | #error Killed\n"},
               "error-directive");
    assert_key(&(struct failure){.kind = VERDICT_BUILD_FAILED,
                                 .mechanism = "compiler",
                                 .diagnostics =
                                     "candidate.c:3:9: error: 'a' undeclared (first use in this "
                                     "function)\n    3 | a(\"cc1: error: out of memory\");\n"},
               "undeclared-name");
}

static void cause_of__echoes_after_an_implicit_declaration__the_declaration(void **state)
{
    (void)state;
    const struct failure failure = {
        .kind = VERDICT_BUILD_FAILED,
        .mechanism = "compiler",
        .diagnostics =
            "candidate.c:6:20: warning: implicit declaration of function '_mm256_exp_ps' "
            "[-Wimplicit-function-declaration]\n"
            "candidate.c:6:20: error: incompatible types when initializing type '__m256' using "
            "type 'int'\n"
            "candidate.c:9:3: error: 'k' undeclared (first use in this function)\n"};
    assert_key(&failure, "undeclared-function _mm256_exp_ps");
}

static void cause_of__names_numbers_paths_differ__same_key(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct failure a = {.kind = VERDICT_BUILD_FAILED,
                              .mechanism = "compiler",
                              .diagnostics = "candidate.c:3:9: error: alignment of 'tile' is 7, "
                                             "see /tmp/a/b.h, not 'float'\n"};
    const struct failure b = {.kind = VERDICT_BUILD_FAILED,
                              .mechanism = "compiler",
                              .diagnostics = "candidate.c:88:1: error: alignment of 'acc' is 0x13, "
                                             "see /home/x.h, not 'float'\n"};
    const struct failure c = {.kind = VERDICT_BUILD_FAILED,
                              .mechanism = "compiler",
                              .diagnostics = "candidate.c:88:1: error: alignment of 'acc' is 13, "
                                             "see /home/x.h, not 'double'\n"};
    assert_string_equal(cause_of(&a, &arena).key, cause_of(&b, &arena).key);
    assert_string_not_equal(cause_of(&a, &arena).key, cause_of(&c, &arena).key);
    assert_string_equal(cause_of(&a, &arena).key,
                        "compiler: alignment of '_' is N, see PATH, not 'float'");
    arena_free(&arena);
}

static void cause_of__gate_and_signals__keys_without_numbers(void **state)
{
    (void)state;
    const struct {
        enum verdict_kind kind;
        const char *mechanism, *evidence, *key;
    } rows[] = {
        {VERDICT_CRASHED, "signal", "wrote 12 bytes past the end of 'y'", "signal write-past-end"},
        {VERDICT_CRASHED, "signal", "read just past the end of 'x'", "signal read-past-end"},
        {VERDICT_CRASHED, "signal", "read address 0x8: a null pointer", "signal null-pointer"},
        {VERDICT_CRASHED, "signal", "signal 8: an integer division by zero, or one that overflows",
         "signal division"},
        {VERDICT_CRASHED, "signal",
         "signal 11 without an address: a misaligned vector access, a pointer that is none, or a "
         "privileged instruction",
         "signal misaligned"},
        {VERDICT_REJECTED, "seccomp",
         "it made system call 41 (socket), which the box does not allow", "seccomp system-call"},
        {VERDICT_WRONG, "M9-precision", "y[17] is 3.25, but 3.5 was expected", "M9-precision"},
        {VERDICT_REJECTED, "flags", "flag '-fplugin=x' is refused: it names a file",
         "refused-flag -fplugin=x"},
        {VERDICT_REJECTED, "M12-object",
         "it uses 'printf', which is not among the functions that a kernel may call (libm)",
         "forbidden-function printf"},
        {VERDICT_REJECTED, "M12-source",
         "it includes <mkl.h>, which is not among the headers that a kernel may include",
         "refused-header mkl.h"},
        {VERDICT_REJECTED, "M12-source", "it uses 'syscall'", "refused-word syscall"},
        {VERDICT_REJECTED, "M12-source",
         "it has inline assembly; only an empty template is allowed", "refused-assembly"},
        {VERDICT_REJECTED, "M12-object", "the image cannot be loaded: undefined symbol: foo2",
         "M12-object: the image cannot be loaded: undefined symbol: foo2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_key(&(struct failure){.kind = rows[i].kind,
                                     .mechanism = rows[i].mechanism,
                                     .evidence = rows[i].evidence},
                   rows[i].key);
}

static void cause_of__assembler_and_linker__read(void **state)
{
    (void)state;
    assert_key(&(struct failure){.kind = VERDICT_BUILD_FAILED,
                                 .mechanism = "linker",
                                 .diagnostics = "/usr/bin/ld: candidate.o: in function `sum':\n"
                                                "candidate.c:(.text+0x9): undefined reference to "
                                                "`my_helper'\n"},
               "undefined-symbol");
    assert_key(&(struct failure){.kind = VERDICT_BUILD_FAILED,
                                 .mechanism = "compiler",
                                 .diagnostics = "/tmp/ccA1.s: Assembler messages:\n/tmp/ccA1.s:12: "
                                                "Error: no such instruction: `vfoo %ymm0'\n"},
               "compiler: no such instruction: '_'");
}

static void cause_of__any_bytes__ends(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "\n\n",
        ":",
        "error: ",
        ": error: ",
        "candidate.c:99999999999999999999:1: error: x\n",
        "candidate.c:1:1: error: '",
        "candidate.c:1:1: error: \xe2\x80",
        " | | |\n",
        "'''''''",
        "candidate.c:1:1: error: incompatible types when assigning to type '' from type ''\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena arena = {0};
        const struct cause cause = cause_of(&(struct failure){.kind = VERDICT_BUILD_FAILED,
                                                              .mechanism = "compiler",
                                                              .diagnostics = texts[i]},
                                            &arena);
        assert_true(cause.is_lesson && cause.key[0] != '\0');
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cause_of__recorded_diagnostics__one_key_for_every_compiler),
        cmocka_unit_test(cause_of__what_the_host_did__is_no_lesson),
        cmocka_unit_test(cause_of__source_quotes_a_host_fault__is_a_lesson),
        cmocka_unit_test(cause_of__echoes_after_an_implicit_declaration__the_declaration),
        cmocka_unit_test(cause_of__names_numbers_paths_differ__same_key),
        cmocka_unit_test(cause_of__gate_and_signals__keys_without_numbers),
        cmocka_unit_test(cause_of__assembler_and_linker__read),
        cmocka_unit_test(cause_of__any_bytes__ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
