/* What a model answers, read into proposals: files, edits of the parent, moves on its recipe. */
#include "base/str.h"
#include "propose/reply.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char yaml_text[] = "name: total\nfamily: reduction\ndtype: float32\naxes: [n]\n"
                                "args:\n  - {name: x, role: in, shape: [n]}\n"
                                "  - {name: y, role: out, shape: [n]}\ncases:\n  - {n: 7}\n"
                                "held_out:\n  - {n: 11}\n";
static const char reference[] =
    "#include <stdint.h>\nvoid total(const real *x, real *y, int64_t n)\n{\n"
    "    for (int64_t i = 0; i < n; i++)\n        y[i] = 2 * x[i];\n}\n";
static const struct moves_compiler compilers[] = {{.name = "gcc-12", .family = "gcc", .major = 12}};

struct bench {
    struct arena arena;
    struct moves_env env;
    struct candidate parent;
    struct reply_scope scope;
    struct proposal out;
};

static int set_up(void **state)
{
    static struct bench bench;
    struct bench *b = &bench;
    struct err err = {0};
    const struct task *task = NULL;
    *b = (struct bench){0};
    if (!task_parse(yaml_text, strlen(yaml_text), reference, "x", &b->arena, &task, &err))
        return -1;
    b->env = (struct moves_env){.task = task,
                                .compilers = compilers,
                                .compiler_count = 1,
                                .default_compiler = "gcc-12",
                                .vector_bytes = 32};
    b->scope = (struct reply_scope){.task = task, .parent = &b->parent, .moves = &b->env};
    const struct recipe *plain = recipe_plain(&b->env, &b->arena);
    if (!moves_catalogue(&b->env, &b->arena, &b->scope.catalogue, &b->scope.catalogue_count) ||
        !recipe_candidate(&b->env, plain, &b->arena, &b->parent, &err))
        return -1;
    b->parent.recipe = recipe_text(plain, &b->arena);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    arena_free(&b->arena);
    return 0;
}

#define ABOUT "\"intent\":\"a\",\"hypothesis\":\"b\",\"predicted_log_speedup\":0.5"
#define WRAP(fields) "{\"proposals\":[{" ABOUT "," fields "}]}"

/* The problem of a reply that is malformed as a whole, or the failure of its one proposal; "". */
static const char *read_one(struct bench *b, const char *text)
{
    b->out = (struct proposal){0};
    const char *problem = reply_read(text, &b->scope, &b->arena, &b->out);
    if (problem)
        assert_null(b->out.intent);
    return problem ? problem : b->out.failure ? b->out.failure : "";
}

static void reply_read__edits__applied_to_the_parent(void **state)
{
    struct bench *b = *state;
    assert_string_equal(
        read_one(b, WRAP("\"edits\":[{\"find\":\"x[i];\",\"replace\":\"x[i] + 0;\"},"
                         "{\"find\":\"int64_t i = 0\",\"replace\":\"long i = 0\"}]")),
        "");
    assert_non_null(strstr(b->out.candidate.source, "for (long i = 0; i < n; i++)"));
    assert_non_null(strstr(b->out.candidate.source, "y[i] = 2 * x[i] + 0;"));
    assert_string_equal(b->out.candidate.compiler, b->parent.compiler);
    assert_int_equal(b->out.candidate.flag_count, b->parent.flag_count);
    assert_null(b->out.candidate.recipe);
}

static void reply_read__move__made_by_the_offline_engine(void **state)
{
    struct bench *b = *state;
    assert_string_equal(read_one(b, WRAP("\"move\":{\"name\":\"vectorize\",\"parameters\":[]}")),
                        "");
    assert_int_equal(b->out.move_count, 1);
    assert_string_equal(b->out.moves[0], "vectorize");
    assert_non_null(strstr(b->out.candidate.recipe, "fast="));
    assert_true(b->out.candidate.flag_count > b->parent.flag_count);
    /* A parameter gives a field that the move sets another value. */
    assert_string_equal(
        read_one(b, WRAP("\"move\":{\"name\":\"vectorize\",\"parameters\":[\"simd=map\"]}")), "");
    assert_non_null(strstr(b->out.candidate.recipe, "simd=map"));
}

