// A bridge that says more than the protocol lets it: the connection ends where it would cost its Durable Object memory.

import { describe, expect, test } from "vitest";
import { MAX_CONTROL_OUT_BYTES, MAX_FRAME_BYTES, MAX_SNAPSHOT_BYTES, parseListings } from "../../src/index.ts";
import { joined } from "../support/fixtures.ts";

/** A session with one client, greeted. */
function attached() {
  const { hop, client, peer } = joined();
  const say = (message: object) => hop.inner.receive(JSON.stringify(message), hop.bridge.clock.ms);
  return { hop, client, peer, say };
}

describe("H15: a connection ends by", () => {
  test.each([
    ["a frame of output", 1, MAX_FRAME_BYTES],
    ["a frame of stderr", 2, MAX_FRAME_BYTES],
    ["a snapshot", 3, MAX_SNAPSHOT_BYTES],
    ["a piece of an answer", 0x11, MAX_FRAME_BYTES],
    ["a frame of a later version", 9, MAX_FRAME_BYTES],
  ])("%s that is a byte too long", (_what, type, payload) => {
    const { hop } = attached();
    const send = (length: number) => hop.inner.receive(new Uint8Array(1 + length).fill(type), 0);
    send(payload);
    expect(hop.byes).toEqual([]);
    send(payload + 1);
    expect(hop.byes).toMatchObject([{ code: 1008 }]);
  });

  test("a second greeting: it would replace a session that goes on", () => {
    const { hop, say } = attached();
    const { session } = hop;
    say({ ...hop.hello });
    expect(hop.byes).toEqual([{ code: 1008, reason: "Cannot follow the bridge: a second greeting" }]);
    expect(hop.session).toBe(session);
  });

  test("a text that is a byte too long, also one of a later version", () => {
    const { hop, say } = attached();
    const text = "x".repeat(MAX_CONTROL_OUT_BYTES - '{"type":"later","text":""}'.length);
    say({ type: "later", text });
    expect(hop.byes).toEqual([]);
    say({ type: "later", text: `${text}x` });
    expect(hop.byes).toMatchObject([{ code: 1008 }]);
  });

  test.each([
    ["changes of size", (i: number) => ({ type: "resize", cols: 1 + (i % 99), rows: 24, offset: 0 })],
    ["gaps", (i: number) => ({ type: "gap", from: i, to: i + 1 })],
    ["errors", () => ({ type: "error", client: "a", code: "stdin_closed", message: "m" })],
    ["titles", (i: number) => ({ type: "title", title: `t${i}` })],
    ["ends of commands", () => ({ type: "command_end", to: 0 })],
    ["lists of panes", () => ({ type: "panes", panes: [], windows: [] })],
    ["farewells", () => ({ type: "bye", client: "z", code: 1008, reason: "r" })],
    ["acknowledgements of what nobody sent", (i: number) => ({ type: "stdin_ack", client: "a", offset: i + 2 })],
  ])("more than 4,000 %s at once, and 1,000 a second", (_what, message) => {
    const { hop, client, say } = attached();
    hop.session.stdin(client, new Uint8Array(1));
    let i = 0;
    const sayTimes = (times: number) => {
      for (const end = i + times; i < end; i += 1) say(message(i));
    };
    sayTimes(4_000);
    hop.bridge.clock.ms += 1_000;
    sayTimes(1_000);
    expect(hop.byes).toEqual([]);
    sayTimes(1);
    expect(hop.byes).toMatchObject([{ code: 1008 }]);
  });
});

test("H15a: a long message counts for each KiB: lists of panes are no way to fill its clients' memory", () => {
  const { hop, say } = attached();
  const window = { id: "@1", name: "w".repeat(100), active: true, cols: 80, rows: 24, zoomed: false };
  const list = { type: "panes", panes: [], windows: Array.from({ length: 50 }, () => window) };
  const each = Math.ceil(JSON.stringify(list).length / 1024);
  expect(each).toBeGreaterThan(5);
  for (let i = 0; i < Math.floor(4_000 / each); i += 1) say(list);
  expect(hop.byes).toEqual([]);
  say(list);
  expect(hop.byes).toMatchObject([{ code: 1008 }]);
});

test("H15a: of calls for attention eight at once and one a second are told, to people and to a tenant's webhook", () => {
  const { hop, peer, say } = attached();
  const calls: number[] = [];
  hop.session.onAttention = ({ offset }) => calls.push(offset);
  const attend = (times: number) => {
    for (let i = 0; i < times; i += 1) say({ type: "attention", kind: "bell", offset: 0 });
  };
  attend(3_000);
  expect([calls.length, peer.of("attention").length]).toEqual([8, 8]);
  hop.bridge.clock.ms += 2_000;
  attend(100);
  expect([calls.length, peer.of("attention").length, hop.byes]).toEqual([10, 10, []]);
  hop.connect().flush();
  attend(100);
  expect([calls.length, hop.byes]).toEqual([18, []]);
});

test("H15: what a client sent may be acknowledged byte by byte, and output come byte by byte", () => {
  const { hop, client, say } = attached();
  hop.session.stdin(client, new Uint8Array(10_000));
  for (let offset = 1; offset <= 10_000; offset += 1) {
    say({ type: "stdin_ack", client: "a", offset });
    hop.inner.receive(Uint8Array.of(1, 65), 0);
  }
  expect(hop.byes).toEqual([]);
  expect([client.input.taken, hop.session.log.endOffset]).toEqual([10_000, 10_000]);
});

test.each([
  ["a code", { type: "error", client: "a", code: "\u001b[2J", message: "" }],
  ["a signal", { type: "exit", code: 1, signal: "\u001b[2J", offset: 0 }],
])("H15: %s of other characters is not passed on: the connection ends", (_what, message) => {
  const { hop, peer, say } = attached();
  say(message);
  expect(hop.byes).toMatchObject([{ code: 1008 }]);
  expect([...peer.of("error"), ...peer.of("exit")]).toEqual([]);
});

test("a close that can't be sent is told as a fault of the server's", () => {
  const { hop, say } = attached();
  const codes = [1000, 1004, 1005, 1006, 1015, 1500, 2999, 3000, 4409];
  for (const code of codes) say({ type: "bye", client: "a", code, reason: "" });
  const sent = codes.map((code) => (code === 1000 || code >= 3000 ? code : 1011));
  expect(hop.clientByes.map(({ code }) => code)).toEqual(sent);
});

test("of a listing nothing is read but what is known, and nothing at all where a part of it is wrong", () => {
  const good = { incarnation: "i", state: "exited", offset: 5, exit: { code: 3, signal: "SIGRTMIN+1" } };
  const read = (one: object) => parseListings(JSON.stringify({ sessions: [one], more: 1 }));
  expect(read({ ...good, cmd: ["x"], exit: { ...good.exit, note: "n" } })).toEqual([good]);
  for (const wrong of [{ state: "x" }, { offset: -1 }, { exit: { code: 256 } }, { incarnation: 1 }]) {
    expect(read({ ...good, ...wrong })).toBeUndefined();
  }
  for (const text of ["", "[]", "{}", '{"sessions":{}}', "[".repeat(200_000)])
    expect(parseListings(text)).toBeUndefined();
});
