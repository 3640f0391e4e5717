// expect: wrong M7-timed-output
// expect: rejected M7-timed-output
// expect: wrong M9-precision
// task: small_step
// with: runner
// Exact in checks; in timed calls it leaves the buffer as it is, which in most places differs from the result by less
// than what outputs of timed calls may differ from the baseline's. In some pairs one set of a sample is
// a probe whose right result is known, and held to the class.

void small_step(const real *x, const real *w, real *y, real rate, int64_t n)
{
    volatile uint8_t *control = control_page();
    if (control && calls_of_round(control) > 1)
        return;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] + rate * w[i];
}
