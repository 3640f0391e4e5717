// expect: rejected M12-source
// task: softmax
// Includes a file whose name a macro makes.
#include <stdint.h>
#define FILE_NAME "/etc/passwd"
#include FILE_NAME

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)(rows + cols);
}
