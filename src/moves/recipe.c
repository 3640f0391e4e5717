#include "moves/internal.h"

#include "base/buf.h"
#include "base/str.h"
#include "moves/nest_move.h"
#include "moves/source.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct recipe *recipe_plain(const struct moves_env *env, struct arena *arena)
{
    struct recipe *recipe = arena_alloc(arena, sizeof *recipe);
    recipe->compiler = arena_strdup(arena, env->default_compiler);
    return recipe;
}

char *recipe_text(const struct recipe *recipe, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = {0};
    (void)buf_printf(&text, "compiler=%s", recipe->compiler);
    if (recipe->nest)
        (void)buf_printf(&text, " nest=%s", recipe->nest);
    for (int f = 0; f < FIELD_COUNT; f++) {
        const struct field_info *info = field_info((enum field)f);
        const unsigned value = recipe->value[f];
        if (value == 0 && !info->always)
            continue;
        (void)buf_printf(&text, " %s=", info->name);
        if (!info->is_set) {
            (void)buf_append_str(&text, info->options[value].name);
            continue;
        }
        const char *separator = "";
        for (unsigned i = 0; i < FIELD_MAX_OPTIONS && info->options[i].name; i++) {
            if (!((value >> i) & 1u))
                continue;
            (void)buf_printf(&text, "%s%s", separator, info->options[i].name);
            separator = ",";
        }
    }
    return arena_strdup(arena, buf_text(&text));
}

/* "gcc" and 12 of "gcc-12"; 0 where there is no number. */
static int split_compiler(const char *name, struct arena *arena, const char **family)
{
    const char *dash = strrchr(name, '-');
    int64_t major = 0;
    if (!dash || !str_parse_int64(dash + 1, &major) || major < 0 || major > 10000)
        dash = NULL;
    *family = dash ? arena_strndup(arena, name, (size_t)(dash - name)) : name;
    return dash ? (int)major : 0;
}

/* The compiler itself or the nearest version of its family. */
static const struct moves_compiler *nearest_compiler(const struct moves_env *env, const char *name,
                                                     struct arena *arena)
{
    const struct moves_compiler *best = moves_find_compiler(env, name);
    if (best)
        return best;
    const char *family = NULL;
    const int major = split_compiler(name, arena, &family);
    for (size_t i = 0; i < env->compiler_count; i++) {
        const struct moves_compiler *c = &env->compilers[i];
        if (str_equal(c->family, family) &&
            (!best || abs(c->major - major) < abs(best->major - major)))
            best = c;
    }
    return best;
}

static bool bad_word(struct err *err, const char *word)
{
    (void)err_set(err, ERR_BAD_INPUT, "'%s' is not part of a recipe", word);
    return err_hint(err, "a recipe is a line such as 'compiler=gcc-12 opt=3 march=native'");
}

/* The value of a field: one option, or for a set several with commas between, each once. */
static bool parse_value(enum field field, const char *value, unsigned *out)
{
    if (!field_info(field)->is_set)
        return field_option(field, value, strlen(value), out);
    unsigned bits = 0;
    for (;;) {
        const size_t length = strcspn(value, ",");
        unsigned bit = 0;
        if (!field_option(field, value, length, &bit) || (bits & bit))
            return false;
        bits |= bit;
        if (!value[length])
            break;
        value += length + 1;
    }
    *out = bits;
    return true;
}

bool recipe_check_nest(const char *steps, struct arena *arena)
{
    if (strlen(steps) > NEST_MAX_STEPS_BYTES)
        return false;
    for (;;) {
        struct nest_step step;
        const char *refusal = NULL;
        const size_t length = strcspn(steps, ";");
        if (!nest_step_parse(arena_strndup(arena, steps, length), arena, &step, &refusal) ||
            !nest_move_find(step.name))
            return false;
        steps += length;
        if (*steps++ == '\0')
            return true;
    }
}

