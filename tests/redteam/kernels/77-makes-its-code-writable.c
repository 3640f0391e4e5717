// expect: rejected seccomp
// task: softmax
// with: hidden
// Makes its own code writable, changes it and wants it executable again.

__attribute__((noinline)) static int answer(void)
{
    return 1;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const long page = (long)(uintptr_t)answer & ~4095L;
    (void)raw(10, page, 4096, 3 | 4, 0);
    *(volatile uint8_t *)(uintptr_t)answer = 0xc3;
    y[0] = x[0] + (real)answer() + (real)(rows + cols);
}
