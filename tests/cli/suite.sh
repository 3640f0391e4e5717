# exit: 0
# A suite that is killed twice goes on, and no candidate is judged twice. Times are scripted: no noise, and quick.
for name in alpha beta gamma; do
  mkdir -p "tasks/$name"
  sed "s/^name: .*/name: $name/" "$DATA/landscape/task.yaml" >"tasks/$name/task.yaml"
  printf '/* %s */\n' "$name" | cat - "$DATA/landscape/reference.c" >"tasks/$name/reference.c"
done
sed -i 's/^family: .*/family: other/' tasks/gamma/task.yaml
cat >arms.yaml <<'END'
budget: {candidates: 4}
arms:
  - {name: without}
  - {name: growing, memory: on}
  - {name: others, memory: on, leave_out: task, from: without}
  - {name: kin, memory: on, leave_out: family, from: without, policy: greedy}
END
suite() { "$KOPE" suite run tasks --arms arms.yaml --results out --target fake "$@"; }
for after in 3 8; do
  "$KOPE" suite run tasks --arms arms.yaml --results out --target fake --quiet >/dev/null 2>&1 &
  pid=$!
  for ((i = 0; i < 600; i++)); do
    [ "$(cat out/results.jsonl 2>/dev/null | wc -l)" -lt $after ] && kill -0 $pid 2>/dev/null || break
    sleep 0.05
  done
  kill -KILL $pid 2>/dev/null
  wait $pid 2>/dev/null
done
suite --quiet
suite --quiet
wc -l <out/results.jsonl
# Of each run: 4 judged, 1 confirmed.
for memory in out/memory/*/1/*; do "$KOPE" runs --memory "$memory" --limit 1 --json; done | grep -o '"evaluations":4' | sort | uniq -c | tr -s ' '
"$KOPE" runs --memory out/memory/others/1/gamma --json | grep -o '"task":"[a-z]*"' | sort | uniq -c | tr -s ' '
"$KOPE" runs --memory out/memory/kin/1/alpha --json | grep -o '"task":"[a-z]*"' | sort | uniq -c | tr -s ' '
"$KOPE" runs --memory out/memory/growing/1/beta --json | grep -o '"task":"[a-z]*"' | sort | uniq -c | tr -s ' '
"$KOPE" suite report out --svg figure.svg
grep -c '</svg>' figure.svg
"$KOPE" replay out/memory/kin/1/beta --task beta | grep -c 'as recorded'
# What an arm judged is not judged again: the same policy and seed with an empty memory, from the record alone, without a build.
cat >twice.yaml <<'END'
budget: {candidates: 4}
timing: {case_ms: 500, confirm_ms: 500, half_width: 0.1}
arms: [{name: first}, {name: second}]
END
"$KOPE" suite run tasks --arms twice.yaml --results twice --tasks alpha --minutes 60 --target fake --quiet | head -n 1
for arm in first second; do "$KOPE" memory export "$arm.jsonl" --memory "twice/memory/$arm/1/alpha" >/dev/null; done
outcomes() { grep -c '"kind":"outcome"' "$1.jsonl"; }
[ "$(outcomes first)" = "$(outcomes second)" ] && echo 'as many verdicts'
[ "$(outcomes second)" = "$(grep -c '"from_record":true' second.jsonl)" ] && echo 'all of the second from the record'
grep -c '"confirmed":true' first.jsonl second.jsonl
# A part of the seeds, as another machine would run them.
"$KOPE" suite run tasks --arms twice.yaml --results apart --tasks alpha --first-seed 7 --seeds 2 --target fake --quiet | head -n 1
grep -o '"seed":[0-9]*' apart/results.jsonl | sort | uniq -c | tr -s ' '
"$KOPE" suite run tasks --arms twice.yaml --results apart --tasks alpha --first-seed 1000 --seeds 2 --target fake 2>&1
# Mistakes.
wrong() { printf '%s\n' "$1" >wrong.yaml; "$KOPE" suite run tasks --arms wrong.yaml --results other --target fake 2>&1; }
wrong 'arms: [{name: a}]'
wrong 'budget: {candidate: 6}'
wrong 'budget: {candidates: 4}
arms: [{name: a, polcy: greedy}]'
wrong 'budget: {candidates: 4}
arms: [{name: a, policy: best}]'
wrong 'budget: {candidates: 4}
arms: [{name: a, memory: maybe}]'
wrong 'budget: {candidates: 4}
arms: [{name: a, memory: on}, {name: b, memory: on, leave_out: task, from: a}]'
wrong 'budget: {candidates: 4}
arms: [{name: a, memory: frozen, from: nowhere}]'
wrong 'budget: {candidates: 4}
timing: {cases_ms: 5}
arms: [{name: a}]'
wrong 'budget: {candidates: 4}
timing: {half_width: 2}
arms: [{name: a}]'
wrong 'budget: {seconds: 6}
reuse: true
arms: [{name: a}]'
sed -i 's/4/5/' arms.yaml
suite 2>&1
sed -i 's/5/4/' arms.yaml
suite --tasks alpha 2>&1
echo '/* changed */' >>tasks/beta/reference.c
suite 2>&1
"$KOPE" suite run tasks --arms arms.yaml --results other --tasks alpha,delta 2>&1
"$KOPE" suite report nowhere 2>&1
true
