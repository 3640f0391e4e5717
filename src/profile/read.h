/*
 * Readers of what tools write: a compiler's record, assembly, llvm-mca's report. Pure, for hostile
 * input: whatever cannot be read is left out and said, nothing is believed beyond its bounds.
 * Everything returned is memory of the arena, or points into the text that was read.
 */
#ifndef KOPE_PROFILE_READ_H
#define KOPE_PROFILE_READ_H

#include "profile/profile.h"

/* What an instruction does, as far as it matters here. */
enum instruction_class {
    INSTRUCTION_OTHER,
    INSTRUCTION_LOAD,
    INSTRUCTION_STORE,
    INSTRUCTION_ARITHMETIC, /* on floating-point numbers or vectors */
    INSTRUCTION_DIVIDE,     /* and roots */
    INSTRUCTION_SHUFFLE,
    INSTRUCTION_GATHER, /* and scatter */
    INSTRUCTION_CALL,
};

struct instruction {
    const char *text; /* "vaddps\t(%rax), %ymm0, %ymm0" */
    enum instruction_class class;
    bool has_memory, has_stack; /* an operand in memory; on the stack */
    bool is_float, is_scalar;   /* floating-point arithmetic; on one element */
    int width;                  /* bytes of the widest register or element; 0: none of vectors */
    int line;                   /* of the source; 0: unknown */
};

/* Of x86, in the syntax of AT&T; other machines' are all INSTRUCTION_OTHER. */
struct instruction instruction_of(const char *text);

/* A loop without another one inside. */
struct loop {
    const struct instruction *items; /* its body: from the label that is jumped to, to that jump */
    size_t count;
    int depth;      /* 1: in no other loop */
    bool is_vector; /* most of its arithmetic is on vectors */
    double weight;
    int64_t hits;              /* samples at lines that are its own (profile_weigh_loops); 0 */
    int line;                  /* that most of its instructions come from; 0: unknown */
    int first_line, last_line; /* 0: unknown */
};

enum { PROFILE_MAX_LOOPS = 64 };

/* Innermost loops of a compiler's assembly, the one that most work is done in first: vector
 * arithmetic counts by its bytes, calls as much as many instructions, and each loop around eight
 * times. A line beyond the `line_count` of the source, as a #line may claim, is unknown; 0: all are
 * taken. */
size_t profile_find_loops(const char *assembly, int line_count, struct arena *arena,
                          struct loop *out, size_t capacity);
/* Samples by line. */
struct line_hits {
    int line;
    int64_t hits;
};
enum { PROFILE_MAX_LINES = 256 };

/* Which line each place is of, by addr2line's text; what was inlined counts for the line of the
 * candidate that it was inlined at. The most hits first; places of no line of the source are left
 * out, and so are lines beyond the capacity. */
size_t profile_read_lines(const char *text, const struct sample_place *places, size_t place_count,
                          int line_count, struct arena *arena, struct line_hits *out,
                          size_t capacity);

/* Gives each line's hits to the first loop that has it. Where a loop has PROFILE_FEWEST_HITS those
 * with the most are put first; false where none has, and the order is what it was. */
bool profile_weigh_loops(struct loop *loops, size_t loop_count, const struct line_hits *lines,
                         size_t line_count);

/* What samples say: the lines that take most of the time, loops that share it, functions that are
 * called. Each share has its interval (95 %); fewer than PROFILE_FEWEST_HITS are no fact, and of
 * fewer than PROFILE_FEWEST_SAMPLES in all nothing is said, nor where more than PROFILE_LOST_SHARE
 * were lost: they are all of one time, the end of a call. `loops` weighed by `lines`. */
enum { PROFILE_FEWEST_HITS = 30, PROFILE_FEWEST_SAMPLES = 100 };
#define PROFILE_LOST_SHARE 0.02
/* Why nothing can be said of these samples; NULL where something can. */
const char *profile_doubt_samples(const struct session_samples *samples, struct arena *arena);
struct sampled {
    const char *tool;
    const struct session_samples *samples;
    const struct line_hits *lines;
    size_t line_count;
    const struct loop *loops;
    size_t loop_count;
};
size_t profile_read_samples(const struct sampled *sampled, struct arena *arena, struct finding *out,
                            size_t capacity);

/* What cachegrind wrote of one call with arguments of so many bytes: how often each of two caches
 * was missed, in comparison with how many lines of cache the data have (`*again`: the first one's
 * ratio; a finding from 2 on), and where most. False where no line of the candidate is counted. */
struct miss_record {
    const char *text, *tool, *shape;
    double bytes;
    int line_count; /* of the source: a line beyond is none; 0: unknown */
};
bool profile_read_misses(const struct miss_record *record, struct arena *arena, struct finding *out,
                         size_t capacity, size_t *out_count, double *again, struct err *err);

/* Takes out what llvm-mca says of the number of instructions in the hot loop where `l1-misses` says
 * that data are waited for there, or at a line that is unknown: llvm-mca takes them to be at hand,
 * and fewer instructions would wait as long. How many are left. */
size_t profile_drop_front_end(struct finding *findings, size_t count, const struct loop *hot);

/* Its body for a tool that reads assembly. */
const char *loop_block(const struct loop *loop, struct arena *arena);

/* What is to be seen in the body of a loop. `tool` is the compiler; `vector_bytes` the machine's,
 * 0 unknown. */
size_t profile_read_loop(const struct loop *loop, const char *tool, int64_t vector_bytes,
                         struct arena *arena, struct finding *out, size_t capacity);

/* Loops that were not vectorized: gcc's lines, clang's documents. Outer loops, which are not meant
 * to be, loops that were written in vectors, and the short rest beside a hot one are left out where
 * `loops` are known. `lanes`: elements of a vector of this machine. */
struct record {
    const char *text, *tool;
    const struct loop *loops;
    size_t loop_count;
    int64_t lanes;
    int line_count; /* of the source: a line beyond is none; 0: unknown */
};
size_t profile_read_gcc(const struct record *record, struct arena *arena, struct finding *out,
                        size_t capacity);
/* False where the text is none of clang's records. */
bool profile_read_clang(const struct record *record, struct arena *arena, struct finding *out,
                        size_t capacity, size_t *out_count, struct err *err);

/* What a report of llvm-mca on the body of `loop` says; false where it is none. */
bool profile_read_mca(const char *text, const char *tool, const struct loop *loop,
                      struct arena *arena, struct finding *out, size_t capacity, size_t *out_count,
                      struct err *err);

#endif
