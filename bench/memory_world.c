#include "memory_world.h"

#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct family {
    const char *name, *summary, *features, *reference;
};

#define KERNEL(body)                                                                               \
    "#include <math.h>\n#include <stdint.h>\nvoid %s(const real *x, real *y, int64_t n)\n{\n" body \
    "}\n"

static const struct family families[WORLD_FAMILIES] = {
    {"normalization", "softmax of each row", "exp max sum rows cols float32",
     KERNEL("    real sum = 0;\n    for (int64_t i = 0; i < n; i++)\n        sum += exp(x[i]);\n"
            "    for (int64_t i = 0; i < n; i++)\n        y[i] = exp(x[i]) / sum;\n")},
    {"contraction", "matrix times matrix", "multiply add rows cols inner float32",
     KERNEL("    for (int64_t i = 0; i < n; i++) {\n        y[i] = 0;\n"
            "        for (int64_t j = 0; j < n; j++)\n            y[i] += x[i] * x[j];\n    }\n")},
    {"elementwise", "gelu of each element", "tanh elements float32",
     KERNEL("    for (int64_t i = 0; i < n; i++)\n        y[i] = x[i] * tanh(x[i]);\n")},
    {"reduction", "sums in order", "sum rows order float32",
     KERNEL(
         "    real sum = 0;\n    for (int64_t i = 0; i < n; i++)\n        y[i] = sum += x[i];\n")},
    {"stencil", "mean of three neighbours", "window neighbours edges float32",
     KERNEL("    for (int64_t i = 0; i < n; i++)\n"
            "        y[i] = x[i] + (i > 0 ? x[i - 1] : 0) + (i + 1 < n ? x[i + 1] : 0);\n")},
    {"movement", "reverses", "copy order cache lines float32",
     KERNEL("    for (int64_t i = 0; i < n; i++)\n        y[i] = x[n - 1 - i];\n")},
};

static const char yaml[] = "name: %s\nfamily: %s\nsummary: %s\ndtype: float32\naxes: [n]\n"
                           "args:\n  - {name: x, role: in, shape: [n]}\n"
                           "  - {name: y, role: out, shape: [n]}\n"
                           "cases:\n  - {n: %d}\n  - {n: %d}\nheld_out:\n  - {n: %d}\n";

static const char *const targets[WORLD_TARGETS] = {
    "zen2 avx2 8 cores",         "zen3 avx2 16 cores",       "zen4 avx512 32 cores",
    "skylake avx512 24 cores",   "sapphire avx512 48 cores", "graviton3 sve 64 cores",
    "neoverse-n1 neon 64 cores", "rocket rvv 4 cores"};

/* Names and groups as in the catalogue of moves. */
static const char *const moves[] = {"vectorize",        "vectorize-wide",  "vectorize-by-flags",
                                    "vector-math",      "reassociate",     "strip-64",
                                    "simd-scan",        "simd-reductions", "finite-only",
                                    "simd-loops",       "strip-256",       "strip-128",
                                    "strip-32",         "strip-16",        "unroll",
                                    "width-512",        "width-256",       "restrict",
                                    "tune-haswell",     "tune-znver3",     "reciprocal",
                                    "unroll-4",         "unroll-16",       "cost-unlimited",
                                    "contract-fast",    "polly-tile",      "polly-strip",
                                    "graphite",         "no-trapping",     "flatten",
                                    "single-constants", "march-v3",        "opt-2",
                                    "contract-off",     "no-unroll"};
enum { MOVES = sizeof moves / sizeof *moves };

static const char *const first_words[] = {
    "loop",      "vector", "cache",    "tile",     "unroll",   "stride",    "row",       "column",
    "register",  "spill",  "latency",  "memory",   "bound",    "compute",   "branch",    "prefetch",
    "store",     "load",   "aliasing", "pointer",  "restrict", "float32",   "reduction", "sum",
    "exp",       "tanh",   "divide",   "multiply", "fma",      "lanes",     "mask",      "tail",
    "remainder", "inner",  "outer",    "block",    "pack",     "transpose", "layout",    "align"};

/* The same in every world of any seed: what a move is worth for a family on a target. */
static double effect(int move, int family, int target)
{
    const int key[] = {move, family, target};
    struct rng by_family = rng_seeded(hash_fnv1a(key, 2 * sizeof *key));
    struct rng by_target = rng_seeded(hash_fnv1a(key, sizeof key));
    return 0.12 * rng_normal(&by_family) + 0.05 * rng_normal(&by_target);
}

