# exit: 4
"$KOPE" task check no/such/task 2>&1
