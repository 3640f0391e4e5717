// expect: rejected seccomp
// task: softmax
// with: hidden
// Makes a file without a name and writes to it until nothing is left.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static const char path[] = "/tmp", block[4096];
    const long fd = raw(257, -100, (long)path, 020200002, 0600);
    for (long i = 0; i < 1L << 40; i++)
        (void)raw(1, fd, (long)block, sizeof block, 0);
    y[0] = x[0] + (real)(rows + cols);
}
