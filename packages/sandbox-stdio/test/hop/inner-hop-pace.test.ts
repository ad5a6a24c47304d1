// Whom the process is held for, where its readers are at the other end of the inner hop.

import { describe, expect, test } from "vitest";
import { type ClientRecord, MAX_FRAME_BYTES, type RelaySession } from "../../src/index.ts";
import { InnerRig, join, joined, output, pass } from "../support/fixtures.ts";

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
    const hop = new InnerRig().connect().flush();
    const clients = ["a", "b"].map((id) => join(hop.session, id).client);
    hop.flush();
    output(hop.bridge, "x".repeat(60_000));
    hop.flush();
    for (const client of clients) hop.session.command(client, { type: "ack", offset: 60_000 });
    hop.flush();
    expect([hop.remote("a").acked, hop.remote("b").acked]).toEqual([60_000, 60_000]);
  });

  test("W9: when the one who set the pace leaves, the bridge is told where the next one stands", () => {
    const hop = new InnerRig({ tty: true, delivery: "live" }).connect().flush();
    const [a, b] = ["a", "b"].map((id) => join(hop.session, id, { delivery: "live" }).client);
    if (a === undefined || b === undefined) throw new Error("unreachable");
    output(hop.bridge, "x".repeat(60_000));
    hop.flush();
    for (const client of [a, b]) hop.session.command(client, { type: "ack", offset: 60_000 });
    hop.flush();
    expect(hop.remote("b").acked).toBe(0);
    hop.session.leave(a);
    hop.flush();
    expect(hop.remote("b").acked).toBe(60_000);
  });

  test("W9: when the keyboard moves, the bridge is told where its new holder stands", () => {
    const hop = new InnerRig({ tty: true, delivery: "live", mode: "exclusive" }).connect().flush();
    const [a, b] = ["a", "b"].map((id) => join(hop.session, id, { delivery: "live" }).client);
    if (a === undefined || b === undefined) throw new Error("unreachable");
    output(hop.bridge, "x".repeat(60_000));
    hop.flush();
    for (const client of [a, b]) hop.session.command(client, { type: "ack", offset: 60_000 });
    hop.session.command(a, { type: "grant_stdin", to: "b" });
    hop.flush();
    expect([hop.bridge.session.keyboard.holder, hop.remote("b").acked]).toEqual(["b", 60_000]);
  });

  test("W10: a plain client that is alone sets the pace by what its socket has taken", () => {
    const hop = new InnerRig({ tty: true, delivery: "live" }).connect().flush();
    const { client } = join(hop.session, "a", { acknowledges: false, delivery: "live" });
    output(hop.bridge, "x".repeat(200_000));
    hop.flush();
    // The last bytes, no whole frame, are less than a quarter of its window, and not worth a message.
    const acked = 3 * MAX_FRAME_BYTES;
    expect([client.acked, hop.remote("a").acked, hop.bridge.session.shouldHold]).toEqual([200_000, acked, false]);
  });

  test("W9: of the pacing client the bridge hears once a quarter of its window is dealt with, or 128 KiB", () => {
    const hop = new InnerRig({ tty: true, delivery: "live" }).connect().flush();
    const { client } = join(hop.session, "a", { delivery: "live" });
    output(hop.bridge, "x".repeat(60_000));
    hop.flush();
    const told = (offset: number) => {
      hop.session.command(client, { type: "ack", offset });
      hop.flush();
      return hop.remote("a").acked;
    };
    expect(client.windowBytes).toBe(65_536);
    expect([told(16_000), told(16_384), told(32_767), told(32_768)]).toEqual([0, 16_384, 16_384, 32_768]);
  });

  test("W9: where a client begins to pace with its own acknowledgement, the bridge is told at once", () => {
    const hop = new InnerRig({ tty: true, delivery: "live" }).connect().flush();
    const [a, b] = ["a", "b"].map((id) => join(hop.session, id, { delivery: "live" }).client);
    if (a === undefined || b === undefined) throw new Error("unreachable");
    output(hop.bridge, "x".repeat(60_000));
    hop.flush();
    for (const client of [a, b]) hop.session.command(client, { type: "ack", offset: 40_000 });
    hop.connect().flush();
    hop.session.command(b, { type: "ack", offset: 40_001 });
    hop.flush();
    expect([hop.session.pacer?.id, hop.remote("b").acked]).toEqual(["b", 40_001]);
    // From there on in steps.
    hop.session.command(b, { type: "ack", offset: 56_000 });
    hop.flush();
    expect(hop.remote("b").acked).toBe(40_001);
  });

  test("W9: a driver on a slow link that stops reading does not hold the process for a fast one", () => {
    const hop = new InnerRig({ tty: true, delivery: "live" }).connect().flush();
    const [slow, fast] = ["slow", "fast"].map((id) => join(hop.session, id, { delivery: "live" }).client);
    if (slow === undefined || fast === undefined) throw new Error("unreachable");
    const { clock, log } = hop.bridge;
    const dealWith = (client: ClientRecord, ms: number) => {
      clock.ms += ms;
      if (client.greeted === undefined) throw new Error("unreachable");
      hop.session.command(client, { type: "ack", offset: client.greeted.reader.cursor });
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
    const room = slow.windowBytes + MAX_FRAME_BYTES;
    output(hop.bridge, "x".repeat(room));
    hop.flush();
    expect(hop.bridge.session.shouldHold).toBe(true);
    while (fast.acked < log.endOffset) dealWith(fast, 1);
    expect(hop.bridge.session.shouldHold).toBe(false);
  });
});

