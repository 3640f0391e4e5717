/* cause: not-subscriptable */
void f(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = n[i] + x[i];
}
