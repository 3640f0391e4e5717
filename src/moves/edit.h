/*
 * Edits of the reference's text. Each gives the new text, or NULL with the refusal in words; none
 * changes the meaning of the program beyond what its comment says. The text is lexed afresh by
 * each, so that edits can follow one another. Inside moves only.
 */
#ifndef KOPE_MOVES_EDIT_H
#define KOPE_MOVES_EDIT_H

#include "moves/lex.h"
#include "task/task.h"

/* Replaces `remove` bytes at `at` by `insert`. */
struct patch {
    size_t at, remove;
    const char *insert;
};

struct patches {
    struct patch *items;
    size_t count, capacity;
};

/* `text` with its patches, which may not overlap; those at one place stay in order. */
char *edit_apply(const char *text, struct patches *patches, struct arena *arena);
void edit_add(struct patches *patches, struct arena *arena, size_t at, size_t remove,
              const char *insert);

/* Adds `insert` as a line of its own in front of token `at`, or as a _Pragma where the token does
 * not begin its line. */
void edit_add_pragma(struct patches *patches, struct arena *arena, const struct tokens *tokens,
                     size_t at, const char *pragma);

/* `restrict` on the pointer parameters of the entry point but those that share a buffer; by the
 * task's contract those of others do not overlap. */
char *edit_restrict(const char *text, const struct task *task, struct arena *arena,
                    const char **refusal);
/* The same for the text of a definition up to the ')' of its parameters; `task` may be NULL. */
char *edit_restrict_signature(const char *signature, const struct task *task, struct arena *arena,
                              const char **refusal);

/* What `#pragma omp simd` may be put on. */
enum simd_part {                    /* in the order of the options of the field 'simd' */
                 SIMD_MAP = 1 << 0, /* loops that write each element of an array once: exact */
                 SIMD_REDUCE =
                     1 << 1, /* loops that add to a scalar: changes the order of the sum */
                 SIMD_EXTREMUM =
                     1 << 2, /* loops that keep a maximum or minimum: may differ for NaN */
                 SIMD_SCAN =
                     1 << 3, /* loops that store a running sum: changes the order of the sum */
};
char *edit_simd(const char *text, const struct task *task, unsigned parts, struct arena *arena,
                const char **refusal);

/*
 * Many accumulators: a loop over j that sums into a scalar and stores it is cut into strips of
 * `width`, the scalar becomes an array over the strip, and the loop over j goes innermost, where it
 * reads memory in order. Each sum keeps its own order: exact.
 */
char *edit_tile(const char *text, const struct task *task, int width, struct arena *arena,
                const char **refusal);

/* Everything that the entry point calls is inlined into it. */
char *edit_flatten(const char *text, const struct task *task, struct arena *arena,
                   const char **refusal);

/* glibc declares its vector functions to gcc only under __FAST_MATH__, which gcc defines only
 * together with finite-math-only; they do not need that, so it is defined here. */
char *edit_vector_math(const char *text, struct arena *arena, const char **refusal);

#endif
