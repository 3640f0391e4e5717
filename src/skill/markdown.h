/*
 * Skills as files: a folder NAME with SKILL.md in the Agent Skills format, so that any agent that
 * knows the format can read what KOPE has learned. The front matter has name (equal to the
 * folder's), description, and metadata from text to text, in which KOPE keeps predicates, change
 * and evidence under "kope-..."; an example lies beside it in references/before.c and after.c.
 *
 * The reader is strict and takes hostile input: caps, allowed keys (name, description, license,
 * compatibility, metadata, allowed-tools), types. What a file says of its own evidence and state is
 * never believed.
 */
#ifndef KOPE_SKILL_MARKDOWN_H
#define KOPE_SKILL_MARKDOWN_H

#include "base/buf.h"
#include "skill/skill.h"

enum { SKILL_FILE_MAX_BYTES = 256 * 1024, SKILL_DESCRIPTION_CHARS = 1024 };

struct skill_document {
    const struct graph_skill *skill;
    const struct skill_belief *belief; /* everywhere */
    const struct graph_skill_evidence *evidence;
    size_t evidence_count;
    const char *before, *after; /* texts of the example; "" */
};
void skill_write_markdown(const struct skill_document *document, struct buf *out);

/* `folder` is the name of the folder that the file lies in; `file` names it in messages. Examples
 * are not read here. ERR_BAD_INPUT with file, line and column. */
bool skill_read_markdown(const char *text, size_t length, const char *file, const char *folder,
                         struct arena *arena, struct graph_skill *out, struct err *err);

#endif
