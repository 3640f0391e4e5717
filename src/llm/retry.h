/* When to ask again: the waits between the attempts of one exchange. */
#ifndef KOPE_LLM_RETRY_H
#define KOPE_LLM_RETRY_H

#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* Wait before attempt `attempt` + 1, counted from 0: what the peer asks (`asked_ns`, -1: nothing),
 * else min(0.5 s x 2^attempt, 8 s) less up to a quarter of it, so that many clients do not come
 * back at once. */
int64_t retry_wait_ns(int attempt, int64_t asked_ns, struct rng *rng);

/* Sleeps; false where os_interrupted() ended it. */
bool retry_sleep(int64_t wait_ns);

#endif
