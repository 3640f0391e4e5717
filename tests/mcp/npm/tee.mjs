// use: node tee.mjs LOG COMMAND ARGUMENTS... Runs the command with our standard streams, and logs each line that passes as
// {"from": "client" | "server", "line": TEXT}.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [log, command, ...rest] = process.argv.slice(2);
const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
const pass = (from, input, output) => {
  const lines = createInterface({ input, crlfDelay: Infinity });
  lines.on('line', (line) => {
    appendFileSync(log, JSON.stringify({ from, line }) + '\n');
    output.write(line + '\n');
  });
  return lines;
};
pass('client', process.stdin, child.stdin).on('close', () => child.stdin.end());
pass('server', child.stdout, process.stdout);
child.stdin.on('error', () => {});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : code));
