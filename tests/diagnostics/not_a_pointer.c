/* cause: not-a-pointer */
void f(const float *x, float *y, int64_t n)
{
    y[0] = *n + x[0];
}
