# beside others
# What is understood of a reference, and the nest printed as C is judged right by the gate.
"$KOPE" task explain "$EXAMPLES/matmul" --target fake
"$KOPE" task explain "$EXAMPLES/matmul" --source >printed.c
"$KOPE" check "$EXAMPLES/matmul" printed.c --no-timing | grep -v '^  sandbox layers' # where this host lacks some
mkdir odd && cp "$EXAMPLES/sum/task.yaml" odd/ && cat >odd/reference.c <<'END'
#include <stdint.h>
void sum(const real *x, real *total, int64_t n)
{
    *total = 0;
    while (n-- > 0)
        *total += x[n];
}
END
"$KOPE" task explain odd --target fake
"$KOPE" task explain odd --json --target fake
"$KOPE" task explain "$EXAMPLES/softmax_inplace" | head -n 2
"$KOPE" task check "$EXAMPLES/softmax_inplace" --json
# On a real machine its own steps are there too; an unknown target has none.
"$KOPE" task explain "$EXAMPLES/matmul" --target gpu9 2>&1
"$KOPE" task explain "$EXAMPLES/matmul" | grep -c '^  vectorize(j:[0-9]*): applies'
