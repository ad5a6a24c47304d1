// Who is known, and who holds the keyboard, after a break of the inner hop or the death of one of its ends.

import { describe, expect, test } from "vitest";
import { type ClientRecord, RESUME_GRACE_MS } from "../../src/index.ts";
import { bytes, FakePeer, InnerRig, join, joined, pass, request, takeAll } from "../support/fixtures.ts";

const EXCLUSIVE = { mode: "exclusive" } as const;
const known = (hop: InnerRig) => [...hop.bridge.session.clients].map(({ id }) => id);
const holders = (hop: InnerRig) => [hop.session.keyboard.holder, hop.bridge.session.keyboard.holder];

describe("H6: who is known", () => {
  test.each([
    ["that left while it was broken", true],
    ["whose leaving was lost with the connection", false],
  ])("a client %s can't be resumed, and the bridge forgets it", (_who, isBroken) => {
    const { hop, client } = joined();
    join(hop.session, "b");
    hop.flush();
    if (isBroken) hop.cut();
    hop.session.leave(client);
    hop.cut().connect().flush();
    expect(known(hop)).toEqual(["b"]);
    const reason = "this client has left: nothing to resume";
    const refusal = { ok: false, code: 4404, reason, retry: "never" };
    expect(hop.session.attach(request("a", { isResume: true }), new FakePeer())).toEqual(refusal);
    const next = hop.restarted().connect().flush();
    expect(next.session.attach(request("a", { isResume: true }), new FakePeer())).toMatchObject({ code: 4404 });
  });

  test("a client that was greeted while the hop was broken comes back after a restart, though the bridge never heard of it", () => {
    const { hop } = joined();
    hop.cut();
    const { client } = join(hop.session, "late");
    hop.session.stdin(client, bytes("never arrived"));
    const next = hop.restarted().connect().flush();
    const again = join(next.session, "late", { isResume: true });
    expect(again.peer.hello.stdin).toBe(0);
    next.session.stdin(again.client, bytes("sent again"), 0);
    next.flush();
    expect(takeAll(hop.bridge.session, next.remote("late"))).toBe("sent again");
  });

  test("a client that left while it was broken is forgotten, however many have left since", () => {
    const { hop, client } = joined();
    hop.cut().session.leave(client);
    for (let i = 0; i <= 256; i += 1) hop.session.leave(join(hop.session, `c${i}`).client);
    hop.connect().flush();
    expect(known(hop)).toEqual([]);
  });

  test("of who is here over a break, and who was away before it, the bridge is told no going", () => {
    const { hop, client } = joined();
    join(hop.session, "b");
    hop.session.stdin(client, bytes("x"));
    hop.flush().session.vanish(client);
    hop.bridge.clock.ms += RESUME_GRACE_MS;
    hop.session.tick();
    hop.flush().connect();
    for (const frame of hop.toRelay.splice(0)) hop.inner.receive(frame, 0);
    expect(hop.toBridge.filter((frame) => String(frame).includes('"detach"'))).toEqual([]);
    expect(hop.flush().remote("a").presence.phase).toBe("absent");
    const next = hop.restarted().connect().flush();
    expect(["a", "b"].map((id) => next.session.client(id)?.presence.phase)).toEqual(["absent", "vanished"]);
  });

  test("a client whose grace passed while it was broken has none left at the bridge", () => {
    const { hop, client } = joined();
    join(hop.session, "b");
    hop.session.stdin(client, bytes("x"));
    hop.flush();
    hop.session.vanish(client);
    hop.bridge.clock.ms += RESUME_GRACE_MS;
    hop.cut();
    hop.session.tick();
    hop.connect().flush();
    expect(hop.remote("a").presence.phase).toBe("absent");
  });
});

test("L11b: whose windows clients are, and that person's name, outlive a restart of the session object", () => {
  const { hop } = joined();
  const alice = { name: "alice", login: "1" };
  for (const id of ["desk", "phone"]) hop.session.stdin(join(hop.session, id, alice).client, bytes("x"));
  hop.flush();
  hop.session.leave(hop.session.client("desk") as ClientRecord);
  hop.flush();
  const next = hop.restarted().connect().flush();
  const told = join(next.session, "b", { name: "alice", login: "2" }).peer.hello;
  expect(told.participants.map(({ name, person }) => [name, person])).toContainEqual(["alice (2)", "alice"]);
  expect([told.you.name, told.you.person]).toEqual(["alice (3)", "alice (3)"]);
  const third = join(next.session, "tablet", alice).peer.hello.you;
  expect([third.name, third.person]).toEqual(["alice", "alice"]);
});

