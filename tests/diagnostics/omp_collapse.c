/* cause: openmp-loop */
void f(const float *x, float *y, int64_t n)
{
#pragma omp simd collapse(2)
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0.0f;
        for (int64_t j = 0; j < n; j++)
            y[i] += x[j];
    }
}
