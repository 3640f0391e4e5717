# beside others
# Skills: shipped ones are listed, a predicate says where they apply, files go out and come back in.
"$KOPE" skill list | grep -E '^candidate +seed +(reassociate|vector-math) '
"$KOPE" skill show reassociate --on "$EXAMPLES/sum"
"$KOPE" skill show reassociate --on "$EXAMPLES/transpose" | tail -n 1
"$KOPE" skill show --facts "$EXAMPLES/softmax" | grep -E '^(sums|extrema|call) '
"$KOPE" skill export out --skill reassociate
head -n 2 out/reassociate/SKILL.md
sed -i 's/^name: .*/name: sum-faster/; s/kope-applies: .*/kope-applies: "sums > 0"/' out/reassociate/SKILL.md
"$KOPE" skill import out/reassociate 2>&1
mv out/reassociate out/sum-faster
"$KOPE" skill import out/sum-faster
"$KOPE" skill import out/sum-faster
"$KOPE" memory rebuild | grep -c 'equal to the old one'
"$KOPE" skill show sum-faster | head -n 3
sed -i 's/sums > 0/sumz > 0/' out/sum-faster/SKILL.md
"$KOPE" skill import out/sum-faster 2>&1
"$KOPE" skill verify sum-faster --on "$EXAMPLES/transpose" --target fake 2>/dev/null
"$KOPE" skill show sum-fastr 2>&1
"$KOPE" skill show 2>&1
true
