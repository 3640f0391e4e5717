#include "task/task.h"

#include <assert.h>

static const struct {
    const char *name;
    const char *c_name;
    size_t bytes;
    bool is_float;
    double roundoff;
    enum dtype accumulate;
} dtypes[] = {
    [DTYPE_F32] = {"float32", "float", 4, true, 0x1p-24, DTYPE_F32},
    [DTYPE_F64] = {"float64", "double", 8, true, 0x1p-53, DTYPE_F64},
    [DTYPE_F16] = {"float16", "float16", 2, true, 0x1p-11, DTYPE_F32},
    [DTYPE_BF16] = {"bfloat16", "bfloat16", 2, true, 0x1p-8, DTYPE_F32},
    [DTYPE_I8] = {"int8", "int8_t", 1, false, 0, DTYPE_I32},
    [DTYPE_I16] = {"int16", "int16_t", 2, false, 0, DTYPE_I32},
    [DTYPE_I32] = {"int32", "int32_t", 4, false, 0, DTYPE_I32},
    [DTYPE_I64] = {"int64", "int64_t", 8, false, 0, DTYPE_I64},
    [DTYPE_U8] = {"uint8", "uint8_t", 1, false, 0, DTYPE_I32},
    [DTYPE_BOOL] = {"bool", "bool", 1, false, 0, DTYPE_I32},
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

bool dtype_is_half(enum dtype dtype)
{
    return dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

double dtype_roundoff(enum dtype dtype)
{
    return dtypes[dtype].roundoff;
}

enum dtype dtype_accumulate(enum dtype dtype)
{
    return dtypes[dtype].accumulate;
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
