// For whom the process of a session is held, and who is given up: readers that stop, a session with nobody there, a flood
// that nobody reads.

import { describe, expect, test } from "vitest";
import { PLAIN_STALL_MS, RESUME_GRACE_MS, STALL_MS } from "../../src/index.ts";
import { addLink } from "../../src/session/output-sender.ts";
import { UnattendedBudget } from "../../src/session/unattended-budget.ts";
import { bytes, FakePeer, join, output, pass, type Rig, request, rig } from "../support/fixtures.ts";
import { PTY } from "../support/screens.ts";

const FRAME = new Uint8Array(65_536);
const fill = (at: Rig) => {
  while (!at.session.shouldHold) output(at, FRAME);
};

describe("readers", () => {
  test("W7: a lone reader that stops holds the process, and its acknowledgement lets it go on", () => {
    const at = rig();
    const { client } = join(at.session, "a");
    output(at, FRAME);
    expect(at.session.shouldHold).toBe(false);
    output(at, FRAME);
    expect(at.session.shouldHold).toBe(true);
    at.session.command(client, { type: "ack", offset: 65_536 });
    expect(at.session.shouldHold).toBe(false);
  });

  test("W11: a client that says again what it has said makes no progress, and is closed as one that says nothing", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    for (let i = 0; i < 2; i += 1) output(at, FRAME);
    pass(at, STALL_MS - 1);
    at.session.command(client, { type: "ack", offset: 0 });
    expect(peer.end).toBeUndefined();
    pass(at, 1);
    expect([peer.end === undefined, client.isAttached]).toEqual([false, false]);
  });

  test("a client that can't acknowledge and be written to has no connection after 30 s", () => {
    const at = rig(PTY);
    const { client, peer } = join(at.session, "p", { acknowledges: false, delivery: "live" });
    peer.isStuffed = true;
    output(at, "x");
    pass(at, PLAIN_STALL_MS - 1);
    expect(client.isAttached).toBe(true);
    pass(at, 1);
    expect([peer.end === undefined, client.isAttached]).toEqual([false, false]);
  });

  test("W9: that output was sent says nothing of a client that acknowledges", () => {
    const at = rig();
    join(at.session, "a");
    const before = at.upstream.of("acked").length;
    output(at, "x");
    expect(at.upstream.of("acked").length).toBe(before);
  });

  test("R1: output that a client received and did not process stays, however often its connection breaks", () => {
    const at = rig({}, { logBytes: 100_000 });
    let { client, peer } = join(at.session, "a");
    let received = 0;
    for (let life = 0; life < 5; life += 1) {
      while (!at.session.shouldHold) output(at, "x".repeat(5_000));
      received += peer.output.length;
      at.session.vanish(client);
      ({ client, peer } = join(at.session, "a", { isResume: true, offset: received, acked: 0 }));
      expect([client.acked, client.greeted?.reader.cursor]).toEqual([0, received]);
    }
    // Its program dies with what it had received, and the next one asks from the last byte that was processed.
    const next = join(at.session, "a", { isResume: true, offset: 0 });
    expect([next.peer.hello.offset, next.peer.hello.gap]).toEqual([0, undefined]);
  });

  test("R1: a client that has acknowledged before it came back, and says nothing more, is waited for no longer", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    fill(at);
    const received = peer.output.length;
    at.session.vanish(client);
    const back = join(at.session, "a", { isResume: true, offset: received });
    expect([received, back.client.acked, back.peer.output.length]).toEqual([
      65_536,
      received,
      at.log.endOffset - received,
    ]);
  });

  test("R1, W7: a client that came back and processes nothing is given up, with more in flight than a first window", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a", { delivery: "lossless" });
    // Its window has grown.
    for (let round = 0; round < 20; round += 1) {
      fill(at);
      pass(at, 10);
      at.session.command(client, { type: "ack", offset: peer.output.length });
    }
    const acked = peer.output.length;
    fill(at);
    const received = peer.output.length;
    expect(received - acked).toBeGreaterThan(65_536);
    at.session.vanish(client);
    const back = join(at.session, "a", { isResume: true, delivery: "lossless", offset: received, acked });
    fill(at);
    pass(at, STALL_MS + 1_000);
    expect(back.peer.end).toMatchObject({ code: 1011, retry: "now" });
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
    expect(peer.told.filter((said) => Array.isArray(said))).toEqual([
      [1, "abc"],
      [1, "def"],
    ]);
    expect(late.peer.output).toBe("abcdef");
  });

  test("W8: beside an active driver a viewer that stops holds nothing, and is told its gap when it wakes", () => {
    const at = rig(PTY, { logBytes: 1 << 18 });
    const driver = join(at.session, "driver");
    const viewer = join(at.session, "viewer", { role: "viewer" });
    for (let i = 0; i < 20; i += 1) {
      output(at, FRAME);
      at.session.command(driver.client, { type: "ack", offset: at.log.endOffset });
      expect(at.session.shouldHold).toBe(false);
    }
    expect(viewer.peer.of("gap")).toEqual([]);
    at.session.command(viewer.client, { type: "ack", offset: 65_536 });
    expect(viewer.peer.of("gap")).toEqual([{ type: "gap", from: 65_536, to: at.log.startOffset, approximate: true }]);
  });

  test("W11: a lossless client that leaves its window full for 60 s is told to come back, a live one is left alone", () => {
    const at = rig();
    const lossless = join(at.session, "a");
    const live = join(at.session, "b", { delivery: "live" });
    at.session.command(lossless.client, { type: "ack", offset: 0 });
    output(at, new Uint8Array(200_000));
    pass(at, STALL_MS - 1);
    expect([lossless.peer.end, at.session.nextTickMs]).toEqual([undefined, at.clock.ms + 1]);
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

  test("W11: nor one that acknowledges a byte within each minute, though its window stays full", () => {
    const at = rig();
    const { client, peer } = join(at.session, "a");
    output(at, new Uint8Array(1_000_000));
    for (let offset = 1; offset <= 3; offset += 1) {
      pass(at, STALL_MS - 1);
      at.session.command(client, { type: "ack", offset });
    }
    expect(peer.end).toBeUndefined();
    pass(at, STALL_MS);
    expect(peer.end).toMatchObject({ code: 1011 });
  });

  test("W11: a plain client that was sent everything is not, however long its socket is full", () => {
    const at = rig(PTY);
    const { client, peer } = join(at.session, "p", { acknowledges: false });
    output(at, "abc");
    peer.isStuffed = true;
    for (const ms of [10, PLAIN_STALL_MS]) pass(at, ms);
    expect([peer.end, client.isAttached]).toEqual([undefined, true]);
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
    expect([peer.output.length, at.session.nextTickMs]).toEqual([1_000_000, undefined]);
  });
});

