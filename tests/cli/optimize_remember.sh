# exit: 0
# beside others
# A second run begins at the best known candidate and says so; memory verifies; the report is written. Times are scripted.
optimize() { "$KOPE" optimize "$DATA/landscape" --target fake "$@" 2>/dev/null; }
optimize --budget 5 --seed 1 >first.txt || exit 1
optimize --budget 2 --seed 2 >second.txt || exit 1
grep -c 'confirmed$' first.txt
head -n 1 second.txt
"$KOPE" memory verify | tail -n 1
"$KOPE" memory rebuild
"$KOPE" report last --html report.html >/dev/null && grep -c '</html>' report.html
grep -o 'faster than <code>[^<]*' report.html
head -n 1 landscape.kope.c
