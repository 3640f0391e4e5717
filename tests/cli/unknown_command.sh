# exit: 2
"$KOPE" optimise examples/matmul 2>&1