describe("with nobody there", () => {
  test("W8: a live session is held until its creator has come, who gets all of its output; then it runs on", () => {
    const at = rig(PTY, { logBytes: 1 << 20 });
    fill(at);
    const { client, peer } = join(at.session, "creator");
    expect([peer.hello.offset, peer.hello.gap]).toEqual([0, undefined]);
    at.session.leave(client);
    for (let i = 0; i < 40; i += 1) output(at, FRAME);
    expect(at.session.shouldHold).toBe(false);
  });

  test("W8, L7: a lossless one is held, and no more waits of a log of 8 MiB than the session object's log has room for", () => {
    const at = rig({}, { logBytes: 8 << 20 });
    at.session.leave(join(at.session, "a").client);
    fill(at);
    expect(at.log.endOffset).toBeLessThan(1 << 20);
  });

  test("W8: when several clients' grace passes at once, the slowest one's output is kept", () => {
    const at = rig({}, { logBytes: 1 << 20 });
    const slow = join(at.session, "slow").client;
    const fast = join(at.session, "fast").client;
    output(at, new Uint8Array(60_000));
    at.session.command(fast, { type: "ack", offset: 60_000 });
    at.session.command(slow, { type: "ack", offset: 10_000 });
    for (const client of [slow, fast]) at.session.vanish(client);
    pass(at, RESUME_GRACE_MS);
    fill(at);
    expect(at.log.startOffset).toBeLessThanOrEqual(10_000);
    expect(join(at.session, "slow", { isResume: true, offset: 10_000 }).peer.hello.gap).toBeUndefined();
  });

  test("W8: a program that comes and goes afterwards changes nothing of what is kept", () => {
    const heldAt = (hasProgram: boolean) => {
      const at = rig({}, { logBytes: 1 << 20 });
      const { client } = join(at.session, "a");
      output(at, new Uint8Array(60_000));
      at.session.leave(client);
      const program = {
        ...request("p", { kind: "program" }),
        delivery: "live",
        acked: 60_000,
        windowBytes: 0,
      } as const;
      const result = hasProgram ? at.session.attachRemote(program, { tell: () => undefined }) : undefined;
      if (result?.ok === true) at.session.leave(result.client);
      while (!at.session.shouldHold) output(at, new Uint8Array(1_000));
      return at.log.endOffset;
    };
    expect(heldAt(true)).toBe(heldAt(false));
  });

  test("W8: what a viewer, or a live client, had not dealt with is not kept for it", () => {
    const heldAt = (wish: Parameters<typeof join>[2]) => {
      const at = rig({}, { logBytes: 1 << 20 });
      const slow = join(at.session, "slow", wish).client;
      const fast = join(at.session, "fast").client;
      output(at, new Uint8Array(60_000));
      at.session.command(fast, { type: "ack", offset: 60_000 });
      at.session.vanish(slow);
      pass(at, RESUME_GRACE_MS);
      at.session.leave(fast);
      while (!at.session.shouldHold) output(at, new Uint8Array(1_000));
      return at.log.endOffset;
    };
    const kept = heldAt({});
    expect([heldAt({ role: "viewer" }), heldAt({ delivery: "live" })]).toEqual([kept + 60_000, kept + 60_000]);
  });
});

