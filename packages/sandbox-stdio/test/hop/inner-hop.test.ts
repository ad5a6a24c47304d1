// The inner hop, both ends and their sessions: what survives its breaks, and what can't be followed.

import { describe, expect, test } from "vitest";
import { greetingOf } from "../../src/hop/greeting.ts";
import { newHop } from "../../src/hop/hop-state.ts";
import { confirmArrival, pongArrived, sendOrder, sendPing } from "../../src/hop/unanswered.ts";
import { type ClientRecord, InnerServer, RESUME_GRACE_MS, SILENCE_MS, WakeupSchedule } from "../../src/index.ts";
import { encodeStdin } from "../../src/wire/frames.ts";
import { bytes, InnerRig, join, joined, output, pass, rig, takeAll, text } from "../support/fixtures.ts";
import { INNER_HELLO } from "../support/hello.ts";
import { INNER_COMMANDS } from "../support/messages.ts";

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

  test("L10b: of another refusal, and of one to who has left, nothing stays", () => {
    const { hop, client } = joined();
    hop.server?.tell("a", { type: "error", code: "not_stdin_holder", message: "m" });
    hop.server?.tell("gone", { type: "error", code: "stdin_closed", message: "m" });
    hop.flush().session.vanish(client, true);
    expect(join(hop.session, "a", { isResume: true }).peer.of("error")).toEqual([]);
  });

  test("H9: a slot that its client has left behind brings no input", () => {
    const { hop } = joined();
    join(hop.session, "a", { isResume: true });
    hop.flush();
    hop.server?.receive(encodeStdin(0, 0, bytes("older")), 0);
    expect(hop.remote("a").input.received).toBe(0);
    hop.server?.receive(encodeStdin(1, 0, bytes("newer")), 0);
    expect(hop.remote("a").input.received).toBe(5);
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
    const later = JSON.stringify({ ...INNER_HELLO, offset: 3 });
    const hop = said(frame, new Uint8Array([1, 65]), '{"type":"exit","code":0,"offset":4}', later);
    expect(hop.byes.map(({ code }) => code)).toEqual([1008]);
    expect([hop.session.log.endOffset, hop.session.exit, hop.inner.isReady]).toEqual([3, undefined, false]);
    expect(hop.connect().flush().inner.isReady).toBe(true);
  });

  test("H4: a greeting before what has come ends the connection, and a gap that skips nothing does not", () => {
    const hop = said('{"type":"gap","from":3,"to":3}');
    expect(hop.byes).toEqual([]);
    hop.inner.opened({ send: () => undefined }, 0);
    hop.inner.receive(JSON.stringify({ ...hop.hello, offset: 2 }), 0);
    const reason = "Cannot follow the bridge: output continues at 2, but has reached 3";
    expect([hop.byes, hop.inner.isReady]).toEqual([[{ code: 1008, reason }], false]);
  });

  test("H9: what it says of clients that are not known, and a close of its own, changes no session", () => {
    const hop = said(
      '{"type":"stdin_ack","client":"z","offset":1}',
      '{"type":"error","client":"z","code":"stdin_closed","message":""}',
      '{"type":"bye","client":"z","code":1008,"reason":""}',
    );
    expect([hop.byes, hop.clientByes]).toEqual([[], []]);
    hop.server?.close(1001, "going");
    hop.flush();
    expect([hop.byes, hop.clientByes, hop.session.exit]).toEqual([[{ code: 1001, reason: "going" }], [], undefined]);
  });

  test("H9: a type that is not known is ignored, at both ends", () => {
    const hop = said('{"type":"weather"}');
    hop.server?.receive('{"type":"weather"}', 0);
    expect([hop.byes, hop.toRelay]).toEqual([[], []]);
  });

  test("B9: a pane order that is none does nothing", () => {
    const { hop } = joined({ tty: true });
    const before = hop.bridge.upstream.asked.length;
    for (const order of ['{"type":"kill"}', "{"])
      hop.server?.receive(JSON.stringify({ type: "pane", client: "a", order }), 0);
    expect(hop.bridge.upstream.asked.slice(before)).toEqual([]);
  });

  test("H4: before its greeting nothing that it says of a process is believed", async () => {
    const { hop } = joined();
    const program = hop.session.programs.beginCall({ id: "p", name: "agent", isAdmin: false });
    if (program === undefined) throw new Error("unreachable");
    let outcome = "none";
    void hop.inner.write(program, { bytes: "x" }).answer.then(({ type }) => {
      outcome = type;
    });
    hop.inner.opened({ send: () => undefined }, 0);
    hop.inner.receive(new Uint8Array([1, 65]), 0);
    hop.inner.receive('{"type":"written","client":"p","from":0,"to":1,"output":0}', 0);
    hop.inner.receive('{"type":"exit","code":0,"offset":0}', 0);
    await Promise.resolve();
    expect([hop.session.log.endOffset, hop.session.exit, outcome, hop.byes]).toEqual([0, undefined, "none", []]);
  });
});

