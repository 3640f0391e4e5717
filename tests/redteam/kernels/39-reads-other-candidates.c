// expect: rejected seccomp
// task: softmax
// with: hidden
// Opens the folder in which other candidates are built.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static const char path[] = "/tmp";
    y[0] = x[0] + (real)raw(257, -100, (long)path, 0200000, 0) + (real)(rows + cols);
}
