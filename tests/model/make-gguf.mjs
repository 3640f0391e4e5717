// use: node make-gguf.mjs FILE. Writes a tiny language model with random weights and one token for
// each byte: it exercises a real server's tokenizer, sampler and limits, and talks nonsense.
import { writeFileSync } from "node:fs";

const embedding = 32, layers = 1, heads = 2, feedForward = 64, context = 65536;
const special = ["<unk>", "<s>", "</s>"];
const types = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 };

let state = 20260101;
function random() {
  // mulberry32
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

const chunks = [];
let length = 0;
function put(buffer) { chunks.push(buffer); length += buffer.length; }
function u32(value) { const b = Buffer.alloc(4); b.writeUInt32LE(value); put(b); }
function i32(value) { const b = Buffer.alloc(4); b.writeInt32LE(value); put(b); }
function f32(value) { const b = Buffer.alloc(4); b.writeFloatLE(value); put(b); }
function u64(value) { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(value)); put(b); }
function string(value) { const b = Buffer.from(value, "utf8"); u64(b.length); put(b); }
const writers = { u32, i32, f32, string, bool: (value) => put(Buffer.from([value ? 1 : 0])) };

const tokens = [...special, ...Array.from({ length: 256 }, (_, i) =>
  `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`)];
const values = [
  ["general.architecture", "string", "llama"],
  ["general.name", "string", "kope-test-bytes"],
  ["general.file_type", "u32", 0],
  ["llama.context_length", "u32", context],
  ["llama.embedding_length", "u32", embedding],
  ["llama.block_count", "u32", layers],
  ["llama.feed_forward_length", "u32", feedForward],
  ["llama.attention.head_count", "u32", heads],
  ["llama.attention.head_count_kv", "u32", heads],
  ["llama.attention.layer_norm_rms_epsilon", "f32", 1e-5],
  ["llama.rope.dimension_count", "u32", embedding / heads],
  ["llama.vocab_size", "u32", tokens.length],
  ["tokenizer.ggml.model", "string", "llama"],
  ["tokenizer.ggml.tokens", "array", ["string", tokens]],
  ["tokenizer.ggml.scores", "array", ["f32", tokens.map(() => 0)]],
  // 2 unknown, 3 control, 6 byte
  ["tokenizer.ggml.token_type", "array", ["i32", tokens.map((_, i) => (i === 0 ? 2 : i < 3 ? 3 : 6))]],
  ["tokenizer.ggml.bos_token_id", "u32", 1],
  ["tokenizer.ggml.eos_token_id", "u32", 2],
  ["tokenizer.ggml.unknown_token_id", "u32", 0],
  ["tokenizer.ggml.add_bos_token", "bool", true],
  ["tokenizer.ggml.add_space_prefix", "bool", false],
];

const tensors = [["token_embd.weight", [embedding, tokens.length]]];
for (let i = 0; i < layers; i++) {
  for (const name of ["attn_q", "attn_k", "attn_v", "attn_output"])
    tensors.push([`blk.${i}.${name}.weight`, [embedding, embedding]]);
  tensors.push([`blk.${i}.attn_norm.weight`, [embedding]], [`blk.${i}.ffn_norm.weight`, [embedding]],
    [`blk.${i}.ffn_gate.weight`, [embedding, feedForward]],
    [`blk.${i}.ffn_up.weight`, [embedding, feedForward]],
    [`blk.${i}.ffn_down.weight`, [feedForward, embedding]]);
}
tensors.push(["output_norm.weight", [embedding]], ["output.weight", [embedding, tokens.length]]);

put(Buffer.from("GGUF"));
u32(3);
u64(tensors.length);
u64(values.length);
for (const [key, type, value] of values) {
  string(key);
  u32(types[type]);
  if (type !== "array") { writers[type](value); continue; }
  const [itemType, items] = value;
  u32(types[itemType]);
  u64(items.length);
  items.forEach(writers[itemType]);
}
let offset = 0;
for (const [name, shape] of tensors) {
  string(name);
  u32(shape.length);
  shape.forEach(u64);
  u32(0); // F32
  u64(offset);
  const bytes = 4 * shape.reduce((a, b) => a * b, 1);
  offset += Math.ceil(bytes / 32) * 32;
}
function align() { put(Buffer.alloc((32 - (length % 32)) % 32)); }
align();
for (const [name, shape] of tensors) {
  const count = shape.reduce((a, b) => a * b, 1);
  const data = new Float32Array(count);
  for (let i = 0; i < count; i++)
    data[i] = name.endsWith("norm.weight") ? 1 : (random() - 0.5) * 0.5;
  put(Buffer.from(data.buffer));
  align();
}
writeFileSync(process.argv[2], Buffer.concat(chunks));
