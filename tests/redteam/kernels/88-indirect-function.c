// expect: rejected M12-object
// task: softmax
// with: hidden
// Is chosen by a resolver that runs when the image is loaded, before any filter for candidates.

ASSEMBLY(".type chosen, @gnu_indirect_function\n.globl chosen\nchosen: mov $0, %eax\n ret\n");

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)(rows + cols);
}
