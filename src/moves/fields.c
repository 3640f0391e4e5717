#include "moves/internal.h"

#include <string.h>

static const struct field_info fields[FIELD_COUNT] = {
    [FIELD_OPT] = {.name = "opt",
                   .always = true,
                   .options = {{.name = "3", .gcc = "-O3", .clang = "-O3"},
                               {.name = "2", .gcc = "-O2", .clang = "-O2"}}},
    [FIELD_MARCH] =
        {.name = "march",
         .always = true,
         .options = {{.name = "native", .gcc = "-march=native", .clang = "-march=native"},
                     {.name = "x86-64-v3",
                      .gcc = "-march=x86-64-v3",
                      .clang = "-march=x86-64-v3"}}},
    [FIELD_MTUNE] =
        {.name = "mtune",
         .options = {{.name = "native", .gcc = "", .clang = ""},
                     {.name = "haswell", .gcc = "-mtune=haswell", .clang = "-mtune=haswell"},
                     {.name = "skylake-avx512",
                      .gcc = "-mtune=skylake-avx512",
                      .clang = "-mtune=skylake-avx512"},
                     {.name = "znver3", .gcc = "-mtune=znver3", .clang = "-mtune=znver3"}}},
    [FIELD_WIDTH] = {.name = "width",
                     .options = {{.name = "native", .gcc = "", .clang = ""},
                                 {.name = "512",
                                  .gcc = "-mprefer-vector-width=512",
                                  .clang = "-mprefer-vector-width=512",
                                  .number = 512},
                                 {.name = "256",
                                  .gcc = "-mprefer-vector-width=256",
                                  .clang = "-mprefer-vector-width=256",
                                  .number = 256},
                                 {.name = "128",
                                  .gcc = "-mprefer-vector-width=128",
                                  .clang = "-mprefer-vector-width=128",
                                  .number = 128}}},
    [FIELD_FAST] = {.name = "fast",
                    .is_set = true,
                    .options = {{.name = "no-errno",
                                 .gcc = "-fno-math-errno",
                                 .clang = "-fno-math-errno",
                                 .requires = REQUIRE_FLOAT},
                                {.name = "no-trapping",
                                 .gcc = "-fno-trapping-math",
                                 .clang = "-fno-trapping-math",
                                 .requires = REQUIRE_FLOAT},
                                {.name = "no-signed-zeros",
                                 .gcc = "-fno-signed-zeros",
                                 .clang = "-fno-signed-zeros",
                                 .effect = EFFECT_REASSOCIATE,
                                 .requires = REQUIRE_FLOAT},
                                {.name = "associative",
                                 .gcc = "-fassociative-math",
                                 .clang = "-fassociative-math",
                                 .effect = EFFECT_REASSOCIATE,
                                 .requires = REQUIRE_FLOAT},
                                {.name = "reciprocal",
                                 .gcc = "-freciprocal-math",
                                 .clang = "-freciprocal-math",
                                 .effect = EFFECT_APPROXIMATE,
                                 .requires = REQUIRE_FLOAT},
                                {.name = "finite-only",
                                 .gcc = "-ffinite-math-only",
                                 .clang = "-ffinite-math-only",
                                 .effect = EFFECT_FINITE_ONLY,
                                 .requires = REQUIRE_FLOAT}}},
    [FIELD_CONTRACT] = {.name = "contract",
                        .options = {{.name = "plain", .gcc = "", .clang = ""},
                                    {.name = "fast",
                                     .clang = "-ffp-contract=fast",
                                     .effect = EFFECT_REASSOCIATE,
                                     .requires = REQUIRE_FLOAT},
                                    {.name = "off",
                                     .gcc = "-ffp-contract=off",
                                     .clang = "-ffp-contract=off",
                                     .effect = EFFECT_REASSOCIATE,
                                     .requires = REQUIRE_FLOAT}}},
    [FIELD_UNROLL] =
        {.name = "unroll",
         .options = {{.name = "plain", .gcc = "", .clang = ""},
                     {.name = "loops", .gcc = "-funroll-loops", .clang = "-funroll-loops"},
                     {.name = "4", .gcc = "-funroll-loops --param=max-unroll-times=4"},
                     {.name = "16", .gcc = "-funroll-loops --param=max-unroll-times=16"},
                     {.name = "none", .clang = "-fno-unroll-loops"}}},
    [FIELD_COST] = {.name = "cost",
                    .options = {{.name = "plain", .gcc = "", .clang = ""},
                                {.name = "unlimited", .gcc = "-fvect-cost-model=unlimited"},
                                {.name = "cheap", .gcc = "-fvect-cost-model=cheap"}}},
    [FIELD_VECLIB] = {.name = "veclib",
                      .options = {{.name = "none", .gcc = "", .clang = ""},
                                  {.name = "libmvec",
                                   .gcc = "",
                                   .clang = "-fveclib=libmvec",
                                   .effect = EFFECT_APPROXIMATE,
                                   .requires = REQUIRE_FLOAT}}},
    [FIELD_POLLY] =
        {.name = "polly",
         .options = {{.name = "off", .gcc = "", .clang = ""},
                     {.name = "tile", .clang = "-mllvm -polly", .requires = REQUIRE_POLLY},
                     {.name = "strip",
                      .clang = "-mllvm -polly -mllvm -polly-vectorizer=stripmine",
                      .requires = REQUIRE_POLLY}}},
    [FIELD_GRAPHITE] = {.name = "graphite",
                        .options = {{.name = "off", .gcc = "", .clang = ""},
                                    {.name = "nest",
                                     .gcc = "-fgraphite-identity -floop-nest-optimize",
                                     .requires = REQUIRE_GRAPHITE}}},
    [FIELD_SINGLE] = {.name = "constants",
                      .options = {{.name = "plain", .gcc = "", .clang = ""},
                                  {.name = "single",
                                   .gcc = "-fsingle-precision-constant",
                                   .effect = EFFECT_APPROXIMATE,
                                   .requires = REQUIRE_FLOAT32}}},
    [FIELD_RESTRICT] = {.name = "restrict",
                        .options = {{.name = "0", .gcc = "", .clang = ""},
                                    {.name = "1", .gcc = "", .clang = ""}}},
    [FIELD_FLATTEN] = {.name = "flatten",
                       .options = {{.name = "0", .gcc = "", .clang = ""},
                                   {.name = "1", .gcc = "", .clang = ""}}},
    [FIELD_SIMD] =
        {.name = "simd",
         .is_set = true,
         .options = {{.name = "map", .gcc = "", .clang = ""},
                     {.name = "reduce", .gcc = "", .clang = "", .effect = EFFECT_REASSOCIATE},
                     {.name = "extremum", .gcc = "", .clang = "", .effect = EFFECT_REASSOCIATE},
                     {.name = "scan", .gcc = "", .effect = EFFECT_REASSOCIATE}}},
    [FIELD_TILE] = {.name = "strip",
                    .options = {{.name = "0", .gcc = "", .clang = ""},
                                {.name = "16", .gcc = "", .clang = "", .number = 16},
                                {.name = "32", .gcc = "", .clang = "", .number = 32},
                                {.name = "64", .gcc = "", .clang = "", .number = 64},
                                {.name = "128", .gcc = "", .clang = "", .number = 128},
                                {.name = "256", .gcc = "", .clang = "", .number = 256}}},
};

