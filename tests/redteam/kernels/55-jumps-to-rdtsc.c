// expect: rejected M12-clock
// expect: rejected M12-object
// task: softmax
// with: hidden honest-softmax
// Reads the time-stamp counter by an instruction inside of a constant, to learn when it is timed. The
// bytes are refused where something can lead there (M12); else the counter is off (PR_TSC_SIGSEGV).

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    uint32_t low, high;
    ASSEMBLY volatile("jmp 1f\n\t.byte 0x48, 0xbb\n1:\t.byte 0x0f, 0x31\n\t"
                      ".byte 0x90, 0x90, 0x90, 0x90, 0x90, 0x90"
                      : "=a"(low), "=d"(high)
                      :
                      : "rbx");
    honest(x, y, low + high == 0 ? rows / 2 : rows, cols);
}
