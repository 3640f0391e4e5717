/*
 * What the tests of the engine share: a task that the fake target knows (its entry's name says what
 * the kernel computes), written into a directory of the test.
 */
#ifndef KOPE_TESTS_ENGINE_PLACE_H
#define KOPE_TESTS_ENGINE_PLACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "os/file.h"
#include "os/os.h"

#include <string.h>

static const char task_yaml[] = "name: scale2\n"
                                "family: elementwise\n"
                                "dtype: float32\n"
                                "axes: [n]\n"
                                "args:\n"
                                "  - {name: x, role: in, shape: [n]}\n"
                                "  - {name: y, role: out, shape: [n]}\n"
                                "flops: n\n"
                                "cases:\n"
                                "  - {n: 4096}\n"
                                "held_out:\n"
                                "  - {n: 3001}\n";
static const char reference[] = "#include <stdint.h>\n"
                                "void scale2(const real *x, real *y, int64_t n)\n"
                                "{\n"
                                "    for (int64_t i = 0; i < n; i++)\n"
                                "        y[i] = 2 * x[i];\n"
                                "}\n";

static inline void write_text(struct arena *arena, const char *dir, const char *name,
                              const char *text)
{
    struct err err = {0};
    if (!os_make_dirs(dir, &err) ||
        !os_write_file(os_path_join(arena, dir, name), text, strlen(text), false, &err))
        fail_msg("%s", err.message);
}

/* The path of the task, in `dir`. */
static inline const char *write_task(struct arena *arena, const char *dir)
{
    const char *task = os_path_join(arena, dir, "task");
    write_text(arena, task, "task.yaml", task_yaml);
    write_text(arena, task, "reference.c", reference);
    return task;
}

#endif
