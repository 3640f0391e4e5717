#include "illegal.h"

#include "program.h"
#include "random_nest.h"

#include "moves/nest/depend.h"
#include "moves/nest_move.h"

#include <stdio.h>
#include <string.h>

/* In every form %d are two distances d and e from 1; d is that of the outer loop. The refusal must
 * hold the words. */
struct form {
    const char *body, *steps;
    const char *words;
    int distances, inner; /* d from 1 to distances, e from 1 to inner */
};

#define FROM(d) "for (int64_t i = " d "; i < n; i++) "
#define TIME "for (int64_t t = 0; t < 4; t++) "
#define BAND(d, e)                                                                                 \
    "for (int64_t i = " d "; i < n; i++) for (int64_t j = " e "; j < m - " e "; j++) "

static const struct form forms[] = {
    {BAND("%1", "%2") "a[i * m + j] = a[(i - %1) * m + j + %2];", "interchange(i,j)",
     "dependence on a carried by i, distance (%1, -%2)", 5, 5},
    {BAND("%1", "%2") "a[i * m + j] = a[(i - %1) * m + j + %2] + b[j];", "tile(i:3,j:4)",
     "dependence on a carried by i, distance (%1, -%2)", 2, 5},
    {BAND("%1", "%2") "{ const uint32_t t = a[(i - %1) * m + j + %2]; a[i * m + j] = t; }",
     "jam(i:8)", "dependence on a carried by i, distance (%1, -%2)", 6, 5},
    {BAND("%1", "%2") "{ if (j > 3) a[i * m + j] += a[(i - %1) * m + j + %2]; }",
     "strip(j:4);interchange(i,j_s)", "dependence on a carried by i", 4, 4},
    {BAND("%1", "%2") "a[(i - %1) * m + j + %2] = a[i * m + j] * 2;", "interchange(i,j)",
     "dependence on a carried by i, distance (%1, -%2)", 5, 5},
    {BAND("%1", "%2") "a[(i - %1) * m + j + %2] = a[i * m + j] + a[i * m + j - 1];", "jam(i:8)",
     "dependence on a carried by i, distance (%1, ", 6, 5},
    {BAND("%1", "%2") "a[i * m + j] = a[(i - %1) * m + j + %2] - 1;", "tile(i:7,j:2)",
     "dependence on a carried by i, distance (%1, -%2)", 5, 5},
    {BAND("%1", "%2") "a[i * m + j] = a[(i - %1) * m + j + %2] - 1;",
     "strip(i:8);strip(j:2);interchange(i,j_s)", "dependence on a carried by i", 5, 5},
    {BAND("%1", "%2") "c[j * n + i] = c[(j + %2) * n + i - %1];", "interchange(i,j)",
     "dependence on c carried by i, distance (%1, -%2)", 5, 5},
    {BAND("%1",
          "%2") "{ if (b[j] > 8000000) a[i * m + j] = 1; else a[(i - %1) * m + j + %2] = 2; }",
     "interchange(i,j)", "dependence on a carried by i, distance (%1, -%2)", 5, 5},
    {BAND("%1", "%2") "for (int64_t p = 0; p < 3; p++) a[i * m + j] += a[(i - %1) * m + j + %2];",
     "interchange(i,j)", "dependence on a carried by i, distance (%1, -%2", 5, 5},
    {BAND("%1", "%2") "a[i * m + j] = a[i * m + j - %2] + y[i - %1];", "reverse(j)",
     "dependence on a carried by j, distance (%2)", 4, 5},
    {FROM("%1") "y[i] = y[i - %1] + 1;", "reverse(i)",
     "dependence on y carried by i, distance (%1)", 19, 1},
    {"for (int64_t i = 0; i < n - %1; i++) y[i] = y[i + %1] * 3;", "reverse(i)",
     "dependence on y carried by i, distance (%1)", 19, 1},
    {"for (int64_t i = 0; i < n * m - %1; i++) a[i] = a[i + %1] + 1;", "reverse(i)",
     "dependence on a carried by i, distance (%1)", 19, 1},
    {FROM("%1") "{ a[i * m] = b[i]; a[(i - %1) * m] = 1; }", "reverse(i)",
     "dependence on a carried by i, distance (%1)", 19, 1},
    {"for (int64_t i = %1; i < n * m; i++) a[i] = a[i - %1] + 1;", "streams(i:2)",
     "dependence on a carried by i, distance (%1)", 19, 1},
    {"uint32_t s = 0; for (int64_t i = 0; i < n * m; i++) { s += b[i]; a[i] = s * %1; }",
     "streams(i:3)", "dependence on s carried by i", 10, 1},
    {FROM("0") "y[i] = b[i]; for (int64_t j = 0; j < n; j++) a[j * m] = y[j + %1];", "fuse(i,j)",
     "dependence on y", 30, 1},
    {FROM("0") "y[i] = b[i]; for (int64_t j = 0; j < n; j++) a[j * m] = y[j + %1 + %2];",
     "fuse(i,j:%2)", "dependence on y", 10, 3},
    {FROM("%1") "a[i * m + 1] = y[i]; for (int64_t j = %1; j < n; j++) y[j + %2] = 1;", "fuse(i,j)",
     "dependence on y", 12, 4},
    {FROM("%1") "{ x[0] = a[(i - %1) * m + 1]; a[i * m + 1] = b[i]; }", "distribute(i:1)",
     "dependence on", 19, 1},
    {"for (int64_t i = 0; i < n - %1; i++) { a[i * m + 1] = b[i]; c[i] = a[(i + %1) * m + 1]; }",
     "distribute(i:1)", "dependence on a carried by i, distance (%1)", 19, 1},
    {"uint32_t t = 0; for (int64_t i = 0; i < n; i++) { y[i] = t; t = b[i * m + %1]; }",
     "reverse(i)", "dependence on t carried by i", 10, 1},
    {"uint32_t s = 0; for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m - %1; j++) { s += "
     "b[i * m + j + %1]; a[i * m + j] = s; }",
     "interchange(i,j)", "dependence on s carried by i", 5, 1},
    {"for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) { x[%1] += b[i * m + j]; c[j "
     "* "
     "n + i] = x[%1]; }",
     "tile(i:2,j:3)", "dependence on x carried by i", 5, 1},
    {"int32_t s = 0; for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) s += %1 * "
     "k[j]; y[0] = s;",
     "interchange(i,j)", "a sum of signed integers could overflow", 10, 1},
    {"uint32_t last = 0; for (int64_t i = 0; i < n; i++) { if (b[i * m] > %1) last = i; } y[0] = "
     "last;",
     "reverse(i)", "dependence on last carried by i", 10, 1},
    {"uint32_t s = 0; for (int64_t i = 0; i < n; i++) { s += b[i * m]; s *= %1 + 1; } y[0] = s;",
     "reverse(i)", "dependence on s carried by i", 10, 1},
    {"for (int64_t i = 0; i < n; i++) y[(i * i + %1) / 8] = b[i];", "reverse(i)",
     "dependence on y carried by i", 10, 1},
    {"for (int64_t i = 0; i < m; i++) { x[k[i]] = b[i + %1]; }", "reverse(i)",
     "dependence on x carried by i", 10, 1},
    {"uint32_t row[40]; for (int64_t i = 0; i < n; i++) { for (int64_t j = 0; j < m; j++) row[j] = "
     "b[i * m + j]; for (int64_t j = 0; j < m - %1; j++) a[i * m + j] = row[j + %1]; }",
     "jam(i:2)", "dependence on row carried by i", 5, 1},
    {TIME FROM("0") "y[i] += y[i + %1 + %2];", "skew(t:2,i:3,%1)", "dependence on y carried by t",
     6, 5},
    {TIME
     "for (int64_t i = 0; i < n - %1 - %2; i++) for (int64_t j = 0; j < m; j++) a[i * m + j] += "
     "a[(i + %1 + %2) * m + j] * 3;",
     "skew(t:3,i:2,%1)", "dependence on a carried by t", 5, 5},
    {TIME "{ " FROM("0") "y[i] += a[i * m]; " FROM("0") "a[i * m] += y[i + %1 + %2]; }",
     "skew(t:2,i:4,%1)", "dependence on y", 5, 5},
    {TIME "{ " FROM("%1 + %2") "y[i - %1 - %2] += a[i * m]; " FROM("%1 + %2") "a[i * m] += y[i]; }",
     "skew(t:2,i:4,%1)", "dependence on y", 5, 5},
    {TIME BAND("%1", "%2") "a[i * m + j] += a[(i - %1) * m + j + %2];", "skew(t:2,i:3,j:4,5)",
     "dependence on a carried by i, distance (0, %1, -%2)", 2, 5},
    {"for (int64_t i = 0; i < 2 * %1; i++) a[i * m] = a[(2 * %1 - 1 - i) * m] + 1;", "reverse(i)",
     "dependence on a carried by i", 5, 1},
};

