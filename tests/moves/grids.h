/*
 * Moves on grids as they are in practice: time steps in strips (two grids to and fro, a copy back,
 * in place, along one row), and sums with borders from padded copies. Every sequence must apply,
 * and give the reference's result bit for bit at every size: those below a strip, with rests of
 * strips, of vectors and of steps; and where what is added up is not finite.
 */
#ifndef KOPE_TESTS_GRIDS_H
#define KOPE_TESTS_GRIDS_H

#include <stdbool.h>

/* False where a sequence is refused or gives another result; says on stdout what came of it. `dir`
 * is for the program. */
bool check_grids(const char *compiler, const char *dir);

#endif
