/* One name for one thing: counters are called as their loops, a second local of one name gets a
 * number. Sources of many hundred loops pass here at every step, so names are in a table. */
#include "moves/nest/edit.h"
#include "moves/nest/taken.h"

#include <string.h>

static bool take_loop(void *context, struct nest_stmt *stmt, int depth)
{
    (void)depth;
    if (stmt->kind == NEST_FOR) {
        stmt->symbol->name = stmt->name;
        taken_add(context, stmt->name);
    }
    return true;
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

void nest_make_names_unique(struct nest_edit *edit)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct nest *nest = edit->nest;
    /* each symbol twice renamed */
    const size_t most = 3 * nest->symbol_count + nest->loop_count;
    struct taken all = taken_begin(most, &scratch);
    struct taken earlier = taken_begin(most, &scratch);
    struct taken counters = taken_begin(most, &scratch);
    (void)nest_walk(nest->body, take_loop, &all);
    for (size_t i = 0; i < nest->symbol_count; i++)
        taken_add(&all, nest->symbols[i]->name);
    for (size_t i = 0; i < nest->symbol_count; i++) {
        struct nest_symbol *symbol = nest->symbols[i];
        if (symbol->kind == NEST_COUNTER)
            taken_add(&counters, symbol->name);
        else if (taken_has(&earlier, symbol->name))
            symbol->name = new_name(edit, &all, symbol->name);
        taken_add(&earlier, symbol->name);
    }
    for (size_t i = 0; i < nest->symbol_count; i++) {
        struct nest_symbol *symbol = nest->symbols[i];
        if (symbol->kind != NEST_COUNTER && !symbol->is_parameter &&
            taken_has(&counters, symbol->name))
            symbol->name = new_name(edit, &all, symbol->name);
    }
}
