/* cause: argument-count */
static float mix(float a, float b, float t)
{
    return a + (b - a) * t;
}
void f(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = mix(x[i], 1.0f);
}
