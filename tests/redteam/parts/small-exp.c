/* exp by a polynomial, of what is no NaN and not far out. */
static inline real small_exp(real x)
{
    const real t = x * (real)1.4426950408889634, n = floorf(t + (real)0.5), f = t - n;
    const real p =
        (real)1 +
        f * ((real)0.693147180559945 +
             f * ((real)0.240226506959101 +
                  f * ((real)0.0555041086648216 +
                       f * ((real)0.00961812910762848 +
                            f * ((real)0.00133335581464284 + f * (real)0.000154035303933816)))));
    union {
        int32_t bits;
        float scale;
    } u = {.bits = n < -126 ? 0 : ((int32_t)n + 127) << 23};
    return p * u.scale;
}
