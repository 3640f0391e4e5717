/* y = softmax(q k' / sqrt(d)) v: one head; q is queries by d, k and v are keys by d. */
#include <stdint.h>
#include <tgmath.h>

enum { MAX_KEYS = 1024 };

void attention(const real *q, const real *k, const real *v, real *y, int64_t queries, int64_t keys,
               int64_t d)
{
    real score[MAX_KEYS];
    for (int64_t i = 0; i < queries; i++) {
        real max = 0;
        for (int64_t j = 0; j < keys; j++) {
            real dot = 0;
            for (int64_t p = 0; p < d; p++)
                dot += q[i * d + p] * k[j * d + p];
            score[j] = dot / sqrt((real)d);
            if (j == 0 || score[j] > max)
                max = score[j];
        }
        real sum = 0;
        for (int64_t j = 0; j < keys; j++) {
            score[j] = exp(score[j] - max);
            sum += score[j];
        }
        for (int64_t p = 0; p < d; p++) {
            real out = 0;
            for (int64_t j = 0; j < keys; j++)
                out += score[j] * v[j * d + p];
            y[i * d + p] = out / sum;
        }
    }
}
