#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "skill/markdown.h"
#include "skill/predicate.h"
#include "skill/skill.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct bench {
    struct arena arena;
    struct err err;
    struct skill_facts facts;
};

static int setup(void **state)
{
    static struct bench bench;
    bench = (struct bench){0};
    *state = &bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    arena_free(&b->arena);
    return 0;
}

static const char yaml[] =
    "name: %s\nfamily: test\nsummary: a test\ndtype: float32\naxes: [rows, cols]\nargs:\n"
    "  - {name: x, role: in, shape: [rows, cols]}\n"
    "  - {name: y, role: out, shape: [rows, cols]}\n"
    "precision: normal\ncases:\n  - {rows: 8, cols: 64}\n"
    "held_out:\n  - {rows: 5, cols: 9}\n";

/* The facts of a reference on a machine with AVX2. */
static void look_at(struct bench *b, const char *name, const char *body)
{
    const struct task *task = NULL;
    const char *text = arena_printf(&b->arena, yaml, name);
    const char *source =
        arena_printf(&b->arena,
                     "#include <math.h>\n#include <stdint.h>\nvoid %s(const real *x, real *y, "
                     "int64_t rows, int64_t cols)\n{\n%s\n}\n",
                     name, body);
    if (!task_parse(text, strlen(text), source, "", &b->arena, &task, &b->err))
        fail_msg("%s", b->err.message);
    b->facts = (struct skill_facts){0};
    skill_facts_of_task(task, &b->arena, &b->facts);
    skill_facts_of_machine(&(struct skill_machine){.arch = "x86_64",
                                                   .isa = "avx2,fma",
                                                   .compilers = "gcc,clang",
                                                   .vector_bytes = 32,
                                                   .cores = 4},
                           &b->arena, &b->facts);
}

static bool holds(struct bench *b, const char *predicate)
{
    bool result = false;
    const char *why = NULL;
    if (!predicate_holds(predicate, &b->facts, &b->arena, &result, &why, &b->err))
        fail_msg("%s: %s", predicate, b->err.message);
    assert_true(result == (why[0] == '\0'));
    return result;
}

static const char softmax[] =
    "for (int64_t i = 0; i < rows; i++) { real m = x[i * cols], s = 0;\n"
    "for (int64_t j = 1; j < cols; j++) m = x[i * cols + j] > m ? x[i * cols + j] : m;\n"
    "for (int64_t j = 0; j < cols; j++) { y[i * cols + j] = exp(x[i * cols + j] - m);"
    " s += y[i * cols + j]; }\n"
    "for (int64_t j = 0; j < cols; j++) y[i * cols + j] /= s; }";

static void facts__of_a_softmax__are_counted(void **state)
{
    struct bench *b = *state;
    look_at(b, "soft", softmax);
    assert_true(holds(b, "understood and float and reassociate and loops == 4 and depth == 2"));
    assert_true(holds(b, "extrema == 1 and sums == 1 and call(exp) and not call(tanh)"));
    assert_true(holds(b, "strided == 0 and gathers == 0 and scans == 0 and nests == 3"));
    assert_true(holds(b, "regime == tiny and inputs == 1 and outputs == 1"));
}

static void facts__scan_stride_and_gather__are_seen(void **state)
{
    struct bench *b = *state;
    look_at(b, "scan",
            "for (int64_t i = 0; i < rows; i++) { real s = 0; for (int64_t j = 0; j < cols; j++) {"
            " s += x[i * cols + j]; y[i * cols + j] = s; } }");
    assert_true(holds(b, "scans == 1 and sums == 1"));
    look_at(b, "turn",
            "for (int64_t i = 0; i < rows; i++) for (int64_t j = 0; j < cols; j++)"
            " y[j * rows + i] = x[i * cols + j];");
    assert_true(holds(b, "strided == 1 and sums == 0 and scans == 0"));
}

static void facts__a_reference_that_is_not_understood__says_so(void **state)
{
    struct bench *b = *state;
    look_at(b, "odd", "(void)rows; (void)cols; goto out; out: y[0] = x[0];");
    assert_true(holds(b, "loops == 0"));
}

