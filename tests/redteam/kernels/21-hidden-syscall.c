// expect: rejected seccomp
// task: softmax
// The same, with the instruction hidden in a constant and reached by a jump.
#include <stdint.h>
#include <tgmath.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static const char text[] = "timed 100x\n";
    long result = 1;
    /* mov eax, imm32 whose bytes are: syscall; ret */
    __asm__ volatile("jmp 1f\n"
                     "2: .byte 0xb8, 0x0f, 0x05, 0xc3, 0x90\n"
                     "1: lea 2b+1(%%rip), %%rcx\n"
                     "call *%%rcx\n"
                     : "+a"(result)
                     : "D"(2L), "S"(text), "d"(sizeof text - 1)
                     : "rcx", "r11", "memory");
    (void)x;
    (void)rows;
    (void)cols;
    (void)y;
}