test("H9: a client's signal, size and kill reach the process, and nothing of them before the greeting", () => {
  const { hop, client } = joined({ tty: true });
  const say = () => {
    hop.session.command(client, { type: "signal", signal: "SIGINT" });
    hop.session.command(client, { type: "resize", cols: 100, rows: 40 });
    hop.session.command(client, { type: "kill" });
  };
  /** Told again after the greeting, or not at all. */
  const sayMore = () => {
    hop.session.stdin(client, bytes("x"));
    hop.session.command(client, { type: "request_stdin" });
    hop.session.command(client, { type: "eof", offset: 1 });
    hop.session.leave(join(hop.session, "b").client);
    hop.inner.park({ offset: 0, seconds: 60, after: 5, bell: "main" });
    hop.inner.request();
  };
  say();
  hop.flush();
  expect(hop.bridge.upstream.of("signal", "resize", "kill")).toEqual([
    ["signal", "a", "SIGINT"],
    ["resize", "", 100, 40],
    ["kill", "a"],
  ]);
  const early: unknown[] = [];
  hop.cut().inner.opened({ send: (frame) => void early.push(frame) }, 0);
  for (const all of [say, sayMore]) all();
  expect(early).toEqual([]);
});

test("H15, H20: a greeting may be longer than other texts, and says whether the bridge wakes its object", () => {
  const { hop } = joined();
  const greet = (over: object) => {
    hop.inner.opened({ send: () => undefined }, 0);
    hop.inner.receive(JSON.stringify({ ...hop.hello, ...over }), 0);
    return [hop.inner.isReady, hop.inner.callsParked];
  };
  const long = ["x".repeat(100_000)];
  expect([greet({}), greet({ cmd: long, calls: true }), greet({ calls: false })]).toEqual([
    [true, false],
    [true, true],
    [true, false],
  ]);
  hop.inner.receive('{"type":"calls"}', 0);
  expect([hop.inner.callsParked, hop.byes]).toEqual([true, []]);
});

test("H4: of a long command the greeting has as many words as fit, and at least one", () => {
  const greeted = (cmd: string[]) => {
    const message = greetingOf(rig().session, { cmd, createdAt: "" }, 0, false);
    return message.type === "hello" ? message.cmd.map(({ length }) => length) : [];
  };
  const word = (length: number) => "x".repeat(length);
  expect(greeted([word(100_000), word(100_000), word(1)])).toEqual([100_000, 100_000]);
  expect(greeted([word(200_001), word(1)])).toEqual([200_001]);
  expect(greeted(Array.from({ length: 2_049 }, () => "")).length).toBe(2_048);
});

test("L4: a client that the bridge sends away is told to the relay, by its code", () => {
  const { hop } = joined();
  // As though the Durable Object let everything through.
  for (let i = 0; i < 40; i += 1) hop.server?.receive(encodeStdin(0, i * 65_536, new Uint8Array(65_536)), 0);
  hop.flush();
  expect(hop.clientByes).toEqual([{ id: "a", code: 1008 }]);
});

test.each<[string, boolean, (hop: InnerRig, client: ClientRecord) => void]>([
  ["nothing", true, () => undefined],
  ["a ping", true, ({ inner }) => inner.ping()],
  ["input", false, ({ session }, client) => session.stdin(client, bytes("x"))],
  ["a command", false, ({ session }, client) => session.command(client, { type: "signal", signal: "SIGINT" })],
])("H20: an object that has said %s since it parked may go: %s, at both ends", (_what, mayGo, say) => {
  const { hop, client } = joined({ tty: true });
  expect(hop.server?.parking).toBeUndefined();
  const parking = { offset: 0, seconds: 60, after: 5, bell: "main" };
  hop.inner.park(parking);
  say(hop, client);
  hop.flush();
  expect([hop.parked, hop.server?.parking]).toEqual(mayGo ? [1, parking] : [0, undefined]);
});

test("H20: a hop that never opened is not ready, and an object whose hop is broken has not parked", () => {
  const hop = new InnerRig();
  const { isReady, isMarked, callsParked } = hop.inner;
  expect([isReady, isMarked, callsParked]).toEqual([false, false, false]);
  hop.connect().flush().cut();
  hop.inner.park({ offset: 0, seconds: 60, after: 5, bell: "main" });
  hop.connect().flush().inner.receive('{"type":"parked"}', 0);
  expect(hop.parked).toBe(0);
});

