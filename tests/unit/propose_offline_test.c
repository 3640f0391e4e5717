/* The offline proposer: deterministic, never twice the same, led by beliefs, honest at the end. */
#include "base/arena.h"
#include "base/str.h"
#include "propose/propose.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_TRIED = 400 };

static const char yaml[] = "name: total\n"
                           "family: reduction\n"
                           "dtype: float32\n"
                           "axes: [n]\n"
                           "args:\n"
                           "  - {name: x, role: in, shape: [n]}\n"
                           "  - {name: y, role: out, shape: [\"1\"]}\n"
                           "cases:\n"
                           "  - {n: 1000}\n"
                           "held_out:\n"
                           "  - {n: 77}\n";
static const char reference[] = "void total(const real *x, real *y, int64_t n)\n"
                                "{\n"
                                "    real sum = 0;\n"
                                "    for (int64_t i = 0; i < n; i++)\n"
                                "        sum += x[i];\n"
                                "    y[0] = sum;\n"
                                "}\n";
static const char scan_yaml[] = "name: running\n"
                                "family: scan\n"
                                "dtype: float32\n"
                                "axes: [n]\n"
                                "args:\n"
                                "  - {name: x, role: in, shape: [n]}\n"
                                "  - {name: y, role: out, shape: [n]}\n"
                                "cases:\n"
                                "  - {n: 1000}\n"
                                "held_out:\n"
                                "  - {n: 77}\n";
static const char scan_reference[] = "void running(const real *x, real *y, int64_t n)\n"
                                     "{\n"
                                     "    real sum = 0;\n"
                                     "    for (int64_t i = 0; i < n; i++) {\n"
                                     "        sum += x[i];\n"
                                     "        y[i] = sum;\n"
                                     "    }\n"
                                     "}\n";
static const struct moves_compiler compilers[] = {{"gcc-12", "gcc", 12, false, true},
                                                  {"clang-19", "clang", 19, true, false}};

struct fixture {
    struct arena arena;
    struct moves_env env;
    struct proposer *proposer;
    const struct move *catalogue;
    size_t count;
    struct candidate plain;
    const char *tried[MAX_TRIED];
    size_t tried_count;
};

static void must(bool ok, const struct err *err)
{
    if (!ok)
        fail_msg("%s (%s)", err->message, err->hint);
}

static void set_up_with(const char *task, const char *source, void **state)
{
    static struct fixture f;
    struct err err = {0};
    f = (struct fixture){.env = {.compilers = compilers,
                                 .compiler_count = 2,
                                 .default_compiler = "gcc-12",
                                 .vector_bytes = 32}};
    must(task_parse(task, strlen(task), source, "dir", &f.arena, &f.env.task, &err), &err);
    const struct proposer_opts opts = {.task = f.env.task, .moves = &f.env};
    must(proposer_open(&opts, &f.proposer, &err), &err);
    assert_true(moves_catalogue(&f.env, &f.arena, &f.catalogue, &f.count));
    must(recipe_candidate(&f.env, recipe_plain(&f.env, &f.arena), &f.arena, &f.plain, &err), &err);
    *state = &f;
}

static int set_up(void **state)
{
    set_up_with(yaml, reference, state);
    return 0;
}

static int set_up_scan(void **state)
{
    set_up_with(scan_yaml, scan_reference, state);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    proposer_close(&f->proposer);
    arena_free(&f->arena);
    return 0;
}

/* False where it is exhausted. */
static bool propose(struct fixture *f, struct propose_request request, struct proposal *out)
{
    struct err err = {0};
    bool exhausted = false;
    if (!request.parent)
        request.parent = &f->plain;
    request.tried = f->tried;
    request.tried_count = f->tried_count;
    must(proposer_next(f->proposer, &request, &f->arena, &exhausted, out, &err), &err);
    return !exhausted;
}

static const struct move *find_move(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++) {
        if (str_equal(f->catalogue[i].name, name))
            return &f->catalogue[i];
    }
    fail_msg("no move '%s'", name);
    return NULL;
}

static void assert_same(const struct proposal *a, const struct proposal *b)
{
    assert_string_equal(a->candidate.recipe, b->candidate.recipe);
    assert_string_equal(a->candidate.source, b->candidate.source);
    assert_string_equal(a->hypothesis, b->hypothesis);
    assert_int_equal(a->move_count, b->move_count);
    assert_true(a->predicted_log_ratio == b->predicted_log_ratio);
}

