// What a connection does for a dialect that is not ours: a client that speaks first, one that pauses, one that can't come
// back. The dialect here is made for this: it has a word for everything and begins each output with a count.

import { describe, expect, test } from "vitest";
import { PTY } from "../../src/dialects/pty.ts";
import { DIALECT_ROUTES, type Dialect, PLAIN, PLAIN_STALL_MS, SILENCE_MS } from "../../src/index.ts";
import { Outgoing } from "../../src/server/outgoing.ts";
import { encodeFrame } from "../../src/wire/frames.ts";
import { bytes, join, output, pass, rig, takeAll, text } from "../support/fixtures.ts";
import { hello } from "../support/hello.ts";
import { speaking } from "../support/speaking.ts";

const COUNTING: Dialect<number> = {
  name: "counting",
  acknowledges: false,
  canResume: false,
  clientBegins: true,
  start: 0,
  encode: (event, state) =>
    event.type === "output"
      ? { frames: [`${state}:${text(event.frame.subarray(1))}`], state: state + 1 }
      : { frames: event.type === "hello" ? ["title", "preferences"] : [], state },
  decode: (frame) => {
    const word = typeof frame === "string" ? frame : text(frame);
    if (word === "begin")
      return { kind: "command", command: { type: "begin", token: "t", size: { cols: 9, rows: 8 } } };
    if (word === "alive") return { kind: "command", command: { type: "keep_alive" } };
    if (word === "pause" || word === "unpause") return { kind: "command", command: { type: word } };
    return { kind: "command", command: { type: "stdin", bytes: bytes(word) } };
  },
};

/** One that passes on output, and says when the replay is over. */
const TELLING: Dialect<number> = {
  ...COUNTING,
  encode: (event, state) => ({
    frames: event.type === "output" ? [text(event.frame.subarray(1))] : event.type === "live" ? ["LIVE"] : [],
    state,
  }),
};

const PTY_SESSION = { tty: true };

function counting(dialect: Dialect<number> = COUNTING, at = rig(PTY_SESSION)) {
  return speaking(at, { dialect: dialect as Dialect, delivery: "live" });
}

/** One that has begun, and has been attached. */
function begun(dialect: Dialect<number> = COUNTING) {
  const one = counting(dialect);
  one.hear("begin");
  one.attach();
  return one;
}

describe("D2: a client that speaks first", () => {
  test("is attached by its first message, which carries token and size; a second one changes nothing", () => {
    const one = counting();
    expect(one.begins).toEqual([]);
    one.hear("begin");
    one.hear(bytes("begin"));
    expect(one.begins).toEqual([{ type: "begin", token: "t", size: { cols: 9, rows: 8 } }]);
  });

  test("has what it typed before the attach taken after it, in order", () => {
    const one = counting();
    for (const word of ["begin", "l", "s"]) one.hear(word);
    one.attach();
    const client = one.at.session.client("a");
    expect([client && takeAll(one.at.session, client), one.frames]).toEqual(["ls", ["title", "preferences"]]);
  });

  test("can't begin once its connection has ended", () => {
    const one = counting();
    one.connection.closed(1006);
    one.hear("begin");
    expect(one.begins).toEqual([]);
  });

  test("is dropped where it says nothing for 40 s, and after that may be silent", () => {
    const one = counting();
    expect(one.connection.silentAtMs).toBe(one.at.clock.ms + SILENCE_MS);
    one.hear("begin");
    expect(one.connection.silentAtMs).toBeUndefined();
  });
});

test("D1: that the replay is over is said once, behind its last byte, counting queries that were taken out of it", () => {
  const fresh = counting(TELLING);
  fresh.attach();
  output(fresh.at, "x\u001b[c\u001b[6ny");
  expect(fresh.frames[0]).toBe("LIVE");
  const late = counting(TELLING, fresh.at);
  late.attach();
  output(late.at, "z");
  expect(late.frames).toEqual(["xy", "LIVE", "z"]);
});

