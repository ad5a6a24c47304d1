// Input in a session: whose is taken, when that is acknowledged, how it ends, how much of it may wait, and who has the
// keyboard.

import { describe, expect, test } from "vitest";
import {
  type AttachRequest,
  DEFAULT_BUDGET,
  defined,
  PUT_ASIDE_GRACE_MS,
  RESUME_GRACE_MS,
  type ServerMessage,
} from "../../src/index.ts";
import { Budget } from "../../src/session/budget.ts";
import { planWrite, typePlanned } from "../../src/session/client-input.ts";
import { bytes, FakePeer, join, output, pass, type Rig, relayRig, request, rig, takeAll } from "../support/fixtures.ts";
import { PTY } from "../support/screens.ts";

const EXCLUSIVE = { ...PTY, mode: "exclusive" } as const;
const refused = (code: string, message: string) => ({ type: "error", code, message });

/** A client of the session object, and what it is told to have been acknowledged and with which codes it is closed. */
function remote(at: Rig, wish: Partial<AttachRequest> = {}) {
  const messages: ServerMessage[] = [];
  const result = at.session.attachRemote(
    { ...request("a", wish), delivery: "lossless", acked: 0, windowBytes: 65_536 },
    { tell: (_id, message) => void messages.push(message) },
  );
  if (!result.ok) throw new Error(result.reason);
  return {
    client: result.client,
    told: () => messages.flatMap((message) => (message.type === "stdin_ack" ? [message.offset] : [])),
    byes: () => messages.flatMap((message) => (message.type === "bye" ? [message.code] : [])),
  };
}