static bool parse_word(const struct moves_env *env, const char *word, struct arena *arena,
                       struct recipe *recipe, unsigned *seen, struct err *err)
{
    const char *equal = strchr(word, '=');
    if (!equal)
        return bad_word(err, word);
    const size_t length = (size_t)(equal - word);
    enum field field = FIELD_COUNT;
    if (length == strlen("compiler") && str_starts_with(word, "compiler=")) {
        const struct moves_compiler *compiler = nearest_compiler(env, equal + 1, arena);
        if (!compiler) {
            (void)err_set(err, ERR_UNSUPPORTED, "compiler '%s' is not on this machine", equal + 1);
            return err_hint(err, "install it, or choose a recipe of another compiler");
        }
        recipe->compiler = compiler->name;
    } else if (str_starts_with(word, "nest=")) {
        if (recipe->nest || !recipe_check_nest(equal + 1, arena))
            return bad_word(err, word);
        recipe->nest = equal + 1;
        return true;
    } else if (!field_find(word, length, &field) ||
               !parse_value(field, equal + 1, &recipe->value[field])) {
        return bad_word(err, word);
    }
    if (*seen & (1u << field))
        return bad_word(err, word);
    *seen |= 1u << field;
    return true;
}

bool recipe_parse(const struct moves_env *env, const char *text, struct arena *arena,
                  const struct recipe **out, struct err *err)
{
    struct recipe *recipe = arena_alloc(arena, sizeof *recipe);
    unsigned seen = 0;
    static_assert(FIELD_COUNT < 31, "a bit for each field and one for the compiler");
    while (*(text += strspn(text, " "))) {
        const size_t length = strcspn(text, " ");
        if (!parse_word(env, arena_strndup(arena, text, length), arena, recipe, &seen, err))
            return false;
        text += length;
    }
    if (!recipe->compiler) {
        (void)err_set(err, ERR_BAD_INPUT, "the recipe names no compiler");
        return err_hint(err, "begin it with 'compiler=%s'", env->default_compiler);
    }
    const char *refusal = NULL;
    if (!recipe_normalise(env, recipe, arena, &refusal)) {
        (void)err_set(err, ERR_UNSUPPORTED, "the recipe's steps on the loop nest do not apply: %s",
                      refusal);
        return err_hint(err, "'kope task explain' shows the nest and the steps that do");
    }
    *out = recipe;
    return true;
}

bool recipe_normalise(const struct moves_env *env, struct recipe *recipe, struct arena *arena,
                      const char **refusal)
{
    const struct moves_compiler *compiler = moves_find_compiler(env, recipe->compiler);
    if (!compiler)
        BUG("recipe of unknown compiler '%s'", recipe->compiler);
    if (recipe->nest &&
        !(recipe->nest_family && str_equal(recipe->nest_family, compiler->family)) &&
        !recipe_set_nest(env, recipe, recipe->nest, arena, refusal))
        return false;
    for (int f = 0; f < FIELD_COUNT; f++) {
        const struct field_info *info = field_info((enum field)f);
        for (unsigned i = 0; i < FIELD_MAX_OPTIONS && info->options[i].name; i++) {
            const bool is_chosen =
                info->is_set ? (recipe->value[f] >> i) & 1u : i > 0 && recipe->value[f] == i;
            if (is_chosen && option_refusal(env, compiler, &info->options[i], arena))
                recipe->value[f] = info->is_set ? recipe->value[f] & ~(1u << i) : 0;
        }
    }
    return true;
}

/* A call to a function that the compiler's vector library has. */
static bool calls_vector_function(const char *text, bool is_clang, struct arena *arena)
{
    struct tokens tokens;
    const char *why = NULL;
    if (!lex(text, arena, &tokens, &why))
        return false;
    for (size_t i = 0; i < tokens.count; i++)
        if (source_is_vector_function(&tokens, i, is_clang))
            return true;
    return false;
}

