// Who is in a session: who may come, how long one that vanished keeps its place, who is told, and the size that all agree on.

import { describe, expect, test } from "vitest";
import { type AttachRequest, type ClientRecord, MAX_CLIENTS, RESUME_GRACE_MS } from "../../src/index.ts";
import type { SessionCore } from "../../src/session/session-core.ts";
import { TOLD_EXIT_GRACE_MS } from "../../src/wire/constants.ts";
import { bytes, FakePeer, InnerRig, join, output, pass, relayRig, request, rig, takeAll } from "../support/fixtures.ts";
import { PTY } from "../support/screens.ts";

type Wish = Partial<AttachRequest>;

const refusalOf = (session: SessionCore, id: string, wish: Wish = {}) => {
  const result = session.attach(request(id, wish), new FakePeer());
  return result.ok ? undefined : { code: result.code, retry: result.retry };
};
const LATER = { code: 1013, retry: "after" };

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