/* Of a task in place: b is a. All of it would be legal where they were different memory. */
static const struct form in_place[] = {
    {BAND("%1", "%2") "a[i * m + j] = b[(i - %1) * m + j + %2];", "interchange(i,j)",
     "dependence on a carried by i, distance (%1, -%2)", 5, 5},
    {BAND("%1", "%2") "a[i * m + j] = b[(i - %1) * m + j + %2] + y[i];", "tile(i:3,j:4)",
     "dependence on a carried by i, distance (%1, -%2)", 2, 5},
    {BAND("%1", "%2") "{ const uint32_t *row = b + (i - %1) * m; a[i * m + j] = row[j + %2]; }",
     "jam(i:8)", "dependence on a carried by i, distance (%1, -%2)", 6, 5},
    {"for (int64_t i = 0; i < n - %1; i++) a[i * m] = b[(i + %1) * m] * 3;", "reverse(i)",
     "dependence on a carried by i, distance (%1)", 19, 1},
    {"for (int64_t i = 0; i < n - %1; i++) { a[i * m + 1] = y[i]; c[i] = b[(i + %1) * m + 1]; }",
     "distribute(i:1)", "dependence on a carried by i, distance (%1)", 19, 1},
    {"for (int64_t i = 0; i < n - %1; i++) c[i] = b[i * m]; for (int64_t j = 0; j < n - %1; j++) "
     "a[(j + %1) * m] = y[j];",
     "fuse(i,j)", "dependence on a", 19, 1},
    {TIME "for (int64_t i = 0; i < n - %1 - %2; i++) a[i * m] += b[(i + %1 + %2) * m];",
     "skew(t:2,i:3,%1)", "dependence on a carried by t", 6, 5},
};

