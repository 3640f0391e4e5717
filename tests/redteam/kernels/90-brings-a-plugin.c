// expect: rejected flags
// task: softmax
// flags: -O3 -fplugin=helper.so
// with: honest-softmax
// Has the compiler load a library (M16: the gate owns the flags).

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
}
