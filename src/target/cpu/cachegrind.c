/*
 * Misses of simulated caches: valgrind's cachegrind on one call of a candidate.
 *
 * The image is built and checked like any other (allowed symbols, no system calls, no
 * constructors), then loaded by a program of ours that makes the call, under valgrind, in a
 * compiler's box with a time limit. That box is wider than a session's, in which valgrind itself
 * could not run: the process may make system calls, of files only in its own folder and no sockets.
 */
#include "target/cpu/building.h"

#include "base/buf.h"
#include "base/str.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define COMPILE_LIMIT_NS INT64_C(30000000000)
#define SIMULATION_LIMIT_NS INT64_C(20000000000)
enum { MOST_SAID_BYTES = 64 * 1024, LINE_BYTES = 64, FEWEST_WAYS = 8, MOST_WAYS = 48 };
#define MOST_FILE_BYTES ((size_t)64 * 1024 * 1024)

static const char tool_name[] = "cachegrind";
static const char image_file[] = "image.so", main_source[] = "call.c", main_file[] = "call";
static const char data_file[] = "data", out_file[] = "misses.txt";

struct simulation {
    const char *valgrind;
    const struct simulated_call *call;
    const void *image;
    size_t image_bytes;
    struct tool_output *out;
};

const char *cachegrind_problem(const struct target *target, struct arena *arena)
{
    const char *path = os_find_program("valgrind", arena);
    if (!path)
        return "not installed";
    return build_box_reads(target, path, arena)
               ? ""
               : arena_printf(arena, "the box of a compiler cannot read '%.100s'", path);
}

/* Without what valgrind does not know, over whatever the candidate asks for: the last flag counts.
 */
static bool without_avx512(const struct target *target, const struct candidate *candidate,
                           struct candidate *out)
{
    enum { MORE = 2 };
    const char *const *flags = candidate->flags;
    size_t count = candidate->flag_count;
    const char *ignored = NULL;
    if (count == 0)
        target_default_build(target, &ignored, &flags, &count);
    if (count + MORE > CANDIDATE_MAX_FLAGS)
        return false;
    *out = *candidate;
    for (size_t i = 0; i < count; i++)
        out->flags[i] = flags[i];
    out->flag_count = count;
    if (str_equal(target->features.arch, "x86_64")) {
        const bool has_avx2 = strstr(target->features.isa, "avx2") != NULL;
        out->flags[out->flag_count++] = has_avx2 ? "-march=x86-64-v3" : "-march=x86-64-v2";
        out->flags[out->flag_count++] = "-mno-avx512f";
    }
    return true;
}

/* --- the program that makes the call ------------------------------------------------------------
 */

static void put_list(struct buf *text, const char *type, const char *name, size_t count)
{
    (void)buf_printf(text, "static const %s %s[%zu] = {", type, name, count + 1);
}

static const char *program_text(const struct simulated_call *call, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    (void)buf_append_str(&text, "#include <dlfcn.h>\n#include <math.h>\n#include <stdint.h>\n"
                                "#include <stdio.h>\n#include <stdlib.h>\n");
    put_list(&text, "size_t", "bytes", call->buffer_count);
    for (size_t i = 0; i < call->buffer_count; i++)
        (void)buf_printf(&text, "%zu, ", call->bytes[i]);
    (void)buf_append_str(&text, "0};\n");
    put_list(&text, "int64_t", "ints", call->int_count);
    for (size_t i = 0; i < call->int_count; i++)
        (void)buf_printf(&text, "(int64_t)UINT64_C(%" PRIu64 "), ", (uint64_t)call->ints[i]);
    (void)buf_append_str(&text, "0};\n");
    put_list(&text, "double", "reals", call->real_count);
    for (size_t i = 0; i < call->real_count; i++) {
        if (isfinite(call->reals[i]))
            (void)buf_printf(&text, "%a, ", call->reals[i]);
        else
            (void)buf_append_str(&text, isnan(call->reals[i]) ? "NAN, "
                                        : call->reals[i] > 0  ? "INFINITY, "
                                                              : "-INFINITY, ");
    }
    (void)buf_printf(
        &text,
        "0};\n"
        "typedef void (*entry)(void *const *, const int64_t *, const double *);\n"
        "int main(void)\n{\n"
        "    void *ptr[%zu] = {0};\n"
        "    union { void *data; entry call; } at = {0};\n"
        "    FILE *file = fopen(\"%s\", \"rb\");\n"
        "    void *image = dlopen(\"./%s\", RTLD_NOW);\n"
        "    at.data = image ? dlsym(image, \"%s\") : 0;\n"
        "    if (!file || !at.data) {\n"
        "        fprintf(stderr, \"error: %%s\\n\", image ? \"no data\" : dlerror());\n"
        "        return 3;\n    }\n"
        "    for (size_t i = 0; i < %zu; i++) {\n"
        "        ptr[i] = aligned_alloc(64, (bytes[i] + 127) / 64 * 64);\n"
        "        if (!ptr[i] || fread(ptr[i], 1, bytes[i], file) != bytes[i])\n"
        "            return 4;\n    }\n"
        "    at.call(ptr, ints, reals);\n"
        "    return 0;\n}\n",
        call->buffer_count + 1, data_file, image_file, RUNNER_ENTRY, call->buffer_count);
    return arena_strdup(arena, buf_text(&text));
}

