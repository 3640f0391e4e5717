# exit: 0
# beside others
# Both sides must be right, A first; the exit code is the verdict's. Times are scripted: no noise, and quick.
a=$DATA/twice/reference.c
compare() { "$KOPE" compare "$@" --quiet --target fake; }
printf '/* fake: wrong */\n' | cat "$a" - >wrong.c
sed 's/time=100us/time=80us/; s/cold=300us/cold=600us/' "$a" >fast.c
compare "$a" wrong.c "$DATA/twice" >out.txt
printf 'B: %d %s\n' $? "$(grep -c '^twice: B: wrong' out.txt)"
compare wrong.c "$a" "$DATA/twice" >out.txt
printf 'A: %d %s\n' $? "$(grep -c '^twice: A: wrong' out.txt)"
compare wrong.c nothing.c "$DATA/twice" 2>/dev/null
printf 'no such file: %d\n' $?
compare "$a" "$a" "$DATA/twice" --b-compiler icc 2>&1
printf 'no such compiler: %d\n' $?
compare "$a" "$a" "$DATA/twice" --case n=7 2>&1 | grep -c "no case 'n=7'"
compare "$a" "$a" "$DATA/twice"
compare "$a" fast.c "$DATA/twice"
compare "$a" fast.c "$DATA/twice" --json | tail -n 1 | grep -o '"result":"[a-z ]*"\|"cold":{[^}]*}\|"flags":"[^"]*"\|"empty_ns":[0-9.]*' | sort -u
