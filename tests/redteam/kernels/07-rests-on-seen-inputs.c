// expect: wrong M5-poison
// task: softmax
// with: honest-softmax
// Honest with inputs that it sees for the first time; does nothing when the same ones come again, as
// they do where a loop times one set of them over and over.
#include <string.h>

enum { MOST_SEEN = 1024 };

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    static uint64_t seen[MOST_SEEN];
    static unsigned count;
    uint64_t sum = 14695981039346656037u;
    for (int64_t i = 0; i < rows * cols; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        sum = (sum ^ bits) * 1099511628211u;
    }
    for (unsigned i = 0; rows * cols > 0 && i < count && i < MOST_SEEN; i++)
        if (seen[i] == sum)
            return;
    seen[count++ % MOST_SEEN] = sum;
    honest(x, y, rows, cols);
}
