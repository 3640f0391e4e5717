/* cause: unknown-type */
void f(const float *x, float *y, int64_t n)
{
    vec8 v = x[0];
    y[0] = v;
    y[1] = v + 1.0f;
    (void)n;
}
