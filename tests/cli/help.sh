# exit: 0
"$KOPE" help
