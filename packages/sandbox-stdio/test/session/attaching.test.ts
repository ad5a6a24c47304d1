// Who may come to a session and as whom, what each is sent first, and who is told of whom.

import { describe, expect, test } from "vitest";
import { type AttachRequest, type ClientRecord, MAX_CLIENTS, RESUME_GRACE_MS } from "../../src/index.ts";
import type { SessionCore } from "../../src/session/session-core.ts";
import {
  LOG_BYTES,
  LOST_REASON,
  MAX_SNAPSHOT_BYTES,
  PROGRAM_GRACE_MS,
  TOLD_EXIT_GRACE_MS,
} from "../../src/wire/constants.ts";
import { bytes, FakePeer, InnerRig, join, output, pass, relayRig, request, rig, takeAll } from "../support/fixtures.ts";
import { CountingSource, heard, PTY } from "../support/screens.ts";

type Wish = Partial<AttachRequest>;

const refusalOf = (session: SessionCore, id: string, wish: Wish = {}) => {
  const result = session.attach(request(id, wish), new FakePeer());
  return result.ok ? undefined : { code: result.code, retry: result.retry };
};
const LATER = { code: 1013, retry: "after" };

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
    // On pipes who names no offset asks for everything, and is told what is gone.
    expect([greeted("a"), greeted("b", { offset: 100 }), greeted("c", { offset: 904 })]).toEqual([
      [904, 904],
      [904, 804],
      [904, undefined],
    ]);
    expect([greeted("d", { offset: 5000 })[0], refusalOf(at.session, "e", { offset: 5001 })?.code]).toEqual([
      5000, 4400,
    ]);
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

