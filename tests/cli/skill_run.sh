# A trial admits a skill, and the next run begins with it; a loss contradicts, on scripted times.
"$KOPE" skill verify restrict --on "$DATA/landscape" --target fake 2>/dev/null | tail -n 1
"$KOPE" skill verify no-trapping --on "$DATA/landscape" --target fake 2>/dev/null
"$KOPE" skill list --target fake --state verified
"$KOPE" optimize "$DATA/landscape" --target fake --budget 3 --seed 1 --json 2>/dev/null >out.jsonl || exit 1
grep -c 'begin with the skills that apply here: no-trapping' out.jsonl
"$KOPE" context "$DATA/landscape" --target fake --ledger | grep -c 'skill .*no-trapping'
"$KOPE" skill show no-trapping --target fake | grep -E '^  (state|trial|reuse)'
"$KOPE" skill export out --target fake && head -n 2 out/no-trapping/SKILL.md
"$KOPE" memory rebuild | grep -c 'equal to the old one'
