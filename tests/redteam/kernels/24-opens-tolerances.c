// expect: rejected M12-object
// expect: rejected seccomp
// expect: build-failed
// task: softmax
// Opens the task to loosen it.
#include <stdint.h>
#include <tgmath.h>

int open(const char *path, int flags, ...);
void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const int fd = open("task.yaml", 2);
    y[0] = (real)fd;
    (void)x;
    (void)rows;
    (void)cols;
}
