/*
 * The declaration part of task.yaml: axes, attributes, arguments and how their values are drawn.
 */
#include "base/str.h"
#include "task/internal.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>

static const char *const dtype_words[] = {"real",     "float32", "float64", "float16",
                                          "bfloat16", "int8",    "int16",   "int32",
                                          "int64",    "uint8",   "bool"};
static_assert(sizeof dtype_words / sizeof *dtype_words == DTYPE_COUNT + 1,
              "'real', then the dtypes in the order of enum dtype");

static const char *const role_words[] = {[ARG_IN] = "in", [ARG_OUT] = "out", [ARG_INOUT] = "inout"};
static const char *const draw_words[] = {[DRAW_NORMAL] = "normal",
                                         [DRAW_UNIFORM] = "uniform",
                                         [DRAW_INTEGER] = "integer",
                                         [DRAW_CONSTANT] = "constant"};
static const char *const attr_words[] = {"real", "int"};

bool read_list(const struct yaml *mapping, const char *key, const char *hint,
               const struct yaml **out, struct err *err)
{
    const struct yaml *list = yaml_get(mapping, key);
    if (!list) {
        (void)yaml_error(mapping, err, "'%s' is missing", key);
        return err_hint(err, "%s", hint);
    }
    if (list->type != YAML_SEQUENCE || list->count == 0) {
        (void)yaml_error(list, err, "'%s' must be a list with at least one item", key);
        return err_hint(err, "%s", hint);
    }
    *out = list;
    return true;
}

bool read_item(const struct yaml *item, const char *list_key, const char *const *keys,
               struct err *err)
{
    if (item->type != YAML_MAPPING)
        return yaml_error(item, err, "each item of '%s' must be a mapping of keys to values",
                          list_key);
    return yaml_check_keys(item, keys, err);
}

bool read_label(const struct yaml *mapping, const char *key, const char **out, struct err *err)
{
    const char *text = NULL;
    if (!yaml_read_string(mapping, key, false, &text, err))
        return false;
    if (!text)
        return true;
    size_t length = 0;
    while ((unsigned char)text[length] >= ' ')
        length++;
    if (text[length] != '\0')
        return yaml_error(yaml_get(mapping, key), err, "'%s' must be one line of text", key);
    if (length > TASK_MAX_LABEL_BYTES)
        return yaml_error(yaml_get(mapping, key), err, "'%s' has more than %d bytes", key,
                          TASK_MAX_LABEL_BYTES);
    *out = text;
    return true;
}

/* Of {name, min, max, multiple}: the range must hold a multiple. */
static bool read_range(struct task_reader *reader, const struct yaml *item, struct task_axis *axis)
{
    struct err *err = reader->err;
    if (!yaml_read_int(item, "min", false, 0, TASK_MAX_EXTENT, &axis->minimum, err) ||
        !yaml_read_int(item, "max", false, 1, TASK_MAX_EXTENT, &axis->maximum, err) ||
        !yaml_read_int(item, "multiple", false, 1, TASK_MAX_EXTENT, &axis->multiple, err))
        return false;
    if (axis->maximum < axis->minimum)
        return yaml_error(yaml_get(item, "max"), err, "'max' is less than 'min'");
    const int64_t last = axis->maximum - axis->maximum % axis->multiple;
    if (last >= axis->minimum)
        return true;
    (void)yaml_error(yaml_get(item, "multiple"), err,
                     "no multiple of %" PRId64 " lies from 'min' to 'max'", axis->multiple);
    return err_hint(err, "give a range that holds one, or leave 'multiple' out");
}

