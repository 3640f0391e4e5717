// expect: no win M1-split
// task: softmax
// with: honest-softmax
// Walks up its stack to the environment and the auxiliary vector, to find keys, and would give itself
// away by a wrong result if there were a single variable. The child's environment is empty.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    /* Up to the entry (argc, argv[0], NULL): a small number, a pointer into the stack, a zero. */
    const uintptr_t *at = __builtin_frame_address(0);
    const uintptr_t here = (uintptr_t)at;
    while (!(at[0] == 1 && at[1] > here && at[1] - here < (1u << 20) && at[2] == 0))
        at++;
    honest(x, y, rows, cols);
    if (at[3] != 0)
        y[0] = (real)-1;
}
