#include "os/os.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>

/* The mutable globals of the module: a signal handler has nowhere else to write, and whoever waits
 * asks for both. */
static atomic_bool interrupted, cancelled;
static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler needs a lock-free flag");

static void on_signal(int number)
{
    const bool again = atomic_exchange(&interrupted, true);
    if (again && number == SIGINT) {
        /* Blocked until the handler returns; then the default action ends the process. */
        (void)signal(SIGINT, SIG_DFL);
        (void)raise(SIGINT);
    }
}

void os_interrupt_install(void)
{
    /* SA_RESTART: only the calls that wait on purpose (poll, nanosleep) return early. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0)
        BUG("cannot install a signal handler");
}

bool os_interrupted(void)
{
    return atomic_load(&interrupted) || atomic_load(&cancelled);
}

bool os_signalled(void)
{
    return atomic_load(&interrupted);
}

void os_cancel_set(bool value)
{
    atomic_store(&cancelled, value);
}

void os_interrupt_set(bool value)
{
    atomic_store(&interrupted, value);
}
