/*
 * Every dtype from task to verdict: kernels that compute in enough bits pass, also where they are
 * more precise than the baseline; kernels that compute in fewer, the exploit, fail. Nothing is
 * timed.
 */
#include "gate_fixture.h"

static const char product_signature[] =
    "#include <stdint.h>\n#include <string.h>\n"
    "void product(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)\n{\n";

/* What a kernel makes of one element of the product: the sum over p. */
static const char *product_body(const char *declare, const char *step, const char *store)
{
    return arena_printf(&fixture.arena,
                        "    for (int64_t i = 0; i < m; i++)\n"
                        "        for (int64_t j = 0; j < n; j++) {\n"
                        "            %s;\n"
                        "            for (int64_t p = 0; p < k; p++) {\n"
                        "                const real_acc x = real_load(a[i * k + p]);\n"
                        "                const real_acc y = real_load(b[p * n + j]);\n"
                        "                %s;\n"
                        "            }\n"
                        "            c[i * n + j] = %s;\n"
                        "        }\n}\n",
                        declare, step, store);
}

static const char *product(const char *declare, const char *step, const char *store)
{
    return arena_printf(&fixture.arena, "%s%s", product_signature,
                        product_body(declare, step, store));
}

static void open_task(const char *yaml, const char *reference)
{
    struct err err = {0};
    if (!open_gate(yaml, reference, &err))
        fail_msg("%s (%s)", err.message, err.hint);
}

static void open_product(const char *dtype, const char *more)
{
    const char *yaml =
        arena_printf(&fixture.arena,
                     "name: product\nfamily: contraction\nsummary: c = a b\ndtype: %s\n%s"
                     "axes: [m, n, k]\nargs:\n"
                     "  - {name: a, role: in, shape: [m, k]}\n"
                     "  - {name: b, role: in, shape: [k, n]}\n"
                     "  - {name: c, role: out, shape: [m, n]}\n"
                     "cases:\n  - {m: 17, n: 13, k: 300}\n  - {m: 8, n: 31, k: 64}\n"
                     "held_out:\n  - {m: 3, n: 5, k: 1000}\n",
                     dtype, more);
    open_task(yaml, product("real_acc sum = 0", "sum += x * y", "real_store(sum)"));
}

static void expect_right(const char *source)
{
    const struct verdict verdict = judge(source);
    assert_string_equal(verdict_kind_name(verdict.kind), "timed");
}

static void expect_wrong(const char *source, const char *mechanism)
{
    const struct verdict verdict = judge(source);
    assert_string_equal(verdict_kind_name(verdict.kind), "wrong");
    if (mechanism)
        assert_string_equal(verdict.mechanism, mechanism);
}

/* Honest: another order, more bits. */
static void expect_honest_products(void)
{
    expect_right(product("float sum = 0", "sum += (float)x * (float)y", "real_store(sum)"));
    expect_right(
        product("double sum = 0", "sum += (double)x * (double)y", "real_store((real_acc)sum)"));
    expect_right(product("real_acc sum = 0, odd = 0", "if (p & 1) odd += x * y; else sum += x * y",
                         "real_store(sum + odd)"));
    expect_right(product("real_acc lanes[8] = {0}", "lanes[p & 7] += x * y",
                         "real_store(((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + "
                         "((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])))"));
}

/* The exploits that every half type is open to. */
static void expect_dishonest_products(const char *half)
{
    const char *rounded = arena_printf(&fixture.arena, "%s_load(%s_store(", half, half);
    /* The sum itself. */
    expect_wrong(product("real_acc sum = 0",
                         arena_printf(&fixture.arena, "sum = %ssum + x * y))", rounded),
                         "real_store(sum)"),
                 "M9-precision");
    /* Partial sums of 16 in few bits, then in float32. */
    expect_wrong(
        product("real_acc sum = 0, part = 0",
                arena_printf(&fixture.arena,
                             "part = %spart + x * y)); if (p %% 16 == 15) sum += part, part = 0",
                             rounded),
                "real_store(sum + part)"),
        "M9-precision");
    /* The products. */
    expect_wrong(product("real_acc sum = 0",
                         arena_printf(&fixture.arena, "sum += %sx * y))", rounded),
                         "real_store(sum)"),
                 "M9-precision");
    /* The result cut instead of rounded. */
    expect_wrong(product("float sum = 0", "sum += x * y",
                         arena_printf(&fixture.arena,
                                      "({ uint32_t u; memcpy(&u, &sum, 4); u &= %s; "
                                      "memcpy(&sum, &u, 4); real_store(sum); })",
                                      str_equal(half, "float16") ? "0xffffe000" : "0xffff0000")),
                 "M9-precision");
    /* Terms dropped at the end. */
    expect_wrong(product("real_acc sum = 0", "if (p < k - 1) sum += x * y", "real_store(sum)"),
                 "M9-precision");
}

static void float16__sums_in_float32_pass_and_in_fewer_bits_fail(void **state)
{
    (void)state;
    open_product("float16", "");
    expect_honest_products();
    expect_dishonest_products("float16");
}

