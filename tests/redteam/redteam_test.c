/*
 * Judges every kernel in kernels/ on its task and compares the verdict with the one that it
 * expects.
 *
 * A kernel begins with lines '// expect: wrong M5-poison' (several lines: any of them; the
 * mechanism may be left out) and '// task: softmax', then a line that says what it tries. Prints a
 * table; exit status 1 where a verdict differs, 77 where this host cannot run candidates at all.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
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

enum { MOST_EXPECTED = 6, MOST_KERNEL_BYTES = 256 * 1024, SKIPPED = 77 };

struct kernel {
    const char *name, *task, *idea;
    const char *expected[MOST_EXPECTED]; /* "wrong M5-poison" or "crashed" */
    size_t expected_count;
    struct candidate candidate;
    bool is_wanted, is_judged;
};

/* The rest of the line behind `key`, or NULL. */
static char *value_of(const char *line, const char *key, struct arena *arena)
{
    const size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    line += length;
    return arena_strndup(arena, line, strcspn(line, "\n"));
}

static void read_header(struct kernel *kernel, struct arena *arena)
{
    kernel->task = "softmax";
    kernel->idea = "";
    for (const char *line = kernel->candidate.source; str_starts_with(line, "//");) {
        const char *expected = value_of(line, "// expect: ", arena);
        const char *task = value_of(line, "// task: ", arena);
        const char *flags = value_of(line, "// flags: ", arena);
        if (expected && kernel->expected_count < MOST_EXPECTED)
            kernel->expected[kernel->expected_count++] = expected;
        else if (task)
            kernel->task = task;
        else if (flags)
            (void)candidate_parse_flags(flags, arena, &kernel->candidate);
        else if (!expected && *kernel->idea == '\0')
            kernel->idea = value_of(line, "// ", arena);
        const char *end = strchr(line, '\n');
        if (!end)
            break;
        line = end + 1;
    }
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    if (argc == 1)
        return true;
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]))
            return true;
    return false;
}

static bool load(int argc, char **argv, struct arena *arena, struct kernel **out, size_t *count,
                 struct err *err)
{
    char **names;
    if (!os_list_dir(KOPE_REDTEAM_DIR, arena, &names, count, err))
        return false;
    *out = arena_array(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        struct kernel *kernel = &(*out)[i];
        char *source;
        if (!os_read_file(os_path_join(arena, KOPE_REDTEAM_DIR, names[i]), MOST_KERNEL_BYTES, arena,
                          &source, NULL, err))
            return false;
        kernel->name = names[i];
        kernel->candidate = (struct candidate){.source = source};
        kernel->is_wanted = str_ends_with(names[i], ".c") && is_wanted(names[i], argc, argv);
        read_header(kernel, arena);
    }
    return true;
}

/* A verdict as the headers write it. */
static bool is_expected(const struct kernel *kernel, const struct verdict *verdict)
{
    char found[128];
    const char *kind = verdict_kind_name(verdict->kind);
    (void)snprintf(found, sizeof found, "%s %s", kind, verdict->mechanism);
    for (size_t i = 0; i < kernel->expected_count; i++)
        if (str_equal(kernel->expected[i], found) || str_equal(kernel->expected[i], kind) ||
            (str_equal(kernel->expected[i], "no win") && verdict->kind == VERDICT_TIMED &&
             !verdict->is_win))
            return true;
    return false;
}

static bool judge(struct gate *gate, struct kernel *kernel, size_t *failures, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct verdict verdict;
    if (!gate_judge(gate, &kernel->candidate, -(double)INFINITY, &arena, &verdict, err))
        return err_within(err, "kernel '%s'", kernel->name);
    kernel->is_judged = true;
    const bool ok = is_expected(kernel, &verdict);
    *failures += !ok;
    printf("%-4s %-28s %-10s %-13s %-18s %6.0f ms  %s\n", ok ? "ok" : "FAIL", kernel->name,
           kernel->task, verdict_kind_name(verdict.kind), verdict.mechanism,
           (double)verdict.timings.total_ns / 1e6,
           verdict.kind == VERDICT_TIMED ? verdict_summary(&verdict, &arena) : verdict.evidence);
    for (size_t i = 0; !ok && i < kernel->expected_count; i++)
        printf("     expected: %s (%s)\n", kernel->expected[i], kernel->idea);
    (void)fflush(stdout);
    return true;
}

/* All kernels of one task, one after the other in the same gate. */
static bool judge_task(struct target *target, const char *name, struct kernel *kernels,
                       size_t count, size_t *failures, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(gate_close) struct gate *gate = NULL;
    const struct task *task;
    const char *path = os_path_join(&arena, KOPE_SOURCE_DIR "/examples", name);
    const struct gate_opts opts = {.time_budget_ns = 300 * 1000 * 1000, .max_pairs = 24};
    if (!task_load(path, &arena, &task, err) || !gate_open(target, task, &opts, &gate, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (kernels[i].is_wanted && str_equal(kernels[i].task, name) &&
            !judge(gate, &kernels[i], failures, err))
            return false;
    return true;
}

static bool judge_all(struct target *target, struct kernel *kernels, size_t count, size_t *failures,
                      struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (kernels[i].is_wanted && !kernels[i].is_judged &&
            !judge_task(target, kernels[i].task, kernels, count, failures, err))
            return false;
    return true;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "redteam: %s%s%s\n", err->message, *err->hint ? "; " : "", err->hint);
    return err->kind == ERR_UNSUPPORTED || err->kind == ERR_MISSING_TOOL ? SKIPPED : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(target_close) struct target *target = NULL;
    struct err err = {0};
    struct kernel *kernels;
    size_t count, failures = 0;
    if (!target_open("cpu", NULL, &target, &err) ||
        !load(argc, argv, &arena, &kernels, &count, &err) ||
        !judge_all(target, kernels, count, &failures, &err))
        return fail(&err);
    printf("%zu verdicts differ\n", failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
