/* Inside engine/: the state of a walk from an expert's kernel back to the reference. */
#ifndef KOPE_ENGINE_LINEAGE_H
#define KOPE_ENGINE_LINEAGE_H

#include "engine/skill_store.h"

#include "moves/inverse.h"

enum { WALK_MAX_REFUSED = 256 };

struct walk {
    struct run run;
    const struct skill_learn_opts *opts;
    struct skill_facts facts;
    struct candidate expert, current;
    const char *refused[WALK_MAX_REFUSED]; /* "mechanism what": not tried again */
    size_t refused_count;
    struct lineage_step *steps;
    size_t count, capacity;
    struct skill_lineage *out;
};

/* Two candidates, and what came of timing them: positive is b faster. */
struct duel {
    struct gate_contest *contest; /* NULL: one of them is not right */
    struct verdict checks[2], timed;
    int sign, held_out_sign;
};
bool duel_open(struct walk *w, const struct candidate *a, const struct candidate *b,
               struct duel *duel, struct err *err);
/* A host that is busy for a while is asked again: that is no answer. */
bool duel_time(struct walk *w, struct duel *duel, struct err *err);
void duel_close(struct duel *duel);

/* Does the step forward regain 99 % of that candidate, in every trial? The same machine code does
 * by definition. */
bool walk_regains(struct walk *w, const struct candidate *lost, const struct candidate *forward,
                  bool *does, struct err *err);

/* A refusal is told, and kept where there is a skill that it is a failure of. */
bool walk_refuse(struct walk *w, const struct inverse_edit *edit, const struct verdict *verdict,
                 const char *text, struct err *err);

/* The skill with what the duel of `predecessor` against the walk's current candidate measured, and
 * whether new data on held-out shapes admit it. */
bool walk_keep(struct walk *w, const struct inverse_edit *edit, struct duel *duel,
               const struct candidate *predecessor, struct graph_skill *skill, struct err *err);

/* The last step: the whole expert, told as moves on the plain reference. A few orders of moves are
 * judged, and the fastest has to regain it. Nothing where the walk was interrupted or has done its
 * steps. */
bool walk_retell(struct walk *w, struct err *err);

#endif
