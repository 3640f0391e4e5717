/* Inside vector_*.c: what is known of a body while it becomes vector code. */
#ifndef KOPE_MOVES_NEST_VECTOR_INTERNAL_H
#define KOPE_MOVES_NEST_VECTOR_INTERNAL_H

#include "moves/nest/edit.h"
#include "moves/nest/vector.h"

enum { VECTOR_MAX_VARIABLES = 64, VECTOR_MAX_LOADS = 128 };

/* Which of the rounds that are put together: for each tile from 0 to its copies. */
struct instance {
    int64_t at[VECTOR_MAX_TILES];
};

enum gather { GATHER_NONE, GATHER_SUM, GATHER_LARGEST, GATHER_SMALLEST };

/* A variable of reals that differs between the rounds. */
struct lane_variable {
    const struct nest_symbol *symbol;
    unsigned mask;      /* of the tiles, a bit each, on which it depends */
    enum gather gather; /* declared outside: how its accumulators come together */
    struct nest_symbol *copies[VECTOR_MAX_COPIES];
};

/* A load that is made already in this statement. */
struct lane_load {
    const struct nest_expr *load;
    const struct nest_symbol *symbol;
};

struct lanes {
    struct nest_edit *edit;
    const struct vector_tiles *tiles;
    int64_t lanes;
    int64_t copies[VECTOR_MAX_TILES]; /* rounds of the loop, of the vector one over its lanes */
    unsigned vector_bit;
    const char **refusal;
    struct lane_variable variables[VECTOR_MAX_VARIABLES];
    size_t variable_count;
    struct lane_load loads[VECTOR_MAX_LOADS];
    size_t load_count;
    bool may_name_loads; /* this statement has several instances */
    struct nest_stmt **tail;
};

struct lane_variable *lanes_find(struct lanes *l, const struct nest_symbol *symbol);
/* The tiles on which an expression depends. */
unsigned lanes_mask(struct lanes *l, const struct nest_expr *expr);
/* The copy of a variable in an instance. */
size_t lanes_copy(const struct lanes *l, unsigned mask, const struct instance *at);
int64_t lanes_instances(const struct lanes *l, unsigned mask);
/* Goes through the instances of `mask` over what is fixed in `at`; false after the last. */
bool lanes_advance(const struct lanes *l, unsigned mask, struct instance *at);
void lanes_emit(struct lanes *l, struct nest_stmt *stmt);

/* The expression in an instance; a vector where it depends on the vector loop. NULL with the
 * refusal. */
const struct nest_expr *lanes_value(struct lanes *l, const struct nest_expr *expr,
                                    const struct instance *at);
/* The same as a vector in any case. */
const struct nest_expr *lanes_vector(struct lanes *l, const struct nest_expr *expr,
                                     const struct instance *at);
/* A value as it may stand beside a vector in an operation: of type real, or a vector already. What
 * C would do in double is done in the lanes' type where the task lets results change; NULL with the
 * refusal. */
const struct nest_expr *lanes_beside(struct lanes *l, const struct nest_expr *expr);
/* What does not depend on the vector loop: counters and variables of the instance. */
const struct nest_expr *lanes_scalar(struct lanes *l, const struct nest_expr *expr,
                                     const struct instance *at);
/* Do neighbouring rounds of the vector loop touch neighbours by the access, which depends on it? */
bool lanes_are_neighbours(struct lanes *l, const struct nest_expr *access);
/* An element, or the vector at it, to be assigned. */
const struct nest_expr *lanes_place(struct lanes *l, const struct nest_expr *access,
                                    const struct instance *at);

/* Finds the variables and on what they depend; conditions on lanes become selections. */
bool lanes_analyse(struct lanes *l, struct nest_stmt *body);

/* Calls of functions of <math.h> that have a vector form: its name, or NULL. */
const char *vector_function(const struct nest_edit *edit, const char *name);

#endif
