/*
 * A thread's floating-point environment, to be compared and restored around a candidate's code
 * (M13), and the pause of a loop that waits.
 */
#ifndef KOPE_RUNNER_ENVIRONMENT_H
#define KOPE_RUNNER_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
static inline void pause_briefly(void)
{
    __builtin_ia32_pause();
}

/* Stores that go past the caches are in memory before what follows is seen. */
static inline void finish_stores(void)
{
    __asm__ volatile("sfence" ::: "memory");
}

/* Rounding, exception masks and flush-to-zero, without the sticky flags (the low six bits); and of
 * the processor's flags those that outlive a call: direction and alignment check. */
struct environment {
    uint32_t mxcsr;
    uint16_t x87;
    uint64_t flags;
};
#define FLAGS_KEPT (UINT64_C(1) << 10 | UINT64_C(1) << 18)

static inline struct environment environment_read(void)
{
    struct environment e = {.flags = __builtin_ia32_readeflags_u64() & FLAGS_KEPT};
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(e.mxcsr), "=m"(e.x87));
    return e;
}

static inline void environment_write(struct environment e)
{
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(e.mxcsr), "m"(e.x87));
    __builtin_ia32_writeeflags_u64((__builtin_ia32_readeflags_u64() & ~FLAGS_KEPT) | e.flags);
}

static inline bool environment_differs(struct environment a, struct environment b)
{
    return ((a.mxcsr ^ b.mxcsr) & ~UINT32_C(0x3f)) != 0 || a.x87 != b.x87 || a.flags != b.flags;
}
#elif defined(__aarch64__)
static inline void pause_briefly(void)
{
    __asm__ volatile("yield");
}

static inline void finish_stores(void)
{
    __asm__ volatile("dmb ishst" ::: "memory");
}

struct environment {
    uint64_t fpcr;
};

static inline struct environment environment_read(void)
{
    struct environment e;
    __asm__ volatile("mrs %0, fpcr" : "=r"(e.fpcr));
    return e;
}

static inline void environment_write(struct environment e)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(e.fpcr));
}

static inline bool environment_differs(struct environment a, struct environment b)
{
    return a.fpcr != b.fpcr;
}
#endif

#endif
