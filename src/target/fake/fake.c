/*
 * The fake target: scripted and deterministic, for tests of whoever uses a target without a
 * compiler.
 *
 * Building looks for markers in the source, anywhere in it:
 *   fake: build-failed          a compiler error
 *   fake: build-timeout         a compiler that hangs
 *   fake: reject MECHANISM      refused by the named mechanism
 * and otherwise gives an image. The code id is that of the source and the type.
 *
 * Running a call takes 1 ms unless the source says otherwise, or nothing where the entry point has
 * the body {}, and 10 ns around it; and it writes right outputs: the entry
 * point is one of three kernels known here, by the task's entry name, whose arguments are inputs x
 * and outputs y of the element type (float or double) and the one axis n:
 *   copy    y[i] = x[i]
 *   scale2  y[i] = 2 x[i]
 *   sum     y[0] = x[0] + ... + x[n-1]
 * Another entry writes nothing. Markers:
 *   fake: time=1234us           what a call takes (ns, us or ms)
 *   fake: up-to 64=1234us       the same of calls where the last axis is 64 at most
 *   fake: above 64=1234us       and where it is more: a kernel for small, or for large sizes
 *   fake: cold=1234us           the same, where the caches were not touched before
 *   fake: jitter=12             both by up to so many percent more or less, scripted
 *   fake: landscape             every flag and every source has a factor of its own on the time,
 *                               and all flags are allowed
 *   fake: sources               a landscape of sources: flags are allowed and change no code
 *   fake: early                 everything is written before the bell, with what is there then
 *   fake: late                  the last element is written after the call has ended (not of sum)
 *   fake: wrong                 the first output element is off by one
 *   fake: nothing               nothing is written
 *   fake: crash, fake: hang     the call ends so
 *   fake: cheat MECHANISM       the session reports that mechanism
 *   fake: noisy                 every second run is reported as disturbed
 *   fake: disturbed             every run is
 *   fake: notes-late            no record: the compiler is not done in time
 *   fake: hot-loop              the code is a loop of scalar additions
 *   fake: missed LINE WORDS     gcc's record says that the loop there is not vectorized, and why
 *   fake: samples LINE HITS     it is seen at that line so often; line 0: in expf
 *   fake: misses LINE ACCESSES L1 L2  of simulated caches at that line
 * No process is started; buffers are ordinary memory of this process.
 */
#include "target/driver.h"

#include "base/rng.h"
#include "base/str.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const default_flags[] = {"-O3"};
enum { DEFAULT_CALL_NS = 1000000, AROUND_CALL_NS = 10, MECHANISM_BYTES = 32, MOST_PLACES = 8 };
static const char magic[] = "kope-fake";

enum fake_kernel { FAKE_OTHER, FAKE_COPY, FAKE_SCALE2, FAKE_SUM };

struct fake_state {
    /* Of all sessions: the script of jitter goes on from one to the next. Two of them may run at a
     * time, untimed, and then take two numbers of it, in either order. */
    _Atomic uint64_t runs;
};

/* Calls up to, or above, a bound; of call_ns 0 there are none. */
struct fake_regime {
    int64_t bound, call_ns;
};

/* What the build leaves and the session reads. */
struct fake_image {
    char magic[sizeof magic];
    enum fake_kernel kernel;
    bool is_double;
    bool in_place; /* x and y are the first buffer */
    bool wrong, nothing, crash, hang, noisy, disturbed;
    bool early, late;
    int64_t call_ns, cold_ns;
    struct fake_regime small, large; /* sizes that take another time */
    double jitter;                   /* a share */
    char cheat[MECHANISM_BYTES];
    struct sample_place places[MOST_PLACES]; /* offsets are lines */
    size_t place_count;
};

struct fake_session {
    struct session base; /* first */
    struct fake_image image;
    struct session_buffer buffers[SESSION_MAX_BUFFERS];
    size_t buffer_count;
    int64_t n;
    int64_t runs;
    bool dead, is_watched;
    void (*before_bell)(void *ctx);
    void *before_bell_ctx;
    void (*after_bell)(void *ctx);
    void *after_bell_ctx;
};