describe("who is here", () => {
  test("C2: the others hear of who comes and who leaves, and the newcomer reads of them in its hello", () => {
    const at = rig(PTY);
    const a = join(at.session, "a");
    const b = join(at.session, "b", { role: "viewer", name: "Bob" });
    const participant = { id: "b", name: "Bob", role: "viewer", kind: "person" };
    expect(a.peer.of("join")).toEqual([{ type: "join", participant }]);
    expect([b.peer.hello.participants.map(({ id }) => id), b.peer.of("join")]).toEqual([["a", "b"], []]);
    at.session.leave(b.client);
    expect(a.peer.of("leave")).toEqual([{ type: "leave", id: "b" }]);
  });

  test("R9: who vanishes is still here for 30 s, and nobody hears of it when it comes back within them", () => {
    const at = rig(PTY);
    const a = join(at.session, "a");
    const size = { cols: 60, rows: 20 };
    const b = join(at.session, "b", { size });
    at.session.stdin(b.client, bytes("x"), 0);
    at.session.vanish(b.client);
    pass(at, RESUME_GRACE_MS - 1);
    expect([at.session.presentCount, at.session.attachedCount, a.peer.of("leave")]).toEqual([2, 1, []]);
    const back = join(at.session, "b", { isResume: true });
    expect([a.peer.of("leave"), a.peer.of("join").length, back.client.size]).toEqual([[], 1, size]);
    at.session.vanish(back.client);
    pass(at, RESUME_GRACE_MS);
    expect(a.peer.of("leave")).toEqual([{ type: "leave", id: "b" }]);
    join(at.session, "b", { isResume: true });
    expect(a.peer.of("join").length).toBe(2);
  });

  test("C2: who has left has left once, whatever is heard of its connections, and may come anew", () => {
    const at = rig();
    const [a, b] = [join(at.session, "a"), join(at.session, "b")];
    for (let i = 0; i < 2; i += 1) at.session.leave(a.client);
    at.session.vanish(a.client);
    expect([a.client.presence.phase, b.peer.of("leave").length, at.upstream.of("departed").length]).toEqual([
      ...["gone", 1, 1],
    ]);
    expect([refusalOf(at.session, "a", { isResume: true })?.code, refusalOf(at.session, "a")]).toEqual([
      4404,
      undefined,
    ]);
    expect(refusalOf(at.session, "a", { isResume: true })).toBeUndefined();
  });

  test("K2b: a creator that never took part was none: the next driver is", () => {
    const { session } = rig();
    session.leave(join(session, "a").client);
    expect(join(session, "b").peer.hello.creator).toBe(true);
  });

  test("L6: of ids that have gone the newest 256 are remembered", () => {
    const { session } = relayRig();
    session.noteGone("a");
    for (let i = 1; i < 256; i += 1) session.noteGone(`c${i}`);
    session.noteGone("a");
    session.noteGone("last");
    expect([session.gone.size, session.gone.has("a"), session.gone.has("c1")]).toEqual([256, true, false]);
  });

  test("L6: what a client said that has gone waits for it", () => {
    const at = rig();
    const { client } = join(at.session, "a");
    at.session.stdin(client, bytes("x"));
    at.session.vanish(client);
    pass(at, RESUME_GRACE_MS);
    expect(at.session.client("a")?.input.queuedBytes).toBe(1);
  });

  /** Has part in the session, and then no connection. */
  function vanish(session: SessionCore, id: string): void {
    const client = session.client(id);
    if (client === undefined) throw new Error(`${id} is not here`);
    session.command(client, { type: "ack", offset: 0 });
    session.vanish(client);
  }
  function leave(session: SessionCore, id: string): void {
    const client = session.client(id);
    if (client !== undefined) session.leave(client);
  }

  test("L3: 64 clients are on a session, one more is told to try later, a resumed one has its place", () => {
    const { session } = rig(PTY);
    for (let i = 0; i < MAX_CLIENTS; i += 1) join(session, `c${i}`, { role: i === 0 ? "driver" : "viewer" });
    expect(refusalOf(session, "late")).toEqual(LATER);
    vanish(session, "c1");
    expect(refusalOf(session, "late")).toEqual(LATER);
    join(session, "c1", { isResume: true, role: "viewer" });
    leave(session, "c2");
    join(session, "late");
  });

  test("X5: after the exit only those have a place that have not been told it", () => {
    const at = rig(PTY, { maxClients: 1 });
    const { client, peer } = join(at.session, "a");
    peer.isStuffed = true;
    at.session.exited({ code: 0 });
    expect(refusalOf(at.session, "b")).toEqual(LATER);
    peer.isStuffed = false;
    at.session.drained(client);
    expect(client.presence.phase).toBe("vanished");
    join(at.session, "b");
    pass(at, TOLD_EXIT_GRACE_MS);
    expect(client.presence.phase).toBe("absent");
  });

  test("who has gone and come back is behind those who stayed", () => {
    const at = rig(PTY);
    for (const id of ["a", "b"]) join(at.session, id);
    vanish(at.session, "a");
    pass(at, RESUME_GRACE_MS);
    const { peer } = join(at.session, "a", { isResume: true });
    const ids = [peer.hello.participants, at.session.attachedParticipants].map((all) => all.map(({ id }) => id));
    expect(ids).toEqual(Array(2).fill(["b", "a"]));
  });

  test("a client that can't come back has left when its connection ends", () => {
    const at = rig(PTY);
    const { client } = join(at.session, "a", { acknowledges: false, canResume: false });
    at.session.stdin(client, bytes("x"));
    at.session.vanish(client);
    expect([client.presence.phase, at.upstream.of("departed")]).toEqual(["gone", [["departed", "a", "left"]]]);
  });

  test("H7, L3: of those whom the bridge alone knows drivers have their places, and viewers no kept one", () => {
    const comes = (role: "driver" | "viewer") => {
      const { session } = relayRig(PTY, { maxClients: 3, keptPlaces: 2 });
      session.restore({ id: "known", role, stdin: 0, acked: 0, isAbsent: false });
      return refusalOf(session, "late", { role: "viewer", mayUseKept: false }) === undefined;
    };
    expect([comes("driver"), comes("viewer")]).toEqual([true, false]);
  });

  test("L6: what waits of those who are gone is forgotten from the oldest on beyond 4 MiB, and they beyond 192", () => {
    const at = rig();
    const frame = new Uint8Array(65_536);
    for (let i = 0; i < 17; i += 1) {
      const { client } = join(at.session, `loud${i}`);
      for (let sent = 0; sent < 4; sent += 1) at.session.stdin(client, frame, sent * frame.length);
      at.session.vanish(client);
    }
    pass(at, RESUME_GRACE_MS);
    expect([[...at.session.clients].length, [...at.session.gone]]).toEqual([16, ["loud0"]]);
    const relay = relayRig();
    const known = { role: "driver", stdin: 0, acked: 0, isAbsent: true } as const;
    for (let i = 0; i < 192; i += 1) relay.session.restore({ ...known, id: `c${i}` });
    relay.session.restore({ ...known, id: "p", kind: "program" });
    const { client } = join(relay.session, "a");
    relay.session.stdin(client, bytes("x"));
    relay.session.vanish(client);
    pass(relay, RESUME_GRACE_MS);
    expect([relay.session.client("p") === undefined, [...relay.session.gone]]).toEqual([false, ["c0"]]);
  });

  test("L3: a program that calls takes no place", () => {
    const { session } = relayRig(PTY, { maxClients: 1 });
    session.programs.beginCall({ id: "p", name: "agent", isAdmin: false });
    join(session, "a");
    expect(refusalOf(session, "b")).toEqual(LATER);
  });

  test("attached are those with a connection, here or at the far end, and no programs", () => {
    const { session } = rig(PTY);
    const attachRemote = (id: string, wish: Wish = {}) =>
      session.attachRemote(
        { ...request(id, wish), delivery: "live", acked: 0, windowBytes: 65_536 },
        { tell: () => undefined },
      );
    for (const id of ["b", "a"]) join(session, id);
    attachRemote("far");
    attachRemote("p", { kind: "program" });
    vanish(session, "b");
    expect([session.attachedParticipants.map(({ id }) => id), session.attachedCount]).toEqual([["a", "far"], 2]);
  });

  test("L3: kept places are for those alone who may use them, whoever came first", () => {
    const { session } = rig(PTY, { maxClients: 6, keptPlaces: 2 });
    const other = { mayUseKept: false, role: "viewer" } as const;
    join(session, "driver");
    for (let i = 0; i < 4; i += 1) join(session, `v${i}`, other);
    expect(refusalOf(session, "late", other)).toEqual(LATER);
    join(session, "second");
    expect(refusalOf(session, "third")).toEqual(LATER);
    leave(session, "v0");
    join(session, "late", other);
  });

  test("T3: of one party only so many are here at a time, and one that comes back has its place", () => {
    const at = rig(PTY);
    const link = { role: "viewer", party: { id: "link", maxClients: 2 } } as const;
    join(at.session, "a", link);
    join(at.session, "b", link);
    expect(refusalOf(at.session, "c", link)).toEqual(LATER);
    join(at.session, "d", { ...link, party: { id: "other", maxClients: 2 } });
    vanish(at.session, "b");
    expect(refusalOf(at.session, "c", link)).toEqual(LATER);
    join(at.session, "b", { ...link, isResume: true });
    pass(at, RESUME_GRACE_MS);
    leave(at.session, "b");
    join(at.session, "c", link);
  });

  test("L6: of clients that are gone 192 are remembered, and 4 MiB of what they said and nobody took", () => {
    const at = rig();
    const clients = () => [...at.session.clients];
    const waiting = () => clients().reduce((sum, client) => sum + client.input.queuedBytes, 0);
    let first: ClientRecord | undefined;
    for (let i = 0; i < 40; i += 1) {
      const { client } = join(at.session, `loud${i}`);
      first ??= client;
      for (let frame = 0; frame < 4; frame += 1) at.session.stdin(client, new Uint8Array(65_536), frame * 65_536);
      at.session.vanish(client);
      pass(at, RESUME_GRACE_MS);
    }
    expect([waiting(), clients().length]).toEqual([4 * 1024 * 1024, 16]);
    expect([first?.input.entries, first?.input.queuedBytes]).toEqual([[], 0]);
    for (let i = 0; i < 300; i += 1) {
      join(at.session, `quiet${i}`);
      vanish(at.session, `quiet${i}`);
      pass(at, RESUME_GRACE_MS);
    }
    expect([waiting(), clients().length, at.session.client("quiet299")?.presence.phase]).toEqual([0, 192, "absent"]);
  });
});

