# exit: 0
# A second run begins at the best known candidate and says so; memory verifies; the report is written.
# A busy host may leave a run without a confirmed winner: then another one is made.
for seed in 1 3 4; do
  "$KOPE" optimize "$EXAMPLES/gelu" --budget 5 --seed "$seed" >first.txt 2>/dev/null || exit 1
  grep -q 'confirmed$' first.txt && break
done
"$KOPE" optimize "$EXAMPLES/gelu" --budget 2 --seed 2 >second.txt 2>/dev/null || exit 1
grep -c 'confirmed$' first.txt
head -n 1 second.txt
"$KOPE" memory verify | tail -n 1
"$KOPE" memory rebuild
"$KOPE" report last --html report.html >/dev/null && grep -c '</html>' report.html
head -n 1 gelu.kope.c
