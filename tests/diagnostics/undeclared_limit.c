/* cause: undeclared-name FLT_MAX */
void largest(const float *x, float *y, int64_t n)
{
    float best = -FLT_MAX;
    for (int64_t i = 0; i < n; i++)
        best = x[i] > best ? x[i] : best;
    y[0] = best > -FLT_MAX ? best : 0;
}
