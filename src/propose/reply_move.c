/* A named move, materialised on the parent's recipe as the offline proposer would. */
#include "propose/reply.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

static const struct move *find_move(const struct reply_scope *scope, const char *name)
{
    for (size_t i = 0; i < scope->catalogue_count; i++) {
        if (str_equal(scope->catalogue[i].name, name))
            return &scope->catalogue[i];
    }
    return NULL;
}

static bool is_word(const struct json *value)
{
    return value && value->type == JSON_STRING && value->string_length > 0 &&
           value->string_length <= REPLY_MAX_NAME_BYTES &&
           strspn(value->string, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "-_+.,=") == value->string_length;
}

/* Does the move set this field ("unroll" of "unroll=loops tile=32?")? */
static bool sets_field(const struct move *move, const char *field, size_t length)
{
    for (const char *word = move->changes; *word != '\0';) {
        word += strspn(word, " ");
        if (strncmp(word, field, length) == 0 && word[length] == '=')
            return true;
        word += strcspn(word, " ");
    }
    return false;
}

/* The recipe's text with `field=value` in place of what it says of the field. */
static const char *set_field(const char *recipe, const char *parameter, size_t length,
                             struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    bool is_set = false;
    for (const char *word = recipe; *word != '\0';) {
        const size_t word_length = strcspn(word, " ");
        const bool is_it = strncmp(word, parameter, length) == 0 && word[length] == '=';
        (void)buf_append_str(&text, text.length == 0 ? "" : " ");
        if (is_it)
            (void)buf_append_str(&text, parameter);
        else
            (void)buf_append(&text, word, word_length);
        is_set = is_set || is_it;
        word += word_length + strspn(word + word_length, " ");
    }
    if (!is_set)
        (void)buf_printf(&text, " %s", parameter);
    return arena_strdup(arena, buf_text(&text));
}

/* NULL, or why the parameters are refused. */
static const char *set_parameters(const struct json *parameters, const struct move *move,
                                  const struct reply_scope *scope, struct arena *arena,
                                  const struct recipe **recipe)
{
    struct err err = {0};
    const char *text = recipe_text(*recipe, arena);
    for (const struct json *item = parameters ? parameters->first : NULL; item; item = item->next) {
        const size_t length = strcspn(item->string, "=");
        if (item->string[length] != '=' || !sets_field(move, item->string, length))
            return arena_printf(arena, "move '%s' has no parameter '%s'", move->name, item->string);
        text = set_field(text, item->string, length, arena);
    }
    if (!recipe_parse(scope->moves, text, arena, recipe, &err))
        return arena_printf(arena, "move '%s' refuses its parameters: %s", move->name, err.message);
    return NULL;
}

static const char *check_shape(const struct json *move, struct arena *arena)
{
    const struct json *parameters = json_get(move, "parameters");
    if (move->type != JSON_OBJECT || !is_word(json_get(move, "name")))
        return "\"move\" is not {\"name\": text, \"parameters\": [text, ...]}";
    for (const struct json *item = move->first; item; item = item->next) {
        if (!str_equal(item->key, "name") && !str_equal(item->key, "parameters"))
            return arena_printf(arena, "\"move\" has a key \"%.40s\" that is not asked for",
                                item->key);
    }
    if (!parameters || parameters->type == JSON_NULL)
        return NULL;
    if (parameters->type != JSON_ARRAY || parameters->count > REPLY_MAX_PARAMETERS)
        return arena_printf(arena, "\"parameters\" is not an array of at most %d texts",
                            REPLY_MAX_PARAMETERS);
    for (const struct json *item = parameters->first; item; item = item->next) {
        if (!is_word(item))
            return "\"parameters\" has an item that is not like \"unroll=loops\"";
    }
    return NULL;
}

const char *reply_apply_move(const struct json *move, const struct reply_scope *scope,
                             struct arena *arena, struct proposal *out, bool *is_malformed)
{
    struct err err = {0};
    const char *problem = check_shape(move, arena);
    *is_malformed = problem != NULL;
    if (problem)
        return problem;
    const char *name = json_string(json_get(move, "name"), "");
    const struct json *parameters = json_get(move, "parameters");
    const struct move *found = find_move(scope, name);
    const char *from = scope->parent ? scope->parent->recipe : NULL;
    const struct recipe *recipe = NULL;
    const char *refusal = NULL;
    if (!scope->moves || !found)
        return arena_printf(arena, "there is no move '%s' here", name);
    if (!from || from[0] == '\0')
        return arena_printf(
            arena, "move '%s' is refused: the current source is free-form, moves act on a recipe",
            name);
    if (!recipe_parse(scope->moves, from, arena, &recipe, &err))
        return arena_printf(arena, "move '%s' is refused: %s", name, err.message);
    if (!move_apply(scope->moves, found, recipe, arena, &recipe, &refusal))
        return arena_printf(arena, "move '%s' is refused: %s", name, refusal);
    problem = set_parameters(parameters && parameters->type == JSON_ARRAY ? parameters : NULL,
                             found, scope, arena, &recipe);
    if (problem)
        return problem;
    if (!recipe_candidate(scope->moves, recipe, arena, &out->candidate, &err))
        return arena_printf(arena, "move '%s' is refused: %s", name, err.message);
    out->candidate.recipe = recipe_text(recipe, arena);
    out->moves[0] = arena_strdup(arena, found->name);
    out->move_count = 1;
    return NULL;
}
