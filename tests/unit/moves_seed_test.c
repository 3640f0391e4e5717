/* Sequences that are built on a nest: which there are, and that they can be made again. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "moves/nest/pattern.h"
#include "moves/nest/seed.h"
#include "moves/nest_move.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct nest_target target = {
    .vector_bytes = 32, .cache_bytes = {32768, 1 << 20, 1 << 24}, .family = "gcc"};

static size_t seeds_of(struct arena *arena, const char *example, const struct nest **nest,
                       struct nest_seed *out)
{
    const struct task *task = NULL;
    struct nest *read = NULL;
    const char *why = NULL;
    struct err err = {0};
    const char *dir = arena_printf(arena, KOPE_SOURCE_DIR "/examples/%s", example);
    assert_true(task_load(dir, arena, &task, &err));
    assert_true(nest_read(task, task->reference, arena, &read, &why));
    *nest = read;
    return nest_seeds(read, &target, arena, out);
}

/* One without steps where there is none of that name. */
static const struct nest_seed *find(const struct nest_seed *seeds, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(seeds[i].name, name))
            return &seeds[i];
    }
    static const struct nest_seed none = {.name = "", .steps = ""};
    return &none;
}

static void nest_seeds__attention__parts_its_passes(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_seed seeds[NEST_MAX_SEEDS];
    const struct nest *nest = NULL;
    (void)state;
    const size_t count = seeds_of(&arena, "attention", &nest, seeds);
    const struct nest_seed *seed = find(seeds, count, "rows-apart-64");
    assert_non_null(strstr(seed->steps, "privatize(score,i)"));
    assert_non_null(strstr(seed->steps, "pack(k:"));
    assert_non_null(strstr(seed->steps, "transpose("));
    assert_non_null(
        strstr(find(seeds, count, "rows-apart-32-packed-once")->steps, "pack(k:j_s,i_s)"));
    assert_non_null(strstr(seed->steps, "regtile(i2:8,j:16)"));
    assert_non_null(strstr(seed->steps, "regtile(i222:8,p2:16)"));
}

static void nest_seeds__matmul__turns_its_sum(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_seed seeds[NEST_MAX_SEEDS];
    const struct nest *nest = NULL;
    (void)state;
    const size_t count = seeds_of(&arena, "matmul", &nest, seeds);
    const struct nest_seed *seed = find(seeds, count, "turn-sums");
    assert_string_equal(seed->steps, "strip(j:128);expand(sum,j);distribute(j:1);distribute(j2:1);"
                                     "interchange(j2,p)");
    assert_string_equal(find(seeds, count, "turn-sums-4x4")->name, "turn-sums-4x4");
}

static void nest_seeds__convolution__has_channels_in_the_lanes(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_seed seeds[NEST_MAX_SEEDS];
    const struct nest *nest = NULL;
    (void)state;
    const size_t count = seeds_of(&arena, "conv2d", &nest, seeds);
    assert_string_equal(find(seeds, count, "across-6x2")->steps,
                        "strip(o:16);interchange(b,o_s);pack(weight:o_s);interchange(o,i);"
                        "interchange(o,j);peel(j:1);vectorize(o4:16);vectorize(o5:16);"
                        "regtile(j:6,o:16)");
    assert_string_equal(find(seeds, count, "border-tile-8x2")->name, "border-tile-8x2");
}

/* What a seed says is what makes it: the steps apply to the nest as it was read, and what comes out
 * is read back. */
static void nest_seeds__steps__apply_from_the_start(void **state)
{
    static const char *const examples[] = {"attention", "matmul", "life", "sum", "softmax"};
    (void)state;
    for (size_t e = 0; e < sizeof examples / sizeof *examples; e++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct nest_seed seeds[NEST_MAX_SEEDS];
        const struct nest *nest = NULL;
        const size_t count = seeds_of(&arena, examples[e], &nest, seeds);
        for (size_t i = 0; i < count; i++) {
            struct nest *out = NULL;
            const char *refusal = NULL;
            if (!nest_apply(nest, seeds[i].steps, &target, &arena, &out, &refusal))
                fail_msg("%s, %s: %s", examples[e], seeds[i].name, refusal);
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(seeds[i].steps, seeds[j].steps);
        }
    }
}

/* As many loops as are looked at, and one more: names stay unique, nothing is grown, and what
 * explains the nest says so. */
static void nest_seeds__more_loops_than_are_grown__there_are_none(void **state)
{
    static const struct task sums = {.name = "f",
                                     .entry = "f",
                                     .dtype = DTYPE_F32,
                                     .allow_reassociate = true,
                                     .args = {{.name = "x", .rank = 1, .shape_text = {"n"}},
                                              {.name = "y", .rank = 1, .shape_text = {"n"}}},
                                     .arg_count = 2};
    (void)state;
    for (int loops = NEST_MAX_GROWN_LOOPS; loops <= NEST_MAX_GROWN_LOOPS + 1; loops++) {
        CLEANUP(arena_free) struct arena arena = {0};
        CLEANUP(buf_free) struct buf source = {0};
        CLEANUP(buf_free) struct buf text = {0};
        struct nest_pattern patterns[NEST_MAX_PATTERNS];
        struct nest_seed seeds[NEST_MAX_SEEDS];
        struct nest *nest = NULL;
        struct nest *plain = NULL;
        const char *why = NULL;
        const bool is_grown = loops == NEST_MAX_GROWN_LOOPS;
        (void)buf_append_str(&source, "void f(const real *x, real *y, int64_t n)\n{\n");
        for (int i = 0; i < loops; i++)
            (void)buf_append_str(&source, "    { real t = 2; for (int64_t i = 0; i < n; i++) "
                                          "y[i] = t * x[i]; }\n");
        (void)buf_append_str(&source, "}\n");
        assert_true(nest_read(&sums, buf_text(&source), &arena, &nest, &why));
        assert_true(nest_apply(nest, "", &target, &arena, &plain, &why));
        nest_print(plain, &text);
        assert_non_null(strstr(buf_text(&text), arena_printf(&arena, " real t%d = 2;", loops)));
        assert_null(strstr(buf_text(&text), arena_printf(&arena, " real t%d = 2;", loops + 1)));
        assert_true((nest_patterns(nest, &target, &arena, patterns) > 0) == is_grown);
        if (!is_grown)
            assert_int_equal(nest_seeds(nest, &target, &arena, seeds), 0);
        buf_clear(&text);
        nest_explain(nest, &arena, &text);
        assert_true((strstr(buf_text(&text), "no whole sequences are grown") == NULL) == is_grown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nest_seeds__attention__parts_its_passes),
        cmocka_unit_test(nest_seeds__matmul__turns_its_sum),
        cmocka_unit_test(nest_seeds__convolution__has_channels_in_the_lanes),
        cmocka_unit_test(nest_seeds__steps__apply_from_the_start),
        cmocka_unit_test(nest_seeds__more_loops_than_are_grown__there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
