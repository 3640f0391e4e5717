/*
 * Samples of a child by its CPU clock, and the lines that they are of. Where the kernel refuses,
 * that is what is said, and the rest is skipped.
 */
#include "target/target.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ELEMENTS = 1024, BYTES = ELEMENTS * sizeof(float), RUNS = 4, TRIES = 20 };
#define PERIOD_NS INT64_C(200003)
#define LIMIT_NS INT64_C(60000000000)

static const char task_text[] = "name: k\n"
                                "family: elementwise\n"
                                "dtype: float32\n"
                                "axes: [n]\n"
                                "args:\n"
                                "  - {name: x, role: in, shape: [n]}\n"
                                "  - {name: y, role: out, shape: [n]}\n"
                                "cases:\n"
                                "  - {n: 1024}\n"
                                "held_out:\n"
                                "  - {n: 57}\n";

/* Nearly all of its time is in line 5: a chain of divisions. */
static const char source[] =
    "#include <stdint.h>\n"
    "void k(const real *x, real *y, int64_t n)\n"
    "{\n"
    "    real sum = 1;\n"
    "    for (int64_t i = 0; i < 4000000; i++) sum = x[i % n] / (sum + 1);\n"
    "    for (int64_t i = 0; i < n; i++)\n"
    "        y[i] = sum;\n"
    "}\n";
enum { HOT_LINE = 5 };

struct fixture {
    struct target *target;
    const struct task *task;
    struct arena arena;
    struct build_result built;
    struct session *session;
    struct err err;
};

/* The first thread, which is looked at, has nothing to do but wait for the other again and again;
 * it calls nothing but OpenMP. */
static const char waiting_source[] =
    "#include <stdint.h>\n"
    "void k(const real *x, real *y, int64_t n)\n"
    "{\n"
    "    for (int again = 0; again < 2000; again++) {\n"
    "        #pragma omp parallel for schedule(static) num_threads(2)\n"
    "        for (int64_t part = 0; part < 2; part++) {\n"
    "            real sum = 1;\n"
    "            for (int64_t i = 0; i < part * 3000; i++) sum = x[i % n] / (sum + 1);\n"
    "            y[part] = sum;\n"
    "        }\n"
    "    }\n"
    "}\n";

static struct build_result build_of(struct fixture *f, const char *text, int64_t threads,
                                    bool has_lines)
{
    struct task task = *f->task;
    task.threads = threads;
    const struct candidate candidate = {.source = text,
                                        .flags = {"-O2", "-march=native", "-fopenmp"},
                                        .flag_count = threads > 1 ? 3 : 2};
    const struct build_request request = {.task = &task,
                                          .candidate = &candidate,
                                          .real_name = "float",
                                          .is_clean = has_lines,
                                          .has_lines = has_lines};
    struct build_result result;
    if (!target_build(f->target, &request, &f->arena, &result, &f->err))
        fail_msg("%s", f->err.message);
    if (result.status != BUILD_OK)
        fail_msg("%s: %s", result.mechanism, result.evidence);
    return result;
}

static struct build_result build(struct fixture *f, bool has_lines)
{
    return build_of(f, source, 1, has_lines);
}

static int set_up(void **state)
{
    static struct fixture f;
    *state = &f;
    if (!target_open("cpu", NULL, &f.target, &f.err) ||
        !task_parse(task_text, strlen(task_text), source, "", &f.arena, &f.task, &f.err)) {
        print_error("%s (%s)\n", f.err.message, f.err.hint);
        return -1;
    }
    f.built = build(&f, true);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    session_stop(&f->session);
    target_close(&f->target);
    arena_free(&f->arena);
    return 0;
}

/* Until there are some, or skipped. */
static struct session_samples look(struct fixture *f, const struct build_result *built,
                                   int64_t threads)
{
    static const int64_t n = ELEMENTS;
    struct session_buffer buffers[2] = {{.label = "x", .bytes = BYTES},
                                        {.label = "y", .bytes = BYTES, .writable = true}};
    const struct session_opts opts = {.image = built->image,
                                      .image_bytes = built->image_bytes,
                                      .buffers = buffers,
                                      .buffer_count = 2,
                                      .ints = &n,
                                      .int_count = 1,
                                      .threads = threads,
                                      .by_account = true,
                                      .sample_period_ns = PERIOD_NS,
                                      .cpu = -1};
    struct session_report report;
    struct session_samples samples;
    const struct session_call call = {{0}};
    /* What a busy host charges a child for falling asleep looks like work: then it starts anew. */
    for (int tries = 0, runs = 0; runs < RUNS; runs++) {
        if (runs == 0) {
            if (!session_start(f->target, &opts, &f->session, &report, &f->err))
                fail_msg("%s (%s)", f->err.message, f->err.hint);
            assert_int_equal(report.status, SESSION_OK);
        }
        if (!session_run(f->session, &call, 1, false, LIMIT_NS, &report, &f->err))
            fail_msg("%s", f->err.message);
        if (report.status == SESSION_OK || report.status == SESSION_NOISY)
            continue;
        if (!str_equal(report.mechanism, "M8-quiesce") || ++tries == TRIES)
            fail_msg("%s: %s", report.mechanism, report.evidence);
        session_stop(&f->session);
        runs = -1;
    }
    session_samples(f->session, &f->arena, &samples);
    session_stop(&f->session);
    if (samples.problem[0]) {
        assert_int_equal(samples.inside + samples.called, 0);
        print_message("skipped: %s\n", samples.problem);
        skip();
    }
    return samples;
}

