// What each client that comes to a session is sent first, under which name it is there, and clients of the object at the bridge.

import { describe, expect, test } from "vitest";
import { type AttachRequest, type ClientRecord, MAX_CLIENTS } from "../../src/index.ts";
import {
  LOG_BYTES,
  LOST_REASON,
  MAX_SNAPSHOT_BYTES,
  PROGRAM_GRACE_MS,
  TOLD_EXIT_GRACE_MS,
} from "../../src/wire/constants.ts";
import { bytes, FakePeer, join, output, pass, relayRig, request, rig } from "../support/fixtures.ts";
import { CountingSource, heard, PTY } from "../support/screens.ts";

type Wish = Partial<AttachRequest>;

describe("what is sent first", () => {
  test("A8: a client whose window changes the PTY's size hears hello first, then the log, then its own change of size", () => {
    const at = rig(PTY);
    const first = join(at.session, "a", { size: { cols: 100, rows: 40 } });
    output(at, "prompt");
    const { peer } = join(at.session, "b", { size: { cols: 40, rows: 20 } });
    expect([heard(first.peer)[0], peer.hello]).toMatchObject(["hello", { cols: 100, rows: 40 }]);
    expect(heard(peer)).toEqual(["hello", [1, "prompt"], "resize"]);
  });

  test("A9, R3: it starts at the offset that is asked for, or where the log does; one beyond the end is refused", () => {
    const at = rig({}, { logBytes: 4096 });
    output(at, new Uint8Array(5000));
    const greeted = (id: string, wish: Wish = {}) => {
      const { offset, gap } = join(at.session, id, wish).peer.hello;
      return [offset, gap];
    };
    // A client on pipes that names no offset asks for everything, and is told what is gone.
    expect([greeted("a"), greeted("b", { offset: 100 }), greeted("c", { offset: 904 })]).toEqual([
      [904, 904],
      [904, 804],
      [904, undefined],
    ]);
    expect(greeted("d", { offset: 5000 })[0]).toBe(5000);
    expect(at.session.attach(request("e", { offset: 5001 }), new FakePeer())).toMatchObject({ ok: false, code: 4400 });
    // What it received and did not process is in flight only where it goes on from there.
    const ackedOf = (id: string, wish: Wish) => join(at.session, id, { isResume: true, ...wish }).client.acked;
    expect([ackedOf("f", { offset: 100, acked: 50 }), ackedOf("g", { offset: 2000, acked: 1000 })]).toEqual([
      904, 1000,
    ]);
    const pty = rig({ tty: true }, { logBytes: 4096 });
    output(pty, new Uint8Array(5000));
    expect(join(pty.session, "a").peer.hello).toMatchObject({ offset: 904 });
    expect(join(pty.session, "b").peer.hello.gap).toBeUndefined();
  });

  test.each<[boolean, Wish, string]>([
    [true, { delivery: undefined }, "live"],
    [false, { delivery: undefined }, "lossless"],
    [true, { delivery: "lossless" }, "lossless"],
    [false, { delivery: "live" }, "live"],
    [false, { delivery: "lossless", role: "viewer" }, "live"],
  ])("A10: where the session has a PTY: %j, and its client asks for %j, delivery is %s", (tty, wish, delivery) => {
    expect(join(rig({ tty }).session, "a", wish).peer.hello.delivery).toBe(delivery);
  });

  test("X4, X5: after the exit whoever comes reads to the end and is told it, once, and takes up no place", () => {
    const at = rig();
    join(at.session, "a");
    output(at, "bye");
    at.session.exited({ code: 143, signal: "SIGTERM" });
    const exit = { type: "exit", code: 143, signal: "SIGTERM", offset: 3 };
    for (let i = 0; i < 2 * MAX_CLIENTS; i += 1) {
      const { peer } = join(at.session, `c${i}`);
      expect([peer.output, peer.of("exit"), peer.end]).toEqual(["bye", [exit], "finished"]);
    }
    // One that lost the exit on the way, and one with a proof of which nothing is known any more.
    for (const id of ["a", "stranger"]) {
      const { peer } = join(at.session, id, { isResume: true, offset: 2 });
      expect([peer.output, peer.of("exit"), peer.end]).toEqual(["e", [exit], "finished"]);
    }
    pass(at, TOLD_EXIT_GRACE_MS - 1);
    expect(at.session.isAttended).toBe(true);
    pass(at, 1);
    expect(at.session.isAttended).toBe(false);
    expect(join(at.session, "a", { isResume: true, offset: 2 }).peer.of("exit")).toEqual([exit]);
  });

  test("X8: that the machine goes away is told to our clients, to late ones with what is left, and not after the exit", () => {
    const at = rig(PTY);
    const [first, plain] = [join(at.session, "a"), join(at.session, "p", { acknowledges: false })];
    at.session.stopping(30);
    at.clock.ms += 10_500;
    const [late, latePlain] = [join(at.session, "late"), join(at.session, "q", { acknowledges: false })];
    first.peer.isStuffed = true;
    at.session.exited({ code: 0 });
    at.session.stopping(5);
    const told = [first, plain, late, latePlain, join(at.session, "after")].map(({ peer }) => peer.of("stopping"));
    const seconds = told.map((messages) => messages.map((message) => message.seconds));
    expect(seconds).toEqual([[30], [], [20], [], []]);
  });

  test("H12: with 512 KiB of the log free, or where it can't pace, a client is greeted at once", () => {
    const at = relayRig();
    output(at, new Uint8Array(LOG_BYTES / 2));
    const greeted = (id: string, wish: Wish = {}) => join(at.session, id, { offset: 0, ...wish }).peer.told.length > 0;
    expect(greeted("a")).toBe(true);
    output(at, "x");
    expect([greeted("b"), greeted("live", { delivery: "live" }), greeted("v", { role: "viewer" })]).toEqual([
      ...[false, true, true],
    ]);
  });

  test("H12: a lossless driver of a nearly full log is greeted after 2 s, or when the process is lost", () => {
    const at = relayRig();
    output(at, new Uint8Array(600_000));
    const held = join(at.session, "a", { offset: 0 });
    pass(at, 1_999);
    expect([held.peer.told, at.session.nextTickMs]).toEqual([[], at.clock.ms + 1]);
    pass(at, 1);
    expect(held.peer.hello.offset).toBe(0);
    const { peer } = join(at.session, "b", { offset: 0 });
    expect(peer.told).toEqual([]);
    at.session.lost(undefined);
    expect(peer.hello.offset).toBe(0);
    // Whoever comes after the end waits for nothing.
    expect(join(at.session, "c", { offset: 0 }).peer.hello.offset).toBe(0);
    const exited = relayRig();
    output(exited, new Uint8Array(600_000));
    const late = join(exited.session, "a", { offset: 0 });
    exited.session.exited({ code: 0 });
    expect(late.peer.hello.offset).toBe(0);
  });

  test("X1: the first end of a process is its end; on pipes nothing is left to ask the bridge then, nor of one that is lost", () => {
    const { session } = relayRig();
    session.exited({ code: 3 });
    session.exited({ code: 4 });
    session.lost(undefined);
    expect([session.exit, session.isSettled]).toEqual([{ code: 3 }, true]);
    const lost = relayRig();
    lost.session.lost(undefined);
    expect([lost.session.exit, lost.session.hasEnded]).toEqual([undefined, true]);
  });

  test("X5: the last screen of an ended process is asked for once, and still comes when its bridge is gone soon after", () => {
    const source = new CountingSource();
    const at = relayRig(PTY, { screen: source });
    output(at, new Uint8Array(MAX_SNAPSHOT_BYTES + 1));
    at.session.exited({ code: 0 });
    at.session.lost(undefined);
    expect([at.session.isSettled, source.asked]).toEqual([false, 1]);
    const last = { offset: at.log.endOffset, cols: 80, rows: 24, isExact: true, bytes: bytes("last") };
    at.session.snapshotReady(last);
    const { peer } = join(at.session, "a");
    expect([at.session.isSettled, at.session.lastScreen, peer.snapshots, source.asked]).toEqual([
      ...[true, last, ["last"], 1],
    ]);
  });

  test("X7: who is there when the process is lost reads to the end, and is told no exit", () => {
    const at = relayRig();
    const { peer } = join(at.session, "a");
    output(at, "last");
    at.session.lost(undefined);
    expect([heard(peer), peer.end]).toEqual([
      ["hello", [1, "last"]],
      { code: 4404, reason: LOST_REASON, retry: "never" },
    ]);
  });

  test("X7: who waits for a screen when the process is lost gets the last one seen; whoever comes later waits for none", () => {
    const source = new CountingSource();
    const lost = (wish: Wish, screen?: string) => {
      const at = relayRig(PTY, { screen: source });
      output(at, new Uint8Array(MAX_SNAPSHOT_BYTES + 1));
      const { peer } = join(at.session, "a", wish);
      const seen = { offset: at.log.endOffset, cols: 80, rows: 24, isExact: true };
      at.session.lost(screen === undefined ? undefined : { ...seen, bytes: bytes(screen) });
      return [peer, join(at.session, "late").peer].map((one) => [one.snapshots, one.end]);
    };
    const end = { code: 4404, reason: LOST_REASON, retry: "never" };
    expect(lost({}, "last")).toEqual(Array(2).fill([["last"], end]));
    const before = source.asked;
    const [, late] = lost({ offset: 0 });
    expect([late?.[0], source.asked]).toEqual([[], before]);
  });

  test("A13b: the end of output is told behind the last byte, once on each connection, and the exit after it", () => {
    const at = rig();
    const { peer } = join(at.session, "a");
    peer.isStuffed = true;
    output(at, "last");
    at.session.outputEnded();
    at.session.outputEnded();
    expect(peer.of("output_end")).toEqual([]);
    peer.isStuffed = false;
    at.session.appended();
    const end = { type: "output_end", offset: 4 };
    expect(peer.told.slice(-2)).toEqual([[1, "last"], end]);
    const again = join(at.session, "a", { isResume: true, offset: 4 });
    at.session.exited({ code: 0 });
    expect(again.peer.told.slice(1)).toEqual([end, { type: "exit", code: 0, offset: 4 }]);
  });
});

