// Where a client's input is numbered from when it comes back: with what it kept, or in a new life that kept nothing.

import { expect, test } from "vitest";
import { type AttachRequest, PLAIN, RESUME_GRACE_MS } from "../../src/index.ts";
import { bytes, FakePeer, join, pass, relayRig, request, rig, takeAll } from "../support/fixtures.ts";
import { speaking } from "../support/speaking.ts";

/** A session in which client `a` has had `taken` bytes taken, and `waiting` more wait at a process that does not read. */
function before(taken: string, waiting = "") {
  const at = rig();
  const first = join(at.session, "a");
  at.session.stdin(first.client, bytes(taken), 0);
  takeAll(at.session, first.client);
  at.session.stdin(first.client, bytes(waiting), taken.length);
  return at;
}

test.each<[string, string, Partial<AttachRequest>, number, string, string]>([
  ["R5: without a word of its input, it repeats it from what has been taken", "def", {}, 3, "defghi", "defghi"],
  [
    "R6: with new input it has kept nothing: that comes after what waits",
    "def",
    { stdin: "new" },
    6,
    "ls\n",
    "defls\n",
  ],
  ["R6: it says where its input goes on, though what waited before may be lost", "", { stdin: 6 }, 6, "ls\n", "ls\n"],
  ["R6: what it says is not believed where more has been taken", "", { stdin: 1 }, 3, "ls\n", "ls\n"],
])("%s", (_rule, waiting, says, start, typed, taken) => {
  const at = before("abc", waiting);
  const one = speaking(at, { isResume: true, offset: 0, ...says }).attach();
  expect(JSON.parse(one.sent[0] ?? "")).toMatchObject({ type: "hello", stdin: start });
  one.hear(bytes(typed));
  expect([takeAll(at.session, one.client), one.client.input.taken]).toEqual([taken, start + typed.length]);
});

test("R6: a new client's input begins at 0, and a plain one's has no numbers", () => {
  const at = before("abc");
  expect(join(at.session, "b", { stdin: 100 }).peer.hello.stdin).toBe(0);
  const plain = speaking(rig(), { dialect: PLAIN }).attach();
  for (const key of "ab") plain.hear(bytes(key));
  expect(plain.client.input.received).toBe(2);
});

test("R10: a client wins with the higher of two connections that it numbered, whichever arrives first", () => {
  const at = before("abc");
  const attach = (life: string, number: number) => {
    const peer = new FakePeer();
    const result = at.session.attach(request("a", { isResume: true, offset: 0, attempt: { life, number } }), peer);
    return { peer, code: result.ok ? undefined : result.code };
  };
  const living = attach("x", 7);
  expect([attach("x", 6).code, living.peer.end]).toEqual([4409, undefined]);
  // The same request once more: which of the two is the client's can't be seen.
  const copy = attach("x", 7);
  const reason = "replaced by a copy of its own handshake";
  expect([copy.code, living.peer.end]).toEqual([undefined, { code: 4409, reason, retry: "now" }]);
  // Another life of the program: the later arrival is the newer one.
  expect(attach("y", 1).code).toBeUndefined();
  expect(copy.peer.end).toEqual({ code: 4409, reason: "replaced by a newer connection", retry: "never" });
  expect(attach("y", 0).code).toBe(4409);
});

test("R8: a client is refused where it has left, and nowhere else: one that nobody knows was lost before anybody did", () => {
  const { session } = before("abc");
  const attach = (id: string, says: Partial<AttachRequest> = {}) =>
    session.attach(request(id, { isResume: true, offset: 0, ...says }), new FakePeer());
  const unknown = [attach("w"), attach("x", { stdin: "new" }), attach("y", { stdin: 1 }), attach("z", { stdin: 0 })];
  expect(unknown.map((result) => result.ok && result.client.greeted?.inputStart)).toEqual([0, 0, 1, 0]);
  session.leave(join(session, "left").client);
  expect(attach("left", { stdin: 0 })).toMatchObject({ ok: false, code: 4404 });
});

test("H7: what the bridge has taken of a client's input is acknowledged at once when the hop is back", () => {
  const { session } = relayRig();
  const { client, peer } = join(session, "a");
  session.stdin(client, bytes("abc"), 0);
  session.restore({ id: "a", role: "driver", stdin: 3, acked: 0, isAbsent: false });
  expect(peer.of("stdin_ack")).toEqual([{ type: "stdin_ack", offset: 3 }]);
});

test("H16: of a program's input the bridge has all: what it says was received was", () => {
  const { session } = relayRig();
  session.programs.beginCall({ id: "p", name: "agent", isAdmin: false });
  const { client } = join(session, "a");
  session.stdin(client, bytes("abc"), 0);
  for (const [id, kind] of [
    ["p", "program"],
    ["a", "person"],
  ] as const)
    session.restore({ id, kind, role: "driver", stdin: 2, received: 5, acked: 0, isAbsent: false });
  expect([session.receivedOf("p"), session.receivedOf("a")]).toEqual([5, 3]);
});

test("H7: whom the bridge alone knows has vanished just now, a program is between two calls, and others are gone for longer", () => {
  const at = relayRig({}, { creator: "a" });
  const known = { role: "driver", stdin: 0, acked: 0 } as const;
  at.session.restore({ ...known, id: "a", isAbsent: false });
  at.session.restore({ ...known, id: "p", kind: "program", isAbsent: false });
  at.session.restore({ ...known, id: "q", kind: "program", isAbsent: true });
  const phase = (id: string) => at.session.client(id)?.presence.phase;
  expect(["a", "p", "q"].map(phase)).toEqual(["vanished", "calling", "absent"]);
  // An older bridge says less of them.
  const { name, delivery, acknowledges } = at.session.client("a") ?? {};
  expect([name, delivery, acknowledges]).toEqual(["", "live", true]);
  pass(at, RESUME_GRACE_MS);
  // The client has taken part, in an earlier life of the object.
  expect([phase("a"), phase("p"), at.session.creator]).toEqual(["absent", "calling", "a"]);
});
