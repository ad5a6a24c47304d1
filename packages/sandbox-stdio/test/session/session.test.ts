// The session core alone: who may come, what each is sent, what is asked of the process, and the exit.

import { describe, expect, test } from "vitest";
import { type AttachRequest, defined, type Hello, MAX_CLIENTS, RESUME_GRACE_MS, type Role } from "../../src/index.ts";
import { bytes, FakePeer, join, output, request, rig, takeAll } from "../support/fixtures.ts";

describe("the exit", () => {
  test("X4: whoever has been told the exit takes up no place: a session that ended is never full", () => {
    const at = rig();
    output(at, "bye");
    at.session.exited({ code: 7 });
    for (let i = 0; i < 2 * MAX_CLIENTS; i += 1) {
      const { peer } = join(at.session, `c${i}`);
      expect([peer.output, peer.of("exit"), peer.end]).toEqual([
        "bye",
        [{ type: "exit", code: 7, offset: 3 }],
        "finished",
      ]);
    }
  });

  test("X4: a client that lost the exit on the way comes back and is told again, once", () => {
    const at = rig();
    join(at.session, "a");
    output(at, "bye");
    at.session.exited({ code: 143, signal: "SIGTERM" });
    const { peer } = join(at.session, "a", { isResume: true, offset: 2 });
    expect([peer.output, peer.of("exit")]).toEqual(["e", [{ type: "exit", code: 143, signal: "SIGTERM", offset: 3 }]]);
  });

  test("X5: after the exit a proof is enough to read, though nothing is known of the client any more", () => {
    const at = rig();
    output(at, "bye");
    at.session.exited({ code: 0 });
    const { peer } = join(at.session, "stranger", { isResume: true, offset: 1 });
    expect([peer.output, peer.end]).toEqual(["ye", "finished"]);
  });

  test("R8: before the exit a client that has left can't be resumed", () => {
    const at = rig();
    const { client } = join(at.session, "a");
    at.session.leave(client);
    expect(at.session.attach(request("a", { isResume: true }), new FakePeer())).toMatchObject({
      ok: false,
      code: 4404,
    });
  });
});

describe("input", () => {
  test("I6: what the process takes of a client's earlier connection is confirmed on its newest", () => {
    const at = rig();
    const first = join(at.session, "a");
    at.session.stdin(first.client, bytes("hello"), 0);
    const second = join(at.session, "a", { isResume: true, offset: 0 });
    expect(second.peer.hello.stdin).toBe(0);
    takeAll(at.session, first.client);
    at.clock.ms += 20;
    at.session.tick();
    expect(second.peer.of("stdin_ack")).toEqual([{ type: "stdin_ack", offset: 5 }]);
  });
});

describe("what is held with nobody there", () => {
  test("W8: when several clients' grace passes at once, the slowest one's output is kept", () => {
    const at = rig({}, { logBytes: 1 << 20 });
    const slow = join(at.session, "slow").client;
    const fast = join(at.session, "fast").client;
    output(at, new Uint8Array(60_000));
    at.session.command(fast, { type: "ack", offset: 60_000 });
    at.session.command(slow, { type: "ack", offset: 10_000 });
    at.session.vanish(slow);
    at.session.vanish(fast);
    at.clock.ms += RESUME_GRACE_MS;
    at.session.tick();
    while (!at.session.shouldHold) output(at, new Uint8Array(65_536));
    expect(at.log.startOffset).toBeLessThanOrEqual(10_000);
    expect(join(at.session, "slow", { isResume: true, offset: 10_000 }).peer.hello.gap).toBeUndefined();
  });
});

test("L7: of a log of 8 MiB no more waits for a lossless client than the session object's log has room for", () => {
  const at = rig({}, { logBytes: 8 << 20 });
  while (!at.session.shouldHold) output(at, new Uint8Array(65_536));
  expect(at.log.endOffset).toBeLessThan(1 << 20);
});

describe("a live session with nobody there", () => {
  test("W8: is held until its creator has come, who gets all of its output", () => {
    const at = rig({ tty: true, delivery: "live" }, { logBytes: 1 << 20 });
    while (!at.session.shouldHold) output(at, new Uint8Array(65_536));
    const { client, peer } = join(at.session, "creator");
    expect([peer.hello.offset, peer.hello.gap]).toEqual([0, undefined]);
    at.session.leave(client);
    for (let i = 0; i < 32; i += 1) output(at, new Uint8Array(65_536));
    expect(at.session.shouldHold).toBe(false);
  });
});

describe("attaching", () => {
  test("A9: on pipes whoever names no offset asks for everything, and is told what is gone", () => {
    const at = rig({}, { logBytes: 4096 });
    output(at, new Uint8Array(5000));
    expect(join(at.session, "a").peer.hello).toMatchObject({ offset: 904, gap: 904 });
    expect(join(at.session, "b", { offset: 100 }).peer.hello).toMatchObject({ offset: 904, gap: 804 });
    expect(join(at.session, "c", { offset: 904 }).peer.hello.gap).toBeUndefined();
  });

  test("A9: on a PTY whoever names no offset asks for what is held", () => {
    const at = rig({ tty: true }, { logBytes: 4096 });
    output(at, new Uint8Array(5000));
    const { hello } = join(at.session, "a").peer;
    expect([hello.offset, hello.gap]).toEqual([904, undefined]);
  });

  test("A10: delivery is what the client asks for, else what the session's kind makes usual, and a viewer's is live", () => {
    const told = (tty: boolean, over: object) => join(rig({ tty }).session, "a", over).peer.hello.delivery;
    expect([
      told(true, { delivery: undefined }),
      told(false, { delivery: undefined }),
      told(true, { delivery: "lossless" }),
      told(false, { delivery: "live" }),
      told(false, { delivery: "lossless", role: "viewer" }),
    ]).toEqual(["live", "lossless", "lossless", "live", "live"]);
  });
});

