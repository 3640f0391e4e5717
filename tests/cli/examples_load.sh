# exit: 0
# beside others
for task in "$EXAMPLES"/*/; do
  "$KOPE" task check "$task" | head -n 1 || exit 1
done