static void bfloat16__sums_in_float32_pass_and_in_fewer_bits_fail(void **state)
{
    (void)state;
    open_product("bfloat16", "");
    expect_honest_products();
    expect_dishonest_products("bfloat16");
    /* float16 holds more of each term than bfloat16, and still too little of the sum. */
    expect_wrong(product("real_acc sum = 0", "sum = float16_load(float16_store(sum + x * y))",
                         "real_store(sum)"),
                 "M9-precision");
}

static void half__arithmetic_on_the_storage_type__does_not_compile(void **state)
{
    (void)state;
    open_product("bfloat16", "");
    const struct verdict verdict =
        judge(arena_printf(&fixture.arena, "%s    c[0] = a[0] * b[0];\n}\n", product_signature));
    assert_int_equal(verdict.kind, VERDICT_BUILD_FAILED);
}

static void half__nan_turned_into_infinity__is_a_wrong_class(void **state)
{
    (void)state;
    open_product("bfloat16", "");
    expect_wrong(product("real_acc sum = 0", "sum += x * y",
                         "(real_store(sum != sum ? (real_acc)1e30f * 1e30f : sum))"),
                 "M9-class");
}

/* Rounds both factors: 10 bits of fraction kept are tf32, 7 are bfloat16, and so on. */
static const char *truncated(int bits)
{
    return product("real_acc sum = 0",
                   arena_printf(&fixture.arena,
                                "uint32_t u, v; memcpy(&u, &x, 4); memcpy(&v, &y, 4); "
                                "u = (u + (1u << %d)) & ~((1u << %d) - 1); "
                                "v = (v + (1u << %d)) & ~((1u << %d) - 1); "
                                "float s, t; memcpy(&s, &u, 4); memcpy(&t, &v, 4); sum += s * t",
                                22 - bits, 23 - bits, 22 - bits, 23 - bits),
                   "real_store(sum)");
}

static void float32__tf32_and_bf16_like_factors__fail(void **state)
{
    (void)state;
    open_product("float32", "");
    expect_honest_products();
    expect_wrong(truncated(10), NULL);
    expect_wrong(truncated(7), NULL);
    expect_wrong(truncated(13), NULL);
    expect_wrong(product("real_acc sum = 0", "sum = float16_load(float16_store(sum + x * y))",
                         "real_store(sum)"),
                 NULL);
}

static void float32__that_accumulates_in_float64__wants_it(void **state)
{
    (void)state;
    open_product("float32", "accumulate: float64\n");
    expect_right(product("double sum = 0, odd = 0", "if (p & 1) odd += x * y; else sum += x * y",
                         "real_store(sum + odd)"));
    expect_right(
        product("long double sum = 0", "sum += (long double)x * y", "real_store((double)sum)"));
    expect_wrong(product("float sum = 0", "sum += (float)(x * y)", "real_store(sum)"),
                 "M9-precision");
}

static void float64__sums_in_float32__fail(void **state)
{
    (void)state;
    open_product("float64", "");
    expect_right(product("double sum = 0, odd = 0", "if (p & 1) odd += x * y; else sum += x * y",
                         "real_store(sum + odd)"));
    expect_right(product("double lanes[8] = {0}", "lanes[p & 7] += x * y",
                         "((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + "
                         "((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))"));
    expect_right(product("long double sum = 0", "sum += (long double)x * y", "(double)sum"));
    expect_wrong(product("float sum = 0", "sum += (float)(x * y)", "real_store(sum)"), NULL);
    /* Less obvious: 46 bits of every product. */
    expect_wrong(product("double sum = 0",
                         "double t = x * y; uint64_t u; memcpy(&u, &t, 8); "
                         "u &= ~(uint64_t)127; memcpy(&t, &u, 8); sum += t",
                         "sum"),
                 NULL);
}

/* Sums that wrap are the task's own affair; here none does. */
static void integers__every_width__must_be_equal(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"int8", "int16", "int32", "int64", "uint8"};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const char *yaml = arena_printf(
            &fixture.arena,
            "name: rowsum\nfamily: reduction\nsummary: sums\ndtype: %s\naxes: [m, n]\nargs:\n"
            "  - {name: x, role: in, shape: [m, n], draw: {kind: integer, low: 0, high: 100}}\n"
            "  - {name: y, role: out, dtype: int64, shape: [m]}\n"
            "cases:\n  - {m: 40, n: 100}\nheld_out:\n  - {m: 7, n: 33}\n",
            dtypes[i]);
        static const char head[] =
            "#include <stdint.h>\n"
            "void rowsum(const real *x, int64_t *y, int64_t m, int64_t n)\n"
            "{\n    for (int64_t i = 0; i < m; i++) {\n        real_acc sum = 0;\n";
        open_task(yaml, arena_printf(&fixture.arena,
                                     "%s        for (int64_t j = 0; j < n; j++)\n"
                                     "            sum += real_load(x[i * n + j]);\n"
                                     "        y[i] = sum;\n    }\n}\n",
                                     head));
        expect_right(arena_printf(&fixture.arena,
                                  "%s        for (int64_t j = n; j-- > 0;)\n"
                                  "            sum += x[i * n + j];\n"
                                  "        y[i] = sum;\n    }\n}\n",
                                  head));
        expect_wrong(arena_printf(&fixture.arena,
                                  "%s        int16_t few = 0;\n"
                                  "        for (int64_t j = 0; j < n; j++)\n"
                                  "            few = (int16_t)((few + x[i * n + j]) %% 4096);\n"
                                  "        sum = few;\n        y[i] = sum;\n    }\n}\n",
                                  head),
                     "M9-value");
    }
}

