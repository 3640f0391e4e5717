# exit: 2
"$KOPE" optimize "$EXAMPLES/softmax" --bugdet 3 2>&1
