#include "moves/internal.h"

#include "base/str.h"

#include <string.h>

/* Parts that only pay together; what a task or a compiler does not allow is left out. */
#define ALLOWED_FAST "fast=no-errno?,no-trapping?,no-signed-zeros?,associative?,finite-only?"
#define ALL_LOOPS "simd=map?,reduce?,extremum?,scan?"

/* A row for each move; {compiler} in name and changes stands for the newest compiler of `family`.
 * Order: best bundle first. Priors are mean log-ratios over the twelve examples where the move
 * applies, measured from the plain recipe. */
struct row {
    const char *family;
    struct move move;
};

static const struct row rows[] = {
    {NULL,
     {"vectorize", "bundle",
      "let every loop run on vectors: allowed parts of fast-math, vector math functions, simd "
      "pragmas, strips of accumulators, restrict",
      "results differ in the last digits; signed zeros",
      ALLOWED_FAST " veclib=libmvec? restrict=1? " ALL_LOOPS " strip=64?", NUMERICS_EXACT, 1.5}},
    {NULL,
     {"vectorize-wide", "bundle",
      "let every loop run on vectors, with long strips of accumulators and unrolled loops",
      "results differ in the last digits; signed zeros",
      ALLOWED_FAST " veclib=libmvec? unroll=loops restrict=1? " ALL_LOOPS " strip=256?",
      NUMERICS_EXACT, 1.5}},
    {"clang",
     {"vectorize-{compiler}", "bundle", "let every loop run on vectors, compiled by {compiler}",
      "results differ in the last digits; signed zeros",
      "compiler={compiler} " ALLOWED_FAST
      " veclib=libmvec? restrict=1? simd=map?,reduce?,extremum? strip=64?",
      NUMERICS_EXACT, 1.3}},
    {NULL,
     {"vectorize-by-flags", "bundle",
      "let loops run on vectors by flags alone, without edits of the source",
      "results differ in the last digits; signed zeros", ALLOWED_FAST " veclib=libmvec?",
      NUMERICS_EXACT, 1.1}},
    {"clang",
     {"polly-{compiler}", "bundle", "tiles the loop nests by polly, vectorizes the innermost loops",
      "results differ in the last digits; signed zeros",
      "compiler={compiler} " ALLOWED_FAST " polly=strip restrict=1?", NUMERICS_EXACT, 0.6}},
    {NULL,
     {"vector-math", "math", "calls the vector functions of libmvec in place of the scalar ones",
      "function values differ by up to 4 ulp", "fast=no-errno,no-trapping veclib=libmvec",
      NUMERICS_APPROXIMATE, 1.0}},
    {NULL,
     {"reassociate", "math", "lets the compiler sum in several accumulators",
      "results differ in the last digits; signed zeros",
      "fast=no-errno,no-trapping,no-signed-zeros,associative", NUMERICS_REASSOCIATE, 0.6}},
    {NULL,
     {"strip-64", "strip", "sums 64 neighbouring results at once, in order in memory", "",
      "strip=64", NUMERICS_EXACT, 1.1}},
    {NULL,
     {"simd-scan", "simd-scan", "marks loops that store a running sum as vector scans",
      "results differ in the last digits", "simd=scan,map?", NUMERICS_REASSOCIATE, 1.1}},
    {NULL,
     {"simd-reductions", "simd", "marks loops that reduce to a scalar for vectors",
      "results differ in the last digits; a maximum may differ where a NaN is among the inputs",
      "simd=reduce?,extremum?,map?", NUMERICS_EXACT, 0.8}},
    {NULL,
     {"finite-only", "math", "lets the compiler assume that no value is NaN or infinite",
      "results for NaN and infinity", "fast=finite-only", NUMERICS_FINITE_ONLY, 0.2}},
};