static void proposer_next__same_seed__same_proposal(void **state)
{
    struct fixture *f = *state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (int large = 0; large < 2; large++) {
            struct proposal a;
            struct proposal b;
            const struct propose_request request = {.seed = seed, .large_step = large == 1};
            assert_true(propose(f, request, &a));
            assert_true(propose(f, request, &b));
            assert_same(&a, &b);
        }
    }
}

static void proposer_next__small_step__one_move_on_the_parent(void **state)
{
    struct fixture *f = *state;
    struct proposal first;
    struct proposal second;
    assert_true(propose(f, (struct propose_request){.seed = 1}, &first));
    assert_int_equal(first.move_count, 1);
    assert_non_null(first.candidate.recipe);
    assert_null(first.failure);
    const struct move *move = find_move(f, first.moves[0]);
    assert_string_equal(first.intent, move->intent);
    assert_true(fabs(first.predicted_log_ratio - move->prior_log_ratio) < 1e-12);
    assert_non_null(strstr(first.hypothesis, "nothing is known of it here"));
    /* A step from the step keeps what the first has done: its recipe can be made from it. */
    assert_true(
        propose(f, (struct propose_request){.seed = 2, .parent = &first.candidate}, &second));
    struct err err = {0};
    const struct recipe *from = NULL;
    const struct recipe *made = NULL;
    const char *refusal = NULL;
    must(recipe_parse(&f->env, first.candidate.recipe, &f->arena, &from, &err), &err);
    assert_true(
        move_apply(&f->env, find_move(f, second.moves[0]), from, &f->arena, &made, &refusal));
    assert_string_equal(recipe_text(made, &f->arena), second.candidate.recipe);
}

static void proposer_next__large_step__moves_of_different_groups(void **state)
{
    struct fixture *f = *state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct proposal p;
        assert_true(propose(f, (struct propose_request){.seed = seed, .large_step = true}, &p));
        assert_in_range(p.move_count, 2, 4);
        for (size_t i = 0; i < p.move_count; i++) {
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(find_move(f, p.moves[i])->group,
                                        find_move(f, p.moves[j])->group);
        }
    }
}

/* The recipe after a move that has to apply. */
static const struct recipe *after(struct fixture *f, const struct recipe *recipe, const char *move)
{
    const struct recipe *next = NULL;
    const char *refusal = NULL;
    if (!move_apply(&f->env, find_move(f, move), recipe, &f->arena, &next, &refusal))
        fail_msg("'%s' does not apply: %s", move, refusal);
    return next;
}

/* Is it one of the words after " simd=", which commas part? */
static bool has_pragma(struct fixture *f, const struct recipe *recipe, const char *pragma)
{
    const char *field = strstr(recipe_text(recipe, &f->arena), " simd=");
    if (!field)
        return false;
    field += strlen(" simd=");
    const char *all = arena_strndup(&f->arena, field, strcspn(field, " "));
    return strstr(arena_printf(&f->arena, ",%s,", all), arena_printf(&f->arena, ",%s,", pragma));
}

static void proposer_next__move_would_take_a_pragma_back__not_in_the_compound(void **state)
{
    static const char *const pragmas[] = {"map", "reduce", "extremum", "scan"};
    struct fixture *f = *state;
    const struct recipe *plain = recipe_plain(&f->env, &f->arena);
    const struct recipe *scan = after(f, plain, "simd-scan");
    int scans = 0;
    /* Only gcc has scans: the move to another compiler applies, and the pragma is gone. */
    assert_true(has_pragma(f, scan, "scan"));
    assert_false(has_pragma(f, after(f, scan, "compiler-clang-19"), "scan"));
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct proposal p;
        const struct recipe *recipe = plain;
        assert_true(propose(f, (struct propose_request){.seed = seed, .large_step = true}, &p));
        for (size_t i = 0; i < p.move_count; i++) {
            const struct recipe *next = after(f, recipe, p.moves[i]);
            for (size_t k = 0; k < sizeof pragmas / sizeof *pragmas; k++) {
                if (has_pragma(f, recipe, pragmas[k]) && !has_pragma(f, next, pragmas[k]))
                    fail_msg("seed %d: '%s' takes pragma '%s' back", (int)seed, p.moves[i],
                             pragmas[k]);
            }
            recipe = next;
        }
        scans += has_pragma(f, recipe, "scan");
    }
    assert_true(scans > 20);
}

static void proposer_next__large_step__restarts_now_and_then(void **state)
{
    struct fixture *f = *state;
    struct proposal parent;
    int restarts = 0;
    assert_true(propose(f, (struct propose_request){.seed = 1}, &parent));
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct proposal p;
        assert_true(propose(f,
                            (struct propose_request){.seed = seed,
                                                     .large_step = true,
                                                     .parent = &parent.candidate,
                                                     .parent_log_ratio = 100.0},
                            &p));
        if (strstr(p.intent, "from the plain reference again")) {
            restarts++;
            assert_true(p.predicted_log_ratio < -90.0); /* against the parent */
        } else {
            assert_true(p.predicted_log_ratio > -10.0);
        }
    }
    assert_in_range(restarts, 5, 30);
}

