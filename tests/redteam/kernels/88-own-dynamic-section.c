// expect: rejected M12-object
// task: softmax
// with: hidden
// Brings its own entries for the loader, so that relocations write where no linker would.

ASSEMBLY(".section .dynamic,\"aw\"\n.quad 7, 0x1000, 8, 24, 9, 24\n.text\n");

void softmax(const real *x, real *y, int64_t rows, int64_t cols)
{
    y[0] = x[0] + (real)(rows + cols);
}
