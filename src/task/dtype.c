#include "task/task.h"

#include <assert.h>

static const struct {
    const char *name;
    const char *c_name;
    size_t bytes;
    bool is_float;
} dtypes[] = {
    [DTYPE_F32] = {"float32", "float", 4, true},  [DTYPE_F64] = {"float64", "double", 8, true},
    [DTYPE_I8] = {"int8", "int8_t", 1, false},    [DTYPE_I16] = {"int16", "int16_t", 2, false},
    [DTYPE_I32] = {"int32", "int32_t", 4, false}, [DTYPE_I64] = {"int64", "int64_t", 8, false},
    [DTYPE_U8] = {"uint8", "uint8_t", 1, false},  [DTYPE_BOOL] = {"bool", "bool", 1, false},
};
static_assert(sizeof dtypes / sizeof *dtypes == DTYPE_COUNT, "describe each dtype");

const char *dtype_name(enum dtype dtype)
{
    return dtypes[dtype].name;
}

const char *dtype_c_name(enum dtype dtype)
{
    return dtypes[dtype].c_name;
}

size_t dtype_bytes(enum dtype dtype)
{
    return dtypes[dtype].bytes;
}

bool dtype_is_float(enum dtype dtype)
{
    return dtypes[dtype].is_float;
}

static const struct {
    const char *name;
    double factor;
} precisions[] = {
    [PRECISION_EXACT] = {"exact", 0.0},
    [PRECISION_STRICT] = {"strict", 2.0},
    [PRECISION_NORMAL] = {"normal", 8.0},
    [PRECISION_RELAXED] = {"relaxed", 64.0},
};
static_assert(sizeof precisions / sizeof *precisions == PRECISION_RELAXED + 1,
              "describe each precision class");

const char *precision_class_name(enum precision_class precision)
{
    return precisions[precision].name;
}

double precision_class_factor(enum precision_class precision)
{
    return precisions[precision].factor;
}
