/* cause: missing-header mkl.h */
#include <mkl.h>
void f(const float *x, float *y, int64_t n)
{
    y[0] = x[n - 1];
}
