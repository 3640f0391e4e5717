/*
 * What the files of target/cpu share. Not for other modules.
 *
 * cpu.c        the driver, opening, the default build
 * machine.c    what the system says about itself
 * compilers.c  finding gcc and clang and what they can do
 * flags.c      the allow-list of compiler flags
 * screen.c     what a source may not say
 * build.c      what must be built, several at once; make.c compiles, checks and links one; cache.c
 *              remembers results in memory, store.c on disk
 * tools.c      what compilers and llvm-mca say of a build, for profiles
 * object.c     what an object may contain; scan.c looks at its instructions; code_id.c names it
 * session.c    what runs of a child say of its candidate; bell.c rings it, launch.c starts it,
 *              watch.c looks at it, evidence.c puts into words how it died
 * sampled.c    where a child is, by its CPU clock; lines.c says which lines of the source that is
 * cachegrind.c misses of simulated caches
 * probe.c      measuring the machine; fingerprint.c keeps the numbers
 */
#ifndef KOPE_TARGET_CPU_H
#define KOPE_TARGET_CPU_H

#include "runner/protocol.h"
#include "target/driver.h"

#include <sys/types.h>

struct build_cache;

enum { CPU_MOST_DYING = 32 };

struct cpu_state {
    const char *runner; /* path of kope-runner */
    const char **symbols;
    size_t symbol_count;        /* sorted: what an image may use */
    uint32_t missing;           /* bits of enum runner_layer that any child lacked so far */
    const char *missing_layers; /* the same in words, "" where complete */
    const char *program; /* tells this program from another version: rules, fixed flags, stub and
                            link are its own */
    const char *linker;
    const char *disassembler;
    size_t default_compiler; /* index into features.compilers */
    struct build_cache *cache;
    int64_t park_cpu_ns;         /* as last calibrated, for sessions that are not */
    pid_t dying[CPU_MOST_DYING]; /* children that were killed and are not reaped yet */
    size_t dying_count;
    struct build_cache *stubs; /* objects of the calling stub: `image` */
    char start_evidence[1024];
};

/* cpu.c: what a child said, before its candidate could run, that its box lacks. */
void cpu_note_missing_layers(struct target *target, uint32_t missing);

static inline struct cpu_state *cpu_state_of(const struct target *target)
{
    return target->state;
}

/* machine.c: fills what /proc, /sys and the compiler's macros tell, and the id. After
 * compilers_find. */
void machine_describe(struct target *target);

/* compilers.c: fills features.compilers, newest first within a family, gcc before clang. */
bool compilers_find(struct target *target, struct err *err);
/* Tries what only a trial can tell (Polly, Graphite); results are kept in the fingerprint. */
void compilers_try(struct target *target);
/* The flag that loads Polly where it is not built in, or NULL. */
const char *compiler_polly_plugin(const struct target_compiler *compiler, struct arena *arena);
/* NULL: the default. Returns NULL where there is none of that name. */
const struct target_compiler *compiler_named(const struct target *target, const char *name);

/* flags.c: each flag and how they follow each other (-mllvm needs a value). `*bad` is the flag. */
bool flag_is_allowed(const char *family, const char *flag, const char **why_not);
bool flags_are_allowed(const char *family, const char *const *flags, size_t count, bool threads,
                       const char **bad, const char **why_not);

/* screen.c: false with the reason (memory of the arena) where the source must not be built. */
bool screen_source(const char *source, struct arena *arena, const char **why);

/* object.c */
struct object_rules {
    const char *const *symbols; /* sorted */
    size_t symbol_count;
    bool threads; /* pthread_* may be used */
};
bool object_check(const void *object, size_t bytes, const struct object_rules *rules,
                  struct arena *arena, const char **why);
bool image_check(const void *image, size_t bytes, struct arena *arena, const char **why);

/* code_id.c: of a relocatable object that passed object_check. */
struct hash_id code_id(const void *object, size_t bytes, const char *entry);

