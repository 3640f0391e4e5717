# exit: 0
"$KOPE" optimize "$DATA/tiny" --budget 3 --seed 1 --json >out.jsonl || exit 1
grep -c '"event":"judged"' out.jsonl
tail -n 1 out.jsonl | cut -c 1-25
