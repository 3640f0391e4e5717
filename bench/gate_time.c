/*
 * What the gate itself costs for a candidate. Of each stage the median over the candidates and the
 * 90 % quantile are printed; the build's programs (compiler, disassembler, linker) and the timing
 * are no part of it.
 *
 * gate_time judged NAME MEMORY: the candidates that a search had judged, from the outcomes in its
 * memory; confirmations and what was taken from the record do not count. Exit status 1 where the
 * median is over 20 ms.
 *
 * gate_time slow TASK...: a fixed list of builds of the references, judged without timing. Their
 * own calls are most of it, since a reference is as slow as it gets: for comparing one gate with
 * another. No limit.
 */
#include "base/arena.h"
#include "base/err.h"
#include "gate/gate.h"
#include "journal/event.h"
#include "journal/journal.h"
#include "os/os.h"
#include "stats/stats.h"
#include "target/target.h"
#include "task/task.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, MOST_CANDIDATES = 64, FEWEST_CANDIDATES = 15, LIMIT_MS = 20 };

/* Such as a search tries: all of them vectorize, for slow calls are the candidate's, not the
 * gate's. Where two give the same code the second is taken from the record and does not count. */
static const char *const widths[] = {"-mprefer-vector-width=256", "-mprefer-vector-width=512",
                                     "-mprefer-vector-width=128 -fno-ivopts"};
static const char *const variants[] = {
    "",
    "-funroll-loops",
    "-ffp-contract=off",
    "-fno-ivopts -frename-registers",
    "-funroll-loops -fno-ivopts",
    "-fno-math-errno",
    "-fno-math-errno -funroll-loops",
    "-fassociative-math -fno-signed-zeros -fno-trapping-math",
    "-fassociative-math -fno-signed-zeros -fno-trapping-math -funroll-loops",
};

