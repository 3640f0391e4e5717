/*
 * Do moves keep what a nest means? Random nests, random sequences of moves: what is not refused is
 * printed, compiled and run beside the reference, and every buffer must be the same bit for bit
 * (sums of whole numbers: exact in any order). And sequences that are illegal by construction: each
 * must be refused, with the dependence that forbids it. And loops over time steps in strips, of
 * which all must apply (sweeps.h).
 *
 * use: moves_exec [--sequences N] [--nests N] [--seed N] [--illegal ONE_IN] [--cc COMPILER]
 *                 [--keep]
 */
#include "grids.h"
#include "illegal.h"
#include "program.h"
#include "random_nest.h"

#include "base/buf.h"
#include "base/str.h"
#include "moves/nest_move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* LANES of a vector of 32 bytes. */
enum { FILE_SEQUENCES = 250, MOST_STEPS = 5, STEP_ATTEMPTS = 12, LANES = 8 };

struct options {
    int64_t sequences, nests, seed;
    int64_t every; /* of the illegal sequences one in so many */
    const char *compiler;
    bool keep;
};

struct counts {
    size_t applied, refused, steps, files, failed;
};

/* --- random steps ------------------------------------------------------------------------------
 */

struct names {
    const char *items[200];
    size_t count;
};

static bool note_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct names *names = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && names->count < sizeof names->items / sizeof *names->items)
        names->items[names->count++] = stmt->name;
    return true;
}

/* Forms of steps: L a loop, S one that searches, P a loop and the one in it or behind it, Q both
 * with factors, T the same of a loop over time steps, R both with the second in vectors, A an
 * array, V a local array or variable, F a small factor, W rounds in one to three vectors, D rows,
 * columns in vectors and the loop in them.
 */
static const char *const forms[] = {
    "interchange(P)",  "interchange(L,L)", "tile(Q)",         "jam(L:F)",     "unroll(L:F)",
    "distribute(L:F)", "distribute(L:1)",  "fuse(P)",         "reverse(L)",   "strip(L:F)",
    "restrict()",      "peel(L:1)",        "peel(L:F)",       "unswitch(L)",  "accumulate(V)",
    "expand(V,L)",     "expand(V,L)",      "promote(A,L)",    "promote(V,L)", "privatize(V,L)",
    "jam(L:2)",        "vectorize(L:W)",   "vectorize(L:W)",  "regtile(R)",   "pack(A:L)",
    "pack(A:L,L)",     "transpose(P)",     "prefetch(L,L:F)", "stream(L)",    "reciprocal(L)",
    "coalesce(P)",     "coalesce(P)",      "pin(L)",          "pin(L)",       "fuse(P:F)",
    "fuse(P:1)",       "argmax(S)",        "argmax(L)",       "dot(D)",       "dot(D)",
    "skew(T)",         "skew(T,2)",        "skew(T,F)",       "pad(A:L)",     "pad(A,L)",
    "streams(L:F)",    "streams(L:2)",
};

static const char *loop_behind(const struct nest *nest, const char *name)
{
    const struct nest_stmt *loop = nest_find_loop(nest, name);
    const struct nest_stmt *next =
        loop->body && loop->body->kind == NEST_FOR ? loop->body : loop->next;
    return next && next->kind == NEST_FOR ? next->name : name;
}

/* A local variable or array, or a loop where there is none. */
static const char *random_local(const struct nest *nest, struct rng *rng)
{
    const char *found = "i";
    uint64_t count = 0;
    for (size_t i = 0; i < nest->symbol_count; i++) {
        const struct nest_symbol *symbol = nest->symbols[i];
        if (!symbol->is_parameter && symbol->kind != NEST_COUNTER && rng_below(rng, ++count) == 0)
            found = symbol->name;
    }
    return found;
}

/* The first loop that searches, or `other`. */
static const char *search_of(const struct names *loops, const char *other)
{
    for (size_t i = 0; i < loops->count; i++) {
        if (loops->items[i][0] == RANDOM_NEST_SEARCH)
            return loops->items[i];
    }
    return other;
}

/* "i:3,j:16,p:2" for the first loop that holds one which holds one. */
static void put_dot(const struct nest *nest, struct rng *rng, const struct names *loops,
                    struct buf *out)
{
    const struct nest_stmt *rows = NULL;
    const struct nest_stmt *columns = NULL;
    const struct nest_stmt *sum = NULL;
    for (size_t i = 0; i < loops->count && !sum; i++) {
        rows = nest_find_loop(nest, loops->items[i]);
        columns = rows->body && rows->body->kind == NEST_FOR ? rows->body : NULL;
        for (sum = columns ? columns->body : NULL; sum && sum->kind != NEST_FOR;)
            sum = sum->next;
    }
    (void)buf_printf(out, "%s:%d,%s:%d,%s:%d", rows ? rows->name : "", 1 + (int)rng_below(rng, 6),
                     columns ? columns->name : "i", LANES * (1 + (int)rng_below(rng, 3)),
                     sum ? sum->name : "i", rng_below(rng, 2) == 0 ? 2 : 4);
}

