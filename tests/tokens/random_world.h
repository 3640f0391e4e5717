/*
 * Random memories with hostile text, and a random request to each: for the property that a budget
 * is never passed. Everything depends on the seed alone.
 */
#ifndef KOPE_TESTS_RANDOM_WORLD_H
#define KOPE_TESTS_RANDOM_WORLD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/rng.h"
#include "context/context.h"
#include "graph/graph.h"
#include "task/task.h"
#include "json/json.h"

#include <string.h>

enum { RANDOM_DECISIONS = 24, RANDOM_MIN_BUDGET = 250, RANDOM_MAX_BUDGET = 9000 };

/* What a text is made of: prose, code, names, digits, hex, punctuation, blanks, accents, CJK,
 * emoji, control characters, letters without sense. */
static inline void random_piece(struct rng *rng, struct buf *out)
{
    static const char *const prose[] = {"vectorize", "the", "inner", "loop",  "and",    "unroll",
                                        "memory",    "is",  "bound", "cache", "misses", "latency"};
    static const char *const code[] = {"for (int64_t i = 0; i < n; i++)",  "acc[j] += a[i] * b[j];",
                                       "__builtin_prefetch(&x[i + 64]);",  "#pragma omp simd",
                                       "v8 t = *(const v8 *)(p + 8 * k);", "}\n        }\n"};
    static const char *const names[] = {"vfmadd231ps", "RowMajorTileB",  "n_blocks_per_row",
                                        "xmm0",        "float32x8_t",    "getElementPtrInst",
                                        "-Wunused",    "libmvec_expf_8", "AVX512VNNI"};
    static const char *const beyond[] = {"größer",   "naïveté", "速度",        "ядро",
                                         "🚀",        "∑∂≤",     "​",         "é",
                                         "カーネル", "𝛼𝛽",      "👩‍💻", "ﬁ"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char hex[] = "0123456789abcdef";
    static const char punctuation[] = "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\";
    switch (rng_below(rng, 12)) {
    case 0:
    case 1:
    case 2:
        (void)buf_append_str(out, prose[rng_below(rng, 12)]);
        break;
    case 3:
    case 4:
        (void)buf_append_str(out, code[rng_below(rng, 6)]);
        break;
    case 5:
        (void)buf_append_str(out, names[rng_below(rng, 9)]);
        break;
    case 6:
        (void)buf_append_str(out, beyond[rng_below(rng, 12)]);
        break;
    case 7:
        for (uint64_t i = rng_below(rng, 40); i-- > 0;)
            (void)buf_append(out, &hex[rng_below(rng, 16)], 1);
        break;
    case 8:
        for (uint64_t i = rng_below(rng, 12); i-- > 0;)
            (void)buf_append(out, &punctuation[rng_below(rng, sizeof punctuation - 1)], 1);
        break;
    case 9:
        (void)buf_printf(out, "%.*s", (int)rng_below(rng, 20), "                    ");
        break;
    case 10:
        (void)buf_append_str(out, rng_below(rng, 2) ? "\n\n\t" : "\r\n");
        break;
    default: /* letters without sense: as base64 has them */
        for (uint64_t i = rng_below(rng, 24); i-- > 0;)
            (void)buf_append(out, &letters[rng_below(rng, 52)], 1);
        break;
    }
}

static inline const char *random_text(struct rng *rng, size_t pieces, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    for (size_t i = 0; i < pieces; i++) {
        random_piece(rng, &text);
        (void)buf_append_str(&text, rng_below(rng, 5) ? " " : "");
    }
    return arena_strdup(arena, buf_text(&text));
}

struct random_world {
    struct rng rng;
    struct arena arena;
    struct graph *graph;
    int64_t now;
};

static inline bool random_event(struct random_world *w, const char *kind, struct buf *body,
                                const char **out_id, struct err *err)
{
    struct event event = {.kind = kind, .wall_ms = ++w->now, .writer = "test"};
    const char *parts[] = {kind, buf_text(body), arena_printf(&w->arena, "%ld", (long)w->now)};
    event.id = hash_strings(parts, 3);
    event.text = arena_strdup(&w->arena, buf_text(body));
    const bool ok = json_parse(event.text, body->length, kind, &w->arena, &event.body, err) &&
                    graph_apply(w->graph, &event, err);
    *out_id = arena_strdup(&w->arena, event.id.text);
    buf_clear(body);
    return ok;
}

static inline bool random_decision(struct random_world *w, const char *run, const char *task_id,
                                   const char **parent, struct err *err)
{
    static const char *const moves[] = {"tile", "unroll", "vectorize", "pack", "fuse"};
    CLEANUP(buf_free) struct buf body = {0};
    struct rng *rng = &w->rng;
    const char *id = NULL;
    const char *ignored = NULL;
    struct decision_event decision = {.run_id = run,
                                      .parent = *parent,
                                      .step = "small",
                                      .proposer = "llm",
                                      .intent = random_text(rng, rng_below(rng, 30), &w->arena),
                                      .recipe = rng_below(rng, 2) ? "unroll=4" : "",
                                      .flags = "-O3"};
    for (uint64_t i = rng_below(rng, 3); i-- > 0;)
        decision.moves[decision.move_count++] = moves[rng_below(rng, 5)];
    event_write_decision(&decision, &body);
    if (!random_event(w, EVENT_DECISION, &body, &id, err))
        return false;
    struct verdict verdict = {.kind = rng_below(rng, 3) ? VERDICT_TIMED : VERDICT_BUILD_FAILED,
                              .mechanism = "compiler",
                              .evidence = random_text(rng, rng_below(rng, 60), &w->arena),
                              .log_ratio = rng_normal(rng) * 0.5};
    verdict.log_low = verdict.log_ratio - 0.05;
    verdict.log_high = verdict.log_ratio + 0.05;
    verdict.is_win = verdict.kind == VERDICT_TIMED && verdict.log_low > 0.0;
    event_write_outcome(&(struct outcome_event){.run_id = run,
                                                .decision_id = id,
                                                .task_id = task_id,
                                                .target_id = "t",
                                                .verdict = verdict},
                        &body);
    if (rng_below(rng, 2))
        *parent = id;
    return random_event(w, EVENT_OUTCOME, &body, &ignored, err);
}

static inline bool random_task(struct random_world *w, const struct task **out, struct err *err)
{
    static const char yaml[] =
        "name: twice\nfamily: elementwise\nsummary: doubles\ndtype: float32\n"
        "axes: [n]\nargs:\n  - {name: x, role: in, dtype: real, shape: [n]}\n"
        "  - {name: y, role: out, dtype: real, shape: [n]}\n"
        "cases:\n  - {n: 7}\nheld_out:\n  - {n: 11}\n";
    static const char reference[] =
        "#include <stdint.h>\nvoid twice(const real *x, real *y, int64_t n)\n"
        "{\n    for (int64_t i = 0; i < n; i++)\n        y[i] = 2 * x[i];\n}\n";
    return task_parse(yaml, strlen(yaml), reference, "twice", &w->arena, out, err);
}

static inline bool random_memory(struct random_world *w, const struct task *task, struct err *err)
{
    CLEANUP(buf_free) struct buf body = {0};
    const char *ids[] = {task->id.text, "other", "far"};
    const char *families[] = {"elementwise", "elementwise", "contraction"};
    const char *run = NULL;
    for (size_t t = 0; t < 3; t++) {
        const char *parent = "";
        event_write_task(&(struct task_event){.task_id = ids[t],
                                              .name = ids[t],
                                              .family = families[t],
                                              .dtype = "float32",
                                              .features = "doubles"},
                         &body);
        if (!random_event(w, EVENT_TASK, &body, &run, err))
            return false;
        event_write_run(&(struct run_event){.task_id = ids[t], .target_id = "t"}, &body);
        if (!random_event(w, EVENT_RUN, &body, &run, err))
            return false;
        for (uint64_t i = rng_below(&w->rng, RANDOM_DECISIONS / 3); i-- > 0;) {
            if (!random_decision(w, run, ids[t], &parent, err))
                return false;
        }
    }
    return true;
}

/* A memory and a context for it. `*is_refused` where even what is required passes the budget; the
 * context then is not built. Close with random_world_close. */
static inline bool random_context(uint64_t seed, struct random_world *w, bool *is_refused,
                                  struct context *out, struct err *err)
{
    *w = (struct random_world){.rng = rng_seeded(seed)};
    struct rng *rng = &w->rng;
    const struct task *task = NULL;
    if (!graph_open(":memory:", &w->graph, err) || !random_task(w, &task, err) ||
        !random_memory(w, task, err))
        return false;
    const struct context_offer offers[] = {
        {CONTEXT_SKILL, "split", random_text(rng, rng_below(rng, 20), &w->arena), 0.3},
        {CONTEXT_RULE, "no-goto", random_text(rng, rng_below(rng, 20), &w->arena), 0.1}};
    const struct context_request request = {
        .task = task,
        .target_id = "t",
        .facts = random_text(rng, rng_below(rng, 40), &w->arena),
        .system = random_text(rng, rng_below(rng, 40), &w->arena),
        .cold =
            arena_printf(&w->arena, "%s\n\n%s\n\n", random_text(rng, rng_below(rng, 60), &w->arena),
                         random_text(rng, rng_below(rng, 60), &w->arena)),
        .finding = random_text(rng, rng_below(rng, 20), &w->arena),
        .current_source = random_text(rng, rng_below(rng, 80), &w->arena),
        .current_summary = "timed",
        .offers = offers,
        .offer_count = 2,
        .budget_tokens =
            RANDOM_MIN_BUDGET + (int64_t)rng_below(rng, RANDOM_MAX_BUDGET - RANDOM_MIN_BUDGET),
        .withhold_share = 0.05,
        .seed = seed};
    *is_refused = false;
    if (context_build(w->graph, &request, &w->arena, out, err))
        return true;
    *is_refused = err->kind == ERR_BUDGET;
    return *is_refused;
}

static inline void random_world_close(struct random_world *w)
{
    graph_close(&w->graph);
    arena_free(&w->arena);
}

#endif
