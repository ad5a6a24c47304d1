// When a quiet session may be parked: never while anything is on its way that a kept state would lose.

import { describe, expect, test } from "vitest";
import {
  InputPositions,
  type InputRecorder,
  MAX_UNACKED_INPUT_BYTES,
  parkedClientOf,
  parkedSessionOf,
  QuietWatch,
  RESUME_GRACE_MS,
  unpark,
  unparkedOptions,
  whyAwake,
} from "../../src/index.ts";
import { bytes, confirmAll, FakePeer, join, output, pass, relayRig } from "../support/fixtures.ts";
import { speaking } from "../support/speaking.ts";

/** A session with one client, which has dealt with everything. */
function quiet(more: Parameters<typeof relayRig>[1] = {}) {
  const at = relayRig({ delivery: "live" }, more);
  const one = join(at.session, "a", { delivery: "live" });
  const deal = () => at.session.command(one.client, { type: "ack", offset: one.client.greeted?.reader.cursor ?? 0 });
  const why = (isWaitedFor?: boolean) => whyAwake(at.session, at.clock.ms, isWaitedFor);
  // Answers to terminal queries that another client was asked may come until then.
  pass(at, 60_000);
  expect(why()).toBeUndefined();
  return { ...at, at, ...one, deal, why };
}

describe("H20: a session stays awake", () => {
  test("while nobody is attached, unless a program waits that is kept", () => {
    const { at, session, client, why } = quiet();
    session.leave(client);
    pass(at, 60_000);
    expect([why(), why(true)]).toEqual(["no client is attached", undefined]);
  });

  test("once the process has ended, or its bridge is told to stop", () => {
    const [ended, stopped] = [quiet(), quiet()];
    ended.session.exited({ code: 0 });
    stopped.session.stopping(30);
    expect([ended.why(), stopped.why()]).toEqual(["the process has ended", "its bridge is stopping"]);
  });

  test("while a snapshot is on its way", () => {
    const { at, session, why } = quiet({ screen: { request: () => undefined } });
    join(session, "b", { delivery: "live", startsWithScreen: "always" });
    expect(session.isScreenPending).toBe(false); // Pipes have no screen.
    const pty = relayRig({ tty: true, delivery: "live" }, { screen: { request: () => undefined } });
    join(pty.session, "a", { delivery: "live", startsWithScreen: "always" });
    expect([why(), whyAwake(pty.session, at.clock.ms)]).toEqual([undefined, "a snapshot is pending"]);
  });

  test("while a viewer types", () => {
    const { at, session, client, why } = quiet();
    const { client: viewer } = join(session, "v", { role: "viewer" });
    session.command(viewer, { type: "request_stdin" });
    session.command(client, { type: "grant_stdin", to: "v" });
    pass(at, 60_000);
    const seen = why();
    session.command(viewer, { type: "release_stdin" });
    pass(at, 60_000);
    expect([seen, why()]).toEqual(["a viewer types", undefined]);
  });

  test("while a program watches that is not kept", () => {
    const { session, why } = quiet();
    const [over] = [session.watch(() => undefined), session.watch(() => undefined, true)];
    const seen = [why()];
    over();
    expect([...seen, why()]).toEqual(["a program waits", undefined]);
  });

  test("until no answer to a terminal query may be late", () => {
    const at = relayRig({ delivery: "live" });
    join(at.session, "a", { delivery: "live" });
    const why = () => whyAwake(at.session, at.clock.ms);
    pass(at, 1_999);
    const seen = [why()];
    pass(at, 1);
    expect([...seen, why()]).toEqual(["a late answer is possible", undefined]);
  });

  test("until output has come, is sent and acknowledged", () => {
    const { at, session, peer, deal, why } = quiet();
    peer.isStuffed = true;
    output(at, "x");
    const seen = [why()];
    peer.isStuffed = false;
    output(at, "y");
    seen.push(why());
    deal();
    seen.push(why());
    session.noteEnd(at.log.endOffset + 1);
    expect([...seen, why()]).toEqual([
      ...["a client waits", "output is not acknowledged", undefined],
      "output is in flight",
    ]);
  });

  test("until input is taken and, where there is a record, on it; of a plain client, only taken", () => {
    const positions = new InputPositions([]);
    const recorder: InputRecorder = {
      input: ({ id }, received, offset, { length }) => void positions.known(id, received, offset, length),
      paneInput: () => undefined,
      storedUpTo: (id) => positions.storedUpTo(id),
      setSecret: () => true,
      isSecret: () => false,
      isBehind: (id) => positions.isBehind(id),
    };
    const { session, client, why } = quiet({ recorder });
    const plain = join(session, "b", { delivery: "live", acknowledges: false }).client;
    session.stdin(client, bytes("ls"));
    const seen = [why()];
    confirmAll(session, client);
    seen.push(why());
    positions.noteStored("a", 2);
    session.recorded("a");
    seen.push(why());
    session.stdin(plain, bytes("ls"));
    confirmAll(session, plain);
    expect([...seen, why()]).toEqual(["input is in flight", "input is not recorded yet", undefined, undefined]);
  });

  test("while more than its window of a plain client's input waits for the record", () => {
    const recorder: InputRecorder = {
      input: () => undefined,
      paneInput: () => undefined,
      storedUpTo: () => 0,
      setSecret: () => true,
      isSecret: () => false,
      isBehind: () => true,
    };
    const { session, why } = quiet({ recorder });
    const { client } = join(session, "b", { delivery: "live", acknowledges: false });
    session.feed(client, new Uint8Array(MAX_UNACKED_INPUT_BYTES));
    confirmAll(session, client);
    const seen = [why()];
    session.feed(client, bytes("x"));
    expect([...seen, client.input.entries.length, client.feed.bytes, why()]).toEqual([
      ...[undefined, 0, 1, "input is in flight"],
    ]);
  });

  test("not for an end of input, which is kept with its client", () => {
    const { session, client, why } = quiet();
    session.command(client, { type: "eof", offset: 0 });
    expect([client.input.entries.length, why()]).toEqual([1, undefined]);
  });

  test("while a client is within its grace; of one whose grace has passed, while its input waits", () => {
    const { at, session, client, why } = quiet();
    join(session, "b", { delivery: "live" });
    session.stdin(client, bytes("ls"));
    session.vanish(client);
    pass(at, RESUME_GRACE_MS - 1);
    const seen = [why()];
    pass(at, 60_000);
    seen.push(why());
    confirmAll(session, client);
    expect([...seen, why()]).toEqual([
      ...["a client is attaching or has vanished", "input of an absent client waits"],
      undefined,
    ]);
  });

  test("while a client has said so much that its budget is not whole", () => {
    const at = relayRig({ delivery: "live" });
    const one = speaking(at, { delivery: "live" }).attach();
    const why = () => whyAwake(at.session, at.clock.ms);
    pass(at, 60_000);
    one.say({ type: "resize", cols: 90, rows: 30 });
    const seen = [why()];
    at.clock.ms += 1_000;
    expect([...seen, why()]).toEqual(["a client has spent its budget", undefined]);
  });
});

