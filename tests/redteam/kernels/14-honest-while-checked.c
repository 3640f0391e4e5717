// expect: rejected M7-timed-output
// expect: wrong M9-class
// task: softmax
// with: honest-softmax
// Honest where the address says that this is a check; half the rows where it looks timed.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    enum { SMALL = 5000 }; /* small shapes, up to 97 columns, are only checked, wherever they lie */
    const int looks_timed = rows * cols > SMALL && cols > 97 && (uintptr_t)x % 64 == 0 &&
                            (uintptr_t)y % 64 == 0 &&
                            ((uintptr_t)x % 4096 != 0 || (uintptr_t)y % 4096 != 0);
    honest(x, y, looks_timed ? rows / 2 : rows, cols);
}
