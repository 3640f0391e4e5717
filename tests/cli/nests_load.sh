# exit: 0
# beside others
# The kernels of bench/ablation are sound tasks.
for task in "$EXAMPLES"/../bench/nests/*/; do
  "$KOPE" task check "$task" | head -n 1 || exit 1
done
