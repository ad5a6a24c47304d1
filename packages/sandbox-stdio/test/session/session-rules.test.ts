// The session core's rules that need several clients or time to pass: presence, sizes, answers, refusals, graces.

import { describe, expect, test } from "vitest";
import { MAX_CLIENTS, PLAIN_STALL_MS, PUT_ASIDE_GRACE_MS, RESUME_GRACE_MS, STALL_MS } from "../../src/index.ts";
import { bytes, FakePeer, join, output, type Rig, request, rig, takeAll } from "../support/fixtures.ts";

const PTY = { tty: true, delivery: "live" as const };

function pass(at: Rig, ms: number): void {
  at.clock.ms += ms;
  at.session.tick();
}

describe("who is here", () => {
  test("L11: the later of two with one name, or names that look alike, gets a number, also a guest of a person", () => {
    const at = rig();
    const name = (id: string, over: Parameters<typeof join>[2]) => join(at.session, id, over).client.name;
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
    expect(join(at.session, "a", { name: "Eve", isResume: true }).client.name).toBe("Bob");
    const again = at.session.client("a");
    if (again === undefined) throw new Error("unreachable");
    at.session.vanish(again);
    at.clock.ms += 60_000;
    at.session.tick();
    expect(join(at.session, "c", { name: "Bob" }).client.name).toBe("Bob");
    expect(join(at.session, "a", { name: "Bob", isResume: true }).client.name).toBe("Bob (3)");
  });

  test("C2: the others hear of who comes and who leaves, and the newcomer reads of them in its hello", () => {
    const at = rig(PTY);
    const a = join(at.session, "a");
    const b = join(at.session, "b", { role: "viewer", name: "Bob" });
    expect(a.peer.of("join")).toEqual([
      { type: "join", participant: { id: "b", name: "Bob", role: "viewer", kind: "person" } },
    ]);
    expect([b.peer.hello.participants.map(({ id }) => id), b.peer.of("join")]).toEqual([["a", "b"], []]);
    at.session.leave(b.client);
    expect(a.peer.of("leave")).toEqual([{ type: "leave", id: "b" }]);
  });

  test("R9: who vanishes is still here for 30 s, and nobody hears of it when it comes back within them", () => {
    const at = rig(PTY);
    const a = join(at.session, "a");
    const b = join(at.session, "b", { size: { cols: 60, rows: 20 } });
    at.session.stdin(b.client, bytes("x"), 0);
    at.session.vanish(b.client);
    pass(at, RESUME_GRACE_MS - 1);
    expect([at.session.presentCount, at.session.attachedCount, a.peer.of("leave")]).toEqual([2, 1, []]);
    join(at.session, "b", { isResume: true });
    expect([a.peer.of("leave"), a.peer.of("join").length, at.session.client("b")?.size]).toEqual([
      [],
      1,
      { cols: 60, rows: 20 },
    ]);
    at.session.vanish(at.session.client("b") ?? b.client);
    pass(at, RESUME_GRACE_MS);
    expect(a.peer.of("leave")).toEqual([{ type: "leave", id: "b" }]);
    join(at.session, "b", { isResume: true });
    expect(a.peer.of("join").length).toBe(2);
  });

  test("L3: 64 clients are on a session, one more is told to try later, a resumed one has its place", () => {
    const at = rig(PTY);
    for (let i = 0; i < MAX_CLIENTS; i += 1) join(at.session, `c${i}`, { role: i === 0 ? "driver" : "viewer" });
    expect(at.session.attach(request("late"), new FakePeer())).toMatchObject({ ok: false, code: 1013, retry: "after" });
    const first = at.session.client("c1");
    if (first === undefined) throw new Error("unreachable");
    at.session.command(first, { type: "ack", offset: 0 });
    at.session.vanish(first);
    expect(at.session.attach(request("late"), new FakePeer()).ok).toBe(false);
    join(at.session, "c1", { isResume: true, role: "viewer" });
    const second = at.session.client("c2");
    if (second !== undefined) at.session.leave(second);
    join(at.session, "late");
  });

  test("L3: kept places are for those alone who may use them, whoever came first", () => {
    const at = rig(PTY, { maxClients: 6, keptPlaces: 2 });
    const other = { mayUseKept: false, role: "viewer" } as const;
    join(at.session, "driver");
    for (let i = 0; i < 4; i += 1) join(at.session, `v${i}`, other);
    const late = at.session.attach(request("late", other), new FakePeer());
    expect(late).toMatchObject({ ok: false, code: 1013, retry: "after" });
    join(at.session, "second");
    expect(at.session.attach(request("third"), new FakePeer())).toMatchObject({ ok: false, code: 1013 });
    const first = at.session.client("v0");
    if (first !== undefined) at.session.leave(first);
    join(at.session, "late", other);
  });

  test("T3: of one party only so many are here at a time, and one that comes back has its place", () => {
    const at = rig(PTY);
    const link = { role: "viewer", party: { id: "link", maxClients: 2 } } as const;
    join(at.session, "a", link);
    join(at.session, "b", link);
    expect(at.session.attach(request("c", link), new FakePeer())).toMatchObject({
      ok: false,
      code: 1013,
      retry: "after",
    });
    join(at.session, "d", { ...link, party: { id: "other", maxClients: 2 } });
    const b = at.session.client("b");
    if (b === undefined) throw new Error("unreachable");
    at.session.command(b, { type: "ack", offset: 0 });
    at.session.vanish(b);
    expect(at.session.attach(request("c", link), new FakePeer()).ok).toBe(false);
    join(at.session, "b", { ...link, isResume: true });
    pass(at, RESUME_GRACE_MS);
    at.session.leave(at.session.client("b") ?? b);
    join(at.session, "c", link);
  });

  test("R3: an offset beyond what has been written is refused, the end is not", () => {
    const at = rig();
    output(at, "abc");
    expect(at.session.attach(request("a", { offset: 4 }), new FakePeer())).toMatchObject({ ok: false, code: 4400 });
    expect(join(at.session, "a", { offset: 3 }).peer.hello.offset).toBe(3);
  });
});