test("H5: input that waited out a break and its client's grace goes to the bridge when the client comes back", () => {
  const { hop, client } = joined();
  join(hop.session, "b");
  hop.flush().cut().session.stdin(client, bytes("hello"));
  hop.session.vanish(client);
  hop.bridge.clock.ms += RESUME_GRACE_MS;
  hop.session.tick();
  hop.connect().flush();
  join(hop.session, "a", { isResume: true });
  hop.flush();
  expect(takeAll(hop.bridge.session, hop.remote("a"))).toBe("hello");
});

test("H20: a client of an object that has parked keeps its place for as long as was asked, and its input's after that", () => {
  const { hop, client } = joined();
  hop.session.stdin(client, bytes("abc"));
  hop.flush();
  takeAll(hop.bridge.session, hop.remote("a"));
  hop.inner.park({ offset: 0, seconds: 600, after: 0, bell: "main" });
  hop.flush().cut();
  const phaseAfter = (ms: number) => {
    pass(hop.bridge, ms);
    return hop.remote("a").presence.phase;
  };
  expect([phaseAfter(599_999), phaseAfter(1)]).toEqual(["vanished", "absent"]);
  const next = hop.restarted().connect().flush();
  expect(join(next.session, "a", { isResume: true }).peer.hello.stdin).toBe(3);
});

describe("H7: after a restart of the Durable Object", () => {
  test("clients are known by name, delivery and place in their input; new input comes after what waits at the bridge", () => {
    const { hop, client } = joined({}, { name: "Alice" });
    hop.session.stdin(client, bytes("hello"));
    hop.flush();
    hop.bridge.session.wrote(hop.remote("a"), 2);
    const next = hop.restarted().connect().flush();
    const one = next.session.client("a");
    expect([one?.name, one?.delivery, one?.input.taken, one?.presence.phase]).toEqual([
      "Alice",
      "lossless",
      2,
      "vanished",
    ]);
    // Restoring it must not change what the bridge knows of it.
    expect([next.remote("a").name, next.remote("a").delivery]).toEqual(["Alice", "lossless"]);
    const again = join(next.session, "a", { isResume: true, stdin: "new" });
    expect(again.peer.hello.stdin).toBe(5);
    next.session.stdin(again.client, bytes(" world"), 5);
    next.flush();
    expect(takeAll(hop.bridge.session, next.remote("a"))).toBe("llo world");
    pass(hop.bridge, 20);
    next.flush();
    expect(again.client.input.taken).toBe(11);
  });

  test("H7a: a plain client is not waited for, but it may resume, after each of them", () => {
    const plain = { acknowledges: false, delivery: "live" } as const;
    let { hop } = joined({ tty: true, delivery: "live" }, plain);
    for (let restarts = 0; restarts < 3; restarts += 1) {
      hop = hop.flush().restarted().connect().flush();
      expect([hop.session.presentCount, hop.bridge.session.presentCount]).toEqual([0, 0]);
      // Its way breaks once more before it comes.
      hop.cut().connect().flush();
      expect(join(hop.session, "a", { ...plain, isResume: true }).peer.hello.you.id).toBe("a");
    }
  });

  test("a keyboard that was given back is free, until somebody asks for it", () => {
    const { hop, client } = joined(EXCLUSIVE);
    hop.session.command(client, { type: "release_stdin" });
    const next = hop.flush().restarted().connect().flush();
    const { peer } = join(next.session, "a", { isResume: true });
    expect([peer.hello.holder, next.session.keyboard.holder]).toEqual(["", ""]);
  });

  test("H8: a keyboard whose holder the bridge never got to know is free for who asks", () => {
    const hop = new InnerRig(EXCLUSIVE).connect().flush();
    join(hop.session, "a");
    // Only the first message of the attach arrives, whichever that is.
    hop.toBridge = hop.toBridge.slice(0, 1);
    hop.flush();
    const next = hop.restarted().connect().flush();
    next.session.command(join(next.session, "b").client, { type: "request_stdin" });
    next.flush();
    const knows = hop.bridge.session.client("a") !== undefined;
    expect(holders(next)).toEqual(knows ? ["a", "a"] : ["b", "b"]);
  });

  test("H8: the first driver is the creator and gets the keyboard, whoever watched before it came", () => {
    const { hop } = joined(EXCLUSIVE, { role: "viewer" });
    const next = hop.restarted().connect().flush();
    join(next.session, "driver");
    next.flush();
    expect([...holders(next), hop.bridge.session.creator]).toEqual(["driver", "driver", "driver"]);
  });
});

