/* Products of narrow integers, several to a lane: what dot prints and refuses, and that the result
 * is the reference's in plain C and with the machine's own instructions. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "moves/nest/pattern.h"
#include "moves/nest_move.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct task bytes = {.name = "f",
                                  .entry = "f",
                                  .dtype = DTYPE_I8,
                                  .accumulate = DTYPE_I32,
                                  .precision = PRECISION_EXACT,
                                  .args = {{.name = "a", .rank = 2, .shape_text = {"m", "k"}},
                                           {.name = "b", .rank = 2, .shape_text = {"k", "n"}},
                                           {.name = "c", .rank = 2, .shape_text = {"m", "n"}},
                                           {.name = "y", .rank = 1, .shape_text = {"n"}}},
                                  .arg_count = 4};

static const struct nest_target vnni = {.vector_bytes = 64, .family = "gcc", .isa = "avx512_vnni"};
static const struct nest_target avx2 = {.vector_bytes = 32, .family = "gcc", .isa = "avx2,fma"};

#define LOOPS                                                                                      \
    "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) {\n"                          \
    "real_acc sum = 0;\n"                                                                          \
    "for (int64_t p = 0; p < k; p++) sum += "
#define END "; c[i * n + j] = sum; }"

/* The file after the steps, or the refusal; `types` are of a, b and c. */
static const char *after(struct arena *arena, const char *const types[3], const char *body,
                         const char *steps, const struct nest_target *target)
{
    CLEANUP(buf_free) struct buf text = {0};
    CLEANUP(buf_free) struct buf second = {0};
    struct nest *nest = NULL;
    struct nest *out = NULL;
    struct nest *again = NULL;
    const char *why = NULL;
    const char *source = arena_printf(
        arena,
        "#include <stdint.h>\nvoid f(const %s *a, const %s *b, %s *c, int32_t *y, int64_t m, "
        "int64_t n, int64_t k)\n{\n%s\n}\n",
        types[0], types[1], types[2], body);
    if (!nest_read(&bytes, source, arena, &nest, &why))
        fail_msg("'%s' was not read: %s", body, why);
    if (!nest_apply(nest, steps, target, arena, &out, &why))
        return why;
    nest_print(out, &text);
    assert_true(nest_read(&bytes, buf_text(&text), arena, &again, &why));
    assert_int_equal(again->opaque_count, out->opaque_count);
    nest_print(again, &second);
    assert_string_equal(buf_text(&second), buf_text(&text));
    return arena_strdup(arena, buf_text(&text));
}

static const char *const real[] = {"real", "real", "int32_t"};

static void must_hold(const char *text, const char *const *parts)
{
    for (; *parts; parts++) {
        if (!strstr(text, *parts))
            fail_msg("there is no '%s' in\n%s", *parts, text);
    }
}

static void dot__bytes_in_groups_of_four__panels_and_tiles(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    must_hold(
        after(&arena, real, LOOPS "real_load(a[i * k + p]) * real_load(b[p * n + j])" END,
              "dot(i:6,j:64,p:4)", &vnni),
        (const char *const[]){
            "_mm512_dpbusd_epi32((__m512i)sum, (__m512i)u, (__m512i)s)",
            "if (0 < m && 0 < k && k <= 256) {", "_Alignas(64) uint8_t b_panel[16384];",
            "dot4_i8_raised_pack_4(b_panel, &b[j_s], n, 1, k, (j_s + 64 < n ? j_s + 64 : n) - "
            "j_s);",
            "dot4_i8_i8_tile_6x4(sum_sums, &a[i_s * k], k, 1, (i_s + 6 < m ? i_s + 6 : m) - i_s, "
            "b_panel, k,",
            "sum = (real_acc)((uint32_t)sum + sum_sums[(i - i_s) * 64 + (j - j_s)]);", NULL});
}