/* "time:3,i:4" of the loop over time steps, or of another one; now and then with the loop in it. */
static void put_sweeps(const struct nest *nest, struct rng *rng, const char *other, struct buf *out)
{
    const char *time = nest_find_loop(nest, RANDOM_NEST_TIME) ? RANDOM_NEST_TIME : other;
    const struct nest_stmt *body = nest_find_loop(nest, time)->body;
    const char *first = body && body->kind == NEST_FOR ? body->name : other;
    const char *inner = loop_behind(nest, first);
    (void)buf_printf(out, "%s:%d,%s:%d", time, 2 + (int)rng_below(rng, 6), first,
                     2 + (int)rng_below(rng, 9));
    if (rng_below(rng, 3) == 0)
        (void)buf_printf(out, ",%s:%d", inner, 2 + (int)rng_below(rng, 9));
}

static const char *random_step(const struct nest *nest, struct rng *rng, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct names loops = {0};
    (void)nest_walk(nest->body, note_loop, &loops);
    /* Few nests hold narrow integers or time steps: there it is asked for often. */
    const char *form = strstr(nest->signature, "int8_t *b") || strstr(nest->signature, "int16_t *b")
                           ? "dot(D)"
                       : nest_find_loop(nest, RANDOM_NEST_TIME) ? "skew(T,2)"
                                                                : NULL;
    if (!form || rng_below(rng, 2) == 0)
        form = forms[rng_below(rng, sizeof forms / sizeof *forms)];
    for (; *form; form++) {
        const char *loop = loops.items[rng_below(rng, loops.count)];
        const int factor = 2 + (int)rng_below(rng, 4);
        if (*form == 'L')
            (void)buf_append_str(&text, loop);
        else if (*form == 'S')
            (void)buf_append_str(&text, search_of(&loops, loop));
        else if (*form == 'P')
            (void)buf_printf(&text, "%s,%s", loop, loop_behind(nest, loop));
        else if (*form == 'Q')
            (void)buf_printf(&text, "%s:%d,%s:%d", loop, factor, loop_behind(nest, loop),
                             factor + 1);
        else if (*form == 'T')
            put_sweeps(nest, rng, loop, &text);
        else if (*form == 'R')
            (void)buf_printf(&text, "%s:%d,%s:%d", loop, factor, loop_behind(nest, loop),
                             LANES * (factor / 2));
        else if (*form == 'D')
            put_dot(nest, rng, &loops, &text);
        else if (*form == 'W')
            (void)buf_printf(&text, "%d", LANES * (factor - 1 > 3 ? 1 : factor - 1));
        else if (*form == 'F')
            (void)buf_printf(&text, "%d", factor);
        else if (*form == 'A')
            (void)buf_append_str(&text, nest->symbols[rng_below(rng, nest->symbol_count)]->name);
        else if (*form == 'V')
            (void)buf_append_str(&text, random_local(nest, rng));
        else
            (void)buf_append_char(&text, *form);
    }
    return arena_strdup(arena, buf_text(&text));
}

/* Steps of which at least one applies, or NULL. */
static const char *random_sequence(const struct nest *nest, struct rng *rng, struct arena *arena,
                                   struct nest **out, struct counts *counts)
{
    static const struct nest_target target = {
        .vector_bytes = 32, .cache_bytes = {32768, 1 << 20, 1 << 24}, .family = "gcc"};
    const size_t wanted = 1 + (size_t)rng_below(rng, MOST_STEPS);
    const char *steps = NULL;
    const struct nest *now = nest;
    for (size_t i = 0, done = 0; done < wanted && i < STEP_ATTEMPTS; i++) {
        struct nest *next = NULL;
        const char *refusal = NULL;
        const char *step = random_step(now, rng, arena);
        if (!nest_apply(now, step, &target, arena, &next, &refusal)) {
            counts->refused++;
            continue;
        }
        steps = steps ? arena_printf(arena, "%s;%s", steps, step) : step;
        now = *out = next;
        done++;
        counts->steps++;
    }
    return steps;
}

/* --- the random part ---------------------------------------------------------------------------
 */

static char *print(const struct nest *nest, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    nest_print(nest, &text);
    return arena_strdup(arena, buf_text(&text));
}

