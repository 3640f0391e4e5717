// expect: rejected M8-quiesce
// expect: rejected M8-threads
// task: threads
// with: honest-softmax
// A second thread that counts as fast as it can is a clock. It must sleep between calls like all.
#include <pthread.h>
#include <stddef.h>

static volatile uint64_t ticks;

static void *count(void *argument)
{
    for (;;)
        ticks = ticks + 1;
    return argument;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static pthread_t thread;
    static uint64_t last;
    if (last == 0)
        (void)pthread_create(&thread, NULL, count, NULL);
    honest(x, y, ticks - last > 1000 ? rows : rows - 1, cols);
    last = ticks + 1;
}