/* The operand without a sign goes where the instruction wants it; nothing is raised then. */
static void dot__operands_by_their_signs__in_their_places(void **state)
{
    static const char *const types[] = {"uint8_t", "int8_t", "int32_t"};
    static const char *const other[] = {"int8_t", "uint8_t", "int32_t"};
    static const char product[] = LOOPS "b[j * k + p] * a[p * m + i]" END;
    CLEANUP(arena_free) struct arena arena = {0};
    (void)state;
    must_hold(after(&arena, types, product, "dot(i:2,j:16,p:4)", &vnni),
              (const char *const[]){"s0_0 = dot4_add(s0_0, a0, b);",
                                    "dot4_i8_pack_1(b_panel, &b[j_s * k], 1, k, k,",
                                    "dot4_u8_i8_tile_2x1(sum_sums, &a[i_s], 1, m, ", NULL});
    must_hold(after(&arena, other, product, "dot(i:2,j:16,p:4)", &vnni),
              (const char *const[]){"s0_0 = dot4_add(s0_0, b, a0);", "dot4_u8_pack_1(", NULL});
    must_hold(after(&arena, types, product, "dot(i:2,j:16,p:2)", &avx2),
              (const char *const[]){"sum + (vdot)_mm256_madd_epi16((__m256i)u, (__m256i)s)",
                                    "dot2_i8_pack_2(", NULL});
}

static void dot__what_could_differ__is_refused(void **state)
{
    static const char *const plain[] = {"int8_t", "int8_t", "int32_t"};
    static const char *const unsigned_bytes[] = {"uint8_t", "uint8_t", "int32_t"};
    static const char *const shorts[] = {"int16_t", "int8_t", "int32_t"};
    static const char *const words[] = {"int32_t", "int8_t", "int32_t"};
    static const char good[] = LOOPS "a[i * k + p] * b[p * n + j]" END;
    const struct {
        const char *const *types;
        const char *body, *steps, *refusal;
        const struct nest_target *target;
    } cases[] = {
        {plain, good, "dot(i:6,j:64,p:3)", "a lane adds groups of 2 or 4 rounds of 'p'", &vnni},
        {plain, good, "dot(i:6,j:40,p:4)", "a vector has 16 sums here, which do not divide 40",
         &vnni},
        {plain, good, "dot(i:20,j:64,p:4)", "more than 64 vectors of sums", &vnni},
        {plain, good, "dot(i:4,j:16,p:4)", "the machine has no products of bytes in groups of 4",
         &avx2},
        {unsigned_bytes, good, "dot(i:4,j:16,p:4)", "'a' and 'b' have none: take 2", &vnni},
        {shorts, good, "dot(i:4,j:16,p:4)", "groups of 4 are of bytes: take 2", &vnni},
        {words, good, "dot(i:4,j:16,p:2)", "'a' does not hold int8, uint8 or int16", &vnni},
        {plain, good, "dot(j:4,i:16,p:2)", "loop 'i' is not all of loop 'j', or 'p' not in it",
         &vnni},
        {plain, LOOPS "a[i * k + p] + b[p * n + j]" END, "dot(i:4,j:16,p:2)",
         "loop 'p' does not add products into one place", &vnni},
        {plain, LOOPS "a[i * k + p] * b[p * n + i]" END, "dot(i:4,j:16,p:2)",
         "the products are not of what differs by 'i' alone", &vnni},
        {plain, LOOPS "a[i * k + p * p] * b[p * n + j]" END, "dot(i:4,j:16,p:2)",
         "elements of 'a' are not the same distance apart", &vnni},
        {plain,
         "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) { int64_t sum = 0; "
         "for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j]; c[i * n + j] = "
         "(int32_t)sum; }",
         "dot(i:4,j:16,p:2)", "loop 'p' does not add in 32 bits", &vnni},
        {plain,
         "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < i; j++) { int32_t sum = 0; "
         "for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j]; c[i * n + j] = sum; "
         "}",
         "dot(i:4,j:16,p:2)", "the bounds of loop 'j' change inside 'i'", &vnni},
        {plain,
         "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) { int32_t sum = 0; "
         "const int64_t q = j % 2 ? k : 1; "
         "for (int64_t p = 0; p < q; p++) sum += a[i * k + p] * b[p * n + j]; c[i * n + j] = sum; "
         "}",
         "dot(i:4,j:16,p:2)", "a bound of loop 'p' is declared inside 'i'", &vnni},
        {plain,
         "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) { const int64_t q = 1; "
         "int32_t sum = 0; "
         "for (int64_t p = q; p < k; p++) sum += a[i * k + p] * b[p * n + j]; c[i * n + j] = sum; "
         "}",
         "dot(i:4,j:16,p:2)", "a bound of loop 'p' is declared inside 'i'", &vnni},
        /* A stride of -1 row, as 32 bits without a sign have it. */
        {plain,
         "const unsigned int r = (unsigned int)n;\n"
         "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) { int32_t sum = 0; "
         "for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * b[(k - 1 - p) * r + j]; "
         "c[i * n + j] = sum; }",
         "dot(i:4,j:16,p:2)", "'r' has 32 bits without a sign", &vnni},
        /* A sum that the next column goes on with. */
        {plain,
         "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) { int32_t sum = 0; "
         "for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j]; "
         "c[i * n + j] = sum; y[j] = c[i * n + j] + y[j]; }",
         "dot(i:4,j:16,p:2)", "a sum of signed integers could overflow in another order", &vnni},
        {plain,
         "for (int64_t i = 1; i < m; i++) for (int64_t j = 0; j < n; j++) { int32_t sum = c[(i - "
         "1) * n + j]; for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j]; c[i * n "
         "+ j] = sum; }",
         "dot(i:4,j:16,p:2)", "dependence on c carried by i, distance (1", &vnni},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *text =
            after(&arena, cases[i].types, cases[i].body, cases[i].steps, cases[i].target);
        if (!strstr(text, cases[i].refusal))
            fail_msg("'%s' is not in '%s' of\n%s", cases[i].refusal, text, cases[i].body);
    }
}

