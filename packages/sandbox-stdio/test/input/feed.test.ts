// Input of clients that can't be told to wait: frames of any length, taken in as the process takes them.

import { describe, expect, test } from "vitest";
import {
  type Frame,
  MAX_STDIN_FRAME_BYTES,
  MAX_UNACKED_INPUT_BYTES,
  PLAIN,
  PLAIN_TEXT,
  PTY_SHARED,
  RESUME_GRACE_MS,
  release,
  ServerConnection,
  type SessionCore,
} from "../../src/index.ts";
import { bytes, InnerRig, type Rig, request, rig, takeAll } from "../support/fixtures.ts";

const MIB = 1024 * 1024;
const MOST_WAITING = MAX_UNACKED_INPUT_BYTES + MAX_STDIN_FRAME_BYTES;

/** Bytes that differ wherever two of them could be taken for each other. */
function numbered(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 2_654_435_761) >>> 24);
}

function connected(at: { readonly session: SessionCore }, dialect = PLAIN, id = "a") {
  const closed: [number, string][] = [];
  const socket = {
    send: (_frame: Frame) => undefined,
    close: (code: number, reason: string) => void closed.push([code, reason]),
    isWritable: () => true,
  };
  const connection = new ServerConnection(dialect, socket, 0);
  const { acknowledges, canResume } = dialect;
  connection.attach(at.session, request(id, { acknowledges, canResume, delivery: "live" }));
  const client = connection.client;
  if (client === undefined) throw new Error("It was refused");
  return { connection, client, closed };
}

/** What the process has taken, a piece at a time; its memory is given back as the bridge gives it back. */
function takePiece(
  { session }: Pick<Rig, "session">,
  client: Parameters<typeof takeAll>[1],
  most = Infinity,
): Uint8Array {
  const entry = client.input.entries[0];
  if (entry?.kind !== "bytes") return new Uint8Array(0);
  const taken = entry.bytes.slice(0, most);
  session.wrote(client, taken.length);
  if (taken.length === entry.bytes.length) release(entry.bytes);
  return taken;
}

test("L4: a long frame whose pieces share memory by slice(), as a Buffer's do, comes whole and in order", () => {
  const at = rig({ tty: false });
  const { connection, client } = connected(at);
  const input = numbered(900_000);
  connection.receive(Buffer.from(input), 0);
  const taken: Uint8Array[] = [];
  for (let entry = client.input.entries[0]; entry !== undefined; entry = client.input.entries[0]) {
    if (entry.kind !== "bytes") throw new Error(`Cannot take ${entry.kind}`);
    const { bytes: piece } = entry;
    taken.push(new Uint8Array(piece));
    at.session.wrote(client, piece.length);
    release(piece);
  }
  expect(Buffer.concat(taken).equals(input)).toBe(true);
});