static const struct row small_rows[] = {
    {NULL,
     {"simd-loops", "simd", "marks loops that write each element once for vectors", "", "simd=map",
      NUMERICS_EXACT, 0.0}},
    {NULL,
     {"strip-256", "strip", "sums 256 neighbouring results at once", "", "strip=256",
      NUMERICS_EXACT, 1.1}},
    {NULL,
     {"strip-128", "strip", "sums 128 neighbouring results at once", "", "strip=128",
      NUMERICS_EXACT, 1.1}},
    {NULL,
     {"strip-32", "strip", "sums 32 neighbouring results at once", "", "strip=32", NUMERICS_EXACT,
      0.8}},
    {NULL,
     {"strip-16", "strip", "sums 16 neighbouring results at once", "", "strip=16", NUMERICS_EXACT,
      0.6}},
    {NULL, {"unroll", "unroll", "unrolls loops", "", "unroll=loops", NUMERICS_EXACT, 0.0}},
    {NULL,
     {"width-512", "width", "prefers vectors of 512 bits", "", "width=512", NUMERICS_EXACT, 0.0}},
    {NULL,
     {"width-256", "width", "prefers vectors of 256 bits", "", "width=256", NUMERICS_EXACT, -0.02}},
    {NULL,
     {"restrict", "restrict", "tells the compiler that the arguments do not overlap", "",
      "restrict=1", NUMERICS_EXACT, 0.02}},
    {NULL,
     {"tune-haswell", "tune", "schedules for haswell", "", "mtune=haswell", NUMERICS_EXACT, 0.01}},
    {NULL,
     {"tune-skylake-avx512", "tune", "schedules for skylake-avx512", "", "mtune=skylake-avx512",
      NUMERICS_EXACT, 0.0}},
    {NULL, {"tune-znver3", "tune", "schedules for zen 3", "", "mtune=znver3", NUMERICS_EXACT, 0.0}},
    {NULL,
     {"reciprocal", "math", "divides by multiplying with the reciprocal",
      "quotients differ in the last digit", "fast=reciprocal", NUMERICS_APPROXIMATE, 0.01}},
    {NULL, {"unroll-4", "unroll", "unrolls loops four times", "", "unroll=4", NUMERICS_EXACT, 0.0}},
    {NULL,
     {"unroll-16", "unroll", "unrolls loops sixteen times", "", "unroll=16", NUMERICS_EXACT, 0.0}},
    {NULL,
     {"cost-unlimited", "cost", "vectorizes whatever can be, whatever it costs", "",
      "cost=unlimited", NUMERICS_EXACT, 0.0}},
    {NULL,
     {"contract-fast", "contract", "fuses multiply and add across statements",
      "results differ in the last digit", "contract=fast", NUMERICS_REASSOCIATE, 0.0}},
    {NULL,
     {"polly-tile", "polly", "tiles loop nests by polly", "", "polly=tile", NUMERICS_EXACT, -0.1}},
    {NULL,
     {"polly-strip", "polly", "tiles loop nests by polly and strip-mines for vectors", "",
      "polly=strip", NUMERICS_EXACT, -0.1}},
    {NULL,
     {"graphite", "graphite", "restructures loop nests by graphite", "", "graphite=nest",
      NUMERICS_EXACT, -0.2}},
    {NULL,
     {"no-trapping", "math", "ignores floating-point exceptions and errno", "",
      "fast=no-errno,no-trapping", NUMERICS_EXACT, 0.0}},
    {NULL,
     {"single-constants", "constants", "treats unsuffixed constants as float",
      "constants lose digits", "constants=single", NUMERICS_APPROXIMATE, 0.0}},
    {NULL,
     {"flatten", "inline", "inlines all that the entry point calls", "", "flatten=1",
      NUMERICS_EXACT, 0.0}},
    {NULL,
     {"march-v3", "march", "compiles for x86-64-v3 in place of this very machine", "",
      "march=x86-64-v3", NUMERICS_EXACT, -0.1}},
    {NULL, {"opt-2", "opt", "optimizes less", "", "opt=2", NUMERICS_EXACT, -0.05}},
    {NULL,
     {"contract-off", "contract", "does not fuse multiply and add",
      "results differ in the last digit", "contract=off", NUMERICS_REASSOCIATE, -0.05}},
    {NULL, {"no-unroll", "unroll", "keeps loops rolled", "", "unroll=none", NUMERICS_EXACT, -0.05}},
};

/* The newest compiler of the family; NULL. */
static const struct moves_compiler *newest(const struct moves_env *env, const char *family)
{
    const struct moves_compiler *best = NULL;
    for (size_t i = 0; i < env->compiler_count; i++)
        if (str_equal(env->compilers[i].family, family) &&
            (!best || env->compilers[i].major > best->major))
            best = &env->compilers[i];
    return best;
}

static const char *fill_in(const char *text, const char *compiler, struct arena *arena)
{
    static const char hole[] = "{compiler}";
    const char *at = strstr(text, hole);
    return at ? arena_printf(arena, "%.*s%s%s", (int)(at - text), text, compiler,
                             at + sizeof hole - 1)
              : text;
}

static size_t add_rows(const struct moves_env *env, const struct row *from, size_t count,
                       struct arena *arena, struct move *out)
{
    size_t added = 0;
    for (size_t i = 0; i < count; i++) {
        struct move move = from[i].move;
        if (from[i].family) {
            const struct moves_compiler *compiler = newest(env, from[i].family);
            if (!compiler)
                continue;
            move.name = fill_in(move.name, compiler->name, arena);
            move.intent = fill_in(move.intent, compiler->name, arena);
            move.changes = fill_in(move.changes, compiler->name, arena);
        }
        out[added++] = move;
    }
    return added;
}

/* A move for each compiler, the newest clang first: it is the one that differs most from the
 * default. */
static size_t add_compilers(const struct moves_env *env, struct arena *arena, struct move *out)
{
    const struct moves_compiler *best = newest(env, "clang");
    size_t added = 0;
    for (size_t i = 0; i < env->compiler_count; i++) {
        const struct moves_compiler *c = &env->compilers[i];
        const size_t at = c == best ? 0 : added;
        memmove(out + at + 1, out + at, (added - at) * sizeof *out);
        out[at] = (struct move){
            .name = arena_printf(arena, "compiler-%s", c->name),
            .group = "compiler",
            .intent = arena_printf(arena, "compiles by %s", c->name),
            .breaks = "",
            .changes = arena_printf(arena, "compiler=%s", c->name),
            .prior_log_ratio = c == best ? 0.05 : 0.0,
        };
        added++;
    }
    return added;
}

bool catalogue_make(const struct moves_env *env, struct arena *arena, const struct move **out,
                    size_t *out_count)
{
    const size_t large = sizeof rows / sizeof *rows, small = sizeof small_rows / sizeof *small_rows;
    struct move *moves = arena_array(
        arena, large + small + env->compiler_count + CATALOGUE_MAX_NEST + CATALOGUE_MAX_STEPS + 1,
        sizeof *moves);
    size_t count = catalogue_nest(env, arena, moves, CATALOGUE_MAX_NEST);
    count += add_rows(env, rows, large, arena, moves + count);
    count += add_compilers(env, arena, moves + count);
    count += add_rows(env, small_rows, small, arena, moves + count);
    count += catalogue_nest_steps(env, arena, moves + count, CATALOGUE_MAX_STEPS);
    *out = moves;
    *out_count = count;
    return true;
}
