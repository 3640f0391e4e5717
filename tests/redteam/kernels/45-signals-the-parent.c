// expect: rejected M12-source
// expect: rejected M12-object
// expect: rejected seccomp
// expect: rejected M13-fpenv
// task: softmax
// Kills its parent.
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

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    (void)raw(62, raw(110, 0, 0, 0), 9, 0);
    (void)x;
    (void)rows;
    (void)cols;
    (void)y;
}
