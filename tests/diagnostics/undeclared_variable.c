/* cause: undeclared-name */
void sum(const float *x, float *y, int64_t n)
{
    float total = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        totl += x[i];
        totl += x[i] * 0.5f;
        totl -= x[i];
    }
    y[0] = totl;
}
