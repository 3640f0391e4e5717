# exit: 0
"$KOPE" optimize "$DATA/tiny" --budget 3 --seed 1 --json >out.jsonl || exit 1
grep '"event":"judged"' out.jsonl | grep -vc '"mechanism":"repeat"'
tail -n 1 out.jsonl | cut -c 1-25
