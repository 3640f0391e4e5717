/*
 * The C program that runs nests beside their references: functions as text go in, one file comes
 * out, is compiled and run. What should be equal and differs is printed, and what should differ and
 * is equal; every buffer is compared bit for bit, at several sizes.
 */
#ifndef KOPE_TESTS_MOVES_PROGRAM_H
#define KOPE_TESTS_MOVES_PROGRAM_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct program {
    struct buf functions, references, variants;
    size_t reference_count, variant_count;
};

/* `text` defines the task's f. The number of the reference. */
int program_add_reference(struct program *p, const char *text);

struct variant {
    int reference;
    bool is_real;      /* buffers hold small whole numbers as float, else any uint32_t */
    bool has_infinity; /* ... and some elements are infinite */
    bool is_in_place;  /* b is a */
    bool must_differ;  /* from the reference, at one size at least; else at none */
    const char *steps; /* for people */
};
void program_add_variant(struct program *p, const char *text, const struct variant *variant);

/* Writes DIR/NAME.c, compiles and runs it; true where everything was as it should be. */
bool program_run(const struct program *p, const char *compiler, const char *dir, const char *name);
void program_free(struct program *p);

#endif