describe("the keyboard", () => {
  test("K2: asking, giving, taking and giving back are told to everybody, a refusal only to who asked", () => {
    const at = rig(EXCLUSIVE);
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    const boss = join(at.session, "boss", { isAdmin: true });
    const watcher = join(at.session, "v", { role: "viewer" });
    at.session.command(b.client, { type: "request_stdin" });
    at.session.command(b.client, { type: "force_take" });
    at.session.command(a.client, { type: "grant_stdin", to: "b" });
    at.session.command(boss.client, { type: "force_take" });
    at.session.command(boss.client, { type: "release_stdin" });
    at.session.command(b.client, { type: "request_stdin" });
    const told = watcher.peer.of("stdin_request", "stdin_holder", "error");
    expect(told).toEqual([
      { type: "stdin_request", id: "b" },
      ...["b", "boss", "", "b"].map((id) => ({ type: "stdin_holder", id })),
    ]);
    at.session.command(a.client, { type: "release_stdin" });
    expect([a, b].map(({ peer }) => peer.of("error"))).toEqual([
      [refused("not_stdin_holder", "not stdin holder")],
      [refused("not_allowed", "not allowed")],
    ]);
    expect(at.upstream.of("holder").map(([, id]) => id)).toEqual(["a", "b", "boss", "", "b"]);
  });

  test("D9b: who relies on it types alone while it has the keyboard, and all are told that it does", () => {
    const at = rig(PTY);
    const [a, b] = [join(at.session, "a", { holdsAlone: true }), join(at.session, "b")];
    const mayDrive = () => [a, b].map(({ client }) => at.session.mayDrive(client));
    const before = mayDrive();
    at.session.command(a.client, { type: "request_stdin" });
    expect([before, mayDrive()]).toEqual([
      [true, true],
      [true, false],
    ]);
    expect(b.peer.hello.participants.map(({ alone }) => alone)).toEqual([true, undefined]);
  });

  test("K15: who comes back as a viewer has lost the keyboard, and all are told", () => {
    const at = rig(EXCLUSIVE);
    join(at.session, "a");
    const b = join(at.session, "b");
    join(at.session, "a", { role: "viewer", isResume: true });
    expect([at.session.keyboard.holder, b.peer.of("stdin_holder")]).toEqual(["", [{ type: "stdin_holder", id: "" }]]);
  });

  test("K2: who leaves without it says nothing of it", () => {
    const at = rig(EXCLUSIVE);
    const [a, b] = [join(at.session, "a"), join(at.session, "b")];
    at.session.leave(b.client);
    expect(a.peer.of("leave", "stdin_holder")).toEqual([{ type: "leave", id: "b" }]);
  });

  test("K2d: a program's keyboard goes to a person who asks; a guest and another program ask in vain", () => {
    const at = rig(EXCLUSIVE);
    const [program, guest, other] = [
      join(at.session, "p", { kind: "program" }),
      join(at.session, "g", { kind: "guest" }),
      join(at.session, "o", { kind: "program" }),
    ];
    const person = join(at.session, "a");
    const holderAfter = ({ client }: typeof person) => {
      at.session.command(client, { type: "request_stdin" });
      return at.session.keyboard.holder;
    };
    expect([guest, other, person, program].map(holderAfter)).toEqual(["p", "p", "a", "a"]);
    expect(at.session.keyboard.mayDrive("p")).toEqual({ ok: false, fault: "not_stdin_holder" });
  });

  test("K2e: the creator takes it from who has vanished, and from nobody who is there", () => {
    const at = rig(EXCLUSIVE);
    const [a, b, c] = [join(at.session, "a"), join(at.session, "b"), join(at.session, "c")];
    at.session.command(a.client, { type: "grant_stdin", to: "b" });
    at.session.stdin(b.client, bytes("x"), 0);
    at.session.command(a.client, { type: "force_take" });
    at.session.vanish(b.client);
    at.session.command(c.client, { type: "force_take" });
    expect(at.session.keyboard.holder).toBe("b");
    at.session.command(a.client, { type: "force_take" });
    expect([at.session.keyboard.holder, a.peer.of("error").length, c.peer.of("error").length]).toEqual(["a", 1, 1]);
  });

  test.each([
    ["K2: that has vanished keeps it for 30 s", "vanished", RESUME_GRACE_MS],
    ["R9a: that put its page aside keeps it for 3 s", "put aside", PUT_ASIDE_GRACE_MS],
  ] as const)("a holder %s, is back within them, and comes back after them without it", (_who, how, graceMs) => {
    const at = rig(EXCLUSIVE);
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    at.session.stdin(a.client, bytes("x"), 0);
    at.session.disconnect(a.client, how);
    pass(at, graceMs - 1);
    join(at.session, "a", { isResume: true });
    pass(at, RESUME_GRACE_MS);
    expect(b.peer.of("stdin_holder", "leave")).toEqual([]);
    at.session.disconnect(a.client, how);
    pass(at, graceMs);
    expect(b.peer.of("stdin_holder", "leave")).toEqual([
      { type: "leave", id: "a" },
      { type: "stdin_holder", id: "" },
    ]);
    const back = join(at.session, "a", { isResume: true });
    expect([back.client.isAttached, at.session.keyboard.holder]).toEqual([true, ""]);
  });
});

