/* Recipes and the catalogue: one text for one recipe, moves that say why not, candidates with real
 * flags. */
#include "moves_fixture.h"

#include "base/rng.h"
#include "base/str.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char softmax[] = "#include <stdint.h>\n"
                              "#include <tgmath.h>\n"
                              "static real largest(const real *x, int64_t n);\n"
                              "static real largest(const real *x, int64_t n)\n"
                              "{\n"
                              "    real max = x[0];\n"
                              "    for (int64_t i = 1; i < n; i++)\n"
                              "        if (x[i] > max)\n"
                              "            max = x[i];\n"
                              "    return max;\n"
                              "}\n"
                              "void softmax(const real *x, real *y, int64_t n)\n"
                              "{\n"
                              "    const real max = largest(x, n);\n"
                              "    real sum = 0;\n"
                              "    for (int64_t i = 0; i < n; i++) {\n"
                              "        y[i] = exp(x[i] - max);\n"
                              "        sum += y[i];\n"
                              "    }\n"
                              "    for (int64_t i = 0; i < n; i++)\n"
                              "        y[i] /= sum;\n"
                              "}\n";

struct fixture {
    struct arena arena;
    struct task task;
    struct moves_env env;
    const struct move *moves;
    size_t count;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){.task = fixture_task("softmax", softmax)};
    f.env = fixture_env(&f.task);
    (void)moves_catalogue(&f.env, &f.arena, &f.moves, &f.count);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    arena_free(&f->arena);
    return 0;
}

static const struct move *find_move(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (str_equal(f->moves[i].name, name))
            return &f->moves[i];
    fail_msg("no move '%s'", name);
    return NULL;
}

static const struct recipe *parse(struct fixture *f, const char *text)
{
    const struct recipe *recipe = NULL;
    struct err err = {0};
    if (!recipe_parse(&f->env, text, &f->arena, &recipe, &err))
        fail_msg("%s", err.message);
    return recipe;
}

static const char *apply(struct fixture *f, const char *name, const char *from,
                         const char **refusal)
{
    const struct recipe *out = NULL;
    *refusal = NULL;
    if (!move_apply(&f->env, find_move(f, name), parse(f, from), &f->arena, &out, refusal))
        return NULL;
    return recipe_text(out, &f->arena);
}

static struct candidate build(struct fixture *f, const char *recipe)
{
    struct candidate candidate;
    struct err err = {0};
    if (!recipe_candidate(&f->env, parse(f, recipe), &f->arena, &candidate, &err))
        fail_msg("%s", err.message);
    return candidate;
}

static void moves_catalogue__every_row__is_complete_and_unique(void **state)
{
    struct fixture *f = *state;
    assert_true(f->count > 30);
    for (size_t i = 0; i < f->count; i++) {
        const struct move *m = &f->moves[i];
        assert_true(m->name[0] && m->group[0] && m->intent[0] && m->changes[0]);
        assert_non_null(m->breaks);
        assert_null(strchr(m->name, '{'));
        assert_null(strchr(m->changes, '{'));
        assert_true(isfinite(m->prior_log_ratio));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(m->name, f->moves[j].name);
    }
    /* What is grown on the nest of the reference stands in front of the best bundle. */
    size_t first = 0;
    while (str_equal(f->moves[first].group, "nest"))
        first++;
    assert_string_equal(f->moves[first].name, "vectorize");
}

