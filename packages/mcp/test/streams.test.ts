import { expect, test } from "vitest";
import { LISTENING, MAX_UNANSWERED_BYTES, readBody, Streams } from "../src/gateway/index.ts";
import type { Message } from "../src/gateway/messages.ts";
import { MAX_UNANSWERED } from "../src/gateway/streams.ts";
import { MemoryJournal } from "./memory-journal.ts";

/** The streams, with a server that says messages and a client that sends them. */
class Scene {
  readonly journal = new MemoryJournal();
  streams = new Streams(this.journal);
  #end = 0;

  client(...messages: object[]): number {
    const body = readBody(JSON.stringify(messages.map((message) => ({ jsonrpc: "2.0", ...message }))));
    if (!body.ok) throw new Error(body.message);
    return this.streams.open(body.sent) ?? LISTENING;
  }

  server(message: Message, bytes = 10): void {
    this.#end += bytes;
    const text = JSON.stringify(message).padEnd(bytes);
    this.streams.add({ text, message, end: this.#end });
  }

  /** What a client gets that goes on behind an offset. */
  get(stream: number, after = 0): unknown[] {
    const all: unknown[] = [];
    for (let event = this.streams.next(stream, after); event !== undefined; ) {
      all.push(JSON.parse(event.text));
      this.streams.delivered(stream, event.offset);
      event = this.streams.next(stream, event.offset);
    }
    return all;
  }

  /** The owner dies, and another one is made. */
  restart(): void {
    const { last } = this.streams;
    this.streams = new Streams(this.journal, last);
  }
}

const request = (id: number | string, progressToken?: string) => ({
  id,
  method: "tools/call",
  params: progressToken === undefined ? {} : { _meta: { progressToken } },
});
const progress = (progressToken: string) => ({ method: "notifications/progress", params: { progressToken } });

test('M2: an answer goes to its request\'s stream; 1 and "1" are two requests; a batch ends at last', () => {
  const scene = new Scene();
  const [a, b] = [scene.client(request(1), request(2)), scene.client(request("1"))];
  scene.server({ id: "1", result: {} });
  scene.server({ id: 2, result: {} });
  expect([scene.streams.isAnswered(a), scene.streams.isAnswered(b)]).toEqual([false, true]);
  scene.server({ id: 1, error: {} });
  expect(scene.streams.isAnswered(a)).toBe(true);
  expect(scene.get(a)).toEqual([
    { id: 2, result: {} },
    { id: 1, error: {} },
  ]);
  expect(scene.get(b)).toEqual([{ id: "1", result: {} }]);
  expect(scene.streams.isAwaiting).toBe(false);
});

test("M2: an answer that is too long is an error of its request alone", () => {
  const scene = new Scene();
  const [a, b] = [scene.client(request(1)), scene.client(request(2))];
  const tooLong = { text: "", end: 9_000_000, isTooLong: true } as const;
  scene.streams.add({ ...tooLong, message: { id: 1 } });
  scene.streams.add({ ...tooLong, message: { method: "" } });
  scene.streams.add({ ...tooLong, message: { id: 2, method: "" } });
  expect(scene.get(a)).toMatchObject([{ id: 1, error: { message: "a message of the server is longer than 4 MiB" } }]);
  expect([scene.get(b), scene.get(LISTENING), scene.streams.isAnswered(b)]).toEqual([[], [], false]);
});

test("M2: progress goes to its request; all else to the GET, the oldest open POST, or it waits", () => {
  const scene = new Scene();
  const [a, b] = [scene.client(request(1, "pa")), scene.client(request(2, "pb"))];
  const question = (id: string) => ({ id, method: "roots/list" });
  scene.server(question("nobody"));
  for (const stream of [b, a]) scene.streams.connected(stream);
  scene.server(question("oldest"));
  scene.server(progress("pb"));
  scene.streams.connected(LISTENING);
  scene.server(question("get"));
  scene.streams.disconnected(LISTENING);
  scene.server({ id: 1, result: {} });
  scene.server(question("next oldest"));
  expect(scene.get(a)).toEqual([question("oldest"), { id: 1, result: {} }]);
  expect(scene.get(b)).toEqual([progress("pb"), question("next oldest")]);
  expect(scene.get(LISTENING)).toEqual([question("nobody"), question("get")]);
});

test("M2: made anew on its journal it knows what is owed, what was sent on, and gives no offset twice", () => {
  const scene = new Scene();
  const a = scene.client(request(1, "p"));
  scene.server(progress("p"));
  scene.server({ method: "notifications/message" });
  scene.get(LISTENING);
  const [first] = scene.journal.events;
  scene.restart();
  expect(scene.streams.isPending("1")).toBe(true);
  expect(scene.streams.listeningFrom).toBe(20);
  scene.streams.refuse("1", "gone");
  scene.restart();
  expect(scene.streams.last).toEqual({ stream: a, offset: 21 });
  expect(scene.get(a, first?.offset)).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32_000, message: "gone" } }]);
  expect(scene.client(request(1))).toBe(a + 1);
});

