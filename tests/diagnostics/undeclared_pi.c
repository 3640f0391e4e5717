/* cause: undeclared-name M_PI */
void scale(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * (float)M_PI;
}
