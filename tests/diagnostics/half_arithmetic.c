/* cause: invalid-operands float16 and float */
void f(const float16 *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * 2.0f;
}