test("M2: a late answer to a cancelled request is nobody's", () => {
  const scene = new Scene();
  const a = scene.client(request(1));
  scene.streams.connected(LISTENING);
  scene.streams.refuse("1", "cancelled");
  scene.server({ id: 1, result: {} });
  expect(scene.get(a)).toHaveLength(1);
  expect(scene.get(LISTENING)).toEqual([]);
});

test("M2: what was sent on is forgotten where it is much; what nobody has got is kept and counted", () => {
  const scene = new Scene();
  const mega = 1024 * 1024;
  for (let id = 0; id < 20; id += 1) {
    const stream = scene.client(request(id));
    scene.streams.connected(stream);
    scene.server({ id, result: {} }, mega);
    scene.get(stream);
    scene.streams.disconnected(stream);
  }
  expect(scene.streams.isFull).toBe(false);
  expect(scene.journal.events.length * mega).toBeLessThanOrEqual(MAX_UNANSWERED_BYTES);
  // The streams of what is forgotten are too.
  const has = (stream: number) => scene.streams.has({ stream, offset: 0 });
  expect([has(1), has(20)]).toEqual([false, true]);
  for (let i = 0; i < 8; i += 1) scene.server({ method: "notifications/message" }, mega);
  expect([scene.streams.isFull, scene.journal.events.every(({ stream }) => stream === LISTENING)]).toEqual([
    false,
    true,
  ]);
  scene.server({ method: "notifications/message" }, mega);
  expect(scene.streams.isFull).toBe(true);
});

test("M2: messages of two bytes that nobody gets are as many as any others", () => {
  const scene = new Scene();
  for (let i = 0; i < MAX_UNANSWERED; i += 1) scene.server({}, 3);
  expect(scene.streams.isFull).toBe(false);
  scene.server({}, 3);
  expect(scene.streams.isFull).toBe(true);
});

test("M2: so many requests wait for their answers at most, however many connections they came by", () => {
  const scene = new Scene();
  for (let id = 0; id < 1_000; id += 100) {
    expect(scene.streams.hasRoomFor(100)).toBe(true);
    scene.client(...Array.from({ length: 100 }, (_, at) => request(id + at)));
  }
  scene.restart();
  expect([scene.streams.hasRoomFor(0), scene.streams.hasRoomFor(1)]).toEqual([true, false]);
  scene.server({ id: 0, result: {} });
  expect(scene.streams.hasRoomFor(1)).toBe(true);
});

test("M2: a client goes on nowhere beyond what has come", () => {
  const scene = new Scene();
  const stream = scene.client(request(1));
  scene.server({ id: 1, result: {} });
  const { offset } = scene.streams.last;
  const has = (place: { stream: number; offset: number }) => scene.streams.has(place);
  expect([has({ stream, offset }), has({ stream, offset: offset + 1 })]).toEqual([true, false]);
});

test("M2: what a server says as an id or a token is compared only where it can be one, however deep it is", () => {
  const scene = new Scene();
  const stream = scene.client(request(1, "p"));
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown;
  for (const message of [
    { id: deep, result: {} },
    { method: "notifications/progress", params: { progressToken: deep } },
  ]) {
    scene.streams.add({ text: "{}", message, end: 10 });
  }
  scene.server({ id: 1, result: {} });
  expect(scene.get(stream)).toEqual([{ id: 1, result: {} }]);
});
