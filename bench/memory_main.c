/*
 * The parts of bench/memory, each a process of its own so that its memory and its caches are its
 * own:
 *   memory fill DIR DECISIONS [THREADS]   a synthetic journal
 *   memory append DIR COUNT [THREADS]     events of it again, into DIR/appended: how many a second,
 *                                         each acknowledged to a thread that waits for it
 *   memory load DIR                       the graph from the journal
 *   memory query DIR [COUNT]              opening, then so many contexts of 8000 tokens
 * Each prints "name value" lines.
 */
#include "memory_world.h"

#include "base/str.h"
#include "context/context.h"
#include "graph/graph.h"
#include "os/file.h"
#include "os/os.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_THREADS = 1024,
    DEFAULT_THREADS = 256,
    BUDGET_TOKENS = 8000,
    WARM_UP = 20,
    APPEND_SAMPLES = 4096
};
#define SEED UINT64_C(20261129)

static double seconds_since(int64_t start_ns)
{
    return (double)(os_now_ns() - start_ns) / 1e9;
}

/* Most memory that this process has had resident, in MB. */
static double peak_mb(void)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    char *text = NULL;
    if (!os_read_file("/proc/self/status", 65536, &arena, &text, NULL, &err))
        return -1.0;
    const char *line = strstr(text, "VmHWM:");
    return line ? strtod(line + strlen("VmHWM:"), NULL) / 1024.0 : -1.0;
}

/* Did all of them start? */
static bool on_threads(void *(*run)(void *context), void *context, size_t count)
{
    pthread_t threads[MAX_THREADS];
    size_t started = 0;
    while (started < count && pthread_create(&threads[started], NULL, run, context) == 0)
        started++;
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    return started == count;
}

/* ---- fill */

struct fill {
    const struct world *world;
    struct journal *journal;
    _Atomic int64_t next_run;
    int64_t runs;
    _Atomic int64_t events;
    _Atomic bool has_failed;
};

static void *fill_runs(void *context)
{
    struct fill *fill = context;
    struct err err = {0};
    int64_t events = 0;
    for (;;) {
        const int64_t run = atomic_fetch_add(&fill->next_run, 1);
        if (run >= fill->runs || atomic_load(&fill->has_failed))
            break;
        struct rng rng = rng_seeded(SEED + 1 + (uint64_t)run);
        if (!world_write_run(fill->world, fill->journal, &rng, &events, &err)) {
            fprintf(stderr, "memory: %s\n", err.message);
            atomic_store(&fill->has_failed, true);
        }
    }
    atomic_fetch_add(&fill->events, events);
    return NULL;
}

static bool run_fill(const char *dir, int64_t decisions, size_t threads, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(journal_close) struct journal *journal = NULL;
    struct world world;
    if (!world_make(SEED, &arena, &world, err) || !os_make_dirs(dir, err) ||
        !journal_open(dir, true, &journal, NULL, err) || !world_write_base(&world, journal, err))
        return false;
    struct fill fill = {.world = &world,
                        .journal = journal,
                        .runs = (decisions + WORLD_RUN_DECISIONS - 1) / WORLD_RUN_DECISIONS};
    const int64_t start = os_now_ns();
    if (!on_threads(fill_runs, &fill, threads) || atomic_load(&fill.has_failed))
        return err_set(err, ERR_IO, "the journal could not be filled");
    const double seconds = seconds_since(start);
    const int64_t events = atomic_load(&fill.events);
    printf("events %lld\nfill_seconds %.2f\n", (long long)events, seconds);
    return true;
}

/* ---- append: bodies are made before the clock runs. */

struct sample {
    const char *kind;
    struct buf body;
};

struct append {
    struct arena *arena;
    struct sample samples[APPEND_SAMPLES];
    size_t sample_count;
    struct journal *journal;
    _Atomic int64_t left;
    _Atomic bool has_failed;
};

