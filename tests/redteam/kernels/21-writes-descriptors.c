// expect: rejected seccomp
// task: softmax
// with: hidden
// Writes a verdict of its own to every descriptor that it may have inherited.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static const char text[] = "{\"verdict\": \"timed\", \"ratio\": 100}\n";
    for (int fd = 0; fd < 64; fd++)
        (void)raw(1, fd, (long)text, sizeof text - 1, 0);
    y[0] = x[0] + (real)(rows + cols);
}