/* scan.c: looks for forbidden instructions in a disassembly; NULL where there are none. */
const char *scan_instructions(const char *disassembly, struct arena *arena);
/* Finds a direct jump, call or loop that leads into the middle of an instruction, which no compiler
 * makes; NULL where there is none. (On AArch64 no instruction has a middle.) */
const char *scan_jumps(const char *disassembly, struct arena *arena);
/* Has it a jump or call to a computed address? */
bool scan_finds_indirect_jump(const char *disassembly);
/* Looks for the bytes of forbidden instructions at every offset of an object's executable sections;
 * NULL where there are none. `is_reachable`: code could jump into the middle of an instruction. */
const char *scan_bytes(const void *object, size_t bytes, bool is_reachable, struct arena *arena);

/* cache.c: results of the last builds, a bounded number of bytes. */
const struct build_result *cache_find(struct build_cache *cache, struct hash_id key);
void cache_keep(struct build_cache **cache, struct hash_id key, const struct build_result *result);
void cache_free(struct build_cache **cache);
struct build_result build_result_copy(const struct build_result *result, struct arena *arena);

/* store.c: images of earlier processes, under the target's cache folder; a bounded number of bytes,
 * those that were not used for longest go first. What does not match its checksum, or breaks the
 * rules for images, is not found. Without a folder nothing is kept. */
bool store_find(const struct target *target, struct hash_id key, struct arena *arena,
                struct build_result *out);
void store_keep(const struct target *target, struct hash_id key, const struct build_result *result);

/* build.c */
bool cpu_build(struct target *target, const struct build_request *requests, size_t count,
               struct arena *arena, struct build_result *out, struct err *err);
/* make.c: folders that a confined compiler reads; NULL-terminated, in `arena`. */
const char **build_read_paths(const struct target *target, struct arena *arena);

/* tools.c */
bool cpu_notes(struct target *target, const struct build_request *request, struct arena *arena,
               struct build_notes *out, struct err *err);
bool cpu_throughput(struct target *target, const char *block, struct arena *arena,
                    struct tool_output *out, struct err *err);
/* cachegrind.c */
bool cpu_misses(struct target *target, const struct build_request *request,
                const struct simulated_call *call, struct arena *arena, struct tool_output *out,
                struct err *err);
/* Why there is no valgrind to be used; "". */
const char *cachegrind_problem(const struct target *target, struct arena *arena);

/* lines.c */
bool cpu_lines(struct target *target, const void *image, size_t image_bytes,
               const uint64_t *addresses, size_t count, struct arena *arena,
               struct tool_output *out, struct err *err);
size_t cpu_tools(const struct target *target, struct arena *arena, struct target_tool *out,
                 size_t capacity);

/* One buffer of a session, from the parent's side. */
struct shared_buffer {
    const char *label;
    void *host;
    size_t bytes;
    bool writable;
    uint64_t child_address; /* where the child has it */
};

/* How busy the child was, from /proc. */
struct child_status {
    char state; /* 'R', 'S', 'T', ...; '?' where it is gone */
    int64_t threads;
    int64_t voluntary, involuntary; /* context switches of the main thread */
};

struct cpu_session {
    struct session base; /* first */
    pid_t pid;           /* 0: dead and reaped */
    int status_fd;
    bool yields;                             /* one processor for both */
    int processor;                           /* of its first thread; -1: any */
    uint16_t processors[RUNNER_MAX_THREADS]; /* of all; the control page is the child's to write */
    size_t processor_count;
    bool is_untimed; /* only what its calls do matters */
    int64_t threads;
    struct runner_control *control;
    struct shared_buffer buffers[SESSION_MAX_BUFFERS];
    size_t buffer_count;
    void *image; /* until it is given; then NULL */
    bool is_given;
    size_t image_room;
    uint64_t sequence;
    bool by_account;      /* the child sleeps until the bell, and its CPU time is what counts */
    bool stops;           /* it is stopped until the bell */
    bool sleeps;          /* so does the parent until the child posts */
    int64_t empty_ns;     /* round trip without a call */
    int64_t empty_cpu_ns; /* CPU time of one, by account */
    int64_t arming_ns;    /* a longer answer to the request to arm is not taken */
    int64_t park_cpu_ns;  /* CPU time that arming and going to sleep take */
    int64_t idle_cpu_ns;  /* CPU time of the child after its last round; -1 where unknown */
    unsigned strikes;     /* rounds in a row that looked as if it went on after the bell */
    void (*before_bell)(void *ctx);
    void *before_bell_ctx;
    void (*after_bell)(void *ctx);
    void *after_bell_ctx;
    char evidence[1024];
    uint64_t image_at;       /* address 0 of the image in the child */
    struct sampled *sampled; /* NULL: it is not looked at */
};