static void move_apply__random_walks__text_comes_back_equal(void **state)
{
    struct fixture *f = *state;
    struct rng rng = rng_seeded(1);
    static const enum precision_class precisions[] = {PRECISION_EXACT, PRECISION_STRICT,
                                                      PRECISION_NORMAL, PRECISION_RELAXED};
    for (int walk = 0; walk < 100; walk++) {
        struct arena arena = {0};
        f->task.precision = precisions[walk % 4];
        f->task.allow_reassociate = f->task.precision > PRECISION_STRICT;
        f->task.finite_only = walk % 8 > 3;
        const struct recipe *at = recipe_plain(&f->env, &arena);
        for (int step = 0; step < 12; step++) {
            const struct move *move = &f->moves[rng_below(&rng, f->count)];
            const char *refusal = NULL;
            if (!move_apply(&f->env, move, at, &arena, &at, &refusal)) {
                assert_true(refusal && refusal[0]);
                continue;
            }
            const char *text = recipe_text(at, &arena);
            const struct recipe *back = NULL;
            struct err err = {0};
            assert_true(recipe_parse(&f->env, text, &arena, &back, &err));
            assert_string_equal(recipe_text(back, &arena), text);
            struct candidate a, b;
            assert_true(recipe_candidate(&f->env, at, &arena, &a, &err));
            assert_true(recipe_candidate(&f->env, back, &arena, &b, &err));
            assert_string_equal(candidate_id(&a).text, candidate_id(&b).text);
            assert_string_equal(a.recipe, text);
            /* The same move again has nothing to do; a size may change once more. */
            const struct recipe *again = NULL;
            if (!str_equal(move->group, "sizes"))
                assert_false(move_apply(&f->env, move, at, &arena, &again, &refusal));
        }
        arena_free(&arena);
    }
}

static void recipe_parse__order_and_spaces__one_text(void **state)
{
    struct fixture *f = *state;
    const char *text = recipe_text(
        parse(f, "  simd=reduce,map   fast=associative,no-errno march=native compiler=clang-19"),
        &f->arena);
    assert_string_equal(text, "compiler=clang-19 opt=3 march=native fast=no-errno,associative "
                              "simd=map,reduce");
}

static void recipe_parse__bad_words__are_named(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *word;
        enum err_kind kind;
    } cases[] = {
        {"compiler=gcc-12 polly=yes", "polly=yes", ERR_BAD_INPUT},
        {"compiler=gcc-12 turbo=1", "turbo=1", ERR_BAD_INPUT},
        {"compiler=gcc-12 restrict", "restrict", ERR_BAD_INPUT},
        {"compiler=gcc-12 strip=64 strip=16", "strip=16", ERR_BAD_INPUT},
        {"compiler=gcc-12 compiler=gcc-12", "compiler=gcc-12", ERR_BAD_INPUT},
        {"compiler=gcc-12 simd=map,map", "simd=map,map", ERR_BAD_INPUT},
        {"compiler=gcc-12 simd=", "simd=", ERR_BAD_INPUT},
        {"opt=3", "compiler", ERR_BAD_INPUT},
        {"", "compiler", ERR_BAD_INPUT},
        {"compiler=icc-2021", "icc-2021", ERR_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct recipe *recipe = NULL;
        struct err err = {0};
        assert_false(recipe_parse(&f->env, cases[i].text, &f->arena, &recipe, &err));
        assert_null(recipe);
        assert_int_equal(err.kind, cases[i].kind);
        assert_non_null(strstr(err.message, cases[i].word));
    }
}

static void recipe_parse__compiler_of_another_machine__nearest_of_the_family(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(recipe_text(parse(f, "compiler=clang-17"), &f->arena),
                        "compiler=clang-19 opt=3 march=native");
    assert_string_equal(recipe_text(parse(f, "compiler=clang-15"), &f->arena),
                        "compiler=clang-14 opt=3 march=native");
    assert_string_equal(recipe_text(parse(f, "compiler=gcc graphite=nest"), &f->arena),
                        "compiler=gcc-12 opt=3 march=native graphite=nest");
    /* What the nearest compiler does not have is dropped. */
    assert_string_equal(recipe_text(parse(f, "compiler=gcc-13 polly=strip"), &f->arena),
                        "compiler=gcc-12 opt=3 march=native");
}

