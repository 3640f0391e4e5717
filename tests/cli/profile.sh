# beside others
# Findings with their moves, on a scripted record; tools that are not there are named; nothing is remembered.
cp -r "$DATA/landscape" . && echo '/* fake: missed 4 statement clobbers memory: expf */' >>landscape/reference.c
"$KOPE" profile landscape --target fake
"$KOPE" profile landscape --target fake --json 2>/dev/null | tail -1
"$KOPE" memory stats | grep decisions
"$KOPE" profile landscape --target fake --best --candidate x.c 2>&1
"$KOPE" profile landscape --target fake --best 2>&1
# Samples by line: shares with intervals, of enough samples only; nothing is run without timing.
{ cat landscape/reference.c; echo '/* fake: samples 4 900 */ /* fake: samples 5 12 */ /* fake: samples 0 600 */'; } >seen.c
"$KOPE" profile landscape --target fake --candidate seen.c 2>/dev/null | grep -A1 '^hot-line\|cpu-clock'
"$KOPE" profile landscape --target fake --candidate seen.c --no-timing 2>/dev/null | grep 'cpu-clock'
# Misses of simulated caches, in comparison with the data; not where these fit.
cp -r landscape large && sed -i 's/n: 64/n: 65536/' large/task.yaml
{ cat landscape/reference.c; echo '/* fake: misses 4 131072 60000 8192 */'; } >missing.c
"$KOPE" profile large --target fake --candidate missing.c 2>/dev/null | grep -A1 '^l[12]-misses\|cachegrind'
"$KOPE" profile landscape --target fake --candidate missing.c 2>/dev/null | grep 'cachegrind'
"$KOPE" profile large --target fake 2>/dev/null | grep 'cachegrind'
# A candidate that is not built or not right has check's exit code, and nobody says that nothing holds it up.
for verdict in build-failed 'reject M12-object' wrong; do
  { cat landscape/reference.c; echo "/* fake: $verdict */"; } >bad.c
  "$KOPE" profile landscape --target fake --candidate bad.c 2>/dev/null | grep "^no tool\|^not timed"; echo "exit ${PIPESTATUS[0]}"
  "$KOPE" profile landscape --target fake --candidate bad.c --no-timing --json 2>/dev/null | tail -1 | grep -o '"problem":"[^"]*"'
done
true