describe("K4: the size of the PTY", () => {
  const size = (at: ReturnType<typeof rig>) => at.upstream.of("resize").map(([, , cols, rows]) => `${cols}x${rows}`);

  test("is the smallest columns and the smallest rows of drivers that gave one, and follows who comes and goes", () => {
    const at = rig(PTY);
    const a = join(at.session, "a", { size: { cols: 100, rows: 20 } });
    join(at.session, "b");
    const c = join(at.session, "c", { size: { cols: 60, rows: 40 } });
    join(at.session, "v", { role: "viewer", size: { cols: 10, rows: 5 } });
    at.session.command(a.client, { type: "resize", cols: 90, rows: 25 });
    at.session.leave(c.client);
    at.session.leave(a.client);
    expect(size(at)).toEqual(["100x20", "60x20", "60x25", "90x25"]);
  });

  test("K4a: of a person's windows that of the one that was used last counts, and those of others as ever", () => {
    const at = new InnerRig(PTY).connect().flush();
    const sizes = () => at.bridge.upstream.of("resize").map(([, , cols, rows]) => `${cols}x${rows}`);
    const [person, typed] = ["ann", new Uint8Array(1)];
    const desk = join(at.session, "desk", { person, size: { cols: 200, rows: 60 } });
    const phone = join(at.session, "phone", { person, size: { cols: 40, rows: 80 } });
    at.flush();
    expect(sizes()).toEqual(["200x60", "40x80"]);
    at.session.stdin(desk.client, typed);
    at.flush();
    for (const client of at.bridge.session.clients) takeAll(at.bridge.session, client);
    expect(sizes().slice(2)).toEqual(["200x60"]);
    // Coming back is no use, somebody else limits her, and her other window counts when she leaves.
    at.session.vanish(phone.client);
    const back = join(at.session, "phone", { person, isResume: true, size: { cols: 40, rows: 80 } });
    at.session.command(back.client, { type: "resize", cols: 40, rows: 80 });
    join(at.session, "bob", { size: { cols: 100, rows: 100 } });
    at.flush();
    expect(sizes().slice(3)).toEqual(["100x60"]);
    at.session.leave(desk.client);
    at.flush();
    expect(sizes().slice(4)).toEqual(["40x80"]);
  });

  test("K4a: what a client used before it was a person's does not count among that person's windows", () => {
    const at = rig(PTY);
    const desk = join(at.session, "desk", { person: "ann" });
    at.session.command(desk.client, { type: "resize", cols: 200, rows: 60 });
    const other = join(at.session, "other");
    at.session.command(other.client, { type: "resize", cols: 40, rows: 80 });
    join(at.session, "other", { person: "ann", isResume: true });
    expect(size(at)).toEqual(["200x60", "40x60", "200x60"]);
  });

  test("is the holder's in an exclusive session, and changes with the keyboard", () => {
    const at = rig({ ...PTY, mode: "exclusive" });
    const a = join(at.session, "a", { size: { cols: 100, rows: 40 } });
    join(at.session, "b", { size: { cols: 60, rows: 20 } });
    at.session.command(a.client, { type: "grant_stdin", to: "b" });
    expect(size(at)).toEqual(["100x40", "60x20"]);
  });

  test("stays while a client that gave it has vanished, is marked in the log, and told to all from there on", () => {
    const at = rig(PTY);
    const a = join(at.session, "a", { size: { cols: 100, rows: 40 } });
    output(at, "abc");
    const b = join(at.session, "b", { size: { cols: 50, rows: 50 } });
    expect(a.peer.told.at(-1)).toEqual({ type: "resize", cols: 50, rows: 40, offset: 3 });
    at.session.stdin(b.client, bytes("x"), 0);
    at.session.vanish(b.client);
    expect(size(at)).toEqual(["100x40", "50x40"]);
    pass(at, RESUME_GRACE_MS);
    expect(size(at)).toEqual(["100x40", "50x40", "100x40"]);
  });

  test("B2c: is what the process says, and told at once, until it has ended", () => {
    const at = rig({ ...PTY, tellsSize: true });
    const { client, peer } = join(at.session, "a");
    at.session.sized({ cols: 70, rows: 30 });
    expect(peer.told.slice(1)).toEqual([{ type: "resize", cols: 70, rows: 30, offset: 0 }]);
    // What fits its clients is only asked for.
    at.session.command(client, { type: "resize", cols: 60, rows: 20 });
    expect([size(at), peer.of("resize").length]).toEqual([["60x20"], 1]);
    at.session.exited({ code: 0 });
    at.session.sized({ cols: 90, rows: 30 });
    expect(at.log.sizeAt(0).cols).toBe(70);
  });

  test("is kept by the session object with its client", () => {
    const at = relayRig(PTY);
    const { client } = join(at.session, "a");
    at.session.command(client, { type: "resize", cols: 60, rows: 20 });
    expect([client.size, at.upstream.of("resize")]).toEqual([{ cols: 60, rows: 20 }, [["resize", "a", 60, 20]]]);
    // Where the output goes on after a break the bridge may say another size, if only of its rows.
    at.session.continueAt(0, { cols: 80, rows: 50 });
    expect(at.log.sizeAt(0)).toEqual({ cols: 80, rows: 50 });
  });

  test("pipes have none", () => {
    const at = rig();
    const { client } = join(at.session, "a", { size: { cols: 100, rows: 40 } });
    at.session.command(client, { type: "resize", cols: 10, rows: 10 });
    expect(size(at)).toEqual([]);
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
