#include "target/cpu/building.h"

#include "base/str.h"
#include "os/os.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum step_end build_end_with(struct building *b, enum build_status status, const char *mechanism,
                             const char *evidence)
{
    b->out->status = status;
    b->out->mechanism = mechanism;
    b->out->evidence = arena_strdup(b->arena, evidence);
    return STEP_RESULT;
}

enum step_end build_screen(struct building *b)
{
    const struct candidate *candidate = b->request->candidate;
    const char *bad = "", *why = "";
    b->compiler = compiler_named(b->target, candidate->compiler);
    if (!b->compiler)
        return build_end_with(b, BUILD_REJECTED, "flags",
                              arena_printf(b->step, "there is no compiler '%.60s' on this target",
                                           candidate->compiler ? candidate->compiler : "gcc"));
    b->flags = candidate->flags;
    b->flag_count = candidate->flag_count;
    if (b->flag_count == 0) {
        const char *ignored = NULL;
        target_default_build(b->target, &ignored, &b->flags, &b->flag_count);
    }
    if (!flags_are_allowed(b->compiler->family, b->flags, b->flag_count,
                           b->request->task->threads > 1, &bad, &why))
        return build_end_with(b, BUILD_REJECTED, "flags",
                              arena_printf(b->step, "flag '%.100s' is refused: %s", bad, why));
    if (build_uses_polly(b) && !b->compiler->has_polly)
        return build_end_with(b, BUILD_REJECTED, "flags",
                              arena_printf(b->step, "%s has no Polly here", b->compiler->name));
    if (strlen(candidate->source) > CANDIDATE_MAX_SOURCE_BYTES && !b->request->is_trusted)
        return build_end_with(b, BUILD_REJECTED, "M12-source", "the source is larger than 512 KiB");
    if (!b->request->is_trusted && !screen_source(candidate->source, b->step, &why))
        return build_end_with(b, BUILD_REJECTED, "M12-source", why);
    return STEP_DONE;
}

static char *signature_of(const struct building *b)
{
    return arena_printf(b->step, "%s %s\n%s\n%" PRId64 "\n%s", b->request->real_name,
                        task_signature(b->request->task, b->request->real_name, b->step),
                        task_alias_text(b->request->task, b->step), b->request->task->threads,
                        task_prelude(b->request->task, b->request->real_name, b->step));
}

/* Of all that the image depends on, the rules of this program among it. The machine is part of it:
 * -march=native means another one elsewhere. */
static struct hash_id key_of(const struct building *b)
{
    const char *parts[CANDIDATE_MAX_FLAGS + 8];
    const struct cpu_state *state = cpu_state_of(b->target);
    size_t n = 0;
    parts[n++] = state->program;
    parts[n++] = b->target->features.id.text;
    parts[n++] = hash_strings(state->symbols, state->symbol_count).text;
    parts[n++] = arena_printf(b->step, "%s %s", b->compiler->path, b->compiler->version);
    parts[n++] = b->request->is_trusted ? "trusted" : "candidate";
    parts[n++] = signature_of(b);
    for (size_t i = 0; i < b->flag_count; i++)
        parts[n++] = b->flags[i];
    parts[n++] = b->request->candidate->source;
    return hash_strings(parts, n);
}

/* --- the stub, once for a task and a compiler --------------------------------------------------
 */

static struct hash_id stub_key(const struct building *b)
{
    const char *const parts[] = {b->compiler->path, signature_of(b)};
    return hash_strings(parts, sizeof parts / sizeof *parts);
}

static void find_stub(struct building *b)
{
    const struct build_result *known = cache_find(cpu_state_of(b->target)->stubs, stub_key(b));
    if (known)
        b->stub = (struct stub){known->image, known->image_bytes};
}

static void keep_stub(struct building *b)
{
    struct cpu_state *state = cpu_state_of(b->target);
    const struct hash_id key = stub_key(b);
    if (b->stub.object && !cache_find(state->stubs, key))
        cache_keep(&state->stubs, key,
                   &(struct build_result){.image = b->stub.object,
                                          .image_bytes = b->stub.bytes,
                                          .mechanism = "",
                                          .evidence = "",
                                          .diagnostics = ""});
}

