/*
 * A task: the kernel to optimize, as its user describes it. Values only; nothing here runs
 * anything.
 *
 * A task is a folder with task.yaml and a reference in plain C loops over the type `real`. The
 * reference compiled with `real` = the task's dtype is the baseline to beat, compiled with `real` =
 * double it is the oracle. The entry point takes the arguments in their declared order, then the
 * attributes, then the axes as int64_t: `void softmax(const real *x, real *y, int64_t rows, int64_t
 * cols)`. What every source may use without declaring it (task_prelude): the storage types
 * `float16` and `bfloat16`, `real`, `real_acc` (what the task accumulates in; double in the
 * oracle), real_load(x) from real to real_acc and real_store(v) back.
 *
 * Who uses it: gate, target, moves, propose, engine. Owns nothing: all memory is the arena's that
 * was given to task_load. Threads: a loaded task is never changed, so any thread may read it.
 */
#ifndef KOPE_TASK_TASK_H
#define KOPE_TASK_TASK_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TASK_MAX_ARGS = 16,
    TASK_MAX_AXES = 16,
    TASK_MAX_ATTRS = 16,
    TASK_MAX_RANK = 8,
    TASK_MAX_CASES = 64,
    TASK_MAX_SPECIALS = 8,
    TASK_MAX_SOURCE_BYTES = 1024 * 1024,
};

enum dtype {
    DTYPE_F32,
    DTYPE_F64,
    DTYPE_F16,  /* IEEE binary16 */
    DTYPE_BF16, /* the upper half of a float32 */
    DTYPE_I8,
    DTYPE_I16,
    DTYPE_I32,
    DTYPE_I64,
    DTYPE_U8,
    DTYPE_BOOL,
    DTYPE_COUNT
};

const char *dtype_name(enum dtype dtype);   /* "float32" */
const char *dtype_c_name(enum dtype dtype); /* "float", "int64_t" */
size_t dtype_bytes(enum dtype dtype);
bool dtype_is_float(enum dtype dtype);
/* float16 and bfloat16: storage only; arithmetic is in the type that the task accumulates in. */
bool dtype_is_half(enum dtype dtype);
/* The relative error of rounding to a float dtype, half an ulp of 1: 2^-24 for float32. */
double dtype_roundoff(enum dtype dtype);
/* What a task of this dtype accumulates in unless it says otherwise. */
enum dtype dtype_accumulate(enum dtype dtype);

enum arg_role { ARG_IN, ARG_OUT, ARG_INOUT };

/* How valid input values are drawn. */
enum draw_kind { DRAW_NORMAL, DRAW_UNIFORM, DRAW_INTEGER, DRAW_CONSTANT };

struct draw {
    enum draw_kind kind;
    /* normal: mean, deviation; uniform and integer: lowest, highest; constant: the value twice */
    double a, b;
};

/* A parsed expression over axes and attributes: + - * / % ( ), min, max, ceildiv. Opaque:
 * task_arg_elements, task_flops and task_bytes evaluate it. */
struct task_expr;

struct task_arg {
    const char *name;
    bool is_real;     /* declared with dtype `real`: the task's own dtype, double in the oracle */
    enum dtype dtype; /* with is_real: the task's dtype */
    enum arg_role role;
    size_t rank;
    const struct task_expr *shape[TASK_MAX_RANK];
    const char *shape_text[TASK_MAX_RANK]; /* as written */
    /* Leading dimension: the rows (the last dimension) lie `ld` elements apart in memory, an axis
     * that is no less than their length. What lies between is not the argument's: in inputs it is
     * poison, in outputs it must stay as it was. The last row has nothing behind it. */
    bool has_ld;
    size_t ld; /* index of the axis */
    struct draw draw;
    /* An output that lies in the buffer of an input, from end to end: both have one dtype, shape
     * and `ld`, and a call gets the same pointer for both. */
    bool has_alias;
    size_t alias; /* index of the input */
};

