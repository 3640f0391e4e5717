#include "os/os.h"

/* The smallest line of the processors below: a larger one is only asked for twice. */
enum { LINE_BYTES = 64 };

bool os_flush_caches(const void *at, size_t bytes)
{
#if defined(__x86_64__)
    const char *line = at;
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        __builtin_ia32_clflush(line + i);
    if (bytes > 0)
        __builtin_ia32_clflush(line + bytes - 1); /* where it does not begin with a line */
    __builtin_ia32_mfence();
    return true;
#elif defined(__aarch64__)
    const char *line = at;
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        __asm__ volatile("dc civac, %0" : : "r"(line + i) : "memory");
    if (bytes > 0)
        __asm__ volatile("dc civac, %0" : : "r"(line + bytes - 1) : "memory");
    __asm__ volatile("dsb sy" : : : "memory");
    return true;
#else
    (void)at;
    (void)bytes;
    (void)LINE_BYTES;
    return false;
#endif
}