describe("a live session with viewers alone", () => {
  const MIB = 1024 * 1024;
  /** A flood of so much, in pieces, at `perMs` bytes a millisecond. @returns Whether the process was ever to be held. */
  function flood(hop: InnerRig, bytes: number, perMs: number): boolean {
    let wasHeld = false;
    for (let done = 0; done < bytes; done += perMs) {
      output(hop.bridge, "x".repeat(perMs));
      pass(hop.bridge, 1);
      hop.flush();
      wasHeld ||= hop.bridge.session.shouldHold;
    }
    return wasHeld;
  }

  test("W8: is held for none of them, whatever they acknowledge, and they go on with a gap", () => {
    const hop = new InnerRig({ delivery: "live" }).connect().flush();
    const creator = join(hop.session, "creator", { delivery: "live" }).client;
    hop.flush();
    const deaf = join(hop.session, "deaf", { role: "viewer" });
    const plain = join(hop.session, "plain", { role: "viewer", acknowledges: false });
    hop.session.leave(creator);
    hop.flush();
    expect([flood(hop, 3 * MIB, 100_000), hop.bridge.session.pacer]).toEqual([false, undefined]);
    const reached = deaf.peer.output.length;
    hop.session.command(deaf.client, { type: "ack", offset: reached });
    expect([deaf.peer.of("gap").map(({ from }) => from), plain.peer.output.length > 0]).toEqual([[reached], true]);
  });

  test("W8: waits for them where it is lossless, and so does one for a plain driver", () => {
    for (const [delivery, role] of [
      ["lossless", "viewer"],
      ["live", "driver"],
    ] as const) {
      const hop = new InnerRig({ delivery }).connect().flush();
      const creator = join(hop.session, "creator", { delivery: "live" }).client;
      join(hop.session, "reader", { role, acknowledges: role === "viewer", delivery: "live" });
      hop.session.leave(creator);
      hop.flush();
      expect([delivery, flood(hop, MIB, 100_000), hop.bridge.session.pacer?.id]).toEqual([delivery, true, "reader"]);
    }
  });

  test("H2: brings the Durable Object 8 MiB/s at most, all that is left when it pauses, and the exit", () => {
    const hop = new InnerRig({ delivery: "live" }).connect().flush();
    const creator = join(hop.session, "creator", { delivery: "live" }).client;
    join(hop.session, "viewer", { role: "viewer", acknowledges: false });
    hop.session.leave(creator);
    hop.flush();
    let carried = 0;
    hop.session.appendFrame = new Proxy(hop.session.appendFrame, {
      apply: (target, self, [frame, stream]: Parameters<RelaySession["appendFrame"]>) => {
        carried += frame.length - 1;
        return Reflect.apply(target, self, [frame, stream]);
      },
    });
    flood(hop, 20_000_000, 100_000);
    // A fifth of a second, and the burst of a tenth.
    expect(carried).toBeLessThan(0.3 * 8 * MIB + 2 * MAX_FRAME_BYTES);
    expect(carried).toBeGreaterThan(0.2 * 8 * MIB);
    hop.exited({ code: 0 });
    for (let at = hop.bridge.session.nextTickMs; at !== undefined; at = hop.bridge.session.nextTickMs) {
      hop.bridge.clock.ms = at;
      hop.bridge.session.tick();
      hop.flush();
      if (hop.session.exit !== undefined) break;
    }
    expect([hop.session.log.endOffset, hop.session.exit]).toEqual([20_000_000, { code: 0 }]);
  });
});