struct task_axis {
    const char *name;
    int64_t minimum;  /* smallest value that a caller may give; 1 unless declared */
    int64_t maximum;  /* largest */
    int64_t multiple; /* every value is one of this; 1 unless declared */
};

/* A scalar constant of the operator, passed by value (real -> dtype of the task, or int64). */
struct task_attr {
    const char *name;
    bool is_integer;
    double real;
    int64_t integer;
};

/* What one argument holds in a situation of `special`. */
enum special_kind {
    SPECIAL_FREE,   /* an input as it is drawn anyway; an output as the reference makes it */
    SPECIAL_VALUE,  /* every element has the value */
    SPECIAL_ONE,    /* inputs: one element has it, at any place; the others are drawn */
    SPECIAL_DRAWN,  /* inputs: another draw than the declared one */
    SPECIAL_FINITE, /* outputs: any finite number */
};

struct special_arg {
    enum special_kind kind;
    double value; /* may be NaN or infinite in floats */
    struct draw draw;
};

/* Inputs beyond the declared ones, with what the results must then be. */
struct task_special {
    struct special_arg args[TASK_MAX_ARGS];    /* in the order of task.args: before a call */
    struct special_arg results[TASK_MAX_ARGS]; /* likewise, after it: of outputs */
};

struct task_case {
    const char *name; /* unique; made from the axes where not given: "rows=64 cols=100" */
    int64_t axes[TASK_MAX_AXES]; /* in the order of task.axes */
    double weight;               /* in the geometric mean; 1 unless given */
    bool held_out;               /* never shown to the search; only winners are judged on it */
};

enum precision_class {
    PRECISION_EXACT,   /* bit-identical to the baseline; integers */
    PRECISION_STRICT,  /* error at most twice the baseline's own against the oracle */
    PRECISION_NORMAL,  /* at most 8 times: reassociation and fused operations pass, lower precision
                          fails */
    PRECISION_RELAXED, /* at most 64 times: approximate functions */
};
const char *precision_class_name(enum precision_class precision);
/* How many times the baseline's own error the class allows. */
double precision_class_factor(enum precision_class precision);

struct task {
    const char *dir;  /* absolute */
    const char *name; /* identifier; also the entry point unless `entry` is given */
    const char *entry;
    const char
        *family; /* "reduction", "normalization", "contraction", "elementwise", "scan", ... */
    const char *summary;
    const char *level; /* free label, "" where none */
    enum dtype dtype;
    enum dtype accumulate; /* of `real_acc`; at least as precise as dtype */
    struct task_axis axes[TASK_MAX_AXES];
    size_t axis_count;
    struct task_arg args[TASK_MAX_ARGS];
    size_t arg_count;
    struct task_attr attrs[TASK_MAX_ATTRS];
    size_t attr_count;
    struct task_case cases[TASK_MAX_CASES];
    size_t case_count;
    struct task_special specials[TASK_MAX_SPECIALS];
    size_t special_count;
    const struct task_expr *flops; /* per call; NULL where not declared */
    const struct task_expr *bytes; /* least traffic per call; NULL: the sum of the buffers */
    enum precision_class precision;
    bool allow_reassociate; /* moves may change the order of sums; true unless precision is exact or
                               strict */
    bool finite_only;       /* special values: the caller promises no NaN or infinity in inputs */
    int64_t threads;        /* threads that a candidate may use; 1 */
    const char *reference_path;
    const char *reference; /* source text */
    struct hash_id id;     /* of what decides a verdict: task.yaml's content and the reference */
    bool is_view;          /* of task_buffers, with fewer arguments than the function has */
};

/* Reads `path`, a task folder or a task.yaml (load.c lists its keys). Problems of the content are
 * ERR_BAD_INPUT with file:line:column and, where there is advice, a hint; a missing folder is
 * ERR_NOT_FOUND. */