/* From the parent all of a move is lost, from the plain recipe it is the best there is. */
static void proposer_next__restart__by_what_is_believed_of_the_plain_recipe(void **state)
{
    struct fixture *f = *state;
    struct proposal parent;
    int restarts = 0;
    const struct move_belief here = {.move = "unroll", .mean = -9.0, .sd = 0.01};
    const struct move_belief plain = {.move = "unroll", .mean = 9.0, .sd = 0.01};
    assert_true(propose(f, (struct propose_request){.seed = 1}, &parent));
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct proposal p;
        bool has_it = false;
        assert_true(propose(f,
                            (struct propose_request){.seed = seed,
                                                     .large_step = true,
                                                     .parent = &parent.candidate,
                                                     .beliefs = &here,
                                                     .restart_beliefs = &plain,
                                                     .belief_count = 1},
                            &p));
        for (size_t i = 0; i < p.move_count; i++)
            has_it = has_it || str_equal(p.moves[i], "unroll");
        const bool is_restart = propose_is_restart(p.intent);
        restarts += is_restart;
        assert_true(has_it == is_restart);
    }
    assert_true(restarts > 0);
}

/* Asks until it is exhausted, or `most` times; every proposal has to be new. */
static size_t exhaust(struct fixture *f, bool large_step, size_t most)
{
    size_t count = 0;
    struct proposal p;
    while (propose(f, (struct propose_request){.seed = count, .large_step = large_step}, &p)) {
        for (size_t i = 0; i < f->tried_count; i++)
            assert_string_not_equal(f->tried[i], p.candidate.recipe);
        assert_string_not_equal(p.candidate.recipe, f->plain.recipe);
        assert_true(f->tried_count < MAX_TRIED);
        f->tried[f->tried_count++] = p.candidate.recipe;
        count++;
        if (count == most)
            return count;
    }
    return count;
}

static void proposer_next__everything_tried__exhausted(void **state)
{
    struct fixture *f = *state;
    /* All single moves that apply to the plain recipe and give different recipes, none else. */
    const char *distinct[MAX_TRIED];
    size_t expected = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct recipe *next = NULL;
        const char *refusal = NULL;
        if (!move_apply(&f->env, &f->catalogue[i], recipe_plain(&f->env, &f->arena), &f->arena,
                        &next, &refusal))
            continue;
        distinct[expected] = recipe_text(next, &f->arena);
        bool is_new = !str_equal(distinct[expected], f->plain.recipe);
        for (size_t k = 0; k < expected; k++)
            is_new = is_new && !str_equal(distinct[k], distinct[expected]);
        expected += is_new;
    }
    assert_int_equal(exhaust(f, false, MAX_TRIED), expected);
    /* A large step still has compounds. */
    struct proposal p;
    assert_true(propose(f, (struct propose_request){.seed = 9, .large_step = true}, &p));
    assert_true(p.move_count >= 2);
}

static void proposer_next__large_steps__never_repeat(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(exhaust(f, true, 120), 120);
}

/* The last move of the catalogue, thus of small prior, that applies to the plain recipe. */
static const char *humble_move(struct fixture *f)
{
    for (size_t i = f->count; i-- > 0;) {
        const struct recipe *next = NULL;
        const char *refusal = NULL;
        if (move_apply(&f->env, &f->catalogue[i], recipe_plain(&f->env, &f->arena), &f->arena,
                       &next, &refusal))
            return f->catalogue[i].name;
    }
    fail_msg("no move applies");
    return NULL;
}

/* How often each of 200 small steps takes the move. */
static int times_chosen(struct fixture *f, const char *name, const struct move_belief *beliefs,
                        size_t count)
{
    int times = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct proposal p;
        assert_true(propose(
            f, (struct propose_request){.seed = seed, .beliefs = beliefs, .belief_count = count},
            &p));
        times += str_equal(p.moves[0], name);
    }
    return times;
}

