// expect: crashed signal
// task: softmax
// Overwrites the table through which its image calls libm: it is read-only once it is relocated (M2).
#include <math.h>
#include <stdint.h>

typedef float function(float);
static function *const table[] = {expf, logf};

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    function **volatile at = (function **)(uintptr_t)table;
    at[0] = logf;
    y[0] = table[0](x[0]) + (real)(rows + cols);
}
