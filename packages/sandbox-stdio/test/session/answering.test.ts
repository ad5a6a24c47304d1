// K5: who answers terminal queries, and from where on, on both hops.

import { describe, expect, test } from "vitest";
import { RESUME_GRACE_MS } from "../../src/index.ts";
import { isReport, nameAnswerer } from "../../src/session/answerer.ts";
import {
  bytes,
  type FakePeer,
  InnerRig,
  join,
  joined,
  output,
  pass,
  relayRig,
  request,
  rig,
  takeAll,
} from "../support/fixtures.ts";

const TTY = { tty: true, delivery: "live" } as const;
const answerers = (peer: FakePeer) => peer.of("answerer").map(({ id, offset }) => `${id} ${offset}`);

describe("who answers", () => {
  test("the longest attached driver, from the end of the output on; nobody where none is attached", () => {
    const at = rig(TTY);
    output(at, "before");
    const viewer = join(at.session, "v", { role: "viewer" });
    expect(at.session.answerer).toEqual({ id: "", offset: 0 });
    const first = join(at.session, "a");
    const second = join(at.session, "b");
    expect(at.session.answerer).toEqual({ id: "a", offset: 6 });
    output(at, "more");
    at.session.leave(first.client);
    at.session.leave(second.client);
    expect(answerers(viewer.peer)).toEqual(["a 6", "b 10", " 10"]);
  });

  test("no program, and no client that says that it does not answer", () => {
    const at = rig(TTY);
    join(at.session, "p", { kind: "program" });
    join(at.session, "q", { answersQueries: false });
    expect(at.session.answerer.id).toBe("");
  });

  test("not one that has vanished, until it is back", () => {
    const at = rig(TTY);
    const first = join(at.session, "a");
    const second = join(at.session, "b");
    at.session.vanish(first.client, true);
    join(at.session, "a", { isResume: true });
    expect(answerers(second.peer)).toEqual(["b 0", "a 0"]);
  });

  test("not one whose connection is gone while its input waits", () => {
    const at = rig(TTY);
    const { client } = join(at.session, "a", { acknowledges: false });
    at.session.feed(client, new Uint8Array(400_000));
    at.session.disconnect(client, "vanished");
    expect([client.presence.phase, at.session.answerer.id]).toEqual(["vanished", ""]);
  });

  test("not one that has come back and waits for the process to be held, until it is greeted", () => {
    const at = relayRig({ tty: true });
    const { client } = join(at.session, "a");
    output(at, new Uint8Array(600_000));
    const seen = [at.session.answerer.id];
    join(at.session, "a", { offset: 0 });
    seen.push(client.presence.phase, at.session.answerer.id);
    pass(at, 2_000);
    expect([...seen, at.session.answerer.id]).toEqual(["a", "opening", "", "a"]);
  });

  test("in an exclusive session not a driver that may not type, while the holder may come back", () => {
    const at = rig({ ...TTY, mode: "exclusive" });
    const holder = join(at.session, "a");
    join(at.session, "b");
    at.session.vanish(holder.client, true);
    expect(at.session.answerer.id).toBe("");
    pass(at, RESUME_GRACE_MS);
    expect(at.session.answerer.id).toBe("b");
  });

  test("in a collaborative session whoever asks for the keyboard", () => {
    const at = rig(TTY);
    join(at.session, "a");
    const second = join(at.session, "b");
    at.session.command(second.client, { type: "request_stdin" });
    expect(at.session.answerer.id).toBe("b");
    at.session.command(second.client, { type: "release_stdin" });
    expect(at.session.answerer.id).toBe("a");
  });
});

test("after the exit nobody is told of another answerer", () => {
  const { session } = relayRig(TTY);
  join(session, "a");
  const { peer } = join(session, "b");
  peer.isStuffed = true;
  session.exited({ code: 0 });
  session.bridgeHears();
  const [first] = session.clients;
  expect([first?.presence.phase, answerers(peer)]).toEqual(["vanished", []]);
  // Nor of who leaves.
  if (first !== undefined) session.leave(first);
  expect([answerers(peer), peer.of("leave")]).toEqual([[], []]);
});