test("a dialect hears of each step, and where in the output it is", () => {
  const steps: unknown[] = [];
  const following: Dialect<number> = {
    ...COUNTING,
    startsWithScreen: "ifLong",
    encode: (event, state) => {
      if (event.type === "output") steps.push([text(event.frame.subarray(1)), event.end, event.isRedraw === true]);
      else steps.push(event.type === "found" ? ["found", event.hasExited] : event.type);
      return { frames: [], state };
    },
  };
  const out = new Outgoing(following as Dialect, { send: () => undefined });
  const output = (what: string) => out.output(encodeFrame(1, bytes(what)), 0);
  out.message(hello({ tty: false, offset: 5, live: 5 }));
  out.snapshot(encodeFrame(3, bytes("screen")));
  output("abc");
  // The message's offset is one of input.
  out.message({ type: "stdin_ack", offset: 1_000 });
  output("d");
  out.message({ type: "gap", from: 9, to: 20 });
  output("e");
  out.resume(0, { tty: false, offset: 100, me: "me", answerer: { id: "", offset: 0 } });
  output("fg");
  expect(steps.splice(0)).toEqual([
    ...["hello", ["screen", 5, true], "live", ["abc", 8, false], "stdin_ack", ["d", 9, false]],
    ...["gap", ["e", 21, false], ["fg", 102, false]],
  ]);
  const at = rig();
  at.session.exited({ code: 0 });
  for (const one of [counting(following, rig()), counting(following, at)]) {
    one.hear("begin");
    one.attach();
  }
  expect(steps).toEqual([
    ...[["found", false], "hello", "live", "greeted"],
    ...[["found", true], "hello", "live", "exit"],
  ]);
});

test("D1: what else is told during a replay does not end it; what of it is gone counts", () => {
  const at = rig(PTY_SESSION, { logBytes: 262_144 });
  output(at, "x".repeat(200_000));
  const late = counting(TELLING, at);
  let isOpen = false;
  late.socket.isWritable = () => isOpen || late.frames.length === 0;
  late.attach();
  join(at.session, "other");
  const frame = late.frames.join("").length;
  expect([late.frames.length, late.frames.includes("LIVE")]).toEqual([1, false]);
  // Some of the replay goes before it is sent.
  output(at, "y".repeat(150_000));
  isOpen = true;
  pass(at, 1_000);
  const [, after = ""] = late.frames.join("").split("LIVE");
  const processed = 350_000 - after.length;
  expect([after.includes("x"), processed >= 200_000, processed < 200_000 + frame]).toEqual([false, true, true]);
});

describe("D11: a piece of a character that waits", () => {
  /** What was sent, in hex, after output that ends within a character. */
  function cutShort(tty: boolean, dialect: Dialect = PTY) {
    const at = rig({ tty });
    const one = speaking(at, { dialect, delivery: "live" }).attach();
    output(at, Uint8Array.of(0x61, 0xe3, 0x80));
    const sent = () =>
      one.frames.map((frame) => (typeof frame === "string" ? frame : Buffer.from(frame).toString("hex")));
    return { at, one, sent };
  }

  test("comes out before the exit, and before the connection is closed", () => {
    const ended = cutShort(true);
    ended.at.session.exited({ code: 3 });
    expect([ended.sent(), ended.one.closed?.[0]]).toEqual([["61e3", "80", '{"type":"exit","code":3}'], 1000]);
    const closed = cutShort(true);
    closed.one.connection.dismiss(4401, "token expired", "never", "vanished");
    expect([closed.sent(), closed.one.closed?.[0]]).toEqual([["61e3", "80"], 4401]);
  });

  test("is all that came of a character for a plain client, which may read each frame as text", () => {
    const { at, sent } = cutShort(true, PLAIN);
    output(at, Uint8Array.of(0x82, 0x62));
    expect(sent().slice(1)).toEqual(["0161", "01e3808262"]);
  });

  test("does not wait on pipes", () => {
    expect([cutShort(false).sent(), cutShort(false, PLAIN).sent().slice(1)]).toEqual([["61e380"], ["0161e380"]]);
  });
});