static void move_apply__exact_task__only_exact_moves(void **state)
{
    struct fixture *f = *state;
    f->task.precision = PRECISION_EXACT;
    f->task.allow_reassociate = false;
    const char *refusal = NULL;
    static const char *const refused[] = {"reassociate", "vector-math", "simd-scan",
                                          "finite-only", "reciprocal",  "contract-off"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_null(apply(f, refused[i], "compiler=gcc-12", &refusal));
        assert_string_equal(refusal,
                            "task 'softmax' is exact: results must stay the same bit for bit");
    }
    assert_string_equal(apply(f, "vectorize", "compiler=gcc-12", &refusal),
                        "compiler=gcc-12 opt=3 march=native fast=no-errno,no-trapping restrict=1 "
                        "simd=map");
    struct err err = {0};
    struct candidate candidate;
    assert_false(recipe_candidate(&f->env, parse(f, "compiler=gcc-12 fast=associative"), &f->arena,
                                  &candidate, &err));
    assert_int_equal(err.kind, ERR_UNSUPPORTED);
}

static void move_apply__numerics_class__follows_the_task(void **state)
{
    struct fixture *f = *state;
    const char *refusal = NULL;
    assert_null(apply(f, "finite-only", "compiler=gcc-12", &refusal));
    assert_string_equal(refusal, "task 'softmax' does not promise finite inputs (finite_only)");
    f->task.finite_only = true;
    assert_non_null(apply(f, "finite-only", "compiler=gcc-12", &refusal));
    f->task.allow_reassociate = false;
    assert_null(apply(f, "reassociate", "compiler=gcc-12", &refusal));
    assert_string_equal(refusal, "task 'softmax' does not allow the order of sums to change");
    f->task.precision = PRECISION_STRICT;
    assert_null(apply(f, "vector-math", "compiler=gcc-12", &refusal));
    assert_string_equal(refusal, "task 'softmax' is strict: approximate functions are not allowed");
    f->task.dtype = DTYPE_I32;
    assert_null(apply(f, "reassociate", "compiler=gcc-12", &refusal));
    assert_string_equal(refusal, "the task has no floating-point numbers");
}

static void move_apply__not_on_this_compiler__says_so(void **state)
{
    struct fixture *f = *state;
    const char *refusal = NULL;
    assert_null(apply(f, "polly-strip", "compiler=gcc-12", &refusal));
    assert_string_equal(refusal, "gcc-12 does not have 'strip'");
    assert_null(apply(f, "graphite", "compiler=clang-19", &refusal));
    assert_string_equal(refusal, "clang-19 does not have 'nest'");
    assert_null(apply(f, "strip-64", "compiler=gcc-12", &refusal));
    assert_string_equal(refusal, "no loop sums into a scalar and stores it");
    f->env.vector_bytes = 32;
    assert_null(apply(f, "width-512", "compiler=gcc-12", &refusal));
    assert_string_equal(refusal, "this machine has no vectors of 512 bits");
}

static void move_apply__compiler_changes__its_own_options_go(void **state)
{
    struct fixture *f = *state;
    const char *refusal = NULL;
    assert_string_equal(
        apply(f, "compiler-clang-19", "compiler=gcc-12 graphite=nest width=512", &refusal),
        "compiler=clang-19 opt=3 march=native width=512");
    assert_string_equal(apply(f, "compiler-gcc-12", "compiler=clang-19 polly=strip", &refusal),
                        "compiler=gcc-12 opt=3 march=native");
    assert_null(apply(f, "compiler-gcc-12", "compiler=gcc-12", &refusal));
}

static void move_apply__loops_in_vectors__without_polly(void **state)
{
    struct fixture *f = *state;
    const char *refusal = NULL;
    const char *vectors = apply(f, "nest-vectors-4", "compiler=clang-19 polly=strip", &refusal);
    assert_non_null(vectors);
    assert_non_null(strstr(vectors, "vectorize(i"));
    assert_null(strstr(vectors, "polly"));
    assert_null(apply(f, "polly-strip", vectors, &refusal));
    assert_string_equal(refusal, "the loops are in vectors already: polly has nothing to do");
}

static void move_apply__one_group__replaces(void **state)
{
    struct fixture *f = *state;
    const char *refusal = NULL;
    assert_string_equal(apply(f, "width-256", "compiler=gcc-12 width=512", &refusal),
                        "compiler=gcc-12 opt=3 march=native width=256");
}