describe("L4: a frame of 4 MiB", () => {
  test("is taken in as the process takes it, every byte once and in order, and no more waits there than of other input", () => {
    const at = rig();
    const { connection, client, closed } = connected(at);
    const paste = numbered(4 * MIB);
    connection.receive(paste.slice(), 0);
    const pieces: Uint8Array[] = [];
    for (let piece = takePiece(at, client); piece.length > 0; piece = takePiece(at, client, 50_000)) {
      pieces.push(piece);
      expect(client.input.queuedBytes).toBeLessThanOrEqual(MOST_WAITING);
    }
    expect(Buffer.concat(pieces).equals(paste)).toBe(true);
    expect([client.feed.bytes, closed]).toEqual([0, []]);
  });

  test("goes over the inner hop in frames of 64 KiB, as the bridge confirms them", () => {
    const hop = new InnerRig().connect().flush();
    const { connection, client, closed } = connected(hop);
    const paste = numbered(4 * MIB);
    connection.receive(paste.slice(), 0);
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < paste.length; ) {
      expect(Math.max(...hop.toBridge.map((frame) => frame.length))).toBeLessThanOrEqual(MAX_STDIN_FRAME_BYTES + 13);
      hop.flush();
      expect(client.input.queuedBytes).toBeLessThanOrEqual(MOST_WAITING);
      for (
        let piece = takePiece(hop.bridge, hop.remote("a"));
        piece.length > 0;
        piece = takePiece(hop.bridge, hop.remote("a"))
      ) {
        pieces.push(piece);
        at += piece.length;
      }
      hop.bridge.clock.ms += 20;
      hop.bridge.session.tick();
      hop.flush();
    }
    expect(Buffer.concat(pieces).equals(paste)).toBe(true);
    expect(closed).toEqual([]);
  });

  test("and what is typed behind it come in that order: an interrupt too", () => {
    const at = rig({ tty: true });
    const { connection, client } = connected(at, PLAIN_TEXT);
    connection.receive(new Uint8Array(MIB).fill(0x61), 0);
    for (const key of "bc\x03") connection.receive(key, 0);
    expect(takeAll(at.session, client)).toBe(`${"a".repeat(MIB)}bc\x03`);
  });

  test("is waited for by the end of input and by a keyboard that is handed on, and by no signal", () => {
    const pipes = rig();
    const one = connected(pipes);
    one.connection.receive(new Uint8Array(MIB), 0);
    for (const message of [{ type: "eof" }, { type: "signal", signal: "SIGINT" }]) {
      one.connection.receive(JSON.stringify(message), 0);
    }
    expect(pipes.upstream.of("signal")).toEqual([["signal", "a", "SIGINT"]]);
    expect(takeAll(pipes.session, one.client)).toBe(`${"\0".repeat(MIB)}^D`);
    const shared = rig({ tty: true, mode: "exclusive" });
    const first = connected(shared, PTY_SHARED);
    connected(shared, PTY_SHARED, "b");
    first.connection.receive(new Uint8Array(MIB).fill(0x61), 0);
    first.connection.receive('{"type":"grant_stdin","to":"b"}', 0);
    expect(shared.session.keyboard.holder).toBe("a");
    expect(takeAll(shared.session, first.client).length).toBe(MIB);
    expect(shared.session.keyboard.holder).toBe("b");
  });
});

describe("L4: what waits is bounded", () => {
  test("one byte more than 4 MiB beside what is on its way to the process closes with 1008", () => {
    const at = rig();
    const { connection, closed } = connected(at);
    connection.receive(new Uint8Array(4 * MIB), 0);
    connection.receive(new Uint8Array(MAX_UNACKED_INPUT_BYTES), 0);
    expect(closed).toEqual([]);
    connection.receive(new Uint8Array(1), 0);
    expect(closed).toEqual([[1008, "more than 4194304 bytes of input wait"]]);
  });

  test("single bytes that wait cost about what they are, and messages between them are few", () => {
    const at = rig();
    const { connection, client, closed } = connected(at);
    connection.receive(new Uint8Array(MIB), 0);
    const before = client.feed.bytes;
    for (let i = 0; i < 100_000; i += 1) connection.receive(bytes("x"), 0);
    expect([client.feed.bytes - before, closed]).toEqual([100_000, []]);
    for (let i = 0; i <= 256; i += 1) connection.receive('{"type":"request_stdin"}', 0);
    expect(closed).toEqual([[1008, "too many messages wait"]]);
  });
});

describe("L4: a client that closes while its input waits", () => {
  test.each([
    ["says that it leaves", 1000],
    ["is gone", 1006],
  ])("and %s has all of it taken in, and has left then", (_how, code) => {
    const at = rig();
    const { connection, client } = connected(at, PTY_SHARED);
    connection.receive(new Uint8Array(MIB).fill(0x61), 0);
    connection.closed(code);
    expect(at.session.presentCount).toBe(1);
    expect(takeAll(at.session, client).length).toBe(MIB);
    expect([at.session.presentCount, at.upstream.of("departed")]).toEqual([0, [["departed", "a", "left"]]]);
  });

  test("has left after a grace in which the process took nothing, and the rest is dropped", () => {
    const at = rig();
    const { connection, client } = connected(at, PTY_SHARED);
    connection.receive(new Uint8Array(MIB), 0);
    connection.closed(1000);
    at.clock.ms += RESUME_GRACE_MS - 1;
    takePiece(at, client);
    at.clock.ms += RESUME_GRACE_MS - 1;
    at.session.tick();
    expect(at.session.presentCount).toBe(1);
    at.clock.ms += 1;
    at.session.tick();
    expect([at.session.presentCount, client.feed.bytes]).toEqual([0, 0]);
  });

  test("because its access was revoked types nothing more", () => {
    const at = rig();
    const { connection, client } = connected(at);
    connection.receive(new Uint8Array(MIB), 0);
    connection.dismiss(4401, "access was revoked", "never", "left");
    expect([at.session.presentCount, client.feed.bytes]).toEqual([0, 0]);
  });
});