bool task_load(const char *path, struct arena *arena, const struct task **out, struct err *err);

/* A task from text, for tests and for MCP; `dir` may be "" and is used in messages only. */
bool task_parse(const char *yaml_text, size_t yaml_length, const char *reference, const char *dir,
                struct arena *arena, const struct task **out, struct err *err);

/* Writes a new task folder with a commented task.yaml and a reference to start from; refuses an
 * existing folder. */
bool task_write_template(const char *dir, const char *name, struct err *err);

/* One dimension of an argument of the task in a case. */
int64_t task_arg_extent(const struct task *task, const struct task_arg *arg, size_t dimension,
                        const struct task_case *c);
/* How an argument lies in memory, in elements: `count` rows of `used` ones, `pitch` apart. */
struct task_rows {
    size_t count, used, pitch;
};
struct task_rows task_arg_rows(const struct task *task, size_t arg, const struct task_case *c);
/* Is the element at `index` none of the argument's, but one between its rows? */
bool task_rows_is_gap(const struct task_rows *rows, size_t index);
/* "lda", or the last dimension as written: by what a subscript steps from row to row. */
const char *task_arg_pitch_text(const struct task *task, const struct task_arg *arg);

/* Elements and bytes of an argument from its first to its last in a case (overflow and over 1 GiB a
 * case were refused at load).
 */
int64_t task_arg_elements(const struct task *task, size_t arg, const struct task_case *c);
size_t task_arg_bytes(const struct task *task, size_t arg, const struct task_case *c);
/* Of these the bytes that are the argument's. */
double task_arg_data_bytes(const struct task *task, size_t arg, const struct task_case *c);

/* Has every argument a size for these values of the axes, in at most `most_bytes` in all? Sizes may
 * be zero where an axis is. For shapes that are no case of the task. */
bool task_axes_fit(const struct task *task, const int64_t *axes, int64_t most_bytes);

/* Has an output the buffer of an input? */
bool task_is_in_place(const struct task *task);
/* Is this argument one of two in one buffer? */
bool task_arg_is_shared(const struct task *task, size_t arg);
/* "`x` and `y` are one buffer: ...", in words for who writes a kernel; "" where none are. */
const char *task_alias_text(const struct task *task, struct arena *arena);
/*
 * The task as its buffers are: two arguments that share one are one, `inout`, under the name of the
 * output, with the draw of the input. All that allocates, fills and compares needs this one; the
 * signature, and what is compiled, are those of the declared task. It is `task` itself where every
 * argument has a buffer of its own.
 */
const struct task *task_buffers(const struct task *task, struct arena *arena);
/* Index in task_buffers of the buffer of an argument of the declared task. */
size_t task_arg_buffer(const struct task *task, size_t arg);

/* flops and bytes of a case; flops is 0 where not declared. */
double task_flops(const struct task *task, const struct task_case *c);
double task_bytes(const struct task *task, const struct task_case *c);

/* The declaration of the entry point with `real` spelled as `real_name`: "void sum(const float *x,
 * float *y, int64_t n)". */
char *task_signature(const struct task *task, const char *real_name, struct arena *arena);

/* C text that stands before every source of the task (the reference, a candidate, the calling
 * stub), with `real` as `real_name`: the C name of the task's dtype; or "double" for the oracle,
 * "float" for the shadow of a float64 task, which are computed in that type too. */
char *task_prelude(const struct task *task, const char *real_name, struct arena *arena);
/* The same for a file that people read: without the 16-bit types where neither task nor `source`
 * has them. */
char *task_prelude_for(const struct task *task, const char *source, struct arena *arena);

/* Coarse shape regime, for retrieval: "tiny" (< 16 KiB in all), "small" (< 256 KiB), "medium" (< 8
 * MiB), "large". */
const char *task_case_regime(const struct task *task, const struct task_case *c);
/* That of the largest case. */
const char *task_regime(const struct task *task);

#endif
