// expect: rejected M12-source
// task: softmax
// Hides a directive behind a digraph and a line that goes on.
#include <stdint.h>
%:inc\
lude "/etc/passwd"

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)(rows + cols);
}
