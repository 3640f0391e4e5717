/*
 * The reply contract of the llm proposer: what a model is told to answer, and the strict reading of
 * what it does answer. Replies are hostile: sizes, types and keys are checked, unknown keys
 * refused.
 *
 * A reply is one JSON object with a list of proposals (reply_schema). Each gives its candidate in
 * one of three ways: a whole file, edits of the parent's text, or a move with parameters. A model
 * that cannot do so may answer with a header and a file in two fenced blocks.
 */
#ifndef KOPE_PROPOSE_REPLY_H
#define KOPE_PROPOSE_REPLY_H

#include "base/arena.h"
#include "propose/propose.h"
#include "json/json.h"

#include <stdbool.h>

enum {
    REPLY_MAX_HEADER_BYTES = 16 * 1024,
    REPLY_MAX_INTENT_BYTES = 500,
    REPLY_MAX_HYPOTHESIS_BYTES = 4000,
    REPLY_MAX_FLAG_BYTES = 200,
    REPLY_MAX_PROPOSALS = PROPOSE_MAX_AT_ONCE,
    REPLY_MAX_EDITS = 64,
    REPLY_MAX_PARAMETERS = 16,
    REPLY_MAX_NAME_BYTES = 100,
};

/* What a proposal is read against. */
struct reply_scope {
    const struct task *task;        /* NULL: a source need not name the entry point */
    const struct candidate *parent; /* NULL: edits, moves and a build to keep do not exist */
    const struct moves_env *moves;  /* NULL: there are no moves */
    const struct move *catalogue;
    size_t catalogue_count;
};

/* JSON Schema of a reply, in the form that strict servers take: every key is required, a choice is
 * by null. */
const char *reply_schema(void);

/* Reads a whole reply into proposals (`next` links them; memory in the arena). Returns NULL, or in
 * words what is wrong, for the model to read; `out` is then untouched. A proposal that is well
 * formed but comes to nothing (an edit that does not match, a move that is refused) has `failure`
 * and `is_well_formed` set. */
const char *reply_read(const char *text, const struct reply_scope *scope, struct arena *arena,
                       struct proposal *out);

/* Reads the two blocks, a ```json header and a ```c file, into intent, hypothesis,
 * predicted_log_ratio, uses and candidate of `out`. Compiler and flags that the reply leaves out
 * are those of `parent` (NULL: the target's own). As reply_read otherwise. */
const char *reply_parse(const char *text, const struct task *task, const struct candidate *parent,
                        struct arena *arena, struct proposal *out);

/* reply_edit.c: the parent's text with `edits`, an array of {"find","replace"}. NULL and the new
 * text, or why not: `*is_malformed` tells a wrong type from an edit that does not apply. */
const char *reply_apply_edits(const struct json *edits, const char *parent, struct arena *arena,
                              const char **out, bool *is_malformed);

/* reply_move.c: the candidate of `move`, {"name","parameters"}, on the parent's recipe; as above.
 */
const char *reply_apply_move(const struct json *move, const struct reply_scope *scope,
                             struct arena *arena, struct proposal *out, bool *is_malformed);

#endif
