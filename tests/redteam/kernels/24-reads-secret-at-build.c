// expect: build-failed
// expect: rejected M12-source
// task: softmax
// Includes a file of the machine into its source.
#include <stdint.h>
#include <tgmath.h>

static const char secret[] = {
#include "/etc/shadow"
};
void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = (real)secret[0];
    (void)x;
    (void)rows;
    (void)cols;
}
