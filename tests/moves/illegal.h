/* Sequences of moves that are illegal by construction: the distances are in the text. */
#ifndef KOPE_TESTS_ILLEGAL_H
#define KOPE_TESTS_ILLEGAL_H

#include <stdbool.h>
#include <stddef.h>

/* Applies one in `every`; false where one is accepted, or refused without the dependence that
 * forbids it. Says on stdout what came of it. */
bool check_illegal(size_t every);

#endif
