// A codex client on standard input and output, over connections that break: what it is told, and what the server is asked again.
import { expect, test } from "vitest";
import { StdioRelay } from "../../src/codex/index.ts";

type Message = Record<string, unknown> & { readonly id?: unknown; readonly method?: string };

class Rig {
  readonly said: Message[] = [];
  readonly sent: Message[] = [];
  readonly over: string[] = [];
  readonly later: (() => void)[] = [];
  readonly relay = new StdioRelay({
    say: (line) => this.said.push(JSON.parse(line) as Message),
    send: (text) => this.sent.push(JSON.parse(text) as Message),
    over: (message) => this.over.push(message),
    later: (task) => this.later.push(task),
  });

  ask(id: number, method: string, params: object = {}): void {
    this.relay.line(JSON.stringify({ id, method, params }));
  }

  answer(id: unknown, result: object): void {
    this.relay.received(JSON.stringify({ id, result }));
  }

  /** What the server was sent since the last call. */
  news(): Message[] {
    return this.sent.splice(0);
  }

  begin(): this {
    this.ask(1, "initialize", { clientName: "test" });
    this.relay.opened();
    this.answer(1, { sessionId: "s" });
    this.said.length = 0;
    this.news();
    return this;
  }
}

const chunk = (seq: number) => ({ seq, stream: "pty", chunk: "eA==" });

test("E2: the first request makes the session, and waits for a connection", () => {
  const rig = new Rig();
  rig.ask(1, "initialize", { clientName: "test" });
  rig.ask(2, "fs/getMetadata");
  expect(rig.news()).toEqual([]);
  rig.relay.opened();
  expect(rig.news()).toMatchObject([{ id: 1, method: "initialize" }]);
  rig.answer(1, { sessionId: "s" });
  expect(rig.news()).toMatchObject([{ id: 2 }]);
  expect(rig.said).toEqual([{ id: 1, result: { sessionId: "s" } }]);
});

test("E2, E5: after a break the session is resumed, and asked again what was not answered, but for a signal", () => {
  const rig = new Rig().begin();
  rig.ask(2, "process/write", { writeId: "1" });
  rig.ask(3, "process/signal", { signal: "interrupt" });
  rig.ask(5, "fs/open", { handleId: "h" });
  rig.ask(6, "fs/remove", { force: false });
  rig.ask(7, "fs/remove", { force: true });
  rig.relay.closed();
  rig.ask(4, "process/signal", { signal: "interrupt" });
  rig.news();
  rig.relay.opened();
  expect(rig.news()).toEqual([
    { id: "sbx:resume", method: "initialize", params: { clientName: "sbx-stdio", resumeSessionId: "s" } },
  ]);
  rig.answer("sbx:resume", { sessionId: "s" });
  // The second was never sent: it does no more than it says.
  expect(rig.news().map(({ id }) => id)).toEqual([2, 7, 4]);
  expect(rig.said).toMatchObject([3, 5, 6].map((id) => ({ id, error: { code: -32000 } })));
  rig.answer(2, { status: "accepted" });
  rig.answer(2, { status: "accepted" });
  expect(rig.said.filter(({ id }) => id === 2)).toHaveLength(1);
});

test("E4: output is fetched by calls, goes on where it was after a break, and ends with the process", () => {
  const rig = new Rig().begin();
  rig.ask(2, "process/start", { processId: "p" });
  rig.answer(2, { processId: "p" });
  const reads = () => rig.news().filter(({ method }) => method === "process/read");
  expect(reads()).toMatchObject([{ id: "sbx:read p", params: { processId: "p", afterSeq: 0 } }]);
  rig.answer("sbx:read p", { chunks: [chunk(1), chunk(2)], nextSeq: 3, closed: false });
  expect(reads()).toMatchObject([{ params: { afterSeq: 2 } }]);
  rig.relay.closed();
  rig.relay.opened();
  rig.answer("sbx:resume", {});
  expect(reads()).toMatchObject([{ params: { afterSeq: 2 } }]);
  // What the server tells by itself counts for nothing.
  rig.relay.received(JSON.stringify({ method: "process/output", params: { processId: "p", ...chunk(3) } }));
  rig.relay.received(JSON.stringify({ id: "sbx:read p", error: { code: -32000, message: "not now" } }));
  expect(reads()).toEqual([]);
  rig.later.pop()?.();
  expect(reads()).toMatchObject([{ params: { afterSeq: 2 } }]);
  rig.answer("sbx:read p", { chunks: [chunk(3)], nextSeq: 6, closed: true, exitCode: 7 });
  expect(reads()).toEqual([]);
  expect(rig.said.slice(1).map(({ method, params }) => [method, (params as { seq: number }).seq])).toEqual([
    ["process/output", 1],
    ["process/output", 2],
    ["process/output", 3],
    ["process/exited", 4],
    ["process/closed", 5],
  ]);
});

test("E2: a session that can't be resumed is over, and nonsense is told so", () => {
  const rig = new Rig().begin();
  rig.relay.line("nonsense");
  expect(rig.said).toMatchObject([{ id: null, error: { code: -32600 } }]);
  rig.relay.closed();
  rig.relay.opened();
  rig.relay.received(JSON.stringify({ id: "sbx:resume", error: { code: -32600, message: "no such session" } }));
  expect(rig.over).toEqual(["no such session"]);
});

test("what a client has started is ended when it leaves, if the server can be reached", () => {
  const rig = new Rig().begin();
  for (const [i, processId] of ["p", "q"].entries()) {
    rig.ask(2 + i, "process/start", { processId });
    rig.answer(2 + i, { processId });
  }
  rig.answer("sbx:read q", { chunks: [], nextSeq: 3, closed: true, exitCode: 0 });
  rig.news();
  let left = 0;
  const done = () => {
    left += 1;
  };
  rig.relay.leave(done);
  expect(rig.news()).toEqual([{ id: "sbx:end p", method: "process/terminate", params: { processId: "p" } }]);
  expect(left).toBe(0);
  rig.answer("sbx:end p", { running: true });
  expect(left).toBe(1);
  const broken = new Rig().begin();
  broken.ask(2, "process/start", { processId: "p" });
  broken.answer(2, { processId: "p" });
  broken.relay.closed();
  broken.relay.leave(done);
  expect(left).toBe(2);
});
