# A run notes the findings of its reference and of each new best: in the journal, the graph, the report and the next prompt.
cp -r "$DATA/landscape" . && echo '/* fake: missed 4 statement clobbers memory: expf */' >>landscape/reference.c
"$KOPE" optimize landscape --target fake --budget 12 --seed 3 --quiet >/dev/null 2>&1 || exit 1
"$KOPE" memory rebuild | grep -c 'equal to the old one'
"$KOPE" context landscape --target fake 2>/dev/null | grep -A1 '^What tools found'
"$KOPE" report last --html report.html >/dev/null && grep -q '(fakecc-1) &rarr; nest-vectors-' report.html && echo in the report
"$KOPE" optimize landscape --target fake --proposer replay:last 2>/dev/null | grep -c '12 decisions are those of the record'
