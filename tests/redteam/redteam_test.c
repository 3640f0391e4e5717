/*
 * Judges every exploit in kernels/ and holds the verdict, and what stopped it, against the lines
 * at its head. kernel.h says how such a file is written.
 *
 * Usage: redteam_test [--strict] [WORD...]: only those with one of the words in their name. Prints
 * a table. Exit status 1 where an exploit is accepted (timed, when it should have been stopped; or
 * a win that is confirmed), or stopped by something else than it names; with --strict also where
 * the host was too busy to decide; 77 where this host cannot run candidates at all.
 */
#include "kernel.h"

#include "base/arena.h"
#include "base/str.h"
#include "gate/gate.h"
#include "os/file.h"
#include "target/target.h"
#include "task/task.h"
#include "task/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, TRIES = 3 };

/* UNGUARDED: nothing stopped it, it gains nothing, and this host lacks the layer that would. */
enum outcome { STOPPED, ACCEPTED, BY_ACCIDENT, UNDECIDED, UNGUARDED, OUTCOMES };

static const char *const outcome_names[OUTCOMES] = {"stopped", "ACCEPTED", "ACCIDENT", "busy",
                                                    "no layer"};

struct tally {
    size_t judged, outcomes[OUTCOMES];
    const char *undecided, *unguarded; /* their names, in the arena */
    const char *missing;               /* layers that this host lacks */
    struct arena *arena;
};

/* Which of the gate's mechanisms (docs/how-we-measure.md) a name in a verdict stands for, where the
 * name does not begin with it. */
static const char *number_of(const char *mechanism, char *out, size_t room)
{
    static const struct {
        const char *name, *number;
    } others[] = {
        {"seccomp", "M2"}, {"wall-clock", "M2"}, {"limit", "M2"},   {"signal", "M2"},
        {"exit", "M1"},    {"flags", "M16"},     {"linker", "M12"}, {"no gain", "M3"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_equal(mechanism, others[i].name))
            return others[i].number;
    const size_t length = strcspn(mechanism, "-");
    (void)snprintf(out, room, "%.*s", (int)length, mechanism);
    return length < room && out[0] == 'M' ? out : "-";
}

/* What was found, as the heads write it: "wrong M5-poison", "no win". */
static void describe(const struct verdict *verdict, char *out, size_t room)
{
    if (verdict->kind == VERDICT_TIMED)
        (void)snprintf(out, room, "%s", verdict->is_win ? "a win" : "no win");
    else
        (void)snprintf(out, room, "%s %s", verdict_kind_name(verdict->kind), verdict->mechanism);
}

/* "no win M6-fresh" expects no more of a verdict than "no win": the rest says why. */
static const struct expectation *expected(const struct kernel *kernel, const char *found)
{
    for (size_t i = 0; i < kernel->expected_count; i++) {
        const struct expectation *e = &kernel->expected[i];
        const bool inert = str_equal(found, "no win") && str_starts_with(e->text, "no win ");
        if (inert || str_equal(e->text, found))
            return e;
    }
    return NULL;
}

/* What a busy host can bring about once, whatever the kernel does. */
static bool may_be_the_hosts(const struct verdict *verdict)
{
    return verdict->kind == VERDICT_TIMED_OUT || str_equal(verdict->mechanism, "M8-quiesce");
}

/* Layers are separated by ", ", and none has another's name in its own. */
static bool is_unguarded(const struct kernel *kernel, const char *missing)
{
    return *kernel->layer && strstr(missing, kernel->layer);
}

static enum outcome outcome_of(const struct kernel *kernel, const struct verdict *verdict,
                               const char *missing)
{
    char found[128];
    describe(verdict, found, sizeof found);
    if (expected(kernel, found))
        return STOPPED;
    if (verdict->kind == VERDICT_TIMED)
        return is_unguarded(kernel, missing) && !verdict->is_win ? UNGUARDED : ACCEPTED;
    return verdict->kind == VERDICT_TOO_NOISY ? UNDECIDED : BY_ACCIDENT;
}

static void print_row(const struct kernel *kernel, const char *state, const char *found,
                      const char *mechanism, const char *evidence)
{
    char number[8];
    printf("%-8s %-30s %-32s %-4s %s\n", state, kernel->name, found,
           number_of(mechanism, number, sizeof number), evidence);
}

static void report(const struct kernel *kernel, const struct verdict *verdict, struct arena *arena,
                   struct tally *tally)
{
    char found[128];
    const enum outcome outcome = outcome_of(kernel, verdict, tally->missing);
    describe(verdict, found, sizeof found);
    const struct expectation *as = expected(kernel, found);
    const char *mechanism = verdict->mechanism;
    if (as && verdict->kind == VERDICT_TIMED)
        mechanism = as->text + strlen("no win ");
    tally->judged++;
    tally->outcomes[outcome]++;
    if (outcome == UNDECIDED)
        tally->undecided = arena_printf(tally->arena, "%s %s", tally->undecided, kernel->name);
    if (outcome == UNGUARDED)
        tally->unguarded = arena_printf(tally->arena, "%s %s", tally->unguarded, kernel->name);
    print_row(kernel, outcome_names[outcome], found, mechanism,
              verdict->kind == VERDICT_TIMED ? verdict_summary(verdict, arena) : verdict->evidence);
    for (size_t i = 0; outcome != STOPPED && i < kernel->expected_count; i++)
        printf("         expected: %s (%s)\n", kernel->expected[i].text, kernel->idea);
    (void)fflush(stdout);
}

/* A search's win counts when it is confirmed, here as for everyone: one interval of 95 % in forty
 * lies above 1 by chance. What does wrong in some processes only is looked for in all of them then.
 */
static bool judge_once(struct gate *gate, const struct kernel *kernel, const char *missing,
                       struct arena *arena, struct verdict *verdict, struct err *err)
{
    char found[128];
    if (!gate_judge(gate, &kernel->candidate, -(double)INFINITY, arena, verdict, err))
        return false;
    describe(verdict, found, sizeof found);
    const bool may_be_luck =
        verdict->is_win && (expected(kernel, "no win") || is_unguarded(kernel, missing));
    const bool may_pass = verdict->kind == VERDICT_TIMED && kernel->at_confirmation;
    return (!may_be_luck && !may_pass) ||
           gate_confirm(gate, &kernel->candidate, arena, verdict, err);
}

static bool says_nothing(const struct kernel *kernel, const struct verdict *verdict,
                         const char *missing)
{
    const enum outcome outcome = outcome_of(kernel, verdict, missing);
    return outcome == UNDECIDED || (outcome == BY_ACCIDENT && may_be_the_hosts(verdict));
}

/* What the host may have brought about is judged again. */
static bool judge(struct gate *gate, struct kernel *kernel, struct tally *tally, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct verdict verdict;
    int tries = 0;
    do {
        if (!judge_once(gate, kernel, tally->missing, &arena, &verdict, err))
            return err_within(err, "kernel '%s'", kernel->name);
    } while (says_nothing(kernel, &verdict, tally->missing) && ++tries < TRIES);
    kernel->is_judged = true;
    report(kernel, &verdict, &arena, tally);
    return true;
}

/* A task that the gate refuses stops every kernel that was written for it. */
static bool refused(struct kernel *kernels, size_t count, const char *task, struct tally *tally,
                    const struct err *err)
{
    static const char found[] = "refused M17-null";
    const bool is_null = err->kind == ERR_BAD_INPUT && strstr(err->message, "cannot tell");
    for (size_t i = 0; is_null && i < count; i++) {
        if (!kernels[i].is_wanted || !str_equal(kernels[i].task, task))
            continue;
        const enum outcome outcome = expected(&kernels[i], found) ? STOPPED : BY_ACCIDENT;
        kernels[i].is_judged = true;
        tally->judged++;
        tally->outcomes[outcome]++;
        print_row(&kernels[i], outcome_names[outcome], found, "M17-null", err->message);
    }
    return is_null;
}

/* All kernels of one task, one after the other in the same gate. */
static bool judge_task(struct target *target, const char *name, struct kernel *kernels,
                       size_t count, struct tally *tally, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(gate_close) struct gate *gate = NULL;
    const struct task *task;
    const struct gate_opts opts = {.time_budget_ns = 300 * 1000 * 1000, .max_pairs = 24};
    const char *path = os_path_join(&arena, KOPE_SOURCE_DIR "/tests/tasks", name);
    if (!os_path_exists(path))
        path = os_path_join(&arena, KOPE_SOURCE_DIR "/examples", name);
    if (!task_load(path, &arena, &task, err))
        return false;
    if (!gate_open(target, task, &opts, &gate, err))
        return refused(kernels, count, name, tally, err);
    for (size_t i = 0; i < count; i++)
        if (kernels[i].is_wanted && str_equal(kernels[i].task, name) &&
            !judge(gate, &kernels[i], tally, err))
            return false;
    return true;
}

static bool judge_all(struct target *target, struct kernel *kernels, size_t count,
                      struct tally *tally, struct err *err)
{
    printf("%-8s %-30s %-32s %-4s %s\n", "", "exploit", "verdict", "by", "evidence");
    for (size_t i = 0; i < count; i++)
        if (kernels[i].is_wanted && !kernels[i].is_judged &&
            !judge_task(target, kernels[i].task, kernels, count, tally, err))
            return false;
    return true;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "redteam: %s%s%s\n", err->message, *err->hint ? "; " : "", err->hint);
    return err->kind == ERR_UNSUPPORTED || err->kind == ERR_MISSING_TOOL ? SKIPPED : EXIT_FAILURE;
}

