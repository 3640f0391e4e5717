/* Names in a nest under change, and what a step's words stand for. */
#include "moves/nest/edit.h"
#include "moves/nest/reader.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

struct name_search {
    const char *name;
    bool is_taken;
};

static bool names_it(void *context, struct nest_stmt *stmt, int depth)
{
    struct name_search *search = context;
    (void)depth;
    if (stmt->kind == NEST_FOR && str_equal(stmt->name, search->name))
        search->is_taken = true;
    /* What is opaque may declare anything. */
    if (stmt->kind == NEST_OPAQUE && strstr(stmt->text, search->name))
        search->is_taken = true;
    return !search->is_taken;
}

static bool is_taken(const struct nest *nest, const char *name)
{
    struct name_search search = {.name = name};
    for (size_t i = 0; i < nest->symbol_count; i++) {
        if (str_equal(nest->symbols[i]->name, name))
            return true;
    }
    (void)nest_walk(nest->body, names_it, &search);
    return search.is_taken || strstr(nest->prologue, name) != NULL;
}

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool lacks_word(void *context, struct nest_stmt *stmt, int depth)
{
    const char *name = context;
    const size_t length = strlen(name);
    (void)depth;
    const char *at = stmt->kind == NEST_OPAQUE ? strstr(stmt->text, name) : NULL;
    for (; at; at = strstr(at + 1, name)) {
        if ((at == stmt->text || !is_word_byte(at[-1])) && !is_word_byte(at[length]))
            return false;
    }
    return true;
}

bool nest_text_names(struct nest_stmt *first, const char *name)
{
    char word[256];
    return strlen(name) >= sizeof word || !nest_walk(first, lacks_word, strcpy(word, name));
}

const char *nest_new_name(const struct nest_edit *edit, const char *wish)
{
    const char *name = wish;
    for (int i = 2; is_taken(edit->nest, name); i++)
        name = arena_printf(edit->arena, "%s%d", wish, i);
    return name;
}

struct nest_symbol *nest_new_symbol(struct nest_edit *edit, enum nest_symbol_kind kind,
                                    const char *wish, const char *type)
{
    struct nest *nest = edit->nest;
    struct nest_symbol *symbol = arena_alloc(edit->arena, sizeof *symbol);
    *symbol = (struct nest_symbol){.kind = kind,
                                   .name = nest_new_name(edit, wish),
                                   .type = type,
                                   .is_integer = type_is_integer(type),
                                   .argument = -1};
    struct nest_symbol **symbols =
        arena_array(edit->arena, nest->symbol_count + 1, sizeof *symbols);
    if (nest->symbol_count > 0)
        memcpy(symbols, nest->symbols, nest->symbol_count * sizeof *symbols);
    symbols[nest->symbol_count++] = symbol;
    nest->symbols = symbols;
    return symbol;
}

/* --- a step's words ----------------------------------------------------------------------------
 */

bool nest_step_count(const struct nest_edit *edit, const struct nest_step *step, size_t least,
                     size_t most, const char **refusal)
{
    if (step->arg_count >= least && step->arg_count <= most)
        return true;
    const struct nest_move *move = nest_move_find(step->name);
    return nest_refuse(edit, refusal, "'%s' is not of the form %s", step->text,
                       move ? move->parameters : step->name);
}

struct nest_stmt *nest_step_loop(const struct nest_edit *edit, const struct nest_step *step,
                                 size_t arg, const char **refusal)
{
    struct nest_stmt *loop =
        arg < step->arg_count ? nest_find_loop(edit->nest, step->args[arg].name) : NULL;
    if (!loop)
        (void)nest_refuse(edit, refusal, "there is no loop '%s'",
                          arg < step->arg_count ? step->args[arg].name : "");
    return loop;
}

struct nest_symbol *nest_step_symbol(const struct nest_edit *edit, const struct nest_step *step,
                                     size_t arg, const char **refusal)
{
    for (size_t i = 0; arg < step->arg_count && i < edit->nest->symbol_count; i++) {
        struct nest_symbol *symbol = edit->nest->symbols[i];
        if (!str_equal(symbol->name, step->args[arg].name))
            continue;
        for (size_t k = 0; symbol->same && k < edit->nest->symbol_count; k++)
            if (edit->nest->symbols[k] == symbol->same)
                return edit->nest->symbols[k];
        return symbol;
    }
    (void)nest_refuse(edit, refusal, "there is no array or variable '%s'",
                      arg < step->arg_count ? step->args[arg].name : "");
    return NULL;
}

bool nest_step_number(const struct nest_edit *edit, const struct nest_step *step, size_t arg,
                      int64_t least, int64_t *out, const char **refusal)
{
    const int64_t number = arg < step->arg_count ? step->args[arg].number : 0;
    if (number < least || number > NEST_MAX_FACTOR)
        return nest_refuse(edit, refusal, "'%s' needs a number from %lld to %d", step->text,
                           (long long)least, NEST_MAX_FACTOR);
    *out = number;
    return true;
}

/* --- loops -------------------------------------------------------------------------------------
 */

const struct nest_expr *nest_end(const struct nest_edit *edit, const struct nest_stmt *loop)
{
    if (str_equal(loop->op, "<"))
        return loop->bound;
    if (str_equal(loop->op, "<="))
        return nest_index(edit, "+", loop->bound, nest_number(edit, 1));
    return NULL;
}

int64_t nest_trip_count(const struct nest_edit *edit, const struct nest_stmt *loop)
{
    int64_t from = 0;
    int64_t end = 0;
    const struct nest_expr *bound = nest_end(edit, loop);
    if (!bound || !nest_is_number(loop->from, &from) || !nest_is_number(bound, &end))
        return -1;
    return end <= from ? 0 : (end - from + loop->step - 1) / loop->step;
}