const struct field_info *field_info(enum field field)
{
    return &fields[field];
}

bool field_find(const char *name, size_t length, enum field *out)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (strlen(fields[i].name) == length && memcmp(fields[i].name, name, length) == 0) {
            *out = (enum field)i;
            return true;
        }
    }
    return false;
}

bool field_option(enum field field, const char *name, size_t length, unsigned *out)
{
    const struct option *options = fields[field].options;
    for (unsigned i = 0; i < FIELD_MAX_OPTIONS && options[i].name; i++) {
        if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0) {
            *out = fields[field].is_set ? 1u << i : i;
            return true;
        }
    }
    return false;
}

const char *option_refusal(const struct moves_env *env, const struct moves_compiler *compiler,
                           const struct option *option, struct arena *arena)
{
    const bool is_clang = strcmp(compiler->family, "clang") == 0;
    const bool is_gcc = strcmp(compiler->family, "gcc") == 0;
    if ((!is_clang && !is_gcc) || !(is_clang ? option->clang : option->gcc))
        return arena_printf(arena, "%s does not have '%s'", compiler->name, option->name);
    if (option->requires == REQUIRE_POLLY && !compiler->has_polly)
        return arena_printf(arena, "%s has no polly", compiler->name);
    if (option->requires == REQUIRE_GRAPHITE && !compiler->has_graphite)
        return arena_printf(arena, "%s has no graphite", compiler->name);
    if (option->requires == REQUIRE_FLOAT32 && env->task->dtype != DTYPE_F32)
        return "constants are demoted in float32 tasks only";
    if (option->requires == REQUIRE_FLOAT && !dtype_is_float(env->task->dtype))
        return "the task has no floating-point numbers";
    if (option->number >= 128 && option->gcc[0] && env->vector_bytes > 0 &&
        option->number > 8 * env->vector_bytes)
        return arena_printf(arena, "this machine has no vectors of %d bits", option->number);
    return NULL;
}

