#include "runner/runner.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Filters are lists of blocks, one for each system call. A block leaves the accumulator (the
 * number of the call) alone where it does not apply, and ends in a verdict where it does.
 *
 * What is refused is trapped: fault.c notes the number and then makes the one call for which the
 * process is killed, so that the parent can name what was tried. The refused call itself never
 * happens.
 */
#if defined(__x86_64__)
enum { THIS_ARCH = (int)AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { THIS_ARCH = (int)AUDIT_ARCH_AARCH64 };
#elif defined(__riscv)
enum { THIS_ARCH = (int)AUDIT_ARCH_RISCV64 };
#endif

#define X32_BIT UINT32_C(0x40000000)
enum { MOST_INSTRUCTIONS = 160, KILLING_CALL = SYS_reboot };

struct filter {
    struct sock_filter code[MOST_INSTRUCTIONS];
    unsigned short length;
};

/* An argument's low half, masked, must have a value. The bits that are tested lie in it. */
struct condition {
    unsigned argument;
    uint32_t mask, value;
};

static void emit(struct filter *f, unsigned short code, uint8_t jt, uint8_t jf, uint32_t k)
{
    if (f->length < MOST_INSTRUCTIONS)
        f->code[f->length++] = (struct sock_filter){code, jt, jf, k};
}

static void emit_verdict(struct filter *f, uint32_t verdict)
{
    emit(f, BPF_RET | BPF_K, 0, 0, verdict);
}

static void emit_load_argument(struct filter *f, unsigned argument)
{
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0,
         (uint32_t)(offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t)));
}

/* Another architecture's numbers mean other calls. x32 has x86-64's architecture and a bit in the
 * number. */
static void begin(struct filter *f)
{
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)THIS_ARCH);
    emit_verdict(f, SECCOMP_RET_KILL_PROCESS);
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    emit(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
    emit_verdict(f, SECCOMP_RET_KILL_PROCESS);
#endif
}

static void answer(struct filter *f, long call, uint32_t verdict)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)call);
    emit_verdict(f, verdict);
}

static void allow(struct filter *f, long call)
{
    answer(f, call, SECCOMP_RET_ALLOW);
}

/* Allowed where all conditions hold. */
static void allow_if(struct filter *f, long call, const struct condition *conditions, size_t count)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)(count * 3 + 2), (uint32_t)call);
    for (size_t i = 0; i < count; i++) {
        emit_load_argument(f, conditions[i].argument);
        emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, conditions[i].mask);
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)((count - 1 - i) * 3 + 1),
             conditions[i].value);
    }
    emit_verdict(f, SECCOMP_RET_ALLOW);
    emit_verdict(f, SECCOMP_RET_TRAP);
}

/* Allowed where the masked argument is one of the values. */
static void allow_values(struct filter *f, long call, unsigned argument, uint32_t mask,
                         const uint32_t *values, size_t count)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)(count + 4), (uint32_t)call);
    emit_load_argument(f, argument);
    emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
    for (size_t i = 0; i < count; i++)
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(count - i), 0, values[i]);
    emit_verdict(f, SECCOMP_RET_TRAP);
    emit_verdict(f, SECCOMP_RET_ALLOW);
}

/* Waiting and waking, without a time limit: one that wakes by the clock is a clock. Blocks: the
 * command, the two halves of the limit's address, the verdicts. */
static void allow_futex(struct filter *f)
{
    static const uint32_t wakes[] = {FUTEX_WAKE, FUTEX_WAKE_BITSET};
    enum { HALVES = 4, TO_HALVES = 0, WAKES = sizeof wakes / sizeof *wakes };
    const uint32_t limit = (uint32_t)(offsetof(struct seccomp_data, args) + 3 * sizeof(uint64_t));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 2 + WAKES + 2 + HALVES + 2, (uint32_t)SYS_futex);
    emit_load_argument(f, 1);
    emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, (uint32_t)FUTEX_CMD_MASK);
    for (size_t i = 0; i < WAKES; i++)
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(WAKES - i - 1 + 2 + HALVES + 1), 0, wakes[i]);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, FUTEX_WAIT);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, TO_HALVES, HALVES, FUTEX_WAIT_BITSET);
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, limit);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, limit + (uint32_t)sizeof(uint32_t));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
    emit_verdict(f, SECCOMP_RET_TRAP);
    emit_verdict(f, SECCOMP_RET_ALLOW);
}

static bool install(struct filter *f)
{
    emit_verdict(f, SECCOMP_RET_TRAP);
    const struct sock_fprog program = {.len = f->length, .filter = f->code};
    if (f->length >= MOST_INSTRUCTIONS)
        return false;
    /* Without the second flag some kernels switch speculative loads off for a filtered process, and
     * the measurement would be of another machine. */
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                   SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0 ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* What the C library tries of its own accord, answered without being done. */
static void answer_library(struct filter *f)
{
    answer(f, SYS_mremap, SECCOMP_RET_ERRNO | ENOMEM);  /* realloc copies then */
    answer(f, SYS_writev, SECCOMP_RET_ERRNO | EBADF);   /* its last words */
    answer(f, SYS_sysinfo, SECCOMP_RET_ERRNO | ENOSYS); /* qsort of a large array asks for it */
}

static void allow_common(struct filter *f)
{
    answer_library(f);
    allow(f, SYS_exit);
    allow(f, SYS_exit_group);
    allow(f, SYS_rt_sigreturn);
    allow(f, SYS_sched_yield);
    allow(f, SYS_munmap);
    allow(f, SYS_brk);
}

bool filter_for_loading(void)
{
    struct filter f = {0};
    begin(&f);
    answer(&f, KILLING_CALL, SECCOMP_RET_KILL_PROCESS);
    allow_common(&f);
    allow(&f, SYS_futex);
    allow(&f, SYS_mmap);
    allow(&f, SYS_mprotect);
    allow(&f, SYS_madvise);
    /* The second filter. */
    allow_if(&f, SYS_seccomp, (struct condition[]){{0, ~UINT32_C(0), SECCOMP_SET_MODE_FILTER}}, 1);
    return install(&f);
}

bool filter_for_candidate(void)
{
    static const uint32_t advice[] = {MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE};
    struct filter f = {0};
    begin(&f);
    answer(&f, KILLING_CALL, SECCOMP_RET_KILL_PROCESS);
    allow_futex(&f);
    allow_common(&f);
    allow_if(&f, SYS_mmap,
             (struct condition[]){{2, PROT_EXEC, 0},
                                  {3, MAP_ANONYMOUS | MAP_HUGETLB | MAP_LOCKED, MAP_ANONYMOUS}},
             2);
    allow_if(&f, SYS_mprotect, (struct condition[]){{2, ~(uint32_t)(PROT_READ | PROT_WRITE), 0}},
             1);
    allow_values(&f, SYS_madvise, 2, ~UINT32_C(0), advice, sizeof advice / sizeof *advice);
    return install(&f);
}

void filter_die(void)
{
    for (;;)
        (void)syscall(KILLING_CALL, 0L, 0L, 0L, 0L);
}
