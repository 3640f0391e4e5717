# beside others
# A run notes the findings of its reference and of each new best: in the journal, the graph, the report and the next prompt.
cp -r "$DATA/landscape" . && echo '/* fake: missed 4 statement clobbers memory: expf */' >>landscape/reference.c
"$KOPE" optimize landscape --target fake --budget 12 --seed 3 --quiet >/dev/null 2>&1 || exit 1
"$KOPE" memory rebuild | grep -c 'equal to the old one'
"$KOPE" context landscape --target fake 2>/dev/null | grep -A1 '^What tools found'
"$KOPE" report last --html report.html >/dev/null && grep -q '(fakecc-1) &rarr; [a-z]' report.html && echo in the report
"$KOPE" profile landscape --target fake --no-timing 2>/dev/null | grep -c 'learned where this was found: .*x in [0-9]* step'
"$KOPE" optimize landscape --target fake --proposer replay:last 2>/dev/null | grep -c '12 decisions are those of the record'
# An arm whose beliefs take findings in decides otherwise, and is replayed decision by decision.
mkdir -p tasks && mv landscape tasks
cat >arms.yaml <<'END'
budget: {candidates: 6}
arms:
  - {name: without}
  - {name: with, findings: on}
END
"$KOPE" suite run tasks --arms arms.yaml --results out --target fake --quiet >/dev/null 2>&1 || exit 1
for arm in without with; do "$KOPE" optimize tasks/landscape --target fake --memory out/memory/$arm/1/landscape --proposer replay:last 2>/dev/null; done |
  grep -o '[0-9]* decisions are those of the record'
recipes() { "$KOPE" memory export "$1.jsonl" --memory out/memory/$1/1/landscape --format events >/dev/null && grep -o '"hypothesis":"[^"]*"' "$1.jsonl"; }
recipes without >without; recipes with >with; cmp -s without with || echo otherwise
sed -i 's/findings: on/findings: maybe/' arms.yaml && "$KOPE" suite run tasks --arms arms.yaml --target fake --results no 2>&1
# A compiler that is late with its records is asked once; what is seen in a loop of one buffer is not noted, and both are said.
events() { "$KOPE" optimize "$1" --target fake --budget 8 --seed 3 --quiet --memory "$1.memory" >/dev/null 2>&1; "$KOPE" memory export "$1.jsonl" --format events --memory "$1.memory" >/dev/null && cat "$1.jsonl"; }
for name in late shared; do cp -r "$DATA/landscape" $name; done
echo '/* fake: notes-late */' >>late/reference.c; events late >late.events
echo "late: $(grep -c 'it was not done in time"' late.events), again $(grep -c 'not asked again' late.events | sed 's/[1-9][0-9]*/some/')"
echo '/* fake: hot-loop */' >>shared/reference.c
events shared >/dev/null; "$KOPE" profile shared --target fake --no-timing 2>/dev/null
echo "two buffers: $(grep -c 'floating-point operations on one element at a time' shared.jsonl | sed 's/[1-9][0-9]*/some/')"
sed -i 's/name: y, role: out, shape: \[n\]/&, alias: x/' shared/task.yaml; rm -r shared.memory
events shared >/dev/null; "$KOPE" profile shared --target fake --no-timing 2>/dev/null
echo "one buffer: $(grep -c 'one element at a time' shared.jsonl), left out $(grep -c 'another version of which may run' shared.jsonl | sed 's/[1-9][0-9]*/some/')"
true
