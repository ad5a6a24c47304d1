// Whom the process is held for, where its readers are at the other end of the inner hop.

import { describe, expect, test, vi } from "vitest";
import { newHop } from "../../src/hop/hop-state.ts";
import { relayAck, relayLeader } from "../../src/hop/relayed-acks.ts";
import {
  type ClientRecord,
  InnerClient,
  MAX_FRAME_BYTES,
  type RelaySession,
  type SessionFacts,
} from "../../src/index.ts";
import { InnerRig, join, joined, output, pass, relayRig } from "../support/fixtures.ts";
import { INNER_HELLO } from "../support/hello.ts";

const LIVE = { tty: true, delivery: "live" } as const;

/** Drivers `a` and `b`, who have been sent 60,000 bytes. */
function two(over: Partial<SessionFacts>) {
  const hop = new InnerRig(over).connect().flush();
  const { delivery = "lossless" } = over;
  const [a, b] = ["a", "b"].map((id) => join(hop.session, id, { delivery }).client);
  if (a === undefined || b === undefined) throw new Error("unreachable");
  hop.flush();
  output(hop.bridge, "x".repeat(60_000));
  hop.flush();
  const ack = (offset: number, ...clients: ClientRecord[]) => {
    for (const client of clients) hop.session.command(client, { type: "ack", offset });
    hop.flush();
    return [hop.remote("a").acked, hop.remote("b").acked];
  };
  return { hop, a, b, ack };
}