static bool take_sample(void *context, const struct event *event, struct err *err)
{
    struct append *append = context;
    static const char mark[] = "\"body\":";
    const char *body = strstr(event->text, mark);
    if (append->sample_count == APPEND_SAMPLES)
        return err_set(err, ERR_LIMIT, "enough"); /* ends the scan */
    if (!body)
        return true;
    struct sample *sample = &append->samples[append->sample_count++];
    body += strlen(mark);
    sample->kind = arena_strdup(append->arena, event->kind);
    return buf_append(&sample->body, body, event->text_length - 1 - (size_t)(body - event->text));
}

static void *append_samples(void *context)
{
    struct append *append = context;
    struct err err = {0};
    for (;;) {
        const int64_t at = atomic_fetch_sub(&append->left, 1);
        if (at <= 0)
            return NULL;
        const struct sample *sample = &append->samples[(size_t)at % append->sample_count];
        if (!journal_append(append->journal, sample->kind, &sample->body, NULL, &err)) {
            fprintf(stderr, "memory: %s\n", err.message);
            atomic_store(&append->has_failed, true);
            return NULL;
        }
    }
}

static bool run_append(const char *dir, int64_t count, size_t threads, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(journal_close) struct journal *from = NULL;
    CLEANUP(journal_close) struct journal *to = NULL;
    struct append *append = arena_alloc(&arena, sizeof *append);
    append->arena = &arena;
    if (!journal_open(dir, false, &from, NULL, err) ||
        (!journal_scan(from, take_sample, append, err) && err->kind != ERR_LIMIT) ||
        !journal_open(os_path_join(&arena, dir, "appended"), true, &to, NULL, err))
        return false;
    append->journal = to;
    atomic_store(&append->left, count);
    const int64_t start = os_now_ns();
    const clock_t cpu = clock();
    const bool ok = on_threads(append_samples, append, threads);
    const double seconds = seconds_since(start);
    const double cpu_us = (double)(clock() - cpu) * 1e6 / CLOCKS_PER_SEC / (double)count;
    for (size_t i = 0; i < append->sample_count; i++)
        buf_free(&append->samples[i].body);
    printf("appends_per_second %.0f\nappend_cpu_us %.1f\n", (double)count / seconds, cpu_us);
    return (ok && !atomic_load(&append->has_failed)) ||
           err_set(err, ERR_IO, "the journal could not be appended to");
}

/* ---- load */

static bool open_both(const char *dir, struct arena *arena, struct journal **journal,
                      struct graph **graph, struct err *err)
{
    int64_t applied = 0;
    return journal_open(dir, true, journal, NULL, err) &&
           graph_open(os_path_join(arena, dir, "graph.sqlite"), graph, err) &&
           graph_catch_up(*graph, *journal, &applied, err);
}

static bool run_load(const char *dir, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(journal_close) struct journal *journal = NULL;
    CLEANUP(graph_close) struct graph *graph = NULL;
    const int64_t start = os_now_ns();
    if (!open_both(dir, &arena, &journal, &graph, err))
        return false;
    printf("load_seconds %.2f\nload_peak_mb %.0f\n", seconds_since(start), peak_mb());
    return true;
}

/* ---- query */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of one prompt, apart: what is believed of all moves, and the context with it; and what the latter
 * took of a processor, which a busy host tells more of. */
struct times {
    double beliefs, context, context_cpu;
};

/* What is believed of all moves, as a run asks before each step. */
static bool believe(const struct context_request *request, struct graph *graph, struct arena *arena,
                    struct transfer *out, struct err *err)
{
    size_t count = 0;
    const char *const *names = world_moves(&count);
    struct transfer_move *moves = arena_array(arena, count, sizeof *moves);
    for (size_t i = 0; i < count; i++)
        moves[i] = (struct transfer_move){names[i], KNOWLEDGE_STRUCTURE, 0.1, false};
    const struct transfer_place here = {request->task->id.text, request->task->family,
                                        task_regime(request->task), request->target_id};
    return transfer_learn(graph, moves, count, &here, arena, out, err);
}

