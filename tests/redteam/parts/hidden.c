#include <stdint.h>

/* The word is made by the preprocessor, so the screen of the text does not see it; and the
 * instructions lie within the constant of another one, which a linear disassembly shows instead. */
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define ASSEMBLY PASTE(__as, m__)

static inline __attribute__((unused)) long raw(long number, long a, long b, long c, long d)
{
    long result;
    ASSEMBLY volatile("mov %5, %%r10\n\txor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\t"
                      "jmp 1f\n\t.byte 0x48, 0xb8\n1:\t.byte 0x0f, 0x05\n\t"
                      ".byte 0x90, 0x90, 0x90, 0x90, 0x90, 0x90"
                      : "=a"(result)
                      : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d)
                      : "rcx", "r8", "r9", "r10", "r11", "memory");
    return result;
}
