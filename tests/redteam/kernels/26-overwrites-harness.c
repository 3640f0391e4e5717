// expect: rejected seccomp
// task: softmax
// with: hidden
// Overwrites a file of the harness in its working folder.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static const char path[] = "reference.c";
    y[0] = x[0] + (real)raw(257, -100, (long)path, 01101, 0644) + (real)(rows + cols);
}