static void target_build__with_lines__the_same_code(void **state)
{
    struct fixture *f = *state;
    const struct build_result plain = build(f, false);
    assert_string_equal(plain.code_id.text, f->built.code_id.text);
    assert_true(plain.image_bytes < f->built.image_bytes);
}

static void session_samples__one_hot_line__most_are_there(void **state)
{
    struct fixture *f = *state;
    const struct session_samples samples = look(f, &f->built, 1);
    uint64_t addresses[512];
    struct tool_output lines;
    int64_t at_hot_line = 0, inside = 0;
    assert_true(samples.inside > 10);
    assert_true(samples.place_count > 0 && samples.place_count <= 512);
    for (size_t i = 0; i < samples.place_count; i++) {
        addresses[i] = samples.places[i].offset;
        inside += samples.places[i].hits;
        assert_true(addresses[i] < f->built.image_bytes);
        assert_true(i == 0 || addresses[i] > addresses[i - 1]);
    }
    assert_int_equal(inside, samples.inside);
    if (!target_lines(f->target, f->built.image, f->built.image_bytes, addresses,
                      samples.place_count, &f->arena, &lines, &f->err))
        fail_msg("%s", f->err.message);
    assert_string_equal(lines.problem, "");
    const char *at = lines.text;
    for (size_t i = 0; i < samples.place_count; i++) {
        at = strstr(at, "0x");
        assert_non_null(at);
        const char *line = strchr(at, '\n');
        assert_non_null(line);
        const char *hot = arena_printf(&f->arena, "candidate.c:%d", HOT_LINE);
        const char *found = strstr(line, hot);
        if (found && found < line + 1 + strcspn(line + 1, "\n"))
            at_hot_line += samples.places[i].hits;
        at = line;
    }
    assert_true(at_hot_line * 2 > samples.inside);
}

static void session_samples__waits_for_its_threads__nothing_is_called(void **state)
{
    struct fixture *f = *state;
    const struct build_result built = build_of(f, waiting_source, 2, true);
    const struct session_samples samples = look(f, &built, 2);
    for (size_t i = 0; i < samples.function_count; i++)
        print_error("%s: %lld\n", samples.functions[i].name, (long long)samples.functions[i].hits);
    assert_int_equal(samples.function_count, 0);
    assert_int_equal(samples.called, 0);
}

static void target_lines__no_image__a_problem_and_no_error(void **state)
{
    struct fixture *f = *state;
    const uint64_t address = 1;
    struct tool_output lines;
    if (!target_lines(f->target, "none", 4, &address, 1, &f->arena, &lines, &f->err))
        fail_msg("%s", f->err.message);
    assert_true(lines.problem[0] != '\0' || !strstr(lines.text, "candidate.c"));
}

/* Where valgrind is: counts of the candidate's lines, without AVX-512. */
static void target_misses__one_call__counts_by_line_or_a_reason(void **state)
{
    static const int64_t n = ELEMENTS;
    struct fixture *f = *state;
    float x[ELEMENTS] = {0};
    const struct candidate candidate = {
        .source = "#include <math.h>\n#include <stdint.h>\n"
                  "void k(const real *x, real *y, int64_t n)\n{\n"
                  "    for (int64_t i = 0; i < n; i++) y[i] = expf(x[i]);\n}\n",
        .flags = {"-O3", "-march=native"},
        .flag_count = 2};
    const struct build_request request = {
        .task = f->task, .candidate = &candidate, .real_name = "float"};
    const struct simulated_call call = {
        .contents = {x}, .bytes = {BYTES, BYTES}, .buffer_count = 2, .ints = &n, .int_count = 1};
    struct tool_output said;
    if (!target_misses(f->target, &request, &call, &f->arena, &said, &f->err))
        fail_msg("%s", f->err.message);
    if (strstr(said.problem, "not installed") || strstr(said.problem, "cannot read") ||
        strstr(said.problem, "not known")) {
        print_message("skipped: %s\n", said.problem);
        skip();
    }
    assert_string_equal(said.problem, "");
    assert_non_null(strstr(said.text, "desc: D1 cache:"));
    const char *file = strstr(said.text, "candidate.c\n");
    assert_non_null(file);
    const char *line = strstr(file, "\n5 ");
    assert_non_null(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(target_build__with_lines__the_same_code),
        cmocka_unit_test(session_samples__one_hot_line__most_are_there),
        cmocka_unit_test(session_samples__waits_for_its_threads__nothing_is_called),
        cmocka_unit_test(target_lines__no_image__a_problem_and_no_error),
        cmocka_unit_test(target_misses__one_call__counts_by_line_or_a_reason),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