describe("H8: the keyboard", () => {
  test("is the relay's to say, also where the bridge's own rules would give it to who comes", () => {
    const { hop, client } = joined({ ...EXCLUSIVE }, { role: "viewer" });
    hop.cut();
    // The bridge hears nothing of this holder.
    const holder = join(hop.session, "b").client;
    hop.session.command(holder, { type: "release_stdin" });
    for (const one of [holder, client]) hop.session.leave(one);
    hop.connect().flush();
    join(hop.session, "c");
    hop.flush();
    expect(holders(hop)).toEqual(["", ""]);
  });

  test("that is told to be held by nobody known is free", () => {
    const { hop } = joined(EXCLUSIVE);
    hop.server?.receive('{"type":"stdin_holder","id":"ghost"}', 0);
    expect(hop.bridge.session.keyboard.holder).toBe("");
  });

  test("input of the holder that waited out a long break is written, not refused", () => {
    const { hop, peer, client } = joined(EXCLUSIVE);
    hop.cut();
    hop.session.stdin(client, bytes("hello"));
    pass(hop.bridge, RESUME_GRACE_MS);
    expect(hop.bridge.session.keyboard.holder).toBe("");
    hop.connect().flush();
    expect([takeAll(hop.bridge.session, hop.remote("a")), peer.of("error")]).toEqual(["hello", []]);
  });

  test.each([
    ["short", 0],
    ["long", RESUME_GRACE_MS],
  ])("what was typed before a handover in a %s break is written, and before what came after it", (_name, awayMs) => {
    // The one that came last holds it first: the order in which they came is not that of the keyboard.
    const { hop, ...to } = joined(EXCLUSIVE);
    const from = join(hop.session, "from");
    const say = ({ client }: typeof from, message: Parameters<typeof hop.session.command>[1]) =>
      hop.session.command(client, message);
    say(to, { type: "grant_stdin", to: "from" });
    hop.flush();
    // Nobody has noticed the break yet: this is sent, and lost on the way.
    hop.session.stdin(from.client, bytes("before"));
    say(from, { type: "grant_stdin", to: "a" });
    hop.session.stdin(from.client, bytes("late"));
    hop.cut();
    hop.session.stdin(to.client, bytes("after"));
    say(to, { type: "grant_stdin", to: "from" });
    hop.session.stdin(from.client, bytes("again"));
    say(from, { type: "release_stdin" });
    pass(hop.bridge, awayMs);
    hop.connect().flush();
    const written = hop.bridge.upstream.asked.filter(([, , kind]) => kind === "bytes");
    expect(written.map(([, id, , what]) => `${id} ${what}`)).toEqual(["from before", "a after", "from again"]);
    expect(hop.bridge.session.keyboard.holder).toBe("");
    // Of what was typed without the keyboard.
    expect([from, to].map(({ peer }) => peer.of("error").length)).toEqual([1, 0]);
  });
});

test("H8: the input of an earlier holder goes first, whatever was refused of a later one", () => {
  const { hop, client } = joined(EXCLUSIVE);
  const b = join(hop.session, "b").client;
  const say = (one: ClientRecord, what: string, to: string) => {
    hop.session.stdin(one, bytes(what));
    hop.session.command(one, { type: "grant_stdin", to });
  };
  say(client, "", "b");
  hop.flush().cut();
  say(b, "first", "a");
  say(client, "second", "b");
  hop.session.stdin(client, bytes("refused"));
  hop.connect().flush();
  const written = hop.bridge.upstream.asked.filter(([, , kind]) => kind === "bytes");
  expect(written.map(([, id, , what]) => `${id} ${what}`)).toEqual(["b first", "a second"]);
});

test("H8: where everyone may type the holder is told once, before the input, whoever it is from", () => {
  const { hop, client } = joined();
  const other = join(hop.session, "b");
  hop.session.command(client, { type: "request_stdin" });
  hop.flush();
  expect(holders(hop)).toEqual(["a", "a"]);
  hop.cut();
  for (const one of [client, other.client]) hop.session.stdin(one, bytes("x"));
  hop.session.command(client, { type: "release_stdin" });
  hop.connect();
  for (const frame of hop.toRelay.splice(0)) hop.inner.receive(frame, 0);
  const told = hop.toBridge.flatMap((frame) => (typeof frame === "string" ? [JSON.parse(frame)] : [{ type: "input" }]));
  const kept = told.filter(({ type }) => type === "stdin_holder" || type === "input");
  expect(kept).toEqual([{ type: "stdin_holder", id: "" }, { type: "input" }, { type: "input" }]);
  hop.flush();
  expect(holders(hop)).toEqual(["", ""]);
});