/* A plain name, or {name, min, max, multiple}. */
static bool read_axis(struct task_reader *reader, const struct yaml *item)
{
    static const char *const keys[] = {"name", "min", "max", "multiple", NULL};
    struct task *task = reader->task;
    struct task_axis axis = {
        .name = item->text, .minimum = 1, .maximum = TASK_MAX_EXTENT, .multiple = 1};
    const struct yaml *at = item;
    if (item->type != YAML_SCALAR) {
        if (!read_item(item, "axes", keys, reader->err) ||
            !yaml_read_string(item, "name", true, &axis.name, reader->err) ||
            !read_range(reader, item, &axis))
            return false;
        at = yaml_get(item, "name");
    }
    if (str_equal(axis.name, "name") || str_equal(axis.name, "weight")) {
        (void)yaml_error(at, reader->err, "'%s' is reserved and cannot be the name of an axis",
                         axis.name);
        return err_hint(reader->err, "a case says '%s: ...' about itself, next to its axes",
                        axis.name);
    }
    if (!name_check(reader, at, axis.name, "axis"))
        return false;
    task->axes[task->axis_count++] = axis;
    return true;
}

bool read_axes(struct task_reader *reader)
{
    const struct yaml *list = NULL;
    if (!read_list(reader->root, "axes", "name the sizes that a case chooses: axes: [m, n]", &list,
                   reader->err))
        return false;
    for (const struct yaml *item = list->first; item; item = item->next) {
        if (reader->task->axis_count == TASK_MAX_AXES)
            return yaml_error(item, reader->err, "more than %d axes", TASK_MAX_AXES);
        if (!read_axis(reader, item))
            return false;
    }
    return true;
}

static bool read_attr(struct task_reader *reader, const struct yaml *item)
{
    static const char *const keys[] = {"name", "type", "value", NULL};
    struct task *task = reader->task;
    struct task_attr attr = {0};
    size_t type = 0;
    if (!read_item(item, "attrs", keys, reader->err) ||
        !yaml_read_string(item, "name", true, &attr.name, reader->err) ||
        !yaml_read_word(item, "type", true, attr_words, 2, &type, reader->err))
        return false;
    attr.is_integer = type == 1;
    if (attr.is_integer) {
        if (!yaml_read_int(item, "value", true, INT64_MIN, INT64_MAX, &attr.integer, reader->err))
            return false;
    } else {
        if (!dtype_is_float(task->dtype)) {
            (void)yaml_error(yaml_get(item, "type"), reader->err,
                             "a real attribute in a task of %s", dtype_name(task->dtype));
            return err_hint(reader->err,
                            "make it type: int; or the task dtype: float32, with args "
                            "of dtype: %s",
                            dtype_name(task->dtype));
        }
        if (!yaml_read_real(item, "value", true, &attr.real, reader->err))
            return false;
        if (!isfinite(attr.real))
            return yaml_error(yaml_get(item, "value"), reader->err, "'value' must be finite");
    }
    if (!name_check(reader, yaml_get(item, "name"), attr.name, "attribute"))
        return false;
    task->attrs[task->attr_count++] = attr;
    return true;
}

bool read_attrs(struct task_reader *reader)
{
    const struct yaml *list = yaml_get(reader->root, "attrs");
    if (!list)
        return true;
    if (list->type != YAML_SEQUENCE)
        return yaml_error(list, reader->err, "'attrs' must be a list");
    for (const struct yaml *item = list->first; item; item = item->next) {
        if (reader->task->attr_count == TASK_MAX_ATTRS)
            return yaml_error(item, reader->err, "more than %d attributes", TASK_MAX_ATTRS);
        if (!read_attr(reader, item))
            return false;
    }
    return true;
}

/* What an argument gets that does not say how it is drawn: never constant, never zero on average
 * alone, so that a wrong kernel cannot pass by luck. */
static struct draw default_draw(enum dtype dtype)
{
    if (dtype_is_float(dtype))
        return (struct draw){.kind = DRAW_NORMAL, .a = 0.0, .b = 1.0};
    if (dtype == DTYPE_BOOL)
        return (struct draw){.kind = DRAW_INTEGER, .a = 0.0, .b = 1.0};
    return (struct draw){.kind = DRAW_INTEGER, .a = dtype == DTYPE_U8 ? 0.0 : -100.0, .b = 100.0};
}