describe("input", () => {
  test("I7: what is refused is answered, counted as taken, and never reaches the process", () => {
    const at = rig(EXCLUSIVE);
    join(at.session, "a");
    const { client, peer } = join(at.session, "b");
    at.session.stdin(client, bytes("rm\n"), 0);
    pass(at, 20);
    expect(peer.of("error", "stdin_ack")).toEqual([
      refused("not_stdin_holder", "not stdin holder"),
      { type: "stdin_ack", offset: 3 },
    ]);
    at.session.command(client, { type: "signal", signal: "SIGINT" });
    at.session.command(client, { type: "kill" });
    expect([client.input.entries, at.upstream.of("signal", "kill")]).toEqual([[], []]);
    // Its next connection is not told that the process takes no input.
    expect(join(at.session, "b", { isResume: true }).peer.of("hello", "error")).toHaveLength(1);
  });

  test("I7: after the end of input it is refused as closed", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    at.session.command(client, { type: "eof", offset: 0 });
    takeAll(at.session, client);
    at.session.stdin(client, bytes("x"), 0);
    expect(peer.of("error")).toEqual([refused("stdin_closed", "the process takes no more input")]);
  });

  test("I2: what is taken is acknowledged after 20 ms, and each 64 KiB of it at once, without the bytes behind them", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    const told = () => peer.of("stdin_ack").map(({ offset }) => offset);
    for (const offset of [0, 65_536, 131_072]) at.session.stdin(client, new Uint8Array(65_536), offset);
    at.session.wrote(client, 100);
    pass(at, 19);
    expect([told(), at.session.nextTickMs]).toEqual([[], at.clock.ms + 1]);
    pass(at, 1);
    at.session.wrote(client, 65_435);
    expect(told()).toEqual([100]);
    at.session.wrote(client, 1);
    expect(told()).toEqual([100, 65_536]);
    pass(at, 20);
    at.session.wrote(client, 65_536);
    at.session.wrote(client, 7);
    expect(told()).toEqual([100, 65_536, 131_072]);
    pass(at, 20);
    expect(told()).toEqual([100, 65_536, 131_072, 131_079]);
  });

  test("I2: on the inner hop what is taken is acknowledged after 20 ms too, and each 128 KiB of it at once", () => {
    const at = rig();
    const { client, told } = remote(at);
    at.session.stdin(client, new Uint8Array(200_000), 0);
    at.session.wrote(client, 131_071);
    expect(told()).toEqual([]);
    at.session.wrote(client, 1);
    expect(told()).toEqual([131_072]);
    at.session.wrote(client, 100);
    pass(at, 19);
    expect(told()).toEqual([131_072]);
    pass(at, 1);
    expect(told()).toEqual([131_072, 131_172]);
    // The rest of what is taken at once waits, too.
    at.session.stdin(client, new Uint8Array(200_000), 200_000);
    at.session.wrote(client, 200_000 - 131_172);
    at.session.wrote(client, 100_000);
    expect(told().slice(2)).toEqual([262_144]);
    pass(at, 19);
    expect(told().slice(2)).toEqual([262_144]);
    pass(at, 1);
    expect(told().slice(2)).toEqual([262_144, 300_000]);
  });

  test("I2: with its end what is taken before it is acknowledged at once", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    at.session.stdin(client, bytes("abc"), 0);
    at.session.command(client, { type: "eof", offset: 3 });
    at.session.wrote(client, 3);
    expect(peer.of("stdin_ack")).toEqual([]);
    at.session.appliedEof(client);
    expect(peer.of("stdin_ack")).toEqual([{ type: "stdin_ack", offset: 3 }]);
  });

  test("the session is looked at again when the first of what waits is due, whichever client it is of", () => {
    const at = rig();
    const [a, b, c] = [join(at.session, "a"), join(at.session, "b"), join(at.session, "c")];
    for (const { client } of [a, b, c]) at.session.stdin(client, bytes("x"), 0);
    for (const { client } of [a, c]) at.session.vanish(client);
    at.session.wrote(b.client, 1);
    expect(at.session.nextTickMs).toBe(at.clock.ms + 20);
  });

  test("I10: what is taken is acknowledged before the exit is told", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    at.session.stdin(client, bytes("abc"), 0);
    at.session.wrote(client, 3);
    at.session.exited({ code: 0 });
    expect(peer.told.slice(1)).toEqual([
      { type: "stdin_ack", offset: 3 },
      { type: "exit", code: 0, offset: 0 },
    ]);
  });

  test("I9: input ends at the offset that is named, or where it stands; at the process once", () => {
    const at = rig();
    const { client } = join(at.session, "a");
    at.session.stdin(client, bytes("abc"), 0);
    for (let i = 0; i < 2; i += 1) at.session.command(client, { type: "eof", offset: 1 });
    expect([client.input.eof, at.upstream.of("input").length]).toEqual([1, 2]);
    at.session.command(client, { type: "eof" });
    expect(client.input.eof).toBe(3);
  });

  test("R9: who has done nothing but end its input has a grace", () => {
    const at = rig();
    const { client } = join(at.session, "a");
    at.session.command(client, { type: "eof", offset: 0 });
    at.session.vanish(client);
    expect(client.presence.phase).toBe("vanished");
  });

  test("an empty piece is reported to its connection, a duplicate is not", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    const typed: [number, boolean][] = [];
    Object.assign(peer, { typed: (length: number, isAccepted: boolean) => typed.push([length, isAccepted]) });
    for (const piece of ["ab", "ab", ""]) at.session.stdin(client, bytes(piece), piece === "" ? 2 : 0);
    expect(typed).toEqual([
      [2, true],
      [0, true],
    ]);
  });

  test("B9: a pane is resized by whoever may type", () => {
    const at = rig(EXCLUSIVE);
    const [a, b] = [join(at.session, "a"), join(at.session, "b")];
    const order = { type: "resize", pane: "%1", cols: 60, rows: 20 } as const;
    for (const { client } of [b, a]) at.session.command(client, order);
    expect(at.upstream.of("pane")).toEqual([["pane", "a", order]]);
    expect(b.peer.of("error").map(({ code }) => code)).toEqual(["not_stdin_holder"]);
  });

  test("I9: on pipes input is ended by the creator, by the only driver, and by nobody else", () => {
    const at = rig();
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    const v = join(at.session, "v", { role: "viewer" });
    const end = ({ client }: typeof a) => at.session.command(client, { type: "eof", offset: 0 });
    for (const one of [b, v]) end(one);
    expect([b, v].flatMap(({ peer }) => peer.of("error").map(({ code }) => code))).toEqual(
      Array(2).fill("not_stdin_holder"),
    );
    at.session.leave(a.client);
    end(b);
    expect(at.upstream.of("input").map(([, id, kind]) => [id, kind])).toEqual([["b", "eof"]]);
    const again = rig();
    const first = join(again.session, "a");
    join(again.session, "b");
    again.session.command(first.client, { type: "eof", offset: 0 });
    expect(again.upstream.of("input").length).toBe(1);
  });

  test("I9: on a PTY its end is a key like any other: whoever may type may press it", () => {
    const at = rig(EXCLUSIVE);
    const [a, b] = [join(at.session, "a"), join(at.session, "b")];
    for (const { client } of [b, a]) at.session.command(client, { type: "eof", offset: 0 });
    expect(at.upstream.of("input").map(([, id]) => id)).toEqual(["a"]);
    // And more may be typed behind it.
    takeAll(at.session, a.client);
    at.session.stdin(a.client, bytes("x"), 0);
    expect([takeAll(at.session, a.client), a.peer.of("error")]).toEqual(["x", []]);
  });

  test("I9: an end of input after the exit reaches nobody", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    peer.isStuffed = true;
    at.session.exited({ code: 0 });
    at.session.command(client, { type: "eof", offset: 0 });
    expect(at.upstream.of("input")).toEqual([]);
  });

  test("H16, I9: a program's write may end input where it might do so itself, and none follows the end on pipes", () => {
    const plans = (tty: boolean) => {
      const at = rig({ tty });
      const creator = join(at.session, "a");
      const { client } = remote(at, { kind: "program", id: "p" });
      const plan = (eof: boolean) => {
        const result = planWrite(at.session.state, client, { length: 1, eof });
        return result.kind === "refuse" ? result.code : result.kind;
      };
      const first = [plan(false), plan(true)];
      at.session.leave(creator.client);
      typePlanned(at.session.state, client, bytes("x"), true);
      return [...first, plan(false)];
    };
    expect([plans(false), plans(true)]).toEqual([
      ["type", "not_stdin_holder", "stdin_closed"],
      ["type", "type", "type"],
    ]);
  });

  test("H16: a program's end of input follows its bytes to the process, and is one without any, too", () => {
    const at = rig();
    const { client } = remote(at, { kind: "program" });
    typePlanned(at.session.state, client, bytes("abc"), true);
    typePlanned(at.session.state, client, bytes("de"), false);
    typePlanned(at.session.state, client, bytes(""), true);
    expect(at.upstream.of("input").map(([, , ...entry]) => entry)).toEqual([
      ["bytes", "abc"],
      ["eof", 3],
      ["bytes", "de"],
      ["eof", 5],
    ]);
  });
});

