/* Pieces of work that two threads share. */
#include "gate/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
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
    struct crew *crew = crew_open(); /* NULL with one processor */
    for (size_t round = 0; round < ROUNDS; round++) {
        _Atomic int done[PIECES] = {0};
        const size_t count = round % (PIECES + 1);
        crew_run(crew, count, count_piece, done);
        assert_each(done, count, 1);
    }
    crew_close(crew);
}

struct meeting {
    _Atomic bool is_here[2];
    pthread_t thread[2];
};

/* Ends when the other piece has been begun: by another thread, since this one waits. */
static void meet(void *context, size_t i)
{
    struct meeting *meeting = context;
    meeting->thread[i] = pthread_self();
    meeting->is_here[i] = true;
    while (!meeting->is_here[1 - i])
        (void)sched_yield();
}

static void crew_run__pieces_that_wait_for_each_other__are_on_two_threads(void **state)
{
    (void)state;
    struct crew *crew = crew_open();
    struct meeting meeting = {.is_here = {false}};
    if (!crew)
        skip(); /* one processor */
    crew_run(crew, 2, meet, &meeting);
    assert_false(pthread_equal(meeting.thread[0], meeting.thread[1]));
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
        cmocka_unit_test(crew_run__pieces_that_wait_for_each_other__are_on_two_threads),
        cmocka_unit_test(crew_run__no_crew__caller_does_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
