/*
 * Half floats: the gate's own conversions against the definition, and the prelude's, which every
 * candidate may use, against the gate's, for every bit pattern and with every optimization level.
 */
#include "base/str.h"
#include "gate/element.h"
#include "os/file.h"
#include "os/process.h"
#include "task/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

enum { PATTERNS = 65536, FLOATS = 1 << 20 };

static const enum dtype halves[] = {DTYPE_F16, DTYPE_BF16};

/* Many magnitudes, half of them exactly between two numbers of a half type or next to that. */
static uint32_t pattern(uint32_t i)
{
    uint32_t x = i * 2654435761u;
    x ^= x >> 15;
    if (i % 2)
        return x;
    const uint32_t bit = i % 4 ? 1u << 12 : 1u << 15;
    return (x & ~(2 * bit - 1)) + bit + (i / 4 % 3) - 1;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void dtype_store__every_half__comes_back(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < PATTERNS; i++) {
            const uint16_t bits = (uint16_t)i;
            uint16_t back = 0;
            double wide;
            const double value = dtype_element(halves[k], &bits, 0);
            dtype_widen(halves[k], &bits, 0, 1, &wide);
            dtype_store(halves[k], &back, 0, value);
            if (isnan(value)) {
                assert_true(isnan(wide) && isnan(dtype_element(halves[k], &back, 0)));
                continue;
            }
            assert_true(value == wide && signbit(value) == signbit(wide));
            assert_int_equal(bits, back);
        }
    }
}

/* The nearest of the neighbours, and the even one of two that are equally near. */
static void dtype_store__any_value__is_the_nearest_and_ties_go_to_even(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < FLOATS; i += 7) {
            const double value = (double)float_of(pattern(i) & 0x7fffffff);
            uint16_t bits;
            dtype_store(halves[k], &bits, 0, value);
            const double stored = dtype_element(halves[k], &bits, 0);
            if (isnan(value) || isinf(stored)) {
                assert_true(isnan(value) ? isnan(stored)
                                         : value >= (k == 0 ? 65520.0 : 0x1.ffp127));
                continue;
            }
            const uint16_t above = (uint16_t)(bits + 1), below = (uint16_t)(bits - 1);
            double up = dtype_element(halves[k], &above, 0);
            const double off = fabs(stored - value);
            if (isinf(up)) /* as if the exponents went on */
                up = stored + 2 * dtype_half_ulp(halves[k], stored);
            assert_true(off <= up - value);
            assert_true(off < up - value || bits % 2 == 0);
            if (bits == 0)
                continue;
            const double down = dtype_element(halves[k], &below, 0);
            assert_true(off <= value - down);
            assert_true(off < value - down || bits % 2 == 0);
        }
    }
}

static void dtype_half_ulp__of_a_number__is_half_the_gap_above(void **state)
{
    (void)state;
    assert_true(dtype_half_ulp(DTYPE_F16, 1.0) == 0x1p-11);
    assert_true(dtype_half_ulp(DTYPE_F16, -1.99) == 0x1p-11);
    assert_true(dtype_half_ulp(DTYPE_F16, 2.0) == 0x1p-10);
    assert_true(dtype_half_ulp(DTYPE_F16, 0.0) == 0x1p-25);
    assert_true(dtype_half_ulp(DTYPE_BF16, 1.0) == 0x1p-8);
    assert_true(dtype_half_ulp(DTYPE_F32, 1.0) == 0x1p-24);
    assert_true(dtype_half_ulp(DTYPE_F64, 4.0) == 0x1p-51);
}

