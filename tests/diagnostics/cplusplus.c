/* cause: foreign-language C++ */
template <typename T> static inline T twice(T v)
{
    return v + v;
}
void f(const float *x, float *y, int64_t n)
{
    y[0] = twice<float>(x[n - 1]);
}
