/* cause: missing-semicolon */
void f(const float *x, float *y, int64_t n)
{
    float total = 0.0f
    for (int64_t i = 0; i < n; i++)
        total += x[i];
    y[0] = total;
}
