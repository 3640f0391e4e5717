/* cause: static-assertion */
_Static_assert(sizeof(float) == 8, "needs wide floats");
void f(const float *x, float *y, int64_t n)
{
    y[0] = x[n - 1];
}
