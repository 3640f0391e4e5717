/* build: -O3 -march=native -fopenmp-simd */
#include <stdint.h>

enum { ROWS = 4, COLUMNS = 16 };

/* A tile of c stays in registers while p runs. */
void sgemm(const float *restrict a, const float *restrict b, float *restrict c, int64_t m,
           int64_t n, int64_t k)
{
    const int64_t whole_m = m / ROWS * ROWS;
    const int64_t whole_n = n / COLUMNS * COLUMNS;
    for (int64_t i = 0; i < whole_m; i += ROWS)
        for (int64_t j = 0; j < whole_n; j += COLUMNS) {
            float t[ROWS][COLUMNS];
            for (int r = 0; r < ROWS; r++)
                for (int q = 0; q < COLUMNS; q++)
                    t[r][q] = 0.0f;
            for (int64_t p = 0; p < k; p++)
                for (int r = 0; r < ROWS; r++)
#pragma omp simd
                    for (int q = 0; q < COLUMNS; q++)
                        t[r][q] += a[(i + r) * k + p] * b[p * n + j + q];
            for (int r = 0; r < ROWS; r++)
                for (int q = 0; q < COLUMNS; q++)
                    c[(i + r) * n + j + q] = t[r][q];
        }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i < whole_m ? whole_n : 0; j < n; j++) {
            float s = 0.0f;
            for (int64_t p = 0; p < k; p++)
                s += a[i * k + p] * b[p * n + j];
            c[i * n + j] = s;
        }
}
