# exit: 0
# A run comes out as it was recorded; policies are compared on its record. Times are scripted: no noise, and quick.
run() { "$KOPE" optimize "$DATA/landscape" --target fake --memory m --budget 16 --quiet "$@" >/dev/null || exit 1; }
run --seed 1
run --seed 2 --policy greedy --fresh
"$KOPE" replay last --memory m
"$KOPE" replay m
"$KOPE" replay m --policy mcts,greedy --seeds 10
"$KOPE" replay m --policy mcts --task landscape --seeds 5 --draws --json | tail -n 1 | grep -o '"policy":"mcts"\|"seeds":5'
"$KOPE" replay m --task nothing --policy all 2>&1
"$KOPE" replay last --memory m --seeds 3 2>&1
"$KOPE" replay last --memory m --policy mcts,best 2>&1
"$KOPE" replay m --memory m 2>&1
true
