# exit: 0
"$KOPE" task new my/kernel && "$KOPE" task check my/kernel >/dev/null && "$KOPE" task new my/kernel 2>&1
[ $? -ne 0 ]