/* The values that `dtype` can hold; int64 is cut where double no longer holds every integer. */
static void dtype_range(enum dtype dtype, double *low, double *high)
{
    static const struct {
        double low, high;
    } ranges[] = {
        [DTYPE_F32] = {-(double)FLT_MAX, (double)FLT_MAX},
        [DTYPE_F64] = {-DBL_MAX, DBL_MAX},
        [DTYPE_F16] = {-65504, 65504},
        [DTYPE_BF16] = {-0x1.fep127, 0x1.fep127},
        [DTYPE_I8] = {INT8_MIN, INT8_MAX},
        [DTYPE_I16] = {INT16_MIN, INT16_MAX},
        [DTYPE_I32] = {INT32_MIN, INT32_MAX},
        [DTYPE_I64] = {-0x1p53, 0x1p53},
        [DTYPE_U8] = {0, UINT8_MAX},
        [DTYPE_BOOL] = {0, 1},
    };
    static_assert(sizeof ranges / sizeof *ranges == DTYPE_COUNT, "a range for each dtype");
    *low = ranges[dtype].low;
    *high = ranges[dtype].high;
}

bool check_draw(const struct task_reader *reader, const struct yaml *at, const struct task_arg *arg,
                const struct draw *draw)
{
    double low = 0.0;
    double high = 0.0;
    const bool is_float = dtype_is_float(arg->dtype);
    dtype_range(arg->dtype, &low, &high);
    if (!is_float && (draw->kind == DRAW_NORMAL || draw->kind == DRAW_UNIFORM)) {
        (void)yaml_error(at, reader->err, "'%s' draws fractions for the dtype '%s'",
                         draw_words[draw->kind], dtype_name(arg->dtype));
        return err_hint(reader->err, "use {kind: integer, low: 0, high: 100}");
    }
    if (!isfinite(draw->a) || !isfinite(draw->b))
        return yaml_error(at, reader->err, "the numbers of 'draw' must be finite");
    if (draw->kind == DRAW_NORMAL) {
        if (!(draw->b > 0.0))
            return yaml_error(at, reader->err, "'deviation' must be greater than 0");
        return true;
    }
    if (draw->kind == DRAW_INTEGER || !is_float) {
        if (draw->a != floor(draw->a) || draw->b != floor(draw->b))
            return yaml_error(at, reader->err, "'%s' needs whole numbers here",
                              draw_words[draw->kind]);
    }
    if (draw->kind != DRAW_CONSTANT && !(draw->a < draw->b))
        return yaml_error(at, reader->err, "'low' must be less than 'high'");
    if (draw->a < low || draw->a > high || draw->b < low || draw->b > high)
        return yaml_error(at, reader->err, "values that '%s' cannot hold", dtype_name(arg->dtype));
    return true;
}

bool read_draw(const struct task_reader *reader, const struct yaml *at, struct task_arg *arg)
{
    static const char *const keys[][4] = {
        [DRAW_NORMAL] = {"kind", "mean", "deviation", NULL},
        [DRAW_UNIFORM] = {"kind", "low", "high", NULL},
        [DRAW_INTEGER] = {"kind", "low", "high", NULL},
        [DRAW_CONSTANT] = {"kind", "value", NULL, NULL},
    };
    struct draw draw = {.a = 0.0, .b = 1.0};
    size_t kind = 0;
    if (arg->role == ARG_OUT) {
        (void)yaml_error(at, reader->err, "'draw' of '%s', whose role is out", arg->name);
        return err_hint(reader->err, "an output starts as poison; use role: inout if it is read");
    }
    if (at->type != YAML_MAPPING) {
        (void)yaml_error(at, reader->err, "'draw' must be a mapping");
        return err_hint(reader->err, "such as {kind: normal, mean: 0, deviation: 1}");
    }
    if (!yaml_read_word(at, "kind", true, draw_words, 4, &kind, reader->err) ||
        !yaml_check_keys(at, keys[kind], reader->err))
        return false;
    draw.kind = (enum draw_kind)kind;
    if (draw.kind == DRAW_CONSTANT) {
        if (!yaml_read_real(at, "value", true, &draw.a, reader->err))
            return false;
        draw.b = draw.a;
    } else {
        const bool ranged = draw.kind != DRAW_NORMAL;
        if (!yaml_read_real(at, ranged ? "low" : "mean", ranged, &draw.a, reader->err) ||
            !yaml_read_real(at, ranged ? "high" : "deviation", ranged, &draw.b, reader->err))
            return false;
    }
    if (!check_draw(reader, at, arg, &draw))
        return false;
    arg->draw = draw;
    return true;
}

