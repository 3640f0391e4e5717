/*
 * The identity of machine code: the same for what a person may write differently, another one for
 * whatever changes what the code does.
 */
#include "base/str.h"
#include "target/target.h"
#include "task/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char task_text[] = "name: k\nfamily: elementwise\ndtype: float32\naxes: [n]\nargs:\n"
                                "  - {name: x, role: in, shape: [n]}\n"
                                "  - {name: y, role: out, shape: [n]}\n"
                                "cases:\n  - {n: 1024}\nheld_out:\n  - {n: 57}\n";

/* Two helpers that stay functions, a table, a static buffer, a loop. The words are %s. */
#define TEMPLATE                                                                                   \
    "#include <stdint.h>\n"                                                                        \
    "static const float TABLE[4] = {1.5f, 2.5f, 3.5f, 4.5f};\n"                                    \
    "__attribute__((noinline)) float FIRST(float v) { return v * 2 + 1; }\n"                       \
    "__attribute__((noinline)) static float SECOND(float v) { return v * 3 - 1; }\n"               \
    "void k(const real *x, real *y, int64_t n)\n{\n"                                               \
    "    for (int64_t i = 0; i < n; i++)\n"                                                        \
    "        y[i] = FIRST(x[i]) + SECOND(x[i]) + TABLE[i & 3];\n}\n"

static struct {
    struct arena arena;
    struct target *target;
    const struct task *task;
} fixture;

static const char *replaced(const char *text, const char *word, const char *by)
{
    const char *out = "";
    for (const char *at = strstr(text, word); at; at = strstr(text, word)) {
        out = arena_printf(&fixture.arena, "%s%.*s%s", out, (int)(at - text), text, by);
        text = at + strlen(word);
    }
    return arena_printf(&fixture.arena, "%s%s", out, text);
}

static const char *id_with(const char *source, const char *flags)
{
    struct err err = {0};
    struct build_result result;
    struct candidate candidate = {.source = source};
    assert_true(candidate_parse_flags(flags, &fixture.arena, &candidate));
    const struct build_request request = {
        .task = fixture.task, .candidate = &candidate, .real_name = "float", .is_trusted = true};
    if (!target_build(fixture.target, &request, &fixture.arena, &result, &err))
        fail_msg("%s", err.message);
    if (result.status != BUILD_OK)
        fail_msg("%s\n%s", result.evidence, result.diagnostics);
    return arena_strdup(&fixture.arena, result.code_id.text);
}

static const char *id(const char *source)
{
    return id_with(source, "-O2");
}

static void code_id__names_comments_and_lines_changed__same(void **state)
{
    (void)state;
    const char *plain = id(TEMPLATE);
    assert_string_equal(plain, id(replaced(TEMPLATE, "FIRST", "zebra")));
    assert_string_equal(plain, id(replaced(TEMPLATE, "SECOND", "aardvark_with_a_long_name")));
    assert_string_equal(plain, id(replaced(TEMPLATE, "TABLE", "coefficients")));
    assert_string_equal(plain, id(replaced(TEMPLATE, "[i", "[  i")));
    assert_string_equal(
        plain, id(arena_printf(&fixture.arena,
                               "/* another time */\n\n\n#line 77 \"elsewhere.c\"\n%s", TEMPLATE)));
}

static void code_id__behaviour_changed__differs(void **state)
{
    (void)state;
    static const char *const changes[][2] = {
        {"v * 2 + 1", "v * 2 + 5"},                                  /* a constant in .rodata */
        {"3.5f", "3.25f"},                                           /* a table */
        {"[i & 3]", "[i & 2]"},                                      /* an immediate */
        {"FIRST(x[i]) + SECOND(x[i])", "FIRST(x[i]) + FIRST(x[i])"}, /* the target of a call */
        {"FIRST(x[i]) + SECOND(x[i])", "FIRST(x[i]) - SECOND(x[i])"},
        {"i < n", "i < n - 1"},
    };
    const char *plain = id(TEMPLATE);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *changed = replaced(TEMPLATE, changes[i][0], changes[i][1]);
        assert_string_not_equal(changed, TEMPLATE);
        assert_string_not_equal(plain, id(changed));
    }
    assert_string_not_equal(plain, id_with(TEMPLATE, "-O3 -march=native"));
}

/* The bodies change places and so do the names: each name still lies where it did, or not. */
static void code_id__functions_exchanged__differs(void **state)
{
    (void)state;
    const char *exchanged = replaced(
        replaced(replaced(TEMPLATE, "v * 2 + 1", "@"), "v * 3 - 1", "v * 2 + 1"), "@", "v * 3 - 1");
    assert_string_not_equal(id(TEMPLATE),
                            id(replaced(exchanged, "+ SECOND(x[i])", "- SECOND(x[i])")));
    assert_string_not_equal(id(TEMPLATE), id(exchanged));
}

static const char *with_asm(const char *text)
{
    return arena_printf(&fixture.arena,
                        "#include <stdint.h>\n"
                        "void k(const real *x, real *y, int64_t n)\n"
                        "{\n    (void)n;\n    y[0] = x[0];\n}\n__asm__(\"%s\");\n",
                        text);
}

/* What an attacker would hide from a hash: values of symbols, bytes behind short fields. */
static void code_id__hidden_differences__differ(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {".data\\n.long 7\\n.text", ".data\\n.long 8\\n.text"},
        /* A relocation of two bytes: what follows is code. */
        {".section .rodata\\n.short here\\n.byte 1, 2\\n.text\\nhere: ret",
         ".section .rodata\\n.short here\\n.byte 1, 3\\n.text\\nhere: ret"},
        {".section .rodata\\n.byte here\\n.byte 1, 2, 3\\n.text\\nhere: ret",
         ".section .rodata\\n.byte here\\n.byte 1, 2, 4\\n.text\\nhere: ret"},
        /* A common block's size. */
        {".comm block, 64, 8\\n.data\\n.quad block\\n.text",
         ".comm block, 128, 8\\n.data\\n.quad block\\n.text"},
        {".text\\nnop\\nret", ".text\\nnop\\nnop\\nret"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct err err = {0};
        struct build_result results[2];
        for (size_t k = 0; k < 2; k++) {
            const struct candidate candidate = {.source = with_asm(pairs[i][k])};
            const struct build_request request = {.task = fixture.task,
                                                  .candidate = &candidate,
                                                  .real_name = "float",
                                                  .is_trusted = true};
            if (!target_build(fixture.target, &request, &fixture.arena, &results[k], &err))
                fail_msg("%s", err.message);
        }
        /* Refused before it has an id, by the rules for objects: as good. */
        if (results[0].code_id.text[0] != '\0' || results[1].code_id.text[0] != '\0')
            assert_string_not_equal(results[0].code_id.text, results[1].code_id.text);
    }
}

static int set_up(void **state)
{
    (void)state;
    struct err err = {0};
    if (target_open("cpu", NULL, &fixture.target, &err) &&
        task_parse(task_text, strlen(task_text), TEMPLATE, "", &fixture.arena, &fixture.task, &err))
        return 0;
    print_error("%s (%s)\n", err.message, err.hint);
    return -1;
}

static int tear_down(void **state)
{
    (void)state;
    target_close(&fixture.target);
    arena_free(&fixture.arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_id__names_comments_and_lines_changed__same),
        cmocka_unit_test(code_id__behaviour_changed__differs),
        cmocka_unit_test(code_id__functions_exchanged__differs),
        cmocka_unit_test(code_id__hidden_differences__differ),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
