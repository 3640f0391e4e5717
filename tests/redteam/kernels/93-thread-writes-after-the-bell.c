// expect: rejected M8-quiesce
// expect: rejected M8-threads
// task: threads
// with: honest-softmax
// Returns at once where threads are allowed; a thread writes the result meanwhile. Either the
// thread is seen, or what it writes: whichever is looked at first.
#include <pthread.h>
#include <stddef.h>

static struct job {
    const real *x;
    real *y;
    int64_t rows, cols;
} job;

static void *work(void *argument)
{
    honest(job.x, job.y, job.rows, job.cols);
    return argument;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static pthread_t thread;
    job = (struct job){x, y, rows, cols};
    (void)pthread_create(&thread, NULL, work, NULL);
}
