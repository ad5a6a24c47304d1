// Input of clients that can't be told to wait: frames of any length, taken in as the process takes them.

import { describe, expect, test } from "vitest";
import { PTY_SHARED } from "../../src/dialects/pty.ts";
import {
  type ClientRecord,
  MAX_STDIN_FRAME_BYTES,
  MAX_UNACKED_INPUT_BYTES,
  PLAIN,
  PLAIN_TEXT,
  RESUME_GRACE_MS,
  release,
} from "../../src/index.ts";
import { InputFeed } from "../../src/input/feed.ts";
import type { SessionCore } from "../../src/session/session-core.ts";
import { bytes, InnerRig, join, pass, type Rig, rig, takeAll, text } from "../support/fixtures.ts";
import { speaking } from "../support/speaking.ts";

const MIB = 1024 * 1024;
const MOST_WAITING = MAX_UNACKED_INPUT_BYTES + MAX_STDIN_FRAME_BYTES;

/** Bytes that differ wherever two of them could be taken for each other. */
function numbered(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 2_654_435_761) >>> 24);
}

/** A client on the session, whose record stays at hand after it has left. */
function typing(at: { readonly session: SessionCore }, dialect = PLAIN, id = "a") {
  const one = speaking(at, { dialect, id, delivery: "live" }).attach();
  return { hear: one.hear, connection: one.connection, closes: one.closes, client: one.client };
}

/** All that the process takes, piece by piece, `most` bytes at once; its memory is given back as the bridge gives it back. */
function takePieces({ session }: Pick<Rig, "session">, client: ClientRecord, most = Infinity): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let entry = client.input.entries[0]; entry?.kind === "bytes"; entry = client.input.entries[0]) {
    const taken = entry.bytes.slice(0, most);
    pieces.push(new Uint8Array(taken));
    session.wrote(client, taken.length);
    if (taken.length === entry.bytes.length) release(entry.bytes);
    expect(client.input.queuedBytes).toBeLessThanOrEqual(MOST_WAITING);
  }
  return pieces;
}

test("L4: small pieces are gathered between messages and long pieces, and come out in their order", () => {
  const feed = new InputFeed();
  const pieces = ["a", "b", "", "x".repeat(40_000), "c", "y".repeat(16_384), "z".repeat(16_384), "d"];
  for (const piece of pieces)
    expect(piece === "" ? feed.pushMessage({ type: "request_stdin" }) : feed.push(bytes(piece))).toBe(true);
  expect(feed.bytes).toBe(72_772);
  const came: string[] = [];
  for (let next = feed.shift(); next !== undefined; next = feed.shift()) {
    came.push(next.kind === "message" ? next.message.type : text(next.bytes));
  }
  const [long, half] = ["x".repeat(40_000), 16_384];
  expect(came).toEqual(["ab", "request_stdin", long, `c${"y".repeat(half)}`, `${"z".repeat(half)}d`]);
  expect([feed.bytes, feed.isEmpty]).toEqual([0, true]);
  // What is gathered has 32 KiB at most.
  for (const length of [16_384, 16_384, 1]) feed.push(new Uint8Array(length));
  expect([feed.shift(), feed.shift()].map((next) => next?.kind === "bytes" && next.bytes.length)).toEqual([32_768, 1]);
  // Messages that were handed on make room for others.
  const isTaken = Array.from({ length: 300 }, () => feed.pushMessage({ type: "eof" }) && feed.shift() !== undefined);
  expect(isTaken).not.toContain(false);
});

describe("L4: a frame of 4 MiB", () => {
  test("is taken in as the process takes it, every byte once and in order, and no more waits there than of other input", () => {
    const at = rig();
    const { hear, client, closes } = typing(at);
    const paste = numbered(4 * MIB);
    hear(paste);
    expect(Buffer.concat(takePieces(at, client, 50_000)).equals(paste)).toBe(true);
    expect([client.feed.bytes, closes]).toEqual([0, []]);
  });

  test("whose pieces share memory by slice(), as a Buffer's do, comes whole and in order", () => {
    const at = rig();
    const { connection, client } = typing(at);
    const input = numbered(900_000);
    connection.receive(Buffer.from(input), 0);
    expect(Buffer.concat(takePieces(at, client)).equals(input)).toBe(true);
  });

  test("goes over the inner hop in frames of 64 KiB, as the bridge confirms them", () => {
    const hop = new InnerRig().connect().flush();
    const { hear, client, closes } = typing(hop);
    const paste = numbered(4 * MIB);
    hear(paste);
    const pieces: Uint8Array[] = [];
    for (let turns = 0; client.feed.bytes + client.input.queuedBytes > 0 && turns < 200; turns += 1) {
      expect(Math.max(0, ...hop.toBridge.map((frame) => frame.length))).toBeLessThanOrEqual(MAX_STDIN_FRAME_BYTES + 13);
      hop.flush();
      expect(client.input.queuedBytes).toBeLessThanOrEqual(MOST_WAITING);
      pieces.push(...takePieces(hop.bridge, hop.remote("a")));
      pass(hop.bridge, 20);
      hop.flush();
    }
    expect(Buffer.concat(pieces).equals(paste)).toBe(true);
    expect(closes).toEqual([]);
  });

  test("and what is typed behind it come in that order: an interrupt too", () => {
    const at = rig({ tty: true });
    const { hear, client } = typing(at, PLAIN_TEXT);
    hear(new Uint8Array(MIB).fill(0x61));
    for (const key of "bc\x03") hear(key);
    expect(takeAll(at.session, client)).toBe(`${"a".repeat(MIB)}bc\x03`);
  });

  test("is waited for by the end of input and by a keyboard that is handed on, and by no signal", () => {
    const pipes = rig();
    const one = typing(pipes);
    one.hear(new Uint8Array(MIB));
    for (const text of ['{"type":"eof"}', '{"type":"signal","signal":"SIGINT"}']) one.hear(text);
    expect(pipes.upstream.of("signal")).toEqual([["signal", "a", "SIGINT"]]);
    expect(takeAll(pipes.session, one.client)).toBe(`${"\0".repeat(MIB)}^D`);
    const shared = rig({ tty: true, mode: "exclusive" });
    const first = typing(shared, PTY_SHARED);
    typing(shared, PTY_SHARED, "b");
    first.hear(new Uint8Array(MIB).fill(0x61));
    first.hear('{"type":"grant_stdin","to":"b"}');
    expect(shared.session.keyboard.holder).toBe("a");
    expect(takeAll(shared.session, first.client).length).toBe(MIB);
    expect(shared.session.keyboard.holder).toBe("b");
  });
});

