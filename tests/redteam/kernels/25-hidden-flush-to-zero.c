// expect: rejected M13-fpenv
// task: softmax
// with: honest-softmax hidden
// Sets flush-to-zero by an instruction that the scan cannot see, and leaves it so.

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const uint32_t control = 0x9fc0;
    /* ldmxcsr (%rax) is 0f ae 10 */
    ASSEMBLY volatile(INTO("0x0f, 0xae, 0x10, 0x90, 0x90, 0x90, 0x90, 0x90", "rbx")
                      :
                      : "a"(&control)
                      : "rbx", "memory", "cc");
    honest(x, y, rows, cols);
}
