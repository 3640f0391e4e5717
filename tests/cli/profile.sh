# Findings with their moves, on a scripted record; tools that are not there are named; nothing is remembered.
cp -r "$DATA/landscape" . && echo '/* fake: missed 4 statement clobbers memory: expf */' >>landscape/reference.c
"$KOPE" profile landscape --target fake
"$KOPE" profile landscape --target fake --json 2>/dev/null | tail -1
"$KOPE" memory stats | grep decisions
"$KOPE" profile landscape --target fake --best --candidate x.c 2>&1
"$KOPE" profile landscape --target fake --best 2>&1
true
