// expect: rejected M12-object
// task: softmax
// Installs a handler that fills in results when they are read.
#include <stddef.h>
#include <stdint.h>

int sigaction(int number, const void *action, void *old);

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)sigaction(11, NULL, NULL) + (real)(rows + cols);
}
