/*
 * Targets: where candidates are built and run. The gate speaks to a target only through this
 * header.
 *
 * A target finds its compilers, measures itself once (the fingerprint), builds an image from
 * sources under the gate's rules, and runs an image in a *session*: a boxed child (src/runner) that
 * holds nothing but the image and shared buffers, driven by a doorbell. The parent owns data, clock
 * and comparison. Backends are constants of `struct target_driver` (driver.h), listed in
 * registry.c. Threads: a target and its sessions belong to one thread; several targets may be open.
 */
#ifndef KOPE_TARGET_TARGET_H
#define KOPE_TARGET_TARGET_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "task/candidate.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TARGET_MAX_COMPILERS = 16,
    TARGET_MAX_CACHES = 4,
    SESSION_MAX_BUFFERS = 16,
    SESSION_MAX_CALLS = 256
};

struct target;  /* opaque */
struct session; /* opaque */

struct target_compiler {
    const char *name;    /* "gcc-12": unique on the target */
    const char *family;  /* "gcc" or "clang" */
    const char *version; /* "12.2.0" */
    const char *path;
    bool has_polly;       /* clang: "-mllvm -polly" works; gcc: false */
    bool polly_is_plugin; /* not built in: the target loads it by itself */
    bool has_graphite;    /* gcc: -floop-nest-optimize works */
    bool has_openmp_simd;
};

/* What is known of the machine, measured. 0 or "" where unknown. */
struct target_features {
    const char *name; /* driver: "cpu" */
    const char *cpu;  /* model name */
    const char *arch; /* "x86_64" */
    const char *isa;  /* sorted, comma separated: "avx2,avx512f,fma" */
    const char *os;
    int64_t cores;
    int64_t vector_bytes;                        /* widest SIMD register that candidates may use */
    int64_t cache_bytes[TARGET_MAX_CACHES];      /* L1d, L2, L3 */
    double peak_gflops_f32, peak_gflops_f64;     /* one core, measured */
    double bandwidth_gbs[TARGET_MAX_CACHES + 1]; /* read, one core: L1, L2, L3, memory at index 3 */
    double copy_gbs;                             /* memory copy, one core */
    double doorbell_ns; /* CPU time of an empty call, median: no time has it */
    int64_t measured_wall_ns;
    struct target_compiler compilers[TARGET_MAX_COMPILERS];
    size_t compiler_count;
    struct hash_id id; /* of what identifies the machine: cpu, isa, caches, compilers; not of the
                          measured rates */
};

struct target_info {
    const char *name, *summary;
};
size_t target_list(struct target_info *out, size_t capacity);

/* `cache_dir` keeps the measured fingerprint between runs; NULL: nothing is kept. Opening is cheap;
 * rates are measured by target_probe or read from the kept fingerprint. */
bool target_open(const char *name, const char *cache_dir, struct target **out, struct err *err);
void target_close(struct target **target);

/* Measures the machine (about 4 s on cpu) unless a kept fingerprint of the same id is there and not
 * `fresh`. Of each rate the best that was ever measured is kept: noise only makes a machine look
 * slower. */
bool target_probe(struct target *target, bool fresh, struct err *err);

/* Valid until target_close; rates are 0 before target_probe. */
const struct target_features *target_features(const struct target *target);

/* Where a kernel finds data of so many bytes, and how fast it reads there. */
struct data_place {
    const char *name; /* "L1" to "L3", "memory"; "an unknown cache" */
    double read_gbs;  /* 0 where nothing is known */
    bool is_shared;   /* with other cores: what it gives depends on what they do */
};

/* The nearest cache that holds them, or memory. Where the last caches are unknown, as in some
 * virtual machines, there may be any: what one could hold is never said to come from memory, but at
 * the rate of the last that is known. */
struct data_place target_place_of(const struct target_features *features, double bytes);

/* By its name, or by that of its family, which means the newest of it; NULL where there is none. */
const struct target_compiler *target_compiler_named(const struct target *target, const char *name);
/* Is there one? If not, ERR_NOT_FOUND says which there are. */
bool target_has_compiler(const struct target *target, const char *name, struct err *err);

