// expect: rejected M12-source
// task: softmax
// Asks the preprocessor which files the machine has.
#include <stdint.h>
#if __has_include("/etc/kope")
#define FOUND 1
#else
#define FOUND 0
#endif

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)(rows + cols + FOUND);
}
