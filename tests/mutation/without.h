/*
 * The gate with one mechanism taken out, in this test program only: the linker puts the functions
 * of without.c in the place of the gate's own (--wrap); they do the gate's work unless the
 * mechanism that is out is theirs. One thread.
 */
#ifndef KOPE_MUTATION_WITHOUT_H
#define KOPE_MUTATION_WITHOUT_H

#include <stdbool.h>

enum mechanism {
    M_NONE,
    M1,
    M2,
    M3,
    M4,
    M5,
    M6,
    M7,
    M8,
    M9,
    M10,
    M11,
    M12,
    M13,
    M14,
    M15,
    M16,
    M17
};

/* Which is out from now on; M_NONE: the gate is whole. M2 and M13 are taken out by another runner.
 */
void without(enum mechanism out);
/* The gate has opened: the comparison (M9) is taken out from here on, or the null battery would
 * refuse every task. */
void without_opened(bool is_open);
/* How often functions of `out` were asked since, and so how often it was missing. */
unsigned without_count(void);

#endif
