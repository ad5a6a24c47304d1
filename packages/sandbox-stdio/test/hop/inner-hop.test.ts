// The inner hop, both ends and their sessions: what survives its breaks, and what can't be followed.

import { describe, expect, test } from "vitest";
import { newHop } from "../../src/hop/hop-state.ts";
import { confirmArrival, pongArrived, sendOrder, sendPing } from "../../src/hop/unanswered.ts";
import { InnerServer, RESUME_GRACE_MS, WakeupSchedule } from "../../src/index.ts";
import { encodeStdin } from "../../src/wire/frames.ts";
import { bytes, InnerRig, join, joined, output, pass, rig, takeAll } from "../support/fixtures.ts";

describe("input", () => {
  test("H5: what the process took between the greeting and the attach is confirmed to the client", () => {
    const { hop, peer, client } = joined();
    hop.session.stdin(client, bytes("hello"));
    hop.flush().connect();
    // The bridge has greeted with nothing taken; now the process takes all, and nobody is attached to be told.
    expect(takeAll(hop.bridge.session, hop.remote("a"))).toBe("hello");
    hop.flush();
    expect([peer.of("stdin_ack"), client.input.entries]).toEqual([[{ type: "stdin_ack", offset: 5 }], []]);
  });

  test("I2: what the process took of a client whose grace had passed is known before the exit", () => {
    const { hop, client } = joined();
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

  test("I6: what waited while its client came back is confirmed on the new connection", () => {
    const { hop, client } = joined();
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

  test("L10b: a client whose input the bridge refused for good is told so again before its next greeting", () => {
    const { hop, peer, client } = joined();
    hop.bridge.session.closeInput();
    hop.session.stdin(client, bytes("in vain"));
    hop.flush();
    expect(peer.of("error")).toMatchObject([{ code: "stdin_closed" }]);
    hop.session.vanish(client);
    const again = join(hop.session, "a", { isResume: true }).peer;
    expect(again.of("error")).toMatchObject([{ code: "stdin_closed" }]);
  });

  test("I2: acknowledgements come 20 ms after the first byte, or at once from 128 KiB on", () => {
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

  test("L4: of a client that does not acknowledge, what the process takes makes room, however much there is in all", () => {
    const { hop, peer, client } = joined({}, { acknowledges: false, canResume: false });
    let taken = 0;
    for (let i = 0; i < 40; i += 1) {
      hop.session.stdin(client, new Uint8Array(65_536));
      hop.flush();
      taken += takeAll(hop.bridge.session, hop.remote("a")).length;
      pass(hop.bridge, 20);
      hop.flush();
    }
    const { queuedBytes, taken: confirmed } = client.input;
    expect([taken, queuedBytes, confirmed]).toEqual([2_621_440, 0, 2_621_440]);
    expect([peer.end, peer.of("stdin_ack")]).toEqual([undefined, []]);
  });
});

describe("output", () => {
  test("H3: what is greeted with came when the bridge says so, and later output when it comes", () => {
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

  test("H4: bytes that the bridge no longer holds after a break are a gap in the relay's log, told to its clients", () => {
    const hop = new InnerRig({ tty: true, delivery: "live" }, { logBytes: 4096 }).connect().flush();
    const { peer, client } = join(hop.session, "a", { delivery: "live" });
    output(hop.bridge, "abc");
    hop.flush();
    hop.session.command(client, { type: "ack", offset: 3 });
    hop.cut();
    for (const text of ["x".repeat(4096), "yz"]) output(hop.bridge, text);
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

  test("A13b: its end is told again over a new inner hop, where the one before was lost with it", () => {
    const { hop, peer } = joined();
    output(hop.bridge, "last");
    hop.bridge.session.outputEnded();
    hop.connect().flush().connect().flush();
    expect([peer.output, peer.of("output_end")]).toEqual(["last", [{ type: "output_end", offset: 4 }]]);
    // Input goes on.
    expect(hop.session.exit).toBeUndefined();
  });
});

describe("a bridge that says what can't be followed", () => {
  const said = (...frames: (string | Uint8Array)[]) => {
    const { hop } = joined();
    output(hop.bridge, "abc");
    hop.flush();
    for (const frame of frames) hop.inner.receive(frame, 0);
    return hop;
  };

  test.each([
    ["no JSON", "{"],
    ["a wrong shape", '{"type":"gap","from":1}'],
    ["a gap that goes back", '{"type":"gap","from":1,"to":2}'],
    ["a second greeting", JSON.stringify(new InnerRig().connect().flush().hello)],
  ])("H9: %s ends the connection with 1008 and never throws; what follows counts for nothing", (_what, frame) => {
    const hop = said(frame, new Uint8Array([1, 65]), '{"type":"exit","code":0,"offset":4}');
    expect(hop.byes.map(({ code }) => code)).toEqual([1008]);
    expect([hop.session.log.endOffset, hop.session.exit, hop.inner.isReady]).toEqual([3, undefined, false]);
  });

  test("H9: a type that is not known is ignored", () => {
    expect(said('{"type":"weather"}').byes).toEqual([]);
  });
});

test("L4: a client that the bridge sends away is told to the relay, by its code", () => {
  const { hop } = joined();
  // As though the Durable Object let everything through.
  for (let i = 0; i < 40; i += 1) hop.server?.receive(encodeStdin(0, i * 65_536, new Uint8Array(65_536)), 0);
  hop.flush();
  expect(hop.clientByes).toEqual([{ id: "a", code: 1008 }]);
});

describe("H10: a connection", () => {
  test("that was replaced brings nothing more that counts", () => {
    const { hop } = joined();
    const older = hop.server;
    hop.connect().flush();
    older?.receive('{"type":"detach","client":"a","how":"left"}', 0);
    expect(hop.remote("a").presence.phase).toBe("remote");
  });

  test("that the bridge closes says so once", () => {
    const sent: unknown[] = [];
    const socket = { send: (frame: unknown) => void sent.push(frame), close: () => undefined, isWritable: () => true };
    const server = new InnerServer(rig().session, socket, 0);
    for (let i = 0; i < 2; i += 1) server.close(1001, "going");
    expect(sent).toEqual(['{"type":"bye","code":1001,"reason":"going"}']);
  });
});

test("B8, K5g: however many orders follow, what waits for a ping hears of its own answer, and not before", () => {
  const { client } = join(rig({ tty: true }).session, "a");
  const hop = newHop({ hello: () => undefined, bye: () => undefined, clientBye: () => undefined });
  const heard: string[] = [];
  const pongs = (count: number) => {
    for (let n = 0; n < count; n += 1) pongArrived(hop);
    return [...heard];
  };
  sendPing(hop);
  confirmArrival(hop, () => heard.push("first"));
  for (let n = 0; n < 5_000; n += 1) sendOrder(hop, client, { type: "resize", pane: "%1", cols: 80, rows: 24 });
  confirmArrival(hop, () => heard.push("last"));
  expect([pongs(1), pongs(1), pongs(5_000), pongs(1)]).toEqual([[], ["first"], ["first"], ["first", "last"]]);
});

describe("H20a, X8: a stop", () => {
  const NEVER = Number.POSITIVE_INFINITY;
  const SILENT = { endOffset: 7, hasEnded: false };
  const parked = (seconds: number) => ({ offset: 7, seconds, after: 5, bell: "x" });

  test("is told at once where clients have places, and again until the object is here", () => {
    const bell = new WakeupSchedule();
    bell.park(parked(60), 1_000);
    // It has been called for output, and has not come.
    bell.called({ endOffset: 8, hasEnded: false }, 6_000);
    expect(bell.nextMs(SILENT)).toBe(NEVER);
    bell.stopping();
    expect(bell.nextMs(SILENT)).toBe(1_000);
    bell.called(SILENT, 7_000);
    expect(bell.nextMs(SILENT)).toBe(12_000);
    bell.answered();
    expect(bell.nextMs(SILENT)).toBe(NEVER);
    // It has heard of it in the greeting.
    bell.park(parked(60), 20_000);
    expect(bell.nextMs(SILENT)).toBe(NEVER);
  });

  test("is nothing to an object without clients, nor to one that is here", () => {
    const bell = new WakeupSchedule();
    bell.stopping();
    bell.park(parked(0), 1_000);
    expect(bell.nextMs(SILENT)).toBe(NEVER);
    bell.stopping();
    expect(bell.nextMs(SILENT)).toBe(NEVER);
  });

  test("leaves the process attended for as long as the clients of a parked object have places", () => {
    const bell = new WakeupSchedule();
    const until = [bell.keptUntilMs];
    for (const seconds of [60, 0, 30]) {
      bell.park(parked(seconds), 1_000);
      until.push(bell.keptUntilMs);
    }
    bell.answered();
    expect([...until, bell.keptUntilMs]).toEqual([-NEVER, 61_000, -NEVER, 31_000, -NEVER]);
  });
});

test("X8: what the bridge says of the process is known behind the hop: title, commands, how long is left", () => {
  const { hop, peer } = joined();
  hop.server?.note({ type: "title", title: "make" });
  hop.server?.note({ type: "command_end", to: 5, exit: 1 });
  hop.server?.note({ type: "stopping", seconds: 30 });
  hop.flush();
  expect([hop.session.title, hop.session.programs.commandEnds]).toEqual(["make", [{ to: 5, exit: 1 }]]);
  expect(peer.of("stopping")).toEqual([{ type: "stopping", seconds: 30 }]);
  const left = [500, 1_000, 28_500, 5_000].map((ms) => {
    hop.bridge.clock.ms += ms;
    return hop.session.secondsLeft;
  });
  expect(left).toEqual([30, 29, 0, 0]);
  // The bridge's next connection says the title again, and nothing of commands that were not marked.
  hop.bridge.session.title = "top";
  const next = hop.restarted().connect().flush();
  expect([next.hello?.title, next.hello?.marked, next.inner.isMarked]).toEqual(["top", undefined, false]);
});