test("H5, H8: after a greeting the bridge is told who answers, who has the keyboard and who is here, and no more", () => {
  const { hop } = joined();
  const types = () => hop.toBridge.splice(0).map((frame) => (typeof frame === "string" ? JSON.parse(frame).type : ""));
  hop.connect();
  for (const frame of hop.toRelay.splice(0)) hop.inner.receive(frame, 0);
  expect(types()).toEqual(["answerer", "attach", "stdin_holder"]);
  join(hop.session, "b", { holdsAlone: true });
  expect(types()).toEqual(["attach"]);
  hop.inner.ping();
  expect(types()).toEqual(["ping"]);
  hop.cut().inner.ping();
  expect(types()).toEqual([]);
});

test("H10: an end counts as silent 40 s after it was heard, or its connection opened", () => {
  const { hop } = joined();
  const socket = { send: () => undefined, close: () => undefined, isWritable: () => true };
  const server = new InnerServer(hop.bridge.session, socket, 5);
  hop.inner.opened(socket, 6);
  const seen = [server.silentAtMs, hop.inner.silentAtMs];
  server.receive('{"type":"ping"}', 10);
  hop.inner.receive('{"type":"pong"}', 11);
  seen.push(server.silentAtMs, hop.inner.silentAtMs);
  expect(seen.map((ms) => ms - SILENCE_MS)).toEqual([5, 6, 10, 11]);
});

test("D9b: a client that types alone does so at the bridge too", () => {
  const { hop } = joined({ tty: true }, { holdsAlone: true });
  join(hop.session, "b");
  hop.flush();
  expect([hop.remote("a").holdsAlone, hop.remote("b").holdsAlone]).toEqual([true, false]);
});

