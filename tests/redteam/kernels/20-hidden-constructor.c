// expect: rejected M12-object
// task: softmax
// Runs before it is called; the word that the screen looks for is made by the preprocessor.
#include <stdint.h>
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

static int ran;
__attribute__((PASTE(construc, tor))) static void first(void)
{
    ran = 1;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] * (real)ran + (real)(rows + cols);
}
