// expect: rejected M12-source
// expect: rejected M12-object
// expect: rejected seccomp
// expect: rejected M13-fpenv
// task: softmax
// Runs before it is called, and leaves with success.
#include <stdint.h>
#include <tgmath.h>

static long raw(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

__attribute__((constructor)) static void first(void)
{
    (void)raw(231, 0, 0, 0);
}

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    (void)x;
    (void)rows;
    (void)cols;
    (void)y;
}