/* A part of the gate's time, where it stands in `struct gate_timings`. */
static const struct part {
    const char *name;
    size_t offset;
} parts[] = {
    {"start", offsetof(struct gate_timings, start_ns)},
    {"load", offsetof(struct gate_timings, load_ns)},
    {"calls", offsetof(struct gate_timings, call_ns)},
    {"bell", offsetof(struct gate_timings, ring_ns)},
    {"guards", offsetof(struct gate_timings, guard_ns)},
    {"compare", offsetof(struct gate_timings, compare_ns)},
    {"draw", offsetof(struct gate_timings, draw_ns)},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* In ms, of each candidate that was right or wrong by its own code, not by the record. */
struct costs {
    double own[MOST_CANDIDATES];
    double part[PARTS][MOST_CANDIDATES];
    size_t count;
};

static void note(struct costs *costs, const struct gate_timings *timings)
{
    costs->own[costs->count] = (double)gate_timings_own_ns(timings) / 1e6;
    for (size_t p = 0; p < PARTS; p++) {
        int64_t ns = 0;
        memcpy(&ns, (const char *)timings + parts[p].offset, sizeof ns);
        costs->part[p][costs->count] = (double)ns / 1e6;
    }
    costs->count++;
}

static bool judge_one(struct gate *gate, const struct task *task, const char *width,
                      const char *variant, struct costs *costs, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct candidate candidate = {0};
    struct verdict v;
    const char *flags = arena_printf(&arena, "-O3 -march=native %s %s", width, variant);
    if (!candidate_parse_flags(flags, &arena, &candidate))
        return err_set(err, ERR_BAD_INPUT, "flags '%s'", flags);
    candidate.source = task->reference;
    if (!gate_judge(gate, &candidate, -HUGE_VAL, &arena, &v, err))
        return false;
    if (v.kind != VERDICT_TIMED)
        return err_set(err, ERR_IO, "the reference with %s: %s: %s", flags,
                       verdict_kind_name(v.kind), v.evidence);
    if (!v.from_record)
        note(costs, &v.timings);
    return true;
}

static bool judge_all(struct target *target, const struct task *task, struct costs *costs,
                      struct err *err)
{
    const struct gate_opts opts = {.check_only = true};
    CLEANUP(gate_close) struct gate *gate = NULL;
    if (!gate_open(target, task, &opts, &gate, err))
        return false;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
            if (!judge_one(gate, task, widths[w], variants[i], costs, err))
                return false;
    return true;
}

/* An outcome of the journal. */
static bool note_outcome(void *context, const struct event *event, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct costs *costs = context;
    struct outcome_event outcome;
    if (strcmp(event->kind, EVENT_OUTCOME) != 0)
        return true;
    if (!event_read_outcome(event->body, &arena, &outcome, err))
        return false;
    const struct verdict *v = &outcome.verdict;
    if (outcome.is_confirmation || v->from_record || v->timings.check_ns == 0)
        return true;
    if (costs->count == MOST_CANDIDATES)
        return err_set(err, ERR_LIMIT, "more than %d candidates", MOST_CANDIDATES);
    note(costs, &v->timings);
    return true;
}

static bool read_judged(const char *memory, struct costs *costs, struct err *err)
{
    struct journal_recovery recovery;
    struct journal *journal = NULL;
    if (!journal_open(memory, false, &journal, &recovery, err))
        return false;
    const bool ok = journal_scan(journal, note_outcome, costs, err);
    journal_close(&journal);
    return ok;
}

static bool report(const char *name, struct costs *costs)
{
    if (costs->count < FEWEST_CANDIDATES) {
        printf("%-9s only %zu different candidates, %d are needed\n", name, costs->count,
               FEWEST_CANDIDATES);
        return false;
    }
    const double median = stats_quantile(costs->own, costs->count, 0.5);
    printf("%-9s %10zu", name, costs->count);
    printf(" %6.1f/%-6.1f", median, stats_quantile(costs->own, costs->count, 0.9));
    for (size_t p = 0; p < PARTS; p++)
        printf(" %5.1f/%-5.1f", stats_quantile(costs->part[p], costs->count, 0.5),
               stats_quantile(costs->part[p], costs->count, 0.9));
    printf("\n");
    return median <= LIMIT_MS;
}

static void print_head(void)
{
    printf("%-9s %10s %13s", "task", "candidates", "all");
    for (size_t p = 0; p < PARTS; p++)
        printf(" %11s", parts[p].name);
    printf("   (median/90 %%, ms)\n");
}

static bool run_judged(const char *name, const char *memory, bool *fits, struct err *err)
{
    struct costs costs = {.count = 0};
    if (!read_judged(memory, &costs, err))
        return err_within(err, "'%s'", memory);
    *fits = report(name, &costs);
    return true;
}

static bool run_slow(const char *path, struct target *target, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct costs costs = {.count = 0};
    const struct task *task;
    if (!task_load(path, &arena, &task, err) || !judge_all(target, task, &costs, err))
        return err_within(err, "'%s'", path);
    (void)report(task->name, &costs);
    return true;
}

static bool run(int argc, char **argv, bool *fits, struct err *err)
{
    CLEANUP(target_close) struct target *target = NULL;
    if (argc == 4 && strcmp(argv[1], "judged") == 0)
        return run_judged(argv[2], argv[3], fits, err);
    if (argc < 3 || strcmp(argv[1], "slow") != 0)
        return err_set(err, ERR_USAGE, "use: gate_time judged NAME MEMORY, gate_time slow TASK...");
    if (!target_open("cpu", NULL, &target, err))
        return false;
    os_interrupt_install();
    print_head();
    for (int i = 2; i < argc; i++)
        if (!run_slow(argv[i], target, err))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    bool fits = true;
    if (!run(argc, argv, &fits, &err)) {
        fprintf(stderr, "gate_time: %s%s%s\n", err.message, *err.hint ? "; " : "", err.hint);
        return err.kind == ERR_UNSUPPORTED || err.kind == ERR_MISSING_TOOL ? SKIPPED : 1;
    }
    return fits ? EXIT_SUCCESS : EXIT_FAILURE;
}