test("H8: where one may type, input that was refused moves no keyboard", () => {
  const { hop } = joined(EXCLUSIVE);
  const other = join(hop.session, "b");
  hop.flush().cut();
  hop.session.stdin(other.client, bytes("refused"));
  hop.connect();
  for (const frame of hop.toRelay.splice(0)) hop.inner.receive(frame, 0);
  const told = hop.toBridge.flatMap((frame) => (typeof frame === "string" ? [JSON.parse(frame)] : []));
  expect(told.filter(({ type }) => type === "stdin_holder")).toEqual([{ type: "stdin_holder", id: "a" }]);
});

test("H8: a keyboard whose holder no greeting names is free", () => {
  const hop = new InnerRig(EXCLUSIVE);
  join(hop.bridge.session, "direct");
  expect(hop.bridge.session.keyboard.holder).toBe("direct");
  expect(hop.connect().flush().session.keyboard.holder).toBe("");
});

test.each([
  ["once the bridge has heard of it, where one of its clients is here", true],
  ["at once, where all of them are gone", false],
])("K5g: a new session object's client answers %s", (_when, isPresent) => {
  const { hop, client } = joined({ tty: true });
  const here = join(hop.session, "b");
  for (const one of [client, here.client]) hop.session.stdin(one, bytes("x"));
  hop.flush();
  for (const one of isPresent ? [client] : [client, here.client]) {
    hop.session.vanish(one, true);
    hop.flush();
  }
  pass(hop.bridge, RESUME_GRACE_MS);
  hop.session.tick();
  const next = hop.flush().restarted().connect();
  for (const frame of next.toRelay.splice(0)) next.inner.receive(frame, 0);
  expect(next.hello?.clients.map(({ isAbsent }) => isAbsent === true)).toEqual([true, !isPresent]);
  const { peer } = join(next.session, "c");
  expect(peer.hello.answerer.id).toBe(isPresent ? "" : "c");
  next.flush();
  expect(next.session.answerer.id).toBe("c");
});

test.each([
  ["", []],
  [", and what it typed after that is refused", ["late"]],
])(
  "K15: what a viewer typed with the keyboard reaches the process over a break, though it has given it back since%s",
  (_what, late) => {
    const { hop, client } = joined();
    const viewer = join(hop.session, "v", { role: "viewer" });
    hop.session.command(viewer.client, { type: "request_stdin" });
    hop.session.command(client, { type: "grant_stdin", to: "v" });
    hop.flush();
    expect(holders(hop)).toEqual(["v", "v"]);
    hop.session.stdin(viewer.client, bytes("lent"));
    hop.session.command(client, { type: "request_stdin" });
    for (const what of late) hop.session.stdin(viewer.client, bytes(what));
    hop.cut().connect().flush();
    const written = hop.bridge.upstream.asked.filter(([, , kind]) => kind === "bytes");
    expect(written.map(([, id, , what]) => `${id} ${what}`)).toEqual(["v lent"]);
    expect(holders(hop)).toEqual(["a", "a"]);
  },
);

test("H2: clients with a connection of their own to the bridge are not the Durable Object's", () => {
  const { hop, client } = joined();
  hop.session.leave(client);
  const direct = join(hop.flush().bridge.session, "direct");
  hop.connect().flush();
  expect([hop.hello?.clients, [...hop.session.clients].length, direct.peer.end]).toEqual([[], 0, undefined]);
});

test("H8: a repeated end of input reaches the bridge, which may have refused the first", () => {
  const { hop, client } = joined();
  const direct = join(hop.bridge.session, "direct").client;
  const b = join(hop.session, "b");
  hop.session.leave(client);
  hop.flush();
  const end = () => {
    hop.session.command(b.client, { type: "eof", offset: 0 });
    hop.flush();
  };
  end();
  expect(b.peer.of("error")).toEqual([{ type: "error", code: "not_stdin_holder", message: "not stdin holder" }]);
  hop.bridge.session.leave(direct);
  end();
  expect(takeAll(hop.bridge.session, hop.remote("b"))).toBe("^D");
});

test("K5g: while the hop is broken there is nothing to wait for: who comes after the answerer answers at once", () => {
  const { hop, client } = joined({ tty: true });
  hop.cut().session.leave(client);
  join(hop.session, "b");
  expect(hop.session.answerer.id).toBe("b");
});
