// The proxy: each thing that it is told to do to a connection really happens, at the byte where it is to happen.

import { expect, test } from "vitest";
import { type Break, type BreakKind, type ConnectionPlan, OPEN_LANE } from "../src/faults.ts";
import { patternBytes } from "../src/pattern.ts";
import { labelOf } from "../src/proxy.ts";
import { type End, loopback } from "./loopback.ts";

const NEVER_MS = 600_000;

function breakAt(
  kind: BreakKind,
  direction: "up" | "down",
  bytes: number,
  more: Partial<Break> = {},
): { break: Break } {
  return { break: { kind, direction, bytes, orAfterMs: NEVER_MS, gatherMs: 20, lateMs: 20, ...more } };
}

const echo = (end: End) => {
  end.socket.on("data", (chunk: Buffer) => end.socket.write(chunk));
  end.socket.on("end", () => end.socket.end());
};

const data = (length: number) => Buffer.from(patternBytes(0, length, 9));
const ended = (end: End) => end.until(() => end.state !== "open");

/** A connection whose client has said this, and the server's end that has heard it. */
async function begun(plan: Partial<ConnectionPlan>, said: string) {
  const one = await loopback([plan]);
  const near = await one.client();
  near.socket.write(said);
  const far = await one.server(0);
  await far.until(() => far.text === said);
  return { ...one, near, far };
}

test.each<[string, Partial<ConnectionPlan>, { mayBreak?: () => boolean }]>([
  ["that is left alone", {}, {}],
  ["whose break is not allowed", breakAt("rst", "up", 100), { mayBreak: () => false }],
])("a connection %s passes all bytes and the end in both directions", async (_which, plan, options) => {
  const { client } = await loopback([plan], options, echo);
  const one = await client();
  one.socket.end(data(700_000));
  await ended(one);
  expect([one.state, one.received.equals(data(700_000))]).toEqual(["ended", true]);
});

test("rst: after exactly so many bytes up, both ends see a reset", async () => {
  const { near, far } = await begun(breakAt("rst", "up", 1_234), "x");
  near.socket.write(data(5_000));
  await Promise.all([ended(near), ended(far)]);
  expect([near.state, far.state]).toEqual(["reset", "reset"]);
  expect(far.received.subarray(1).equals(data(1_233))).toBe(true);
});

test("fin: after exactly so many bytes down, both ends see an orderly end", async () => {
  const { near, far } = await begun(breakAt("fin", "down", 777), "hi");
  far.socket.write(data(5_000));
  await Promise.all([ended(near), ended(far)]);
  expect([near.state, far.state]).toEqual(["ended", "ended"]);
  expect(near.received.equals(data(777))).toBe(true);
});

test("a connection on which nothing is said any more is broken when it is old enough", async () => {
  const { near } = await begun(breakAt("rst", "down", 1_000, { orAfterMs: 1_000 }), "hi");
  await ended(near);
  expect(near.state).toBe("reset");
});

test("a connection that is there is broken on order, after so many bytes from then on; what is left of it ends on order", async () => {
  const { client, server, proxy } = await loopback([], {}, echo);
  const one = await client();
  one.socket.write("before");
  const other = await server(0);
  await one.until(() => one.text === "before");
  proxy.breakFromNow(breakAt("silent-down", "down", 4).break);
  const later = await client();
  one.socket.write("12345678");
  await other.until(() => other.text === "before12345678");
  await one.until(() => one.text === "before1234");
  // It came after the order.
  later.socket.write("another");
  await later.until(() => later.text === "another");
  expect([one.text, one.state]).toEqual(["before1234", "open"]);
  proxy.endBroken();
  await ended(one);
  later.socket.write("!");
  await later.until(() => later.text === "another!");
  expect([one.state, later.state, proxy.connectionCount]).toEqual(["reset", "open", 1]);
});

test("silent: nothing passes any more, not even the end, and nobody is told", async () => {
  const { near, far, client, server, proxy } = await begun(breakAt("silent", "up", 10), "0123456789");
  for (const end of [near, far]) end.socket.end("lost");
  // A second connection that goes through and back has overtaken whatever the first would have passed on.
  const witness = await client();
  witness.socket.write("witness");
  const other = await server(1);
  other.socket.write("witness");
  await witness.until(() => witness.text === "witness");
  expect([near.state, near.text, far.state, far.text]).toEqual(["open", "", "open", "0123456789"]);
  expect(proxy.connectionCount).toBe(2);
});

test.each([
  ["silent-up", "to client", ""],
  ["silent-down", "", "to server"],
] as const)("%s: only the other direction goes on", async (kind, atClient, atServer) => {
  const { near, far } = await begun(breakAt(kind, "up", 5), "hello");
  // The break is made at the byte after: this one.
  near.socket.write("to server");
  far.socket.write("to client");
  const [passed, wanted] = atClient === "" ? [far, `hello${atServer}`] : [near, atClient];
  await passed.until(() => passed.text === wanted);
  expect([near.text, far.text, near.state, far.state]).toEqual([atClient, `hello${atServer}`, "open", "open"]);
});

