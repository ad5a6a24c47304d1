// When a quiet session may be parked: never while anything is on its way that a kept state would lose.

import { describe, expect, test } from "vitest";
import { InputPositions, type InputRecorder, QuietWatch, RESUME_GRACE_MS, whyAwake } from "../../src/index.ts";
import { bytes, confirmAll, join, output, pass, relayRig } from "../support/fixtures.ts";
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
    expect([why(), why(true)]).toEqual(["nobody is attached", undefined]);
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
      "output is on its way",
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
    expect([...seen, why()]).toEqual(["input is on its way", "input is not on record", undefined, undefined]);
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
      ...["a client comes or goes", "input of a client that is gone waits"],
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
    expect([...seen, why()]).toEqual(["a client has said much", undefined]);
  });
});

test("H20: a session is quiet after so long without an event, and looked at again after as long", () => {
  const watch = new QuietWatch(10);
  expect([watch.look("a", 100), watch.look("a", 105), watch.look("b", 107), watch.look("b", 116)]).toEqual([
    ...[110, 110, 117, 117],
  ]);
  watch.postpone(120);
  expect([watch.look("b", 121), watch.look("a", 125)]).toEqual([130, 135]);
});
