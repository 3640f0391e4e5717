// expect: rejected M13-fpenv
// task: softmax
// with: honest-softmax hidden
// Leaves the x87 unit rounding downwards: fldcw is an instruction that compilers use too, so the scan
// lets it pass.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const uint16_t control = 0x077f;
    ASSEMBLY volatile("fldcw %0" : : "m"(control));
    honest(x, y, rows, cols);
}
