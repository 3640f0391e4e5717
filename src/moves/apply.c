#include "moves/internal.h"

#include "base/str.h"

#include <string.h>

/* A move at work: the recipe that it makes and what of it must not be left out. */
struct change {
    const struct moves_env *env;
    struct arena *arena;
    const struct moves_compiler *compiler;
    struct recipe recipe;
    unsigned must[FIELD_COUNT]; /* values (bits of a set) that are not optional */
    const char *refusal;
};

static bool refuse(struct change *change, const char *why)
{
    change->refusal = why;
    return false;
}

/* One option of a word: "associative" or "finite-only?". */
static bool set_option(struct change *change, enum field field, const char *name, size_t length)
{
    const bool is_optional = length > 0 && name[length - 1] == '?';
    unsigned value = 0;
    if (!field_option(field, name, length - (is_optional ? 1 : 0), &value))
        BUG("move sets unknown '%.*s'", (int)length, name);
    const struct field_info *info = field_info(field);
    unsigned index = value;
    if (info->is_set)
        for (index = 0; !((value >> index) & 1u);)
            index++;
    const struct option *option = &info->options[index];
    const char *why = option_refusal(change->env, change->compiler, option, change->arena);
    if (!why)
        why = effects_refusal(change->env->task, option->effect, change->arena);
    if (why)
        return is_optional || refuse(change, why);
    change->recipe.value[field] = info->is_set ? change->recipe.value[field] | value : value;
    if (!is_optional)
        change->must[field] = info->is_set ? change->must[field] | value : value;
    return true;
}

/* The beginnings of "compiler-clang-19" and "compiler-clang-16" are the same. */
static size_t before_version(const char *name)
{
    static const char *const families[] = {"-clang-", "-gcc-"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const char *at = strstr(name, families[i]);
        const size_t length = strlen(families[i]);
        if (at && at[length] != '\0' && at[length + strspn(at + length, "0123456789")] == '\0')
            return (size_t)(at - name) + length;
    }
    return 0;
}

/* Of that name, or the first one for another version of the compiler that it names. */
static const struct move *find_move(const struct move *moves, size_t count, const char *name)
{
    const size_t length = before_version(name);
    for (size_t i = 0; i < count; i++) {
        if (str_equal(moves[i].name, name))
            return &moves[i];
    }
    for (size_t i = 0; length > 0 && i < count; i++) {
        if (before_version(moves[i].name) == length && strncmp(moves[i].name, name, length) == 0)
            return &moves[i];
    }
    return NULL;
}

static bool set_words(struct change *change, const char *words);

