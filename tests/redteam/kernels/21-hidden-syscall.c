// expect: rejected M12-object
// task: softmax
// Hides a system call in a constant of its code, looks for it there and jumps into it.
#include <stdint.h>

/* mov eax, imm32; the constant holds: syscall; ret; nop */
__attribute__((noinline, noipa)) static uint32_t hiding_place(void)
{
    return 0x90c3050f;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static const char text[] = "timed 100x\n";
    const volatile unsigned char *at = (const unsigned char *)(uintptr_t)hiding_place;
    while (at[0] != 0x0f || at[1] != 0x05 || at[2] != 0xc3)
        at++;
    long (*volatile hidden)(long, const char *, long) =
        (long (*)(long, const char *, long))(uintptr_t)at;
    y[0] = (real)hidden(2, text, sizeof text - 1);
    (void)x;
    (void)rows;
    (void)cols;
}