/* %1 and %2 filled in. */
static char *fill(const char *text, int d, int e, struct arena *arena)
{
    char *out = arena_strdup(arena, text);
    for (char *at = strstr(out, "%"); at; at = strstr(out, "%"))
        out = arena_printf(arena, "%.*s%d%s", (int)(at - out), out, at[1] == '1' ? d : e, at + 2);
    return out;
}

/* --- moves that do not ask
 * -------------------------------------------------------------------------
 */

static bool is_forced;

bool __real_depend_allows(struct depend *depend, depend_reorder reorder, void *context,
                          const struct depend_opts *opts, struct depend_answer *answer);
bool __wrap_depend_allows(struct depend *depend, depend_reorder reorder, void *context,
                          const struct depend_opts *opts, struct depend_answer *answer);
bool __wrap_depend_allows(struct depend *depend, depend_reorder reorder, void *context,
                          const struct depend_opts *opts, struct depend_answer *answer)
{
    if (!is_forced)
        return __real_depend_allows(depend, reorder, context, opts, answer);
    *answer = (struct depend_answer){0};
    return true;
}

bool __real_depend_is_parallel(struct depend *depend, const struct nest_stmt *loop,
                               const struct depend_opts *opts, struct depend_answer *answer);
bool __wrap_depend_is_parallel(struct depend *depend, const struct nest_stmt *loop,
                               const struct depend_opts *opts, struct depend_answer *answer);
bool __wrap_depend_is_parallel(struct depend *depend, const struct nest_stmt *loop,
                               const struct depend_opts *opts, struct depend_answer *answer)
{
    if (!is_forced)
        return __real_depend_is_parallel(depend, loop, opts, answer);
    *answer = (struct depend_answer){0};
    return true;
}

