/*
 * The reply contract of the llm proposer: what a model is told to answer, and the strict reading of
 * what it does answer.
 */
#ifndef KOPE_PROPOSE_REPLY_H
#define KOPE_PROPOSE_REPLY_H

#include "base/arena.h"
#include "propose/propose.h"

#include <stdbool.h>

enum {
    REPLY_MAX_HEADER_BYTES = 16 * 1024,
    REPLY_MAX_INTENT_BYTES = 500,
    REPLY_MAX_HYPOTHESIS_BYTES = 4000,
    REPLY_MAX_FLAG_BYTES = 200,
};

/* Reads `text` into intent, hypothesis, predicted_log_ratio and candidate of `out` (memory in the
 * arena). Compiler and flags that the reply leaves out are those of `parent` (NULL: the target's
 * own). Returns NULL, or in words what is wrong, for the model to read; `out` is then untouched. */
const char *reply_parse(const char *text, const struct task *task, const struct candidate *parent,
                        struct arena *arena, struct proposal *out);

#endif
