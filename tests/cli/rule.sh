# exit: 4
# beside others
# One flag that the target refuses again and again becomes a rule, and the next run saves builds; mistakes name what helps.
export KOPE_MEMORY=$PWD/memory
optimize() { "$KOPE" optimize "$DATA/twice" --target fake --budget 30 --seed "$1" --quiet; }
"$KOPE" rule list --target fake 2>&1
optimize 1 | grep 'new rules'
"$KOPE" rule list --target fake
"$KOPE" rule show 'refused-flag -march=native' --target fake | grep -v 'rule \|from'
"$KOPE" rule verify --target fake
optimize 2 | grep -c 'rules refused [0-9]* more before a build'
"$KOPE" rule list --target fake --json | grep -c '"builds_saved":[1-9]'
"$KOPE" rule learn --target fake
"$KOPE" memory rebuild | grep -c 'equal to the old one'
"$KOPE" rule verify nothing --target fake 2>&1
"$KOPE" rule lst 2>&1
"$KOPE" rule show 12ab --target fake 2>&1
