#include "target/driver.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

enum { DRIVER_COUNT = 2 };
static const struct target_driver *const drivers[DRIVER_COUNT] = {&target_cpu, &target_fake};

size_t target_list(struct target_info *out, size_t capacity)
{
    for (size_t i = 0; i < DRIVER_COUNT && i < capacity; i++)
        out[i] = (struct target_info){.name = drivers[i]->name, .summary = drivers[i]->summary};
    return DRIVER_COUNT;
}

static const struct target_driver *find_driver(const char *name, struct err *err)
{
    const char *names[DRIVER_COUNT];
    for (size_t i = 0; i < DRIVER_COUNT; i++) {
        if (str_equal(drivers[i]->name, name))
            return drivers[i];
        names[i] = drivers[i]->name;
    }
    (void)err_set(err, ERR_NOT_FOUND, "there is no target '%s'", name);
    const char *nearest = str_nearest(name, names, DRIVER_COUNT);
    (void)err_hint(err, nearest ? "did you mean '%s'?" : "there is '%s'",
                   nearest ? nearest : names[0]);
    return NULL;
}

bool target_open(const char *name, const char *cache_dir, struct target **out, struct err *err)
{
    const struct target_driver *driver = find_driver(name, err);
    if (!driver)
        return false;
    struct target *target = calloc(1, sizeof *target);
    void *state = calloc(1, driver->state_bytes);
    if (!target || !state)
        BUG("out of memory");
    target->driver = driver;
    target->state = state;
    target->features.name = driver->name;
    target->cache_dir = cache_dir ? arena_strdup(&target->arena, cache_dir) : NULL;
    if (!driver->open(target, err)) {
        target_close(&target);
        return err_within(err, "opening target '%s'", name);
    }
    *out = target;
    return true;
}

const struct target_compiler *target_compiler_named(const struct target *target, const char *name)
{
    const struct target_features *f = &target->features;
    for (size_t i = 0; i < f->compiler_count; i++)
        if (str_equal(f->compilers[i].name, name))
            return &f->compilers[i];
    for (size_t i = 0; i < f->compiler_count; i++)
        if (str_equal(f->compilers[i].family, name))
            return &f->compilers[i];
    return NULL;
}

bool target_has_compiler(const struct target *target, const char *name, struct err *err)
{
    const struct target_features *f = &target->features;
    char there[ERR_HINT_BYTES] = "";
    if (target_compiler_named(target, name))
        return true;
    for (size_t i = 0, used = 0; i < f->compiler_count && used < sizeof there; i++)
        used += (size_t)snprintf(there + used, sizeof there - used, "%s%s", i > 0 ? ", " : "",
                                 f->compilers[i].name);
    (void)err_set(err, ERR_NOT_FOUND, "there is no compiler '%.60s' on target '%s'", name, f->name);
    return err_hint(err, "it has %s", there);
}

void target_close(struct target **target)
{
    struct target *t = *target;
    if (!t)
        return;
    if (t->driver->close)
        t->driver->close(t);
    arena_free(&t->arena);
    free(t->state);
    free(t);
    *target = NULL;
}

bool target_probe(struct target *target, bool fresh, struct err *err)
{
    return !target->driver->probe || target->driver->probe(target, fresh, err);
}

bool target_is_scripted(const struct target *target)
{
    return target->driver->is_scripted;
}

const struct target_features *target_features(const struct target *target)
{
    return &target->features;
}

/* No cache that a machine may have unknown to us is as large. */
static const double UNKNOWN_CACHE_BYTES = 1024.0 * 1024 * 1024;

struct data_place target_place_of(const struct target_features *features, double bytes)
{
    enum { CACHES = 3 };
    static const char *const names[] = {"L1", "L2", "L3"};
    struct data_place last = {.name = "an unknown cache"};
    for (size_t level = 0; level < CACHES; level++) {
        const double size = (double)features->cache_bytes[level];
        if (size > 0)
            last = (struct data_place){names[level], features->bandwidth_gbs[level],
                                       level == CACHES - 1};
        if (bytes <= size)
            return last;
    }
    const bool are_known = features->cache_bytes[CACHES - 1] > 0;
    if (are_known || bytes > UNKNOWN_CACHE_BYTES)
        return (struct data_place){"memory", features->bandwidth_gbs[CACHES], true};
    return (struct data_place){"an unknown cache", last.read_gbs, true};
}

void target_default_build(const struct target *target, const char **compiler,
                          const char *const **flags, size_t *flag_count)
{
    target->driver->default_build(target, compiler, flags, flag_count);
}

bool target_flag_allowed(const struct target *target, const char *compiler, const char *flag,
                         const char **why_not)
{
    return target->driver->flag_allowed(target, compiler, flag, why_not);
}

bool target_build(struct target *target, const struct build_request *request, struct arena *arena,
                  struct build_result *out, struct err *err)
{
    return target->driver->build(target, request, 1, arena, out, err);
}

bool target_build_all(struct target *target, const struct build_request *requests, size_t count,
                      struct arena *arena, struct build_result *out, struct err *err)
{
    return count == 0 || target->driver->build(target, requests, count, arena, out, err);
}

static struct tool_output no_tool(const struct target *target, struct arena *arena)
{
    return (struct tool_output){
        .tool = "",
        .text = "",
        .problem = arena_printf(arena, "target '%s' has no such tool", target->driver->name)};
}

