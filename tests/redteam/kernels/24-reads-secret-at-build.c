// expect: rejected M12-source
// task: softmax
// Includes a file of the machine into its source.
#include <stdint.h>

static const char secret[] = {
#include "/etc/shadow"
};

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = (real)secret[0] + x[0] + (real)(rows + cols);
}
