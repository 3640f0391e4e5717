/*
 * Elements of every dtype as doubles, and back.
 *
 * For whom: the gate's data, comparison and null battery. A half float is converted here by
 * arithmetic of its own, not by the prelude that candidates use (task/prelude.c): one checks the
 * other. Pure; any thread.
 */
#ifndef KOPE_GATE_ELEMENT_H
#define KOPE_GATE_ELEMENT_H

#include "task/task.h"

#include <stddef.h>

/* The smallest normal number of a float dtype. */
double dtype_smallest_normal(enum dtype dtype);

/* Half the distance to the next number of a float dtype, at this magnitude: the most that rounding
 * to it moves a value. */
double dtype_half_ulp(enum dtype dtype, double value);

/* Element `index` of an array as a double (int64 beyond 2^53 is rounded: for messages only). */
double dtype_element(enum dtype dtype, const void *data, size_t index);

/* `count` elements from `first` as doubles. */
void dtype_widen(enum dtype dtype, const void *data, size_t first, size_t count, double *out);

/* Writes the nearest value of the dtype, ties to even; integers are rounded and kept within their
 * type. */
void dtype_store(enum dtype dtype, void *out, size_t index, double value);

#endif
