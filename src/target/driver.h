/*
 * The contract of a target's backend. A driver is one constant, listed in registry.c; target.h says
 * what each operation promises, this header what a driver owes beyond that.
 *
 * Every driver passes tests/unit/target_conformance_test.c. Errors and outcomes as everywhere:
 * false only where the host cannot do it, with outputs untouched; what a candidate did is a result.
 */
#ifndef KOPE_TARGET_DRIVER_H
#define KOPE_TARGET_DRIVER_H

#include "target/target.h"

enum { TARGET_DRIVER_VERSION = 1 };

/* An open target. Strings in `features` live in `arena`, which dies with the target. */
struct target {
    const struct target_driver *driver;
    struct arena arena;
    struct target_features features;
    const char *cache_dir; /* NULL: nothing is kept */
    void *state;           /* the driver's, `state_bytes` zeroed */
};

/* A session; the first member of the driver's own structure of `session_bytes` zeroed bytes. */
struct session {
    struct target *target;
    struct session_opts *pending; /* of one that waits for its image, where the driver cannot */
    struct arena arena;           /* evidence, copies of the options; dies with the session */
};

struct target_driver {
    int version; /* TARGET_DRIVER_VERSION */
    const char *name;
    const char *summary;
    bool is_scripted; /* times come from a script: nothing that runs beside it changes them */
    size_t state_bytes;
    size_t session_bytes;

    /* Fills name, cpu, arch, isa, os, cores, caches, compilers and id of `features`. */
    bool (*open)(struct target *target, struct err *err);
    /* Releases what `state` holds; also called after an open that failed. NULL: nothing to do. */
    void (*close)(struct target *target);
    /* Measures the rates of `features`. NULL: they stay as open left them. */
    bool (*probe)(struct target *target, bool fresh, struct err *err);
    void (*default_build)(const struct target *target, const char **compiler,
                          const char *const **flags, size_t *flag_count);
    bool (*flag_allowed)(const struct target *target, const char *compiler, const char *flag,
                         const char **why_not);
    /* `count` at once, as far as the host has processors; results in order of the requests. */
    bool (*build)(struct target *target, const struct build_request *requests, size_t count,
                  struct arena *arena, struct build_result *out, struct err *err);

    /* NULL, each: there is no such tool for profiles, and the problem of its output says so. */
    bool (*notes)(struct target *target, const struct build_request *request, struct arena *arena,
                  struct build_notes *out, struct err *err);
    bool (*throughput)(struct target *target, const char *block, struct arena *arena,
                       struct tool_output *out, struct err *err);
    bool (*lines)(struct target *target, const void *image, size_t image_bytes,
                  const uint64_t *addresses, size_t count, struct arena *arena,
                  struct tool_output *out, struct err *err);
    bool (*misses)(struct target *target, const struct build_request *request,
                   const struct simulated_call *call, struct arena *arena, struct tool_output *out,
                   struct err *err);
    size_t (*tools)(const struct target *target, struct arena *arena, struct target_tool *out,
                    size_t capacity);

    /* On false or a status other than SESSION_OK the driver keeps nothing; the caller frees
     * `session` without calling `stop`. Evidence then lies in the target's arena. */
    bool (*start)(struct session *session, const struct session_opts *opts,
                  struct session_report *report, struct err *err);
    /* As start, in two steps: without the image, which may be as large as opts->image_bytes; then
     * the image. NULL, both: the caller starts it when it has the image. */
    bool (*prepare)(struct session *session, const struct session_opts *opts, struct err *err);
    bool (*load)(struct session *session, const void *image, size_t bytes,
                 struct session_report *report, struct err *err);
    /* Hands the image over and does not wait; `load` follows. NULL: there is nothing to gain. */
    bool (*give)(struct session *session, const void *image, size_t bytes, struct err *err);
    /* Of two untimed sessions of a target at the same time, by two threads, too. */
    bool (*run)(struct session *session, const struct session_call *calls, size_t count, bool touch,
                int64_t limit_ns, struct session_report *report, struct err *err);
    void (*set_ints)(struct session *session, const int64_t *ints, size_t count);
    /* NULL: children are not looked at, and that is the problem of all samples. */
    void (*samples)(const struct session *session, struct arena *arena,
                    struct session_samples *out);
    /* NULL: nothing runs between calls, so there is nothing to stop. */
    bool (*freeze)(struct session *session, struct err *err);
    bool (*thaw)(struct session *session, struct err *err);
    /* Works whatever state the child is in. */
    void (*stop)(struct session *session);
    /* Optional: kills the child now and leaves the rest to `stop`, which still comes. NULL: `stop`
     * is called at once. */
    void (*end)(struct session *session);
    /* NULL: the box is complete. */
    const char *(*missing_layers)(const struct target *target);
};

extern const struct target_driver target_cpu;
extern const struct target_driver target_fake;

#endif