static bool read_shape(struct task_reader *reader, const struct yaml *item, struct task_arg *arg)
{
    const struct yaml *shape = yaml_get(item, "shape");
    if (!shape || shape->type != YAML_SEQUENCE) {
        (void)yaml_error(shape ? shape : item, reader->err,
                         shape ? "'shape' must be a list" : "'shape' is missing");
        return err_hint(reader->err, "such as shape: [m, n], or [] for one element");
    }
    for (const struct yaml *at = shape->first; at; at = at->next) {
        if (arg->rank == TASK_MAX_RANK)
            return yaml_error(at, reader->err, "more than %d dimensions", TASK_MAX_RANK);
        if (!expr_parse(reader, at, false, &arg->shape[arg->rank]))
            return false;
        arg->shape_text[arg->rank++] = at->text;
    }
    return true;
}

static bool read_ld(struct task_reader *reader, const struct yaml *item, struct task_arg *arg)
{
    const struct task *task = reader->task;
    const struct yaml *at = yaml_get(item, "ld");
    const char *name = NULL;
    if (!at)
        return true;
    if (!yaml_read_string(item, "ld", true, &name, reader->err))
        return false;
    while (arg->ld < task->axis_count && !str_equal(task->axes[arg->ld].name, name))
        arg->ld++;
    if (arg->ld == task->axis_count) {
        (void)yaml_error(at, reader->err, "'ld' is '%.64s', which is no axis", name);
        return err_hint(reader->err, "name one: axes: [m, n, lda], and ld: lda");
    }
    if (arg->rank < 2)
        return yaml_error(at, reader->err,
                          "'ld' is the distance between rows, and '%s' has no rows", arg->name);
    arg->has_ld = true;
    return true;
}

static bool read_arg(struct task_reader *reader, const struct yaml *item)
{
    static const char *const keys[] = {"name", "role",  "dtype", "shape",
                                       "ld",   "alias", "draw",  NULL};
    struct task *task = reader->task;
    struct task_arg arg = {0};
    size_t dtype = 0;
    size_t role = 0;
    if (!read_item(item, "args", keys, reader->err) ||
        !yaml_read_string(item, "name", true, &arg.name, reader->err) ||
        !name_check(reader, yaml_get(item, "name"), arg.name, "argument") ||
        !yaml_read_word(item, "role", true, role_words, 3, &role, reader->err) ||
        !yaml_read_word(item, "dtype", false, dtype_words, DTYPE_COUNT + 1, &dtype, reader->err) ||
        !read_shape(reader, item, &arg) || !read_ld(reader, item, &arg))
        return false;
    arg.role = (enum arg_role)role;
    arg.is_real = dtype == 0;
    arg.dtype = arg.is_real ? task->dtype : (enum dtype)(dtype - 1);
    arg.draw = default_draw(arg.dtype);
    const struct yaml *draw = yaml_get(item, "draw");
    if (draw && !read_draw(reader, draw, &arg))
        return false;
    task->args[task->arg_count++] = arg;
    return true;
}

bool read_args(struct task_reader *reader)
{
    const struct yaml *list = NULL;
    bool writes = false;
    if (!read_list(reader->root, "args",
                   "name the buffers: args: [{name: x, role: in, shape: [n]}, ...]", &list,
                   reader->err))
        return false;
    for (const struct yaml *item = list->first; item; item = item->next) {
        if (reader->task->arg_count == TASK_MAX_ARGS)
            return yaml_error(item, reader->err, "more than %d arguments", TASK_MAX_ARGS);
        if (!read_arg(reader, item))
            return false;
        writes = writes || reader->task->args[reader->task->arg_count - 1].role != ARG_IN;
    }
    if (!writes) {
        (void)yaml_error(list, reader->err, "no argument is written");
        return err_hint(reader->err, "give the result role: out, or inout if it is read too");
    }
    return read_aliases(reader, list);
}