describe("L4: what waits is bounded", () => {
  test("one byte more than 4 MiB beside what is on its way to the process closes with 1008", () => {
    const { hear, closes } = typing(rig());
    for (const length of [4 * MIB, MAX_UNACKED_INPUT_BYTES]) expect(hear(new Uint8Array(length))).toBe(1);
    hear(new Uint8Array(1));
    expect(closes).toEqual([[1008, "more than 4194304 bytes of input wait"]]);
  });

  test("beyond 16 MiB of all clients together each may have its 256 KiB, and no byte more", () => {
    const at = rig();
    const long = new Uint8Array(4 * MIB);
    for (const id of "bcde") at.session.feed(join(at.session, id, { acknowledges: false }).client, long);
    const { hear, client, closes } = typing(at);
    // Messages on their way to the process do not count.
    for (let id = 0; id < 4; id += 1) typing(at, PLAIN, `more${id}`).hear(new Uint8Array(MAX_UNACKED_INPUT_BYTES), 2);
    while (client.input.queuedBytes < MAX_UNACKED_INPUT_BYTES) hear(new Uint8Array(65_536));
    hear(new Uint8Array(MAX_UNACKED_INPUT_BYTES));
    expect([client.feed.bytes, closes]).toEqual([MAX_UNACKED_INPUT_BYTES, []]);
    hear(new Uint8Array(1));
    expect(closes).toEqual([[1008, "more than 16777216 bytes of this session's input wait"]]);
  });

  test("single bytes that wait cost about what they are, and messages between them are few", () => {
    const { hear, client, closes } = typing(rig());
    hear(new Uint8Array(MIB));
    const before = client.feed.bytes;
    expect([hear(bytes("x"), 20_000), client.feed.bytes - before]).toEqual([20_000, 20_000]);
    expect(hear('{"type":"request_stdin"}', 300)).toBe(256);
    expect(closes).toEqual([[1008, "too many messages wait"]]);
  });
});

describe("L4: a client that closes while its input waits", () => {
  const closing = () => {
    const at = rig();
    const one = typing(at, PTY_SHARED);
    one.hear(new Uint8Array(MIB).fill(0x61));
    return { at, ...one };
  };

  test.each([
    ["says that it leaves", 1000],
    ["is gone", 1006],
  ])("and %s has all of it taken in, and has left then", (_how, code) => {
    const { at, connection, client } = closing();
    connection.closed(code);
    expect(at.session.presentCount).toBe(1);
    expect(takeAll(at.session, client).length).toBe(MIB);
    expect([at.session.presentCount, at.upstream.of("departed")]).toEqual([0, [["departed", "a", "left"]]]);
  });

  test("has left after a grace in which the process took nothing, and the rest is dropped", () => {
    const { at, connection, client } = closing();
    connection.closed(1000);
    at.clock.ms += RESUME_GRACE_MS - 1;
    at.session.wrote(client, 1);
    pass(at, RESUME_GRACE_MS - 1);
    expect(at.session.presentCount).toBe(1);
    pass(at, 1);
    expect([at.session.presentCount, client.feed.bytes]).toEqual([0, 0]);
  });

  test("and can be resumed has left once it said so and all is taken in, is here if not, and keeps nothing if it vanishes", () => {
    const waiting = (id: string) => {
      const at = rig();
      const { client } = join(at.session, id, { acknowledges: false });
      at.session.feed(client, new Uint8Array(400_000));
      return { at, client, phase: () => client.presence.phase };
    };
    const [left, gone, vanished] = [waiting("a"), waiting("b"), waiting("c")];
    left.at.session.disconnect(left.client, "left");
    gone.at.session.disconnect(gone.client, "vanished");
    for (const { at, client } of [left, gone]) takePieces(at, client);
    vanished.at.session.vanish(vanished.client);
    expect([left.phase(), gone.phase(), vanished.phase()]).toEqual(["gone", "vanished", "vanished"]);
    expect(vanished.client.feed.bytes).toBe(0);
  });

  test("because its access was revoked types nothing more", () => {
    const { at, connection, client } = closing();
    connection.dismiss(4401, "access was revoked", "never", "left");
    expect([at.session.presentCount, client.feed.bytes]).toEqual([0, 0]);
  });
});
