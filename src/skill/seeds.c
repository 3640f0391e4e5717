#include "skill/seeds.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Where a move can pay, by the beginning of its name; the first row that fits. What it must have
 * besides, the move itself refuses in words. */
static const struct {
    const char *begins, *applies, *needs;
} scopes[] = {
    {"vectorize", "loops > 0", "vector_bytes >= 16"},
    {"vector-math", "float and approximate and calls > 0", "arch == x86_64"},
    {"reassociate", "float and reassociate and sums > 0", ""},
    {"strip-", "sums > 0 and depth >= 2", ""},
    {"simd-scan", "reassociate and scans > 0", "compiler(gcc)"},
    {"simd-reductions", "sums > 0 or extrema > 0", "vector_bytes >= 16"},
    {"simd-loops", "loops > 0", "vector_bytes >= 16"},
    {"finite-only", "float and finite", ""},
    {"unroll", "loops > 0", ""},
    {"no-unroll", "loops > 0", ""},
    {"width-512", "loops > 0", "vector_bytes >= 64"},
    {"width-256", "loops > 0", "vector_bytes >= 32"},
    {"reciprocal", "float and approximate and divisions > 0", ""},
    {"tune-", "", "arch == x86_64"},
    {"march-", "", "arch == x86_64"},
    {"polly", "understood and depth >= 2", "compiler(clang)"},
    {"graphite", "understood and depth >= 2", "compiler(gcc)"},
    {"contract-", "float and reassociate", ""},
    {"single-constants", "dtype == float32 and approximate", "compiler(gcc)"},
    {"no-trapping", "float", ""},
};

static const char *as_name(const char *name, struct arena *arena)
{
    char *out = arena_strdup(arena, name);
    for (char *c = out; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    return out;
}

void skill_seeds(const struct move *moves, size_t count, struct arena *arena,
                 struct graph_skill **out)
{
    struct graph_skill *seeds = arena_array(arena, count + 1, sizeof *seeds);
    for (size_t i = 0; i < count; i++) {
        seeds[i] = skill_blank("seed");
        seeds[i].name = as_name(moves[i].name, arena);
        seeds[i].intent = moves[i].intent;
        seeds[i].change = moves[i].changes;
        seeds[i].breaks = moves[i].breaks;
        for (size_t s = 0; s < sizeof scopes / sizeof *scopes; s++) {
            if (!str_starts_with(moves[i].name, scopes[s].begins))
                continue;
            seeds[i].applies = scopes[s].applies;
            seeds[i].needs = scopes[s].needs;
            break;
        }
        seeds[i].id = arena_strdup(arena, skill_make_id(&seeds[i]).text);
    }
    *out = seeds;
}