static bool fake_open(struct target *target, struct err *err)
{
    (void)err;
    struct target_features *f = &target->features;
    f->cpu = "a machine of the imagination";
    f->arch = "fake";
    f->isa = "avx2,fma";
    f->os = "none";
    f->cores = 4;
    f->vector_bytes = 32;
    f->cache_bytes[0] = 32 * 1024;
    f->cache_bytes[1] = 512 * 1024;
    f->cache_bytes[2] = 16 * 1024 * 1024;
    f->compilers[0] = (struct target_compiler){.name = "fakecc-1",
                                               .family = "gcc",
                                               .version = "1.0.0",
                                               .path = "/nowhere/fakecc",
                                               .has_openmp_simd = true};
    f->compiler_count = 1;
    f->id = hash_content(magic, sizeof magic);
    return true;
}

static bool fake_probe(struct target *target, bool fresh, struct err *err)
{
    (void)fresh;
    (void)err;
    static const double bandwidth[] = {200, 100, 50, 20};
    struct target_features *f = &target->features;
    f->peak_gflops_f32 = 64;
    f->peak_gflops_f64 = 32;
    for (size_t i = 0; i < sizeof bandwidth / sizeof *bandwidth; i++)
        f->bandwidth_gbs[i] = bandwidth[i];
    f->copy_gbs = 10;
    f->doorbell_ns = 400;
    f->measured_wall_ns = 1;
    return true;
}

static void fake_default_build(const struct target *target, const char **compiler,
                               const char *const **flags, size_t *flag_count)
{
    *compiler = target->features.compilers[0].name;
    *flags = default_flags;
    *flag_count = sizeof default_flags / sizeof *default_flags;
}

/* The lines of gcc's record that the source asks for, and no assembly. */
static bool fake_notes(struct target *target, const struct build_request *request,
                       struct arena *arena, struct build_notes *out, struct err *err)
{
    static const char marker[] = "fake: missed ";
    const char *tool = target->features.compilers[0].name;
    const char *text = "";
    const char *assembly = strstr(request->candidate->source, "fake: hot-loop")
                               ? ".L1:\n\tvaddss\t%xmm1, %xmm0, %xmm0\n\tjne\t.L1\n"
                               : "";
    (void)err;
    for (const char *at = strstr(request->candidate->source, marker); at; at = strstr(at, marker)) {
        char *end = NULL;
        at += strlen(marker);
        const long line = strtol(at, &end, 10);
        end += *end == ' ';
        text = arena_printf(arena,
                            "%scandidate.c:%ld:1: missed: couldn't vectorize loop\n"
                            "candidate.c:%ld:1: missed: not vectorized: %.*s\n",
                            text, line, line, (int)strcspn(end, "*\n"), end);
    }
    if (strstr(request->candidate->source, "fake: notes-late")) {
        const struct tool_output late = {
            .tool = tool, .text = "", .problem = "it was not done in time"};
        *out = (struct build_notes){
            .family = "gcc", .record = late, .assembly = late, .timed_out = true};
        return true;
    }
    *out = (struct build_notes){.family = "gcc",
                                .record = {.tool = tool, .text = text, .problem = ""},
                                .assembly = {.tool = tool, .text = assembly, .problem = ""}};
    return true;
}

static bool fake_flag_allowed(const struct target *target, const char *compiler, const char *flag,
                              const char **why_not)
{
    if (compiler && !str_equal(compiler, target->features.compilers[0].name)) {
        *why_not = "there is no such compiler on this target";
        return false;
    }
    if (str_starts_with(flag, "-O") || str_starts_with(flag, "-f"))
        return true;
    *why_not = "it is not an optimization flag that candidates may set";
    return false;
}

static bool has_marker(const char *source, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = source; (at = strstr(at, "fake: ")); at++) {
        const char *word = at + strlen("fake: ");
        if (strncmp(word, name, length) == 0 && !isalnum((unsigned char)word[length]) &&
            word[length] != '-')
            return true;
    }
    return false;
}

