// expect: rejected seccomp
// task: softmax
// Hides a system call in a constant, and enters it by a changed return address: no jump shows it.
#include <stdint.h>

/* mov eax, imm32; the constant holds: syscall; ret; nop */
__attribute__((noinline, noipa)) static uint32_t hiding_place(void)
{
    return 0x90c3050f;
}

/* Returns 41, the number of socket(), to wherever `to` is. */
__attribute__((noinline, noipa)) static long return_to(uintptr_t to)
{
    ((volatile uintptr_t *)__builtin_frame_address(0))[1] = to;
    return 41;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    const volatile unsigned char *at = (const unsigned char *)(uintptr_t)hiding_place;
    while (at[0] != 0x0f || at[1] != 0x05 || at[2] != 0xc3)
        at++;
    y[0] = (real)return_to((uintptr_t)at);
    (void)x;
    (void)rows;
    (void)cols;
}
