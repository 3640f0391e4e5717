// expect: rejected M12-source
// expect: rejected M12-object
// expect: rejected seccomp
// expect: rejected M13-fpenv
// task: softmax
// Writes to every descriptor that it may have inherited.
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
    static const char text[] = "{\"verdict\": \"timed\", \"ratio\": 100}\n";
    for (int fd = 0; fd < 64; fd++)
        (void)raw(1, fd, (long)text, sizeof text - 1);
    (void)x;
    (void)rows;
    (void)cols;
    (void)y;
}
