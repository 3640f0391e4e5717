# exit: 4
"$KOPE" report last --json