/* Times are scripted, not measured: several processes at once do not disturb each other. */
bool target_is_scripted(const struct target *target);

/* The baseline's own compiler and flags: gcc -O3 -march=native. */
void target_default_build(const struct target *target, const char **compiler,
                          const char *const **flags, size_t *flag_count);

/* Is this flag in the allowed set of this compiler; the reason where not. */
bool target_flag_allowed(const struct target *target, const char *compiler, const char *flag,
                         const char **why_not);

struct build_request {
    const struct task *task;
    const struct candidate *candidate;
    const char *real_name;  /* C type for `real`: "float", "double" */
    bool is_trusted;        /* the reference: object rules are still checked, source rules not */
    int64_t notes_limit_ns; /* of target_notes, at most; 0: the target's own */
    bool is_clean;          /* built anew: no earlier build serves, and it serves no later one */
    bool has_lines; /* with debugging information, for target_lines; only where `is_clean` */
};

enum build_status { BUILD_OK, BUILD_FAILED, BUILD_REJECTED, BUILD_TIMED_OUT };

/* Where the time of a build went; 0 where it did not come so far or an earlier build served. */
struct build_timings {
    int64_t screen_ns, compile_ns;
    int64_t inspect_ns, link_ns; /* beside each other */
};

struct build_result {
    enum build_status status;
    const char *mechanism; /* where not OK: "compiler", "flags", "M12-object", ... */
    const char *evidence;
    const char *diagnostics; /* compiler output, capped */
    const void *image;       /* what a session loads; memory of the arena */
    size_t image_bytes;
    struct hash_id code_id; /* of the normalised machine code: relocations and padding removed */
    const char *disassembly_path; /* NULL unless kept */
    int64_t build_ns;
    struct build_timings timings;
    bool is_kept; /* an earlier build served */
};

/* Compiles with -c in a confined compiler process, adds the calling stub, links, checks the object.
 * A candidate that fails is a result; false is for a host that cannot build at all. */
bool target_build(struct target *target, const struct build_request *request, struct arena *arena,
                  struct build_result *out, struct err *err);

/* Several builds at once, on as many processors as there are; `out` in order of `requests`. What is
 * built is kept for a while, so that a later target_build of the same request finds it. Not while
 * something is timed. */
bool target_build_all(struct target *target, const struct build_request *requests, size_t count,
                      struct arena *arena, struct build_result *out, struct err *err);

/* What a tool beside the compiler said, as it wrote it: text from outside, for profile/ to read. */
enum {
    TARGET_MOST_TOOL_BYTES = 1024 * 1024,
    TARGET_MAX_TOOLS = 8,
    TARGET_MOST_CALL_BUFFERS = SESSION_MAX_BUFFERS
};
struct tool_output {
    const char *tool;    /* "gcc-12", "llvm-mca-14" */
    const char *text;    /* at most TARGET_MOST_TOOL_BYTES; "" where there is a problem */
    const char *problem; /* why there is no text; "" */
    bool is_cut;         /* it said more, which was left out */
};

/* Of one build: what the optimizer did, and why not more (gcc: the lines of -fopt-info; clang:
 * documents in YAML), and the code itself as assembly with .loc directives. The source is
 * "candidate.c" there. */
struct build_notes {
    const char *family; /* of the compiler: says how `record` is written */
    struct tool_output record, assembly;
    bool timed_out; /* the problem of both: the compiler was not done in time */
};

/* Compiles once more, confined like any build. A candidate that is refused or does not compile, or
 * a compiler that cannot be run, is a problem of both; false only where the user interrupted. */
bool target_notes(struct target *target, const struct build_request *request, struct arena *arena,
                  struct build_notes *out, struct err *err);

/* Static throughput of a block of assembly, the body of a loop: what llvm-mca says of this
 * processor. Confined too; one that cannot be run is a problem, as for target_notes. */
