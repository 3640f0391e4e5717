/*
 * Moves of the offline proposer.
 *
 * A *recipe* is the state that moves act on: compiler, steps on the loop nest (nest_move.h), flags
 * and edits of the text. It is a value, printed as one line
 * ("compiler=clang-19 nest=interchange(j,p);unroll(p:4) opt=3 march=native restrict=1") and read
 * back to the same value, so a candidate is `reference + recipe`: replayable, and the key by
 * which experience travels between tasks. A move changes one thing in a recipe; it says where it
 * applies and which class of numerics it needs. Pure; no I/O.
 */
#ifndef KOPE_MOVES_MOVES_H
#define KOPE_MOVES_MOVES_H

#include "base/arena.h"
#include "base/err.h"
#include "task/candidate.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>

/* What a move does to results; the task's precision class says what is allowed. */
enum numerics { NUMERICS_EXACT, NUMERICS_REASSOCIATE, NUMERICS_APPROXIMATE, NUMERICS_FINITE_ONLY };

struct recipe; /* opaque value in an arena; see recipe.h inside the module */

/* Compilers that the proposer may choose from (from the target's features). */
struct moves_compiler {
    const char *name, *family;
    int major;
    bool has_polly, has_graphite;
};

/* The catalogue, and what steps on a nest came to, so that they are applied once; one thread. In
 * the arena. */
struct moves_cache;
struct moves_cache *moves_cache_new(struct arena *arena);

struct moves_env {
    const struct task *task;
    const struct moves_compiler *compilers;
    size_t compiler_count;
    const char *default_compiler;
    int64_t vector_bytes;   /* widest SIMD register of the target; 0 unknown */
    int64_t cache_bytes[3]; /* of one core, nearest first; 0 unknown */
    const char *isa;        /* extensions of the target, with commas between; NULL unknown */
    struct moves_cache
        *cache; /* of this task; NULL: steps are applied whenever they are asked for */
};

struct move {
    const char *name;   /* "compiler-clang-19", "fast-reassociate": stable, the key of experience */
    const char *group;  /* moves of one group replace each other: "compiler", "unroll" */
    const char *intent; /* a sentence */
    const char *breaks; /* what it can break, "" */
    /* What it sets, in the words of a recipe: "fast=no-errno veclib=libmvec simd=map?"; options
     * with '?' are taken where they apply, the others must; sets grow.
     * "do=vectorize,nest-vectors-4" is what the moves of these names set on the task at hand; one
     * that names a compiler's version may be of another version here. */
    const char *changes;
    enum numerics numerics; /* the strongest of what must apply */
    double prior_log_ratio; /* expected gain before any experience, from docs/decisions */
};

/* The moves that exist on this machine, in a fixed order; where env has a cache they are made once,
 * in its arena. */
bool moves_catalogue(const struct moves_env *env, struct arena *arena, const struct move **out,
                     size_t *out_count);

/* The plain recipe: default compiler and flags, no edits. */
const struct recipe *recipe_plain(const struct moves_env *env, struct arena *arena);

/* Text form, canonical; and back: ERR_BAD_INPUT names the word that is wrong. A recipe whose
 * compiler is not on this machine is mapped to the nearest one of its family, else ERR_UNSUPPORTED.
 */
char *recipe_text(const struct recipe *recipe, struct arena *arena);
bool recipe_parse(const struct moves_env *env, const char *text, struct arena *arena,
                  const struct recipe **out, struct err *err);

/* Applies a move: a new recipe, or false with the refusal in words (a precondition, or it is
 * already so). */
bool move_apply(const struct moves_env *env, const struct move *move, const struct recipe *from,
                struct arena *arena, const struct recipe **out, const char **refusal);

/* Are these words such as `changes` of a move holds them, "do=" once and first? For words from
 * outside, of at most MOVES_MAX_CHANGES bytes; ERR_BAD_INPUT names the one that is wrong. ""
 * changes nothing and is well formed. */
enum { MOVES_MAX_CHANGES = 2000 };
bool moves_check_changes(const char *changes, struct err *err);

/* The words that give a build this flag ("fast=no-errno"), for gcc and clang alike; NULL where a
 * recipe has no such thing. */
const char *moves_change_of_flag(const char *flag, struct arena *arena);

/* The candidate of a recipe: the reference's text with its edits, the compiler, the flags, recipe
 * text. */
bool recipe_candidate(const struct moves_env *env, const struct recipe *recipe, struct arena *arena,
                      struct candidate *out, struct err *err);

#endif
