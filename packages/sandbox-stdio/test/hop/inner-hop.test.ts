// The inner hop, both ends and their sessions: what survives its breaks.

import { describe, expect, test } from "vitest";
import { InnerServer, RESUME_GRACE_MS } from "../../src/index.ts";
import { bytes, InnerRig, join, joined, output, pass, takeAll } from "../support/fixtures.ts";

describe("input across breaks of the inner hop", () => {
  test("H5: what the process took between the greeting and the attach is confirmed to the client", () => {
    const { hop, peer, client } = joined();
    hop.session.stdin(client, bytes("hello"));
    hop.flush();
    hop.connect();
    // The bridge has greeted with nothing taken; now the process takes all, and nobody is attached to be told.
    expect(takeAll(hop.bridge.session, hop.remote("a"))).toBe("hello");
    hop.flush();
    expect(peer.of("stdin_ack")).toEqual([{ type: "stdin_ack", offset: 5 }]);
    expect(client.input.entries).toEqual([]);
  });

  test("I2: what the process took of a client whose grace had passed is known before the exit", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    join(hop.session, "b");
    hop.session.stdin(client, bytes("hello"));
    hop.flush();
    hop.session.vanish(client);
    hop.bridge.clock.ms += RESUME_GRACE_MS;
    hop.session.tick();
    hop.flush();
    expect(takeAll(hop.bridge.session, hop.remote("a"))).toBe("hello");
    hop.exited({ code: 0 });
    hop.flush();
    expect(join(hop.session, "a", { isResume: true }).peer.hello.stdin).toBe(5);
  });

  test("I6: input that waited while its client came back is confirmed on the new connection", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    hop.session.stdin(client, bytes("hello"));
    hop.flush();
    const waiting = hop.remote("a");
    const again = join(hop.session, "a", { isResume: true });
    hop.flush();
    // The writer beside the process still has the record of before.
    takeAll(hop.bridge.session, waiting);
    pass(hop.bridge, 20);
    hop.flush();
    expect(again.peer.of("stdin_ack")).toEqual([{ type: "stdin_ack", offset: 5 }]);
  });
});

test("H3: output that is greeted with came when the bridge says so, and later output when it comes", () => {
  const hop = new InnerRig();
  expect(hop.connect().flush().session.lastOutputMs).toBeUndefined();
  hop.cut();
  output(hop.bridge, "while nobody was connected");
  hop.lastOutputMs = 500;
  hop.connect().flush();
  expect([hop.session.log.endOffset, hop.session.lastOutputMs]).toEqual([26, 500]);
  hop.bridge.clock.ms = 7_000;
  output(hop.bridge, "now");
  hop.flush();
  expect(hop.session.lastOutputMs).toBe(7_000);
});

describe("acknowledgements of input across the inner hop", () => {
  test("I2: they come 20 ms after the first byte, or at once from 128 KiB on", () => {
    const { hop, client } = joined();
    for (let at = 0; at < 3; at += 1) hop.session.stdin(client, new Uint8Array(65_536), at * 65_536);
    hop.flush();
    const take = (count: number) => {
      hop.bridge.session.wrote(hop.remote("a"), count);
      hop.flush();
      return client.input.taken;
    };
    expect([take(65_536), take(65_535), take(1), take(1)]).toEqual([0, 0, 131_072, 131_072]);
    pass(hop.bridge, 20);
    hop.flush();
    expect(client.input.taken).toBe(131_073);
  });
});

describe("input of a client that does not acknowledge, across the inner hop", () => {
  test("L4: what the process takes makes room for more, however much there is of it in all", () => {
    const { hop, peer, client } = joined({}, { acknowledges: false, canResume: false });
    let taken = 0;
    for (let i = 0; i < 100; i += 1) {
      hop.session.stdin(client, new Uint8Array(65_536));
      hop.flush();
      taken += takeAll(hop.bridge.session, hop.remote("a")).length;
      pass(hop.bridge, 20);
      hop.flush();
    }
    expect([peer.end, taken, client.input.queuedBytes, client.input.taken]).toEqual([
      undefined,
      6_553_600,
      0,
      6_553_600,
    ]);
    expect(peer.of("stdin_ack")).toEqual([]);
  });
});

