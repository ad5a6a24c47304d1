// The inner hop, both ends and their sessions: what survives its breaks.

import { describe, expect, test } from "vitest";
import { type ClientRecord, InnerServer, MAX_FRAME_BYTES, RESUME_GRACE_MS, type RelaySession } from "../src/index.ts";
import { bytes, FakePeer, InnerRig, join, output, request, takeAll } from "./fixtures.ts";

describe("input across breaks of the inner hop", () => {
  test("H5: what the process took between the greeting and the attach is confirmed to the client", () => {
    const hop = new InnerRig().connect().flush();
    const { peer, client } = join(hop.session, "a");
    hop.flush();
    hop.session.stdin(client, bytes("hello"));
    hop.flush();
    hop.connect();
    // The bridge has greeted with nothing taken; now the process takes all, and nobody is attached to be told.
    expect(takeAll(hop.bridge.session, hop.remote("a"))).toBe("hello");
    hop.flush();
    expect(peer.of("stdin_ack")).toEqual([{ type: "stdin_ack", offset: 5 }]);
    expect(client.input.entries).toEqual([]);
  });

  test("I2: what the process took of a client whose grace had passed is known before the exit", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    join(hop.session, "b");
    hop.session.stdin(client, bytes("hello"));
    hop.flush();
    hop.session.vanish(client);
    hop.bridge.clock.ms += RESUME_GRACE_MS;
    hop.session.tick();
    hop.flush();
    expect(takeAll(hop.bridge.session, hop.remote("a"))).toBe("hello");
    hop.exited({ code: 0 });
    hop.flush();
    expect(join(hop.session, "a", { isResume: true }).peer.hello.stdin).toBe(5);
  });

  test("I6: input that waited while its client came back is confirmed on the new connection", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    hop.session.stdin(client, bytes("hello"));
    hop.flush();
    const waiting = hop.remote("a");
    const again = join(hop.session, "a", { isResume: true });
    hop.flush();
    // The writer beside the process still has the record of before.
    takeAll(hop.bridge.session, waiting);
    hop.bridge.clock.ms += 20;
    hop.bridge.session.tick();
    hop.flush();
    expect(again.peer.of("stdin_ack")).toEqual([{ type: "stdin_ack", offset: 5 }]);
  });
});

test("H3: output that is greeted with came when the bridge says so, and later output when it comes", () => {
  const hop = new InnerRig();
  expect(hop.connect().flush().session.lastOutputMs).toBeUndefined();
  hop.cut();
  output(hop.bridge, "while nobody was connected");
  hop.lastOutputMs = 500;
  hop.connect().flush();
  expect([hop.session.log.endOffset, hop.session.lastOutputMs]).toEqual([26, 500]);
  hop.bridge.clock.ms = 7_000;
  output(hop.bridge, "now");
  hop.flush();
  expect(hop.session.lastOutputMs).toBe(7_000);
});

describe("acknowledgements of input across the inner hop", () => {
  test("I2: they come 20 ms after the first byte, or at once from 128 KiB on", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    hop.flush();
    for (let at = 0; at < 3; at += 1) hop.session.stdin(client, new Uint8Array(65_536), at * 65_536);
    hop.flush();
    const take = (count: number) => {
      hop.bridge.session.wrote(hop.remote("a"), count);
      hop.flush();
      return client.input.taken;
    };
    expect([take(65_536), take(65_535), take(1), take(1)]).toEqual([0, 0, 131_072, 131_072]);
    hop.bridge.clock.ms += 20;
    hop.bridge.session.tick();
    hop.flush();
    expect(client.input.taken).toBe(131_073);
  });
});

describe("input of a client that does not acknowledge, across the inner hop", () => {
  test("L4: what the process takes makes room for more, however much there is of it in all", () => {
    const hop = new InnerRig().connect().flush();
    const { peer, client } = join(hop.session, "a", { acknowledges: false, canResume: false });
    hop.flush();
    let taken = 0;
    for (let i = 0; i < 100; i += 1) {
      hop.session.stdin(client, new Uint8Array(65_536));
      hop.flush();
      taken += takeAll(hop.bridge.session, hop.remote("a")).length;
      hop.bridge.clock.ms += 20;
      hop.bridge.session.tick();
      hop.flush();
    }
    expect([peer.end, taken, client.input.queuedBytes, client.input.taken]).toEqual([
      undefined,
      6_553_600,
      0,
      6_553_600,
    ]);
    expect(peer.of("stdin_ack")).toEqual([]);
  });
});