static void skill_facts_predicate__holds_where_loops_are_of_the_kind(void **state)
{
    struct bench *b = *state;
    look_at(b, "soft", softmax);
    const char *same = skill_facts_predicate(&b->facts, &b->arena);
    struct err err;
    assert_true(predicate_check(same, &err));
    assert_true(holds(b, same));
    look_at(b, "longer",
            "for (int64_t i = 0; i < rows; i++) { real m = 0, s = 0;\n"
            "for (int64_t j = 0; j < cols; j++) m = x[i * cols + j] > m ? x[i * cols + j] : m;\n"
            "for (int64_t j = 0; j < cols; j++) s += exp(x[i * cols + j] - m);\n"
            "for (int64_t j = 0; j < cols; j++) y[i * cols + j] = exp(x[i * cols + j] - m) / s; }");
    assert_true(holds(b, same));
    look_at(b, "other",
            "for (int64_t i = 0; i < rows; i++) { real s = 0; for (int64_t j = 0; j < cols; j++) {"
            " s += tanh(x[i * cols + j]); y[i * cols + j] = s; } }");
    assert_false(holds(b, same));
    look_at(b, "turn",
            "for (int64_t i = 0; i < rows; i++) for (int64_t j = 0; j < cols; j++)"
            " y[j * rows + i] = x[i * cols + j];");
    assert_false(holds(b, same));
    assert_true(holds(b, skill_facts_predicate(&b->facts, &b->arena)));
}

static void predicate_holds__words_sets_numbers_and_brackets(void **state)
{
    struct bench *b = *state;
    look_at(b, "soft", softmax);
    static const struct {
        const char *text;
        bool want;
    } cases[] = {
        {"", true},
        {"   ", true},
        {"family == test", true},
        {"family != test", false},
        {"isa(avx2) and isa(fma)", true},
        {"isa(avx)", false},
        {"vector_bytes >= 32 and vector_bytes < 64", true},
        {"not (loops > 2 and sums > 0)", false},
        {"gathers or scans or sums", true},
        {"gathers and scans or sums", true},
        {"sums and (gathers or scans)", false},
        {"not not sums", true},
        {"dtype == float32", true},
        {"loops>=4", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (holds(b, cases[i].text) != cases[i].want)
            fail_msg("'%s'", cases[i].text);
    }
}

static void predicate_holds__false__names_the_part_and_the_value(void **state)
{
    struct bench *b = *state;
    bool result = true;
    const char *why = "";
    look_at(b, "soft", softmax);
    assert_true(predicate_holds("sums > 0 and scans > 0 and gathers", &b->facts, &b->arena, &result,
                                &why, &b->err));
    assert_false(result);
    assert_string_equal(why, "'scans > 0': scans is 0");
    assert_true(predicate_holds("family == scan", &b->facts, &b->arena, &result, &why, &b->err));
    assert_string_equal(why, "'family == scan': family is 'test'");
}

static void predicate_check__hostile_texts__are_refused_with_the_column(void **state)
{
    struct bench *b = *state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"sumz > 0", "column 1: there is no fact 'sumz'"},
        {"sums > 0 and", "column 13: it ends too early"},
        {"sums >", "column 7: a number is expected"},
        {"sums > x", "a number is expected"},
        {"(sums", "')' is expected"},
        {"sums sums", "'and', 'or' or the end is expected"},
        {"family > 3", "compared by == or !="},
        {"family ==", "a word is expected"},
        {"isa", "NAME(word)"},
        {"isa(avx2", "')' are expected"},
        {"isa()", "a word and ')'"},
        {"sums & loops", "'and', 'or' or the end is expected"},
        {"\x01", "a name, 'not' or '('"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (predicate_check(cases[i].text, &b->err))
            fail_msg("not refused: %s", cases[i].text);
        assert_int_equal(b->err.kind, ERR_BAD_INPUT);
        if (!strstr(b->err.message, cases[i].message))
            fail_msg("'%s': %s", cases[i].text, b->err.message);
    }
    (void)predicate_check("sumz", &b->err);
    assert_non_null(strstr(b->err.hint, "sums"));
    char *deep = arena_alloc(&b->arena, 600);
    memset(deep, '(', 500);
    assert_false(predicate_check(deep, &b->err));
    char *long_text = arena_alloc(&b->arena, PREDICATE_MAX_BYTES + 10);
    memset(long_text, ' ', PREDICATE_MAX_BYTES + 5);
    assert_false(predicate_check(long_text, &b->err));
    assert_int_equal(b->err.kind, ERR_LIMIT);
}

