/* Pieces of work that two threads share. */
#include "gate/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <string.h>

enum { PIECES = 300, ROUNDS = 2000 };

static void count_piece(void *context, size_t i)
{
    (void)atomic_fetch_add((_Atomic int *)context + i, 1);
}

static void assert_each(const _Atomic int *done, size_t count, int times)
{
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(done[i], i < count ? times : 0);
}

/* The other thread comes late, early and in between: no piece is lost or done twice, and none is
 * still at work when crew_run is back. */
static void crew_run__many_rounds__each_piece_once(void **state)
{
    (void)state;
    struct crew *crew = crew_open();
    assert_non_null(crew);
    for (size_t round = 0; round < ROUNDS; round++) {
        _Atomic int done[PIECES] = {0};
        const size_t count = round % (PIECES + 1);
        crew_run(crew, count, count_piece, done);
        assert_each(done, count, 1);
    }
    crew_close(crew);
}

static void crew_run__no_crew__caller_does_all(void **state)
{
    (void)state;
    _Atomic int done[PIECES] = {0};
    crew_run(NULL, PIECES, count_piece, done);
    assert_each(done, PIECES, 1);
    crew_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crew_run__many_rounds__each_piece_once),
        cmocka_unit_test(crew_run__no_crew__caller_does_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