/* "vectorize,nest-vectors-4": what these moves of the task set. They name no others in turn. */
static bool do_moves(struct change *change, const char *names)
{
    const struct move *moves = NULL;
    size_t count = 0;
    if (!moves_catalogue(change->env, change->arena, &moves, &count))
        return refuse(change, "this task has no moves");
    for (const char *at = names;; at++) {
        const size_t length = strcspn(at, ",");
        const char *name = arena_strndup(change->arena, at, length);
        const struct move *move = find_move(moves, count, name);
        if (!move)
            return refuse(change,
                          arena_printf(change->arena, "there is no move '%s' for this task", name));
        if (!set_words(change, move->changes))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

static bool set_word(struct change *change, const char *word)
{
    const char *equal = strchr(word, '=');
    if (!equal)
        BUG("move sets '%s'", word);
    if (str_starts_with(word, "compiler=")) {
        change->compiler = moves_find_compiler(change->env, equal + 1);
        if (!change->compiler)
            return refuse(change,
                          arena_printf(change->arena, "%s is not on this machine", equal + 1));
        change->recipe.compiler = change->compiler->name;
        return true;
    }
    if (str_starts_with(word, "whole-nest="))
        return recipe_set_nest(change->env, &change->recipe, equal + 1, change->arena,
                               &change->refusal);
    if (str_starts_with(word, "nest="))
        return recipe_add_nest(change->env, &change->recipe, equal + 1, change->arena,
                               &change->refusal);
    if (str_starts_with(word, "sizes="))
        return recipe_resize_nest(change->env, &change->recipe, equal + 1, change->arena,
                                  &change->refusal);
    if (str_starts_with(word, "do="))
        return do_moves(change, equal + 1);
    enum field field = FIELD_COUNT;
    if (!field_find(word, (size_t)(equal - word), &field))
        BUG("move sets '%s'", word);
    for (const char *name = equal + 1;; name++) {
        const size_t length = strcspn(name, ",");
        if (!set_option(change, field, name, length))
            return false;
        name += length;
        if (!*name)
            return true;
    }
}

static bool set_words(struct change *change, const char *words)
{
    while (*(words += strspn(words, " "))) {
        const size_t length = strcspn(words, " ");
        if (!set_word(change, arena_strndup(change->arena, words, length)))
            return false;
        words += length;
    }
    return true;
}

/* Leaves out what edits nothing; false where the move must have it. */
static bool settle_edits(struct change *change)
{
    unsigned skipped = 0;
    const char *why = NULL;
    struct recipe *recipe = &change->recipe;
    (void)recipe_source(change->env, recipe, change->arena, &skipped, &why);
    for (int f = 0; f < FIELD_COUNT; f++) {
        if (!(skipped & (1u << f)))
            continue;
        if (change->must[f])
            return refuse(change, why);
        recipe->value[f] = 0;
    }
    const char *text = recipe_source(change->env, recipe, change->arena, &skipped, &why);
    for (unsigned bit = 1; bit <= recipe->value[FIELD_SIMD]; bit <<= 1) {
        if (!(recipe->value[FIELD_SIMD] & bit))
            continue;
        struct recipe without = *recipe;
        without.value[FIELD_SIMD] &= ~bit;
        if (!str_equal(text, recipe_source(change->env, &without, change->arena, &skipped, &why)))
            continue;
        if (change->must[FIELD_SIMD] & bit)
            return refuse(change, "no innermost loop of that kind is found");
        *recipe = without;
    }
    return true;
}

/* Polly looks at loops in vectors for minutes, to no end, and clang 14's falls over them. */
static bool keep_polly_apart(struct change *change)
{
    struct recipe *recipe = &change->recipe;
    if (!recipe->nest || !recipe->nest_text || !strstr(recipe->nest_text, "vreal_at(") ||
        recipe->value[FIELD_POLLY] == 0)
        return true;
    if (change->must[FIELD_POLLY])
        return refuse(change, "the loops are in vectors already: polly has nothing to do");
    recipe->value[FIELD_POLLY] = 0;
    return true;
}

bool move_apply(const struct moves_env *env, const struct move *move, const struct recipe *from,
                struct arena *arena, const struct recipe **out, const char **refusal)
{
    struct change change = {.env = env,
                            .arena = arena,
                            .compiler = moves_find_compiler(env, from->compiler),
                            .recipe = *from};
    if (!change.compiler) {
        *refusal = arena_printf(arena, "%s is not on this machine", from->compiler);
        return false;
    }
    if (!set_words(&change, move->changes)) {
        *refusal = change.refusal;
        return false;
    }
    if (!recipe_normalise(env, &change.recipe, arena, refusal))
        return false;
    if (!keep_polly_apart(&change) || !settle_edits(&change)) {
        *refusal = change.refusal;
        return false;
    }
    if (str_equal(recipe_text(&change.recipe, arena), recipe_text(from, arena))) {
        *refusal = "nothing changes: it is so already, or no part of it applies";
        return false;
    }
    *out = arena_memdup(arena, &change.recipe, sizeof change.recipe);
    return true;
}

/* Of "a,b?,c", each once where the field is no set only one. */
static bool check_options(enum field field, const char *names)
{
    unsigned seen = 0;
    for (const char *name = names;; name++) {
        const size_t length = strcspn(name, ",");
        const bool is_optional = length > 0 && name[length - 1] == '?';
        unsigned value = 0;
        if (!field_option(field, name, length - (is_optional ? 1 : 0), &value) ||
            (!field_info(field)->is_set && seen) || (seen & value))
            return false;
        seen |= field_info(field)->is_set ? value : 1u;
        name += length;
        if (!*name)
            return true;
    }
}

/* Of "vectorize,nest-vectors-4": names, none of them empty. */
enum { MOST_NAMES = 16 };
static bool check_names(const char *names)
{
    size_t count = 0;
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.+_";
    for (const char *at = names;; at++) {
        const size_t length = strspn(at, letters);
        if (length == 0 || (at[length] != ',' && at[length] != '\0') || ++count > MOST_NAMES)
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

static bool check_word(const char *word, struct arena *arena)
{
    const char *equal = strchr(word, '=');
    enum field field = FIELD_COUNT;
    if (!equal || equal[1] == '\0')
        return false;
    if (str_starts_with(word, "compiler="))
        return true;
    if (str_starts_with(word, "nest=") || str_starts_with(word, "whole-nest="))
        return recipe_check_nest(equal + 1, arena);
    if (str_starts_with(word, "sizes="))
        return recipe_check_sizes(equal + 1);
    if (str_starts_with(word, "do="))
        return check_names(equal + 1);
    return field_find(word, (size_t)(equal - word), &field) && check_options(field, equal + 1);
}

bool moves_check_changes(const char *changes, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    if (strlen(changes) > MOVES_MAX_CHANGES)
        return err_set(err, ERR_BAD_INPUT, "a change of more than %d bytes",
                       (int)MOVES_MAX_CHANGES);
    const char *names = strstr(changes, "do=");
    if (names && (names != changes || strstr(names + 1, "do=")))
        return err_set(err, ERR_BAD_INPUT, "'do=' comes once, as the first word of a change");
    while (*(changes += strspn(changes, " "))) {
        const size_t length = strcspn(changes, " ");
        const char *word = arena_strndup(&scratch, changes, length);
        if (!check_word(word, &scratch)) {
            (void)err_set(err, ERR_BAD_INPUT, "'%.80s' is no change of a recipe", word);
            return err_hint(err, "such as 'fast=no-errno,associative? unroll=loops'");
        }
        changes += length;
    }
    return true;
}
