// ALiS v1 message by message, read as asciinema-player 3.18.0 reads it (G7).

import { describe, expect, test } from "vitest";
import { ALIS, ALIS_ROUTES } from "../../src/dialects/alis.ts";
import { chooseRoute, type SessionEvent } from "../../src/server/dialect.ts";
import { bytes, output, pass, rig } from "../support/fixtures.ts";
import { hello } from "../support/hello.ts";
import { readAlis } from "../support/read-alis.ts";
import { speaking } from "../support/speaking.ts";
import { out } from "./speaking.ts";

type Timed = readonly [event: SessionEvent, sessionMs: number];

/** All that the client is told of these events, read. */
function said(...events: readonly Timed[]) {
  let state = ALIS.start;
  const frames: Uint8Array[] = [];
  for (const [event, sessionMs] of events) {
    const encoded = ALIS.encode(event, state, sessionMs);
    state = encoded.state;
    frames.push(...(encoded.frames as Uint8Array[]));
  }
  return readAlis(frames);
}

const at = (raw: string | Uint8Array, end: number): SessionEvent => ({ ...out(raw), end }) as SessionEvent;
const redraw = (raw: string, end: number): SessionEvent => ({ ...out(raw), end, isRedraw: true }) as SessionEvent;
const HELLO = hello({ cols: 100, rows: 30, offset: 70_000 });
const GREETED: SessionEvent = { type: "greeted" };

describe("G7: a connection", () => {
  test("begins with a reset: size, the snapshot as its text, the offset as lastId, the session's time", () => {
    expect(said([HELLO, 5_000], [redraw("\x1bcscreen", 70_000), 5_000], [GREETED, 5_000])).toEqual([
      { type: "magic" },
      { type: "reset", lastId: 70_000, timeUs: 5_000_000, cols: 100, rows: 30, init: "\x1bcscreen" },
    ]);
  });

  test("begins with an empty screen where there is no snapshot, and with lines that end in LF on pipes", () => {
    const init = (tty: boolean) => said([hello({ tty }), 0], [GREETED, 0]).map((one) => one.init);
    expect([init(true), init(false)]).toEqual([
      [undefined, ""],
      [undefined, "\x1b[20h"],
    ]);
  });

  test("tells a reset before any output, resize or exit that comes with the greeting", () => {
    const size: SessionEvent = { type: "resize", cols: 9, rows: 8, offset: 70_000 };
    const told = said([HELLO, 0], [size, 0], [at("x", 70_001), 0]);
    expect(told.map(({ type, cols, rows }) => [type, cols, rows])).toEqual([
      ["magic", undefined, undefined],
      ["reset", 9, 8],
      ["o", undefined, undefined],
    ]);
  });
});

describe("G7: events", () => {
  const START: readonly Timed[] = [
    [HELLO, 1000],
    [GREETED, 1000],
  ];
  const events = (...timed: readonly Timed[]) => said(...START, ...timed).slice(2);

  test("each has the offset behind it, and the time since the one before", () => {
    const size: SessionEvent = { type: "resize", cols: 80, rows: 24, offset: 70_002 };
    expect(events([at("ab", 70_002), 1250], [size, 1250], [at("c", 70_003), 4_000_000_000])).toEqual([
      { type: "o", id: 70_002, afterUs: 250_000, text: "ab" },
      { type: "r", id: 70_002, afterUs: 0, cols: 80, rows: 24 },
      { type: "o", id: 70_003, afterUs: 3_999_998_750_000, text: "c" },
    ]);
  });

  test("no character is cut; what nothing completes is told before a gap and the exit", () => {
    const euro = bytes("€");
    expect(
      events(
        [at(euro.subarray(0, 2), 70_002), 1000],
        [at(euro.subarray(2), 70_003), 1000],
        [at(Uint8Array.of(0xe2), 70_004), 1000],
        [{ type: "gap", from: 70_004, to: 90_000 }, 1000],
        [at(Uint8Array.of(0xe2), 90_001), 1000],
        [{ type: "exit", code: 143, signal: "SIGTERM", offset: 90_001 }, 2000],
      ).map(({ type, id, text, label, status }) => [type, id, text ?? label ?? status]),
    ).toEqual([
      ["o", 70_003, "€"],
      ["o", 70_004, "\ufffd"],
      ["m", 90_000, "gap 70004-90000"],
      ["o", 90_001, "\ufffd"],
      ["x", 90_001, 143],
    ]);
  });

  test("a command's start is a marker with its line, between the output before it and behind, however that is cut", () => {
    const marked = "$ \x1b]633;E;make all\x07\x1b]633;C\x07out";
    const start = marked.indexOf("out");
    for (let cut = 1; cut < marked.length; cut += 1) {
      const parts = [marked.slice(0, cut), marked.slice(cut)];
      const told = events([at(parts[0] ?? "", 70_000 + cut), 1000], [at(parts[1] ?? "", 70_000 + marked.length), 1000]);
      expect(told.map(({ text }) => text ?? "").join("")).toBe(marked);
      const marker = told.findIndex(({ type }) => type === "m");
      expect(told[marker]).toMatchObject({ id: 70_000 + start, label: "make all" });
      const before = told.slice(0, marker).map(({ text }) => text ?? "");
      expect(before.join("")).toBe(marked.slice(0, start));
    }
  });

  test("a client that fell behind is told a new reset with the screen from there", () => {
    expect(events([redraw("again", 90_000), 3000], [at("x", 90_001), 3500])).toEqual([
      { type: "reset", lastId: 90_000, timeUs: 3_000_000, cols: 100, rows: 30, init: "again" },
      { type: "o", id: 90_001, afterUs: 500_000, text: "x" },
    ]);
  });

  test("a clock that is set back makes no negative time", () => {
    expect(events([at("x", 70_001), 10]).map(({ afterUs }) => afterUs)).toEqual([0]);
  });

  test("messages of other kinds are told nowhere, and what the client says is ignored", () => {
    expect(events([{ type: "holder", holder: "a" } as unknown as SessionEvent, 0])).toEqual([]);
    expect([ALIS.decode("x"), ALIS.decode(bytes("x"))]).toEqual([{ kind: "nothing" }, { kind: "nothing" }]);
  });
});