test("late: the client sees a reset, and what it sent last arrives afterwards", async () => {
  const { near, far } = await begun(breakAt("late", "up", 8, { lateMs: 500 }), "HEAD");
  near.socket.write("nextlast words");
  await ended(near);
  expect([near.state, far.text]).toEqual(["reset", "HEADnext"]);
  await ended(far);
  expect([far.state, far.text]).toEqual(["ended", "HEADnextlast words"]);
});

test("late in the first bytes: they arrive after the reset, when the client may be back", async () => {
  const { client, server } = await loopback([breakAt("late", "up", 0)]);
  const one = await client();
  one.socket.write("HEAD");
  await ended(one);
  const other = await server(0);
  await ended(other);
  expect([one.state, other.state, other.text]).toEqual(["reset", "ended", "HEAD"]);
});

test.each<[string, Partial<ConnectionPlan>, number]>([
  ["a delayed direction passes everything, that much later", { up: { ...OPEN_LANE, delayMs: 60 } }, 59],
  ["a limited direction takes its time", { down: { ...OPEN_LANE, bytesPerSecond: 200_000 } }, 90],
  [
    "a stalled direction stands still once, in the middle of a write",
    { up: { ...OPEN_LANE, stall: { atByte: 6, ms: 60 } } },
    59,
  ],
])("%s", async (_what, plan, leastMs) => {
  const { client } = await loopback([plan], {}, echo);
  const one = await client();
  one.socket.write(data(6));
  await one.until(() => one.received.length === 6);
  const sentAt = performance.now();
  one.socket.end(data(20_000).subarray(6));
  await ended(one);
  expect(one.received.equals(data(20_000))).toBe(true);
  expect(performance.now() - sentAt).toBeGreaterThanOrEqual(leastMs);
});

test("a direction in pieces passes them one by one", async () => {
  const { client, server } = await loopback([{ up: { ...OPEN_LANE, pieceBytes: 3 } }]);
  const one = await client();
  one.socket.end(data(300));
  const other = await server(0);
  await ended(other);
  expect([other.received.equals(data(300)), other.chunkCount > 20]).toEqual([true, true]);
});

test("a reader that is slow is not buffered for without bound", async () => {
  const { near, far, proxy } = await begun({}, "hi");
  far.socket.pause();
  let written = 0;
  const chunk = data(1_000_000);
  // Until nothing more is taken: what the kernel and the proxy hold is full.
  while (near.socket.write(chunk) && written < 200) written += 1;
  expect(written).toBeLessThan(100);
  far.socket.resume();
  await far.until(() => far.received.length === near.socket.bytesWritten);
  expect(proxy.bytes.up).toBe(near.socket.bytesWritten);
});

const HANDSHAKE = "GET /attach?session=s1&attempt=abc.1 HTTP/1.1\r\nHost: x\r\n\r\n";

test("a handshake that is played twice arrives on an older connection first, whose answer nobody gets", async () => {
  let twins = 0;
  const greet = (end: End) => end.socket.on("data", () => end.socket.write('{"type":"hello"}'));
  const { client, server } = await loopback([{ hasTwin: true }], { onTwin: () => twins++ }, greet);
  const one = await client();
  one.socket.write(HANDSHAKE);
  const [first, second] = [await server(0), await server(1)];
  await one.until(() => one.text !== "");
  expect([first.text, second.text]).toEqual([HANDSHAKE, HANDSHAKE]);
  expect([twins, one.text]).toEqual([1, '{"type":"hello"}']);
});

test("a handshake that does not say whose it is is not played twice", async () => {
  const { client, servers } = await loopback([{ hasTwin: true }], {}, echo);
  const one = await client();
  const handshake = HANDSHAKE.replace("attempt=abc.1", "cmd=bash");
  one.socket.end(handshake);
  await ended(one);
  expect([one.text, servers.length]).toEqual([handshake, 1]);
});

test("plans are asked for by session, and by how many there were before", async () => {
  const asked: string[] = [];
  const plan = (label: string, n: number) => {
    asked.push(`${label} ${n}`);
    return { up: OPEN_LANE, down: OPEN_LANE, hasTwin: false };
  };
  const { client } = await loopback([], { plan }, echo);
  for (const session of ["a", "b", "a"]) {
    const one = await client();
    one.socket.end(HANDSHAKE.replace("s1", session));
    await ended(one);
  }
  expect(asked).toEqual(["a 0", "b 0", "a 1"]);
});

test("the session is read from a request line and from nothing else", () => {
  const of = (text: string) => labelOf(Buffer.from(text, "latin1"));
  expect(of(HANDSHAKE)).toBe("s1");
  expect(of("GET /x?a=b&session=n.1_-z&c=d HTTP/1.1\r\n")).toBe("n.1_-z");
  expect(of("POST /api/sandboxes/dev/sessions/n/input HTTP/1.1\r\n")).toBe("n");
  expect(of("\x16\x03\x01 session=n")).toBe("");
});

test("where the server is not there the client sees a reset; one that ends before it says anything is ended", async () => {
  const gone = await (await loopback([], { target: { host: "127.0.0.1", port: 1 } })).client();
  gone.socket.write("hi");
  await ended(gone);
  expect(gone.state).toBe("reset");
  const { client, servers } = await loopback([]);
  const one = await client();
  one.socket.end();
  await ended(one);
  expect(servers.length).toBe(0);
});
