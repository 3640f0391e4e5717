/* Tasks and compilers for the tests of moves; a task is built by hand, so that no parser is between
 * a test and its text. */
#ifndef KOPE_TESTS_MOVES_FIXTURE_H
#define KOPE_TESTS_MOVES_FIXTURE_H

#include "moves/moves.h"

static const struct moves_compiler fixture_compilers[] = {
    {"gcc-12", "gcc", 12, false, true},
    {"clang-14", "clang", 14, true, false},
    {"clang-19", "clang", 19, true, false},
};

static inline struct task fixture_task(const char *entry, const char *reference)
{
    return (struct task){.name = entry,
                         .entry = entry,
                         .dtype = DTYPE_F32,
                         .precision = PRECISION_NORMAL,
                         .allow_reassociate = true,
                         .reference = reference};
}

static inline struct moves_env fixture_env(const struct task *task)
{
    return (struct moves_env){.task = task,
                              .compilers = fixture_compilers,
                              .compiler_count = 3,
                              .default_compiler = "gcc-12",
                              .vector_bytes = 64};
}

#endif
