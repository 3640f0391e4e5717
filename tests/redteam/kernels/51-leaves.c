// expect: crashed exit
// task: softmax
// with: hidden
// Ends its process with success: a child's exit status means nothing (M1).

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)(rows + cols);
    (void)raw(231, 0, 0, 0, 0);
}
