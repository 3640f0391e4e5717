/* Changes of size: which numbers of a sequence they are about, and where they end. */
#include "base/arena.h"
#include "base/str.h"
#include "moves/nest/sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char product[] =
    "strip(j:32);interchange(i,j_s);pack(b:j_s);regtile(i:8,j:32);vectorize(q:64)";

static const struct nest_vectors wide = {.lanes = 16, .sums = 16, .registers = 32};

static void must_be(const char *steps, const char *change, const char *want)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *out = NULL;
    const char *refusal = NULL;
    if (!nest_resize(steps, change, &wide, &arena, &out, &refusal))
        fail_msg("%s was refused: %s", change, refusal);
    assert_string_equal(out, want);
}

static void must_refuse(const char *steps, const char *change, const char *want)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *out = NULL;
    const char *refusal = NULL;
    if (nest_resize(steps, change, &wide, &arena, &out, &refusal))
        fail_msg("%s gave %s", change, out);
    if (!strstr(refusal, want))
        fail_msg("'%s' is not in '%s'", want, refusal);
    assert_null(out);
}

/* The strip that was cut for the tile stays as wide as the tile. */
static void nest_resize__width_of_a_tile__takes_its_strip_along(void **state)
{
    (void)state;
    must_be(product, "wider-tile",
            "strip(j:48);interchange(i,j_s);pack(b:j_s);regtile(i:8,j:48);vectorize(q:64)");
    must_be(product, "narrower-tile",
            "strip(j:16);interchange(i,j_s);pack(b:j_s);regtile(i:8,j:16);vectorize(q:64)");
}

static void nest_resize__height_of_a_tile__goes_by_a_ladder(void **state)
{
    (void)state;
    must_be(product, "taller-tile",
            "strip(j:32);interchange(i,j_s);pack(b:j_s);regtile(i:10,j:32);vectorize(q:64)");
    must_be("regtile(j:32,i:7)", "taller-tile", "regtile(j:32,i:8)");
    must_be("regtile(j:32,i:7)", "shorter-tile", "regtile(j:32,i:6)");
    must_be("regtile(i:16,j:16)", "taller-tile", "regtile(i:20,j:16)");
}

/* Each of two sums has its own size; strips that are no tile's are another one. */
static void nest_resize__two_tiles_and_a_strip__each_on_its_own(void **state)
{
    static const char rows[] = "strip(i:64);strip(j:32);regtile(i2:8,j:32);regtile(i3:8,p2:32)";
    (void)state;
    must_be(rows, "longer-strips",
            "strip(i:128);strip(j:32);regtile(i2:8,j:32);regtile(i3:8,p2:32)");
    must_be(rows, "wider-second-tile",
            "strip(i:64);strip(j:32);regtile(i2:8,j:32);regtile(i3:8,p2:48)");
    must_be(rows, "shorter-second-tile",
            "strip(i:64);strip(j:32);regtile(i2:8,j:32);regtile(i3:7,p2:32)");
}

static void nest_resize__vectors_blocks_rounds__double_and_halve(void **state)
{
    (void)state;
    must_be("vectorize(j:64);vectorize(j2:32)", "fewer-vectors",
            "vectorize(j:32);vectorize(j2:16)");
    must_be("tile(i:32,j:64)", "larger-blocks", "tile(i:64,j:128)");
    must_be("skew(t:8,i:32,j:64,2)", "smaller-blocks", "skew(t:8,i:16,j:32,2)");
    must_be("skew(t:8,i:32,2)", "more-steps", "skew(t:16,i:32,2)");
    must_be("skew(t:8,i:32);vectorize(j:64)", "fewer-steps", "skew(t:4,i:32);vectorize(j:64)");
    must_be("jam(i:4);unroll(p:8)", "fewer-rounds", "jam(i:2);unroll(p:4)");
    must_be("vectorize(j:16);prefetch(j,i:1)", "farther-prefetch",
            "vectorize(j:16);prefetch(j,i:2)");
    must_be("prefetch(j,i:2)", "nearer-prefetch", "prefetch(j,i:1)");
    must_be("distribute(i:1);jam(i:4)", "more-rounds", "distribute(i:1);jam(i:8)");
}

