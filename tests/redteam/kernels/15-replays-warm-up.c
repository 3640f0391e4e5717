// expect: rejected M7-timed-output
// expect: wrong M9-class
// task: softmax
// with: runner honest-softmax
// Works in the first timed samples of a process and replays their results in the later ones, as if
// warm-up and timing had the same inputs. Checks have one call to a round, so it is honest there.
#include <stdlib.h>
#include <string.h>

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    enum { KEPT = 4096 };
    static struct {
        const real *x;
        real *y;
    } kept[KEPT];
    static uint64_t first_round;
    volatile uint8_t *control = control_page();
    const size_t bytes = (size_t)(rows * cols) * sizeof *y;
    const size_t place = (uintptr_t)x / 64 % KEPT;
    if (!control || calls_of_round(control) < 2) {
        honest(x, y, rows, cols);
        return;
    }
    if (!first_round)
        first_round = control_word(control, CONTROL_SEQUENCE);
    if (control_word(control, CONTROL_SEQUENCE) != first_round && kept[place].x == x) {
        memcpy(y, kept[place].y, bytes);
        return;
    }
    honest(x, y, rows, cols);
    if (!kept[place].y)
        kept[place].y = malloc(bytes);
    kept[place].x = x;
    memcpy(kept[place].y, y, bytes);
}
