#include "os/os.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t), "a futex is a word of 32 bits");

void os_flag_wait(struct os_flag *flag)
{
    while (atomic_load_explicit(&flag->word, memory_order_acquire) == 0)
        (void)syscall(SYS_futex, &flag->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

void os_flag_raise(struct os_flag *flag)
{
    atomic_store_explicit(&flag->word, 1, memory_order_release);
    (void)syscall(SYS_futex, &flag->word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
