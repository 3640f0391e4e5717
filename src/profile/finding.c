#include "profile/profile.h"

#include "base/str.h"

#include <assert.h>
#include <string.h>

/* Priors, from what each move does: the first is the likeliest to help. What they gained where a
 * kind was found is learned from outcomes on top of this. */
static const struct {
    const char *name;
    const char *const moves[12];
} kinds[] = {
    [FINDING_DEPENDENCE] = {"dependence",
                            {"step-privatize", "step-expand", "step-distribute", "simd-scan",
                             "step-interchange", "step-peel", "step-reverse", "polly"}},
    [FINDING_ALIASING] = {"aliasing", {"restrict", "step-restrict", "vectorize", "nest-vectors"}},
    [FINDING_SUM_ORDER] = {"sum-order",
                           {"reassociate", "nest-vectors", "turn-sums", "vectorize", "strip",
                            "simd-reductions", "nest-tile", "step-accumulate"}},
    [FINDING_REDUCTION] = {"reduction",
                           {"nest-vectors", "step-argmax", "simd-reductions", "simd-scan",
                            "vectorize", "finite-only", "reassociate"}},
    [FINDING_CALLS] = {"calls", {"nest-vectors", "vector-math", "vectorize", "flatten"}},
    [FINDING_CONTROL_FLOW] = {"control-flow",
                              {"nest-vectors", "step-unswitch", "no-trapping", "step-argmax",
                               "simd-reductions", "finite-only", "compiler"}},
    [FINDING_TRIP_COUNT] = {"trip-count", {"nest-vectors", "step-peel", "compiler"}},
    [FINDING_STRIDE] = {"stride",
                        {"step-interchange", "nest-transpose", "step-transpose", "strip",
                         "turn-sums", "step-pack", "step-tile", "nest-tile"}},
    [FINDING_COST] = {"cost", {"nest-vectors", "vectorize", "cost-unlimited", "simd"}},
    [FINDING_NOT_VECTORIZED] = {"not-vectorized",
                                {"nest-vectors", "vectorize", "strip", "turn-sums", "simd",
                                 "compiler"}},
    [FINDING_SCALAR] = {"scalar",
                        {"nest-vectors", "vectorize", "strip", "turn-sums", "nest-tile", "simd"}},
    [FINDING_NARROW] = {"narrow-vectors", {"nest-vectors", "width-512", "nest-tile"}},
    [FINDING_SPILLS] = {"spills", {"shorter-tile", "narrower-tile", "no-unroll", "width-256"}},
    [FINDING_CHAIN] = {"chain",
                       {"reassociate", "nest-tile", "nest-vectors", "vectorize", "turn-sums",
                        "strip", "simd-reductions", "unroll"}},
    [FINDING_DIVIDES] = {"divides", {"step-reciprocal", "reciprocal", "nest-vectors"}},
    [FINDING_SHUFFLES] = {"shuffles",
                          {"reassociate", "turn-sums", "nest-tile", "step-pack", "step-interchange",
                           "step-transpose", "nest-transpose"}},
    [FINDING_LOADS] = {"loads",
                       {"nest-tile", "step-regtile", "step-jam", "step-promote", "taller-tile",
                        "wider-tile"}},
    [FINDING_STORES] = {"stores",
                        {"nest-tile", "step-promote", "step-accumulate", "step-interchange"}},
    [FINDING_ARITHMETIC] = {"arithmetic", {"contract-fast", "step-reciprocal", "width-512"}},
    [FINDING_FRONT_END] = {"front-end",
                           {"nest-vectors", "nest-tile", "unroll", "taller-tile", "wider-tile"}},
    [FINDING_HOT_LINE] = {"hot-line",
                          {"nest-vectors", "nest-tile", "vectorize", "strip", "turn-sums",
                           "step-unroll", "compiler"}},
    [FINDING_L1_MISSES] = {"l1-misses",
                           {"step-interchange", "nest-tile", "nest-transpose", "step-tile",
                            "step-pack", "step-transpose", "turn-sums", "nest-stencil"}},
    [FINDING_L2_MISSES] = {"l2-misses",
                           {"step-tile", "nest-tile", "nest-pack", "step-pack", "step-fuse",
                            "nest-transpose", "strip", "step-interchange", "nest-time",
                            "nest-streams"}},
    [FINDING_PASSES] = {"passes",
                        {"step-fuse", "nest-time", "nest-vectors", "flatten", "strip",
                         "step-promote", "step-stream", "step-skew"}},
};
static_assert(sizeof kinds / sizeof *kinds == FINDING_KINDS, "name each kind");

const char *finding_kind_name(enum finding_kind kind)
{
    return kinds[kind].name;
}

bool finding_kind_parse(const char *name, enum finding_kind *out)
{
    for (size_t i = 0; i < FINDING_KINDS; i++) {
        if (str_equal(kinds[i].name, name)) {
            *out = (enum finding_kind)i;
            return true;
        }
    }
    return false;
}

const char *const *finding_moves(enum finding_kind kind)
{
    return kinds[kind].moves;
}

int finding_move_rank(enum finding_kind kind, const char *move)
{
    const char *const *moves = kinds[kind].moves;
    for (int i = 0; moves[i]; i++) {
        const size_t length = strlen(moves[i]);
        if (strncmp(move, moves[i], length) == 0 && (move[length] == '\0' || move[length] == '-'))
            return i;
    }
    return -1;
}