bool target_throughput(struct target *target, const char *block, struct arena *arena,
                       struct tool_output *out, struct err *err);

/* One call, with all that it is given. */
struct simulated_call {
    const void *contents[TARGET_MOST_CALL_BUFFERS]; /* of each buffer; NULL: zeros */
    size_t bytes[TARGET_MOST_CALL_BUFFERS];
    size_t buffer_count;
    const int64_t *ints; /* as for a session */
    size_t int_count;
    const double *reals;
    size_t real_count;
};
/* Misses of simulated caches by line, in a call of a candidate: what cachegrind writes, with a
 * first level and, in the place of the last one, a second as large as those of this machine. The
 * simulator knows no AVX-512: the candidate is built without. It and its checks are those of
 * target_build; the box is a compiler's, not that of a session. Anything that does not work is a
 * problem. */
bool target_misses(struct target *target, const struct build_request *request,
                   const struct simulated_call *call, struct arena *arena, struct tool_output *out,
                   struct err *err);

/* The lines that addresses in an image come from, which was built with them: "0x1f4", then
 * "FILE:LINE", for what was inlined also "FILE:LINE" of each caller, for each address in turn. */
bool target_lines(struct target *target, const void *image, size_t image_bytes,
                  const uint64_t *addresses, size_t count, struct arena *arena,
                  struct tool_output *out, struct err *err);

/* The tools of a profile, for those who want to know what is missing. */
struct target_tool {
    const char *name;    /* "llvm-mca-14", "cachegrind" */
    const char *purpose; /* what it tells */
    const char *problem; /* why it is not used here; "" where it is there */
    const char *help;    /* how to get it; "" */
};
size_t target_tools(const struct target *target, struct arena *arena, struct target_tool *out,
                    size_t capacity);

/* Buffers of a session. Each has `bytes` of room between two guards that nothing may touch; the
 * parent maps it at `host`. A read-only buffer cannot be written by the child, nor made writable.
 */
struct session_buffer {
    const char *label; /* for evidence: the argument's name; NULL: "buffer 2" */
    size_t bytes;      /* session_start rounds it up to whole pages: the guard begins there */
    bool writable;     /* by the child */
    void *host;        /* set by session_start */
};

struct session_opts {
    const void *image;
    size_t image_bytes;
    struct session_buffer *buffers; /* in order of task_buffers */
    size_t buffer_count;
    const int64_t *
        ints; /* the integer values of the call: integer attributes then axes, in signature order */
    size_t int_count;
    const double *reals; /* real attributes in order */
    size_t real_count;
    int64_t threads;           /* that the child may have; 1 */
    size_t memory_limit_bytes; /* beyond buffers; 0: 1 GiB */
    int cpu;                   /* pinned to; -1: the target's choice, away from the parent's */
    /* Only what the calls do matters, not how long they take: the child may run on any processor,
     * and its bell is not calibrated. */
    bool is_untimed;
    /* The child does nothing until the bell: it sleeps, and the time of a run is what the kernel
     * accounts to it, whatever parent or child lose of their processor; or where it may have
     * several threads it is stopped, and the time is the parent's clock from letting it go on.
     * Without effect where the target has no such account. */
    bool by_account;
    /* Where the child is, each time its CPU clock has gone on by so much during a run, is noted for
     * session_samples; times are longer then. 0: it is not looked at. */
    int64_t sample_period_ns;
    /* Called by session_run when the child is ready, just before the clock starts; NULL: nothing.
     * What is written into the buffers here (all data of the run, a changed element of an input) a
     * child that ran ahead while it should have waited cannot have seen; with `by_account` it also
     * sleeps meanwhile, or the time counts; or all of its threads are stopped. */
    void (*before_bell)(void *ctx);
    void *before_bell_ctx;
    /* Called by session_run as soon as the child has said that it is done, before it is looked at
     * whether it sleeps; NULL: nothing. What the buffers do not hold now was not done in time. */
    void (*after_bell)(void *ctx);
    void *after_bell_ctx;
};

