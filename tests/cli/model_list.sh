# Models by name: listed without a network, their keys by name only, mistakes by line.
cat >kope.yaml <<'END'
roles: {small_step: local}
models:
  local: {dialect: llama.cpp, model: tiny}
  large: {dialect: anthropic, model: big, key_variable: BIG_KEY}
END
export BIG_KEY=sk-never-shown-0123456789
"$KOPE" model list
"$KOPE" --json model list | grep -c sk-never
"$KOPE" doctor >doctor.txt || true
grep -c 'BIG_KEY is set' doctor.txt
grep -c sk-never doctor.txt
"$KOPE" model ping larg 2>&1
sed -i 's/key_variable: BIG_KEY/key_variable: sk-abc/' kope.yaml
"$KOPE" model list 2>&1
true
