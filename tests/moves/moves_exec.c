/*
 * Do moves keep what a nest means? Random nests, random sequences of moves: what is not refused is
 * printed, compiled and run beside the reference, and every buffer must be the same bit for bit
 * (sums of whole numbers: exact in any order). And sequences that are illegal by construction: each
 * must be refused, with the dependence that forbids it.
 *
 * use: moves_exec [--sequences N] [--nests N] [--seed N] [--illegal ONE_IN] [--cc COMPILER]
 *                 [--keep]
 */
#include "illegal.h"
#include "random_nest.h"

#include "base/buf.h"
#include "base/str.h"
#include "moves/nest_move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_SEQUENCES = 250, MOST_STEPS = 5, STEP_ATTEMPTS = 12 };

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

/* Forms of steps: L a loop, P a loop and the one in it or behind it, V a local array or variable, F
 * a small factor. */
static const char *const forms[] = {
    "interchange(P)",  "interchange(L,L)", "tile(Q)",      "jam(L:F)",     "unroll(L:F)",
    "distribute(L:F)", "distribute(L:1)",  "fuse(P)",      "reverse(L)",   "strip(L:F)",
    "restrict()",      "peel(L:1)",        "peel(L:F)",    "unswitch(L)",  "accumulate(V)",
    "expand(V,L)",     "expand(V,L)",      "promote(A,L)", "promote(V,L)", "privatize(V,L)",
    "jam(L:2)",
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

static const char *random_step(const struct nest *nest, struct rng *rng, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    struct names loops = {0};
    (void)nest_walk(nest->body, note_loop, &loops);
    const char *form = forms[rng_below(rng, sizeof forms / sizeof *forms)];
    for (; *form; form++) {
        const char *loop = loops.items[rng_below(rng, loops.count)];
        const int factor = 2 + (int)rng_below(rng, 4);
        if (*form == 'L')
            (void)buf_append_str(&text, loop);
        else if (*form == 'P')
            (void)buf_printf(&text, "%s,%s", loop, loop_behind(nest, loop));
        else if (*form == 'Q')
            (void)buf_printf(&text, "%s:%d,%s:%d", loop, factor, loop_behind(nest, loop),
                             factor + 1);
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

/* --- the program that compares -----------------------------------------------------------------
 */

static const char harness_head[] =
    "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#include <tgmath.h>\ntypedef float real;\n"
    "typedef void call(void *, const void *, void *, void *, void *, const int32_t *, int64_t, "
    "int64_t);\n"
    "struct variant { int nest, is_real; call *run; const char *steps; };\n";

static const char harness_main[] =
    "enum { EDGE = 64, ROOM = 40 * 40 + 2 * EDGE };\n"
    "static uint32_t drawn[5][ROOM], want[5][ROOM], got[5][ROOM];\n"
    "static int32_t at[40];\n"
    "static void draw(int is_real, int64_t m)\n{\n"
    "    static uint32_t state = 12345;\n"
    "    for (int b = 0; b < 5; b++)\n"
    "        for (int i = 0; i < ROOM; i++) {\n"
    "            state = state * 1664525u + 1013904223u;\n"
    "            const float small = (float)(state >> 29);\n"
    "            if (is_real)\n                memcpy(&drawn[b][i], &small, 4);\n"
    "            else\n                drawn[b][i] = state >> 8;\n"
    "        }\n"
    "    for (int i = 0; i < 40; i++) {\n"
    "        state = state * 1664525u + 1013904223u;\n"
    "        at[i] = (int32_t)((state >> 8) % (uint32_t)m);\n    }\n}\n"
    "static void run(call *f, uint32_t (*to)[ROOM], int64_t n, int64_t m)\n{\n"
    "    memcpy(to, drawn, sizeof drawn);\n"
    "    f(to[0] + EDGE, to[1] + EDGE, to[2] + EDGE, to[3] + EDGE, to[4] + EDGE, at, n, m);\n}\n"
    "int main(void)\n{\n"
    "    static const int64_t sizes[][2] = {{6, 6}, {7, 9}, {16, 12}, {13, 17}, {33, 40}};\n"
    "    int wrong = 0;\n"
    "    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)\n"
    "        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {\n"
    "            const int64_t n = sizes[s][0], m = sizes[s][1];\n"
    "            draw(variants[v].is_real, m);\n"
    "            run(references[variants[v].nest], want, n, m);\n"
    "            run(variants[v].run, got, n, m);\n"
    "            if (memcmp(want, got, sizeof want) == 0)\n                continue;\n"
    "            printf(\"nest %d, n = %d, m = %d: %s differs\\n\", variants[v].nest, (int)n, "
    "(int)m, variants[v].steps);\n"
    "            wrong++;\n"
    "        }\n"
    "    return wrong ? 1 : 0;\n}\n";

struct program {
    struct buf functions, references, variants;
    size_t count;
};

static void add_function(struct program *p, const char *text, const char *name)
{
    (void)buf_printf(&p->functions, "#define f %s\n%s\n#undef f\n", name, text);
}

static bool write_program(const struct program *p, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    (void)fprintf(file, "%s%s", harness_head, buf_text(&p->functions));
    (void)fprintf(file, "static call *const references[] = {\n%s};\n", buf_text(&p->references));
    (void)fprintf(file, "static const struct variant variants[] = {\n%s};\n%s",
                  buf_text(&p->variants), harness_main);
    return fclose(file) == 0;
}

/* Compiles and runs; what differs is on stdout. */
static bool run_program(const struct program *p, const struct options *options, const char *dir,
                        size_t number)
{
    char command[1000];
    char path[300];
    (void)snprintf(path, sizeof path, "%s/nests%zu.c", dir, number);
    if (!write_program(p, path)) {
        (void)printf("cannot write %s\n", path);
        return false;
    }
    (void)snprintf(command, sizeof command,
                   "%s -std=c17 -O1 -w -o %s/nests%zu %s -lm && %s/nests%zu", options->compiler,
                   dir, number, path, dir, number);
    (void)fflush(stdout);
    return system(command) == 0;
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
static bool add_nest(struct program *p, int number, int64_t sequences, struct rng *rng,
                     struct counts *counts)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct nest *nest = NULL;
    const char *why = NULL;
    const char *source = random_nest(rng, &arena);
    const bool is_real = strstr(source, "real *a") != NULL;
    if (!nest_read(&random_nest_task, source, &arena, &nest, &why) || nest->opaque_count > 0) {
        (void)printf("nest %d is not understood: %s\n%s", number, why ? why : "opaque", source);
        return false;
    }
    char name[64];
    int64_t left = sequences;
    (void)snprintf(name, sizeof name, "reference_%d", number);
    add_function(p, source, name);
    (void)buf_printf(&p->references, "    (call *)%s,\n", name);
    for (int64_t i = 0; i < sequences + sequences / 2 && sequences > 0; i++) {
        CLEANUP(arena_free) struct arena step = {0};
        struct nest *changed = NULL;
        struct nest *again = NULL;
        const char *steps = random_sequence(nest, rng, &step, &changed, counts);
        if (!steps)
            continue;
        const char *text = print(changed, &step);
        if (!nest_read(&random_nest_task, text, &step, &again, &why) || again->opaque_count > 0 ||
            !str_equal(print(again, &step), text)) {
            (void)printf("%s is not read back (%s):\n%s", steps, why ? why : "opaque or different",
                         text);
            if (!why)
                (void)printf("but as\n%s", print(again, &step));
            return false;
        }
        (void)snprintf(name, sizeof name, "variant_%d_%lld", number, (long long)i);
        add_function(p, text, name);
        (void)buf_printf(&p->variants, "    {%d, %d, (call *)%s, \"%s\"},\n", number, is_real, name,
                         steps);
        p->count++;
        counts->applied++;
        if (--left == 0)
            break;
    }
    return true;
}

static void program_free(struct program *p)
{
    buf_free(&p->functions);
    buf_free(&p->references);
    buf_free(&p->variants);
    *p = (struct program){0};
}

static bool check_random(const struct options *options, const char *dir)
{
    struct counts counts = {0};
    bool ok = true;
    int64_t left = options->sequences;
    for (uint64_t file = 0; left > 0; file++) {
        struct program p = {0};
        const int64_t here = left < FILE_SEQUENCES ? left : FILE_SEQUENCES;
        struct rng rng = rng_seeded((uint64_t)options->seed + file);
        for (int i = 0; i < options->nests && ok; i++)
            ok = add_nest(&p, i, (here - (int64_t)p.count) / (options->nests - i), &rng, &counts);
        if (p.count == 0 || !ok)
            return false;
        ok = run_program(&p, options, dir, (size_t)file);
        counts.failed += !ok;
        left -= here;
        counts.files++;
        program_free(&p);
    }
    (void)printf("%zu sequences with %zu steps on %zu nests: %s; %zu steps were refused\n",
                 counts.applied, counts.steps, (size_t)options->nests * counts.files,
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
    const bool refuses = check_illegal(options.every > 0 ? (size_t)options.every : 1);
    const bool ok = check_random(&options, dir) && refuses;
    if (options.keep || !ok)
        (void)printf("the programs are in %s\n", dir);
    else if (snprintf(command, sizeof command, "rm -r %s", dir) > 0 && system(command) != 0)
        return 2;
    return ok ? 0 : 1;
}
