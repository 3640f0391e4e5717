/*
 * Honest kernels are never punished: makes variants of right kernels by the plan, judges each one,
 * and times a few whole. All must pass.
 *
 * Usage: honest_test [--spread N] [WORD...]: about N of them, evenly spread (default: all); only
 * those with one of the words in their name. Prints what was refused, how many were judged, and how
 * many differ in their machine code. Exit status 1 where one was refused, 77 where this host cannot
 * run candidates.
 */
#include "plan.h"

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

enum { SKIPPED = 77, TIMED_ONE_IN = 10, TRIES = 3, MOST_VARIANTS = 4096, AHEAD = 16 };

struct tally {
    size_t judged, timed, too_noisy, refused, lacking;
    const char *lack;                       /* the last reason */
    struct hash_id code_ids[MOST_VARIANTS]; /* different ones */
    size_t code_count;
};

static void note_code(struct tally *tally, const struct hash_id *id)
{
    for (size_t i = 0; i < tally->code_count; i++)
        if (str_equal(tally->code_ids[i].text, id->text))
            return;
    if (tally->code_count < MOST_VARIANTS)
        tally->code_ids[tally->code_count++] = *id;
}

/* A timed verdict is asked of every tenth: what the clock is good for is tested elsewhere, but an
 * honest kernel must not be taken for a cheat while it is timed either. */
static bool judge(struct gate *gate, const struct variant *variant, bool is_timed,
                  struct tally *tally, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct verdict verdict = {.kind = VERDICT_TOO_NOISY};
    for (int i = 0; i < TRIES && verdict.kind == VERDICT_TOO_NOISY; i++)
        if (!gate_judge(gate, &variant->candidate, -(double)INFINITY, &arena, &verdict, err))
            return err_within(err, "variant '%s'", variant->name);
    tally->judged++;
    tally->timed += is_timed && verdict.kind == VERDICT_TIMED;
    tally->too_noisy += verdict.kind == VERDICT_TOO_NOISY;
    note_code(tally, &verdict.code_id);
    if (verdict.kind == VERDICT_TIMED || verdict.kind == VERDICT_TOO_NOISY)
        return true;
    tally->refused++;
    printf("REFUSED  %s\n         %s %s: %s\n%s", variant->name, verdict_kind_name(verdict.kind),
           verdict.mechanism, verdict.evidence, verdict.diagnostics);
    (void)fflush(stdout);
    return true;
}

static bool open_gate(struct target *target, const struct task *task, bool check_only,
                      struct gate **out, struct err *err)
{
    const struct gate_opts opts = {
        .time_budget_ns = 200 * 1000 * 1000, .max_pairs = 12, .check_only = check_only};
    return gate_open(target, task, &opts, out, err);
}

/* The next variants of a task from `first` on are built beside each other, as in a search. */
static bool build_ahead(struct gate *gate, const char *task, const struct variants *all,
                        size_t first, struct err *err)
{
    const struct candidate *next[AHEAD];
    size_t count = 0;
    for (size_t i = first; i < all->count && count < AHEAD; i++)
        if (str_equal(all->items[i].task, task) && !all->items[i].lacks)
            next[count++] = &all->items[i].candidate;
    return gate_build_ahead(gate, next, count, err);
}

/* Those of one task, which is opened twice: to check, and to time. */
static bool judge_task(struct target *target, const char *name, const struct variants *all,
                       struct tally *tally, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(gate_close) struct gate *checking = NULL;
    CLEANUP(gate_close) struct gate *timing = NULL;
    const struct task *task;
    if (!task_load(os_path_join(&arena, KOPE_TASKS_DIR, name), &arena, &task, err) ||
        !open_gate(target, task, true, &checking, err))
        return false;
    const size_t before = tally->judged, codes = tally->code_count;
    for (size_t i = 0; i < all->count; i++) {
        const bool is_timed = i % TIMED_ONE_IN == 0;
        if (!str_equal(all->items[i].task, name) || all->items[i].lacks)
            continue;
        if ((tally->judged - before) % AHEAD == 0 && !build_ahead(checking, name, all, i, err))
            return false;
        if (is_timed && !timing && !open_gate(target, task, false, &timing, err))
            return false;
        if (!judge(is_timed ? timing : checking, &all->items[i], is_timed, tally, err))
            return false;
    }
    printf("%-12s %4zu judged, %4zu different machine codes\n", name, tally->judged - before,
           tally->code_count - codes);
    (void)fflush(stdout);
    return true;
}

static bool is_wanted(const char *name, int word_count, char **words)
{
    for (int i = 0; i < word_count; i++)
        if (strstr(name, words[i]))
            return true;
    return word_count == 0;
}

/* Keeps about `spread` of those that are wanted, evenly spread over the plan. */
static void thin_out(struct variants *all, size_t spread, int word_count, char **words)
{
    size_t wanted = 0, kept = 0;
    for (size_t i = 0; i < all->count; i++)
        if (is_wanted(all->items[i].name, word_count, words))
            all->items[wanted++] = all->items[i];
    for (size_t i = 0; i < wanted; i++)
        if (spread >= wanted || i * spread / wanted != (i + 1) * spread / wanted)
            all->items[kept++] = all->items[i];
    all->count = kept;
}

static bool judge_all(struct target *target, const struct variants *all, struct tally *tally,
                      struct err *err)
{
    for (size_t i = 0; i < all->count; i++) {
        const char *task = all->items[i].task;
        if (all->items[i].lacks) {
            tally->lacking++;
            tally->lack = all->items[i].lacks;
        }
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !str_equal(all->items[k].task, task);
        if (is_first && !judge_task(target, task, all, tally, err))
            return false;
    }
    return true;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "honest: %s%s%s\n", err->message, *err->hint ? "; " : "", err->hint);
    return err->kind == ERR_UNSUPPORTED || err->kind == ERR_MISSING_TOOL ? SKIPPED : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(target_close) struct target *target = NULL;
    CLEANUP(plan_free) struct variants all = {0};
    struct err err = {0};
    struct tally tally = {0};
    int64_t spread = MOST_VARIANTS;
    int first = 1;
    if (argc > 2 && str_equal(argv[1], "--spread")) {
        if (!str_parse_int64(argv[2], &spread) || spread < 1)
            return EXIT_FAILURE;
        first = 3;
    }
    if (!target_open("cpu", NULL, &target, &err) ||
        !plan_load(KOPE_HONEST_DIR, target, &arena, &all, &err))
        return fail(&err);
    thin_out(&all, (size_t)spread, argc - first, argv + first);
    if (all.count == 0) {
        fprintf(stderr, "honest: no variant has any of these words in its name\n");
        return EXIT_FAILURE;
    }
    if (!judge_all(target, &all, &tally, &err))
        return fail(&err);
    if (tally.lacking > 0)
        printf("not run: %zu (%s)\n", tally.lacking, tally.lack);
    printf("%zu honest variants, %zu different machine codes: %zu refused; %zu also timed, %zu too "
           "noisy to time\n",
           tally.judged, tally.code_count, tally.refused, tally.timed, tally.too_noisy);
    return tally.refused ? EXIT_FAILURE : EXIT_SUCCESS;
}
