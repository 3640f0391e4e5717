/*
 * What the tests of the gate that time nothing share: a target, a task with its gate, and what the
 * gate says of a candidate.
 */
#ifndef KOPE_TESTS_GATE_FIXTURE_H
#define KOPE_TESTS_GATE_FIXTURE_H

#include "base/str.h"
#include "gate/gate.h"
#include "target/target.h"
#include "task/task.h"
#include "task/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

static struct {
    struct arena arena;
    struct target *target;
    const struct task *task;
    struct gate *gate;
} fixture;

/* The gate of that task, in place of the one before. A task that cannot be read ends the test. */
static inline bool open_gate(const char *yaml, const char *reference, struct err *err)
{
    static const struct gate_opts opts = {.check_only = true};
    gate_close(&fixture.gate);
    if (!task_parse(yaml, strlen(yaml), reference, "", &fixture.arena, &fixture.task, err))
        fail_msg("%s (%s)", err->message, err->hint);
    return gate_open(fixture.target, fixture.task, &opts, &fixture.gate, err);
}

static inline struct verdict judge(const char *source)
{
    struct err err = {0};
    struct verdict verdict;
    const struct candidate candidate = {.source = source};
    if (!gate_judge(fixture.gate, &candidate, -HUGE_VAL, &fixture.arena, &verdict, &err))
        fail_msg("%s", err.message);
    print_message("%s %s: %s\n", verdict_kind_name(verdict.kind), verdict.mechanism,
                  verdict.kind == VERDICT_BUILD_FAILED ? verdict.diagnostics : verdict.evidence);
    return verdict;
}

/* `evidence`: words of it; NULL: any. */
static inline void expect(const char *source, enum verdict_kind kind, const char *evidence)
{
    const struct verdict verdict = judge(source);
    assert_string_equal(verdict_kind_name(verdict.kind), verdict_kind_name(kind));
    if (evidence)
        assert_non_null(strstr(verdict.evidence, evidence));
}

static inline int open_target(void **state)
{
    (void)state;
    struct err err = {0};
    if (target_open("cpu", NULL, &fixture.target, &err))
        return 0;
    print_message("no candidate can run here: %s\n", err.message);
    return -1;
}

static inline int close_all(void **state)
{
    (void)state;
    gate_close(&fixture.gate);
    target_close(&fixture.target);
    arena_free(&fixture.arena);
    return 0;
}

#endif
