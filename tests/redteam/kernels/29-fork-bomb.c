// expect: rejected M12-object
// task: softmax
// Forks without end.
#include <stdint.h>

int fork(void);

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    while (fork() >= 0)
        continue;
    y[0] = x[0] + (real)(rows + cols);
}
