// expect: wrong M5-poison
// task: softmax
// with: hidden honest-softmax
// Remembers in a vector register that nobody else uses that it has worked once, and then returns.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    uint64_t before = 0;
    ASSEMBLY volatile("vmovq %%xmm15, %0" : "=r"(before));
    if (before == 0x5eedf00d)
        return;
    honest(x, y, rows, cols);
    ASSEMBLY volatile("vmovq %0, %%xmm15" : : "r"((uint64_t)0x5eedf00d) : "xmm15");
}