bool __real_depend_may_relax(const struct nest_edit *edit, const struct depend_answer *answer,
                             const char **refusal);
bool __wrap_depend_may_relax(const struct nest_edit *edit, const struct depend_answer *answer,
                             const char **refusal);
bool __wrap_depend_may_relax(const struct nest_edit *edit, const struct depend_answer *answer,
                             const char **refusal)
{
    return is_forced || __real_depend_may_relax(edit, answer, refusal);
}

/* The text of the nest after the steps, whatever depends on what; NULL where they do not apply for
 * another reason. */
static const char *force(const struct nest *nest, const char *steps, struct arena *arena,
                         const char **why)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct nest *out = NULL;
    is_forced = true;
    const bool ok = nest_apply(nest, steps, NULL, arena, &out, why);
    is_forced = false;
    if (!ok)
        return NULL;
    nest_print(out, &text);
    return arena_strdup(arena, buf_text(&text));
}

/* --- the sequences -----------------------------------------------------------------------------
 */

static bool check_one(const struct form *form, bool is_in_place, int d, int e, struct program *p)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = NULL;
    struct nest *out = NULL;
    const char *why = NULL;
    const char *body = fill(form->body, d, e, &arena);
    const char *words = fill(form->words, d, e, &arena);
    const char *steps = fill(form->steps, d, e, &arena);
    const char *source = arena_printf(
        &arena,
        "#include <stdint.h>\nvoid f(uint32_t *a, const uint32_t *b, uint32_t *c, uint32_t *x, "
        "uint32_t *y, const int32_t *k, int64_t n, int64_t m)\n{\n%s\n}\n",
        body);
    const struct task *task = is_in_place ? &random_nest_in_place_task : &random_nest_task;
    if (!nest_read(task, source, &arena, &nest, &why)) {
        (void)printf("not read: %s\n%s\n", why, body);
        return false;
    }
    if (nest_apply(nest, steps, NULL, &arena, &out, &why)) {
        (void)printf("%s is ACCEPTED for\n%s\n", steps, body);
        return false;
    }
    if (!strstr(why, words)) {
        (void)printf("%s is refused by '%s', and not by '%s', for\n%s\n", steps, why, words, body);
        return false;
    }
    if (strstr(words, "could overflow"))
        return true; /* what comes of it is not defined, and may be the same */
    const char *forced = force(nest, steps, &arena, &why);
    if (!forced) {
        (void)printf("%s cannot be done at all (%s) for\n%s\n", steps, why, body);
        return false;
    }
    const struct variant variant = {.reference = program_add_reference(p, source),
                                    .is_in_place = is_in_place,
                                    .must_differ = true,
                                    .steps = steps};
    program_add_variant(p, forced, &variant);
    return true;
}

struct tally {
    size_t every, at, count, wrong;
};

static void check_forms(const struct form *list, size_t length, bool is_in_place,
                        struct program *program, struct tally *tally)
{
    for (size_t i = 0; i < length; i++) {
        for (int d = 1; d <= list[i].distances; d++) {
            for (int e = 1; e <= list[i].inner; e++) {
                if (tally->at++ % tally->every > 0)
                    continue;
                tally->count++;
                tally->wrong += !check_one(&list[i], is_in_place, d, e, program);
            }
        }
    }
}

bool check_illegal(size_t every, const char *compiler, const char *dir)
{
    struct program program = {0};
    struct tally tally = {.every = every};
    check_forms(forms, sizeof forms / sizeof *forms, false, &program, &tally);
    check_forms(in_place, sizeof in_place / sizeof *in_place, true, &program, &tally);
    const bool harm = program_run(&program, compiler, dir, "illegal");
    (void)printf("%zu illegal sequences: %s; %zu of them done nevertheless: %s\n", tally.count,
                 tally.wrong ? "SOME ARE NOT REFUSED AS THEY MUST BE"
                             : "each refused with the dependence that forbids it",
                 program.variant_count,
                 harm ? "each gives another result" : "SOME GIVE THE SAME RESULT");
    program_free(&program);
    return tally.wrong == 0 && harm;
}
