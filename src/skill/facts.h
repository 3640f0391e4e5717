/*
 * Facts: what predicates of skills may ask of a task and a machine. Numbers, words, and sets of
 * words, each with a name; facts.c is the table. Taken from the task's description and from the
 * loop nest of its reference (moves/nest.h); where the reference is not understood, the facts of
 * its nest are 0 and `understood` is 0 too. Pure; texts are the arena's.
 */
#ifndef KOPE_SKILL_FACTS_H
#define KOPE_SKILL_FACTS_H

#include "base/arena.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fact_kind { FACT_NUMBER, FACT_WORD, FACT_SET };

enum fact {
    FACT_FAMILY,
    FACT_DTYPE,
    FACT_PRECISION,
    FACT_REGIME,
    FACT_ARCH,
    FACT_CALL,
    FACT_ISA,
    FACT_COMPILER,
    FACT_FLOAT,
    FACT_REASSOCIATE,
    FACT_APPROXIMATE,
    FACT_FINITE,
    FACT_THREADS,
    FACT_UNDERSTOOD,
    FACT_LOOPS,
    FACT_DEPTH,
    FACT_NESTS,
    FACT_STATEMENTS,
    FACT_OPAQUE,
    FACT_SUMS,
    FACT_EXTREMA,
    FACT_SCANS,
    FACT_CALLS,
    FACT_DIVISIONS,
    FACT_GATHERS,
    FACT_STRIDED,
    FACT_ACCESSES,
    FACT_INPUTS,
    FACT_OUTPUTS,
    FACT_VECTOR_BYTES,
    FACT_CORES,
    FACT_COUNT
};

struct skill_facts {
    double number[FACT_COUNT];
    const char *word[FACT_COUNT]; /* a set: ",a,b," */
};

struct fact_info {
    const char *name; /* as predicates call it */
    enum fact_kind kind;
    const char *help;
    bool is_of_machine;
};
const struct fact_info *fact_info(enum fact fact);
/* False where no fact has that name. */
bool fact_find(const char *name, size_t length, enum fact *out);

/* The facts of the task and its reference; those of the machine stay as they are. */
void skill_facts_of_task(const struct task *task, struct arena *arena, struct skill_facts *out);

/* What of a machine is asked; lists with commas between. */
struct skill_machine {
    const char *arch, *isa, *compilers;
    int64_t vector_bytes, cores;
};
void skill_facts_of_machine(const struct skill_machine *machine, struct arena *arena,
                            struct skill_facts *out);

/* A predicate that holds for tasks whose loops are of the same kind: as deep, with sums, extrema,
 * running sums, gathers, strides and calls where these have some, and nowhere else. (Of very many
 * functions that are called it asks for the first ones.) What a precision class has to allow, the
 * moves themselves ask. */
char *skill_facts_predicate(const struct skill_facts *facts, struct arena *arena);

/* Words for text search: "normalization float32 large exp sums extrema". */
char *skill_facts_words(const struct skill_facts *facts, struct arena *arena);

#endif