static void make_words(struct rng *rng, struct arena *arena, struct world *out)
{
    static const char *const syllables[] = {"ba", "co", "de", "fu", "gi", "lo", "ma", "ne",
                                            "pi", "ra", "se", "ti", "vo", "wa", "xi", "zu"};
    double total = 0.0;
    out->words = arena_array(arena, WORLD_WORDS, sizeof *out->words);
    out->shares = arena_array(arena, WORLD_WORDS, sizeof *out->shares);
    for (size_t i = 0; i < WORLD_WORDS; i++) {
        if (i < sizeof first_words / sizeof *first_words)
            (void)snprintf(out->words[i], sizeof out->words[i], "%s", first_words[i]);
        else
            (void)snprintf(out->words[i], sizeof out->words[i], "%s%s%s_%zu",
                           syllables[rng_below(rng, 16)], syllables[rng_below(rng, 16)],
                           syllables[rng_below(rng, 16)], i);
        total += 1.0 / pow((double)i + 2.7, 1.07);
        out->shares[i] = total;
    }
    for (size_t i = 0; i < WORLD_WORDS; i++)
        out->shares[i] /= total;
}

const char *const *world_moves(size_t *count)
{
    *count = MOVES;
    return moves;
}

static size_t draw_word(const struct world *world, struct rng *rng)
{
    const double at = rng_uniform(rng);
    size_t low = 0;
    size_t high = WORLD_WORDS - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (world->shares[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *world_words(const struct world *world, struct rng *rng, size_t count,
                        struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < count; i++)
        (void)buf_printf(&text, "%s%s", i ? " " : "", world->words[draw_word(world, rng)]);
    return arena_strdup(arena, buf_text(&text));
}

bool world_make(uint64_t seed, struct arena *arena, struct world *out, struct err *err)
{
    struct rng rng = rng_seeded(seed);
    *out = (struct world){0};
    make_words(&rng, arena, out);
    for (int i = 0; i < WORLD_TARGETS; i++)
        out->targets[i] = arena_strdup(arena, hash_content(targets[i], strlen(targets[i])).text);
    for (int i = 0; i < WORLD_TASKS; i++) {
        const struct family *family = &families[i % WORLD_FAMILIES];
        const char *name = arena_printf(arena, "%s_%d", family->name, i);
        const int n = 1024 << (i / WORLD_FAMILIES);
        const char *text =
            arena_printf(arena, yaml, name, family->name, family->summary, n, n + 17, n + 5);
        /* The name of the entry point is all that varies in a reference. */
        const char *hole = strstr(family->reference, "%s");
        const char *reference = arena_printf(arena, "%.*s%s%s", (int)(hole - family->reference),
                                             family->reference, name, hole + 2);
        out->family[i] = i % WORLD_FAMILIES;
        if (!task_parse(text, strlen(text), reference, name, arena, &out->tasks[i], err))
            return false;
    }
    return true;
}

static bool append(struct journal *journal, const char *kind, struct buf *body,
                   struct hash_id *out_id, int64_t *events, struct err *err)
{
    const bool ok = journal_append(journal, kind, body, out_id, err);
    buf_clear(body);
    *events += 1;
    return ok;
}

bool world_write_base(const struct world *world, struct journal *journal, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    int64_t events = 0;
    for (int i = 0; i < WORLD_TASKS; i++) {
        const struct task *task = world->tasks[i];
        event_write_task(&(struct task_event){.task_id = task->id.text,
                                              .name = task->name,
                                              .family = task->family,
                                              .dtype = "float32",
                                              .features = families[world->family[i]].features},
                         &body);
        if (!append(journal, EVENT_TASK, &body, NULL, &events, err))
            return false;
    }
    for (int i = 0; i < WORLD_TARGETS; i++) {
        event_write_target(
            &(struct target_event){
                .target_id = world->targets[i], .name = "cpu", .cpu = targets[i], .cores = 8},
            &body);
        if (!append(journal, EVENT_TARGET, &body, NULL, &events, err))
            return false;
    }
    return true;
}

/* ---- A run. */

struct node {
    struct hash_id id;
    double log_ratio; /* true */
    bool is_timed;
};

struct running {
    const struct world *world;
    struct journal *journal;
    struct rng *rng;
    int task, target;
    struct hash_id run, context;
    struct node nodes[WORLD_RUN_DECISIONS];
    int count, best; /* best: -1 is the baseline */
    struct buf body;
    int64_t events;
};

static const char *failure_text(struct running *r, struct arena *arena)
{
    return arena_printf(arena,
                        "candidate.c:%d:%d: error: %s; note: in expansion of '%s'; candidate.c:%d: "
                        "warning: unused variable '%s' [-Wunused-variable]",
                        (int)rng_below(r->rng, 90) + 1, (int)rng_below(r->rng, 70) + 1,
                        world_words(r->world, r->rng, 18, arena),
                        world_words(r->world, r->rng, 1, arena), (int)rng_below(r->rng, 90) + 1,
                        world_words(r->world, r->rng, 1, arena));
}

static enum verdict_kind draw_kind(struct rng *rng)
{
    const double at = rng_uniform(rng);
    return at < 0.72   ? VERDICT_TIMED
           : at < 0.82 ? VERDICT_BUILD_FAILED
           : at < 0.90 ? VERDICT_WRONG
           : at < 0.93 ? VERDICT_REJECTED
           : at < 0.95 ? VERDICT_CRASHED
           : at < 0.97 ? VERDICT_TIMED_OUT
                       : VERDICT_TOO_NOISY;
}

static void measure(struct running *r, double truth, double half, struct verdict *v,
                    struct case_result cases[3])
{
    static const char *const names[] = {"n=4096", "n=4113", "n=65536"};
    for (int i = 0; i < 3; i++) {
        const double seen = truth + 0.5 * half * rng_normal(r->rng);
        cases[i] = (struct case_result){.name = names[i],
                                        .weight = 1.0,
                                        .log_ratio = seen,
                                        .log_low = seen - 1.7 * half,
                                        .log_high = seen + 1.7 * half,
                                        .noise = 0.005,
                                        .pairs = 60,
                                        .baseline_ns = 1000000,
                                        .candidate_ns = (int64_t)(1000000 * exp(-seen)),
                                        .processes = 4};
        v->log_ratio += seen / 3.0;
    }
    v->log_low = v->log_ratio - half;
    v->log_high = v->log_ratio + half;
    v->is_win = v->log_low > 0.02;
    v->cases = cases;
    v->case_count = 3;
}

static bool write_outcome(struct running *r, const struct node *node, enum verdict_kind kind,
                          bool is_confirmation, struct arena *arena, struct err *err)
{
    static const char *const mechanisms[] = {"compiler", "M2-screen", "M5-poison", "M9-crash",
                                             "M10-time", "noise",     ""};
    struct case_result cases[3];
    struct verdict v = {.kind = kind, .mechanism = mechanisms[kind], .compiler = "gcc-12"};
    if (kind == VERDICT_TIMED) {
        measure(r, node->log_ratio, is_confirmation ? 0.008 : 0.015, &v, cases);
    } else {
        v.evidence = world_words(r->world, r->rng, 14, arena);
        v.diagnostics = kind == VERDICT_BUILD_FAILED ? failure_text(r, arena) : "";
    }
    v.code_id = hash_content(node, sizeof *node);
    v.gate_id = hash_content("gate", 4);
    event_write_outcome(&(struct outcome_event){.run_id = r->run.text,
                                                .decision_id = node->id.text,
                                                .target_id = r->world->targets[r->target],
                                                .task_id = r->world->tasks[r->task]->id.text,
                                                .is_confirmation = is_confirmation,
                                                .verdict = v},
                        &r->body);
    return append(r->journal, EVENT_OUTCOME, &r->body, NULL, &r->events, err);
}

static bool write_context(struct running *r, struct arena *arena, struct err *err)
{
    struct context_item items[20];
    for (size_t i = 0; i < 20; i++)
        items[i] = (struct context_item){
            .section = "warm",
            .kind = "decision",
            .ref = r->count ? r->nodes[rng_below(r->rng, (uint64_t)r->count)].id.text : "none",
            .bytes = 200,
            .tokens = 60,
            .score = rng_uniform(r->rng),
            .propensity = 0.95,
            .withheld = rng_below(r->rng, 20) == 0};
    (void)arena;
    event_write_context(&(struct context_event){.run_id = r->run.text,
                                                .budget_tokens = 8000,
                                                .used_tokens = 7000,
                                                .items = items,
                                                .item_count = 20},
                        &r->body);
    return append(r->journal, EVENT_CONTEXT, &r->body, &r->context, &r->events, err);
}

/* From the best so far, or now and then from any, by one to three moves. */
static bool write_decision(struct running *r, struct node *node, struct arena *arena,
                           struct err *err)
{
    const int parent = r->count != 0 && rng_below(r->rng, 4) == 0
                           ? (int)rng_below(r->rng, (uint64_t)r->count)
                           : r->best;
    struct decision_event e = {.run_id = r->run.text,
                               .parent = parent < 0 ? "" : r->nodes[parent].id.text,
                               .sequence = r->count + 1,
                               .step = "small",
                               .proposer = "offline",
                               .compiler = "gcc-12",
                               .flags = "-O3 -march=native",
                               .context_id = r->context.text};
    *node = (struct node){.log_ratio = parent < 0 ? 0.0 : r->nodes[parent].log_ratio};
    const size_t count = 1 + rng_below(r->rng, 3);
    for (size_t i = 0; i < count; i++) {
        const int move = (int)rng_below(r->rng, MOVES);
        e.moves[e.move_count++] = moves[move];
        node->log_ratio += effect(move, r->world->family[r->task], r->target);
    }
    e.intent = arena_printf(arena, "%s: %s", e.moves[0], world_words(r->world, r->rng, 12, arena));
    e.hypothesis = world_words(r->world, r->rng, 20, arena);
    e.recipe = arena_printf(arena, "compiler=gcc-12 opt=3 march=native %s=1 seed=%d", e.moves[0],
                            (int)rng_below(r->rng, 1000000));
    e.candidate_id = arena_strdup(arena, hash_content(e.recipe, strlen(e.recipe)).text);
    event_write_decision(&e, &r->body);
    return append(r->journal, EVENT_DECISION, &r->body, &node->id, &r->events, err);
}

static bool step(struct running *r, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct node *node = &r->nodes[r->count];
    if (rng_below(r->rng, WORLD_CONTEXT_EVERY) == 0 && !write_context(r, &arena, err))
        return false;
    const enum verdict_kind kind = draw_kind(r->rng);
    if (!write_decision(r, node, &arena, err) || !write_outcome(r, node, kind, false, &arena, err))
        return false;
    node->is_timed = kind == VERDICT_TIMED;
    if (node->is_timed && node->log_ratio > (r->best < 0 ? 0.0 : r->nodes[r->best].log_ratio))
        r->best = r->count;
    r->count++;
    return true;
}

static bool begin(struct running *r, struct err *err)
{
    event_write_run(&(struct run_event){.task_id = r->world->tasks[r->task]->id.text,
                                        .target_id = r->world->targets[r->target],
                                        .proposer = "offline",
                                        .policy = "mcts",
                                        .seed = rng_next(r->rng),
                                        .budget = WORLD_RUN_DECISIONS,
                                        .host = "bench"},
                    &r->body);
    return append(r->journal, EVENT_RUN, &r->body, &r->run, &r->events, err);
}

static bool finish(struct running *r, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    if (r->best >= 0 && !write_outcome(r, &r->nodes[r->best], VERDICT_TIMED, true, &arena, err))
        return false;
    event_write_run_end(
        &(struct run_end_event){.run_id = r->run.text,
                                .reason = "budget",
                                .best_decision = r->best < 0 ? "" : r->nodes[r->best].id.text,
                                .evaluations = r->count},
        &r->body);
    return append(r->journal, EVENT_RUN_END, &r->body, NULL, &r->events, err);
}

bool world_write_run(const struct world *world, struct journal *journal, struct rng *rng,
                     int64_t *out_events, struct err *err)
{
    struct running r = {.world = world,
                        .journal = journal,
                        .rng = rng,
                        .task = (int)rng_below(rng, WORLD_TASKS),
                        .target = (int)rng_below(rng, WORLD_TARGETS),
                        .best = -1};
    bool ok = begin(&r, err);
    while (ok && r.count < WORLD_RUN_DECISIONS)
        ok = step(&r, err);
    ok = ok && finish(&r, err);
    buf_free(&r.body);
    *out_events += r.events;
    return ok;
}
