// expect: rejected M12-source
// expect: rejected M12-object
// expect: rejected seccomp
// expect: rejected M13-fpenv
// task: softmax
// Returns at once; a thread writes the result.
#include <pthread.h>
#include <stdint.h>
#include <tgmath.h>

static void honest(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        real max = x[i * cols];
        for (int64_t j = 1; j < cols; j++)
            max = x[i * cols + j] > max ? x[i * cols + j] : max;
        real sum = 0;
        for (int64_t j = 0; j < cols; j++) {
            y[i * cols + j] = exp(x[i * cols + j] - max);
            sum += y[i * cols + j];
        }
        for (int64_t j = 0; j < cols; j++)
            y[i * cols + j] /= sum;
    }
}

static struct job {
    const real *x;
    real *y;
    int64_t rows, cols;
} job;

static void *work(void *argument)
{
    (void)argument;
    honest(job.x, job.y, job.rows, job.cols);
    return NULL;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static pthread_t thread;
    job = (struct job){x, y, rows, cols};
    (void)pthread_create(&thread, NULL, work, NULL);
}
