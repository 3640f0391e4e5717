/*
 * What a mechanism that was taken out of an expert's kernel is as a skill: name, intent, where it
 * can pay, what it can break, and the words of a recipe that put it back, where there are some.
 * One row a mechanism, so that the same thing learned from two experts is one skill.
 */
#ifndef KOPE_SKILL_MECHANISM_H
#define KOPE_SKILL_MECHANISM_H

#include "moves/inverse.h"
#include "skill/skill.h"

/* A skill without example and id. `what`: which one, as inverse_edit has it; of a flag the flag.
 * With a change it is for any task; without, its example is all that can be shown, and the name
 * says where it is from. */
void skill_of_mechanism(enum mechanism mechanism, const char *what, const char *task_name,
                        struct arena *arena, struct graph_skill *out);
/* The loops of an expert's kernel, told as moves by name ("nest-vectors-4,compiler-clang-19") that
 * come to as much on the plain reference: for tasks with the same kind of loops, by facts. */
void skill_of_structure(const char *moves, const struct skill_facts *facts, const char *task_name,
                        struct arena *arena, struct graph_skill *out);
/* The same without its change: an example only. */
void skill_as_example(struct graph_skill *skill, const char *task_name, struct arena *arena);

#endif