describe("K4: the size of the PTY", () => {
  const size = (at: Rig) => at.upstream.of("resize").map(([, , cols, rows]) => `${cols}x${rows}`);

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
    expect(a.peer.told.slice(-2)).toEqual([
      { type: "join", participant: { id: "b", name: "b", role: "driver", kind: "person" } },
      { type: "resize", cols: 50, rows: 40, offset: 3 },
    ]);
    at.session.stdin(b.client, bytes("x"), 0);
    at.session.vanish(b.client);
    expect(size(at)).toEqual(["100x40", "50x40"]);
    pass(at, RESUME_GRACE_MS);
    expect(size(at)).toEqual(["100x40", "50x40", "100x40"]);
  });

  test("pipes have none", () => {
    const at = rig();
    const { client } = join(at.session, "a", { size: { cols: 100, rows: 40 } });
    at.session.command(client, { type: "resize", cols: 10, rows: 10 });
    expect(size(at)).toEqual([]);
  });
});

describe("K5: who answers terminal queries", () => {
  test("the driver attached longest, then the next, from the offset on where that changed", () => {
    const at = rig(PTY);
    const viewer = join(at.session, "v", { role: "viewer" });
    expect(viewer.peer.hello.answerer).toEqual({ id: "", offset: 0 });
    const a = join(at.session, "a");
    join(at.session, "b");
    output(at, "abc");
    at.session.leave(a.client);
    expect(viewer.peer.of("answerer")).toEqual([
      { type: "answerer", id: "a", offset: 0 },
      { type: "answerer", id: "b", offset: 3 },
    ]);
  });

  test("the holder, where there is one", () => {
    const at = rig({ ...PTY, mode: "exclusive" });
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    at.session.command(a.client, { type: "grant_stdin", to: "b" });
    expect(b.peer.of("answerer")).toEqual([{ type: "answerer", id: "b", offset: 0 }]);
  });
});

