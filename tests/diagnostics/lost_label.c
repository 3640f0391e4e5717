/* cause: undeclared-label */
void f(const float *x, float *y, int64_t n)
{
    if (n == 0)
        goto done;
    y[0] = x[0];
}