describe("W14: a process that nobody reads is slowed", () => {
  const RATE = 1_000;

  test("after what may come at once, a flood gets its rate, in steps, however often it is looked at", () => {
    const budget = new UnattendedBudget(RATE, 0, 0);
    let written = 0;
    for (let ms = 0; ms <= 60_000; ms += 10) if (!budget.isSpent(written, ms)) written += 500;
    expect(written).toBeGreaterThan(RATE * (16 + 58));
    expect(written).toBeLessThan(RATE * (16 + 62));
  });

  test("it is asked again when there is room, and not before; without a limit nothing is ever held", () => {
    const budget = new UnattendedBudget(RATE, 0, 0);
    const looked = (written: number, ms: number) => [budget.isSpent(written, ms), budget.nextMs];
    expect([looked(16_000, 0), looked(18_000, 0)]).toEqual([
      [false, undefined],
      [true, 2_000],
    ]);
    expect([looked(18_000, 1_999)[0], looked(18_000, 2_000)]).toEqual([true, [false, undefined]]);
    const free = new UnattendedBudget(Number.POSITIVE_INFINITY, 0, 0);
    expect([free.isSpent(2 ** 50, 1), free.nextMs]).toEqual([false, undefined]);
  });

  test("what is written while somebody reads costs nothing, and a quiet hour saves up no more than a burst", () => {
    const budget = new UnattendedBudget(RATE, 0, 0);
    const [read, hour] = [50_000_000, 3_600_000];
    budget.attended(read);
    expect([budget.isSpent(read + 16_000, hour), budget.isSpent(read + 16_001, hour)]).toEqual([false, true]);
    budget.attended(read + 16_001);
    expect(budget.nextMs).toBeUndefined();
  });

  test("a live terminal that nobody reads is held when its budget is spent, and released for who comes", () => {
    const at = rig(PTY, { isAwaited: false, unattendedBytesPerSecond: RATE });
    const { session, clock, log } = at;
    output(at, new Uint8Array(16_000));
    expect([session.shouldHold, session.nextTickMs]).toEqual([false, undefined]);
    output(at, new Uint8Array(500));
    expect([session.shouldHold, session.nextTickMs]).toEqual([true, clock.ms + 500]);
    clock.ms += 500;
    expect(session.shouldHold).toBe(false);
    output(at, new Uint8Array(1_000));
    expect(session.shouldHold).toBe(true);
    // A session object reads.
    const link = addLink(session.state, log.endOffset, new FakePeer());
    expect(session.shouldHold).toBe(false);
    session.state.links.delete(link);
    output(at, new Uint8Array(20_000));
    expect(session.shouldHold).toBe(true);
    join(session, "a", { delivery: "live", offset: log.endOffset });
    expect([session.shouldHold, session.nextTickMs]).toEqual([false, undefined]);
  });
});
