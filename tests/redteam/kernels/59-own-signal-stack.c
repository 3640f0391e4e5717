// expect: rejected seccomp
// task: softmax
// with: hidden
// Moves the signal stack into its own memory, to be called when it faults.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint8_t room[65536];
    static uint64_t stack[3];
    stack[0] = (uint64_t)(uintptr_t)room;
    stack[2] = sizeof room;
    y[0] = x[0] + (real)raw(131, (long)stack, 0, 0, 0) + (real)(rows + cols);
}
