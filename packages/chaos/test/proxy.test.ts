// The proxy: each thing that it is told to do to a connection really happens, at the byte where it is to happen.

import { expect, test } from "vitest";
import { type Break, type BreakKind, OPEN_LANE } from "../src/faults.ts";
import { patternBytes } from "../src/pattern.ts";
import { labelOf } from "../src/proxy.ts";
import { type End, loopback } from "./loopback.ts";

const NEVER_MS = 600_000;

function breakAt(kind: BreakKind, direction: "up" | "down", bytes: number): { break: Break } {
  return { break: { kind, direction, bytes, orAfterMs: NEVER_MS, gatherMs: 20, lateMs: 20 } };
}

const echo = (end: End) => {
  end.socket.on("data", (chunk: Buffer) => end.socket.write(chunk));
  end.socket.on("end", () => end.socket.end());
};

const data = (length: number) => Buffer.from(patternBytes(0, length, 9));

test("a connection that is left alone passes all bytes and the end in both directions", async () => {
  const { client } = await loopback([], {}, echo);
  const one = await client();
  one.socket.end(data(700_000));
  await one.until(() => one.state !== "open");
  expect(one.state).toBe("ended");
  expect(one.received.equals(data(700_000))).toBe(true);
});

test("rst: after exactly so many bytes up, both ends see a reset", async () => {
  const { client, server } = await loopback([breakAt("rst", "up", 1_234)]);
  const one = await client();
  one.socket.write(data(5_000).subarray(0, 100));
  const other = await server(0);
  await other.until(() => other.received.length === 100);
  one.socket.write(data(5_000).subarray(100));
  await one.until(() => one.state !== "open");
  await other.until(() => other.state !== "open");
  expect([one.state, other.state]).toEqual(["reset", "reset"]);
  expect(other.received.equals(data(1_234))).toBe(true);
});

test("fin: after exactly so many bytes down, both ends see an orderly end", async () => {
  const { client, server } = await loopback([breakAt("fin", "down", 777)]);
  const one = await client();
  one.socket.write("hi");
  const other = await server(0);
  other.socket.write(data(5_000));
  await one.until(() => one.state !== "open");
  await other.until(() => other.state !== "open");
  expect([one.state, other.state]).toEqual(["ended", "ended"]);
  expect(one.received.equals(data(777))).toBe(true);
});

test("a connection on which nothing is said any more is broken when it is old enough", async () => {
  const planned = breakAt("rst", "down", 1_000);
  const { client } = await loopback([{ break: { ...planned.break, orAfterMs: 30 } }]);
  const one = await client();
  one.socket.write("hi");
  await one.until(() => one.state !== "open");
  expect(one.state).toBe("reset");
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
  await one.until(() => one.state !== "open");
  later.socket.write("!");
  await later.until(() => later.text === "another!");
  expect([one.state, later.state, proxy.connectionCount]).toEqual(["reset", "open", 1]);
});

test("silent: nothing passes any more, not even the end, and nobody is told", async () => {
  const { client, server, proxy } = await loopback([breakAt("silent", "up", 10)]);
  const one = await client();
  one.socket.write("0123456789");
  const other = await server(0);
  await other.until(() => other.text === "0123456789");
  one.socket.write("lost");
  other.socket.write("lost");
  one.socket.end();
  other.socket.end();
  // A second connection that goes through and back has overtaken whatever the first would have passed on.
  const witness = await client();
  witness.socket.write("witness");
  const far = await server(1);
  far.socket.write("witness");
  await witness.until(() => witness.text === "witness");
  expect([one.state, one.text]).toEqual(["open", ""]);
  expect([other.state, other.text]).toEqual(["open", "0123456789"]);
  expect(proxy.connectionCount).toBe(2);
});

test.each([
  ["silent-up", "to client", ""],
  ["silent-down", "", "to server"],
] as const)("%s: only the other direction goes on", async (kind, atClient, atServer) => {
  const { client, server } = await loopback([breakAt(kind, "up", 5)]);
  const one = await client();
  one.socket.write("hello");
  const other = await server(0);
  await other.until(() => other.text === "hello");
  // The break is made at the byte after: this one.
  one.socket.write("to server");
  other.socket.write("to client");
  const passed = atClient === "" ? other : one;
  const wanted = atClient === "" ? `hello${atServer}` : atClient;
  await passed.until(() => passed.text === wanted);
  expect([one.text, other.text]).toEqual([atClient, `hello${atServer}`]);
  expect([one.state, other.state]).toEqual(["open", "open"]);
});

test("late: the client sees a reset, and what it sent last arrives afterwards", async () => {
  const planned = breakAt("late", "up", 8).break;
  const { client, server } = await loopback([{ break: { ...planned, lateMs: 500 } }]);
  const one = await client();
  one.socket.write("HEAD");
  const other = await server(0);
  await other.until(() => other.text === "HEAD");
  one.socket.write("nextlast words");
  await one.until(() => one.state !== "open");
  expect(one.state).toBe("reset");
  expect(other.text).toBe("HEADnext");
  await other.until(() => other.state !== "open");
  expect([other.state, other.text]).toEqual(["ended", "HEADnextlast words"]);
});