describe("limits on input", () => {
  const fill = (at: ReturnType<typeof rig>, id: string, length: number, wish: Partial<AttachRequest> = {}) => {
    const one = join(at.session, id, wish);
    for (let offset = 0; offset < length; offset += 65_536) {
      at.session.stdin(one.client, new Uint8Array(Math.min(65_536, length - offset)), offset);
    }
    return one;
  };

  test("L4: 256 KiB and one frame may wait, one byte more closes the client with 1008", () => {
    const at = rig();
    const { client, peer } = fill(at, "a", 5 * 65_536);
    expect([client.input.queuedBytes, peer.end]).toEqual([5 * 65_536, undefined]);
    at.session.stdin(client, new Uint8Array(1));
    expect(peer.end).toMatchObject({ code: 1008 });
  });

  test("I3b: the client that the process was started for has the window that it keeps, 1 MiB at most", () => {
    const inputWindow = (id: string, keeps: number | undefined, at: ReturnType<typeof rig>, role: Role = "driver") =>
      (join(at.session, id, { role, ...defined({ keeps }) }).peer.of("hello")[0] as Hello).inputWindow;
    const took = { inputWindow: 2 ** 20 };
    expect(inputWindow("a", undefined, rig(took))).toBe(undefined);
    expect(inputWindow("a", 1, rig(took))).toBe(undefined);
    expect(inputWindow("a", 300_000, rig(took))).toBe(300_000);
    expect(inputWindow("a", 2 ** 40, rig())).toBe(undefined); // The bridge is an older one.
    const at = rig(took);
    expect(inputWindow("a", 2 ** 40, at)).toBe(1_048_576);
    expect(inputWindow("b", 2 ** 40, at)).toBe(undefined); // It came later.
    expect(inputWindow("a", undefined, at)).toBe(undefined); // Its new connection says nothing of that.
    expect(inputWindow("a", 2 ** 40, rig(took), "viewer")).toBe(undefined);
    expect(inputWindow("a", 2 ** 40, rig({ ...took, tty: true }))).toBe(1_048_576);
  });

  test("I3b, L4: as much of its input and one frame may wait, one byte more closes it with 1008", () => {
    const at = rig({ inputWindow: 2 ** 20 });
    const { client, peer } = fill(at, "a", 17 * 65_536, { keeps: 2 ** 20 });
    expect([client.input.queuedBytes, peer.end]).toEqual([17 * 65_536, undefined]);
    at.session.stdin(client, new Uint8Array(1));
    expect(peer.end).toEqual({ code: 1008, reason: "more than 1048576 bytes of input wait", retry: "never" });
  });

  test("R6, L4: what waits of an earlier life is not held against the next one, but two such lives are enough", () => {
    const at = rig();
    const attach = () => join(at.session, "a", { isResume: true, stdin: "new" });
    fill(at, "a", 4 * 65_536);
    const next = attach();
    expect(next.client.greeted?.inputStart).toBe(4 * 65_536);
    for (let i = 4; i < 9; i += 1) at.session.stdin(next.client, new Uint8Array(65_536), i * 65_536);
    expect([next.client.input.queuedBytes, next.peer.end]).toEqual([9 * 65_536, undefined]);
    const third = at.session.attach(request("a", { isResume: true, stdin: "new" }), new FakePeer());
    expect(third).toMatchObject({ ok: false, code: 1013, retry: "after" });
    at.session.stdin(next.client, new Uint8Array(1), 9 * 65_536);
    expect(next.peer.end).toMatchObject({ code: 1008 });
  });

  test("L5: a flood of ends of input between single bytes closes the client before it costs much", () => {
    const at = rig({ tty: true });
    const { client, peer } = join(at.session, "a");
    for (let i = 0; i < 10_000 && peer.end === undefined; i += 1) {
      at.session.stdin(client, new Uint8Array(1), i);
      at.session.command(client, { type: "eof", offset: i + 1 });
    }
    expect([peer.end, client.input.entries.length]).toEqual([
      { code: 1008, reason: "more than 262144 bytes of input wait", retry: "never" },
      4097,
    ]);
  });

  test("L6: of clients that are gone 192 are remembered, and 4 MiB of what they said and nobody took", () => {
    const at = rig();
    for (let i = 0; i < 40; i += 1) {
      const { client } = fill(at, `loud${i}`, 4 * 65_536);
      at.session.vanish(client);
      at.clock.ms += RESUME_GRACE_MS;
      at.session.tick();
    }
    const waiting = () => [...at.session.clients].reduce((sum, client) => sum + client.input.queuedBytes, 0);
    expect([waiting(), [...at.session.clients].length]).toEqual([4 * 1024 * 1024, 16]);
    for (let i = 0; i < 300; i += 1) {
      const { client } = join(at.session, `quiet${i}`);
      at.session.command(client, { type: "ack", offset: 0 });
      at.session.vanish(client);
      at.clock.ms += RESUME_GRACE_MS;
      at.session.tick();
    }
    expect([waiting(), [...at.session.clients].length, at.session.client("quiet299")?.presence.phase]).toEqual([
      0,
      192,
      "absent",
    ]);
  });
});
