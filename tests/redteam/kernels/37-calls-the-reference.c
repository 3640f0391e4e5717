// expect: rejected M12-object
// task: softmax
// Calls the function that it is compared with, in case it is linked to the same program.
#include <stdint.h>

void reference_softmax(const real *x, real *y, int64_t rows, int64_t cols);

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    reference_softmax(x, y, rows, cols);
}
