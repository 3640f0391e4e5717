/* The task of the tests of context/: a small one, of which prompts are made. */
#ifndef KOPE_TESTS_CONTEXT_TASK_H
#define KOPE_TESTS_CONTEXT_TASK_H

static const char yaml_text[] = "name: twice\n"
                                "family: elementwise\n"
                                "summary: doubles\n"
                                "dtype: float32\n"
                                "axes: [n]\n"
                                "args:\n"
                                "  - {name: x, role: in, dtype: real, shape: [n]}\n"
                                "  - {name: y, role: out, dtype: real, shape: [n]}\n"
                                "cases:\n"
                                "  - {n: 7}\n"
                                "held_out:\n"
                                "  - {n: 11}\n";
static const char reference[] =
    "#include <stdint.h>\nvoid twice(const real *x, real *y, int64_t n)\n"
    "{\n    for (int64_t i = 0; i < n; i++)\n        y[i] = 2 * x[i];\n}\n";

#endif
