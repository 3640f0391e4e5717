// expect: rejected M12-object
// expect: build-failed
// task: softmax
// Installs a handler that fills in results when they are read.
#include <stdint.h>
#include <tgmath.h>

#include <stddef.h>
int sigaction(int number, const void *action, void *old);
void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    (void)sigaction(11, NULL, NULL);
    (void)x;
    (void)rows;
    (void)cols;
    (void)y;
}
