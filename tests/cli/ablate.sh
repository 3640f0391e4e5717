# What each part of a winner is worth, on scripted times; parts that pay are candidate skills; the graph survives a rebuild.
"$KOPE" optimize "$DATA/landscape" --target fake --budget 12 --seed 3 --quiet >/dev/null 2>&1 || exit 1
"$KOPE" ablate last --target fake 2>/dev/null | sed 's/[0-9.]*x \[.*\]/Rx/'
"$KOPE" skill list --target fake | grep -c '^candidate *distilled'
"$KOPE" report last --html report.html >/dev/null && grep -c 'the winner is .* faster' report.html
grep -c 'What each part of the winner is worth' report.html
"$KOPE" memory rebuild | grep -c 'equal to the old one'
"$KOPE" ablate last 2>&1; echo "exit $?"
"$KOPE" ablate nope --target fake 2>&1
true
