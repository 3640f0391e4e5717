// expect: build-failed linker
// task: softmax
// Defines the function that the runner calls, so as to be called without the gate's stub (M12: the link
// is the gate's, and has that name already).
#include <stdint.h>

__attribute__((visibility("default"))) void kope_call(void *const *arguments, const int64_t *ints,
                                                      const double *reals);
void kope_call(void *const *arguments, const int64_t *ints, const double *reals)
{
    (void)arguments;
    (void)ints;
    (void)reals;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)(rows + cols);
}
