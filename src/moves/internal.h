/*
 * Inside moves: a recipe is a compiler and, for each field, the number of the chosen option (or,
 * for a set, a bit for each). Option 0 is the plain one and a plain field is not printed; so a
 * recipe has exactly one text. fields.c is the table that text, flags, applicability and numerics
 * all come from: to add a flag, add an option there and a move in catalogue.c.
 */
#ifndef KOPE_MOVES_INTERNAL_H
#define KOPE_MOVES_INTERNAL_H

#include "moves/edit.h"
#include "moves/moves.h"

#include <stdint.h>

enum field {
    FIELD_OPT,
    FIELD_MARCH,
    FIELD_MTUNE,
    FIELD_WIDTH,
    FIELD_FAST,
    FIELD_CONTRACT,
    FIELD_UNROLL,
    FIELD_COST,
    FIELD_VECLIB,
    FIELD_POLLY,
    FIELD_GRAPHITE,
    FIELD_SINGLE,
    FIELD_RESTRICT,
    FIELD_FLATTEN,
    FIELD_SIMD,
    FIELD_TILE,
    FIELD_COUNT
};

struct recipe {
    const char *compiler;
    const char *nest;        /* steps on the loop nest (nest_move.h); NULL: none */
    const char *nest_text;   /* the reference after them ... */
    const char *nest_family; /* ... for compilers of this family */
    unsigned value[FIELD_COUNT];
};

/* What an option does to results, as bits: several can meet in one recipe. */
enum {
    EFFECT_REASSOCIATE = 1 << 0,
    EFFECT_APPROXIMATE = 1 << 1,
    EFFECT_FINITE_ONLY = 1 << 2,
};

enum requirement {
    REQUIRE_NOTHING,
    REQUIRE_POLLY,
    REQUIRE_GRAPHITE,
    REQUIRE_FLOAT32,
    REQUIRE_FLOAT
};

struct option {
    const char *name;
    const char *gcc, *clang; /* flags, separated by spaces; NULL: that family does not have it */
    unsigned effect;
    enum requirement requires;
    int number; /* vector bits or strip width where the option is one */
};

enum { FIELD_MAX_OPTIONS = 8 };

struct field_info {
    const char *name;
    bool is_set; /* options are bits and combine; none of them is plain */
    bool always; /* printed even where plain */
    struct option options[FIELD_MAX_OPTIONS]; /* ends with a NULL name */
};

const struct field_info *field_info(enum field field);
bool field_find(const char *name, size_t length, enum field *out);
/* The bit or number of an option by name. */
bool field_option(enum field field, const char *name, size_t length, unsigned *out);

/* The compiler of that name in env; NULL. */
const struct moves_compiler *moves_find_compiler(const struct moves_env *env, const char *name);

/* Why this option cannot be used with the recipe's compiler and the task; NULL where it can. */
const char *option_refusal(const struct moves_env *env, const struct moves_compiler *compiler,
                           const struct option *option, struct arena *arena);

/* Effect bits of the whole recipe. */
unsigned recipe_effects(const struct recipe *recipe);

/* Why the task does not allow these effects; NULL where it does. */
const char *effects_refusal(const struct task *task, unsigned effects, struct arena *arena);

/* Gives the recipe these steps in place of its own; false with the refusal, and the recipe as it
 * was. */
bool recipe_set_nest(const struct moves_env *env, struct recipe *recipe, const char *steps,
                     struct arena *arena, const char **refusal);
/* The same with one more sequence behind what it has. */
bool recipe_add_nest(const struct moves_env *env, struct recipe *recipe, const char *steps,
                     struct arena *arena, const char **refusal);

/* The same steps with a size changed, by the name of the change (nest/sizes.h). */
bool recipe_resize_nest(const struct moves_env *env, struct recipe *recipe, const char *change,
                        struct arena *arena, const char **refusal);
bool recipe_check_sizes(const char *change);

/* All of moves_catalogue, made anew. */
bool catalogue_make(const struct moves_env *env, struct arena *arena, const struct move **out,
                    size_t *out_count);

/* The catalogue's moves on the nest of env's task, best first; at most `capacity`. */
enum { CATALOGUE_MAX_NEST = 48, CATALOGUE_MAX_STEPS = 40 };
size_t catalogue_nest(const struct moves_env *env, struct arena *arena, struct move *out,
                      size_t capacity);

/* Single steps on it and changes of sizes, to try on top of others. */
size_t catalogue_nest_steps(const struct moves_env *env, struct arena *arena, struct move *out,
                            size_t capacity);

/* Are these steps of a form and a name that exist? Whether they apply here, recipe_normalise says.
 */
bool recipe_check_nest(const char *steps, struct arena *arena);

/* Options that the recipe's compiler or the task cannot have go back to plain. False with the
 * refusal where the steps on the nest do not apply: nothing else stands for them. */
bool recipe_normalise(const struct moves_env *env, struct recipe *recipe, struct arena *arena,
                      const char **refusal);

/* The reference with the recipe's edits; an edit that finds nothing is left out, and `skipped` (a
 * field's bit) says so. */
const char *recipe_source(const struct moves_env *env, const struct recipe *recipe,
                          struct arena *arena, unsigned *skipped, const char **refusal);

#endif