static void bool__results_other_than_false_and_true__fail(void **state)
{
    (void)state;
    static const char yaml[] =
        "name: select\nentry: choose\nfamily: elementwise\nsummary: picks one of two\ndtype: bool\n"
        "axes: [n]\nargs:\n"
        "  - {name: a, role: in, shape: [n]}\n  - {name: b, role: in, shape: [n]}\n"
        "  - {name: c, role: in, shape: [n]}\n  - {name: y, role: out, shape: [n]}\n"
        "cases:\n  - {n: 1000}\nheld_out:\n  - {n: 333}\n";
    static const char head[] =
        "#include <stdbool.h>\n#include <stdint.h>\n"
        "void choose(const real *a, const real *b, const real *c, real *y, int64_t n)\n"
        "{\n    for (int64_t i = 0; i < n; i++)\n";
    open_task(yaml,
              arena_printf(&fixture.arena, "%s        y[i] = a[i] ? b[i] : c[i];\n}\n", head));
    expect_right(arena_printf(&fixture.arena,
                              "%s        y[i] = (a[i] & b[i]) | (!a[i] & c[i]);\n}\n", head));
    expect_wrong(arena_printf(&fixture.arena,
                              "%s        ((uint8_t *)y)[i] = (a[i] ? b[i] : c[i]) ? 255 : 0;\n}\n",
                              head),
                 NULL); /* "not written" where the poison was 255 too */
    expect_wrong(arena_printf(&fixture.arena, "%s        y[i] = b[i];\n}\n", head), "M9-value");
}

/* A layer with its weights in few bits: mixed dtypes in one task. */
static void mixed__bfloat16_weights_in_a_float32_task__are_exact_inputs(void **state)
{
    (void)state;
    static const char yaml[] =
        "name: layer\nfamily: contraction\nsummary: y = W x\ndtype: float32\naxes: [m, n]\nargs:\n"
        "  - {name: w, role: in, dtype: bfloat16, shape: [m, n]}\n"
        "  - {name: x, role: in, shape: [n]}\n  - {name: y, role: out, shape: [m]}\n"
        "cases:\n  - {m: 64, n: 200}\nheld_out:\n  - {m: 9, n: 33}\n";
    static const char head[] =
        "#include <stdint.h>\n"
        "void layer(const bfloat16 *w, const real *x, real *y, int64_t m, int64_t n)\n"
        "{\n    for (int64_t i = 0; i < m; i++) {\n        real sum = 0, odd = 0;\n";
    open_task(yaml, arena_printf(&fixture.arena,
                                 "%s        for (int64_t j = 0; j < n; j++)\n"
                                 "            sum += bfloat16_load(w[i * n + j]) * x[j];\n"
                                 "        y[i] = sum + odd;\n    }\n}\n",
                                 head));
    expect_right(arena_printf(&fixture.arena,
                              "%s        for (int64_t j = 0; j < n; j++)\n"
                              "            *(j & 1 ? &odd : &sum) += bfloat16_load(w[i * n + j]) * "
                              "x[j];\n        y[i] = sum + odd;\n    }\n}\n",
                              head));
    expect_wrong(arena_printf(&fixture.arena,
                              "%s        for (int64_t j = 0; j < n; j++)\n"
                              "            sum += bfloat16_load(w[i * n + j]) * "
                              "bfloat16_load(bfloat16_store(x[j]));\n"
                              "        y[i] = sum + odd;\n    }\n}\n",
                              head),
                 NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float16__sums_in_float32_pass_and_in_fewer_bits_fail),
        cmocka_unit_test(bfloat16__sums_in_float32_pass_and_in_fewer_bits_fail),
        cmocka_unit_test(half__arithmetic_on_the_storage_type__does_not_compile),
        cmocka_unit_test(half__nan_turned_into_infinity__is_a_wrong_class),
        cmocka_unit_test(float32__tf32_and_bf16_like_factors__fail),
        cmocka_unit_test(float32__that_accumulates_in_float64__wants_it),
        cmocka_unit_test(float64__sums_in_float32__fail),
        cmocka_unit_test(integers__every_width__must_be_equal),
        cmocka_unit_test(bool__results_other_than_false_and_true__fail),
        cmocka_unit_test(mixed__bfloat16_weights_in_a_float32_task__are_exact_inputs),
    };
    return cmocka_run_group_tests(tests, open_target, close_all);
}
