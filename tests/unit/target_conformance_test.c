/*
 * What every target driver owes its callers: the same test over each of them, with kernels that the
 * fake driver knows by name and the others compile.
 */
#include "base/str.h"
#include "target/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1000, ROOM = 4096, PATIENCE = 400 };
#define LIMIT_NS INT64_C(5000000000)

struct kernel {
    const char *name, *outputs, *body;
};

static const struct kernel kernels[] = {
    {"copy", "n", "for (int64_t i = 0; i < n; i++) y[i] = x[i];"},
    {"scale2", "n", "for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i];"},
    {"sum", "1", "real s = 0; for (int64_t i = 0; i < n; i++) s += x[i]; y[0] = s;"},
};

struct fixture {
    struct target *target;
    struct arena arena;
    struct err err;
};

static int set_up(void **state, const char *name)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    if (!target_open(name, NULL, &f.target, &f.err)) {
        print_error("%s (%s)\n", f.err.message, f.err.hint);
        return -1;
    }
    *state = &f;
    return 0;
}

static int set_up_cpu(void **state)
{
    return set_up(state, "cpu");
}

static int set_up_fake(void **state)
{
    return set_up(state, "fake");
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    target_close(&f->target);
    arena_free(&f->arena);
    return 0;
}

static const struct task *make_task(struct fixture *f, const struct kernel *kernel)
{
    const struct task *task = NULL;
    const char *text = arena_printf(&f->arena,
                                    "name: %s\nfamily: elementwise\ndtype: float32\naxes: [n]\n"
                                    "args:\n  - {name: x, role: in, shape: [n]}\n"
                                    "  - {name: y, role: out, shape: [%s]}\n"
                                    "cases:\n  - {n: 1000}\nheld_out:\n  - {n: 57}\n",
                                    kernel->name, kernel->outputs);
    const char *reference = arena_printf(&f->arena,
                                         "#include <stdint.h>\n"
                                         "void %s(const real *x, real *y, int64_t n)\n{\n%s\n}\n",
                                         kernel->name, kernel->body);
    if (!task_parse(text, strlen(text), reference, "", &f->arena, &task, &f->err))
        fail_msg("%s", f->err.message);
    return task;
}

static struct build_result build(struct fixture *f, const struct task *task, const char *source,
                                 const char *real_name)
{
    struct build_result result;
    const struct candidate candidate = {.source = source};
    const struct build_request request = {
        .task = task, .candidate = &candidate, .real_name = real_name};
    if (!target_build(f->target, &request, &f->arena, &result, &f->err))
        fail_msg("%s", f->err.message);
    return result;
}

static void run(struct fixture *f, struct session *session, const struct session_call *call,
                struct session_report *report)
{
    for (int i = 0; i < PATIENCE; i++) {
        if (!session_run(session, call, 1, true, LIMIT_NS, report, &f->err))
            fail_msg("%s", f->err.message);
        if (report->status != SESSION_NOISY)
            return;
    }
    skip();
}

static void check_kernel(struct fixture *f, const struct kernel *kernel, const char *real_name)
{
    const bool is_double = str_equal(real_name, "double");
    const struct task *task = make_task(f, kernel);
    const struct build_result built = build(f, task, task->reference, real_name);
    const int64_t n = N;
    struct session_buffer buffers[] = {
        {.label = "x", .bytes = 4 * ROOM},
        {.label = "y", .bytes = 4 * ROOM, .writable = true},
    };
    const struct session_opts opts = {.image = built.image,
                                      .image_bytes = built.image_bytes,
                                      .buffers = buffers,
                                      .buffer_count = 2,
                                      .ints = &n,
                                      .int_count = 1,
                                      .cpu = -1};
    const struct session_call call = {{64, 128}};
    struct session *session = NULL;
    struct session_report report;
    assert_int_equal(built.status, BUILD_OK);
    if (!session_start(f->target, &opts, &session, &report, &f->err))
        fail_msg("%s", f->err.message);
    assert_non_null(session);
    double want = 0;
    for (size_t i = 0; i < N; i++) {
        const double value = (double)(i % 7);
        if (is_double)
            ((double *)buffers[0].host)[i + 64 / sizeof(double)] = value;
        else
            ((float *)buffers[0].host)[i + 64 / sizeof(float)] = (float)value;
        want += value;
    }
    run(f, session, &call, &report);
    assert_int_equal(report.status, SESSION_OK);
    assert_true(report.elapsed_ns >= 0);
    const double factor = str_equal(kernel->name, "scale2") ? 2 : 1;
    const bool is_sum = str_equal(kernel->name, "sum");
    for (size_t i = 0; i < (is_sum ? 1 : N); i++) {
        const double expected = is_sum ? want : factor * (double)(i % 7);
        const double got = is_double ? ((double *)buffers[1].host)[i + 128 / sizeof(double)]
                                     : (double)((float *)buffers[1].host)[i + 128 / sizeof(float)];
        assert_true(got == expected);
    }
    assert_true(session_freeze(session, &f->err));
    assert_true(session_thaw(session, &f->err));
    session_stop(&session);
    assert_null(session);
}

static void target__known_kernels__are_right_in_both_types(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        check_kernel(f, &kernels[i], "float");
        check_kernel(f, &kernels[i], "double");
    }
}

static void target__features__identify_it(void **state)
{
    struct fixture *f = *state;
    const struct target_features *features = target_features(f->target);
    assert_non_null(features->name);
    assert_non_null(features->cpu);
    assert_non_null(features->isa);
    assert_non_null(features->os);
    assert_true(features->cores >= 1);
    assert_true(features->vector_bytes >= 16);
    assert_true(features->compiler_count >= 1);
    assert_int_equal(strlen(features->id.text), HASH_ID_CHARS);
    assert_non_null(target_missing_layers(f->target));
}

