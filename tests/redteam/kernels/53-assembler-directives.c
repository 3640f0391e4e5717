// expect: rejected M12-source
// expect: rejected M12-object
// expect: build-failed
// task: softmax
// Brings a file into its object with .incbin.
#include <stdint.h>
#include <tgmath.h>

__asm__(".section .rodata\nsecret: .incbin \"/etc/hostname\"\n.text\n");
void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    (void)x;
    (void)rows;
    (void)cols;
    (void)y;
}
