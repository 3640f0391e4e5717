# What comes over a pipe may be anything: no crash, no endless memory, nothing on standard output but JSON-RPC.
# exit: 0
root=$(dirname "$DATA")/../mcp/data
run() { timeout 60 "$KOPE" mcp --root "$root" 2>errors; echo "exit $?"; [ ! -s errors ] || { echo "errors:"; cat errors; }; }
only_json() { grep -v '^{"jsonrpc":"2.0",.*}$' "$1" | grep -v '^exit 0$'; }
init='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}'
ping='{"jsonrpc":"2.0","id":"p","method":"ping"}'

echo "no input"; run </dev/null
echo "random bytes"; { head -c 300000 /dev/urandom; echo; echo "$ping"; } | run >out; only_json out; tail -n 2 out
echo "10 MiB without an end"; { head -c 10485760 /dev/zero | tr '\0' x; echo; echo "$ping"; } | run >out; only_json out; cat out
echo "10 MiB of values"; { echo '['; head -c 2000000 /dev/zero | sed 's/\x0/0,/g'; echo; echo "$ping"; } | run >out; only_json out; tail -n 2 out
echo "deep"; { head -c 100000 /dev/zero | tr '\0' '['; echo; echo "$ping"; } | run >out; only_json out; cat out
echo "invalid UTF-8"; printf '{"jsonrpc":"2.0","id":"\xff\xfe","method":"ping"}\n%s\n' "$ping" | run >out; only_json out; tail -n 2 out
echo "no line end, CRLF, empty lines"; printf '\n\r\n%s\r\n\n%s' "$init" "$ping" | run >out; only_json out; wc -l <out; tail -n 2 out
echo "10000 requests"; { echo "$init"; for ((i = 1; i <= 10000; i++)); do
    echo '{"jsonrpc":"2.0","id":'$i',"method":"tools/call","params":{"name":"kope_runs","arguments":{}}}'; done; } | run >out
only_json out; grep -c '"id":' out; tail -n 1 out
echo "a client that does not read"; { echo "$init"; for ((i = 1; i <= 300; i++)); do
    echo '{"jsonrpc":"2.0","id":'$i',"method":"tools/list"}'; done; } | run | head -c 10 >/dev/null; echo over
echo "a client that leaves while a task is opened"
{ echo "$init"; echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kope_open_task","arguments":{"task":"scale2","target":"fake"}}}'; sleep 0.2; } |
  timeout 60 "$KOPE" mcp --root "$root" >out; echo "exit $?"; only_json out
echo "a signal"
{ echo "$init"; echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kope_open_task","arguments":{"task":"scale2","target":"fake"}}}'; sleep 4; } |
  "$KOPE" mcp --root "$root" >out &
sleep 1.5; kill -TERM $!; wait; only_json out; grep -c '"id":1' out
"$KOPE" runs --json | grep -o '"end_reason":"interrupted"' | sort | uniq -c | tr -s ' '
