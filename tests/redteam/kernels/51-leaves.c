// expect: crashed exit
// expect: rejected seccomp
// expect: crashed
// expect: rejected M12-object
// task: softmax
// Ends its process with success.
#include <stdint.h>
#include <tgmath.h>

_Noreturn void exit(int status);
void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    (void)x;
    (void)rows;
    (void)cols;
    (void)y;
    exit(0);
}
