/* cause: initialized-vla */
void f(const float *x, float *y, int64_t n)
{
    float copy[n] = {0};
    for (int64_t i = 0; i < n; i++)
        copy[i] = x[i];
    y[0] = copy[n - 1];
}