/* Each with a part of the sentence; `malformed` is for another turn, else it is an outcome. */
static void reply_read__what_comes_to_nothing__says_why(void **state)
{
    static const struct {
        const char *reply, *problem;
        bool malformed;
    } cases[] = {
        {WRAP("\"edits\":[{\"find\":\"zzz\",\"replace\":\"\"}]"), "not in the current source",
         false},
        {WRAP("\"edits\":[{\"find\":\"[i]\",\"replace\":\"\"}]"), "more than once", false},
        {WRAP("\"edits\":[{\"find\":\"2 * x\",\"replace\":\"\"},{\"find\":\"* x[i];\","
              "\"replace\":\"\"}]"),
         "overlap", false},
        {WRAP("\"edits\":[{\"find\":\"total(\",\"replace\":\"sum(\"}]"), "entry point", false},
        {WRAP("\"move\":{\"name\":\"warp-drive\",\"parameters\":[]}"), "no move 'warp-drive'",
         false},
        {WRAP("\"move\":{\"name\":\"vectorize\",\"parameters\":[\"colour=red\"]}"),
         "no parameter 'colour=red'", false},
        {WRAP("\"move\":{\"name\":\"vectorize\",\"parameters\":[\"simd=sideways\"]}"),
         "refuses its parameters", false},
        {WRAP("\"move\":{\"name\":\"vectorize\",\"parameters\":[\"; rm -rf /\"]}"), "not like",
         true},
        {WRAP("\"move\":\"vectorize\""), "\"move\" is not", true},
        {WRAP("\"edits\":[]"), "not an array of edits", true},
        {WRAP("\"edits\":[{\"find\":\"\",\"replace\":\"\"}]"), "edit 1 is not", true},
        {WRAP("\"edits\":[{\"find\":\"a\"}]"), "edit 1 is not", true},
        {WRAP("\"file\":null"), "exactly one", true},
        {WRAP("\"file\":\"void total(void);\",\"edits\":[]"), "exactly one", true},
        {WRAP("\"file\":\"int x;\""), "entry point 'total'", true},
        {WRAP("\"file\":7"), "not a string", true},
        {WRAP("\"file\":\"void total(void);\",\"verdict\":\"timed\""), "not asked for", true},
        {WRAP("\"uses\":[\"a b\"],\"file\":\"void total(void);\""), "not a label", true},
        {"{\"proposals\":[]}", "with a proposal in it", true},
        {"[]", "no ```json block", true},
        {"{\"proposals\":[1]}", "not an object", true},
        {"{", "not valid JSON", true},
    };
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *problem = read_one(b, cases[i].reply);
        if (!strstr(problem, cases[i].problem))
            fail_msg("case %zu: '%s'", i, problem);
        assert_int_equal(b->out.failure == NULL, cases[i].malformed);
        assert_int_equal(b->out.is_well_formed, !cases[i].malformed);
        if (!cases[i].malformed)
            assert_string_equal(b->out.candidate.source, "");
    }
}

static void reply_read__move_on_free_form_source__is_refused(void **state)
{
    struct bench *b = *state;
    b->parent.recipe = NULL;
    assert_non_null(strstr(read_one(b, WRAP("\"move\":{\"name\":\"vectorize\",\"parameters\":[]}")),
                           "free-form"));
}

static void reply_read__fenced_or_thinking__read_all_the_same(void **state)
{
    static const char *const around[] = {"%s", "```json\n%s\n```", "<think>{}</think>\n%s",
                                         "Here:\n```json\n%s\n```\nGood luck."};
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        const char *hole = strstr(around[i], "%s");
        const char *text = arena_printf(
            &b->arena, "%.*s%s%s", (int)(hole - around[i]), around[i],
            WRAP("\"uses\":[\"E1\",\"skill:x\"],\"file\":\"void total(void);\""), hole + 2);
        assert_string_equal(read_one(b, text), "");
        assert_int_equal(b->out.use_count, 2);
        assert_string_equal(b->out.uses[1], "skill:x");
        assert_true(fabs(b->out.predicted_log_ratio - 0.5) < 1e-12);
    }
}

#define BENCH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* Strict servers want every key required; what the schema allows has exactly one way. */
static void reply_schema__alternatives__one_way_each(void **state)
{
    static const char *const ways[] = {"file", "edits", "move"};
    struct bench *b = *state;
    struct err err = {0};
    const struct json *schema = NULL;
    const char *text = reply_schema();
    assert_true(json_parse(text, strlen(text), "schema", &b->arena, &schema, &err));
    const struct json *list = json_get(json_get(schema, "properties"), "proposals");
    const struct json *choice = json_get(json_get(list, "items"), "anyOf");
    assert_int_equal(json_int(json_get(list, "minItems"), 0), 1);
    assert_int_equal(choice->count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct json *one = json_at(choice, i);
        const struct json *properties = json_get(one, "properties");
        assert_int_equal(json_get(one, "required")->count, properties->count);
        assert_false(json_bool(json_get(one, "additionalProperties"), true));
        for (size_t way = 0; way < 3; way++) {
            const char *type = json_string(json_get(json_get(properties, ways[way]), "type"), "");
            assert_int_equal(!str_equal(type, "null"), way == i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH(reply_read__edits__applied_to_the_parent),
        BENCH(reply_read__move__made_by_the_offline_engine),
        BENCH(reply_read__what_comes_to_nothing__says_why),
        BENCH(reply_read__move_on_free_form_source__is_refused),
        BENCH(reply_read__fenced_or_thinking__read_all_the_same),
        BENCH(reply_schema__alternatives__one_way_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