test("G7: a viewer on a session of ours gets what it prints, without its queries, the exit, EOT and 1000", () => {
  const session = rig({ tty: true });
  output(session, "before\x1b[c");
  const one = speaking(session, { id: "v", dialect: ALIS as never, role: "viewer", delivery: "live" }).attach();
  output(session, "after\x1b[6n");
  pass(session, 10);
  session.session.exited({ code: 3 });
  const told = readAlis(one.frames as Uint8Array[]);
  expect(told.map(({ type }) => type)).toEqual(["magic", "reset", "o", "o", "x", "eot"]);
  expect(told.map((event) => event.text ?? "").join("")).toBe("beforeafter");
  expect(one.closed?.[0]).toBe(1000);
});

test("G7: EOT comes a second behind the exit, since the player drops what it has not shown; never to one that has gone", () => {
  const later: (() => void)[] = [];
  for (const leaves of [false, true]) {
    const session = rig({ tty: true });
    const one = speaking(session, {
      dialect: ALIS as never,
      role: "viewer",
      later: (_ms, act) => void later.push(act),
    });
    one.attach();
    session.session.exited({ code: 0 });
    expect([readAlis(one.frames as Uint8Array[]).at(-1)?.type, one.closes]).toEqual(["x", []]);
    if (leaves) one.connection.closed(1001);
    for (const act of later.splice(0)) act();
    expect(readAlis(one.frames as Uint8Array[]).at(-1)?.type).toBe(leaves ? "x" : "eot");
    expect(one.closes).toEqual(leaves ? [] : [[1000, ""]]);
  }
});

test.each([
  [4400, "bad", 4000],
  [4401, "token expired", 4001],
  [4401, "The link's session was removed", 4004],
  [4401, "another process has taken the name", 4009],
  [4403, "no", 4003],
  [4404, "process lost", 4004],
  [4404, "another process has taken the name", 4009],
  [4408, "idle", 4008],
  [4429, "too many", 1013],
  [4503, "the container does not run", 1013],
  [1008, "rule", 1008],
  [1011, "fault", 1011],
  [1012, "restarted", 1012],
  [1013, "full", 1013],
  [1000, "", 1000],
])("G7: code %i with the reason %j closes with %i", (code, reason, sent) => {
  expect(ALIS.closeCode?.(code, reason)).toBe(sent);
});

describe("G7: the route", () => {
  const [row] = ALIS_ROUTES;
  const wish = (query: string) =>
    row?.wish({ params: { sandbox: "dev", session: "main" }, search: new URLSearchParams(query) });

  test("is chosen among the subprotocols that the player offers, and by no client that offers none", () => {
    const offered = ["v1.alis", "v2.asciicast", "v3.asciicast", "raw"];
    expect([chooseRoute(ALIS_ROUTES, offered), chooseRoute(ALIS_ROUTES, [])]).toEqual([row, undefined]);
  });

  test("asks for a viewer that starts nothing, whatever its query says", () => {
    const wished = wish("role=driver&wake=1&cmd=sh&incarnation=i7");
    expect(wished).toMatchObject({
      ok: true,
      query: { sandbox: "dev", session: "main", role: "viewer", wake: false, incarnation: "i7" },
    });
    expect(wished?.ok === true && wished.query.process.cmd).toBeUndefined();
  });
});

test("the reader of these tests notices a message that is cut short", () => {
  expect(() => readAlis([bytes("ALiS\x01"), Uint8Array.of(0x6f, 1, 0, 5, 97)])).toThrow("cut short");
});