/* --- several at once ---------------------------------------------------------------------------
 */

struct job {
    struct building building;
    struct arena arena, step;
    struct build_result result;
    struct err err;
    struct hash_id key;
    int64_t started_ns;
    bool is_new; /* to be made */
    enum step_end end;
};

struct jobs {
    struct job *list;
    size_t count;
    _Atomic size_t next;
};

static void *make_some(void *context)
{
    struct jobs *jobs = context;
    for (;;) {
        const size_t i = atomic_fetch_add(&jobs->next, 1);
        if (i >= jobs->count)
            return NULL;
        struct job *job = &jobs->list[i];
        if (!job->is_new)
            continue;
        job->started_ns = os_now_ns();
        job->end = build_make(&job->building);
        job->result.build_ns = os_now_ns() - job->started_ns;
    }
}

/* One thread for each processor, this one included; without threads one after the other. */
static void make_all(struct jobs *jobs)
{
    enum { MOST_THREADS = 16 };
    pthread_t threads[MOST_THREADS];
    size_t count = 0, wanted = 0;
    for (size_t i = 0; i < jobs->count; i++)
        wanted += jobs->list[i].is_new;
    const size_t processors = os_cpus_allowed(NULL, 0);
    while (count + 1 < wanted && count + 1 < processors && count < MOST_THREADS &&
           pthread_create(&threads[count], NULL, make_some, jobs) == 0)
        count++;
    (void)make_some(jobs);
    for (size_t i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
}

/* Screens it and looks whether it was built before. */
static void job_open(struct job *job, struct target *target, const struct build_request *request)
{
    struct cpu_state *state = cpu_state_of(target);
    *job = (struct job){.end = STEP_RESULT};
    job->result = (struct build_result){.mechanism = "", .evidence = "", .diagnostics = ""};
    job->building = (struct building){.target = target,
                                      .request = request,
                                      .arena = &job->arena,
                                      .step = &job->step,
                                      .out = &job->result,
                                      .err = &job->err};
    const int64_t start = os_now_ns();
    const bool passes = build_screen(&job->building) == STEP_DONE;
    job->result.timings.screen_ns = os_now_ns() - start;
    if (!passes)
        return;
    job->key = key_of(&job->building);
    const struct build_result *known = cache_find(state->cache, job->key);
    const int64_t screen_ns = job->result.timings.screen_ns;
    if (!request->is_clean && known)
        job->result = build_result_copy(known, &job->arena);
    else if (request->is_clean || !store_find(target, job->key, &job->arena, &job->result))
        job->is_new = true;
    else
        cache_keep(&state->cache, job->key, &job->result);
    if (job->is_new)
        find_stub(&job->building);
    job->result.timings = (struct build_timings){.screen_ns = screen_ns};
    job->result.is_kept = !job->is_new;
}

static void job_keep(struct job *job, struct target *target)
{
    if (!job->is_new || job->end == STEP_ERROR)
        return;
    keep_stub(&job->building);
    if (job->result.status == BUILD_TIMED_OUT || job->building.request->is_clean)
        return;
    cache_keep(&cpu_state_of(target)->cache, job->key, &job->result);
    store_keep(target, job->key, &job->result);
}

static void job_close(struct job *job)
{
    arena_free(&job->arena);
    arena_free(&job->step);
}

bool cpu_build(struct target *target, const struct build_request *requests, size_t count,
               struct arena *arena, struct build_result *out, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct jobs jobs = {.list = arena_array(&scratch, count, sizeof *jobs.list), .count = count};
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        job_open(&jobs.list[i], target, &requests[i]);
    make_all(&jobs);
    for (size_t i = 0; i < count; i++) {
        struct job *job = &jobs.list[i];
        job_keep(job, target);
        if (ok && job->end == STEP_ERROR) {
            *err = job->err;
            ok = err_within(err, "building a candidate for '%s'", requests[i].task->name);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (ok)
            out[i] = build_result_copy(&jobs.list[i].result, arena);
        job_close(&jobs.list[i]);
    }
    return ok;
}
