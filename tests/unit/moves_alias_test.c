/* Two arguments in one buffer: what is read of a source, and what moves and edits make of it. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "moves/edit.h"
#include "moves/nest_move.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct task in_place = {.name = "f",
                                     .entry = "f",
                                     .dtype = DTYPE_F32,
                                     .precision = PRECISION_NORMAL,
                                     .allow_reassociate = true,
                                     .axes = {{.name = "n", .minimum = 1, .maximum = 4096}},
                                     .axis_count = 1,
                                     .args = {{.name = "x", .rank = 1, .shape_text = {"n"}},
                                              {.name = "w", .rank = 1, .shape_text = {"n"}},
                                              {.name = "y",
                                               .rank = 1,
                                               .shape_text = {"n"},
                                               .role = ARG_OUT,
                                               .has_alias = true,
                                               .alias = 0}},
                                     .arg_count = 3};

#define HEAD "void f(const real *x, const real *w, real *y, int64_t n)\n"
#define LOOP "for (int64_t i = 0; i < n; i++) "

static struct nest *read_nest(const char *source, struct arena *arena)
{
    struct nest *nest = NULL;
    const char *why = NULL;
    if (!nest_read(&in_place, source, arena, &nest, &why))
        fail_msg("'%s' was not read: %s", source, why);
    return nest;
}

static const char *text_of(const struct nest *nest, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    nest_print(nest, &text);
    return arena_strdup(arena, buf_text(&text));
}

static void nest_read__two_share_a_buffer__one_name_stands_for_both(void **state)
{
    (void)state;
    static const struct {
        const char *head, *body, *printed;
    } cases[] = {
        {HEAD, LOOP "y[i] = x[i] + w[i];", "y[i] = y[i] + w[i];"},
        {HEAD, "const real *p = x + 1; " LOOP "y[i] = p[i];", "const real *p = y + 1;"},
        {"static real norm(const real *a, int64_t i)\n{\n    return a[i];\n}\n" HEAD,
         LOOP "y[i] = norm(x, i);", "y[i] = norm(y, i);"},
        /* by place, whatever the names are; also where they are those of others */
        {"void f(const real *in, const real *x, real *out, int64_t n)\n",
         LOOP "out[i] = in[i] + x[i];", "out[i] = out[i] + x[i];"},
        {"void f(const real *y, const real *w, real *x, int64_t n)\n", LOOP "x[i] = y[i];",
         "x[i] = x[i];"},
        /* a name of its own in a block */
        {HEAD, LOOP "{ const real x = w[i]; y[i] = x; }", "y[i] = x;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const struct nest *nest =
            read_nest(arena_printf(&arena, "%s{\n%s\n}\n", cases[i].head, cases[i].body), &arena);
        const char *text = text_of(nest, &arena);
        if (!strstr(text, cases[i].printed))
            fail_msg("'%s' is not in\n%s", cases[i].printed, text);
        assert_string_equal(text_of(read_nest(text, &arena), &arena), text);
    }
}

static void nest_read__name_is_hidden__is_not_understood(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const struct nest *nest =
        read_nest(HEAD "{\n" LOOP "{ const real y = w[i]; real t = x[i]; t += y; }\n}\n", &arena);
    assert_true(nest->opaque_count > 0);
    assert_non_null(strstr(text_of(nest, &arena), "real t = x[i];"));
    CLEANUP(buf_free) struct buf text = {0};
    nest_explain(nest, &arena, &text);
    assert_non_null(strstr(buf_text(&text), "'x' is the buffer of 'y', whose name is another "
                                            "thing's here"));
}

static void nest_apply__dependence_through_both_names__is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body, *steps, *why; /* why NULL: allowed */
    } cases[] = {
        {LOOP "y[i] = x[i] * w[i];", "reverse(i)", NULL},
        {LOOP "y[i] = w[n - 1 - i];", "reverse(i)", NULL},
        {"for (int64_t i = 0; i < n - 1; i++) y[i] = x[i + 1];", "reverse(i)",
         "dependence on y carried by i, distance (1)"},
        {LOOP "y[i] = x[n - 1 - i];", "reverse(i)", "dependence on y carried by i"},
        {"for (int64_t i = 0; i < n - 1; i++) y[i] = x[i + 1];", "vectorize(i:8)",
         "dependence on y carried by i"},
        {LOOP "y[i] = x[i] * w[i];", "vectorize(i:8)", NULL},
        {"for (int64_t i = 1; i < n; i++) y[i] = x[i - 1];", "vectorize(i:8)",
         "dependence on y carried by i"},
        {"for (int64_t j = 0; j < n; j++) { real s = 0; " LOOP "s += x[i]; y[j] = s; }",
         "interchange(j,i)", ""},
        {LOOP "y[0] += x[i];", "promote(y,i)", "loop 'i' does not use one element of 'y' only"},
        /* the input's name is the output's too */
        {LOOP "y[0] += x[i];", "promote(x,i)", "loop 'i' does not use one element of 'y' only"},
    };
    static const struct nest_target target = {
        .vector_bytes = 32, .cache_bytes = {32768, 1 << 20, 1 << 24}, .family = "gcc"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct nest *out = NULL;
        const char *refusal = NULL;
        const struct nest *nest =
            read_nest(arena_printf(&arena, HEAD "{\n%s\n}\n", cases[i].body), &arena);
        const bool ok = nest_apply(nest, cases[i].steps, &target, &arena, &out, &refusal);
        if (ok == (cases[i].why != NULL) || (!ok && !strstr(refusal, cases[i].why)))
            fail_msg("%s of '%s': '%s' is not '%s'", cases[i].steps, cases[i].body,
                     ok ? "allowed" : refusal, cases[i].why ? cases[i].why : "allowed");
    }
}