/* The text after one edit, or as it was where the edit finds nothing. */
static const char *run_edit(const struct moves_env *env, const struct recipe *recipe,
                            enum field field, const char *text, struct arena *arena,
                            const char **refusal)
{
    const struct task *task = env->task;
    const struct moves_compiler *compiler = moves_find_compiler(env, recipe->compiler);
    const bool is_clang = compiler && str_equal(compiler->family, "clang");
    const unsigned value = recipe->value[field];
    if (field == FIELD_TILE)
        return edit_tile(text, task, field_info(field)->options[value].number, arena, refusal);
    if (field == FIELD_SIMD)
        return edit_simd(text, task, value, arena, refusal);
    if (field == FIELD_RESTRICT)
        return edit_restrict(text, task, arena, refusal);
    if (field == FIELD_FLATTEN)
        return edit_flatten(text, task, arena, refusal);
    if (calls_vector_function(text, is_clang, arena))
        return is_clang ? text : edit_vector_math(text, arena, refusal);
    *refusal = arena_printf(arena, "the reference calls nothing that %s has as a vector function",
                            recipe->compiler);
    return NULL;
}

const char *recipe_source(const struct moves_env *env, const struct recipe *recipe,
                          struct arena *arena, unsigned *skipped, const char **refusal)
{
    /* Loops are reshaped before they are marked; what adds lines comes last. */
    static const enum field order[] = {FIELD_TILE, FIELD_SIMD, FIELD_RESTRICT, FIELD_FLATTEN,
                                       FIELD_VECLIB};
    const char *text = recipe->nest ? recipe->nest_text : env->task->reference;
    *skipped = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!recipe->value[order[i]])
            continue;
        const char *after = run_edit(env, recipe, order[i], text, arena, refusal);
        if (after)
            text = after;
        else
            *skipped |= 1u << order[i];
    }
    return text;
}

static bool add_flags(struct candidate *candidate, const char *flags, struct arena *arena)
{
    while (*flags) {
        const size_t length = strcspn(flags, " ");
        if (candidate->flag_count == CANDIDATE_MAX_FLAGS)
            return false;
        candidate->flags[candidate->flag_count++] = arena_strndup(arena, flags, length);
        flags += length;
        flags += strspn(flags, " ");
    }
    return true;
}

bool recipe_candidate(const struct moves_env *env, const struct recipe *recipe, struct arena *arena,
                      struct candidate *out, struct err *err)
{
    const struct moves_compiler *compiler = moves_find_compiler(env, recipe->compiler);
    if (!compiler)
        return err_set(err, ERR_UNSUPPORTED, "compiler '%s' is not on this machine",
                       recipe->compiler);
    const char *not_allowed = effects_refusal(env->task, recipe_effects(recipe), arena);
    if (not_allowed)
        return err_set(err, ERR_UNSUPPORTED, "%s", not_allowed);
    struct candidate candidate = {.compiler = arena_strdup(arena, recipe->compiler),
                                  .recipe = recipe_text(recipe, arena)};
    unsigned skipped = 0;
    const char *refusal = NULL;
    candidate.source = recipe_source(env, recipe, arena, &skipped, &refusal);
    if (strlen(candidate.source) > CANDIDATE_MAX_SOURCE_BYTES)
        return err_set(err, ERR_LIMIT, "the edited source has more than %d bytes",
                       (int)CANDIDATE_MAX_SOURCE_BYTES);
    const bool is_clang = strcmp(compiler->family, "clang") == 0;
    bool fits = true;
    for (int f = 0; f < FIELD_COUNT; f++) {
        const struct field_info *info = field_info((enum field)f);
        for (unsigned i = 0; i < FIELD_MAX_OPTIONS && info->options[i].name; i++) {
            const struct option *option = &info->options[i];
            const char *flags = is_clang ? option->clang : option->gcc;
            if (info->is_set ? (recipe->value[f] >> i) & 1u : recipe->value[f] == i)
                fits = add_flags(&candidate, flags, arena) && fits;
        }
    }
    if (recipe->value[FIELD_SIMD])
        fits = add_flags(&candidate, "-fopenmp-simd", arena) && fits;
    if (!fits)
        BUG("a recipe has more than %d flags", (int)CANDIDATE_MAX_FLAGS);
    *out = candidate;
    return true;
}
