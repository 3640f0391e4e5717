# exit: 0
# Both sides must be right, A first; the exit code is the verdict's. Equals are equal, or the host is too busy to tell.
good=$DATA/tiny/reference.c
sed 's/y\[i\] = .*;/y[i] = 0;/' "$good" >bad.c
"$KOPE" compare "$good" bad.c "$DATA/tiny" --quiet >out.txt
printf 'B: %d %s\n' $? "$(grep -c '^wave: B: wrong' out.txt)"
"$KOPE" compare bad.c nothing.c "$DATA/tiny" --quiet 2>/dev/null
printf 'no such file: %d\n' $?
"$KOPE" compare bad.c "$good" "$DATA/tiny" --quiet >out.txt
printf 'A: %d %s\n' $? "$(grep -c '^wave: A: wrong' out.txt)"
"$KOPE" compare "$good" "$good" "$DATA/tiny" --time 300ms --case n=4096 --json --quiet >out.json
case $?$(tail -n 1 out.json | sed -n 's/.*"event":"comparison","task":"wave","result":"\([a-z ]*\)".*/ \1/p') in
  '0 no difference' | '25 none') echo 'equals: as they should' ;;
  *) tail -n 1 out.json ;;
esac
"$KOPE" compare "$good" "$good" "$DATA/tiny" --case n=7 --quiet 2>&1 | grep -c "no case 'n=7'"
