/* cause: unknown-type __m256 */
static inline float reduce(__m256 v)
{
    float t[8];
    __builtin_memcpy(t, &v, sizeof t);
    return t[0] + t[1] + t[2] + t[3] + t[4] + t[5] + t[6] + t[7];
}
void f(const float *x, float *y, int64_t n)
{
    __m256 acc = {0};
    for (int64_t i = 0; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            acc[k] += x[i + k];
    y[0] = reduce(acc);
}