describe("pace across the inner hop", () => {
  test("W9: a client that comes back with an empty screen is paced from where it starts again", () => {
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    hop.flush();
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
      hop.bridge.clock.ms += 1;
      hop.bridge.session.tick();
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
    const hop = new InnerRig().connect().flush();
    const { client } = join(hop.session, "a");
    hop.flush();
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
    hop.bridge.clock.ms += 20;
    hop.bridge.session.tick();
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
    const hop = new InnerRig({ mode: "exclusive" }).connect().flush();
    const { peer, client } = join(hop.session, "a");
    hop.flush().cut();
    hop.session.stdin(client, bytes("hello"));
    hop.bridge.clock.ms += RESUME_GRACE_MS;
    hop.bridge.session.tick();
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
      hop.bridge.clock.ms += awayMs;
      hop.bridge.session.tick();
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

describe("output after a break of the inner hop", () => {
  test("H4: bytes that the bridge no longer holds are a gap in the relay's log, told to its clients", () => {
    const hop = new InnerRig({ tty: true, delivery: "live" }, { logBytes: 4096 }).connect().flush();
    const { peer } = join(hop.session, "a", { delivery: "live" });
    output(hop.bridge, "abc");
    hop.flush();
    hop.session.command(hop.session.client("a") ?? raise(), { type: "ack", offset: 3 });
    hop.cut();
    output(hop.bridge, "x".repeat(4096));
    output(hop.bridge, "yz");
    hop.connect().flush();
    expect(hop.session.log.endOffset).toBe(4101);
    expect(peer.of("gap")).toEqual([{ type: "gap", from: 3, to: 5, approximate: true }]);
    expect(peer.output).toBe(`abc${"x".repeat(4094)}yz`);
  });

  test("H4: a size that changed while it was broken, with no output since, is told", () => {
    const hop = new InnerRig({ tty: true }).connect().flush();
    const { peer } = join(hop.session, "a");
    hop.flush().cut();
    hop.bridge.log.markSize(100, 40);
    hop.connect().flush();
    expect(peer.of("resize")).toEqual([{ type: "resize", cols: 100, rows: 40, offset: 0 }]);
  });
});

describe("a bridge that says what can't be followed", () => {
  const said = (frames: (string | Uint8Array)[]) => {
    const hop = new InnerRig().connect().flush();
    join(hop.session, "a");
    output(hop.bridge, "abc");
    hop.flush();
    for (const frame of frames) hop.inner.receive(frame, 0);
    return hop;
  };
  for (const [name, frame] of [
    ["no JSON", "{"],
    ["a wrong shape", '{"type":"gap","from":1}'],
    ["a gap that goes back", '{"type":"gap","from":1,"to":2}'],
    ["a second greeting", JSON.stringify({ ...new InnerRig().connect().flush().hello })],
  ] as const) {
    test(`H9: ${name} ends the connection with 1008 and never throws; what follows counts for nothing`, () => {
      const hop = said([frame, new Uint8Array([1, 65]), '{"type":"exit","code":0,"offset":4}']);
      expect(hop.byes.map(({ code }) => code)).toEqual([1008]);
      expect([hop.session.log.endOffset, hop.session.exit, hop.inner.isReady]).toEqual([3, undefined, false]);
    });
  }

  test("H9: a type that is not known is ignored", () => {
    expect(said(['{"type":"weather"}']).byes).toEqual([]);
  });
});

test("H10: what an older connection still delivers after it was replaced counts for nothing", () => {
  const hop = new InnerRig().connect().flush();
  join(hop.session, "a");
  hop.flush();
  const older = hop.server;
  hop.connect().flush();
  older?.receive('{"type":"detach","client":"a","how":"left"}', 0);
  expect(hop.remote("a").presence.phase).toBe("remote");
});

test("H10: a bridge that closes says so once", () => {
  const hop = new InnerRig();
  const sent: unknown[] = [];
  const socket = { send: (frame: unknown) => void sent.push(frame), close: () => undefined, isWritable: () => true };
  const server = new InnerServer(hop.bridge.session, socket, 0);
  server.close(1001, "going");
  server.close(1001, "going");
  expect(sent).toEqual(['{"type":"bye","code":1001,"reason":"going"}']);
});

function raise(): never {
  throw new Error("no such client");
}
