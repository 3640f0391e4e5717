/*
 * Time steps in strips, on grids as they are in practice: two grids to and fro, a copy back, in
 * place, along one row. Every sequence must apply, and give the reference's result bit for bit at
 * every size: those below a strip, with rests of strips, of vectors and of steps.
 */
#ifndef KOPE_TESTS_SWEEPS_H
#define KOPE_TESTS_SWEEPS_H

#include <stdbool.h>

/* False where a sequence is refused or gives another result; says on stdout what came of it. `dir`
 * is for the program. */
bool check_sweeps(const char *compiler, const char *dir);

#endif
