#include "llm/retry.h"

#include "os/os.h"

#include <math.h>

#define SLICE_NS INT64_C(20000000)

int64_t retry_wait_ns(int attempt, int64_t asked_ns, struct rng *rng)
{
    if (asked_ns >= 0)
        return asked_ns;
    const double wait_s = fmin(0.5 * ldexp(1.0, attempt < 8 ? attempt : 8), 8.0);
    return (int64_t)(wait_s * (1.0 - 0.25 * rng_uniform(rng)) * 1e9);
}

bool retry_sleep(int64_t wait_ns)
{
    const int64_t end_ns = os_now_ns() + wait_ns;
    for (int64_t left = wait_ns; left > 0; left = end_ns - os_now_ns()) {
        if (os_interrupted())
            return false;
        os_sleep_ns(left < SLICE_NS ? left : SLICE_NS);
    }
    return !os_interrupted();
}
