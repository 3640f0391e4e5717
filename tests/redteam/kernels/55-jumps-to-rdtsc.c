// expect: rejected M12-object
// task: softmax
// with: hidden honest-softmax
// Reads the time-stamp counter by an instruction inside of a constant, to learn when it is timed. No
// compiler makes a jump that leads into an instruction (M12).

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
