// expect: rejected M12-clock
// layer: hidden clock
// task: softmax
// with: hidden honest-softmax
// Reads the time-stamp counter by an instruction inside of a constant, to learn when it is timed. The
// bytes of two are refused only where a jump can lead there; the counter is off (PR_TSC_SIGSEGV).

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    uint32_t low, high;
    ASSEMBLY volatile(INTO("0x0f, 0x31, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90", "rbx")
                      : "=a"(low), "=d"(high)
                      :
                      : "rbx", "cc");
    honest(x, y, low + high == 0 ? rows / 2 : rows, cols);
}
