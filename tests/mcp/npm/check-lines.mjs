// use: node check-lines.mjs LOG VERSION. Every line of the server in a log of tee.mjs against the specification's JSON schema of
// that version, and every structured answer against its tool's output schema. The schemas are those that the pinned
// conformance suite carries.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const [log, version] = process.argv.slice(2);
const order = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const results = {
  'server/discover': 'DiscoverResult', initialize: 'InitializeResult', 'tools/list': 'ListToolsResult', 'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult', 'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult', 'prompts/list': 'ListPromptsResult', 'prompts/get': 'GetPromptResult', ping: 'EmptyResult',
};

// The object literals in the suite that begin like a schema of the whole protocol, in the order of the versions.
function specifications() {
  const text = readFileSync(new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url), 'utf8');
  const found = [];
  for (let i = text.indexOf('{$schema:'); i >= 0; i = text.indexOf('{$schema:', i + 1)) {
    let depth = 0, quote = null, j = i;
    for (; j < text.length; j++) {
      const c = text[j];
      if (quote) { if (c === '\\') j++; else if (c === quote) quote = null; }
      else if (c === '`' || c === '"' || c === "'") quote = c;
      else if (c === '{') depth++;
      else if (c === '}' && --depth === 0) break;
    }
    if (j - i > 20000) found.push(new Function(`return (${text.slice(i, j + 1)})`)());
  }
  return found;
}

const all = specifications();
if (all.length !== order.length) throw new Error(`${all.length} schemas in the suite, expected ${order.length}`);
const schema = all[order.indexOf(version)];
const ajv = schema.$defs ? new Ajv2020({ strict: false }) : new Ajv({ strict: false });
formats(ajv);
ajv.addSchema(schema, 'mcp');
const part = schema.$defs ? '$defs' : 'definitions';
const check = (name, value, line) => {
  const validate = ajv.getSchema(`mcp#/${part}/${name}`);
  if (!validate) throw new Error(`the schema of ${version} has no ${name}`);
  if (!validate(value)) throw new Error(`no ${name}: ${ajv.errorsText(validate.errors)}\n  ${line.slice(0, 2000)}`);
};

const asked = new Map();
const outputs = new Map();
let lines = 0;
for (const entry of readFileSync(log, 'utf8').trim().split('\n').map((l) => JSON.parse(l))) {
  const message = JSON.parse(entry.line);
  if (entry.from === 'client') {
    if (message.id !== undefined) asked.set(message.id, message);
    continue;
  }
  lines++;
  check('JSONRPCMessage', message, entry.line);
  if (message.method) check('ServerNotification', message, entry.line);
  if (!message.result) continue;
  const request = asked.get(message.id);
  if (!request) throw new Error(`an answer to nothing: ${entry.line}`);
  check(results[request.method], message.result, entry.line);
  for (const tool of message.result.tools ?? []) {
    if (!/^[A-Za-z0-9_.-]{1,128}$/.test(tool.name)) throw new Error(`tool name '${tool.name}'`);
    ajv.compile(tool.inputSchema);
    outputs.set(tool.name, ajv.compile(tool.outputSchema));
  }
  const output = request.method === 'tools/call' ? outputs.get(request.params.name) : undefined;
  if (output && !message.result.isError) {
    if (!output(message.result.structuredContent))
      throw new Error(`${request.params.name}: ${ajv.errorsText(output.errors)}\n  ${entry.line.slice(0, 2000)}`);
    if (JSON.stringify(JSON.parse(message.result.content[0].text)) !== JSON.stringify(message.result.structuredContent))
      throw new Error(`${request.params.name}: the text is not the structured content`);
  }
}
console.log(`${lines} lines of the server are valid (${version})`);
