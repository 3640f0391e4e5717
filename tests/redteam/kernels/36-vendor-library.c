// expect: rejected M12-object
// task: matmul
// Calls a library that is somebody else's work.
#include <stdint.h>
#include <tgmath.h>

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc);
void matmul(const real *a, const real *b, real *c, int64_t m, int64_t n, int64_t k)
{
    cblas_sgemm(101, 111, 111, (int)m, (int)n, (int)k, 1, a, (int)k, b, (int)n, 0, c, (int)n);
}
