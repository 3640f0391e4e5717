// expect: wrong M5-poison
// task: softmax
// with: hidden honest-softmax
// Remembers in the tag word of the x87 unit that it has worked once.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    uint32_t kind = 0;
    ASSEMBLY volatile("fxam\n\tfnstsw %%ax" : "=a"(kind));
    if ((kind & 0x4500) != 0x4100)
        return;
    honest(x, y, rows, cols);
    ASSEMBLY volatile("fld1");
}