bool target_notes(struct target *target, const struct build_request *request, struct arena *arena,
                  struct build_notes *out, struct err *err)
{
    if (target->driver->notes)
        return target->driver->notes(target, request, arena, out, err);
    *out = (struct build_notes){.family = ""};
    out->record = out->assembly = no_tool(target, arena);
    return true;
}

bool target_throughput(struct target *target, const char *block, struct arena *arena,
                       struct tool_output *out, struct err *err)
{
    if (target->driver->throughput)
        return target->driver->throughput(target, block, arena, out, err);
    *out = no_tool(target, arena);
    return true;
}

bool target_misses(struct target *target, const struct build_request *request,
                   const struct simulated_call *call, struct arena *arena, struct tool_output *out,
                   struct err *err)
{
    if (target->driver->misses)
        return target->driver->misses(target, request, call, arena, out, err);
    *out = no_tool(target, arena);
    return true;
}

bool target_lines(struct target *target, const void *image, size_t image_bytes,
                  const uint64_t *addresses, size_t count, struct arena *arena,
                  struct tool_output *out, struct err *err)
{
    if (target->driver->lines)
        return target->driver->lines(target, image, image_bytes, addresses, count, arena, out, err);
    *out = no_tool(target, arena);
    return true;
}

void session_samples(const struct session *session, struct arena *arena,
                     struct session_samples *out)
{
    if (session->target->driver->samples)
        session->target->driver->samples(session, arena, out);
    else
        *out = (struct session_samples){.problem = no_tool(session->target, arena).problem};
}

size_t target_tools(const struct target *target, struct arena *arena, struct target_tool *out,
                    size_t capacity)
{
    return target->driver->tools ? target->driver->tools(target, arena, out, capacity) : 0;
}

bool session_start(struct target *target, const struct session_opts *opts, struct session **out,
                   struct session_report *report, struct err *err)
{
    if (opts->buffer_count > SESSION_MAX_BUFFERS)
        BUG("%zu buffers in a session", opts->buffer_count);
    struct session *session = calloc(1, target->driver->session_bytes);
    if (!session)
        BUG("out of memory");
    session->target = target;
    *report = (struct session_report){.status = SESSION_OK, .mechanism = "", .evidence = ""};
    const bool done = target->driver->start(session, opts, report, err);
    if (!done || report->status != SESSION_OK) {
        arena_free(&session->arena);
        free(session);
        *out = NULL;
        return done;
    }
    *out = session;
    return true;
}

bool session_prepare(struct target *target, const struct session_opts *opts, struct session **out,
                     struct err *err)
{
    if (opts->buffer_count > SESSION_MAX_BUFFERS)
        BUG("%zu buffers in a session", opts->buffer_count);
    struct session *session = calloc(1, target->driver->session_bytes);
    if (!session)
        BUG("out of memory");
    session->target = target;
    if (!target->driver->prepare) {
        session->pending = arena_memdup(&session->arena, opts, sizeof *opts);
    } else if (!target->driver->prepare(session, opts, err)) {
        arena_free(&session->arena);
        free(session);
        return false;
    }
    *out = session;
    return true;
}

bool session_load(struct session **session, const void *image, size_t bytes,
                  struct session_report *report, struct err *err)
{
    struct session *s = *session;
    const struct target_driver *driver = s->target->driver;
    bool done;
    *report = (struct session_report){.status = SESSION_OK, .mechanism = "", .evidence = ""};
    if (s->pending) {
        struct session_opts opts = *s->pending;
        opts.image = image;
        opts.image_bytes = bytes;
        s->pending = NULL;
        done = driver->start(s, &opts, report, err);
    } else {
        done = driver->load(s, image, bytes, report, err);
    }
    if (!done || report->status != SESSION_OK) {
        arena_free(&s->arena);
        free(s);
        *session = NULL;
    }
    return done;
}

bool session_give(struct session *session, const void *image, size_t bytes, struct err *err)
{
    const struct target_driver *driver = session->target->driver;
    return session->pending || !driver->give || driver->give(session, image, bytes, err);
}

bool session_run(struct session *session, const struct session_call *calls, size_t count,
                 bool touch, int64_t limit_ns, struct session_report *report, struct err *err)
{
    if (count > SESSION_MAX_CALLS)
        BUG("%zu calls in one run", count);
    *report = (struct session_report){.status = SESSION_OK, .mechanism = "", .evidence = ""};
    return session->target->driver->run(session, calls, count, touch, limit_ns, report, err);
}

void session_set_ints(struct session *session, const int64_t *ints, size_t count)
{
    session->target->driver->set_ints(session, ints, count);
}

bool session_freeze(struct session *session, struct err *err)
{
    const struct target_driver *driver = session->target->driver;
    return !driver->freeze || driver->freeze(session, err);
}

bool session_thaw(struct session *session, struct err *err)
{
    const struct target_driver *driver = session->target->driver;
    return !driver->thaw || driver->thaw(session, err);
}

void session_stop(struct session **session)
{
    struct session *s = *session;
    if (!s)
        return;
    if (!s->pending)
        s->target->driver->stop(s);
    arena_free(&s->arena);
    free(s);
    *session = NULL;
}

void session_end(struct session **session)
{
    struct session *s = *session;
    if (s && !s->pending && s->target->driver->end)
        s->target->driver->end(s);
    else
        session_stop(session);
}

const char *target_missing_layers(const struct target *target)
{
    const struct target_driver *driver = target->driver;
    return driver->missing_layers ? driver->missing_layers(target) : "";
}