/* A program that writes what the prelude makes of every pattern to a file. */
static const char program[] = "#include <stdio.h>\n"
                              "static uint32_t pattern(uint32_t i)\n"
                              "{\n"
                              "    uint32_t x = i * 2654435761u;\n"
                              "    x ^= x >> 15;\n"
                              "    if (i % 2)\n"
                              "        return x;\n"
                              "    const uint32_t bit = i % 4 ? 1u << 12 : 1u << 15;\n"
                              "    return (x & ~(2 * bit - 1)) + bit + (i / 4 % 3) - 1;\n"
                              "}\n"
                              "static float wide[2][65536];\n"
                              "static uint16_t narrow[2][1 << 20];\n"
                              "int main(int argc, char **argv)\n"
                              "{\n"
                              "    FILE *out = fopen(argv[argc - 1], \"wb\");\n"
                              "    if (!out)\n"
                              "        return 1;\n"
                              "    for (uint32_t i = 0; i < 65536; i++) {\n"
                              "        wide[0][i] = float16_load((float16){(uint16_t)i});\n"
                              "        wide[1][i] = bfloat16_load((bfloat16){(uint16_t)i});\n"
                              "    }\n"
                              "    for (uint32_t i = 0; i < 1 << 20; i++) {\n"
                              "        const union kope_float x = {.bits = pattern(i)};\n"
                              "        narrow[0][i] = float16_store(x.value).bits;\n"
                              "        narrow[1][i] = bfloat16_store(x.value).bits;\n"
                              "    }\n"
                              "    const size_t done = fwrite(wide, sizeof wide, 1, out) + "
                              "fwrite(narrow, sizeof narrow, 1, out);\n"
                              "    return fclose(out) != 0 || done != 2;\n"
                              "}\n";

static void run(const char *const *argv, struct arena *arena)
{
    struct err err = {0};
    struct process_result result;
    const struct process_opts opts = {.argv = argv};
    if (!os_run(&opts, arena, &result, &err))
        fail_msg("%s", err.message);
    if (result.exit_code != 0)
        fail_msg("%s: %s", argv[0], result.errors);
}

static void check_output(const char *out, size_t length)
{
    assert_int_equal(length, 2 * PATTERNS * sizeof(float) + 2 * FLOATS * sizeof(uint16_t));
    for (size_t k = 0; k < 2; k++) {
        const char *loads = out + k * PATTERNS * sizeof(float);
        const char *stores = out + 2 * PATTERNS * sizeof(float) + k * FLOATS * sizeof(uint16_t);
        for (uint32_t i = 0; i < PATTERNS; i++) {
            const uint16_t bits = (uint16_t)i;
            const double want = dtype_element(halves[k], &bits, 0);
            const double got = dtype_element(DTYPE_F32, loads, i);
            assert_true(isnan(want) ? isnan(got) : want == got && signbit(want) == signbit(got));
        }
        for (uint32_t i = 0; i < FLOATS; i++) {
            const double value = (double)float_of(pattern(i));
            uint16_t want, got;
            dtype_store(halves[k], &want, 0, value);
            memcpy(&got, stores + i * sizeof got, sizeof got);
            if (isnan(value))
                assert_true(isnan(dtype_element(halves[k], &got, 0)));
            else
                assert_int_equal(want, got);
        }
    }
}

static void task_prelude__conversions__are_the_gates_on_every_pattern(void **state)
{
    (void)state;
    static const char *const levels[] = {"-O0", "-O2", "-O3"};
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    char *dir = NULL;
    const struct task task = {.dtype = DTYPE_F16, .accumulate = DTYPE_F32};
    assert_true(os_make_temp_dir("kope-prelude", &arena, &dir, &err));
    const char *source = os_path_join(&arena, dir, "prelude.c");
    const char *binary = os_path_join(&arena, dir, "prelude");
    const char *results = os_path_join(&arena, dir, "results");
    const char *text =
        arena_printf(&arena, "%s%s", task_prelude(&task, "float16", &arena), program);
    assert_true(os_write_file(source, text, strlen(text), false, &err));
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        size_t length = 0;
        char *out = NULL;
        const char *const build[] = {"cc",    "-std=c17", levels[i], "-march=native",
                                     "-Wall", "-Wextra",  "-Werror", "-o",
                                     binary,  source,     NULL};
        const char *const start[] = {binary, results, NULL};
        run(build, &arena);
        run(start, &arena);
        assert_true(os_read_file(results, 16 << 20, &arena, &out, &length, &err));
        check_output(out, length);
    }
    assert_true(os_remove_tree(dir, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtype_store__every_half__comes_back),
        cmocka_unit_test(dtype_store__any_value__is_the_nearest_and_ties_go_to_even),
        cmocka_unit_test(dtype_half_ulp__of_a_number__is_half_the_gap_above),
        cmocka_unit_test(task_prelude__conversions__are_the_gates_on_every_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
