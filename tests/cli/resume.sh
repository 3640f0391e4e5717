# exit: 0
# Ctrl-C keeps what was paid for; resume judges the rest of the budget and nothing twice; an ended run cannot be resumed.
"$KOPE" optimize "$DATA/tiny" --budget 8 --seed 1 --json >first.jsonl 2>first.err &
pid=$!
for ((i = 0; i < 600; i++)); do
  [ "$(grep -c '"event":"judged"' first.jsonl)" -ge 2 ] && break
  sleep 0.1
done
kill -INT "$pid"
wait "$pid"
echo "interrupted: exit $?"
"$KOPE" resume last --json >second.jsonl || exit 1
# What comes to machine code judged before takes nothing from the budget.
cat first.jsonl second.jsonl | grep '"event":"judged"' | grep -vc '"mechanism":"repeat"'
cat first.jsonl second.jsonl | sed -n 's/.*"event":"judged".*"decision":"\([0-9a-f]*\)".*/\1/p' | sort | uniq -d | wc -l
"$KOPE" resume last 2>&1
echo "ended: exit $?"