describe("names", () => {
  test("L11: the later of two with one name, or names that look alike, gets a number, also a guest of a person", () => {
    const at = rig();
    const name = (id: string, over: Wish) => join(at.session, id, over).client.name;
    expect(name("a", { name: "Bob" })).toBe("Bob");
    expect(name("b", { name: "bob", kind: "guest" })).toBe("bob (2)");
    expect(name("c", { name: "\u0412\u043eb" })).toBe("\u0412\u043eb (3)");
    expect(name("d", { name: "Bob (2)" })).toBe("Bob (2) (2)");
    expect(name("e", { name: "Bobby" })).toBe("Bobby");
    const { participants } = join(at.session, "f", { name: "Bob", kind: "program" }).peer.hello;
    expect(participants.map(({ kind }) => kind)).toEqual(["person", "guest", "person", "person", "person", "program"]);
    expect(new Set(participants.map((one) => one.name)).size).toBe(6);
  });

  test("L11: a client that comes back has the name that it had, unless somebody took that while it was away", () => {
    const at = rig();
    const { client } = join(at.session, "a", { name: "Bob" });
    at.session.stdin(client, bytes("x"));
    at.session.vanish(client);
    // Within its grace it is here.
    expect(join(at.session, "b", { name: "Bob" }).client.name).toBe("Bob (2)");
    const again = join(at.session, "a", { name: "Eve", isResume: true }).client;
    expect(again.name).toBe("Bob");
    at.session.vanish(again);
    pass(at, 60_000);
    expect(join(at.session, "c", { name: "Bob" }).client.name).toBe("Bob");
    expect(join(at.session, "a", { name: "Bob", isResume: true }).client.name).toBe("Bob (3)");
  });

  test("L11b: windows of one login have distinct names, and one person's; another of that name has another person's", () => {
    const at = rig();
    const names = (id: string, over: Wish) => {
      const { name, person } = join(at.session, id, over).peer.hello.you;
      return [name, person];
    };
    const alice = { name: "alice", login: "1" };
    expect(names("desk", alice)).toEqual(["alice", "alice"]);
    expect(names("phone", alice)).toEqual(["alice (2)", "alice"]);
    expect(names("other", { name: "Alice", login: "2" })).toEqual(["Alice (3)", "Alice (3)"]);
    // Guests and programs are never taken for each other, nor for a person.
    expect(names("guest", { name: "alice", kind: "guest" })).toEqual(["alice (4)", undefined]);
    // The name stays the person's when its first window has gone.
    at.session.leave(at.session.client("desk") as ClientRecord);
    expect(names("other 2", { name: "alice", login: "2" })).toEqual(["alice (5)", "Alice (3)"]);
    expect(names("desk 2", alice)).toEqual(["alice", "alice"]);
    const { participants } = join(at.session, "last", alice).peer.hello;
    expect(participants.flatMap(({ id, person }) => (person === "alice" ? [id] : []))).toEqual([
      ...["phone", "desk 2", "last"],
    ]);
  });

  test("L11b: who logs in while it is here gives its person the name that it has", () => {
    const at = rig();
    const { client } = join(at.session, "a", { name: "Bob" });
    at.session.stdin(client, bytes("x"));
    const again = join(at.session, "a", { name: "Eve", login: "1", isResume: true }).client;
    expect([again.name, again.personName]).toEqual(["Bob", "Bob"]);
  });

  test("L11b: a window that comes back is its person's, unless somebody took that name while all were away", () => {
    const at = rig();
    const alice = { name: "alice", login: "1" };
    const names = (id: string, over: Wish) => {
      const { client } = join(at.session, id, over);
      at.session.stdin(client, bytes("x"));
      return [client.name, client.personName];
    };
    names("desk", alice);
    names("phone", alice);
    at.session.leave(at.session.client("desk") as ClientRecord);
    at.session.vanish(at.session.client("phone") as ClientRecord);
    // Alone, and with a name of its own for its login.
    expect(names("phone", { name: "Eve", login: "1", isResume: true })).toEqual(["alice (2)", "alice"]);
    names("desk", alice);
    for (const client of at.session.clients) at.session.vanish(client);
    expect(names("phone", { ...alice, isResume: true })).toEqual(["alice (2)", "alice"]);
    for (const client of at.session.clients) at.session.vanish(client);
    pass(at, 60_000);
    expect(names("other", { name: "alice", login: "2" })).toEqual(["alice", "alice"]);
    expect(names("phone", { ...alice, isResume: true })).toEqual(["alice (2)", "alice (2)"]);
    expect(names("desk", { ...alice, isResume: true })).toEqual(["alice (3)", "alice (2)"]);
  });
});

