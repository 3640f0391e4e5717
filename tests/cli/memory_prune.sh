# exit: 2
# beside others
# A dry run changes nothing; what is pruned is gone, does not come back by a merge, and a rebuild is equal.
cp -r "$EXAMPLES/../tests/golden/0.1" memory
cp -r memory other
"$KOPE" memory prune --below 0.01
"$KOPE" memory prune --below 1 | head -n 1
"$KOPE" memory rebuild | grep -o '12 events'
"$KOPE" memory prune --below 1 --apply
"$KOPE" memory verify | tail -n 1
"$KOPE" memory rebuild | grep -o 'equal to the old one'
"$KOPE" memory merge other | head -n 2
"$KOPE" memory merge "$KOPE_MEMORY" --memory other | head -n 2
"$KOPE" memory show 6671 | head -n 1
"$KOPE" memory prune 2>&1
