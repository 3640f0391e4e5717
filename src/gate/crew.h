/*
 * A second thread for work that falls into pieces: filling large buffers, looking at large outputs.
 *
 * Pieces are taken one by one by the caller and by the other thread, if it is awake by then. Where
 * the machine is busy the caller does all of them and waits for nothing that has not begun. Which
 * thread did a piece must not matter.
 *
 * Threads: one caller at a time.
 */
#ifndef KOPE_GATE_CREW_H
#define KOPE_GATE_CREW_H

#include <stddef.h>

struct crew;

/* NULL where no thread can be had, or there is one processor only: the caller then works alone. */
struct crew *crew_open(void);
/* `crew` may be NULL. */
void crew_close(struct crew *crew);

/* work(context, i) for each i below `count`, in any order; back when all are done. `crew` may be
 * NULL. */
void crew_run(struct crew *crew, size_t count, void (*work)(void *context, size_t i),
              void *context);

#endif