describe("pace across the inner hop", () => {
  test("W9: a client that comes back with an empty screen is paced from where it starts again", () => {
    const { hop, client } = joined();
    output(hop.bridge, "x".repeat(40_000));
    hop.flush();
    hop.session.command(client, { type: "ack", offset: 40_000 });
    hop.flush();
    expect(hop.remote("a").acked).toBe(40_000);
    join(hop.session, "a", { isResume: true });
    hop.flush();
    expect(hop.remote("a").acked).toBe(0);
  });

  test("W9: of two lossless drivers the bridge knows exactly how far both are, or the last of them would hold it for ever", () => {
    const { a, b, ack } = two({});
    expect(ack(60_000, a, b)).toEqual([60_000, 60_000]);
  });

  test("W9: when the one who set the pace leaves, the bridge is told where the next one stands", () => {
    const { hop, a, b, ack } = two(LIVE);
    expect(ack(60_000, a, b)[1]).toBe(0);
    hop.session.leave(a);
    hop.flush();
    expect(hop.remote("b").acked).toBe(60_000);
  });

  test("W9: when the keyboard moves, the bridge is told where its new holder stands", () => {
    const { hop, a, b, ack } = two({ ...LIVE, mode: "exclusive" });
    ack(60_000, a, b);
    hop.session.command(a, { type: "grant_stdin", to: "b" });
    hop.flush();
    expect([hop.bridge.session.keyboard.holder, hop.remote("b").acked]).toEqual(["b", 60_000]);
  });

  test("W9: where a client begins to pace with its own acknowledgement, the bridge is told at once, and then in steps", () => {
    const { hop, a, b, ack } = two(LIVE);
    ack(40_000, a, b);
    hop.connect().flush();
    expect([ack(40_001, b)[1], hop.session.flowLeader?.id, ack(56_000, b)[1]]).toEqual([40_001, "b", 40_001]);
  });

  test("W9: of the pacing client the bridge hears once a quarter of its window is dealt with, or 128 KiB", () => {
    const { a, ack } = two(LIVE);
    expect(a.windowBytes).toBe(65_536);
    expect([16_000, 16_384, 32_767, 32_768].map((offset) => ack(offset, a)[0])).toEqual([0, 16_384, 16_384, 32_768]);
  });

  test.each([
    ["its window", 65_536, 32_768, 8_192],
    ["the window that the bridge was told", 16_384, 65_536, 4_096],
  ])("W9: its step is a quarter of %s, if that is the smaller", (_what, told, window, step) => {
    const { session } = relayRig({ delivery: "live" });
    const { client } = join(session, "a", { delivery: "live" });
    const hop = newHop({ hello: () => undefined, bye: () => undefined, clientBye: () => undefined });
    const sent: string[] = [];
    Object.assign(hop, { session, socket: { send: (frame: string) => void sent.push(frame) } });
    const stands = vi.spyOn(session.pace, "effective");
    stands.mockReturnValue({ offset: 0, window: told });
    relayLeader(hop);
    sent.length = 0;
    for (const offset of [step - 1, step]) {
      stands.mockReturnValue({ offset, window });
      relayAck(hop, client);
    }
    expect(sent).toEqual([JSON.stringify({ type: "ack", client: "a", offset: step, window })]);
  });

  test("W9a: a connection that tells of another process says nothing of the clients of the one before", () => {
    const sent: string[] = [];
    const acks = () => sent.splice(0).filter((message) => message.includes('"ack"'));
    const inner: InnerClient = new InnerClient({
      hello: (hello) => inner.ready(process.session, hello),
      ...{ bye: () => undefined, clientBye: () => undefined },
    });
    const open = () => {
      inner.opened({ send: (frame) => void sent.push(String(frame)) }, 0);
      inner.receive(JSON.stringify(INNER_HELLO), 0);
    };
    let process = relayRig({}, { upstream: inner });
    open();
    // Less than its real window, as under pressure.
    vi.spyOn(process.session.pace, "effective").mockReturnValue({ offset: 0, window: 1 });
    join(process.session, "a");
    expect(acks()).toEqual([JSON.stringify({ type: "ack", client: "a", offset: 0, window: 1 })]);
    inner.closed();
    process = relayRig({}, { upstream: inner });
    join(process.session, "b");
    open();
    expect(acks()).toEqual([]);
  });

  test("W9a: of who was told less than the truth the bridge hears once it is over, and then no more often than of others", () => {
    const { session } = relayRig();
    const [a, b] = ["a", "b"].map((id) => join(session, id).client);
    if (a === undefined || b === undefined) throw new Error("unreachable");
    const hop = newHop({ hello: () => undefined, bye: () => undefined, clientBye: () => undefined });
    const sent: string[] = [];
    Object.assign(hop, { session, socket: { send: (frame: string) => void sent.push(frame) } });
    let ofB = { offset: 0, window: 1 };
    const stands = (one: ClientRecord) => (one === b ? ofB : { offset: 0, window: a.windowBytes });
    vi.spyOn(session.pace, "effective").mockImplementation(stands);
    vi.spyOn(session.pace, "update").mockReturnValue(a);
    relayAck(hop, b);
    const told = [1, 2, 3].map((offset) => {
      sent.length = 0;
      ofB = { offset, window: b.windowBytes };
      relayLeader(hop);
      return sent.filter((message) => message.includes('"b"')).length;
    });
    expect(told).toEqual([1, 0, 0]);
  });

  test("W10: a plain client that is alone sets the pace by what its socket has taken", () => {
    const { hop, client } = joined(LIVE, { acknowledges: false, delivery: "live" });
    output(hop.bridge, "x".repeat(200_000));
    hop.flush();
    // The last bytes, no whole frame, are less than a quarter of its window, and not worth a message.
    const acked = 3 * MAX_FRAME_BYTES;
    expect([client.acked, hop.remote("a").acked, hop.bridge.session.shouldHold]).toEqual([200_000, acked, false]);
  });

  test("W9: a driver on a slow link that stops reading does not hold the process for a fast one", () => {
    const { hop, a: slow, b: fast } = two(LIVE);
    const { clock, log } = hop.bridge;
    const dealWith = (client: ClientRecord, ms: number) => {
      clock.ms += ms;
      hop.session.command(client, { type: "ack", offset: client.greeted?.reader.cursor ?? 0 });
      hop.flush();
    };
    const outputDealtWith = (count: number, slowMs: number) => {
      output(hop.bridge, "x".repeat(count));
      hop.flush();
      while (fast.acked < log.endOffset) dealWith(fast, 1);
      while (slow.acked < log.endOffset) dealWith(slow, slowMs);
    };
    for (let round = 0; round < 10; round += 1) outputDealtWith(600_000, 1);
    outputDealtWith(600_000, 1_000);
    expect([slow.windowBytes, fast.windowBytes]).toEqual([16_384, 524_288]);
    // Now the bridge knows both exactly.
    hop.connect().flush();
    output(hop.bridge, "x".repeat(slow.windowBytes + MAX_FRAME_BYTES));
    hop.flush();
    expect(hop.bridge.session.shouldHold).toBe(true);
    while (fast.acked < log.endOffset) dealWith(fast, 1);
    expect(hop.bridge.session.shouldHold).toBe(false);
  });
});

