/* cause: open-bracket */
static float one(float v)
{
    if (v > 0.0f) {
        v = v * 2.0f;
    return v;
}
void f(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = one(x[i]);
}
