/* Samples of this process by its CPU clock. Where the kernel refuses they are skipped. */
#include "os/sampling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { AT_ONCE = 8, MOST_READS = 10000 };
#define PERIOD_NS INT64_C(100003)
#define WORK_NS INT64_C(100000000)

static int64_t cpu_ns(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct os_sampling *open_or_skip(void)
{
    struct os_sampling *sampling = NULL;
    struct err err;
    if (os_sampling_open(getpid(), PERIOD_NS, &sampling, &err))
        return sampling;
    print_message("skipped: %s\n", err.message);
    skip();
    return NULL;
}

static void work(struct os_sampling *sampling)
{
    const int64_t end_ns = cpu_ns() + WORK_NS;
    os_sampling_set(sampling, true);
    while (cpu_ns() < end_ns)
        ;
    os_sampling_set(sampling, false);
}

static void os_sampling_read__more_than_fit__the_rest_comes_next_and_none_is_lost(void **state)
{
    (void)state;
    struct os_sampling *sampling = open_or_skip();
    uint64_t addresses[AT_ONCE];
    size_t all = 0, reads = 0;
    work(sampling);
    for (size_t got = AT_ONCE; got == AT_ONCE; reads++) {
        uint64_t lost = 0;
        assert_true(reads < MOST_READS);
        got = os_sampling_read(sampling, addresses, AT_ONCE, &lost);
        assert_true(got <= AT_ONCE);
        assert_int_equal(lost, 0);
        all += got;
    }
    os_sampling_close(&sampling);
    assert_null(sampling);
    if (all <= AT_ONCE) {
        print_message("skipped: %zu samples of 0.1 s of CPU time\n", all);
        skip();
    }
    assert_true(reads > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(os_sampling_read__more_than_fit__the_rest_comes_next_and_none_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