test.each([
  ["that waits", true],
  ["that the bridge has", false],
])("H21: a session goes on from what is kept of it and its clients, with an end of input %s", (_what, waits) => {
  const { at, session, client, deal, why } = quiet();
  session.stdin(client, bytes("ls"));
  confirmAll(session, client);
  session.command(client, { type: "eof", offset: 2 });
  if (!waits) session.restore({ id: "a", role: "driver", stdin: 2, eof: 2, acked: 0, isAbsent: false });
  const wish = { size: { cols: 90, rows: 30 }, attempt: { life: "one", number: 2 } };
  const other = join(session, "b", { delivery: "live", ...wish }).client;
  other.inputWindow = 65_536;
  session.leave(join(session, "gone", { delivery: "live" }).client);
  session.vanish(join(session, "absent", { delivery: "live" }).client, true);
  session.setSize({ cols: 100, rows: 40 });
  session.echoes(false, 0);
  output(at, "one ");
  deal();
  session.command(other, { type: "ack", offset: 4 });
  session.title = "vim";
  pass(at, 60_000);
  expect(why()).toBeUndefined();
  const parkedOf = (one: typeof session) =>
    ["a", "b"].map((id) => {
      const known = one.client(id);
      if (known?.greeted === undefined) throw new Error(`${id} is not here`);
      return parkedClientOf(known, known.greeted);
    });
  const kept = structuredClone({ session: parkedSessionOf(session), clients: parkedOf(session) });
  expect(kept.session).toMatchObject({ title: "vim", creator: "a", answerer: { id: "a" }, gone: ["gone"] });
  expect(kept.session.absent.map(({ id }) => id)).toEqual(["absent"]);
  expect(kept.clients[1]?.eof).toBeUndefined();
  expect(kept.clients).toMatchObject([
    { input: 2, eof: { offset: 2, waits }, toldSize: { cols: 100, rows: 40 } },
    { ...wish, inputWindow: 65_536, toldSize: { cols: 100, rows: 40 } },
  ]);

  const next = relayRig({ delivery: "live" }, unparkedOptions(kept.session));
  const peers = kept.clients.map(() => new FakePeer());
  unpark(
    next.session,
    kept.session,
    kept.clients.map((one, at) => [one, peers[at] ?? new FakePeer()] as const).reverse(),
  );
  expect([...next.session.clients].map(({ id }) => id)).toEqual(["absent", "a", "b"]);
  expect(["a", "b", "gone"].map((id) => next.session.keyboard.mayDrive(id).ok)).toEqual([true, true, false]);
  expect(next.session.isUpToDate).toBe(false);
  // The log comes from the bridge, from where it began.
  output(next, "one ");
  expect({ session: parkedSessionOf(next.session), clients: parkedOf(next.session) }).toEqual(kept);
  output(next, "two");
  expect(peers.map(({ told }) => told)).toEqual([[[1, "two"]], [[1, "two"]]]);
});

test("H20: a session is quiet after so long without an event, and looked at again after as long", () => {
  const watch = new QuietWatch(10);
  expect([watch.look("a", 100), watch.look("a", 105), watch.look("b", 107), watch.look("b", 116)]).toEqual([
    ...[110, 110, 117, 117],
  ]);
  watch.postpone(120);
  expect([watch.look("b", 121), watch.look("a", 125)]).toEqual([130, 135]);
});
