/*
 * The top level of a C source as items: a directive, a declaration, a definition, each with the
 * names that it declares there. By tokens alone; what is not understood declares nothing. Inside
 * moves only.
 */
#ifndef KOPE_MOVES_TOPLEVEL_H
#define KOPE_MOVES_TOPLEVEL_H

#include "moves/lex.h"

/* Tokens [begin, end). */
struct toplevel_item {
    size_t begin, end;
    const char **names; /* that it declares */
    size_t name_count;
    bool is_directive;
};

struct toplevel {
    struct tokens tokens;
    struct toplevel_item *items;
    size_t count;
};

bool toplevel_read(const char *text, struct arena *arena, struct toplevel *out, const char **why);

/* The first word of a directive, "define"; "" where there is none, or where it is none. */
const char *toplevel_directive(const struct toplevel *top, const struct toplevel_item *item,
                               struct arena *arena);

/* Calls `visit` with each identifier of the item in order, those in a directive that is no #include
 * among them, as bytes [begin, end) of the text; ends where that says false, and says so. */
bool toplevel_identifiers(const struct toplevel *top, const struct toplevel_item *item,
                          bool (*visit)(void *context, size_t begin, size_t end), void *context);

#endif