/* One nest with its share of the sequences. */
static bool add_nest(struct program *p, int number, bool is_in_place, int64_t sequences,
                     struct rng *rng, struct counts *counts)
{
    const struct task *task = is_in_place ? &random_nest_in_place_task : &random_nest_task;
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = NULL;
    const char *why = NULL;
    const char *source = random_nest(rng, is_in_place, &arena);
    const bool is_real = strstr(source, "real *a") != NULL;
    if (!nest_read(task, source, &arena, &nest, &why) || nest->opaque_count > 0) {
        (void)printf("nest %d is not understood: %s\n%s", number, why ? why : "opaque", source);
        return false;
    }
    int64_t left = sequences;
    const int reference = program_add_reference(p, source);
    for (int64_t i = 0; i < sequences + sequences / 2 && sequences > 0; i++) {
        CLEANUP(arena_free) struct arena step = {0};
        struct nest *changed = NULL;
        struct nest *again = NULL;
        const char *steps = random_sequence(nest, rng, &step, &changed, counts);
        if (!steps)
            continue;
        const char *text = print(changed, &step);
        if (!nest_read(task, text, &step, &again, &why) ||
            again->opaque_count != changed->opaque_count || !str_equal(print(again, &step), text)) {
            (void)printf("%s is not read back (%s):\n%s", steps, why ? why : "opaque or different",
                         text);
            if (!why)
                (void)printf("but as\n%s", print(again, &step));
            return false;
        }
        program_add_variant(p, text,
                            &(struct variant){.reference = reference,
                                              .is_real = is_real,
                                              .is_in_place = is_in_place,
                                              .steps = steps});
        counts->applied++;
        if (--left == 0)
            break;
    }
    return true;
}

/* Half as many are in place. */
static bool check_random(const struct options *options, bool is_in_place, const char *dir)
{
    struct counts counts = {0};
    char name[40];
    bool ok = true;
    int64_t left = is_in_place ? (options->sequences + 1) / 2 : options->sequences;
    for (uint64_t file = 0; left > 0; file++) {
        struct program p = {0};
        const int64_t here = left < FILE_SEQUENCES ? left : FILE_SEQUENCES;
        struct rng rng = rng_seeded((uint64_t)options->seed + file);
        for (int i = 0; i < options->nests && ok; i++)
            ok = add_nest(&p, i, is_in_place,
                          (here - (int64_t)p.variant_count) / (options->nests - i), &rng, &counts);
        if (p.variant_count == 0 || !ok)
            return false;
        (void)snprintf(name, sizeof name, "%s%llu", is_in_place ? "in_place" : "nests",
                       (unsigned long long)file);
        ok = program_run(&p, options->compiler, dir, name);
        counts.failed += !ok;
        left -= here;
        counts.files++;
        program_free(&p);
    }
    (void)printf("%zu sequences with %zu steps on %zu nests%s: %s; %zu steps were refused\n",
                 counts.applied, counts.steps, (size_t)options->nests * counts.files,
                 is_in_place ? " in place" : "",
                 counts.failed ? "SOME DIFFER" : "all give the reference's result", counts.refused);
    return counts.failed == 0;
}

static bool parse(int argc, char **argv, struct options *out)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        int64_t *number = str_equal(argv[i], "--sequences") ? &out->sequences
                          : str_equal(argv[i], "--nests")   ? &out->nests
                          : str_equal(argv[i], "--seed")    ? &out->seed
                          : str_equal(argv[i], "--illegal") ? &out->every
                                                            : NULL;
        if (str_equal(argv[i], "--keep")) {
            out->keep = true;
        } else if (str_equal(argv[i], "--cc") && value) {
            out->compiler = value;
            i++;
        } else if (number && value && str_parse_int64(value, number) && *number >= 0) {
            i++;
        } else {
            (void)fprintf(stderr, "moves_exec: '%s' is not understood\n", argv[i]);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {
        .sequences = 60, .nests = 12, .seed = 1, .every = 7, .compiler = "cc"};
    char dir[] = "/tmp/kope-moves-XXXXXX";
    char command[100];
    if (!parse(argc, argv, &options) || options.nests == 0 || !mkdtemp(dir))
        return 2;
    const bool refuses =
        check_illegal(options.every > 0 ? (size_t)options.every : 1, options.compiler, dir);
    const bool are_grids_kept = check_grids(options.compiler, dir);
    const bool is_random_kept = check_random(&options, false, dir);
    const bool ok =
        check_random(&options, true, dir) && is_random_kept && are_grids_kept && refuses;
    if (options.keep || !ok)
        (void)printf("the programs are in %s\n", dir);
    else if (snprintf(command, sizeof command, "rm -r %s", dir) > 0 && system(command) != 0)
        return 2;
    return ok ? 0 : 1;
}
