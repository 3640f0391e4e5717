/* One name for one thing: counters are called as their loops, a second local of one name gets a
 * number. Sources of many hundred loops pass here at every step, so names are in a table. */
#include "moves/nest/edit.h"
#include "moves/nest/taken.h"

#include <string.h>

struct renamed {
    const struct nest_symbol *symbol;
    const char *old_name;
};

/* What had one name in the source and needs two here. */
struct renaming {
    const struct nest_edit *edit;
    struct taken *taken;
    struct renamed *items;
    size_t count;
    const char **refusal;
};

/* The first of its names. */
static const char *old_name(const struct renaming *r, const struct nest_symbol *symbol)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->items[i].symbol == symbol)
            return r->items[i].old_name;
    }
    return NULL;
}

static void rename_symbol(struct renaming *r, struct nest_symbol *symbol, const char *name)
{
    if (strcmp(symbol->name, name) != 0)
        r->items[r->count++] = (struct renamed){symbol, symbol->name};
    symbol->name = name;
}

static bool take_loop(void *context, struct nest_stmt *stmt, int depth)
{
    struct renaming *r = context;
    (void)depth;
    if (stmt->kind == NEST_FOR) {
        rename_symbol(r, stmt->symbol, stmt->name);
        taken_add(r->taken, stmt->name);
    }
    return true;
}

/* Text that is kept cannot follow: where it names what was renamed, it would mean another thing. */
static bool lacks_old_names(void *context, struct nest_stmt *stmt, int depth)
{
    struct renaming *r = context;
    const bool is_local = stmt->kind == NEST_DECLARE;
    const char *old = stmt->kind == NEST_FOR || is_local ? old_name(r, stmt->symbol) : NULL;
    (void)depth;
    if (!old || !nest_text_names(is_local ? stmt->next : stmt->body, old))
        return true;
    return nest_refuse(r->edit, r->refusal,
                       "there are several '%s', and what is kept as text names the one of line %d",
                       old, stmt->line);
}

static bool lacks_text(void *context, struct nest_stmt *stmt, int depth)
{
    const char *const *name = context;
    (void)depth;
    return stmt->kind != NEST_OPAQUE || !strstr(stmt->text, *name);
}

/* As nest_new_name, which asks each symbol and each loop. */
static const char *new_name(const struct nest_edit *edit, struct taken *taken, const char *wish)
{
    const struct nest *nest = edit->nest;
    const char *name = NULL;
    do {
        name = taken_number(taken, wish, edit->arena);
    } while (strstr(nest->prologue, name) ||
             (nest->opaque_count > 0 && !nest_walk(nest->body, lacks_text, &name)));
    return name;
}

bool nest_make_names_unique(struct nest_edit *edit, const char **refusal)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct nest *nest = edit->nest;
    /* each symbol twice renamed */
    const size_t most = 3 * nest->symbol_count + nest->loop_count;
    struct taken all = taken_begin(most, &scratch);
    struct taken earlier = taken_begin(most, &scratch);
    struct taken counters = taken_begin(most, &scratch);
    struct renaming renaming = {.edit = edit,
                                .taken = &all,
                                .items = arena_array(&scratch, most, sizeof *renaming.items),
                                .refusal = refusal};
    (void)nest_walk(nest->body, take_loop, &renaming);
    for (size_t i = 0; i < nest->symbol_count; i++)
        taken_add(&all, nest->symbols[i]->name);
    for (size_t i = 0; i < nest->symbol_count; i++) {
        struct nest_symbol *symbol = nest->symbols[i];
        if (symbol->kind == NEST_COUNTER)
            taken_add(&counters, symbol->name);
        else if (taken_has(&earlier, symbol->name))
            rename_symbol(&renaming, symbol, new_name(edit, &all, symbol->name));
        taken_add(&earlier, symbol->name);
    }
    for (size_t i = 0; i < nest->symbol_count; i++) {
        struct nest_symbol *symbol = nest->symbols[i];
        if (symbol->kind != NEST_COUNTER && !symbol->is_parameter &&
            taken_has(&counters, symbol->name))
            rename_symbol(&renaming, symbol, new_name(edit, &all, symbol->name));
    }
    return nest->opaque_count == 0 || nest_walk(nest->body, lacks_old_names, &renaming);
}
