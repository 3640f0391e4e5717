# The HTTP transport: who may ask, sessions of the legacy era, headers of the modern one, streams.
# exit: 0
command -v curl >/dev/null || { echo "curl is missing: ./dev setup"; exit 77; }
root=$(dirname "$DATA")/../mcp/data
token=0123456789abcdef0123456789abcdef
TOKEN=$token "$KOPE" mcp --http 127.0.0.1:0 --token-env TOKEN --root "$root" 2>log &
server=$!
trap 'kill $server 2>/dev/null' EXIT
for ((i = 0; i < 100; i++)); do grep -q serving log && break; sleep 0.1; done
url=$(sed -n 's/^kope: serving //p' log)
grep -c "$token" log
# Prints status and body.
ask() { curl -s -m 60 -w '%{http_code} ' -o body "$@" "$url"; head -c 300 body; echo; }
auth=(-H "Authorization: Bearer $token" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream')
init='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
echo "--- who may ask"
ask -d "$init"
ask -H "Authorization: Bearer wrong" -d "$init"
ask "${auth[@]}" -H "Origin: https://evil.example" -d "$init"
ask "${auth[@]}" -H "Host: evil.example" -d "$init"
ask "${auth[@]}" -X PUT -d "$init"
ask -H "Authorization: Bearer $token" -H "Content-Type: text/plain" -d "$init" -H "Origin: http://localhost:1"
echo "--- a legacy session"
curl -s -D head -o body "${auth[@]}" -d "$init" "$url"; session=$(tr -d '\r' <head | sed -n 's/^Mcp-Session-Id: //ip')
echo "${#session}"
ask "${auth[@]}" -d '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
ask "${auth[@]}" -H "Mcp-Session-Id: none" -d '{"jsonrpc":"2.0","id":2,"method":"ping"}'
ask "${auth[@]}" -H "Mcp-Session-Id: $session" -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'
ask "${auth[@]}" -H "Mcp-Session-Id: $session" -d '{"jsonrpc":"2.0","id":2,"method":"ping"}'
ask "${auth[@]}" -H "Mcp-Session-Id: $session" -H 'MCP-Protocol-Version: 1999-01-01' -d '{"jsonrpc":"2.0","id":2,"method":"ping"}'
curl -s -m 1 -o stream -w '%{http_code} %{content_type}\n' "${auth[@]}" -H "Mcp-Session-Id: $session" -X GET "$url"
ask "${auth[@]}" -H "Mcp-Session-Id: $session" -X DELETE
ask "${auth[@]}" -H "Mcp-Session-Id: $session" -d '{"jsonrpc":"2.0","id":2,"method":"ping"}'
echo "--- the modern era"
modern=("${auth[@]}" -H 'MCP-Protocol-Version: 2026-07-28')
ask "${modern[@]}" -H 'Mcp-Method: tools/list' -d '{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"x",'"$meta"'}}'
ask "${modern[@]}" -H 'Mcp-Method: tools/call' -H 'Mcp-Name: kope_report' -d '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"kope_runs",'"$meta"'}}'
ask "${modern[@]}" -H 'Mcp-Method: ping' -d '{"jsonrpc":"2.0","id":3,"method":"ping","params":{'"$meta"'}}'
ask "${modern[@]}" -H 'Mcp-Method: tools/list' -d '{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}'
ask "${modern[@]}" -X GET
echo "--- a stream of progress, then the answer"
call='{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"kope_open_task","arguments":{"task":"scale2","target":"fake"},"_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'
curl -s -m 60 "${modern[@]}" -H 'Mcp-Method: tools/call' -H 'Mcp-Name: kope_open_task' -d "$call" "$url" | cut -c1-110
echo "--- hostile"
head -c 10485760 /dev/zero | tr '\0' x >big; ask "${auth[@]}" --data-binary @big
ask "${auth[@]}" -d 'junk'
for ((i = 0; i < 200; i++)); do echo '{"jsonrpc":"2.0","id":'$i',"method":"ping"}' | curl -s -m 20 -o /dev/null -w '%{http_code}\n' "${auth[@]}" -d @- "$url" & [ $((i % 20)) -ne 19 ] || wait $(jobs -p | grep -v "^$server$"); done | sort | uniq -c | tr -s ' '
kill -TERM $server; wait $server; echo "exit $?"
