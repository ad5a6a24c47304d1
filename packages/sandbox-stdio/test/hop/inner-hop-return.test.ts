// Who is known, and who holds the keyboard, after a break of the inner hop or the death of one of its ends.

import { describe, expect, test } from "vitest";
import { RESUME_GRACE_MS } from "../../src/index.ts";
import { bytes, FakePeer, InnerRig, join, joined, pass, request, takeAll } from "../support/fixtures.ts";

describe("who is known after a break of the inner hop", () => {
  test("H6: a client that left while it was broken can't be resumed, and the bridge forgets it", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    join(hop.session, "b");
    hop.flush().cut();
    hop.session.leave(client);
    hop.connect().flush();
    expect([...hop.bridge.session.clients].map(({ id }) => id)).toEqual(["b"]);
    expect(hop.session.attach(request("a", { isResume: true }), new FakePeer())).toEqual({
      ok: false,
      code: 4404,
      reason: "this client has left: nothing to resume",
      retry: "never",
    });
  });

  test("H6: a client that has left can't be resumed after a restart of the Durable Object either", () => {
    const { hop, client } = joined();
    hop.session.leave(client);
    const next = hop.flush().restarted().connect().flush();
    expect(next.session.attach(request("a", { isResume: true }), new FakePeer())).toMatchObject({ code: 4404 });
  });

  test("H6: a client that was greeted while the hop was broken comes back after a restart, though the bridge never heard of it", () => {
    const hop = new InnerRig().connect().flush();
    hop.cut();
    const { client } = join(hop.session, "a");
    hop.session.stdin(client, bytes("never arrived"));
    const next = hop.restarted().connect().flush();
    const again = join(next.session, "a", { isResume: true });
    expect(again.peer.hello.stdin).toBe(0);
    next.session.stdin(again.client, bytes("sent again"), 0);
    next.flush();
    expect(takeAll(hop.bridge.session, next.remote("a"))).toBe("sent again");
  });

  test("H6: the bridge hears of a leaving whose message was lost with the connection", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    join(hop.session, "b");
    hop.flush();
    hop.session.leave(client);
    hop.cut().connect().flush();
    expect([...hop.bridge.session.clients].map(({ id }) => id)).toEqual(["b"]);
  });

  test("H6: a client whose grace passed while it was broken has none left at the bridge", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
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

  test("H7: after a restart of the Durable Object clients are known by name, delivery and place in their input", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a", { name: "Alice" });
    hop.session.stdin(client, bytes("hello"));
    hop.flush();
    takeAll(hop.bridge.session, hop.remote("a"));
    const next = hop.restarted().connect().flush();
    const known = next.session.client("a");
    expect([known?.name, known?.delivery, known?.input.taken, known?.presence.phase]).toEqual([
      "Alice",
      "lossless",
      5,
      "vanished",
    ]);
    // Restoring it must not change what the bridge knows of it.
    expect([next.remote("a").name, next.remote("a").delivery]).toEqual(["Alice", "lossless"]);
  });

  test("H7: after a restart new input of a client comes after what waits for the process at the bridge", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    hop.session.stdin(client, bytes("hello"));
    hop.flush();
    const next = hop.restarted().connect().flush();
    const again = join(next.session, "a", { isResume: true, stdin: "new" });
    expect(again.peer.hello.stdin).toBe(5);
    next.session.stdin(again.client, bytes(" world"), 5);
    next.flush();
    expect(takeAll(hop.bridge.session, next.remote("a"))).toBe("hello world");
    pass(hop.bridge, 20);
    next.flush();
    expect(again.client.input.taken).toBe(11);
  });

  test("H7a: a plain client is not waited for after a restart, but it may resume, after each of them", () => {
    let hop = new InnerRig({ tty: true, delivery: "live" }).connect().flush();
    const plain = { acknowledges: false, delivery: "live" } as const;
    join(hop.session, "a", plain);
    for (let restarts = 0; restarts < 3; restarts += 1) {
      hop.flush();
      hop = hop.restarted().connect().flush();
      expect([hop.session.presentCount, hop.bridge.session.presentCount]).toEqual([0, 0]);
      // Its way breaks once more before it comes.
      hop.cut().connect().flush();
      const { peer } = join(hop.session, "a", { ...plain, isResume: true });
      expect(peer.hello.you.id).toBe("a");
    }
  });

  test("H7: a keyboard that was given back is free after a restart too, until somebody asks for it", () => {
    const hop = new InnerRig({ mode: "exclusive" }).connect().flush();
    const { client } = join(hop.session, "a");
    hop.session.command(client, { type: "release_stdin" });
    hop.flush();
    const next = hop.restarted().connect().flush();
    const { peer } = join(next.session, "a", { isResume: true });
    expect([peer.hello.holder, next.session.keyboard.holder]).toEqual(["", ""]);
  });

  test("H8: a keyboard whose holder the bridge never got to know is free for who asks after a restart", () => {
    const hop = new InnerRig({ mode: "exclusive" }).connect().flush();
    join(hop.session, "a");
    // Only the first message of the attach arrives, whichever that is.
    hop.toBridge = hop.toBridge.slice(0, 1);
    hop.flush();
    const next = hop.restarted().connect().flush();
    const { client } = join(next.session, "b");
    next.session.command(client, { type: "request_stdin" });
    next.flush();
    const knows = hop.bridge.session.client("a") !== undefined;
    expect([next.session.keyboard.holder, hop.bridge.session.keyboard.holder]).toEqual(knows ? ["a", "a"] : ["b", "b"]);
  });

  test("H8: who holds the keyboard is the relay's to say, also where the bridge's own rules would give it to who comes", () => {
    const hop = new InnerRig({ mode: "exclusive" }).connect().flush().cut();
    // The bridge hears nothing of this holder.
    const { client } = join(hop.session, "a");
    hop.session.command(client, { type: "release_stdin" });
    hop.session.leave(client);
    hop.connect().flush();
    join(hop.session, "b");
    hop.flush();
    expect([hop.session.keyboard.holder, hop.bridge.session.keyboard.holder]).toEqual(["", ""]);
  });

  test("H8: the first driver is the creator and gets the keyboard, whoever watched before it came", () => {
    const hop = new InnerRig({ mode: "exclusive" }).connect().flush();
    join(hop.session, "watcher", { role: "viewer" });
    hop.flush();
    const next = hop.restarted().connect().flush();
    join(next.session, "driver");
    next.flush();
    expect([next.session.keyboard.holder, hop.bridge.session.keyboard.holder, hop.bridge.session.creator]).toEqual([
      "driver",
      "driver",
      "driver",
    ]);
  });

  test("H8: a keyboard that is told to be held by nobody known is free", () => {
    const hop = new InnerRig({ mode: "exclusive" }).connect().flush();
    hop.server?.receive('{"type":"stdin_holder","id":"ghost"}', 0);
    expect(hop.bridge.session.keyboard.holder).toBe("");
  });

  test("H2: clients with a connection of their own to the bridge are not the Durable Object's", () => {
    const hop = new InnerRig().connect().flush();
    const direct = join(hop.bridge.session, "direct");
    hop.connect().flush();
    expect([hop.hello?.clients, [...hop.session.clients].length, direct.peer.end]).toEqual([[], 0, undefined]);
  });

  test("H8: input of the holder that waited out a long break is written, not refused", () => {
    const { hop, peer, client } = joined({ mode: "exclusive" });
    hop.cut();
    hop.session.stdin(client, bytes("hello"));
    pass(hop.bridge, RESUME_GRACE_MS);
    expect(hop.bridge.session.keyboard.holder).toBe("");
    hop.connect().flush();
    expect(takeAll(hop.bridge.session, hop.remote("a"))).toBe("hello");
    expect(peer.of("error")).toEqual([]);
  });

  test.each([
    ["short", 0],
    ["long", RESUME_GRACE_MS],
  ])(
    "H8: what was typed before a handover in a %s break is written, and before what came after it",
    (_name, awayMs) => {
      const hop = new InnerRig({ mode: "exclusive" }).connect().flush();
      // The one that came last holds it first: the order in which they came is not that of the keyboard.
      const to = join(hop.session, "to");
      const from = join(hop.session, "from");
      hop.session.command(to.client, { type: "grant_stdin", to: "from" });
      hop.flush();
      // Nobody has noticed the break yet: this is sent, and lost on the way.
      hop.session.stdin(from.client, bytes("before"));
      hop.session.command(from.client, { type: "grant_stdin", to: "to" });
      hop.session.stdin(from.client, bytes("late"));
      hop.cut();
      hop.session.stdin(to.client, bytes("after"));
      hop.session.command(to.client, { type: "grant_stdin", to: "from" });
      hop.session.stdin(from.client, bytes("again"));
      hop.session.command(from.client, { type: "release_stdin" });
      pass(hop.bridge, awayMs);
      hop.connect().flush();
      const written = hop.bridge.upstream.asked.filter(([, , kind]) => kind === "bytes");
      expect(written.map(([, id, , what]) => [id, what])).toEqual([
        ["from", "before"],
        ["to", "after"],
        ["from", "again"],
      ]);
      expect(hop.bridge.session.keyboard.holder).toBe("");
      // Of what was typed without the keyboard.
      expect([from, to].map(({ peer }) => peer.of("error").length)).toEqual([1, 0]);
    },
  );

  test("H8: a repeated end of input reaches the bridge, which may have refused the first", () => {
    const hop = new InnerRig().connect().flush();
    const a = join(hop.session, "a");
    hop.flush();
    join(hop.bridge.session, "direct");
    const b = join(hop.session, "b");
    hop.session.leave(a.client);
    hop.flush();
    hop.session.command(b.client, { type: "eof", offset: 0 });
    hop.flush();
    expect(b.peer.of("error")).toEqual([{ type: "error", code: "not_stdin_holder", message: "not stdin holder" }]);
    const direct = hop.bridge.session.client("direct");
    if (direct !== undefined) hop.bridge.session.leave(direct);
    hop.session.command(b.client, { type: "eof", offset: 0 });
    hop.flush();
    expect(takeAll(hop.bridge.session, hop.remote("b"))).toBe("^D");
  });
});