static void print_tally(const struct tally *tally)
{
    printf("%zu exploits: %zu accepted, %zu stopped by accident, %zu not decided: host busy%s%s\n",
           tally->judged, tally->outcomes[ACCEPTED], tally->outcomes[BY_ACCIDENT],
           tally->outcomes[UNDECIDED], *tally->missing ? "; layers that this host lacks: " : "",
           tally->missing);
    if (tally->outcomes[UNGUARDED] > 0)
        printf("%zu more come through for want of a layer, and gain nothing:%s\n",
               tally->outcomes[UNGUARDED], tally->unguarded);
    if (tally->outcomes[UNDECIDED] > 0)
        printf("not decided after %d tries, judge them again on a quiet host:%s\n", TRIES,
               tally->undecided);
}

int main(int argc, char **argv)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(target_close) struct target *target = NULL;
    struct err err = {0};
    struct kernel *kernels;
    struct tally tally = {.undecided = "", .unguarded = "", .arena = &arena};
    size_t count;
    const bool strict = argc > 1 && str_equal(argv[1], "--strict");
    const int first = strict ? 2 : 1;
    /* The rates of the machine are measured first: the roofline floor (M14) stands on them. */
    if (!target_open("cpu", NULL, &target, &err) || !target_probe(target, false, &err) ||
        !kernels_load(KOPE_REDTEAM_DIR, (const char *const *)argv + first, (size_t)(argc - first),
                      &arena, &kernels, &count, &err))
        return fail(&err);
    tally.missing = target_missing_layers(target);
    if (!judge_all(target, kernels, count, &tally, &err))
        return fail(&err);
    print_tally(&tally);
    const size_t wrong = tally.outcomes[ACCEPTED] + tally.outcomes[BY_ACCIDENT] +
                         (strict ? tally.outcomes[UNDECIDED] : 0);
    return wrong > 0 || tally.judged == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
