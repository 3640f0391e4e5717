# beside others
# A trial admits a skill, and the next run begins with it; a loss contradicts, on scripted times.
"$KOPE" skill verify restrict --on "$DATA/landscape" --target fake 2>/dev/null | tail -n 1
"$KOPE" skill verify no-trapping --on "$DATA/landscape" --target fake 2>/dev/null
"$KOPE" skill list --target fake --state verified
"$KOPE" skill verify unroll-4 --on "$DATA/landscape" --target fake 2>/dev/null | tail -n 1
# One that only the search tries, alone: what it gains there is evidence.
"$KOPE" skill export offered --skill width-256 --target fake >/dev/null && "$KOPE" skill import offered/width-256 >/dev/null
"$KOPE" optimize "$DATA/landscape" --target fake --budget 12 --seed 1 --json 2>/dev/null >out.jsonl || exit 1
grep -c 'begin with the skills that apply here: unroll-4, on the moves that promise most' out.jsonl
"$KOPE" context "$DATA/landscape" --target fake --ledger | grep -c 'skill .*no-trapping'
"$KOPE" skill show no-trapping --target fake | grep -E '^  (state|trial)'
"$KOPE" skill show width-256 --target fake | grep -E '^  reuse'
"$KOPE" skill export out --target fake && head -n 2 out/no-trapping/SKILL.md
"$KOPE" memory rebuild | grep -c 'equal to the old one'
# What the best moves do anyway costs no candidate of its own.
"$KOPE" skill verify no-trapping --on "$DATA/landscape" --target fake --memory held >/dev/null 2>&1
"$KOPE" optimize "$DATA/landscape" --target fake --budget 1 --seed 1 --memory held 2>&1 | grep '^starting from memory'