/* The word after a marker that ends in a blank or '='; false where there is none. */
static bool marker_value(const char *source, const char *name, char *out, size_t room)
{
    const char *at = strstr(source, name);
    if (!at)
        return false;
    at += strlen(name);
    size_t length = 0;
    while (length + 1 < room && (isalnum((unsigned char)at[length]) || at[length] == '-'))
        length++;
    memcpy(out, at, length);
    out[length] = '\0';
    return length > 0;
}

static int64_t call_time(const char *source, const char *marker, int64_t otherwise)
{
    static const struct {
        const char *unit;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}};
    char word[MECHANISM_BYTES];
    char *unit = NULL;
    if (!marker_value(source, marker, word, sizeof word))
        return otherwise;
    const int64_t value = strtoll(word, &unit, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (str_equal(unit, units[i].unit))
            return value * units[i].ns;
    }
    return otherwise;
}

/* "fake: up-to 64=1234us". */
static struct fake_regime regime_of(const char *source, const char *marker)
{
    char bound[MECHANISM_BYTES];
    char time[2 * MECHANISM_BYTES];
    struct fake_regime regime = {0};
    if (!marker_value(source, marker, bound, sizeof bound))
        return regime;
    (void)snprintf(time, sizeof time, "%s%s=", marker, bound);
    return (struct fake_regime){strtoll(bound, NULL, 10), call_time(source, time, 0)};
}

static double jitter_of(const char *source)
{
    char word[MECHANISM_BYTES];
    return marker_value(source, "fake: jitter=", word, sizeof word)
               ? (double)strtoll(word, NULL, 10) / 100
               : 0;
}

static enum fake_kernel kernel_named(const char *entry)
{
    return str_equal(entry, "copy")     ? FAKE_COPY
           : str_equal(entry, "scale2") ? FAKE_SCALE2
           : str_equal(entry, "sum")    ? FAKE_SUM
                                        : FAKE_OTHER;
}

/* What a flag or a source is worth in a landscape: a factor on the time, 0.82 to 1.08. */
static double landscape_factor(const char *text)
{
    struct rng rng = rng_seeded(hash_fnv1a(text, strlen(text)));
    return 0.82 + 0.26 * rng_uniform(&rng);
}

static double landscape_at(const struct candidate *candidate)
{
    double factor = landscape_factor(candidate->source);
    for (size_t i = 0; has_marker(candidate->source, "landscape") && i < candidate->flag_count; i++)
        factor *= landscape_factor(candidate->flags[i]);
    return factor;
}

/* Lines as they are written, ascending. */
static void read_places(const char *source, struct fake_image *image)
{
    static const char marker[] = "fake: samples ";
    for (const char *at = strstr(source, marker); at && image->place_count < MOST_PLACES;
         at = strstr(at, marker)) {
        char *end = NULL;
        at += strlen(marker);
        const uint64_t line = strtoull(at, &end, 10);
        image->places[image->place_count++] =
            (struct sample_place){line, (int64_t)strtoull(end, NULL, 10)};
    }
}

static struct fake_image *make_image(const struct build_request *request, struct arena *arena)
{
    const char *source = request->candidate->source;
    struct fake_image *image = arena_alloc(arena, sizeof *image);
    memcpy(image->magic, magic, sizeof magic);
    image->kernel = kernel_named(request->task->entry);
    image->is_double = str_equal(request->real_name, "double");
    image->in_place = task_is_in_place(request->task);
    image->wrong = has_marker(source, "wrong");
    const bool is_empty = strstr(source, ")\n{}") != NULL;
    image->nothing = is_empty || has_marker(source, "nothing");
    image->crash = has_marker(source, "crash");
    image->hang = has_marker(source, "hang");
    image->noisy = has_marker(source, "noisy");
    image->disturbed = has_marker(source, "disturbed");
    image->early = has_marker(source, "early");
    image->late = has_marker(source, "late");
    image->call_ns = call_time(source, "fake: time=", is_empty ? 0 : DEFAULT_CALL_NS);
    if (has_marker(source, "landscape") || has_marker(source, "sources"))
        image->call_ns = (int64_t)((double)image->call_ns * landscape_at(request->candidate));
    image->small = regime_of(source, "fake: up-to ");
    image->large = regime_of(source, "fake: above ");
    image->cold_ns = call_time(source, "fake: cold=", image->call_ns);
    image->jitter = jitter_of(source);
    (void)marker_value(source, "fake: cheat ", image->cheat, sizeof image->cheat);
    read_places(source, image);
    return image;
}