static struct graph_skill_evidence measured(const char *task, const char *family, double log_ratio)
{
    return (struct graph_skill_evidence){.id = task,
                                         .kind = "trial",
                                         .task_id = task,
                                         .task_name = task,
                                         .family = family,
                                         .target_id = "zen3",
                                         .regime = "small",
                                         .verdict = "timed",
                                         .text = "",
                                         .log_ratio = log_ratio,
                                         .log_low = log_ratio - 0.02,
                                         .log_high = log_ratio + 0.02};
}

static void skill_believe__narrower_scopes_outweigh_wider_ones(void **state)
{
    (void)state;
    const struct graph_skill_evidence all[] = {
        measured("a", "reduction", 0.5),
        measured("b", "reduction", 0.6),
        measured("c", "stencil", -0.3),
        measured("d", "stencil", -0.2),
        {.kind = "trial", .verdict = "wrong", .family = "stencil", .task_id = "e"},
        {.kind = "trial", .verdict = "too-noisy", .family = "stencil", .task_id = "e"},
    };
    const size_t count = sizeof all / sizeof *all;
    const struct skill_belief everywhere = skill_believe(all, count, NULL);
    const struct skill_belief sums =
        skill_believe(all, count, &(struct skill_scope){.family = "reduction"});
    const struct skill_belief stencils =
        skill_believe(all, count, &(struct skill_scope){.family = "stencil", .target_id = "zen3"});
    assert_int_equal(everywhere.timed, 4);
    assert_int_equal(everywhere.tasks, 4);
    assert_int_equal(everywhere.failed, 1);
    assert_true(sums.effect.mean > 0.25 && stencils.effect.mean < 0.0);
    assert_true(everywhere.effect.mean > stencils.effect.mean &&
                everywhere.effect.mean < sums.effect.mean);
    const struct skill_belief nothing = skill_believe(NULL, 0, NULL);
    assert_true(nothing.low < 0.0 && nothing.high > 0.0);
}

static void skill_next_state__only_a_claimed_gain_elsewhere_admits(void **state)
{
    struct bench *b = *state;
    const char *why = NULL;
    const struct graph_skill_evidence gains[] = {measured("a", "r", 0.5), measured("b", "r", 0.5),
                                                 measured("c", "r", 0.5), measured("d", "r", 0.5)};
    const struct graph_skill_evidence losses[] = {
        measured("a", "r", -0.5), measured("b", "r", -0.5), measured("c", "r", -0.5)};
    const struct skill_belief up = skill_believe(gains, 4, NULL);
    const struct skill_belief one = skill_believe(gains, 1, NULL);
    const struct skill_belief loss = skill_believe(losses, 1, NULL);
    struct skill_belief down = skill_believe(losses, 3, NULL);
    struct arena *arena = &b->arena;
    assert_int_equal(skill_next_state(SKILL_CANDIDATE, 0, true, &one, arena, &why),
                     SKILL_CANDIDATE);
    assert_null(why);
    assert_int_equal(skill_next_state(SKILL_CANDIDATE, 1, false, &one, arena, &why),
                     SKILL_CANDIDATE);
    assert_int_equal(skill_next_state(SKILL_CANDIDATE, 1, true, &one, arena, &why), SKILL_VERIFIED);
    assert_non_null(why);
    assert_int_equal(skill_next_state(SKILL_VERIFIED, -1, true, &loss, arena, &why),
                     SKILL_CONTRADICTED);
    /* One loss does not outweigh what much evidence says. */
    assert_int_equal(skill_next_state(SKILL_VERIFIED, -1, true, &up, arena, &why), SKILL_VERIFIED);
    assert_int_equal(skill_next_state(SKILL_CONTRADICTED, 1, true, &one, arena, &why),
                     SKILL_CONTRADICTED);
    assert_int_equal(skill_next_state(SKILL_CONTRADICTED, 1, true, &up, arena, &why),
                     SKILL_VERIFIED);
    down.high = -0.1;
    assert_int_equal(skill_next_state(SKILL_VERIFIED, -1, true, &down, arena, &why), SKILL_RETIRED);
    assert_int_equal(skill_next_state(SKILL_RETIRED, 0, true, &down, arena, &why), SKILL_RETIRED);
}