/* Written while it is read: in one array. */
static void dot__an_operand_is_written__is_refused(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const char *const types[] = {"int8_t", "int8_t", "int32_t"};
    (void)state;
    const char *why =
        after(&arena, types,
              "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) {\n"
              "for (int64_t p = 0; p < k; p++) c[i * n + j] += a[i * k + p] * b[p * n + j];\n"
              "y[0] = c[i * n + j]; }",
              "dot(i:4,j:16,p:2)", &vnni);
    assert_non_null(strstr(why, "dependence on y carried by"));
    why = after(&arena, types,
                "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) {\n"
                "const int8_t *row = a + i * k;\n"
                "for (int64_t p = 0; p < k; p++) c[i * n + j] += a[i * k + p] * b[p * n + j]; }",
                "dot(i:4,j:16,p:2)", &vnni);
    assert_non_null(strstr(why, "does more with 'a' or 'b' than to read elements"));
    why = after(&arena, types,
                "int8_t *q = b;\n"
                "for (int64_t i = 0; i < 1; i++) for (int64_t j = 0; j < n; j++) {\n"
                "q[j] = 1;\n"
                "for (int64_t p = 0; p < k; p++) c[j] += a[i * k + p] * b[p * n + j]; }",
                "dot(i:4,j:16,p:2)", &vnni);
    assert_non_null(strstr(why, "does more with 'a' or 'b' than to read elements"));
}

/* --- results -----------------------------------------------------------------------------------
 */

static void put_case(struct buf *text, const char *name, const char *file)
{
    (void)buf_printf(text, "#define f %s\n", name);
    for (const char *at = strstr(file, "dot"); at; at = strstr(file, "dot")) {
        (void)buf_printf(text, "%.*s%s_dot", (int)(at - file), file, name);
        file = at + 3;
    }
    (void)buf_printf(text, "%s\n#undef f\n", file);
}

static void put_main(struct buf *text, size_t count)
{
    (void)buf_append_str(text, "typedef void kernel(const void *, const void *, int32_t *, int32_t "
                               "*, int64_t, int64_t, int64_t);\n"
                               "static void *const all[][2] = {");
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(text, "{before_%zu, after_%zu},", i, i);
    (void)buf_append_str(
        text, "};\n"
              "static int16_t a[4096], b[4096];\n"
              "static int32_t c[2][4096], y[4096];\n"
              "int main(void)\n{\n"
              "    uint32_t state = 1;\n"
              "    for (int i = 0; i < 4096; i++) {\n"
              "        a[i] = (int16_t)((state = state * 1664525 + 1013904223) >> 16);\n"
              "        b[i] = (int16_t)((state = state * 1664525 + 1013904223) >> 16);\n"
              "    }\n"
              "    for (int i = 0; i < (int)(sizeof all / sizeof *all); i++)\n"
              "        for (int64_t m = 1; m < 10; m += 3)\n"
              "            for (int64_t n = 1; n < 70; n += 1 + n / 3)\n"
              "                for (int64_t k = 0; k < 14; k++) {\n"
              "                    memset(c, 0, sizeof c);\n"
              "                    for (int v = 0; v < 2; v++)\n"
              "                        ((kernel *)all[i][v])(a, b, c[v], y, m, n, k);\n"
              "                    if (memcmp(c[0], c[1], sizeof c[0]))\n"
              "                        return printf(\"%d differs at %d, %d, %d\\n\", i, (int)m, "
              "(int)n, (int)k);\n"
              "                }\n"
              "    return 0;\n}\n");
}