describe("D3: a client that pauses", () => {
  test("is sent nothing, however long, and goes on where it was", () => {
    const one = begun();
    output(one.at, "a");
    one.hear("pause");
    output(one.at, "b");
    output(one.at, "c");
    expect(one.at.session.nextTickMs).toBeUndefined();
    pass(one.at, 10 * PLAIN_STALL_MS);
    expect([one.frames.slice(2), one.closes]).toEqual([["0:a"], []]);
    one.hear("unpause");
    expect(one.frames.slice(2)).toEqual(["0:a", "1:bc"]);
  });

  test("has 30 s from its return where its socket takes nothing then, however long it had paused", () => {
    const one = begun();
    one.hear("pause");
    output(one.at, "a");
    pass(one.at, 10 * PLAIN_STALL_MS);
    one.socket.isStuffed = true;
    one.hear("unpause");
    pass(one.at, PLAIN_STALL_MS - 1);
    expect(one.closes).toEqual([]);
    pass(one.at, 1);
    expect(one.closed?.[0]).toBe(1011);
  });

  test("holds the process where it is alone", () => {
    const one = begun();
    one.hear("pause");
    output(one.at, new Uint8Array(64 * 1024));
    expect(one.at.session.shouldHold).toBe(false);
    output(one.at, new Uint8Array(64 * 1024));
    expect(one.at.session.shouldHold).toBe(true);
    one.hear("unpause");
    expect(one.at.session.shouldHold).toBe(false);
  });
});

test.each([
  [1000, false, 0],
  [1001, false, 0],
  [1006, false, 0],
  [1006, true, 1],
])(
  "D4: closed with %i, a client that can come back (%j) is present no more or only vanished (%i)",
  (code, canResume, left) => {
    const one = begun({ ...COUNTING, canResume });
    one.hear("typed");
    one.connection.closed(code);
    expect([one.at.session.presentCount, one.at.upstream.of("departed").length]).toEqual([left, 1 - left]);
  },
);

test.each(DIALECT_ROUTES.filter(({ dialect }) => !dialect.acknowledges).map(({ dialect }) => dialect))(
  "D4: a client that can't be written to is closed with 1011 after 30 s of it, and nobody else: $name",
  (dialect) => {
    const at = rig(PTY_SESSION);
    const [stuffed, other] = ["s", "o"].map((id) => speaking(at, { id, dialect, delivery: "live" }));
    if (stuffed === undefined || other === undefined) throw new Error("unreachable");
    stuffed.socket.isStuffed = true;
    for (const one of [stuffed, other]) one.attach();
    output(at, "x");
    pass(at, PLAIN_STALL_MS - 1);
    expect(stuffed.closes).toEqual([]);
    pass(at, 1);
    expect([stuffed.closed?.[0], other.closes]).toEqual([1011, []]);
  },
);

test("D9: a client that says it is there is not idle, and nothing else comes of it", () => {
  const one = begun();
  const before = one.connection.activity;
  one.hear("alive");
  expect([one.connection.activity - before, one.at.upstream.of("input")]).toEqual([1, []]);
  expect(one.frames).toEqual(["title", "preferences"]);
});

describe("K6b: a file transfer", () => {
  const [offer, answer] = ["**\x18B00", "**\x18B01"];

  /** A plain client that answers an offer in an exclusive session. @returns Output that it was sent since. */
  function transferring(role: "driver" | "viewer", at = rig({ tty: true, mode: "exclusive" })) {
    const one = speaking(at, { dialect: PLAIN, id: role, role, delivery: "live" }).attach();
    output(at, offer);
    one.hear(bytes(answer));
    return { at, outputs: () => one.sent.filter((frame) => frame.startsWith("1:")).map((frame) => frame.slice(2)) };
  }

  test("goes through to the client that has the keyboard and answers, until it has it no more", () => {
    const { at, outputs } = transferring("driver");
    output(at, "a\x05");
    at.session.command(join(at.session, "admin", { isAdmin: true }).client, { type: "force_take" });
    output(at, "b\x05");
    expect(outputs()).toEqual([offer, "a\x05", "b"]);
  });

  test("goes through to a driver that answers where everyone may type, though another answers queries", () => {
    const shared = rig({ tty: true });
    join(shared.session, "first");
    const { at, outputs } = transferring("driver", shared);
    output(at, "a\x05");
    expect(outputs()).toEqual([offer, "a\x05"]);
  });

  test("goes through to no viewer, and to no driver without the keyboard, whatever it sends", () => {
    for (const role of ["viewer", "driver"] as const) {
      const held = rig({ tty: true, mode: "exclusive" });
      join(held.session, "first");
      const { at, outputs } = transferring(role, held);
      output(at, "a\x05");
      expect(outputs()).toEqual([offer, "a"]);
    }
  });
});
