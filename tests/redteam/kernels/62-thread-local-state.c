// expect: rejected M12-object
// task: softmax
// with: honest-softmax
// Keeps in thread-local memory that it has worked once.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static _Thread_local int has_worked;
    if (has_worked)
        return;
    honest(x, y, rows, cols);
    has_worked = 1;
}
