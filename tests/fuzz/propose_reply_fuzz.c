/*
 * Any bytes as a model's reply: read into proposals or refused in words, never a crash. Each
 * proposal has a candidate within its cap or says why it has none; edits and moves are tried
 * against a parent that a recipe made.
 */
#include "base/arena.h"
#include "base/err.h"
#include "moves/moves.h"
#include "propose/reply.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char yaml_text[] = "name: scale2\nfamily: elementwise\ndtype: float32\naxes: [n]\n"
                                "args:\n  - {name: x, role: in, shape: [n]}\n"
                                "  - {name: y, role: out, shape: [n]}\ncases:\n  - {n: 7}\n"
                                "held_out:\n  - {n: 11}\n";
static const char reference[] =
    "#include <stdint.h>\nvoid scale2(const real *x, real *y, int64_t n)\n{\n"
    "    for (int64_t i = 0; i < n; i++)\n        y[i] = 2 * x[i];\n}\n";

static void check(const struct proposal *list)
{
    size_t count = 0;
    for (const struct proposal *p = list; p; p = p->next) {
        if (++count > REPLY_MAX_PROPOSALS)
            BUG("fuzz: more proposals than are allowed");
        if (!p->intent || !p->hypothesis || !isfinite(p->predicted_log_ratio))
            BUG("fuzz: a proposal that lacks something");
        if (!p->candidate.source || strlen(p->candidate.source) > CANDIDATE_MAX_SOURCE_BYTES ||
            p->candidate.flag_count > CANDIDATE_MAX_FLAGS || p->use_count > PROPOSAL_MAX_USES)
            BUG("fuzz: a candidate over its caps");
        if (!p->failure && p->candidate.source[0] == '\0')
            BUG("fuzz: neither a candidate nor a failure");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct moves_compiler compilers[] = {
        {.name = "gcc-12", .family = "gcc", .major = 12},
        {.name = "clang-19", .family = "clang", .major = 19, .has_polly = true}};
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err = {0};
    const struct task *task = NULL;
    struct candidate parent = {0};
    if (!task_parse(yaml_text, strlen(yaml_text), reference, "x", &arena, &task, &err))
        BUG("fuzz: %s", err.message);
    const struct moves_env env = {.task = task,
                                  .compilers = compilers,
                                  .compiler_count = 2,
                                  .default_compiler = "gcc-12",
                                  .vector_bytes = 32};
    struct reply_scope scope = {.task = task, .parent = &parent, .moves = &env};
    const struct recipe *plain = recipe_plain(&env, &arena);
    if (!moves_catalogue(&env, &arena, &scope.catalogue, &scope.catalogue_count) ||
        !recipe_candidate(&env, plain, &arena, &parent, &err))
        BUG("fuzz: no moves: %s", err.message);
    parent.recipe = recipe_text(plain, &arena);
    struct proposal out = {0};
    const char *problem =
        reply_read(arena_strndup(&arena, (const char *)data, size), &scope, &arena, &out);
    if (!problem)
        check(&out);
    else if (problem[0] == '\0' || out.intent)
        BUG("fuzz: a refusal without words, or half a proposal");
    return 0;
}
