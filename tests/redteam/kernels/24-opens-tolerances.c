// expect: rejected M12-object
// task: softmax
// Opens the task file to raise the tolerance.
#include <stdint.h>

int open(const char *path, int flags, ...);

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = (real)open("task.yaml", 2) + x[0] + (real)(rows + cols);
}