static void restrict__two_share_a_buffer__only_the_others_get_it(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena arena = {0};
    const char *const want = "void f(const real *x, const real *restrict w, real *y, int64_t n)\n";
    const char *const source = HEAD "{\n    " LOOP "\n        y[i] = x[i];\n}\n";
    struct nest *out = NULL;
    struct nest *again = NULL;
    const char *refusal = NULL;
    assert_true(nest_apply(read_nest(source, &arena), "restrict()", NULL, &arena, &out, &refusal));
    assert_non_null(strstr(text_of(out, &arena), want));
    assert_false(nest_apply(out, "restrict()", NULL, &arena, &again, &refusal));
    assert_non_null(strstr(refusal, "shares its buffer with another by the task's 'alias'"));
    const char *edited = edit_restrict(source, &in_place, &arena, &refusal);
    assert_non_null(edited);
    assert_non_null(strstr(edited, want));
    assert_null(edit_restrict(edited, &in_place, &arena, &refusal));
    assert_non_null(strstr(refusal, "shares its buffer with another by the task's 'alias'"));
}

/* Commas of attributes and comments part no parameters, and a star in a comment is no pointer. */
static void restrict__more_than_parameters_in_the_signature__is_looked_through(void **state)
{
    (void)state;
    static const struct {
        const char *head, *want;
    } cases[] = {
        {"__attribute__((nonnull(1, 2, 3))) " HEAD,
         "void f(const real *x, const real *restrict w, real *y, int64_t n)\n"},
        {"void f(const real *x /* rows, as they are */, const real *w, real *y, int64_t n)\n",
         "f(const real *x /* rows, as they are */, const real *restrict w, real *y, int64_t n)\n"},
        {"void f(const real *x, // a, b\n const real *w, real *y, int64_t n)\n",
         "// a, b\n const real *restrict w, real *y, int64_t n)\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        const char *source =
            arena_printf(&arena, "%s{\n    " LOOP "\n        y[i] = x[i];\n}\n", cases[i].head);
        struct nest *out = NULL;
        const char *refusal = NULL;
        assert_true(
            nest_apply(read_nest(source, &arena), "restrict()", NULL, &arena, &out, &refusal));
        if (!strstr(text_of(out, &arena), cases[i].want))
            fail_msg("'%s' is not in\n%s", cases[i].want, text_of(out, &arena));
        const char *edited = edit_restrict(source, &in_place, &arena, &refusal);
        assert_true(edited && strstr(edited, cases[i].want));
    }
}

/* The edits on text find buffers by themselves. */
static void edit_simd__two_share_a_buffer__dependence_is_seen(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool is_marked;
    } cases[] = {
        {"for (int64_t i = 0; i < n; i++)\n        y[i] = w[i] * 2;", true},
        {"for (int64_t i = 1; i < n; i++)\n        y[i] = x[i - 1];", false},
        {"const real *p = x;\n    for (int64_t i = 1; i < n; i++)\n        y[i] = p[i - 1];",
         false},
        {"const real *p = w;\n    for (int64_t i = 1; i < n; i++)\n        y[i] = p[i - 1];", true},
        {"real *q = y;\n    for (int64_t i = 1; i < n; i++)\n        q[i] = x[i - 1];", false},
    };
    static const char *const heads[] = {
        HEAD, "void f(const real x[], const real w[restrict], real *y, int64_t n)\n",
        "void f(const real *x, const real *w, real y[], int64_t n)\n"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t h = 0; h < 3; h++) {
            CLEANUP(arena_free) struct arena arena = {0};
            const char *refusal = NULL;
            const char *source = arena_printf(&arena, "%s{\n    %s\n}\n", heads[h], cases[i].body);
            const char *text = edit_simd(source, &in_place, (unsigned)SIMD_MAP, &arena, &refusal);
            if ((text != NULL) != cases[i].is_marked)
                fail_msg("%s: %s", source, text ? "is marked" : refusal);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nest_read__two_share_a_buffer__one_name_stands_for_both),
        cmocka_unit_test(nest_read__name_is_hidden__is_not_understood),
        cmocka_unit_test(nest_apply__dependence_through_both_names__is_refused),
        cmocka_unit_test(restrict__two_share_a_buffer__only_the_others_get_it),
        cmocka_unit_test(restrict__more_than_parameters_in_the_signature__is_looked_through),
        cmocka_unit_test(edit_simd__two_share_a_buffer__dependence_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