static bool fails(const struct target *target, const struct build_request *request,
                  struct arena *arena, struct build_result *out)
{
    char mechanism[MECHANISM_BYTES];
    const char *source = request->candidate->source;
    const char *why = "";
    const bool is_landscape = has_marker(source, "landscape") || has_marker(source, "sources");
    for (size_t i = 0; !is_landscape && i < request->candidate->flag_count; i++) {
        const char *flag = request->candidate->flags[i];
        if (fake_flag_allowed(target, request->candidate->compiler, flag, &why))
            continue;
        out->status = BUILD_REJECTED;
        out->mechanism = "flags";
        out->evidence = arena_printf(arena, "flag '%s' is refused: %s", flag, why);
        return true;
    }
    if (has_marker(source, "build-failed")) {
        out->status = BUILD_FAILED;
        out->mechanism = "compiler";
        out->evidence = "candidate.c:1:1: error: as the script wants";
        out->diagnostics = out->evidence;
    } else if (has_marker(source, "build-timeout")) {
        out->status = BUILD_TIMED_OUT;
        out->mechanism = "compiler";
        out->evidence = "not done after 60 s";
    } else if (marker_value(source, "fake: reject ", mechanism, sizeof mechanism)) {
        out->status = BUILD_REJECTED;
        out->mechanism = arena_strdup(arena, mechanism);
        out->evidence = "as the script wants";
    }
    return out->status != BUILD_OK;
}

static struct build_result build_one(const struct target *target,
                                     const struct build_request *request, struct arena *arena)
{
    struct build_result result = {.status = BUILD_OK,
                                  .mechanism = "",
                                  .evidence = "",
                                  .diagnostics = "",
                                  .build_ns = 1000000};
    if (!fails(target, request, arena, &result)) {
        const char *parts[] = {request->candidate->source, request->real_name,
                               has_marker(request->candidate->source, "landscape")
                                   ? candidate_flags_text(request->candidate, arena)
                                   : ""};
        result.image = make_image(request, arena);
        result.image_bytes = sizeof(struct fake_image);
        result.code_id = hash_strings(parts, sizeof parts / sizeof *parts);
    }
    return result;
}

static bool fake_build(struct target *target, const struct build_request *requests, size_t count,
                       struct arena *arena, struct build_result *out, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < count; i++)
        out[i] = build_one(target, &requests[i], arena);
    return true;
}

static void report_as(struct fake_session *s, struct session_report *report,
                      enum session_status status, const char *mechanism, const char *evidence)
{
    report->status = status;
    report->mechanism = mechanism;
    report->evidence = evidence;
    s->dead = status != SESSION_OK && status != SESSION_NOISY;
}

static bool fake_start(struct session *session, const struct session_opts *opts,
                       struct session_report *report, struct err *err)
{
    (void)err;
    struct fake_session *s = (struct fake_session *)session;
    if (opts->image_bytes != sizeof s->image || memcmp(opts->image, magic, sizeof magic) != 0) {
        report_as(s, report, SESSION_REJECTED, "M12-object", "the image cannot be loaded");
        return true;
    }
    memcpy(&s->image, opts->image, sizeof s->image);
    s->buffer_count = opts->buffer_count;
    s->n = opts->int_count > 0 ? opts->ints[opts->int_count - 1] : 0;
    s->is_watched = opts->sample_period_ns > 0;
    s->before_bell = opts->before_bell;
    s->before_bell_ctx = opts->before_bell_ctx;
    s->after_bell = opts->after_bell;
    s->after_bell_ctx = opts->after_bell_ctx;
    for (size_t i = 0; i < opts->buffer_count; i++) {
        const size_t bytes = opts->buffers[i].bytes ? opts->buffers[i].bytes : 1;
        opts->buffers[i].host = arena_alloc(&s->base.arena, bytes);
        s->buffers[i] = opts->buffers[i];
    }
    return true;
}

