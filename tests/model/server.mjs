// use: node server.mjs MODEL.gguf CONTEXT. Chat completions over a model in this process
// (node-llama-cpp, one thread, no GPU), on loopback. Prints its port; ends when its standard input
// does, with one JSON line of what it served.
import { createServer } from "node:http";
import { getLlama } from "node-llama-cpp";

const [file, contextSize] = [process.argv[2], Number(process.argv[3])];
const llama = await getLlama({ gpu: false, build: "never", maxThreads: 1, logLevel: "error" });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize, threads: 1 });
const sequence = context.getSequence();
const served = { requests: 0, refused: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0 };
let last = Promise.resolve(); // one request at a time

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
  // What the last prompt began with need not be computed again.
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
  const cached = sequence.nextTokenIndex;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (value) => response.write(`data: ${JSON.stringify(value)}\n\n`);
  const made = [];
  let finish = "length";
  for await (const token of sequence.evaluate(tokens.slice(cached), { temperature: asked.temperature ?? 1, seed: 7 + served.requests })) {
    if (model.isEogToken(token)) { finish = "stop"; break; }
    made.push(token);
    send({ choices: [{ index: 0, delta: { content: model.detokenize([token]) } }] });
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