/* launch.c: shared memory, seals, the process. The phase is still RUNNER_STARTING on true. */
bool launch(struct cpu_session *session, const struct session_opts *opts, struct err *err);
/* Puts the image where the child waits for it. ERR_LIMIT where there is no room for so large a one.
 */
bool launch_give_image(struct cpu_session *session, const void *image, size_t bytes,
                       struct err *err);
/* Kills the child's group and reaps it; does nothing where it is dead. */
void launch_kill(struct cpu_session *session);
/* Kills and gives everything back. A child that was not timed may take its time to die: it is
 * reaped before the next one starts, and is gone before anything is timed. */
void launch_release(struct cpu_session *session);
/* Kills only. */
void launch_end(struct cpu_session *session);
/* Reaps what has died; `all`: waits for the rest. */
void launch_reap(const struct target *target, bool all);
/* Has the child ended; then it is reaped and `*wait_status` says how. */
bool launch_ended(struct cpu_session *session, int *wait_status);

/* The same, or is it stopped, with all its threads. That is said once of each time. */
enum launch_state { LAUNCH_RUNS, LAUNCH_STOPPED, LAUNCH_ENDED };
enum launch_state launch_look(struct cpu_session *session, int *wait_status);

/* watch.c: 'R' while any of its threads runs. */
int watch_open(pid_t pid);
struct child_status watch_status(const struct cpu_session *session);

/* evidence.c: fills `report` and the session's evidence from how the child ended. */
void evidence_of_death(struct cpu_session *session, int wait_status, struct session_report *report);

/* sampled.c: asks for samples of the child, which has not hidden itself yet; that it may not is
 * noted for session_samples. */
void sampled_open(struct cpu_session *session, int64_t period_ns);
void sampled_close(struct cpu_session *session);
/* Around a round. */
void sampled_begin(struct cpu_session *session);
void sampled_end(struct cpu_session *session);
void cpu_session_samples(const struct session *session, struct arena *arena,
                         struct session_samples *out);
/* Can this process look at a child at all? "" where it can. */
const char *sampled_problem(struct arena *arena);

/* session.c */
bool cpu_session_prepare(struct session *session, const struct session_opts *opts, struct err *err);
bool cpu_session_give(struct session *session, const void *image, size_t bytes, struct err *err);
bool cpu_session_load(struct session *session, const void *image, size_t bytes,
                      struct session_report *report, struct err *err);
bool cpu_session_start(struct session *session, const struct session_opts *opts,
                       struct session_report *report, struct err *err);
bool cpu_session_run(struct session *session, const struct session_call *calls, size_t count,
                     bool touch, int64_t limit_ns, struct session_report *report, struct err *err);
void cpu_session_set_ints(struct session *session, const int64_t *ints, size_t count);
bool cpu_session_freeze(struct session *session, struct err *err);
bool cpu_session_thaw(struct session *session, struct err *err);
void cpu_session_end(struct session *session);
void cpu_session_stop(struct session *session);

/* probe.c and fingerprint.c */
bool cpu_probe(struct target *target, bool fresh, struct err *err);
/* Reads the rates kept for this id; false where there are none. */
bool fingerprint_read(struct target *target);
bool fingerprint_write(const struct target *target, struct err *err);

#endif