describe("K7: answers in an exclusive session", () => {
  const REPORT = "\x1b[3;4R";

  test("are 4 KiB long at most", () => {
    const colour = (length: number) => bytes(`\x1b]4;${"f".repeat(length - 5)}\x07`);
    expect([colour(4_096), colour(4_097)].map(isReport)).toEqual([true, false]);
  });

  test("are taken late from the one that has just handed the keyboard over, for a moment, and keys are not", () => {
    const at = rig({ ...TTY, mode: "exclusive" });
    const first = join(at.session, "a");
    join(at.session, "b");
    at.session.command(first.client, { type: "grant_stdin", to: "b" });
    at.session.stdin(first.client, bytes("ls\r"));
    at.session.stdin(first.client, bytes(REPORT));
    expect(takeAll(at.session, first.client)).toBe(REPORT);
    expect(first.peer.of("error")).toHaveLength(1);
    at.clock.ms += 2_000;
    at.session.stdin(first.client, bytes(REPORT));
    expect(takeAll(at.session, first.client)).toBe("");
  });

  test("are not taken late from one that has come back as a viewer", () => {
    const at = rig({ ...TTY, mode: "exclusive" });
    const first = join(at.session, "a");
    const second = join(at.session, "b");
    at.session.command(first.client, { type: "grant_stdin", to: "b" });
    const back = join(at.session, "a", { role: "viewer", isResume: true });
    at.session.stdin(back.client, bytes(REPORT));
    expect([takeAll(at.session, back.client), at.session.keyboard.holder]).toEqual(["", second.client.id]);
  });

  test("are taken from the answerer while nobody holds the keyboard, from no other driver, and from no viewer ever", () => {
    const at = rig({ ...TTY, mode: "exclusive" });
    const first = join(at.session, "a");
    const second = join(at.session, "b");
    const viewer = join(at.session, "v", { role: "viewer" });
    at.session.command(first.client, { type: "release_stdin" });
    at.session.stdin(first.client, bytes(`${REPORT}`));
    at.session.stdin(first.client, bytes("ls\r"));
    at.session.stdin(second.client, bytes(REPORT));
    at.session.stdin(viewer.client, bytes(REPORT));
    expect(takeAll(at.session, first.client)).toBe(REPORT);
    expect(takeAll(at.session, second.client) + takeAll(at.session, viewer.client)).toBe("");
  });
});

describe("H13: the bridge answers where the Durable Object has nobody", () => {
  test("it is told from where on, and where somebody else does", () => {
    const { hop, client } = joined(TTY);
    output(hop.bridge, "12345");
    hop.flush();
    hop.session.leave(client);
    // Not yet known there: what comes meanwhile is to be looked at again.
    output(hop.bridge, "678");
    hop.flush();
    expect(hop.bridge.upstream.of("answerer").map(String)).toEqual(["answerer,a,0", "answerer,,5"]);
  });

  test("a client that is chosen while the bridge answers is told, before the bytes come, what is answered already", () => {
    const hop = new InnerRig(TTY).connect().flush();
    const { peer } = join(hop.session, "a");
    // The bridge does not know of it, and finds a query that ends at 4.
    hop.server?.answered(4);
    output(hop.bridge, "\x1b[6nmore");
    hop.flush();
    expect(peer.of("hello")).toMatchObject([{ answerer: { id: "a", offset: 0 } }]);
    expect(answerers(peer)).toEqual([" 0", "a 4"]);
    // What it is told once is not told again.
    hop.server?.answered(4);
    hop.flush();
    expect(answerers(peer)).toEqual([" 0", "a 4"]);
    // And the other way about: whoever comes after that was told starts behind it.
    const later = new InnerRig(TTY).connect().flush();
    const viewer = join(later.session, "v", { role: "viewer" });
    later.server?.answered(9);
    later.flush();
    expect(answerers(viewer.peer)).toEqual([]);
    expect(join(later.session, "a").peer.of("hello")).toMatchObject([{ answerer: { id: "a", offset: 9 } }]);
  });

  test("K5g: who comes before the bridge has heard that it answers takes over once it has, behind what came until then", () => {
    const hop = new InnerRig(TTY).connect().flush();
    const first = join(hop.session, "a");
    hop.flush();
    hop.session.leave(first.client);
    const { peer } = join(hop.session, "b");
    // Sent before the bridge hears: it will answer this, and can't say so in time.
    output(hop.bridge, "\x1b[6n");
    expect(hop.session.answerer.id).toBe("");
    hop.flush();
    const told = hop.bridge.upstream.of("answerer").map(String);
    expect(told).toEqual(["answerer,a,0", "answerer,,0", "answerer,b,4"]);
    expect(answerers(peer)).toEqual(["b 4"]);
  });

  test("before it is told of anybody it goes by who is attached there; where it does not know who is named, it answers from here on", () => {
    const at = rig(TTY);
    const remote = { ...request("a"), delivery: "live", acked: 0, windowBytes: 65_536 } as const;
    at.session.attachRemote(remote, { tell: () => undefined });
    expect(at.session.answerer).toEqual({ id: "a", offset: 0 });
    output(at, "123456");
    nameAnswerer(at.session.state, { id: "stranger", offset: 1 });
    expect(at.session.answerer).toEqual({ id: "", offset: 6 });
  });

  test("while the hop is broken nothing changes at the bridge, and it is told when it is back", () => {
    const { hop, client } = joined(TTY);
    hop.cut();
    output(hop.bridge, "12345");
    expect(hop.bridge.session.answerer.id).toBe("a");
    hop.session.leave(client);
    hop.connect().flush();
    expect(hop.bridge.session.answerer).toEqual({ id: "", offset: 0 });
  });

  test("a Durable Object that is made anew does not know who answered what, and says so", () => {
    const { hop, client } = joined(TTY);
    hop.session.command(client, { type: "ack", offset: 0 });
    hop.flush();
    output(hop.bridge, "12345");
    const next = hop.restarted().connect().flush();
    expect(hop.bridge.session.answerer).toEqual({ id: "", offset: 5 });
    join(next.session, "a", { isResume: true });
    next.flush();
    expect(hop.bridge.session.answerer).toEqual({ id: "a", offset: 5 });
  });
});
