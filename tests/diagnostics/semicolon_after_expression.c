/* cause: missing-semicolon */
void f(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float v = x[i] * 2.0f;
        y[i] = v * v
    }
}