describe("the keyboard", () => {
  test("K2: asking, giving, taking and giving back are told to everybody, a refusal only to who asked", () => {
    const at = rig({ ...PTY, mode: "exclusive" });
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
    expect(watcher.peer.of("stdin_request", "stdin_holder", "error")).toEqual([
      { type: "stdin_request", id: "b" },
      { type: "stdin_holder", id: "b" },
      { type: "stdin_holder", id: "boss" },
      { type: "stdin_holder", id: "" },
      { type: "stdin_holder", id: "b" },
    ]);
    expect(b.peer.of("error")).toEqual([{ type: "error", code: "not_allowed", message: "not allowed" }]);
    expect(at.upstream.of("holder").map(([, id]) => id)).toEqual(["a", "b", "boss", "", "b"]);
  });

  test("K2d: a program's keyboard goes to a person who asks; a guest and another program ask in vain", () => {
    const at = rig({ ...PTY, mode: "exclusive" });
    const program = join(at.session, "p", { kind: "program" });
    const guest = join(at.session, "g", { kind: "guest" });
    const other = join(at.session, "o", { kind: "program" });
    const person = join(at.session, "a");
    for (const { client } of [guest, other]) at.session.command(client, { type: "request_stdin" });
    expect(at.session.keyboard.holder).toBe("p");
    at.session.command(person.client, { type: "request_stdin" });
    expect(at.session.keyboard.holder).toBe("a");
    expect(at.session.keyboard.mayDrive(program.client.id)).toEqual({ ok: false, fault: "not_stdin_holder" });
    at.session.command(program.client, { type: "request_stdin" });
    expect(at.session.keyboard.holder).toBe("a");
  });

  test("K2e: the creator takes it from who has vanished, and from nobody who is there", () => {
    const at = rig({ ...PTY, mode: "exclusive" });
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

  test("R9a: a page that was put aside keeps it for 3 s, is back within them, and comes back after them without it", () => {
    const at = rig({ ...PTY, mode: "exclusive" });
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    at.session.stdin(a.client, bytes("x"), 0);
    at.session.disconnect(a.client, "put aside");
    pass(at, PUT_ASIDE_GRACE_MS - 1);
    join(at.session, "a", { isResume: true });
    pass(at, RESUME_GRACE_MS);
    expect(b.peer.of("stdin_holder", "leave")).toEqual([]);
    at.session.disconnect(a.client, "put aside");
    pass(at, PUT_ASIDE_GRACE_MS);
    expect(b.peer.of("stdin_holder", "leave")).toEqual([
      { type: "leave", id: "a" },
      { type: "stdin_holder", id: "" },
    ]);
    const back = join(at.session, "a", { isResume: true });
    expect([back.client.isAttached, at.session.keyboard.holder]).toEqual([true, ""]);
  });

  test("K2: a holder that has vanished keeps it for 30 s, then it is free", () => {
    const at = rig({ ...PTY, mode: "exclusive" });
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    at.session.stdin(a.client, bytes("x"), 0);
    at.session.vanish(a.client);
    pass(at, RESUME_GRACE_MS - 1);
    expect(b.peer.of("stdin_holder")).toEqual([]);
    pass(at, 1);
    expect(b.peer.of("stdin_holder")).toEqual([{ type: "stdin_holder", id: "" }]);
  });
});

describe("input", () => {
  test("I7: what is refused is answered, counted as taken, and never reaches the process", () => {
    const at = rig({ ...PTY, mode: "exclusive" });
    join(at.session, "a");
    const b = join(at.session, "b");
    at.session.stdin(b.client, bytes("rm\n"), 0);
    pass(at, 20);
    expect(b.peer.of("error", "stdin_ack")).toEqual([
      { type: "error", code: "not_stdin_holder", message: "not stdin holder" },
      { type: "stdin_ack", offset: 3 },
    ]);
    at.session.command(b.client, { type: "signal", signal: "SIGINT" });
    at.session.command(b.client, { type: "kill" });
    expect([b.client.input.entries, at.upstream.of("signal", "kill")]).toEqual([[], []]);
  });

  test("I7: after the end of input, and after the exit, input is refused as closed", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    at.session.command(client, { type: "eof", offset: 0 });
    takeAll(at.session, client);
    at.session.stdin(client, bytes("x"), 0);
    expect(peer.of("error")).toEqual([
      { type: "error", code: "stdin_closed", message: "the process takes no more input" },
    ]);
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

  test("I9: on pipes input is ended by the creator, by the only driver, and by nobody else", () => {
    const at = rig();
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    const v = join(at.session, "v", { role: "viewer" });
    for (const { client } of [b, v]) at.session.command(client, { type: "eof", offset: 0 });
    expect([b, v].map(({ peer }) => peer.of("error").map(({ code }) => code))).toEqual([
      ["not_stdin_holder"],
      ["not_stdin_holder"],
    ]);
    at.session.leave(a.client);
    at.session.command(b.client, { type: "eof", offset: 0 });
    expect(at.upstream.of("input").map(([, id, kind]) => [id, kind])).toEqual([["b", "eof"]]);
    const again = rig();
    const first = join(again.session, "a");
    join(again.session, "b");
    again.session.command(first.client, { type: "eof", offset: 0 });
    expect(again.upstream.of("input").length).toBe(1);
  });

  test("I9: on a PTY it is a key like any other: whoever may type may press it", () => {
    const at = rig({ ...PTY, mode: "exclusive" });
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    at.session.command(b.client, { type: "eof", offset: 0 });
    at.session.command(a.client, { type: "eof", offset: 0 });
    expect(at.upstream.of("input").map(([, id]) => id)).toEqual(["a"]);
  });

  test("C6: a signal overtakes input that waits", () => {
    const at = rig();
    const { client } = join(at.session, "a");
    at.session.stdin(client, bytes("x"), 0);
    at.session.command(client, { type: "signal", signal: "SIGINT" });
    expect([at.upstream.of("signal"), client.input.taken]).toEqual([[["signal", "a", "SIGINT"]], 0]);
  });
});

describe("pace", () => {
  test("W7: a lone reader that stops holds the process, and its acknowledgement lets it go on", () => {
    const at = rig();
    const { client } = join(at.session, "a");
    output(at, new Uint8Array(65_536));
    expect(at.session.shouldHold).toBe(false);
    output(at, new Uint8Array(65_536));
    expect(at.session.shouldHold).toBe(true);
    at.session.command(client, { type: "ack", offset: 65_536 });
    expect(at.session.shouldHold).toBe(false);
  });

  test("F5: what is still being read is not cut in two by an acknowledgement, nor by whoever comes meanwhile", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    output(at, "abc");
    at.log.append(bytes("de"), 1);
    at.session.command(client, { type: "ack", offset: 3 });
    const late = join(at.session, "b", { offset: 0 });
    expect([peer.output, late.peer.output]).toEqual(["abc", "abc"]);
    output(at, "f");
    expect([peer.output, late.peer.output]).toEqual(["abcdef", "abcdef"]);
    expect(peer.told.filter((said) => Array.isArray(said))).toEqual([
      [1, "abc"],
      [1, "def"],
    ]);
  });

  test("W8: beside an active driver a viewer that stops holds nothing, and is told its gap when it wakes", () => {
    const at = rig(PTY, { logBytes: 1 << 18 });
    const driver = join(at.session, "driver");
    const viewer = join(at.session, "viewer", { role: "viewer" });
    for (let i = 0; i < 20; i += 1) {
      output(at, new Uint8Array(65_536));
      at.session.command(driver.client, { type: "ack", offset: at.log.endOffset });
      expect(at.session.shouldHold).toBe(false);
    }
    expect(viewer.peer.of("gap")).toEqual([]);
    at.session.command(viewer.client, { type: "ack", offset: 65_536 });
    expect(viewer.peer.of("gap")).toEqual([{ type: "gap", from: 65_536, to: at.log.startOffset, approximate: true }]);
  });

  test("W8: with nobody there a live session runs on once it has been seen, a lossless one is held", () => {
    for (const delivery of ["live", "lossless"] as const) {
      const at = rig({ delivery });
      at.session.leave(join(at.session, "a").client);
      for (let i = 0; i < 40; i += 1) output(at, new Uint8Array(65_536));
      expect(at.session.shouldHold).toBe(delivery === "lossless");
    }
  });

  test("W11: a lossless client that leaves its window full for 60 s is told to come back, a live one is left alone", () => {
    const at = rig();
    const lossless = join(at.session, "a");
    const live = join(at.session, "b", { delivery: "live" });
    at.session.command(lossless.client, { type: "ack", offset: 0 });
    output(at, new Uint8Array(200_000));
    pass(at, STALL_MS - 1);
    expect(lossless.peer.end).toBeUndefined();
    expect(at.session.nextTickMs).toBe(at.clock.ms + 1);
    pass(at, 1);
    expect(lossless.peer.end).toMatchObject({ code: 1011, retry: "now" });
    expect([live.peer.end, lossless.client.presence.phase]).toEqual([undefined, "vanished"]);
  });

  test("W11: one that goes on dealing with output, however slowly, is not", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    output(at, new Uint8Array(1_000_000));
    for (let offset = 20_000; offset < 130_000; offset += 20_000) {
      pass(at, 50_000);
      at.session.command(client, { type: "ack", offset });
    }
    expect(peer.end).toBeUndefined();
  });

  test("W11: a plain client that can't be written to for 30 s is closed", () => {
    const at = rig(PTY);
    const { peer } = join(at.session, "p", { acknowledges: false });
    peer.isStuffed = true;
    output(at, "abc");
    pass(at, PLAIN_STALL_MS - 1);
    expect(peer.end).toBeUndefined();
    pass(at, 1);
    expect(peer.end).toMatchObject({ code: 1011 });
  });

  test("W10: a plain client's rate is kept to by looking again and again, with no timer where there is nothing to send", () => {
    const at = rig(PTY);
    const { peer } = join(at.session, "p", { acknowledges: false });
    expect(at.session.nextTickMs).toBeUndefined();
    output(at, new Uint8Array(1_000_000));
    expect(at.session.nextTickMs).toBe(at.clock.ms + 10);
    for (let i = 0; i < 4; i += 1) pass(at, 10);
    expect(peer.output.length).toBe(1_000_000);
    expect(at.session.nextTickMs).toBeUndefined();
  });
});
