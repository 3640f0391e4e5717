/*
 * Why a candidate takes the time it takes: timed by the gate, then looked at by the tools that its
 * roofline class is worth. Wires module profile to target, gate, moves and memory; see
 * profile/profile.h for what a finding is. Nothing is written to the memory.
 */
#ifndef KOPE_ENGINE_PROFILE_H
#define KOPE_ENGINE_PROFILE_H

#include "engine/engine.h"

struct profile_opts {
    const char *task_path, *memory_dir, *target;
    const char *source_path; /* NULL: the plain reference, or `best` */
    const char *compiler, *flags;
    bool best;      /* the best that the memory knows of this task here */
    bool no_timing; /* no roofline class: every tool runs */
    bool all_tools; /* whatever the class says */
};

struct profile_line {
    const char *kind, *tool, *text;
    const char *moves;   /* of this task's catalogue, that answer it: "a, b"; "" */
    const char *learned; /* of them, in this memory: "a 1.84x in 5 steps"; "". NULL: not told */
    double number;
    int line; /* 0: none */
};

struct profile_result {
    const struct task *task;
    const char *what;          /* "the plain reference, gcc-12 -O3 -march=native" */
    const char *problem;       /* it was judged and not timed, or not built: the verdict; "" */
    int exit_code;             /* of that verdict; 0 */
    const char *roofline;      /* class: "memory"; "unknown" */
    const char *roofline_text; /* "" */
    double share;
    const char *plan; /* why these tools ran */
    const struct profile_line *lines;
    size_t count;
    struct {
        const char *tool, *said;
        bool ran;
    } tools[6];
    size_t tool_count;
};
bool engine_profile(const struct profile_opts *opts, const struct observer *observer,
                    struct arena *arena, struct profile_result *out, struct err *err);

#endif