/* One call of the entry point: the offset in each buffer where its argument begins. */
struct session_call {
    size_t offsets[SESSION_MAX_BUFFERS];
};

enum session_status {
    SESSION_OK,
    SESSION_CRASHED,   /* a signal, or it left */
    SESSION_TIMED_OUT, /* killed at the limit */
    SESSION_REJECTED,  /* a rule was broken: seccomp kill, CPU time that does not agree, changed FP
                          environment, threads left */
    SESSION_NOISY, /* the measurement was disturbed (involuntary switches, steal, faults); may be
                      tried again */
};

struct session_report {
    enum session_status status;
    int64_t elapsed_ns; /* request to acknowledgement, parent's clock, less an empty call */
    int64_t cpu_ns;     /* CPU time of the child in that time */
    bool is_done;       /* of a run: the child said that the calls were done, whatever came then */
    int processor;      /* of a run: that the child's first thread is pinned to; -1: none */
    const char *mechanism; /* where not OK */
    const char *evidence;  /* "wrote 4 bytes past the end of 'y'": memory of the session; of the
                              target, until its next session, where session_start found it */
};

/* Starts the boxed child: box first, then the image is loaded. A candidate whose image cannot be
 * loaded is a report; false is for a host that cannot run at all. On a status other than OK there
 * is no session. */
bool session_start(struct target *target, const struct session_opts *opts, struct session **out,
                   struct session_report *report, struct err *err);

/* The same in two steps, so that the child can start while the image is built: `opts` is without an
 * image, its `image_bytes` the most that it may have, and what it points to must stay until the
 * second step. That ends like session_start; where it fails, `*session` is gone and NULL. An image
 * that is larger is ERR_LIMIT. */
bool session_prepare(struct target *target, const struct session_opts *opts, struct session **out,
                     struct err *err);
bool session_load(struct session **session, const void *image, size_t bytes,
                  struct session_report *report, struct err *err);
/* Optional, before the second step: lets the child load the image while the caller does something
 * else. The second step is then called with the same image, and waits for the child. */
bool session_give(struct session *session, const void *image, size_t bytes, struct err *err);

/* Rings the bell for `count` calls in turn and waits for the end, at most `limit_ns`. `touch` lets
 * the child read the buffers of the calls before the clock starts, so that caches and TLB are warm.
 * After anything but SESSION_OK or SESSION_NOISY the child is dead. */
bool session_run(struct session *session, const struct session_call *calls, size_t count,
                 bool touch, int64_t limit_ns, struct session_report *report, struct err *err);

/* The integers of the calls from the next run on, as many as the session was started with: other
 * axes over the same buffers. */
void session_set_ints(struct session *session, const int64_t *ints, size_t count);

/* Where a child was that is looked at. */
struct sample_place {
    uint64_t offset; /* of the instruction in the image */
    int64_t hits;
};
struct sample_function {
    const char *name; /* "expf" */
    int64_t hits;
};
struct session_samples {
    const char *problem;               /* why there are none; "" */
    const struct sample_place *places; /* in the image, ascending */
    size_t place_count;
    const struct sample_function *functions; /* that the image called, the most hits first */
    size_t function_count;
    int64_t inside, called; /* hits in all, of both kinds */
    int64_t lost;
};

/* Samples of the child's first thread in all runs so far, in user mode. That the host does not let
 * anybody look is a problem of theirs. */
void session_samples(const struct session *session, struct arena *arena,
                     struct session_samples *out);

/* Stops the child's threads (SIGSTOP and wait) so that nothing changes any more; and lets it go on.
 */
bool session_freeze(struct session *session, struct err *err);
bool session_thaw(struct session *session, struct err *err);

/* Kills the child's whole group and unmaps the buffers. */
void session_stop(struct session **session);
/* Kills it and may leave the buffers mapped: nothing but session_stop, by any thread, may follow,
 * where `*session` is not NULL then. */
void session_end(struct session **session);

/* Sandbox layers that this host lacks, "" where complete: for the verdict's record and kope doctor.
 */
const char *target_missing_layers(const struct target *target);

#endif