test("late in the first bytes: they arrive after the reset, when the client may be back", async () => {
  const { client, server } = await loopback([breakAt("late", "up", 0)]);
  const one = await client();
  one.socket.write("HEAD");
  await one.until(() => one.state !== "open");
  const other = await server(0);
  await other.until(() => other.state !== "open");
  expect([one.state, other.state, other.text]).toEqual(["reset", "ended", "HEAD"]);
});

test("a break that is not allowed does not happen", async () => {
  const { client } = await loopback([breakAt("rst", "up", 100)], { mayBreak: () => false }, echo);
  const one = await client();
  one.socket.end(data(1_000));
  await one.until(() => one.state !== "open");
  expect([one.state, one.received.length]).toEqual(["ended", 1_000]);
});

test("a delayed direction passes everything, that much later", async () => {
  const { client } = await loopback([{ up: { ...OPEN_LANE, delayMs: 60 } }], {}, echo);
  const one = await client();
  const sentAt = performance.now();
  one.socket.end("late");
  await one.until(() => one.state !== "open");
  expect(one.text).toBe("late");
  expect(performance.now() - sentAt).toBeGreaterThanOrEqual(59);
});

test("a limited direction takes its time", async () => {
  const { client } = await loopback([{ down: { ...OPEN_LANE, bytesPerSecond: 200_000 } }], {}, echo);
  const one = await client();
  const sentAt = performance.now();
  one.socket.end(data(20_000));
  await one.until(() => one.state !== "open");
  expect(one.received.equals(data(20_000))).toBe(true);
  expect(performance.now() - sentAt).toBeGreaterThanOrEqual(90);
});

test("a direction in pieces passes them one by one", async () => {
  const { client, server } = await loopback([{ up: { ...OPEN_LANE, pieceBytes: 3 } }]);
  const one = await client();
  one.socket.end(data(300));
  const other = await server(0);
  await other.until(() => other.state !== "open");
  expect(other.received.equals(data(300))).toBe(true);
  expect(other.chunkCount).toBeGreaterThan(20);
});

test("a stalled direction stands still once, in the middle of a write, and goes on", async () => {
  const { client, server } = await loopback([{ up: { ...OPEN_LANE, stall: { atByte: 6, ms: 60 } } }]);
  const one = await client();
  one.socket.write("before");
  const other = await server(0);
  await other.until(() => other.text === "before");
  const sentAt = performance.now();
  one.socket.end(" and after");
  await other.until(() => other.state !== "open");
  expect(other.text).toBe("before and after");
  expect(performance.now() - sentAt).toBeGreaterThanOrEqual(59);
});

test("a reader that is slow is not buffered for without bound", async () => {
  const { client, server, proxy } = await loopback([]);
  const one = await client();
  one.socket.write("hi");
  const other = await server(0);
  other.socket.pause();
  let written = 0;
  const chunk = data(1_000_000);
  // Until nothing more is taken: what the kernel and the proxy hold is full.
  while (one.socket.write(chunk) && written < 200) written += 1;
  expect(written).toBeLessThan(100);
  other.socket.resume();
  await other.until(() => other.received.length === one.socket.bytesWritten);
  expect(proxy.bytes.up).toBe(one.socket.bytesWritten);
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
  await one.until(() => one.state !== "open");
  expect([one.text, servers.length]).toEqual([handshake, 1]);
});

test("plans are asked for by session, and by how many there were before", async () => {
  const asked: string[] = [];
  const { client } = await loopback(
    [],
    {
      plan: (label, n) => {
        asked.push(`${label} ${n}`);
        return { up: OPEN_LANE, down: OPEN_LANE, hasTwin: false };
      },
    },
    echo,
  );
  for (const session of ["a", "b", "a"]) {
    const one = await client();
    one.socket.end(HANDSHAKE.replace("s1", session));
    await one.until(() => one.state !== "open");
  }
  expect(asked).toEqual(["a 0", "b 0", "a 1"]);
});

test("the session is read from a request line and from nothing else", () => {
  const of = (text: string) => labelOf(Buffer.from(text, "latin1"));
  expect(of(HANDSHAKE)).toBe("s1");
  expect(of("GET /x?a=b&session=n.1_-z&c=d HTTP/1.1\r\n")).toBe("n.1_-z");
  expect(of("POST /x?session=n HTTP/1.1\r\n")).toBe("");
  expect(of("\x16\x03\x01 session=n")).toBe("");
});

test("where the server is not there the client sees a reset", async () => {
  const { client } = await loopback([], { target: { host: "127.0.0.1", port: 1 } });
  const one = await client();
  one.socket.write("hi");
  await one.until(() => one.state !== "open");
  expect(one.state).toBe("reset");
});

test("a connection that ends before it says anything is ended", async () => {
  const { client, servers } = await loopback([]);
  const one = await client();
  one.socket.end();
  await one.until(() => one.state !== "open");
  expect(servers.length).toBe(0);
});
