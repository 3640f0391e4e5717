/*
 * Exploits as files: kernels/NAME.c, each a candidate.
 *
 * A file begins with comment lines:
 *     // expect: rejected M12-object      what must stop it: the kind of the verdict and the name
 * of the mechanism, both as the verdict has them; several lines where any of them will do
 *     // expect: no win M6-fresh          it may be right, but must not gain: and why it does not
 *     // expect: refused M17-null         the task is refused when it is loaded
 *     // task: softmax                    of tests/tasks/, else of examples/
 *     // flags: -O3 -mavx2                where not the default ones
 *     // at: confirmation                a search may time it; it must be stopped as a winner is
 *     // layer: hidden clock              the layer of the sandbox that stops it: a host that lacks
 * it lets it through, and it must not gain there
 *     // with: honest-softmax hidden      text of parts/ that stands before the kernel
 *     // What it tries, in a sentence.
 * Memory is the arena's; one thread.
 */
#ifndef KOPE_REDTEAM_KERNEL_H
#define KOPE_REDTEAM_KERNEL_H

#include "base/arena.h"
#include "base/err.h"
#include "task/candidate.h"

#include <stdbool.h>
#include <stddef.h>

enum { MOST_EXPECTED = 6 };

struct expectation {
    const char *text; /* "wrong M5-poison" */
};

struct kernel {
    const char *name, *task, *idea;
    const char *layer; /* as target_missing_layers names it; "": none */
    struct expectation expected[MOST_EXPECTED];
    size_t expected_count;
    struct candidate candidate;
    bool at_confirmation;
    bool is_wanted, is_judged;
};

/* Every file of DIR/kernels; `words` mark those with one of them in their name as wanted, none
 * marks all. ERR_BAD_INPUT for a head without an expectation, or one that names no mechanism. */
bool kernels_load(const char *dir, const char *const *words, size_t word_count, struct arena *arena,
                  struct kernel **out, size_t *count, struct err *err);

#endif