describe("limits", () => {
  function fill(at: Rig, frames: number, wish: Partial<AttachRequest> = {}) {
    const one = join(at.session, "a", wish);
    for (let i = 0; i < frames; i += 1) at.session.stdin(one.client, new Uint8Array(65_536), i * 65_536);
    return one;
  }
  const tooMuch = (bytes: number) => ({ code: 1008, reason: `more than ${bytes} bytes of input wait`, retry: "never" });

  test.each([
    ["L4: 256 KiB", undefined, 262_144],
    ["I3b, L4: as much as it keeps", 2 ** 20, 1_048_576],
  ])("%s and one frame may wait, one byte more closes the client with 1008", (_much, keeps, window) => {
    const at = rig(defined({ inputWindow: keeps }));
    const { client, peer } = fill(at, window / 65_536 + 1, defined({ keeps }));
    expect([client.input.queuedBytes, peer.end]).toEqual([window + 65_536, undefined]);
    at.session.stdin(client, new Uint8Array(1));
    expect(peer.end).toEqual(tooMuch(window));
  });

  test("I3b: the client that the process was started for has the window that it keeps, 1 MiB at most", () => {
    const took = { inputWindow: 2 ** 20 };
    const windowOf = (keeps: number | undefined, at = rig(took), wish: Partial<AttachRequest> = {}) =>
      join(at.session, "a", { ...wish, ...defined({ keeps }) }).peer.hello.inputWindow;
    expect([undefined, 1, 300_000].map((keeps) => windowOf(keeps))).toEqual([undefined, undefined, 300_000]);
    expect(windowOf(2 ** 40, rig())).toBe(undefined); // The bridge is an older one.
    const at = rig(took);
    expect(windowOf(2 ** 40, at)).toBe(1_048_576);
    expect(windowOf(2 ** 40, at, { id: "b" })).toBe(undefined); // It came later.
    expect(windowOf(undefined, at)).toBe(undefined); // Its new connection says nothing of that.
    expect(windowOf(2 ** 40, rig(took), { role: "viewer" })).toBe(undefined);
    expect(windowOf(2 ** 40, rig({ ...took, tty: true }))).toBe(1_048_576);
  });

  test("R6, L4: what waits of an earlier life is not held against the next one, but two such lives are enough", () => {
    const at = rig();
    const again = { isResume: true, stdin: "new" } as const;
    fill(at, 4);
    const next = join(at.session, "a", again);
    expect(next.client.greeted?.inputStart).toBe(4 * 65_536);
    for (let i = 4; i < 9; i += 1) at.session.stdin(next.client, new Uint8Array(65_536), i * 65_536);
    expect([next.client.input.queuedBytes, next.peer.end]).toEqual([9 * 65_536, undefined]);
    const third = at.session.attach(request("a", again), new FakePeer());
    expect(third).toMatchObject({ ok: false, code: 1013, retry: "after" });
    at.session.stdin(next.client, new Uint8Array(1), 9 * 65_536);
    expect(next.peer.end).toMatchObject({ code: 1008 });
  });

  test("R6, L4: what an earlier life typed and the process has taken gives the next one no more room", () => {
    const at = rig();
    takeAll(at.session, fill(at, 4).client);
    const { client, peer } = join(at.session, "a", { isResume: true, stdin: "new" });
    for (let i = 4; i < 9; i += 1) at.session.stdin(client, new Uint8Array(65_536), i * 65_536);
    expect(peer.end).toBeUndefined();
    at.session.stdin(client, new Uint8Array(1), 9 * 65_536);
    expect(peer.end).toEqual(tooMuch(262_144));
  });

  test("L4: the bridge leaves it to the session object, and takes as much as that may send it again", () => {
    const at = rig();
    const { client, byes } = remote(at);
    for (let i = 0; i < 33; i += 1) at.session.stdin(client, new Uint8Array(65_536), i * 65_536);
    expect(byes()).toEqual([]);
    at.session.stdin(client, new Uint8Array(1));
    expect(byes()).toEqual([1008]);
  });

  test("L4: nothing comes on top for a client that is not greeted yet", () => {
    const at = relayRig();
    output(at, new Uint8Array(600_000));
    const { client, peer } = join(at.session, "a", { offset: 0 });
    for (let i = 0; i < 5; i += 1) at.session.stdin(client, new Uint8Array(65_536), i * 65_536);
    expect([client.presence.phase, peer.end]).toEqual(["opening", undefined]);
    at.session.stdin(client, new Uint8Array(1));
    expect(peer.end).toEqual(tooMuch(262_144));
  });

  /** A plain client. `feed`: it says so much at once. @returns Whether it is still here. */
  function plain(at: Rig, id: string, wish: Partial<AttachRequest> = {}) {
    const { client, peer } = join(at.session, id, { acknowledges: false, ...wish });
    const feed = (length: number) => {
      at.session.feed(client, new Uint8Array(length));
      return peer.end === undefined;
    };
    const takeAll = () => {
      for (let [entry] = client.input.entries; entry?.kind === "bytes"; [entry] = client.input.entries)
        at.session.wrote(client, entry.bytes.length);
    };
    return { client, peer, feed, takeAll };
  }

  test("L4: 16 MiB of all plain clients' input may wait together, and not a byte more, but for 256 KiB of each", () => {
    const at = rig();
    // Of each 256 KiB are on their way to the process.
    const fits = ["a", "b", "c", "d"].map((id) => plain(at, id).feed(2 ** 22));
    fits.push(plain(at, "e").feed(2 ** 20));
    const more = plain(at, "f").feed(2 ** 18 + 1);
    const small = ["g", "h"].map((id) => plain(at, id));
    for (let i = 0; i < 2; i += 1) for (const { feed } of small) fits.push(feed(2 ** 18));
    expect([fits, more]).toEqual([Array(9).fill(true), false]);
  });

  test("L4: what a plain client says behind its input waits for it", () => {
    const at = rig();
    const { client, peer, feed, takeAll } = plain(at, "a");
    feed(400_000);
    at.session.feedMessage(client, { type: "signal", signal: "SIGINT" });
    expect([peer.end, at.upstream.of("signal")]).toEqual([undefined, []]);
    takeAll();
    expect(at.upstream.of("signal")).toEqual([["signal", "a", "SIGINT"]]);
  });

  test("L4: 256 messages may wait so, and one more closes with 1008", () => {
    const at = rig();
    const { client, peer, feed } = plain(at, "a");
    feed(400_000);
    const say = () => at.session.feedMessage(client, { type: "request_stdin" });
    for (let i = 0; i < 256; i += 1) say();
    expect(peer.end).toBeUndefined();
    say();
    expect(peer.end).toMatchObject({ code: 1008, reason: "too many messages wait" });
  });

  test("L4: a plain client that leaves, or can't come back, has left once all that it said is taken; else it is kept", () => {
    const phaseOf = (how: "left" | "vanished", canResume: boolean) => {
      const at = rig();
      const { client, feed, takeAll } = plain(at, "a", { canResume });
      feed(400_000);
      at.session.disconnect(client, how);
      const before = client.presence.phase;
      takeAll();
      return [before, client.input.taken, client.presence.phase];
    };
    expect([phaseOf("left", true), phaseOf("vanished", false), phaseOf("vanished", true)]).toEqual([
      ["vanished", 400_000, "gone"],
      ["vanished", 400_000, "gone"],
      ["vanished", 400_000, "vanished"],
    ]);
  });

  test("L4: of one that left, whose input the process did not take for the length of a grace, the rest is dropped", () => {
    const at = rig();
    const { client, feed } = plain(at, "a");
    feed(400_000);
    at.session.disconnect(client, "left");
    pass(at, RESUME_GRACE_MS - 1);
    // It takes a little, and the grace begins anew.
    at.session.wrote(client, 65_536);
    pass(at, RESUME_GRACE_MS - 1);
    expect(client.presence.phase).toBe("vanished");
    pass(at, 1);
    expect([client.presence.phase, at.upstream.of("departed")]).toEqual(["gone", [["departed", "a", "left"]]]);
  });

  test("L10: of refused input 256 KiB cost nothing at once, and then 64 KiB a second", () => {
    const budget = new Budget(DEFAULT_BUDGET, 0);
    const refuse = (nowMs: number, bytes: number) => budget.message(nowMs, bytes);
    expect([refuse(0, 262_144), refuse(1_000, 65_536), refuse(1_000, 1)]).toEqual([true, true, false]);
  });

  test("L5: a flood of ends of input between single bytes closes the client before it costs much", () => {
    const at = rig({ tty: true });
    const { client, peer } = join(at.session, "a");
    for (let i = 0; i < 10_000 && peer.end === undefined; i += 1) {
      at.session.stdin(client, new Uint8Array(1), i);
      at.session.command(client, { type: "eof", offset: i + 1 });
    }
    expect([peer.end, client.input.entries.length]).toEqual([tooMuch(262_144), 4097]);
  });
});
