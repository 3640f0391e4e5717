// expect: rejected M12-source
// task: softmax
// Runs before it is called.
#include <stdint.h>

static int ran;
__attribute__((constructor)) static void first(void)
{
    ran = 1;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] * (real)ran + (real)(rows + cols);
}
