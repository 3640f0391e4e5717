/* Where data of a size are found, by what is known of a machine's caches. */
#include "target/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define KIB 1024.0
#define MIB (1024 * KIB)

/* Sizes in KiB; rates of 400, 200, 100 and 20 GB/s, of memory always. */
static struct target_features machine(int64_t l1, int64_t l2, int64_t l3)
{
    return (struct target_features){
        .cache_bytes = {l1 * 1024, l2 * 1024, l3 * 1024},
        .bandwidth_gbs = {l1 ? 400 : 0, l2 ? 200 : 0, l3 ? 100 : 0, 20},
    };
}

static void must_be(struct target_features features, double bytes, const char *name, double gbs)
{
    const struct data_place place = target_place_of(&features, bytes);
    print_message("%.0f bytes: %s, %g GB/s\n", bytes, place.name, place.read_gbs);
    assert_string_equal(place.name, name);
    assert_true(place.read_gbs == gbs);
    assert_true(place.is_shared == (strcmp(name, "L1") != 0 && strcmp(name, "L2") != 0));
}

static void target_place_of__known_caches__the_nearest_that_holds_it(void **state)
{
    (void)state;
    const struct target_features known = machine(48, 1024, 32 * 1024);
    must_be(known, 48 * KIB, "L1", 400);
    must_be(known, 48 * KIB + 1, "L2", 200);
    must_be(known, 32 * MIB, "L3", 100);
    must_be(known, 33 * MIB, "memory", 20);
}

/* A virtual machine may hide them: then what reads quickly may well be in one. */
static void target_place_of__unknown_caches__nothing_is_said_to_come_from_memory(void **state)
{
    (void)state;
    const struct target_features none = machine(0, 0, 0);
    must_be(none, 4 * KIB, "an unknown cache", 0);
    must_be(none, 512 * MIB, "an unknown cache", 0);
    must_be(none, 2048 * MIB, "memory", 20);
}

static void target_place_of__no_last_cache_known__the_rate_of_the_last_that_is(void **state)
{
    (void)state;
    const struct target_features two = machine(48, 1024, 0);
    must_be(two, 1 * MIB, "L2", 200);
    must_be(two, 16 * MIB, "an unknown cache", 200);
    must_be(two, 2048 * MIB, "memory", 20);
}

/* A rate that could not be measured is not replaced by that of a slower place. */
static void target_place_of__rate_not_measured__none(void **state)
{
    (void)state;
    struct target_features features = machine(48, 1024, 32 * 1024);
    features.bandwidth_gbs[0] = 0;
    must_be(features, 4 * KIB, "L1", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(target_place_of__known_caches__the_nearest_that_holds_it),
        cmocka_unit_test(target_place_of__unknown_caches__nothing_is_said_to_come_from_memory),
        cmocka_unit_test(target_place_of__no_last_cache_known__the_rate_of_the_last_that_is),
        cmocka_unit_test(target_place_of__rate_not_measured__none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
