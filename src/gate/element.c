#include "gate/element.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* How a half type is made of bits. */
struct half_format {
    int fraction_bits, bias;
    uint32_t infinity;
};

static struct half_format half_format(enum dtype dtype)
{
    return dtype == DTYPE_F16 ? (struct half_format){10, 15, 0x7c00}
                              : (struct half_format){7, 127, 0x7f80};
}

double dtype_smallest_normal(enum dtype dtype)
{
    return dtype == DTYPE_F64 ? DBL_MIN : dtype == DTYPE_F16 ? 0x1p-14 : (double)FLT_MIN;
}

double dtype_half_ulp(enum dtype dtype, double value)
{
    const double magnitude = fmax(fabs(value), dtype_smallest_normal(dtype));
    return isfinite(magnitude) ? ldexp(dtype_roundoff(dtype), ilogb(magnitude)) : 0;
}

static double half_value(enum dtype dtype, uint16_t bits)
{
    const struct half_format format = half_format(dtype);
    const uint32_t magnitude = bits & 0x7fff;
    const int exponent = (int)(magnitude >> format.fraction_bits);
    const uint32_t hidden = 1u << format.fraction_bits, fraction = magnitude & (hidden - 1);
    double value;
    if (magnitude >= format.infinity)
        value = magnitude > format.infinity ? (double)NAN : HUGE_VAL;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - format.bias - format.fraction_bits);
    else
        value = ldexp(fraction + hidden, exponent - format.bias - format.fraction_bits);
    return bits & 0x8000 ? -value : value;
}

/* One rounding, whatever the value: of a multiple of the last place there. */
static uint16_t half_bits(enum dtype dtype, double value)
{
    const struct half_format format = half_format(dtype);
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return sign | 0x7fc0; /* a quiet NaN in both types */
    if (isinf(value))
        return (uint16_t)(sign | format.infinity);
    const int lowest = 1 - format.bias;
    int exponent = value == 0 ? lowest : ilogb(value);
    if (exponent < lowest)
        exponent = lowest;
    if (exponent > format.bias)
        return (uint16_t)(sign | format.infinity);
    const double places = nearbyint(ldexp(fabs(value), format.fraction_bits - exponent));
    const uint32_t hidden = 1u << format.fraction_bits;
    /* A carry out of the fraction raises the exponent, up to infinity, by itself. */
    const uint32_t magnitude = (uint32_t)(exponent - lowest) * hidden +
                               (uint32_t)places; /* the hidden bit counts as one */
    return (uint16_t)(sign | magnitude);
}

double dtype_element(enum dtype dtype, const void *data, size_t index)
{
    const size_t bytes = dtype_bytes(dtype);
    const char *at = (const char *)data + index * bytes;
    union {
        float f32;
        double f64;
        uint16_t half;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
    } value = {0};
    memcpy(&value, at, bytes);
    switch (dtype) {
    case DTYPE_F32:
        return (double)value.f32;
    case DTYPE_F64:
        return value.f64;
    case DTYPE_F16:
    case DTYPE_BF16:
        return half_value(dtype, value.half);
    case DTYPE_I8:
        return value.i8;
    case DTYPE_I16:
        return value.i16;
    case DTYPE_I32:
        return value.i32;
    case DTYPE_I64:
        return (double)value.i64;
    case DTYPE_U8:
    case DTYPE_BOOL:
        return value.u8;
    case DTYPE_COUNT:
        break;
    }
    return 0;
}

/* A bfloat16 is the upper half of a float; a float16 is scaled into one, exactly. */
static void widen_half(enum dtype dtype, const char *from, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, from + i * sizeof bits, sizeof bits);
        const uint32_t magnitude = bits & 0x7fff;
        const uint32_t shifted = dtype == DTYPE_F16 ? magnitude << 13 : magnitude << 16;
        float value;
        memcpy(&value, &shifted, sizeof value);
        if (dtype == DTYPE_F16)
            value = magnitude > 0x7c00    ? (float)NAN
                    : magnitude == 0x7c00 ? (float)HUGE_VAL
                                          : value * 0x1p112f;
        out[i] = (double)(bits & 0x8000 ? -value : value);
    }
}

void dtype_widen(enum dtype dtype, const void *data, size_t first, size_t count, double *out)
{
    const char *from = (const char *)data + first * dtype_bytes(dtype);
    if (dtype == DTYPE_F64) {
        memcpy(out, from, count * sizeof *out);
        return;
    }
    if (dtype_is_half(dtype)) {
        widen_half(dtype, from, count, out);
        return;
    }
    if (dtype == DTYPE_F32) {
        for (size_t i = 0; i < count; i++) {
            float value;
            memcpy(&value, from + i * sizeof value, sizeof value);
            out[i] = (double)value;
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = dtype_element(dtype, from, i);
}

void dtype_store(enum dtype dtype, void *out, size_t index, double value)
{
    static const double limits[DTYPE_COUNT][2] = {
        [DTYPE_I8] = {INT8_MIN, INT8_MAX},    [DTYPE_I16] = {INT16_MIN, INT16_MAX},
        [DTYPE_I32] = {INT32_MIN, INT32_MAX}, [DTYPE_I64] = {-0x1p62, 0x1p62},
        [DTYPE_U8] = {0, UINT8_MAX},          [DTYPE_BOOL] = {0, 1},
    };
    char *at = (char *)out + index * dtype_bytes(dtype);
    if (dtype == DTYPE_F32) {
        const float narrow = (float)value;
        memcpy(at, &narrow, sizeof narrow);
        return;
    }
    if (dtype == DTYPE_F64) {
        memcpy(at, &value, sizeof value);
        return;
    }
    if (dtype_is_half(dtype)) {
        const uint16_t bits = half_bits(dtype, value);
        memcpy(at, &bits, sizeof bits);
        return;
    }
    if (isnan(value))
        value = 0;
    const double rounded = nearbyint(fmin(fmax(value, limits[dtype][0]), limits[dtype][1]));
    const int64_t integer = (int64_t)rounded;
    /* Two's complement and a little-endian host: the low bytes are the narrow value. */
    memcpy(at, &integer, dtype_bytes(dtype));
}
