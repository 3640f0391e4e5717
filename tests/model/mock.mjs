// A mock of the three model APIs that misbehaves, for tests/model/run. Prints its port, answers until
// its standard input ends, and then prints what its journal says: one JSON line.
import { LLMock } from "@copilotkit/aimock";

const usage = JSON.parse(process.argv[2]);
const mock = new LLMock({
  port: 0,
  host: "127.0.0.1",
  chaos: { dropRate: 0.15, malformedRate: 0.15, rateLimitRate: 0.15, disconnectRate: 0.15 },
});
mock.onMessage(/./, { content: "ready, whole and once", usage });
await mock.start();
console.log(new URL(mock.url).port);

process.stdin.resume();
process.stdin.on("end", async () => {
  const paths = {};
  for (const entry of mock.getRequests()) {
    const counts = (paths[entry.path] ??= { requests: 0, answered: 0, chaos: {} });
    const action = entry.response.chaosAction;
    counts.requests++;
    if (action) counts.chaos[action] = (counts.chaos[action] ?? 0) + 1;
    else if (entry.response.status === 200) counts.answered++;
  }
  console.log(JSON.stringify(paths));
  await mock.stop();
  process.exit(0);
});