static void target__default_build__is_allowed(void **state)
{
    struct fixture *f = *state;
    const char *compiler = NULL, *why = NULL;
    const char *const *flags = NULL;
    size_t count = 0;
    target_default_build(f->target, &compiler, &flags, &count);
    assert_non_null(compiler);
    assert_true(count >= 1);
    for (size_t i = 0; i < count; i++)
        assert_true(target_flag_allowed(f->target, compiler, flags[i], &why));
    assert_false(target_flag_allowed(f->target, compiler, "-wrapper", &why));
    assert_non_null(why);
    assert_false(target_flag_allowed(f->target, "no-such-compiler", "-O3", &why));
}

static void target__refused_flag__is_a_rejected_build(void **state)
{
    struct fixture *f = *state;
    const struct task *task = make_task(f, &kernels[0]);
    struct build_result result;
    const struct candidate candidate = {
        .source = task->reference, .flags = {"-include"}, .flag_count = 1};
    const struct build_request request = {
        .task = task, .candidate = &candidate, .real_name = "float"};
    assert_true(target_build(f->target, &request, &f->arena, &result, &f->err));
    assert_int_equal(result.status, BUILD_REJECTED);
    assert_string_equal(result.mechanism, "flags");
}

static void target__equal_sources__equal_code(void **state)
{
    struct fixture *f = *state;
    const struct task *task = make_task(f, &kernels[1]);
    const struct build_result a = build(f, task, task->reference, "float");
    const struct build_result b = build(f, task, task->reference, "float");
    const struct build_result c = build(f, task, task->reference, "double");
    assert_string_equal(a.code_id.text, b.code_id.text);
    assert_string_not_equal(a.code_id.text, c.code_id.text);
}

static void target__garbage_image__is_a_report(void **state)
{
    struct fixture *f = *state;
    static const char garbage[256] = "nothing";
    const struct session_opts opts = {.image = garbage, .image_bytes = sizeof garbage, .cpu = -1};
    struct session *session = NULL;
    struct session_report report;
    assert_true(session_start(f->target, &opts, &session, &report, &f->err));
    assert_null(session);
    assert_int_equal(report.status, SESSION_REJECTED);
    assert_string_equal(report.mechanism, "M12-object");
}

/* What the fake driver does beyond the contract. */
static struct session_report run_fake(struct fixture *f, const char *marker)
{
    const struct task *task = make_task(f, &kernels[0]);
    const struct build_result built =
        build(f, task, arena_printf(&f->arena, "/* %s */ %s", marker, task->reference), "float");
    const int64_t n = N;
    struct session_buffer buffers[] = {{.bytes = ROOM}, {.bytes = ROOM, .writable = true}};
    const struct session_opts opts = {.image = built.image,
                                      .image_bytes = built.image_bytes,
                                      .buffers = buffers,
                                      .buffer_count = 2,
                                      .ints = &n,
                                      .int_count = 1};
    const struct session_call call = {{0}};
    struct session *session = NULL;
    struct session_report report;
    assert_true(session_start(f->target, &opts, &session, &report, &f->err));
    assert_true(session_run(session, &call, 1, false, LIMIT_NS, &report, &f->err));
    report.mechanism = arena_strdup(&f->arena, report.mechanism);
    report.evidence = arena_strdup(&f->arena, report.evidence);
    session_stop(&session);
    return report;
}

static void fake__markers__decide(void **state)
{
    struct fixture *f = *state;
    const struct task *task = make_task(f, &kernels[0]);
    assert_int_equal(build(f, task, "// fake: build-failed", "float").status, BUILD_FAILED);
    assert_int_equal(build(f, task, "// fake: build-timeout", "float").status, BUILD_TIMED_OUT);
    assert_int_equal(build(f, task, "// fake: reject M12-object", "float").status, BUILD_REJECTED);
    assert_int_equal(run_fake(f, "fake: time=1234us").elapsed_ns, 1234010);
    assert_int_equal(run_fake(f, "fake: crash").status, SESSION_CRASHED);
    assert_int_equal(run_fake(f, "fake: hang").status, SESSION_TIMED_OUT);
    assert_int_equal(run_fake(f, "fake: noisy").status, SESSION_NOISY);
    assert_string_equal(run_fake(f, "fake: cheat M8-quiesce").mechanism, "M8-quiesce");
}

static void target_open__unknown__error_with_hint(void **state)
{
    struct err err;
    struct target *target = NULL;
    struct target_info infos[8];
    (void)state;
    assert_false(target_open("cpuu", NULL, &target, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_non_null(strstr(err.hint, "cpu"));
    assert_null(target);
    assert_true(target_list(infos, 8) >= 2);
    assert_string_equal(infos[0].name, "cpu");
}

#define CONFORMANCE(set_up)                                                                        \
    cmocka_unit_test_setup_teardown(target__known_kernels__are_right_in_both_types, set_up,        \
                                    tear_down),                                                    \
        cmocka_unit_test_setup_teardown(target__features__identify_it, set_up, tear_down),         \
        cmocka_unit_test_setup_teardown(target__default_build__is_allowed, set_up, tear_down),     \
        cmocka_unit_test_setup_teardown(target__refused_flag__is_a_rejected_build, set_up,         \
                                        tear_down),                                                \
        cmocka_unit_test_setup_teardown(target__equal_sources__equal_code, set_up, tear_down),     \
        cmocka_unit_test_setup_teardown(target__garbage_image__is_a_report, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONFORMANCE(set_up_cpu),
        CONFORMANCE(set_up_fake),
        cmocka_unit_test_setup_teardown(fake__markers__decide, set_up_fake, tear_down),
        cmocka_unit_test(target_open__unknown__error_with_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