describe("H10: a connection", () => {
  test("that was replaced brings nothing more that counts", () => {
    const { hop } = joined();
    const older = hop.server;
    hop.connect().flush();
    older?.receive('{"type":"detach","client":"a","how":"left"}', 0);
    expect(hop.remote("a").presence.phase).toBe("remote");
  });

  test("that closes takes with it no client that a newer one has attached", () => {
    const at = rig();
    const socket = { send: () => undefined, close: () => undefined, isWritable: () => true };
    const [older, newer] = [new InnerServer(at.session, socket, 0), new InnerServer(at.session, socket, 0)];
    for (const server of [older, newer]) server.receive(INNER_COMMANDS[0] ?? "", 0);
    const phase = () => at.session.client("c")?.presence.phase;
    older.closed(1006);
    expect(phase()).toBe("remote");
    newer.closed(1006);
    expect(phase()).toBe("vanished");
  });

  /** The bridge's end alone, and what its socket was given. */
  function alone(at = rig()) {
    const sent: unknown[] = [];
    const socket = {
      isStuffed: false,
      send: (frame: unknown) => void sent.push(typeof frame === "string" ? frame : text(frame as Uint8Array)),
      close: (...how: unknown[]) => void sent.push(how),
      isWritable: () => !socket.isStuffed,
    };
    return { at, sent, socket, server: new InnerServer(at.session, socket, 0) };
  }

  test("that the bridge closes says so once, and then carries no output", () => {
    const { at, sent, server } = alone();
    server.open({ cmd: [], createdAt: "" }, 0);
    sent.length = 0;
    for (let i = 0; i < 2; i += 1) server.close(1001, "going");
    output(at, "late");
    expect(sent).toEqual(['{"type":"bye","code":1001,"reason":"going"}', [1001, "going"]]);
    expect(at.session.state.links.size).toBe(0);
  });

  test("that takes no more goes on with its output once it does", () => {
    const { at, sent, socket, server } = alone();
    server.open({ cmd: [], createdAt: "" }, 0);
    sent.length = 0;
    socket.isStuffed = true;
    output(at, "held");
    expect(sent).toEqual([]);
    socket.isStuffed = false;
    server.drained();
    expect(sent).toEqual(["\u0001held"]);
  });

  test("that has closed says nothing more, whatever the session has for it", async () => {
    const { at, sent, socket, server } = alone(rig({ tty: true }, { screen: { request: () => undefined } }));
    server.open({ cmd: [], createdAt: "" }, 0);
    server.receive(INNER_COMMANDS[0] ?? "", 0);
    socket.isStuffed = true;
    output(at, "held");
    server.receive('{"type":"ask","id":1,"about":"commands"}', 0);
    server.receive('{"type":"write","client":"nobody","at":0,"bytes":"x","keys":["Up"]}', 0);
    server.receive('{"type":"snapshot"}', 0);
    server.closed(1006);
    sent.length = 0;
    socket.isStuffed = false;
    server.drained();
    server.tell("c", { type: "error", code: "stdin_closed", message: "" });
    server.answered(3);
    server.note({ type: "title", title: "t" });
    at.session.snapshotReady(undefined);
    for (let turns = 0; turns < 5; turns += 1) await Promise.resolve();
    expect(sent).toEqual([]);
  });

  test("H9: follows nothing about who is not its client, and ends by what can't be followed", () => {
    const { at, sent, server } = alone();
    join(at.session, "direct");
    for (const client of ["direct", "nobody"]) server.receive(JSON.stringify({ type: "kill", client }), 0);
    server.receive(new Uint8Array(3), 0);
    server.tell("c", { type: "pong" });
    expect([sent, at.upstream.of("kill")]).toEqual([[], []]);
    server.receive("{", 0);
    expect(sent.map((one) => (Array.isArray(one) ? one[0] : JSON.parse(String(one)).type))).toEqual(["bye", 1008]);
  });

  test("that closed before it greeted has no output to go on with", () => {
    const { sent, server } = alone();
    server.closed(1006);
    server.drained();
    expect(sent).toEqual([]);
  });

  test("H20a: knows whether its object may have parked without hearing of a stop", () => {
    const { server } = alone();
    server.note({ type: "title", title: "make" });
    const seen = [server.isStopLate];
    server.note({ type: "stopping", seconds: 30 });
    seen.push(server.isStopLate);
    server.receive('{"type":"park","offset":0,"seconds":60,"after":5,"bell":"x"}', 0);
    expect([...seen, server.isStopLate]).toEqual([false, true, false]);
  });

  test("I2: confirms at the exit only the input of clients that are not here", () => {
    const { hop } = joined();
    join(hop.bridge.session, "direct");
    hop.exited({ code: 0 });
    expect(hop.toRelay.map((frame) => String(frame)).filter((frame) => frame.includes("stdin_ack"))).toEqual([]);
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

  test("is not the end, nor output: that end is told at once on each parking, output after the pause", () => {
    const bell = new WakeupSchedule();
    const [written, ended] = [
      { endOffset: 8, hasEnded: false },
      { endOffset: 8, hasEnded: true },
    ];
    for (const ms of [1_000, 20_000]) {
      bell.park(parked(60), ms);
      expect([bell.nextMs(written), bell.nextMs(ended)]).toEqual([ms + 5_000, ms]);
      bell.called(ended, ms);
      expect(bell.nextMs(ended)).toBe(ms + 5_000);
    }
  });

  test("H20a: calls for output are repeated after 5 s, then after twice as long each time, up to 60 s", () => {
    const bell = new WakeupSchedule();
    const written = { endOffset: 8, hasEnded: false };
    bell.park({ ...parked(60), after: 0 }, 0);
    let nowMs = 0;
    const pauses = [1, 2, 3, 4, 5, 6].map(() => {
      bell.called(written, nowMs);
      const pauseMs = bell.nextMs(written) - nowMs;
      nowMs += pauseMs;
      return pauseMs;
    });
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    // That the process has ended is news.
    expect(bell.nextMs({ ...written, hasEnded: true })).toBe(0);
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
  hop.server?.note({ type: "panes", panes: [], windows: [] });
  hop.server?.note({ type: "echo", on: false, offset: 0 });
  hop.bridge.log.markSize(100, 40);
  hop.bridge.session.appended();
  hop.flush();
  expect([peer.of("echo"), peer.of("resize")]).toEqual([
    [{ type: "echo", on: false, offset: 0 }],
    [{ type: "resize", cols: 100, rows: 40, offset: 0 }],
  ]);
  expect([hop.session.title, hop.session.programs.commandEnds]).toEqual(["make", [{ to: 5, exit: 1 }]]);
  expect([peer.of("stopping"), peer.of("panes")]).toEqual([
    [{ type: "stopping", seconds: 30 }],
    [{ type: "panes", panes: [], windows: [] }],
  ]);
  const left = [500, 1_000, 28_500, 5_000].map((ms) => {
    hop.bridge.clock.ms += ms;
    return hop.session.secondsLeft;
  });
  expect(left).toEqual([30, 29, 0, 0]);
  // The bridge's next connection says the title again, and nothing of commands that were not marked.
  hop.bridge.session.title = "top";
  const next = hop.restarted().connect().flush();
  expect([next.hello?.title, next.hello?.marked, next.inner.isMarked]).toEqual(["top", undefined, false]);
  // Nor of an end, before there is one.
  expect(next.hello).not.toHaveProperty("hasExited");
  next.exited({ code: 0 });
  expect(next.restarted().connect().flush().hello?.hasExited).toBe(true);
});