/* `digest` takes in each context: the same graph gives the same contexts. */
static bool one_context(const struct world *world, struct graph *graph, struct rng *rng,
                        struct times *out_ms, struct hash_id *digest, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct context context;
    struct transfer transfer;
    struct context_request request = {.task = world->tasks[rng_below(rng, WORLD_TASKS)],
                                      .target_id = world->targets[rng_below(rng, WORLD_TARGETS)],
                                      .facts = "a machine",
                                      .system = "You make kernels faster.",
                                      .cold = "",
                                      .finding = world_words(world, rng, 12, &arena),
                                      .ask = "Propose the next candidate.",
                                      .budget_tokens = BUDGET_TOKENS,
                                      .withhold_share = 0.05,
                                      .seed = rng_next(rng)};
    const int64_t start = os_now_ns();
    if (!believe(&request, graph, &arena, &transfer, err))
        return false;
    request.transfer = &transfer;
    const clock_t cpu = clock();
    const int64_t believed = os_now_ns();
    if (!context_build(graph, &request, &arena, &context, err))
        return false;
    *out_ms =
        (struct times){(double)(believed - start) / 1e6, (double)(os_now_ns() - believed) / 1e6,
                       (double)(clock() - cpu) * 1e3 / CLOCKS_PER_SEC};
    *digest = hash_strings((const char *[]){digest->text, context.text}, 2);
    return context.tokens <= BUDGET_TOKENS ||
           err_set(err, ERR_CORRUPT, "a context of %lld tokens", (long long)context.tokens);
}

static bool run_query(const char *dir, size_t count, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(journal_close) struct journal *journal = NULL;
    CLEANUP(graph_close) struct graph *graph = NULL;
    struct world world;
    if (!world_make(SEED, &arena, &world, err))
        return false;
    const int64_t start = os_now_ns();
    if (!open_both(dir, &arena, &journal, &graph, err))
        return false;
    printf("open_ms %.1f\n", 1e3 * seconds_since(start));
    double *beliefs_ms = arena_array(&arena, count, sizeof *beliefs_ms);
    double *contexts_ms = arena_array(&arena, count, sizeof *contexts_ms);
    struct rng rng = rng_seeded(7);
    struct hash_id digest = {{0}};
    double cpu_ms = 0.0;
    for (size_t i = 0; i < count + WARM_UP; i++) {
        struct times ms;
        if (!one_context(&world, graph, &rng, &ms, &digest, err))
            return false;
        if (i < WARM_UP)
            continue;
        beliefs_ms[i - WARM_UP] = ms.beliefs;
        contexts_ms[i - WARM_UP] = ms.context;
        cpu_ms += ms.context_cpu / (double)count;
    }
    qsort(beliefs_ms, count, sizeof *beliefs_ms, compare_doubles);
    qsort(contexts_ms, count, sizeof *contexts_ms, compare_doubles);
    printf("context_cpu_ms %.2f\nbeliefs_p50_ms %.2f\ncontext_p50_ms %.2f\ncontext_p99_ms "
           "%.2f\nquery_peak_mb %.0f\n"
           "contexts %.16s\n",
           cpu_ms, beliefs_ms[count / 2], contexts_ms[count / 2], contexts_ms[count * 99 / 100],
           peak_mb(), digest.text);
    return true;
}

static int64_t number(const char *text, int64_t otherwise)
{
    int64_t value = 0;
    return text && str_parse_int64(text, &value) && value > 0 ? value : otherwise;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    bool ok = false;
    const char *verb = argc > 2 ? argv[1] : "";
    const char *more = argc > 3 ? argv[3] : NULL;
    const int64_t asked = number(argc > 4 ? argv[4] : NULL, DEFAULT_THREADS);
    const size_t threads = (size_t)(asked < MAX_THREADS ? asked : MAX_THREADS);
    if (str_equal(verb, "fill")) {
        ok = run_fill(argv[2], number(more, 10000), threads, &err);
    } else if (str_equal(verb, "append")) {
        ok = run_append(argv[2], number(more, 100000), threads, &err);
    } else if (str_equal(verb, "load")) {
        ok = run_load(argv[2], &err);
    } else if (str_equal(verb, "query")) {
        ok = run_query(argv[2], (size_t)number(more, 500), &err);
    } else {
        (void)err_set(&err, ERR_USAGE, "use: memory fill|append|load|query DIR [COUNT] [THREADS]");
    }
    if (!ok)
        fprintf(stderr, "memory: %s\n", err.message);
    return ok ? 0 : err_kind_exit_code(err.kind);
}
