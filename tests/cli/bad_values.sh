# exit: 2
"$KOPE" optimize x --budget many 2>&1
"$KOPE" optimize x --time soon 2>&1
"$KOPE" optimize x --policy best 2>&1
"$KOPE" optimize 2>&1
"$KOPE" optimize x y 2>&1
"$KOPE" memory 2>&1
"$KOPE" optimize x --proposer llm 2>&1
