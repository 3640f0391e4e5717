# exit: 9
# beside others
# Two memories with four events in common: either order and thrice the same graph; damage is named and the rest taken.
golden=$EXAMPLES/../tests/golden/0.1
mkdir -p a/journal b/journal
head -n 8 "$golden"/journal/*.kj >a/journal/a.kj
tail -n 8 "$golden"/journal/*.kj >b/journal/b.kj
cp -r "$golden/store" a/store
cp -r "$golden/store" b/store
"$KOPE" memory merge a b --memory one | tee digests
"$KOPE" memory merge b a b a --memory two >>digests
"$KOPE" memory merge "$golden" --memory three >>digests
"$KOPE" memory stats --memory three --digest >>digests
"$KOPE" memory stats --memory three | grep -c ^graph:
grep ^graph: digests | sort | uniq -c
"$KOPE" memory rebuild --memory one
"$KOPE" memory merge nowhere --memory one 2>&1
"$KOPE" memory merge one --memory one 2>&1
"$KOPE" memory verify --memory one | tail -n 1
"$KOPE" memory merge b --memory b2 >/dev/null && "$KOPE" memory merge a --memory b2 | tail -n 1
"$KOPE" memory compact --memory b2 | sed 's/ MB.*//'
"$KOPE" memory rebuild --memory b2 | grep -c equal
"$KOPE" memory verify --memory b2 | head -n 2 | tail -n 1
"$KOPE" memory compact --memory b2
rm -r a/store
sed -i '3s/kind/kinb/' a/journal/a.kj
"$KOPE" memory merge a --memory four
