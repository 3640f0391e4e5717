/* cause: stray-break */
void f(const float *x, float *y, int64_t n)
{
    if (n == 0)
        break;
    y[0] = x[0];
}
