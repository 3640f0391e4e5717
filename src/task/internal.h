/*
 * What the files of the task module share: the expression tree, the state of a reader, name rules.
 */
#ifndef KOPE_TASK_INTERNAL_H
#define KOPE_TASK_INTERNAL_H

#include "base/buf.h"
#include "task/task.h"
#include "yaml/yaml.h"

enum {
    TASK_MAX_EXPR_BYTES = 512,
    TASK_MAX_LABEL_BYTES = 200,
    TASK_MAX_EXPR_DEPTH = 32, /* of parentheses, calls and signs */
};

/* All buffers of one case; a larger one is a mistake far more often than a wish. */
#define TASK_MAX_CASE_BYTES (INT64_C(1) << 30)
/* A size of an axis or of one dimension. */
#define TASK_MAX_EXTENT (INT64_C(1) << 40)

enum expr_op {
    EXPR_NUMBER,
    EXPR_AXIS,
    EXPR_REAL, /* value of a real attribute; never in a shape */
    EXPR_ADD,
    EXPR_SUBTRACT,
    EXPR_MULTIPLY,
    EXPR_DIVIDE,
    EXPR_REMAINDER,
    EXPR_MIN,
    EXPR_MAX,
    EXPR_CEILDIV,
    EXPR_OP_COUNT
};

/* A node: a leaf, or an operation on two others. */
struct task_expr {
    enum expr_op op;
    int64_t number; /* EXPR_NUMBER */
    double real;    /* EXPR_REAL */
    size_t axis;    /* EXPR_AXIS: index into task.axes */
    const struct task_expr *left, *right;
};

/* One task being read. */
struct task_reader {
    const struct yaml *root;
    struct task *task;
    struct arena *arena;
    struct err *err;
};

/* Parses the scalar `at`; names are the task's axes and attributes. Real attributes only where
 * `real_allowed`. An error points at the place inside the scalar. */
bool expr_parse(const struct task_reader *reader, const struct yaml *at, bool real_allowed,
                const struct task_expr **out);

/* Value in int64 with floor division; `*fault` says in words what is wrong on false. */
bool expr_eval_int(const struct task_expr *expr, const int64_t *axes, int64_t *out,
                   const char **fault);

/* Value in double, where `/` is exact; a division by zero gives a value that is not finite. */
double expr_eval_real(const struct task_expr *expr, const int64_t *axes);

/* Canonical text, fully parenthesised: equal trees give equal text. */
void expr_print(const struct task_expr *expr, const struct task *task, struct buf *out);

/* An identifier that C, the calling stub and the other names of the task leave free. `what` names
 * its kind in messages ("axis"). */
bool name_check(const struct task_reader *reader, const struct yaml *at, const char *name,
                const char *what);
/* As name_check, and no function of the C library. */
bool name_check_entry(const struct task_reader *reader, const struct yaml *at, const char *name);

/* `mapping[key]` as a sequence of at least one item, or an error with `hint`. */
bool read_list(const struct yaml *mapping, const char *key, const char *hint,
               const struct yaml **out, struct err *err);

/* An item of the list `list_key`: a mapping with no other keys than `keys`. */
bool read_item(const struct yaml *item, const char *list_key, const char *const *keys,
               struct err *err);
/* Text for people, on one line of at most TASK_MAX_LABEL_BYTES; absent: untouched. */
bool read_label(const struct yaml *mapping, const char *key, const char **out, struct err *err);

/* The parts of task.yaml, in the order in which they must be read. */
bool read_axes(struct task_reader *reader);
bool read_attrs(struct task_reader *reader);
bool read_args(struct task_reader *reader);
/* `alias` of the arguments in the list, when all are known. */
bool read_aliases(struct task_reader *reader, const struct yaml *args);
bool read_specials(struct task_reader *reader);
bool read_cases(struct task_reader *reader);

/* The mapping `at` as a draw of the argument, into `arg->draw`. */
bool read_draw(const struct task_reader *reader, const struct yaml *at, struct task_arg *arg);
/* Can the argument be drawn so? */
bool check_draw(const struct task_reader *reader, const struct yaml *at, const struct task_arg *arg,
                const struct draw *draw);

/* Fills task->id. */
void task_identify(struct task *task);

#endif
