/* What the lists of allowed symbols are made of: symbols.c has one, symbols_libmvec.c the other. */
#ifndef KOPE_RUNNER_SYMBOLS_H
#define KOPE_RUNNER_SYMBOLS_H

#include "runner/runner.h"

#include <stddef.h>

struct symbol {
    const char *name;
    runner_function function;
};

#define ALLOW(name)                                                                                \
    {                                                                                              \
#name, (runner_function)name                                                               \
    }

#define ALLOW_AS(name, function)                                                                   \
    {                                                                                              \
#name, (runner_function)function                                                           \
    }

/* The vector functions of the C library; none where it has none for this machine. */
extern const struct symbol libmvec_symbols[];
extern const size_t libmvec_symbol_count;

#endif
