# exit: 0
# beside others
# Each kind of bad candidate gets its verdict and exit code, and the gate goes on to the next.
for name in right loops crashes past_end returns_at_once writes_nan needs_100_gib no_compile; do
  "$KOPE" check "$EXAMPLES/softmax" "$DATA/$name.c" --no-timing --json --quiet >out.json 2>err.txt
  code=$?
  printf '%s %d %s\n' "$name" "$code" "$(tail -n 1 out.json | sed -n 's/.*"kind":"\([a-z-]*\)".*/\1/p')"
done
