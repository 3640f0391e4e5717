/* cause: unknown-type */
static vec8 load(const float *at)
{
    vec8 v;
    for (int k = 0; k < 8; k++)
        v[k] = at[k];
    return v;
}
void f(const float *x, float *y, int64_t n)
{
    vec8 v = load(x);
    y[0] = v[0];
    (void)n;
}
