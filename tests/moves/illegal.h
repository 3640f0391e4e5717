/*
 * Sequences of moves that are illegal by construction: the distances are in the text. That they are
 * illegal is shown as well: with the question after dependences answered by yes (the linker puts
 * illegal.c in its place), each of them gives another result than the nest it begins from.
 */
#ifndef KOPE_TESTS_ILLEGAL_H
#define KOPE_TESTS_ILLEGAL_H

#include <stdbool.h>
#include <stddef.h>

/* Applies one in `every`; false where one is accepted, refused without the dependence that forbids
 * it, or does no harm when it is done nevertheless. Says on stdout what came of it. `dir` is for
 * the programs. */
bool check_illegal(size_t every, const char *compiler, const char *dir);

#endif
