// expect: rejected M12-object
// task: softmax
// Jumps into the middle of an instruction whose constant holds 'wrpkru', by a pointer.
#include <stdint.h>

__attribute__((noinline, noipa)) static uint32_t hiding_place(void)
{
    return 0xc3ef010f;
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    void (*volatile at)(void) = (void (*)(void))((uintptr_t)hiding_place + 1);
    at();
    y[0] = x[0] + (real)(rows + cols);
}