describe("output after a break of the inner hop", () => {
  test("H4: bytes that the bridge no longer holds are a gap in the relay's log, told to its clients", () => {
    const hop = new InnerRig({ tty: true, delivery: "live" }, { logBytes: 4096 }).connect().flush();
    const { peer } = join(hop.session, "a", { delivery: "live" });
    output(hop.bridge, "abc");
    hop.flush();
    hop.session.command(hop.session.client("a") ?? raise(), { type: "ack", offset: 3 });
    hop.cut();
    output(hop.bridge, "x".repeat(4096));
    output(hop.bridge, "yz");
    hop.connect().flush();
    expect(hop.session.log.endOffset).toBe(4101);
    expect(peer.of("gap")).toEqual([{ type: "gap", from: 3, to: 5, approximate: true }]);
    expect(peer.output).toBe(`abc${"x".repeat(4094)}yz`);
  });

  test("H4: a size that changed while it was broken, with no output since, is told", () => {
    const { hop, peer } = joined({ tty: true });
    hop.cut();
    hop.bridge.log.markSize(100, 40);
    hop.connect().flush();
    expect(peer.of("resize")).toEqual([{ type: "resize", cols: 100, rows: 40, offset: 0 }]);
  });
});

describe("a bridge that says what can't be followed", () => {
  const said = (frames: (string | Uint8Array)[]) => {
    const hop = new InnerRig().connect().flush();
    join(hop.session, "a");
    output(hop.bridge, "abc");
    hop.flush();
    for (const frame of frames) hop.inner.receive(frame, 0);
    return hop;
  };
  for (const [name, frame] of [
    ["no JSON", "{"],
    ["a wrong shape", '{"type":"gap","from":1}'],
    ["a gap that goes back", '{"type":"gap","from":1,"to":2}'],
    ["a second greeting", JSON.stringify({ ...new InnerRig().connect().flush().hello })],
  ] as const) {
    test(`H9: ${name} ends the connection with 1008 and never throws; what follows counts for nothing`, () => {
      const hop = said([frame, new Uint8Array([1, 65]), '{"type":"exit","code":0,"offset":4}']);
      expect(hop.byes.map(({ code }) => code)).toEqual([1008]);
      expect([hop.session.log.endOffset, hop.session.exit, hop.inner.isReady]).toEqual([3, undefined, false]);
    });
  }

  test("H9: a type that is not known is ignored", () => {
    expect(said(['{"type":"weather"}']).byes).toEqual([]);
  });
});

test("H10: what an older connection still delivers after it was replaced counts for nothing", () => {
  const hop = new InnerRig().connect().flush();
  join(hop.session, "a");
  hop.flush();
  const older = hop.server;
  hop.connect().flush();
  older?.receive('{"type":"detach","client":"a","how":"left"}', 0);
  expect(hop.remote("a").presence.phase).toBe("remote");
});

test("H10: a bridge that closes says so once", () => {
  const hop = new InnerRig();
  const sent: unknown[] = [];
  const socket = { send: (frame: unknown) => void sent.push(frame), close: () => undefined, isWritable: () => true };
  const server = new InnerServer(hop.bridge.session, socket, 0);
  server.close(1001, "going");
  server.close(1001, "going");
  expect(sent).toEqual(['{"type":"bye","code":1001,"reason":"going"}']);
});

function raise(): never {
  throw new Error("no such client");
}

test("A13b: the end of output is told again over a new inner hop, where the one before was lost with it", () => {
  const { hop, peer } = joined();
  output(hop.bridge, "last");
  hop.bridge.session.outputEnded();
  hop.connect().flush().connect().flush();
  expect([peer.output, peer.of("output_end")]).toEqual(["last", [{ type: "output_end", offset: 4 }]]);
  // Input goes on.
  expect(hop.session.exit).toBeUndefined();
});
