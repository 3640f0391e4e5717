/* serve.c of a runner that does not hold the floating-point environment against anybody (M13). */
#include "runner/environment.h"

static inline bool never_differs(struct environment a, struct environment b)
{
    (void)a, (void)b;
    return false;
}
#define environment_differs never_differs

#include "runner/serve.c"
