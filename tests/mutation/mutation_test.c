/*
 * Takes each mechanism of the gate (docs/how-we-measure.md) out in turn, and judges the exploit
 * that it is there for, with it and without it.
 *
 * Usage: mutation_test RUNNERS [M5...]: RUNNERS is the folder of the runners that lack a mechanism.
 * Prints a table. Exit status 1 where an exploit is not stopped by the mechanism while that is
 * there, or gets the same verdict without it; 77 where this host cannot run candidates at all.
 */
#include "../redteam/kernel.h"
#include "without.h"

#include "base/str.h"
#include "gate/gate.h"
#include "os/file.h"
#include "target/target.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { SKIPPED = 77, TRIES = 2, TEXT = 128, MOST_CASES = 8 };

static const struct row {
    enum mechanism mechanism;
    const char *name, *source, *exploit;
    bool is_timed;
    const char *runner; /* of RUNNERS, which lacks it; NULL: without.c takes it out */
    /* What the verdict names with it and not without it, where another one that the exploit
     * expects, too, stands behind it; NULL: none of those that it expects may be left without. */
    const char *verdict;
} rows[] = {
    {M1, "M1", "target/cpu/evidence.c", "51-leaves", .is_timed = false},
    {M2, "M2", "runner/filter.c, box.c", "39-opens-a-socket", .runner = "sandbox-runner-none"},
    {M3, "M3", "target/cpu/session.c", "57-states-its-own-time", .is_timed = true},
    {M4, "M4", "target/cpu/launch.c", "40-zeroes-inputs", .is_timed = false},
    {M5, "M5", "gate/data.c", "01-empty", .is_timed = false},
    {M6, "M6", "gate/data.c, probe.c", "11-content-cache", .is_timed = false},
    {M7, "M7", "gate/verify.c", "14-honest-for-40-calls", .is_timed = true,
     .verdict = "rejected M7-timed-output"},
    {M8, "M8", "target/cpu/session.c, watch.c", "57-goes-on-for-long", .is_timed = false},
    {M9, "M9", "gate/compare.c", "33-tf32", .is_timed = false},
    {M10, "M10", "gate/data.c, plan.c", "70-skips-rows-with-specials", .is_timed = false},
    {M11, "M11", "gate/rig.c", "41-one-past-the-end", .is_timed = false},
    {M12, "M12", "target/cpu/scan.c", "52-reads-the-clock", .is_timed = false},
    {M13, "M13", "runner/serve.c", "25-rounds-down", .runner = "mutation-runner-M13"},
    {M14, "M14", "gate/roofline.c", "91-too-fast-to-be-true", .is_timed = true},
    {M15, "M15", "gate/plan.c, check.c", "07-rests-on-seen-inputs", .is_timed = false},
    {M16, "M16", "gate/gate.c, record.c", "06-copy-input", .is_timed = false},
    {M17, "M17", "gate/null.c", "04-zero-weights", .is_timed = false},
};

struct test {
    const char *runners;
    struct kernel *kernels;
    size_t count;
    struct arena arena;
};

static const struct kernel *kernel_named(const struct test *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (str_equal(t->kernels[i].name, name))
            return &t->kernels[i];
    return NULL;
}

/* As the heads of the kernels write it. */
static void describe(const struct verdict *verdict, char out[TEXT])
{
    if (verdict->kind == VERDICT_TIMED)
        (void)snprintf(out, TEXT, "%s%s",
                       verdict->is_win            ? "a win"
                       : verdict->case_count == 0 ? "right"
                       : verdict->from_record     ? "timed"
                                                  : "no win",
                       verdict->from_record ? ", from the record" : "");
    else
        (void)snprintf(out, TEXT, "%s %s%s", verdict_kind_name(verdict->kind), verdict->mechanism,
                       verdict->from_record ? ", from the record" : "");
}

/* What a journal may hold: that another gate, of class 'relaxed', timed this code. */
static bool recall_other_gate(struct target *target, const struct task *task, struct gate *gate,
                              const struct candidate *candidate, struct arena *arena,
                              struct err *err)
{
    CLEANUP(gate_close) struct gate *other = NULL;
    struct task relaxed = *task;
    struct verdict earlier;
    struct case_result cases[MOST_CASES] = {0};
    relaxed.precision = PRECISION_RELAXED;
    if (!gate_open(target, &relaxed, &(struct gate_opts){.check_only = true}, &other, err) ||
        !gate_judge(other, candidate, -(double)INFINITY, arena, &earlier, err))
        return false;
    earlier.kind = VERDICT_TIMED;
    earlier.mechanism = earlier.evidence = "";
    earlier.cases = cases;
    earlier.case_count = 0;
    for (size_t i = 0; i < task->case_count && i < MOST_CASES; i++)
        if (!task->cases[i].held_out)
            cases[earlier.case_count++].name = task->cases[i].name;
    (void)gate_recall(gate, &earlier);
    return true;
}

static bool judge_in(struct target *target, const struct row *row, const struct kernel *kernel,
                     char found[TEXT], struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(gate_close) struct gate *gate = NULL;
    struct verdict verdict = {.kind = VERDICT_TOO_NOISY};
    const struct task *task;
    const struct gate_opts opts = {
        .time_budget_ns = 300 * 1000 * 1000, .max_pairs = 24, .check_only = !row->is_timed};
    const char *path = os_path_join(&arena, KOPE_SOURCE_DIR "/tests/tasks", kernel->task);
    if (!task_load(path, &arena, &task, err))
        return false;
    if (!gate_open(target, task, &opts, &gate, err)) {
        (void)snprintf(found, TEXT, "refused M17-null");
        return err->kind == ERR_BAD_INPUT && strstr(err->message, "cannot tell");
    }
    without_opened(true);
    if (row->mechanism == M16 &&
        !recall_other_gate(target, task, gate, &kernel->candidate, &arena, err))
        return false;
    for (int i = 0; i < TRIES && verdict.kind == VERDICT_TOO_NOISY; i++)
        if (!gate_judge(gate, &kernel->candidate, -(double)INFINITY, &arena, &verdict, err))
            return false;
    describe(&verdict, found);
    return true;
}

