// expect: rejected M12-source
// task: softmax
// Brings a file into its object with .incbin.
#include <stdint.h>

__asm__(".section .rodata\nsecret: .incbin \"/etc/hostname\"\n.text\n");

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)(rows + cols);
}