static void skill_name_problem__as_the_agent_skills_format(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "split-sum", "compiler-clang-19", "2d"};
    static const char *const bad[] = {
        "",
        "-a",
        "a-",
        "a--b",
        "Split",
        "a_b",
        "a b",
        "a/b",
        "..",
        "\xc3\xa9",
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaa"),
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_null(skill_name_problem(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!skill_name_problem(bad[i]))
            fail_msg("not refused: '%s'", bad[i]);
    }
}

static const struct graph_skill example = {
    .id = "0123",
    .name = "split-sum",
    .intent = "sum in several accumulators: \"fast\"\nand on two lines",
    .applies = "sums > 0 and reassociate",
    .needs = "vector_bytes >= 16",
    .change = "fast=no-errno,associative? unroll=loops",
    .breaks = "last digits",
    .origin = "lineage",
    .learned_on = "t",
    .before_body = "",
    .after_body = "",
    .build = "gcc-12 -O3",
    .state = "verified",
    .reason = "a trial",
};

static void skill_markdown__written_and_read__is_the_same_skill(void **state)
{
    struct bench *b = *state;
    CLEANUP(buf_free) struct buf text = {0};
    const struct graph_skill_evidence evidence = measured("sum", "reduction", 0.5);
    const struct skill_belief belief = skill_believe(&evidence, 1, NULL);
    struct graph_skill back;
    skill_write_markdown(&(struct skill_document){.skill = &example,
                                                  .belief = &belief,
                                                  .evidence = &evidence,
                                                  .evidence_count = 1,
                                                  .before = "a\n",
                                                  .after = "b\n"},
                         &text);
    if (!skill_read_markdown(buf_text(&text), text.length, "SKILL.md", "split-sum", &b->arena,
                             &back, &b->err))
        fail_msg("%s\n%s", b->err.message, buf_text(&text));
    assert_string_equal(back.name, example.name);
    assert_string_equal(back.intent, example.intent);
    assert_string_equal(back.applies, example.applies);
    assert_string_equal(back.needs, example.needs);
    assert_string_equal(back.change, example.change);
    assert_string_equal(back.breaks, example.breaks);
    assert_string_equal(back.build, example.build);
    assert_string_equal(back.state, "candidate"); /* not believed */
    assert_string_equal(back.origin, "imported");
}

