/*
 * Moves on loop nests: named steps that change a nest and keep its meaning.
 *
 * A *step* is text: "interchange(i,j)", "tile(i:32,j:64)", "pack(b:p)"; the words in parentheses
 * are names of loops, arrays or variables, each with a value after a ':' where the move takes one.
 * A *sequence* is steps joined by ';'. A sequence and the nest it begins from are all that a
 * result depends on, so `reference + sequence` is replayable and the key of experience.
 *
 * A move says in words why it does not apply ("dependence on y carried by i, distance (1, -1)"):
 * what it refuses is refused because the result could differ, never because it might not pay. What
 * changes results in the last digits asks the task first (nest_allow). The registry is a visible
 * table in nest/registry.c; each move is one file, nest/move_NAME.c. See docs/adding-a-move.md.
 * Memory: the arena's that was given. Threads: pure; any.
 */
#ifndef KOPE_MOVES_NEST_MOVE_H
#define KOPE_MOVES_NEST_MOVE_H

#include "moves/moves.h"
#include "moves/nest.h"

enum {
    NEST_STEP_MAX_ARGS = 8,
    NEST_MAX_STEPS = 64,
    NEST_MAX_STEPS_BYTES = 2000,
    NEST_MAX_FACTOR = 65536 /* of a tile, an unrolling, a number of lanes */
};

/* What a move may know of the machine; 0 or NULL: unknown. */
struct nest_target {
    int64_t vector_bytes;
    int64_t cache_bytes[3]; /* of one core, nearest first */
    const char *family;     /* of the compiler: "gcc", "clang" */
    const char *isa; /* extensions with commas between: "avx2,avx512_vnni"; NULL: not known */
};

struct moves_env;
/* What moves may know, where `compiler` compiles. */
struct nest_target nest_target_of(const struct moves_env *env, const char *compiler);

struct nest_step_arg {
    const char *name;  /* "i", "b", or a number as text */
    const char *value; /* what follows the ':'; NULL */
    int64_t number;    /* the value, or a name that is a number; 0: it is none */
};

struct nest_step {
    const char *text; /* as written */
    const char *name;
    struct nest_step_arg args[NEST_STEP_MAX_ARGS];
    size_t arg_count;
};

/* A nest under change: a deep copy, whose statements and symbols the moves own. Every local name is
 * unique in it, and a loop's counter is called as the loop. */
struct nest_edit {
    struct nest *nest;
    struct arena *arena;
    struct nest_target target;
};

struct nest_move {
    const char *name;
    const char *group;        /* "structure", "data", "arithmetic", "machine" */
    const char *intent;       /* a sentence */
    const char *parameters;   /* "tile(LOOP:SIZE, ...); SIZE from 2, such that what one tile reads
                                 fits a cache" */
    const char *precondition; /* in words */
    const char *effect;       /* what to expect */
    const char *breaks;       /* what it can break or cost; "" */
    enum numerics numerics;   /* of what it always does; what depends on the nest asks itself */
    /* Changes edit->nest; false with the refusal in words, and then the nest is thrown away. */
    bool (*apply)(struct nest_edit *edit, const struct nest_step *step, const char **refusal);
    /* Sensible steps for a nest (as nest_apply gives it), best first, at most `capacity`; how many.
     * They may be refused. NULL: none by itself. */
    size_t (*suggest)(const struct nest *nest, const struct nest_target *target,
                      struct arena *arena, const char **out, size_t capacity);
};

/* All moves, in the order in which they are worth trying. */
const struct nest_move *const *nest_moves(size_t *count);
const struct nest_move *nest_move_find(const char *name);

/* Reads "name(a,b:4)"; false and the reason in words. */
bool nest_step_parse(const char *text, struct arena *arena, struct nest_step *out,
                     const char **refusal);

/* Applies a sequence to a copy of `from`. False with the refusal, which begins with the step that
 * is refused where there are several. */
bool nest_apply(const struct nest *from, const char *steps, const struct nest_target *target,
                struct arena *arena, struct nest **out, const char **refusal);

/* A deep copy: nothing in it is shared with `from` but texts and the task. */
struct nest *nest_clone(const struct nest *from, struct arena *arena);

/* Calls `say` for what each move suggests for the nest as it is, with the refusal or NULL where it
 * applies: a few steps of each move. */
void nest_explain_moves(const struct nest *nest, const struct nest_target *target,
                        struct arena *arena,
                        void (*say)(void *context, const char *step, const char *refusal),
                        void *context);

/* May results change in this way? The task's precision class says; false with the refusal. */
bool nest_allow(const struct nest_edit *edit, enum numerics numerics, const char **refusal);

#endif