describe("a live session with viewers alone", () => {
  const MIB = 1024 * 1024;

  /** Its creator has left. */
  function left(delivery: "live" | "lossless", ...readers: Parameters<typeof join>[2][]) {
    const { hop, client } = joined({ delivery }, { delivery: "live" });
    const [one, other] = readers.map((wish, i) => join(hop.session, `reader ${i}`, wish));
    hop.session.leave(client);
    hop.flush();
    return { hop, one, other };
  }

  /** A flood of so much, 100,000 bytes a millisecond. @returns Whether the process was ever to be held. */
  function flood(hop: InnerRig, bytes: number): boolean {
    let wasHeld = false;
    for (let done = 0; done < bytes; done += 100_000) {
      output(hop.bridge, "x".repeat(100_000));
      pass(hop.bridge, 1);
      hop.flush();
      wasHeld ||= hop.bridge.session.shouldHold;
    }
    return wasHeld;
  }

  test("W8: is held for none of them, whatever they acknowledge, and they go on with a gap", () => {
    const { hop, one: deaf, other: plain } = left("live", { role: "viewer" }, { role: "viewer", acknowledges: false });
    expect([flood(hop, 3 * MIB), hop.bridge.session.flowLeader]).toEqual([false, undefined]);
    if (deaf === undefined || plain === undefined) throw new Error("unreachable");
    const reached = deaf.peer.output.length;
    hop.session.command(deaf.client, { type: "ack", offset: reached });
    expect([deaf.peer.of("gap").map(({ from }) => from), plain.peer.output.length > 0]).toEqual([[reached], true]);
  });

  test.each([
    ["where it is lossless", "lossless", { role: "viewer", delivery: "live" }],
    ["and one for a plain driver", "live", { acknowledges: false, delivery: "live" }],
  ] as const)("W8: waits for them %s", (_where, delivery, reader) => {
    const { hop } = left(delivery, reader);
    expect([flood(hop, MIB), hop.bridge.session.flowLeader?.id]).toEqual([true, "reader 0"]);
  });

  test("H2: brings the Durable Object 8 MiB/s at most, all that is left when it pauses, and the exit", () => {
    const { hop } = left("live", { role: "viewer", acknowledges: false });
    let carried = 0;
    hop.session.appendFrame = new Proxy(hop.session.appendFrame, {
      apply: (target, self, [frame, stream]: Parameters<RelaySession["appendFrame"]>) => {
        carried += frame.length - 1;
        return Reflect.apply(target, self, [frame, stream]);
      },
    });
    flood(hop, 20_000_000);
    // A fifth of a second, and the burst of a tenth.
    expect(carried).toBeLessThan(0.3 * 8 * MIB + 2 * MAX_FRAME_BYTES);
    expect(carried).toBeGreaterThan(0.2 * 8 * MIB);
    hop.exited({ code: 0 });
    for (let at = hop.bridge.session.nextTickMs; at !== undefined; at = hop.bridge.session.nextTickMs) {
      pass(hop.bridge, at - hop.bridge.clock.ms);
      hop.flush();
      if (hop.session.exit !== undefined) break;
    }
    expect([hop.session.log.endOffset, hop.session.exit]).toEqual([20_000_000, { code: 0 }]);
  });
});