static void skill_read_markdown__hostile_files__are_refused(void **state)
{
    struct bench *b = *state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "does not begin with '---'"},
        {"# x\n", "does not begin with '---'"},
        {"---\nname: s\ndescription: d\n", "does not end with '---'"},
        {"---\nname: t\ndescription: d\n---\n", "SKILL.md:2:7: the name is 't'"},
        {"---\nname: S\ndescription: d\n---\n", "no name of a skill"},
        {"---\nname: s\n---\n", "description"},
        {"---\nname: s\ndescription: ''\n---\n", "1 to 1024"},
        {"---\nname: s\ndescription: d\nmore: x\n---\n", "SKILL.md:4:1: unknown key 'more'"},
        {"---\nname: s\ndescription: d\nmetadata: [a]\n---\n", "mapping from text to text"},
        {"---\nname: s\ndescription: d\nmetadata: {a: [1]}\n---\n", "is no text"},
        {"---\nname: s\ndescription: d\nmetadata: {kope-applies: 'sumz'}\n---\n",
         "there is no fact 'sumz'"},
        {"---\nname: s\ndescription: d\nmetadata: {kope-change: 'rm=-rf'}\n---\n",
         "no change of a recipe"},
        {"---\nname: s\ndescription: d\nmetadata: {kope-change: 'nest=explode(i)'}\n---\n",
         "no change of a recipe"},
        {"---\nname: s\nname: s\ndescription: d\n---\n", "this key is there twice"},
        {"---\nname: &a s\ndescription: *a\n---\n", "SKILL.md"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph_skill out;
        if (skill_read_markdown(cases[i].text, strlen(cases[i].text), "SKILL.md", "s", &b->arena,
                                &out, &b->err))
            fail_msg("not refused: %s", cases[i].text);
        if (!strstr(b->err.message, cases[i].message))
            fail_msg("%s\ngives: %s", cases[i].text, b->err.message);
    }
}

static void skill_read_markdown__of_somebody_else__is_a_text_only(void **state)
{
    struct bench *b = *state;
    static const char text[] =
        "---\nname: pdf-forms\ndescription: fills in forms\nlicense: MIT\n"
        "compatibility: python\nallowed-tools: Bash Read\nmetadata:\n  author: x\n---\n\nbody\n";
    struct graph_skill out;
    assert_true(
        skill_read_markdown(text, strlen(text), "f", "pdf-forms", &b->arena, &out, &b->err));
    assert_string_equal(out.intent, "fills in forms");
    assert_string_equal(out.change, "");
}

/* What the format's own validator demands of a folder: the keys that may stand there, the name's
 * form, a description of 1 to 1024 characters on a line of its own. */
static void skill_write_markdown__front_matter__is_what_the_format_demands(void **state)
{
    struct bench *b = *state;
    CLEANUP(buf_free) struct buf text = {0};
    char *long_intent = arena_alloc(&b->arena, 1000);
    memset(long_intent, 'x', 999);
    struct graph_skill skill = example;
    skill.intent = long_intent;
    const struct skill_belief belief = skill_believe(NULL, 0, NULL);
    skill_write_markdown(
        &(struct skill_document){.skill = &skill, .belief = &belief, .before = "", .after = ""},
        &text);
    static const char *const keys[] = {"name: ", "description: ", "compatibility: ", "metadata:"};
    const char *at = buf_text(&text);
    const char *end = strstr(at + 4, "\n---\n");
    size_t seen = 0;
    assert_non_null(end);
    for (at += 4; at < end; at = strchr(at, '\n') + 1) {
        if (*at == ' ')
            continue; /* of metadata */
        assert_true(seen < sizeof keys / sizeof *keys);
        assert_true(str_starts_with(at, keys[seen++]));
        if (seen == 2)
            assert_true((size_t)(strchr(at, '\n') - at) <= strlen(keys[1]) + 2 + 1024);
    }
    assert_int_equal(seen, 4);
}

#define BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH(facts__of_a_softmax__are_counted),
        BENCH(facts__scan_stride_and_gather__are_seen),
        BENCH(facts__a_reference_that_is_not_understood__says_so),
        BENCH(skill_facts_predicate__holds_where_loops_are_of_the_kind),
        BENCH(predicate_holds__words_sets_numbers_and_brackets),
        BENCH(predicate_holds__false__names_the_part_and_the_value),
        BENCH(predicate_check__hostile_texts__are_refused_with_the_column),
        BENCH(skill_believe__narrower_scopes_outweigh_wider_ones),
        BENCH(skill_next_state__only_a_claimed_gain_elsewhere_admits),
        BENCH(skill_name_problem__as_the_agent_skills_format),
        BENCH(skill_markdown__written_and_read__is_the_same_skill),
        BENCH(skill_read_markdown__hostile_files__are_refused),
        BENCH(skill_read_markdown__of_somebody_else__is_a_text_only),
        BENCH(skill_write_markdown__front_matter__is_what_the_format_demands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
