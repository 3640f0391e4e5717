/* Deep copies of nests and of lists of statements. */
#include "moves/nest/edit.h"

#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Which symbol stands for which in the copy, sorted by the old one's address. */
struct pair {
    const struct nest_symbol *from;
    struct nest_symbol *to;
};

struct copier {
    struct arena *arena;
    struct pair *pairs;
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const struct pair *)a)->from;
    const uintptr_t y = (uintptr_t)((const struct pair *)b)->from;
    return (x > y) - (x < y);
}

/* The copy of a symbol; itself where it is none of those that are copied. */
static const struct nest_symbol *map(const struct copier *c, const struct nest_symbol *symbol)
{
    const struct pair key = {.from = symbol};
    const struct pair *pair =
        symbol && c->count ? bsearch(&key, c->pairs, c->count, sizeof key, by_address) : NULL;
    return pair ? pair->to : symbol;
}

static struct nest_symbol *map_own(const struct copier *c, struct nest_symbol *symbol)
{
    const struct pair key = {.from = symbol};
    const struct pair *pair =
        symbol && c->count ? bsearch(&key, c->pairs, c->count, sizeof key, by_address) : NULL;
    return pair ? pair->to : symbol;
}

static const struct nest_expr *copy_expr(const struct copier *c, const struct nest_expr *expr)
{
    if (!expr)
        return NULL;
    struct nest_expr *copy = arena_memdup(c->arena, expr, sizeof *expr);
    copy->symbol = map(c, expr->symbol);
    for (size_t i = 0; i < expr->arg_count; i++)
        copy->args[i] = copy_expr(c, expr->args[i]);
    return copy;
}

static struct nest_stmt *copy_list(const struct copier *c, const struct nest_stmt *first)
{
    struct nest_stmt *list = NULL;
    struct nest_stmt **tail = &list;
    for (const struct nest_stmt *s = first; s; s = s->next) {
        struct nest_stmt *copy = arena_memdup(c->arena, s, sizeof *s);
        copy->next = NULL;
        copy->symbol = map_own(c, s->symbol);
        copy->from = copy_expr(c, s->from);
        copy->bound = copy_expr(c, s->bound);
        copy->target = copy_expr(c, s->target);
        copy->value = copy_expr(c, s->value);
        copy->body = copy_list(c, s->body);
        copy->otherwise = copy_list(c, s->otherwise);
        *tail = copy;
        tail = &copy->next;
    }
    return list;
}

static void copy_symbol_parts(const struct copier *c, struct nest_symbol *symbol)
{
    symbol->base = map(c, symbol->base);
    symbol->same = map(c, symbol->same);
    symbol->offset = copy_expr(c, symbol->offset);
    for (size_t d = 0; d < symbol->rank; d++)
        symbol->dimensions[d] = copy_expr(c, symbol->dimensions[d]);
}

struct nest *nest_clone(const struct nest *from, struct arena *arena)
{
    struct nest *nest = arena_memdup(arena, from, sizeof *from);
    const size_t count = from->symbol_count;
    struct copier c = {.arena = arena, .count = count};
    c.pairs = arena_array(arena, count + 1, sizeof *c.pairs);
    nest->symbols = arena_array(arena, count + 1, sizeof *nest->symbols);
    for (size_t i = 0; i < count; i++) {
        nest->symbols[i] = arena_memdup(arena, from->symbols[i], sizeof *nest->symbols[i]);
        c.pairs[i] = (struct pair){.from = from->symbols[i], .to = nest->symbols[i]};
    }
    if (count > 0)
        qsort(c.pairs, count, sizeof *c.pairs, by_address);
    for (size_t i = 0; i < count; i++)
        copy_symbol_parts(&c, nest->symbols[i]);
    nest->body = copy_list(&c, from->body);
    return nest;
}

/* The symbols that a list declares, each with a new one of a new name. */
struct declared {
    struct nest_edit *edit;
    struct pair *pairs;
    size_t count, capacity;
};

static bool note_declared(void *context, struct nest_stmt *stmt, int depth)
{
    struct declared *declared = context;
    (void)depth;
    if (stmt->kind != NEST_FOR && stmt->kind != NEST_DECLARE)
        return true;
    struct nest_symbol *copy =
        nest_new_symbol(declared->edit, stmt->symbol->kind, stmt->symbol->name, stmt->symbol->type);
    const char *name = copy->name;
    *copy = *stmt->symbol;
    copy->name = name;
    declared->pairs = vec_reserve_one(declared->pairs, declared->count, &declared->capacity,
                                      sizeof *declared->pairs);
    declared->pairs[declared->count++] = (struct pair){.from = stmt->symbol, .to = copy};
    return true;
}

static bool rename_loop(void *context, struct nest_stmt *stmt, int depth)
{
    (void)context;
    (void)depth;
    if (stmt->kind == NEST_FOR)
        stmt->name = stmt->symbol->name;
    return true;
}

struct nest_stmt *nest_copy_list(struct nest_edit *edit, const struct nest_stmt *first)
{
    const struct copier plain = {.arena = edit->arena};
    struct declared declared = {.edit = edit};
    struct nest_stmt *own = copy_list(&plain, first); /* to walk on, and not the original */
    (void)nest_walk(own, note_declared, &declared);
    if (declared.count > 0)
        qsort(declared.pairs, declared.count, sizeof *declared.pairs, by_address);
    const struct copier c = {
        .arena = edit->arena, .pairs = declared.pairs, .count = declared.count};
    for (size_t i = 0; i < declared.count; i++)
        copy_symbol_parts(&c, declared.pairs[i].to);
    struct nest_stmt *copy = copy_list(&c, own);
    (void)nest_walk(copy, rename_loop, NULL);
    free(declared.pairs);
    return copy;
}