/* The buffers one after the other. */
static bool write_data(struct building *b, const struct simulated_call *call)
{
    size_t all = 0, at = 0;
    for (size_t i = 0; i < call->buffer_count; i++)
        all += call->bytes[i];
    char *data = arena_array(b->step, all + 1, sizeof *data);
    for (size_t i = 0; i < call->buffer_count; i++) {
        if (call->contents[i])
            memcpy(data + at, call->contents[i], call->bytes[i]);
        at += call->bytes[i];
    }
    return build_put_file(b, data_file, data, all);
}

/* The image calls functions of the C library that this program has to bring. */
static bool compile_program(struct building *b, struct process_result *result)
{
    const struct cpu_state *state = cpu_state_of(b->target);
    const char *const argv[] = {
        b->target->features.compilers[state->default_compiler].path,
        "-O1",
        "-o",
        main_file,
        main_source,
        "-Wl,--no-as-needed",
        "-lm",
#if defined(__x86_64__)
        "-lmvec",
#endif
        "-ldl",
        NULL
    };
    return build_run_tool(b, argv, COMPILE_LIMIT_NS, MOST_SAID_BYTES, result);
}

/* "--D1=49152,12,64". The simulator wants a power of two of sets: what is odd in the size goes into
 * the ways. */
static const char *cache_flag(const char *name, int64_t bytes, struct arena *arena)
{
    int64_t ways = bytes / LINE_BYTES;
    while (ways % 2 == 0)
        ways /= 2;
    if (ways > MOST_WAYS) { /* nearly no cache is so odd: the next smaller power of two */
        ways = 1;
        int64_t whole = LINE_BYTES;
        while (whole * 2 <= bytes)
            whole *= 2;
        bytes = whole;
    }
    while (ways < FEWEST_WAYS && bytes / LINE_BYTES / ways % 2 == 0)
        ways *= 2;
    return arena_printf(arena, "--%s=%" PRId64 ",%" PRId64 ",%d", name,
                        bytes / LINE_BYTES * LINE_BYTES, ways, LINE_BYTES);
}

static bool run_valgrind(struct building *b, const struct simulation *s,
                         struct process_result *result)
{
    const struct target_features *f = &b->target->features;
    const char *const argv[] = {s->valgrind,
                                "--tool=cachegrind",
                                "--cache-sim=yes",
                                "--vgdb=no",
                                cache_flag("I1", f->cache_bytes[0], b->step),
                                cache_flag("D1", f->cache_bytes[0], b->step),
                                cache_flag("LL", f->cache_bytes[1], b->step),
                                arena_printf(b->step, "--cachegrind-out-file=%s", out_file),
                                arena_printf(b->step, "./%s", main_file),
                                NULL};
    return build_run_simulator(b, argv, SIMULATION_LIMIT_NS, MOST_SAID_BYTES, result);
}

static bool simulate(struct building *b, void *context)
{
    const struct simulation *s = context;
    struct process_result result;
    const char *text = program_text(s->call, b->step);
    if (!build_put_file(b, image_file, s->image, s->image_bytes) || !write_data(b, s->call) ||
        !build_put_file(b, main_source, text, strlen(text)) || !compile_program(b, &result) ||
        !build_tool_said(b, tool_name, &result, s->out))
        return false;
    if (s->out->problem[0])
        return true;
    if (!run_valgrind(b, s, &result) || !build_tool_said(b, tool_name, &result, s->out))
        return false;
    if (!s->out->problem[0])
        *s->out = build_take_file(b, tool_name, out_file, MOST_FILE_BYTES);
    return true;
}

/* The image for the simulator; else why there is none. */
static bool build_for_it(struct target *target, const struct build_request *request,
                         struct arena *arena, struct build_result *built, const char **problem,
                         struct err *err)
{
    struct candidate candidate;
    struct build_request mine = *request;
    *problem = "";
    if (!without_avx512(target, request->candidate, &candidate)) {
        *problem = "the candidate has too many flags";
        return true;
    }
    mine.candidate = &candidate;
    mine.is_clean = mine.has_lines = true;
    if (!target_build(target, &mine, arena, built, err))
        return false;
    if (built->status != BUILD_OK)
        *problem = arena_printf(arena, "it does not build without AVX-512: %s", built->evidence);
    return true;
}

static const char *why_not(const struct target *target, const struct build_request *request,
                           struct arena *arena)
{
    const struct target_features *f = &target->features;
    if (request->task->threads > 1)
        return "it has one thread, the task more";
    if (f->cache_bytes[0] < LINE_BYTES || f->cache_bytes[1] < LINE_BYTES)
        return "the sizes of this machine's caches are not known";
    const char *problem = cachegrind_problem(target, arena);
    return str_equal(problem, "not installed")
               ? "valgrind is not installed (apt-get install valgrind)"
               : problem;
}

bool cpu_misses(struct target *target, const struct build_request *request,
                const struct simulated_call *call, struct arena *arena, struct tool_output *out,
                struct err *err)
{
    CLEANUP(arena_free) struct arena step = {0};
    struct build_result built = {0};
    struct tool_output said = {.tool = tool_name, .text = "", .problem = ""};
    struct building b = {.target = target, .arena = arena, .step = &step};
    said.problem = why_not(target, request, arena);
    if (!said.problem[0] && !build_for_it(target, request, arena, &built, &said.problem, err))
        return false;
    struct simulation s = {.valgrind = os_find_program("valgrind", &step),
                           .call = call,
                           .image = built.image,
                           .image_bytes = built.image_bytes,
                           .out = &said};
    if (!said.problem[0] && !build_ask_tool(&b, tool_name, simulate, &s, &said, err))
        return false;
    *out = said;
    return true;
}