static void proposer_next__beliefs__steer_the_choice(void **state)
{
    struct fixture *f = *state;
    const char *name = humble_move(f);
    const struct move_belief good[] = {{name, 5.0, 0.1, 12.0, 0.0}};
    const struct move_belief failing[] = {{name, 3.0, 0.1, 12.0, 0.9}};
    const struct move_belief bad[] = {{name, -1.0, 0.05, 12.0, 0.0}};
    const int unknown = times_chosen(f, name, NULL, 0);
    const int with_good = times_chosen(f, name, good, 1);
    const int with_failing = times_chosen(f, name, failing, 1);
    assert_true(with_good > 190);
    assert_true(with_good > unknown);
    assert_true(with_failing < with_good / 2);
    assert_int_equal(times_chosen(f, name, bad, 1), 0);
}

static void proposer_next__belief_with_evidence__said_in_numbers(void **state)
{
    struct fixture *f = *state;
    const struct move_belief good[] = {{humble_move(f), log(200.0), 0.1, 12.0, 0.25}};
    struct proposal p;
    assert_true(
        propose(f, (struct propose_request){.seed = 3, .beliefs = good, .belief_count = 1}, &p));
    assert_string_equal(p.moves[0], good[0].move);
    assert_non_null(strstr(p.hypothesis,
                           "200.00x expected [164.40, 243.31] from 12 decisions, 25 % of "
                           "which failed"));
    assert_true(fabs(p.predicted_log_ratio - log(200.0)) < 1e-12);
}

static void proposer_next__beliefs_that_are_no_numbers__priors_stand(void **state)
{
    struct fixture *f = *state;
    const struct move_belief odd[] = {{humble_move(f), nan(""), -1.0, HUGE_VAL, nan("")},
                                      {"no such move", 9.0, 0.1, 1.0, 0.0}};
    struct proposal with;
    struct proposal without;
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_true(propose(
            f, (struct propose_request){.seed = seed, .beliefs = odd, .belief_count = 2}, &with));
        assert_true(propose(f, (struct propose_request){.seed = seed}, &without));
        assert_same(&with, &without);
    }
}

static void proposer_next__recipe_of_the_parent_is_none__error(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};
    bool exhausted = false;
    struct proposal p;
    const struct candidate parent = {.source = "", .recipe = "no=recipe at all"};
    const struct propose_request request = {.parent = &parent};
    assert_false(proposer_next(f->proposer, &request, &f->arena, &exhausted, &p, &err));
    assert_int_equal(err.kind, ERR_BAD_INPUT);
}

static void proposer_spec_parse__forms__kind_and_argument(void **state)
{
    static const struct {
        const char *text, *kind, *argument; /* kind NULL: refused with a message that holds it */
    } cases[] = {
        {NULL, "offline", NULL},
        {"offline", "offline", NULL},
        {"llm", "llm", NULL},
        {"llm:org/name:free", "llm", "org/name:free"},
        {"agent:./x --y", "agent", "./x --y"},
        {"replay:last", "replay", "last"},
        {"oracle", NULL, "there is no proposer 'oracle'"},
        {"", NULL, "there is no proposer ''"},
        {"offline:x", NULL, "takes nothing after a colon"},
        {"llm:", NULL, "lacks MODEL"},
        {"replay", NULL, "lacks RUN"},
        {"agent:", NULL, "lacks COMMAND"},
    };
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct proposer_spec spec = {0};
        const bool ok = proposer_spec_parse(cases[i].text, &arena, &spec, &err);
        assert_int_equal(ok, cases[i].kind != NULL);
        if (!ok) {
            assert_int_equal(err.kind, ERR_USAGE);
            assert_non_null(strstr(err.message, cases[i].argument));
            assert_non_null(strstr(err.hint, "offline, llm[:MODEL], agent:COMMAND, replay:RUN"));
            continue;
        }
        assert_string_equal(spec.kind, cases[i].kind);
        if (cases[i].argument)
            assert_string_equal(spec.argument, cases[i].argument);
        else
            assert_null(spec.argument);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(proposer_next__same_seed__same_proposal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(proposer_next__small_step__one_move_on_the_parent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(proposer_next__large_step__moves_of_different_groups,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            proposer_next__move_would_take_a_pragma_back__not_in_the_compound, set_up_scan,
            tear_down),
        cmocka_unit_test_setup_teardown(
            proposer_next__restart__by_what_is_believed_of_the_plain_recipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(proposer_next__large_step__restarts_now_and_then, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(proposer_next__everything_tried__exhausted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(proposer_next__large_steps__never_repeat, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(proposer_next__beliefs__steer_the_choice, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(proposer_next__belief_with_evidence__said_in_numbers,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(proposer_next__beliefs_that_are_no_numbers__priors_stand,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(proposer_next__recipe_of_the_parent_is_none__error, set_up,
                                        tear_down),
        cmocka_unit_test(proposer_spec_parse__forms__kind_and_argument),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
