/*
 * One build on its way, between build.c (rules that need no compiler, what was built before,
 * several at once) and make.c (from a source to an image).
 */
#ifndef KOPE_TARGET_CPU_BUILDING_H
#define KOPE_TARGET_CPU_BUILDING_H

#include "target/cpu/cpu.h"

/* A stub is the same for every candidate of a task: it is compiled once. */
struct stub {
    const void *object; /* NULL: compile it; memory of the target */
    size_t bytes;
};

struct building {
    const struct target *target;
    const struct build_request *request;
    const struct target_compiler *compiler;
    const char *const *flags;
    size_t flag_count;
    struct arena *arena; /* of the result */
    struct arena *step;
    const char *dir;
    struct stub stub;
    const void *object; /* compiled; memory of `step` */
    size_t object_bytes;
    struct build_result *out;
    struct err *err;
};

/* Three ends of a step. */
enum step_end { STEP_DONE, STEP_RESULT /* `out` says it */, STEP_ERROR };

enum step_end build_end_with(struct building *b, enum build_status status, const char *mechanism,
                             const char *evidence);
/* Does a flag ask for Polly? */
bool build_uses_polly(const struct building *b);

/* build.c: what can be said without building; fills compiler and flags. */
enum step_end build_screen(struct building *b);

/* make.c, of the folder `b->dir`: source and prelude; the compiler's command line with `more`,
 * NULL-terminated, before the source; a program, confined, for at most `limit_ns`. */
enum { BUILD_MOST_MORE = 8, BUILD_MOST_ARGUMENTS = 24 + BUILD_MOST_MORE + CANDIDATE_MAX_FLAGS };
bool build_write_source(struct building *b);
void build_fill_compile(const struct building *b, const char *const *more, const char *source,
                        const char *output, const char **argv);
struct process_result;
bool build_run_tool(struct building *b, const char *const *argv, int64_t limit_ns,
                    size_t output_limit, struct process_result *out);
/* Also may it read its own entry below /proc. */
bool build_run_simulator(struct building *b, const char *const *argv, int64_t limit_ns,
                         size_t output_limit, struct process_result *out);
bool build_put_file(struct building *b, const char *name, const void *bytes, size_t count);

/*
 * tools.c: makes a folder, works in it, removes it. A profile ends where the user interrupts
 * (false); whatever else keeps a tool from running is that tool's problem, in `*out`, and not the
 * run's. `b->err` is not needed.
 */
bool build_ask_tool(struct building *b, const char *tool,
                    bool (*work)(struct building *b, void *context), void *context,
                    struct tool_output *out, struct err *err);
/* What a tool printed that was run, or why it gave nothing; false where it was interrupted. */
bool build_tool_said(struct building *b, const char *tool, const struct process_result *result,
                     struct tool_output *out);
/* May a confined program be this one? A kernel without Landlock lets it. */
bool build_box_reads(const struct target *target, const char *path, struct arena *arena);
/* A file that a tool wrote, as far as it is taken: cut at the end of a line. */
struct tool_output build_take_file(const struct building *b, const char *tool, const char *name,
                                   size_t most_bytes);
/* The output of one that gave nothing. */
struct tool_output build_tool_failed(const char *tool, const char *problem);

/* In a folder of its own, which is gone afterwards. Touches nothing of the target: several may run
 * at once, each on a thread. A stub that it had to compile is in `b->stub`, memory of `b->step`. */
enum step_end build_make(struct building *b);

#endif
