/* cause: open-conditional */
#ifdef __AVX2__
void f(const float *x, float *y, int64_t n)
{
    y[0] = x[n - 1];
}
