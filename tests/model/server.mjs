// use: node server.mjs MODEL.gguf CONTEXT. Chat completions over a model in this process
// (node-llama-cpp, one thread, no GPU), on loopback; a response_format with a JSON schema is kept by
// its grammar. Prints its port; ends when its standard input does, with one JSON line of what it
// served.
import { createServer } from "node:http";
import { getLlama, LlamaGrammarEvaluationState } from "node-llama-cpp";

const [file, contextSize] = [process.argv[2], Number(process.argv[3])];
const llama = await getLlama({ gpu: false, build: "never", maxThreads: 1, logLevel: "error" });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize, threads: 1 });
const sequence = context.getSequence();
const served = { requests: 0, refused: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0 };
let last = Promise.resolve(); // one request at a time

// The schema in the words of this grammar, and narrower: a model of noise would never end an array or
// a number, and a text only after hundreds of characters. What the grammar has no word for is refused.
const known = new Set(["type", "properties", "required", "additionalProperties", "items", "minItems", "anyOf"]);
function narrowed(schema) {
  for (const word of Object.keys(schema))
    if (!known.has(word)) throw new TypeError(`the schema has '${word}', which this server does not know`);
  if (schema.anyOf) return { oneOf: schema.anyOf.map(narrowed) };
  if (Array.isArray(schema.type)) return { oneOf: schema.type.map((type) => narrowed({ ...schema, type })) };
  switch (schema.type) {
    case "string": return { type: "string", minLength: 1, maxLength: 16 };
    case "number": return { enum: [-1, -0.5, -0.1, 0, 0.1, 0.5, 1, 2] };
    case "null": return { type: "null" };
    case "array": {
      const count = schema.minItems ?? 0;
      return { type: "array", items: narrowed(schema.items), minItems: count, maxItems: count };
    }
    case "object": {
      const properties = Object.entries(schema.properties).map(([key, value]) => [key, narrowed(value)]);
      return { type: "object", properties: Object.fromEntries(properties), additionalProperties: false };
    }
  }
  throw new TypeError(`the schema has the type '${schema.type}', which this server does not know`);
}

function fail(response, status, error) {
  served.refused++;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { code: status, ...error } }));
}

async function complete(request, response) {
  const asked = JSON.parse(request);
  if (!Array.isArray(asked.messages) || typeof asked.max_tokens !== "number")
    return fail(response, 400, { type: "invalid_request_error", message: "messages and max_tokens are needed" });
  const prompt = asked.messages.map((m) => `[${m.role}]\n${m.content}\n`).join("");
  const tokens = model.tokenize(prompt);
  if (tokens.length + asked.max_tokens > contextSize)
    return fail(response, 400, { type: "exceed_context_size_error", n_prompt_tokens: tokens.length,
      n_ctx: contextSize, message: "the request exceeds the available context size" });
  let grammarEvaluationState;
  try {
    const schema = asked.response_format?.json_schema?.schema;
    const grammar = schema && await llama.createGrammarForJsonSchema(narrowed(schema));
    grammarEvaluationState = grammar && new LlamaGrammarEvaluationState({ model, grammar });
  } catch (error) {
    return fail(response, 400, { type: "invalid_request_error", message: `response_format: ${error.message}` });
  }
  // What the last prompt began with need not be computed again.
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
  const cached = sequence.nextTokenIndex;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (value) => response.write(`data: ${JSON.stringify(value)}\n\n`);
  const made = [];
  let said = "";
  let finish = "length";
  const sampling = { temperature: asked.temperature ?? 1, seed: 7 + served.requests,
    grammarEvaluationState, yieldEogToken: true };
  for await (const token of sequence.evaluate(tokens.slice(cached), sampling)) {
    if (model.isEogToken(token)) { finish = "stop"; break; }
    made.push(token);
    const text = model.detokenize(made);
    if (!text.endsWith("\ufffd")) { // a character of several bytes is sent when it is whole
      send({ choices: [{ index: 0, delta: { content: text.slice(said.length) } }] });
      said = text;
    }
    if (grammarEvaluationState && text.endsWith("\n\n\n\n")) { finish = "stop"; break; } // how its grammar ends
    if (made.length >= asked.max_tokens) break;
  }
  const usage = { prompt_tokens: tokens.length, completion_tokens: made.length,
    prompt_tokens_details: { cached_tokens: cached } };
  served.requests++;
  served.prompt_tokens += usage.prompt_tokens;
  served.completion_tokens += usage.completion_tokens;
  served.cached_tokens += cached;
  send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  send({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    if (request.method !== "POST" || request.url !== "/v1/chat/completions")
      return fail(response, 404, { type: "not_found_error", message: `there is no ${request.url}` });
    last = last.then(() => complete(Buffer.concat(parts).toString("utf8"), response))
      .catch((error) => fail(response, 500, { type: "server_error", message: String(error) }));
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume();
process.stdin.on("end", () => { console.log(JSON.stringify(served)); process.exit(0); });