static void nest_resize__no_such_size__is_refused_in_words(void **state)
{
    (void)state;
    must_refuse(product, "wider-second-tile", "no step has such a size");
    must_refuse("interchange(i,j)", "taller-tile", "no step has such a size");
    must_refuse("pack(b:j_s)", "longer-strips", "no step has such a size");
    must_refuse("vectorize(j:16)", "fewer-vectors", "vectorize(j:16) has no next one");
    must_refuse("regtile(i:1,j:16)", "shorter-tile", "has no next one");
    must_refuse("regtile(i:28,j:16)", "taller-tile", "has no next one");
    must_refuse("regtile(i:2,j:16)", "narrower-tile", "has no next one");
    must_refuse("strip(i:65536)", "longer-strips", "has no next one");
    must_refuse("strip(i", "longer-strips", "strip(i");
    must_refuse(product, "prettier-tile", "no change of sizes 'prettier-tile'");
}

static void nest_resize__results_beyond_the_registers__is_refused(void **state)
{
    (void)state;
    must_refuse("regtile(i:6,j:64)", "wider-tile", "do not fit 32 registers");
    must_be("regtile(i:6,j:64)", "taller-tile", "regtile(i:7,j:64)");
    must_refuse("regtile(i:7,j:64)", "taller-tile", "do not fit 32 registers");
    must_be("regtile(i:5,j:64)", "wider-tile", "regtile(i:5,j:80)");
    must_be("regtile(i:14,j:48)", "shorter-tile", "regtile(i:12,j:48)");
}

/* Sums of dot are of 32 bits, whatever the task's type is; its third number is no size. */
static void nest_resize__products_of_narrow_integers__rows_and_vectors_of_sums(void **state)
{
    static const struct nest_vectors bytes = {.lanes = 64, .sums = 16, .registers = 32};
    static const struct {
        const char *change, *want;
    } cases[] = {{"wider-tile", "dot(i:5,j:80,p:4)"},
                 {"narrower-tile", "dot(i:5,j:48,p:4)"},
                 {"taller-tile", "dot(i:6,j:64,p:4)"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *out = NULL;
        const char *refusal = NULL;
        assert_true(
            nest_resize("dot(i:5,j:64,p:4)", cases[i].change, &bytes, &arena, &out, &refusal));
        assert_string_equal(out, cases[i].want);
    }
    must_refuse("dot(i:7,j:64,p:4)", "taller-tile", "do not fit 32 registers");
}

/* What one change did another one takes back. */
static void nest_resize__there_and_back__is_as_before(void **state)
{
    static const char *const pairs[][2] = {{"taller-tile", "shorter-tile"},
                                           {"wider-tile", "narrower-tile"},
                                           {"more-vectors", "fewer-vectors"}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *there = NULL;
        const char *back = NULL;
        const char *refusal = NULL;
        assert_true(nest_resize(product, pairs[i][0], &wide, &arena, &there, &refusal));
        assert_string_not_equal(there, product);
        assert_true(nest_resize(there, pairs[i][1], &wide, &arena, &back, &refusal));
        assert_string_equal(back, product);
    }
}

static void nest_size_change__every_row__has_a_name_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; nest_size_change(i); i++) {
        assert_true(nest_size_change(i)->name[0] && nest_size_change(i)->intent[0]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(nest_size_change(i)->name, nest_size_change(j)->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nest_resize__width_of_a_tile__takes_its_strip_along),
        cmocka_unit_test(nest_resize__height_of_a_tile__goes_by_a_ladder),
        cmocka_unit_test(nest_resize__two_tiles_and_a_strip__each_on_its_own),
        cmocka_unit_test(nest_resize__vectors_blocks_rounds__double_and_halve),
        cmocka_unit_test(nest_resize__no_such_size__is_refused_in_words),
        cmocka_unit_test(nest_resize__results_beyond_the_registers__is_refused),
        cmocka_unit_test(nest_resize__products_of_narrow_integers__rows_and_vectors_of_sums),
        cmocka_unit_test(nest_resize__there_and_back__is_as_before),
        cmocka_unit_test(nest_size_change__every_row__has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