static void fake_set_ints(struct session *session, const int64_t *ints, size_t count)
{
    ((struct fake_session *)session)->n = count > 0 ? ints[count - 1] : 0;
}

static double load(const struct fake_session *s, const char *at, int64_t i)
{
    double wide = 0;
    float narrow = 0;
    if (s->image.is_double)
        memcpy(&wide, at + (size_t)i * sizeof wide, sizeof wide);
    else
        memcpy(&narrow, at + (size_t)i * sizeof narrow, sizeof narrow);
    return s->image.is_double ? wide : (double)narrow;
}

static void store(const struct fake_session *s, char *at, int64_t i, double value)
{
    const float narrow = (float)value;
    if (s->image.is_double)
        memcpy(at + (size_t)i * sizeof value, &value, sizeof value);
    else
        memcpy(at + (size_t)i * sizeof narrow, &narrow, sizeof narrow);
}

/* As plain code in the type would: each sum is rounded to it. */
static void compute(const struct fake_session *s, const char *x, char *y)
{
    if (s->image.kernel == FAKE_SUM) {
        store(s, y, 0, 0);
        for (int64_t i = 0; i < s->n; i++)
            store(s, y, 0, load(s, y, 0) + load(s, x, i));
    } else {
        const double factor = s->image.kernel == FAKE_SCALE2 ? 2 : 1;
        for (int64_t i = 0; i < s->n; i++)
            store(s, y, i, factor * load(s, x, i));
    }
    if (s->image.wrong)
        store(s, y, 0, load(s, y, 0) + 1);
}

static char *output(const struct fake_session *s, const struct session_call *at)
{
    const size_t buffer = s->image.in_place ? 0 : 1;
    return (char *)s->buffers[buffer].host + at->offsets[buffer];
}

static void call(struct fake_session *s, const struct session_call *at)
{
    const size_t needed = s->image.in_place ? 1 : 2;
    if (s->image.nothing || s->image.kernel == FAKE_OTHER || s->buffer_count < needed)
        return;
    compute(s, (const char *)s->buffers[0].host + at->offsets[0], output(s, at));
}

/* Of a call at the size at hand. */
static int64_t warm_ns(const struct fake_session *s)
{
    const struct fake_image *image = &s->image;
    if (image->small.call_ns && s->n <= image->small.bound)
        return image->small.call_ns;
    return image->large.call_ns && s->n > image->large.bound ? image->large.call_ns
                                                             : image->call_ns;
}

/* Of a run, by the script. */
static int64_t time_of(struct fake_session *s, size_t count, bool touch)
{
    struct fake_state *state = s->base.target->state;
    struct rng rng = rng_seeded(atomic_fetch_add(&state->runs, 1));
    const double share = 2 * rng_uniform(&rng) - 1;
    const double call_ns = (double)(touch ? warm_ns(s) : s->image.cold_ns);
    return (int64_t)((double)count * (call_ns * (1 + s->image.jitter * share) + AROUND_CALL_NS));
}

/* A call that leaves the last element as it is. */
static void call_but_last(struct fake_session *s, const struct session_call *at)
{
    char *y = output(s, at);
    const double kept = load(s, y, s->n - 1);
    call(s, at);
    store(s, y, s->n - 1, kept);
}

static void call_all(struct fake_session *s, const struct session_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        call(s, &calls[i]);
}

static bool fake_run(struct session *session, const struct session_call *calls, size_t count,
                     bool touch, int64_t limit_ns, struct session_report *report, struct err *err)
{
    (void)err;
    struct fake_session *s = (struct fake_session *)session;
    if (s->dead)
        BUG("a run in a session whose child is dead");
    if (s->image.early)
        call_all(s, calls, count);
    if (s->before_bell)
        s->before_bell(s->before_bell_ctx);
    report->processor = -1;
    report->elapsed_ns = report->cpu_ns =
        s->is_watched ? (int64_t)count * warm_ns(s) : time_of(s, count, touch);
    s->runs++;
    if (s->image.cheat[0])
        report_as(s, report, SESSION_REJECTED, s->image.cheat, "as the script wants");
    else if (s->image.crash && count > 0)
        report_as(s, report, SESSION_CRASHED, "signal", "read address 0x0: a null pointer");
    else if (count > 0 && (s->image.hang || report->elapsed_ns > limit_ns))
        report_as(s, report, SESSION_TIMED_OUT, "limit", "still running at the limit, killed");
    else if (s->image.disturbed || (s->image.noisy && s->runs % 2 == 1))
        report_as(s, report, SESSION_NOISY, "switches", "as the script wants");
    if (s->dead)
        return true;
    for (size_t i = 0; s->image.late && i < count; i++)
        call_but_last(s, &calls[i]);
    if (!s->image.late && !s->image.early)
        call_all(s, calls, count);
    if (s->after_bell)
        s->after_bell(s->after_bell_ctx);
    if (s->image.late)
        call_all(s, calls, count);
    return true;
}

