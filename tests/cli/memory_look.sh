# exit: 2
# beside others
# Search, show and path of a memory; an id that is cut too short lists what it may mean.
cp -r "$EXAMPLES/../tests/golden/0.1" memory
"$KOPE" memory search vectors
"$KOPE" memory search zebra
"$KOPE" memory show 6671 | sed -n '1p;/^  recipe/p;/^outcome/,$p'
"$KOPE" memory show 09a2 | tail -n 3
"$KOPE" memory show 55a1 | head -n 1
"$KOPE" memory show 6671 --json | grep -c '"cases":\[{"name":"n=4096"'
"$KOPE" memory path 6671
"$KOPE" memory show 0123 2>&1
echo "not there: exit $?"
"$KOPE" memory path 09a2 2>&1
echo "no decision: exit $?"
"$KOPE" memory show a 2>&1
mkdir memory/store/66 && touch memory/store/66/717800000000000000000000000000.zst
"$KOPE" memory show 6671 2>&1
