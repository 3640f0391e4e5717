// expect: rejected seccomp
// task: softmax
// with: hidden
// Opens its environment as a file, to look for keys.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static const char path[] = "/proc/self/environ";
    y[0] = x[0] + (real)raw(2, (long)path, 0, 0, 0) + (real)(rows + cols);
}
