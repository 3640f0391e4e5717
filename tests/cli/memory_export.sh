# exit: 2
# beside others
# Events come as the journal has them; a trajectory is a run; nothing is left behind by an export that fails.
cp -r "$EXAMPLES/../tests/golden/0.1" memory
"$KOPE" memory export events.jsonl
sed 's/^[0-9a-f]* [0-9a-f]* //' memory/journal/*.kj | cmp - events.jsonl && echo same
"$KOPE" memory export runs.jsonl --format trajectories
grep -o '"reward":[^n]*,"interval":[^]]*]' runs.jsonl
"$KOPE" memory export pairs.jsonl --format pairs --json
"$KOPE" memory export nowhere/x.jsonl 2>&1
ls
"$KOPE" memory export x.jsonl --format pears 2>&1