/* Each time a target of its own, so that no build of the one is found by the other. */
static bool judge(const struct test *t, const struct row *row, const struct kernel *kernel,
                  bool is_out, char found[TEXT], struct err *err)
{
    CLEANUP(target_close) struct target *target = NULL;
    CLEANUP(arena_free) struct arena arena = {0};
    const char *runner = row->runner && is_out ? os_path_join(&arena, t->runners, row->runner)
                                               : KOPE_BUILD_DIR "/kope-runner";
    without(is_out ? row->mechanism : M_NONE);
    if (setenv("KOPE_RUNNER", runner, 1) != 0)
        return err_set(err, ERR_IO, "no room for an environment variable");
    const bool ok = target_open("cpu", NULL, &target, err) &&
                    (row->mechanism != M14 || target_probe(target, false, err)) &&
                    judge_in(target, row, kernel, found, err);
    return ok || err_within(err, "kernel '%s' %s %s", kernel->name, is_out ? "without" : "with",
                            row->name);
}

/* "no win M3-doorbell" expects no more of a verdict than "no win". */
static bool is_expected(const struct kernel *kernel, const char *found)
{
    for (size_t i = 0; i < kernel->expected_count; i++) {
        const char *text = kernel->expected[i].text;
        const bool is_inert = str_starts_with(text, "no win ");
        if (str_equal(found, text) || (is_inert && str_equal(found, "no win")))
            return true;
    }
    return false;
}

enum { MOST_TRIES = 4 };
enum result { SHOWN, UNMEASURED, SAME, UNUSED, OTHER, RESULT_COUNT };

/* A host too busy to measure shows nothing: neither that the mechanism works nor that it does not.
 */
static enum result compare(const struct row *row, const struct kernel *kernel, const char *with,
                           const char *out)
{
    if (str_starts_with(with, "too-noisy") || str_starts_with(out, "too-noisy"))
        return UNMEASURED;
    if (!is_expected(kernel, with) || (row->verdict && !str_equal(with, row->verdict)))
        return OTHER;
    if (!row->runner && without_count() == 0)
        return UNUSED;
    const bool is_same = row->verdict ? str_equal(out, row->verdict) : is_expected(kernel, out);
    return is_same ? SAME : SHOWN;
}

static bool try_row(const struct test *t, const struct row *row, enum result *result,
                    struct err *err)
{
    char with[TEXT] = "", out[TEXT] = "";
    const struct kernel *kernel = kernel_named(t, row->exploit);
    if (!kernel)
        return err_set(err, ERR_NOT_FOUND, "there is no kernel '%s'", row->exploit);
    /* By what inputs are dealt first, another mechanism can come before the one that is meant. */
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        if (!judge(t, row, kernel, false, with, err) || !judge(t, row, kernel, true, out, err))
            return false;
        *result = compare(row, kernel, with, out);
        if (*result != UNUSED && *result != OTHER)
            break;
    }
    static const char *const says[] = {
        [SHOWN] = "",
        [UNMEASURED] = "not shown: this host is too busy to measure",
        [SAME] = "FAIL: makes no difference",
        [UNUSED] = "FAIL: was not taken out",
        [OTHER] = "FAIL: is not what stops it",
    };
    printf("%-4s %-30s %-28s %-26s %-26s %s\n", row->name, row->source, row->exploit, with, out,
           says[*result]);
    (void)fflush(stdout);
    return true;
}

static bool is_wanted(const struct row *row, char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (str_equal(row->name, names[i]))
            return true;
    return count == 0;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "mutation: %s%s%s\n", err->message, *err->hint ? "; " : "", err->hint);
    return err->kind == ERR_UNSUPPORTED || err->kind == ERR_MISSING_TOOL ? SKIPPED : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static struct test t;
    struct err err = {0};
    size_t results[RESULT_COUNT] = {0}, tried = 0;
    /* However this program ends, so do the children: they die with it (box_hide_process). */
    (void)prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
    if (argc < 2) {
        fprintf(stderr, "use: mutation_test RUNNERS [M5...]\n");
        return EXIT_FAILURE;
    }
    t.runners = argv[1];
    if (!kernels_load(KOPE_REDTEAM_DIR, NULL, 0, &t.arena, &t.kernels, &t.count, &err))
        return fail(&err);
    printf("%-4s %-30s %-28s %-26s %s\n", "", "source", "exploit", "with it", "without it");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum result result = OTHER;
        if (!is_wanted(&rows[i], argv + 2, argc - 2))
            continue;
        if (!try_row(&t, &rows[i], &result, &err))
            return fail(&err);
        tried++;
        results[result]++;
    }
    printf("%zu mechanisms taken out: %zu shown, %zu not measured, %zu without effect\n", tried,
           results[SHOWN], results[UNMEASURED], tried - results[SHOWN] - results[UNMEASURED]);
    arena_free(&t.arena);
    return results[SHOWN] > 0 && results[SHOWN] + results[UNMEASURED] == tried ? EXIT_SUCCESS
                                                                               : EXIT_FAILURE;
}