static void fake_samples(const struct session *session, struct arena *arena,
                         struct session_samples *out)
{
    const struct fake_image *image = &((const struct fake_session *)session)->image;
    struct sample_function *function = arena_alloc(arena, sizeof *function);
    struct sample_place *places = arena_array(arena, MOST_PLACES, sizeof *places);
    *function = (struct sample_function){.name = "expf"};
    *out = (struct session_samples){.problem = "", .places = places, .functions = function};
    for (size_t i = 0; i < image->place_count; i++) {
        const struct sample_place *place = &image->places[i];
        out->inside += place->offset ? place->hits : 0;
        function->hits += place->offset ? 0 : place->hits;
        if (place->offset)
            places[out->place_count++] = *place;
    }
    out->called = function->hits;
    out->function_count = function->hits > 0;
}

static bool fake_lines(struct target *target, const void *image, size_t image_bytes,
                       const uint64_t *addresses, size_t count, struct arena *arena,
                       struct tool_output *out, struct err *err)
{
    const char *text = "";
    (void)target, (void)image, (void)image_bytes, (void)err;
    for (size_t i = 0; i < count; i++)
        text = arena_printf(arena, "%s0x%llx\n/tmp/candidate.c:%llu\n", text,
                            (unsigned long long)addresses[i], (unsigned long long)addresses[i]);
    *out = (struct tool_output){.tool = "fake-lines", .text = text, .problem = ""};
    return true;
}

/* As cachegrind writes it. */
static bool fake_misses(struct target *target, const struct build_request *request,
                        const struct simulated_call *call, struct arena *arena,
                        struct tool_output *out, struct err *err)
{
    static const char marker[] = "fake: misses ";
    const int64_t *bytes = target->features.cache_bytes;
    const char *text = arena_printf(
        arena,
        "desc: D1 cache: %lld B\ndesc: LL cache: %lld B\nevents: Ir Dr D1mr DLmr\nfl=candidate.c\n",
        (long long)bytes[0], (long long)bytes[1]);
    (void)call, (void)err;
    for (const char *at = strstr(request->candidate->source, marker); at; at = strstr(at, marker)) {
        long long numbers[4] = {0};
        char *end = NULL;
        at += strlen(marker);
        for (size_t i = 0; i < 4; i++, at = end)
            numbers[i] = strtoll(at, &end, 10);
        text = arena_printf(arena, "%s%lld 0 %lld %lld %lld\n", text, numbers[0], numbers[1],
                            numbers[2], numbers[3]);
    }
    *out = (struct tool_output){.tool = "cachegrind", .text = text, .problem = ""};
    return true;
}

static void fake_stop(struct session *session)
{
    (void)session; /* everything is in its arena */
}

const struct target_driver target_fake = {
    .version = TARGET_DRIVER_VERSION,
    .name = "fake",
    .summary = "scripted and deterministic, for tests",
    .is_scripted = true,
    .state_bytes = sizeof(struct fake_state),
    .session_bytes = sizeof(struct fake_session),
    .open = fake_open,
    .probe = fake_probe,
    .default_build = fake_default_build,
    .flag_allowed = fake_flag_allowed,
    .build = fake_build,
    .notes = fake_notes,
    .lines = fake_lines,
    .misses = fake_misses,
    .start = fake_start,
    .run = fake_run,
    .set_ints = fake_set_ints,
    .samples = fake_samples,
    .stop = fake_stop,
};
