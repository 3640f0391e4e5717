// use: node mock-model.mjs LOG. A model of four APIs on loopback that plays one script: open the task, have a candidate judged,
// finish, say so. Which step comes next is told by the tool results in the request. Prints its address; logs each request.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

const log = process.argv[2];
const script = [
  ['kope_open_task', { task: 'scale2', target: 'fake', budget: 4 }],
  ['kope_evaluate', { source: '/* fake: time=500us */', intent: 'half the time', predicted_speedup: 2 }],
  ['kope_finish', {}],
];

// The offered tool of that name, whatever an agent puts before it.
const offered = (names, wanted) => names.find((n) => n.name === wanted || n.name.endsWith('_' + wanted) || n.name.endsWith('.' + wanted));
// Some agents keep the tools of servers back: one tool finds them by name, another calls them.
const keptBack = 'mcp__kope__';
const nextStep = (results, names) => {
  const search = offered(names, 'tool_search'), call = offered(names, 'tool_call');
  if (!names.some((n) => n.name.includes('kope_')) && search && call) {
    if (results === 0) return { ...search, args: { query: 'select:' + script.map((s) => keptBack + s[0]).join(',') }, id: 'call_0' };
    const step = script[results - 1];
    return step ? { ...call, args: { name: keptBack + step[0], arguments: step[1] }, id: `call_${results}` } : { text: 'all is done' };
  }
  const step = script[results];
  const tool = step && offered(names, step[0]);
  return tool ? { ...tool, args: step[1], id: `call_${results}` } : { text: names.length ? 'all is done' : 'a title' };
};
const count = (list, is) => (list ?? []).filter(is).length;

const apis = {
  chat(body) {
    const step = nextStep(count(body.messages, (m) => m.role === 'tool'), (body.tools ?? []).map((t) => ({ name: t.function?.name ?? '' })));
    const delta = step.text ? { role: 'assistant', content: step.text }
      : { role: 'assistant', tool_calls: [{ index: 0, id: step.id, type: 'function', function: { name: step.name, arguments: JSON.stringify(step.args) } }] };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const base = { id: 'c', created: 1, model: body.model };
    const finish_reason = step.text ? 'stop' : 'tool_calls';
    if (!body.stream) return { json: { ...base, object: 'chat.completion', usage, choices: [{ index: 0, message: delta, finish_reason }] } };
    const chunk = (choices, more) => ({ data: { ...base, object: 'chat.completion.chunk', choices, ...more } });
    return { events: [chunk([{ index: 0, delta, finish_reason: null }]), chunk([{ index: 0, delta: {}, finish_reason }]), chunk([], { usage }), { data: '[DONE]' }] };
  },
  responses(body) {
    const names = (body.tools ?? []).flatMap((t) => t.type === 'namespace' ? t.tools.map((u) => ({ name: u.name, namespace: t.name })) : [{ name: t.name ?? '' }]);
    const step = nextStep(count(body.input, (i) => i.type === 'function_call_output'), names);
    const item = step.text ? { type: 'message', role: 'assistant', id: 'm', content: [{ type: 'output_text', text: step.text }] }
      : { type: 'function_call', id: 'f', call_id: step.id, name: step.name, ...(step.namespace && { namespace: step.namespace }), arguments: JSON.stringify(step.args) };
    const usage = { input_tokens: 10, input_tokens_details: null, output_tokens: 5, output_tokens_details: null, total_tokens: 15 };
    return { events: [
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'r', output: [item], usage } },
    ].map((data) => ({ event: data.type, data })) };
  },
  messages(body) {
    const results = (body.messages ?? []).flatMap((m) => Array.isArray(m.content) ? m.content : []).filter((c) => c.type === 'tool_result').length;
    const step = nextStep(results, (body.tools ?? []).map((t) => ({ name: t.name })));
    const usage = { input_tokens: 10, output_tokens: 5 };
    const block = step.text ? { type: 'text', text: step.text } : { type: 'tool_use', id: 'tool' + step.id, name: step.name, input: step.args };
    const stop_reason = step.text ? 'end_turn' : 'tool_use';
    const message = { id: 'msg', type: 'message', role: 'assistant', model: body.model, content: [block], stop_reason, stop_sequence: null, usage };
    if (!body.stream) return { json: message };
    return { events: [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: step.text ? { type: 'text', text: '' } : { ...block, input: {} } },
      { type: 'content_block_delta', index: 0, delta: step.text ? { type: 'text_delta', text: step.text } : { type: 'input_json_delta', partial_json: JSON.stringify(step.args) } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ].map((data) => ({ event: data.type, data })) };
  },
  gemini(body, path) {
    const parts = (body.contents ?? []).flatMap((c) => c.parts ?? []);
    const names = (body.tools ?? []).flatMap((t) => t.functionDeclarations ?? []).map((f) => ({ name: f.name }));
    const step = nextStep(count(parts, (p) => p.functionResponse), names);
    const part = step.text ? { text: step.text } : { functionCall: { id: step.id, name: step.name, args: step.args } };
    const json = { candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }, modelVersion: 'mock' };
    return path.includes(':stream') ? { events: [{ data: json }] } : { json };
  },
};
const apiOf = (path) => path.includes('/chat/completions') ? 'chat' : path.endsWith('/responses') ? 'responses'
  : path.includes('/messages') && !path.includes('count_tokens') ? 'messages' : /:(stream)?[gG]enerateContent/.test(path) ? 'gemini' : null;

// For the log: which tools were offered.
const toolNames = (text) => {
  try { return JSON.stringify(JSON.parse(text).tools ?? []).match(/"name":"[^"]*"/g) ?? []; } catch { return []; }
};

const server = createServer((request, response) => {
  let text = '';
  request.on('data', (d) => { text += d; });
  request.on('end', () => {
    const path = request.url.split('?')[0];
    appendFileSync(log, JSON.stringify({ method: request.method, path, tools: toolNames(text), body: text.slice(0, 200000) }) + '\n');
    const api = request.method === 'POST' ? apiOf(path) : null;
    if (!api) {
      response.writeHead(path.includes('models') || path.includes('count_tokens') || path.includes(':countTokens') ? 200 : 404, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ object: 'list', data: [], models: [], input_tokens: 10, totalTokens: 10 }));
    }
    const answer = apis[api](JSON.parse(text), path);
    response.writeHead(200, { 'content-type': answer.json ? 'application/json' : 'text/event-stream' });
    if (answer.json) return response.end(JSON.stringify(answer.json));
    for (const e of answer.events) response.write((e.event ? `event: ${e.event}\n` : '') + `data: ${typeof e.data === 'string' ? e.data : JSON.stringify(e.data)}\n\n`);
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
