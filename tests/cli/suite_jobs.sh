# exit: 0
# Runs of a suite at the same time: the results are those of one after the other, also where it was stopped or a run failed.
# Times are scripted.
for name in alpha beta gamma; do
  mkdir -p "tasks/$name"
  sed "s/^name: .*/name: $name/" "$DATA/landscape/task.yaml" >"tasks/$name/task.yaml"
  printf '/* %s */\n' "$name" | cat - "$DATA/landscape/reference.c" >"tasks/$name/reference.c"
done
cat >arms.yaml <<'END'
budget: {candidates: 3}
arms:
  - {name: without}
  - {name: growing, memory: on}
  - {name: others, memory: on, leave_out: task, from: without}
END
suite() { "$KOPE" suite run tasks --target fake --quiet "$@"; }
said() { "$KOPE" suite report "$1" --json | sed 's/"seconds":[^,]*,//g'; }
suite --arms arms.yaml --results one
suite --arms arms.yaml --results three --jobs 3
[ "$(said one)" = "$(said three)" ] && echo 'the same table'
# Stopped in the middle (by a signal, then killed), the same command goes on. Workers go with their parent.
for signal in INT KILL; do
  [ $signal = INT ] && after=2 || after=5
  "$KOPE" suite run tasks --arms arms.yaml --results stopped --target fake --jobs 3 --quiet >/dev/null 2>&1 &
  pid=$!
  for ((i = 0; i < 1200; i++)); do
    [ "$(cat stopped/results.jsonl 2>/dev/null | wc -l)" -lt $after ] && kill -0 $pid 2>/dev/null || break
    sleep 0.05
  done
  kill -$signal $pid 2>/dev/null
  wait $pid 2>/dev/null
done
for ((i = 0; i < 1200; i++)); do
  suite --arms arms.yaml --results stopped --jobs 2 >went-on 2>&1
  # The lock is free when the last worker of the killed one is gone.
  grep -q 'is locked' went-on || break
  sleep 0.05
done
cat went-on
wc -l <stopped/results.jsonl
for memory in stopped/memory/*/1/*; do "$KOPE" runs --memory "$memory" --limit 1 --json; done | grep -o '"evaluations":3' | sort | uniq -c | tr -s ' '
# One that fails ends all; what the others had is kept, and is gone on with.
cat >failing.yaml <<'END'
budget: {candidates: 3}
arms: [{name: good}, {name: bad, proposer: 'agent:./no-such-agent'}]
END
suite --arms failing.yaml --results failed --tasks alpha,beta --jobs 3 2>&1
echo "exit $?"
grep -c '"arm":"good"' failed/results.jsonl
# Mistakes.
suite --arms arms.yaml --results other --jobs 0 2>&1
suite --arms arms.yaml --results other --jobs 5000 2>&1
"$KOPE" suite run tasks --arms arms.yaml --results another --jobs 1000 --quiet 2>&1
sed -i 's/^name: alpha/&\nthreads: 2/' tasks/alpha/task.yaml
suite --arms arms.yaml --results threads --jobs 2 2>&1
true