static void dot__every_pair_of_types__is_exactly_the_references(void **state)
{
    static const char *const types[] = {"int8_t", "uint8_t", "int16_t"};
    /* In 32 bits without a sign: of int16 they may be larger. */
    static const char *const bodies[] = {
        "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) { uint32_t sum = "
        "(uint32_t)j;\nfor (int64_t p = 0; p < k; p++) sum += (uint32_t)a[i * k + p] * "
        "(uint32_t)b[p * n + j];\nc[i * n + j] = (int32_t)(sum + 1); }",
        "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) { uint32_t sum = 0;\n"
        "for (int64_t p = 0; p < k; p++) sum = sum + (uint32_t)b[j * k + p] * (uint32_t)a[p * m + "
        "i];\nc[i * n + j] = (int32_t)sum; }",
        /* from 5 on, where there may be but 3 */
        "for (int64_t i = 0; i < m; i++) for (int64_t j = 0; j < n; j++) { uint32_t sum = 0;\n"
        "for (int64_t p = 5; p < k; p++) sum += (uint32_t)a[i * k + p] * (uint32_t)b[p * n + j];\n"
        "c[i * n + j] = (int32_t)sum; }"};
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf text = {0};
    char folder[] = "/tmp/kope-dot-XXXXXX";
    size_t count = 0;
    (void)state;
    (void)buf_append_str(&text, "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n");
    for (int t = 0; t < 18; t++) {
        const char *const pair[] = {types[t / 2 % 3], types[t / 6], "int32_t"};
        const int group = t % 2 == 0 ? 2 : 4;
        const char *body = bodies[(t / 2 + t / 6) % 3];
        const char *file = after(
            &arena, pair, body,
            arena_printf(&arena, "dot(i:%d,j:%d,p:%d)", 1 + t % 4, 16 + t % 3 * 16, group), &vnni);
        if (strstr(file, ": take 2"))
            continue;
        put_case(&text, arena_printf(&arena, "after_%zu", count), file);
        put_case(&text, arena_printf(&arena, "before_%zu", count),
                 after(&arena, pair, body, "", &vnni));
        count++;
    }
    assert_int_equal(count, 12);
    put_main(&text, count);
    assert_non_null(mkdtemp(folder));
    FILE *file = fopen(arena_printf(&arena, "%s/t.c", folder), "w");
    assert_non_null(file);
    assert_true(fputs(buf_text(&text), file) >= 0 && fclose(file) == 0);
    const int end =
        system(arena_printf(&arena,
                            "cd %s && gcc -std=gnu17 -O1 -w -Wno-psabi t.c -o plain && ./plain && "
                            "gcc -std=gnu17 -O1 -march=native -w -Wno-psabi t.c -o own && ./own",
                            folder));
    if (end != 0)
        fail_msg("see %s", folder);
    assert_int_equal(system(arena_printf(&arena, "rm -rf %s", folder)), 0);
}

static void nest_patterns__product_of_bytes__groups_that_the_machine_has(void **state)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest_pattern found[NEST_MAX_PATTERNS];
    struct nest *nest = NULL;
    const char *why = NULL;
    (void)state;
    assert_true(nest_read(&bytes,
                          "void f(const real *a, const real *b, int32_t *c, int32_t *y, int64_t m, "
                          "int64_t n, int64_t k)\n{\n" LOOPS
                          "real_load(a[i * k + p]) * real_load(b[p * n + j])" END "\n}\n",
                          &arena, &nest, &why));
    assert_in_range(nest_patterns(nest, &vnni, &arena, found), 6, 8);
    assert_string_equal(found[0].name, "nest-dot4-6x4");
    assert_string_equal(found[0].steps, "dot(i:6,j:64,p:4)");
    assert_true(found[0].is_exact);
    assert_in_range(nest_patterns(nest, &avx2, &arena, found), 3, 4);
    assert_string_equal(found[0].name, "nest-dot2-6x2");
    assert_string_equal(found[0].steps, "dot(i:6,j:16,p:2)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot__bytes_in_groups_of_four__panels_and_tiles),
        cmocka_unit_test(dot__operands_by_their_signs__in_their_places),
        cmocka_unit_test(dot__what_could_differ__is_refused),
        cmocka_unit_test(dot__an_operand_is_written__is_refused),
        cmocka_unit_test(dot__every_pair_of_types__is_exactly_the_references),
        cmocka_unit_test(nest_patterns__product_of_bytes__groups_that_the_machine_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
