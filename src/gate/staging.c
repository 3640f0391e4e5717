/*
 * The data of a timed sample until the bell. A child that sleeps until then gets them while it
 * sleeps: what it does before, between being woken and saying that it is ready, no clock sees, and
 * it has nothing to do it on.
 */
#include "gate/internal.h"

#include "os/os.h"

#include <stdlib.h>
#include <string.h>

void staging_fit(struct staging *staging, const size_t *rooms, size_t count)
{
    for (size_t arg = 0; arg < count; arg++) {
        if (staging->bytes[arg] >= rooms[arg])
            continue;
        free(staging->room[arg]);
        staging->room[arg] = malloc(rooms[arg]);
        if (!staging->room[arg])
            BUG("gate: out of memory");
        staging->bytes[arg] = rooms[arg];
    }
}

void staging_free(struct staging *staging)
{
    for (size_t arg = 0; arg < TASK_MAX_ARGS; arg++)
        free(staging->room[arg]);
    *staging = (struct staging){.bytes = {0}};
}

void *staging_arg(const struct staging *staging, const struct session_call *call, size_t arg)
{
    return (char *)staging->room[arg] + call->offsets[arg];
}

/* The copies were read in between: what the calls will use is made the last that was. */
static void touch(const char *at, size_t bytes)
{
    enum { LINE_BYTES = 64 };
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        (void)*(const volatile char *)(at + i);
}

void staging_hand_over(const struct staging *staging, const struct ring *ring,
                       const struct rig *rig)
{
    for (size_t arg = 0; arg < rig->task->arg_count; arg++)
        for (size_t set = 0; set < ring->sets; set++)
            memcpy(rig_arg(rig, &ring->calls[set], arg),
                   staging_arg(staging, &ring->calls[set], arg), rig_arg_bytes(rig, arg));
    for (size_t arg = 0; arg < rig->task->arg_count; arg++)
        for (size_t set = 0; set < ring->sets; set++) {
            const void *at = rig_arg(rig, &ring->calls[set], arg);
            if (ring->is_cold)
                (void)os_flush_caches(at, rig_arg_bytes(rig, arg));
            else
                touch(at, rig_arg_bytes(rig, arg));
        }
}
