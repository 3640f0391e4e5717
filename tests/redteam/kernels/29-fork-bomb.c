// expect: rejected M12-object
// expect: rejected seccomp
// expect: build-failed
// task: softmax
// Forks for ever.
#include <stdint.h>
#include <tgmath.h>

int fork(void);
void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    for (;;)
        (void)fork();
    (void)x;
    (void)rows;
    (void)cols;
    (void)y;
}