describe("clients of the session object, at the bridge", () => {
  const attachRemote = ({ session }: ReturnType<typeof rig>, id: string, wish: Wish = {}) =>
    session.attachRemote(
      { ...request(id, wish), delivery: "live", acked: 0, windowBytes: 65_536 },
      { tell: () => undefined },
    );

  test("of programs that write 64 are known, and one that is known may come again", () => {
    const at = rig(PTY);
    const program = { kind: "program", name: "" } as const;
    const isKnown = Array.from({ length: 64 }, (_, i) => attachRemote(at, `p${i}`, program).ok);
    expect(isKnown).not.toContain(false);
    expect(attachRemote(at, "p64", program)).toMatchObject({ ok: false, reason: "too many writers" });
    expect([attachRemote(at, "p0", program).ok, attachRemote(at, "a").ok]).toEqual([true, true]);
  });

  test("R9: one that has acknowledged has a grace, one that was never heard of has none", () => {
    const at = rig(PTY);
    const phases = [true, false].map((acks) => {
      const result = attachRemote(at, `acks ${acks}`);
      if (!result.ok) throw new Error(result.reason);
      if (acks) at.session.remoteAck(result.client, 0, 131_072);
      expect(result.client.windowBytes).toBe(acks ? 131_072 : 65_536);
      at.session.vanish(result.client);
      return result.client.presence.phase;
    });
    expect(phases).toEqual(["vanished", "absent"]);
  });

  test("R9: a program that has lost its connection is kept for 60 s", () => {
    const at = rig(PTY);
    const result = attachRemote(at, "p", { kind: "program" });
    if (!result.ok) throw new Error(result.reason);
    at.session.remoteAck(result.client, 0, 65_536);
    at.session.vanish(result.client);
    pass(at, PROGRAM_GRACE_MS - 1);
    expect(result.client.presence.phase).toBe("vanished");
    pass(at, 1);
    expect(result.client.presence.phase).toBe("absent");
  });

  test("H8: a holder that is told again is not announced again", () => {
    const at = rig(PTY);
    join(at.session, "a");
    const { peer } = join(at.session, "b");
    for (let i = 0; i < 2; i += 1) at.session.setHolder("a");
    expect(peer.of("stdin_holder")).toEqual([{ type: "stdin_holder", id: "a" }]);
    // Everybody else may still type.
    expect(at.session.keyboard.mayDrive("b").ok).toBe(true);
  });
});

