/* cause: no-member */
struct pair { float a, b; };
void f(const float *x, float *y, int64_t n)
{
    struct pair p = {x[0], x[1]};
    y[0] = p.sum + p.a;
    (void)n;
}