static const char *do_moves(struct fixture *f, const char *names, const char **refusal)
{
    const struct move move = {.name = "told", .changes = arena_printf(&f->arena, "do=%s", names)};
    const struct recipe *out = NULL;
    *refusal = NULL;
    return move_apply(&f->env, &move, recipe_plain(&f->env, &f->arena), &f->arena, &out, refusal)
               ? recipe_text(out, &f->arena)
               : NULL;
}

static void move_apply__moves_by_name__are_those_of_this_task(void **state)
{
    struct fixture *f = *state;
    const char *refusal = NULL;
    const char *first = apply(f, "vectorize", "compiler=gcc-12", &refusal);
    const char *both = apply(f, "compiler-clang-19", first, &refusal);
    assert_string_equal(do_moves(f, "vectorize", &refusal), first);
    assert_string_equal(do_moves(f, "vectorize,compiler-clang-19", &refusal), both);
    /* What another machine's compiler was told by is what this one has of the family. */
    assert_non_null(
        strstr(do_moves(f, "vectorize,compiler-clang-16", &refusal), "compiler=clang-"));
    assert_string_equal(do_moves(f, "vectorize-clang-7", &refusal),
                        apply(f, "vectorize-clang-19", "compiler=gcc-12", &refusal));
    assert_null(do_moves(f, "vectorize,nest-none-4", &refusal));
    assert_string_equal(refusal, "there is no move 'nest-none-4' for this task");
    assert_null(do_moves(f, "compiler-icc-4", &refusal));
    assert_null(do_moves(f, "compiler-gcc-12", &refusal)); /* it is so already */
}

static void recipe_candidate__flags__are_the_compilers_own(void **state)
{
    struct fixture *f = *state;
    struct candidate c = build(f, "compiler=gcc-12");
    assert_string_equal(c.source, softmax);
    assert_string_equal(candidate_flags_text(&c, &f->arena), "-O3 -march=native");
    c = build(f, "compiler=clang-19 fast=no-errno,associative veclib=libmvec polly=strip simd=map");
    assert_string_equal(c.compiler, "clang-19");
    assert_string_equal(candidate_flags_text(&c, &f->arena),
                        "-O3 -march=native -fno-math-errno -fassociative-math -fveclib=libmvec "
                        "-mllvm -polly -mllvm -polly-vectorizer=stripmine -fopenmp-simd");
    c = build(f, "compiler=gcc-12 veclib=libmvec unroll=4");
    assert_string_equal(candidate_flags_text(&c, &f->arena),
                        "-O3 -march=native -funroll-loops --param=max-unroll-times=4");
    assert_non_null(strstr(c.source, "#define __FAST_MATH__ 1\n"));
}

static void recipe_candidate__flatten__at_the_definition(void **state)
{
    struct fixture *f = *state;
    const struct candidate c = build(f, "compiler=gcc-12 flatten=1");
    assert_non_null(strstr(c.source, "}\n__attribute__((flatten)) void softmax(const real *x"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(moves_catalogue__every_row__is_complete_and_unique),
        CASE(move_apply__random_walks__text_comes_back_equal),
        CASE(recipe_parse__order_and_spaces__one_text),
        CASE(recipe_parse__bad_words__are_named),
        CASE(recipe_parse__compiler_of_another_machine__nearest_of_the_family),
        CASE(move_apply__exact_task__only_exact_moves),
        CASE(move_apply__numerics_class__follows_the_task),
        CASE(move_apply__not_on_this_compiler__says_so),
        CASE(move_apply__compiler_changes__its_own_options_go),
        CASE(move_apply__loops_in_vectors__without_polly),
        CASE(move_apply__one_group__replaces),
        CASE(move_apply__moves_by_name__are_those_of_this_task),
        CASE(recipe_candidate__flags__are_the_compilers_own),
        CASE(recipe_candidate__flatten__at_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