unsigned recipe_effects(const struct recipe *recipe)
{
    unsigned effects = 0;
    for (int f = 0; f < FIELD_COUNT; f++)
        for (unsigned i = 0; i < FIELD_MAX_OPTIONS && fields[f].options[i].name; i++)
            if (fields[f].is_set ? (recipe->value[f] >> i) & 1u : recipe->value[f] == i)
                effects |= fields[f].options[i].effect;
    return effects;
}

const char *effects_refusal(const struct task *task, unsigned effects, struct arena *arena)
{
    if (effects == 0 || !dtype_is_float(task->dtype))
        return NULL; /* integers: sums of any order are equal */
    if (task->precision == PRECISION_EXACT)
        return arena_printf(arena, "task '%s' is exact: results must stay the same bit for bit",
                            task->name);
    if ((effects & EFFECT_FINITE_ONLY) && !task->finite_only)
        return arena_printf(arena, "task '%s' does not promise finite inputs (finite_only)",
                            task->name);
    if ((effects & EFFECT_REASSOCIATE) && !task->allow_reassociate)
        return arena_printf(arena, "task '%s' does not allow the order of sums to change",
                            task->name);
    if ((effects & EFFECT_APPROXIMATE) && task->precision == PRECISION_STRICT)
        return arena_printf(arena, "task '%s' is strict: approximate functions are not allowed",
                            task->name);
    return NULL;
}

const struct moves_compiler *moves_find_compiler(const struct moves_env *env, const char *name)
{
    for (size_t i = 0; i < env->compiler_count; i++)
        if (strcmp(env->compilers[i].name, name) == 0)
            return &env->compilers[i];
    return NULL;
}

const char *moves_change_of_flag(const char *flag, struct arena *arena)
{
    for (int f = 0; f < FIELD_COUNT; f++) {
        for (unsigned i = 0; i < FIELD_MAX_OPTIONS && fields[f].options[i].name; i++) {
            const struct option *option = &fields[f].options[i];
            const bool is_its = (option->gcc && strcmp(option->gcc, flag) == 0) ||
                                (option->clang && strcmp(option->clang, flag) == 0);
            if (is_its)
                return arena_printf(arena, "%s=%s", fields[f].name, option->name);
        }
    }
    return NULL;
}
