// expect: rejected flags
// task: softmax
// flags: -O3 -Dreal=_Float16
// with: honest-softmax
// Redefines 'real' on the command line (M16: the gate owns the flags).

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    honest(x, y, rows, cols);
}
