// An MCP server over stdio that does what a test tells it to, and no more: what it says, and when, is the client's choice.
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const held = new Map();
let answers = 0;
const serverInfo = { name: "scripted", version: "1" };

const METHODS = {
  initialize: ({ id, params }) =>
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo } }),
  echo: ({ id, params }) => say({ id, result: params }),
  // Answered when `release` names it.
  hold: ({ id, params }) => held.set(params.name, id),
  release: ({ id, params }) => {
    say({ id: held.get(params.name), result: { released: params.name } });
    if (id !== undefined) say({ id, result: {} });
  },
  // Says to the client what it is told to, then answers.
  tell: ({ id, params }) => {
    for (const message of params.messages) say(message);
    say({ id, result: {} });
  },
  big: ({ id, params }) => say({ id, result: { text: "x".repeat(params.bytes) } }),
  flood: ({ params }) => {
    for (let i = 0; i < params.count; i += 1) {
      say({ method: "notifications/message", params: { level: "info", data: "x".repeat(params.bytes) } });
    }
  },
  junk: ({ id }) => {
    process.stdout.write("Listening…\n[1,2]\n{broken\r\n\n");
    process.stderr.write("a word to the log\n");
    say({ id, result: {} });
  },
  print: ({ params }) => process.stdout.write(params.text),
  ask: ({ params }) => say({ id: "question", method: "roots/list", params: { text: "x".repeat(params.bytes) } }),
  answers: ({ id }) => say({ id, result: { count: answers } }),
  exit: ({ params }) => process.exit(params.code),
  pid: ({ id }) => say({ id, result: { pid: process.pid } }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === "question") answers += 1;
  METHODS[message.method]?.(message);
}
