// expect: rejected M8-threads
// expect: rejected M8-quiesce
// task: threads
// with: honest-softmax
// Starts six threads where the task allows two, and leaves them waiting.
#include <pthread.h>
#include <stddef.h>

static volatile int stop;

static void *wait_on(void *argument)
{
    while (!stop)
        continue;
    return argument;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static pthread_t threads[6];
    static int has_started;
    for (int i = 0; !has_started && i < 6; i++)
        (void)pthread_create(&threads[i], NULL, wait_on, NULL);
    has_started = 1;
    honest(x, y, rows, cols);
}