test("whoever watches is called with each output, once for its end, and with commands, the keyboard and calls for attention", () => {
  const at = relayRig();
  const { client } = join(at.session, "a");
  const calls: boolean[] = [];
  for (const isKept of [false, true]) at.session.watch(() => void calls.push(isKept), isKept);
  output(at, "x");
  expect(calls).toEqual([false, true]);
  for (let i = 0; i < 2; i += 1) at.session.outputEnded();
  expect(calls).toEqual([false, true, false, true]);
  const events = [
    () => at.session.attention({ kind: "bell", offset: 1 }),
    () => at.session.commandEnded({ to: 1 }),
    () => at.session.command(client, { type: "request_stdin" }),
  ];
  for (const happens of events) {
    calls.length = 0;
    happens();
    expect(calls).toEqual([false, true]);
  }
});

test("B4: a change of panes is told to the clients of our protocol, and to those that come later", () => {
  const at = rig({ tty: true });
  const [own, plain] = [join(at.session, "a"), join(at.session, "b", { acknowledges: false, delivery: "live" })];
  const panes = { type: "panes" as const, panes: [], windows: [] };
  at.session.tellPanes(panes);
  const late = join(at.session, "c");
  expect([own, plain, late].map(({ peer }) => peer.of("panes"))).toEqual([[panes], [], [panes]]);
});
