/* cause: void-value */
static void put(float *at, float v)
{
    *at = v;
}
void f(const float *x, float *y, int64_t n)
{
    float v = put(y, x[0]);
    y[1] = v;
    (void)n;
}
