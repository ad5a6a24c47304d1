// The session core alone: who may come, what each is sent, what is asked of the process, and the exit.

import { describe, expect, test } from "vitest";
import { MAX_CLIENTS, RESUME_GRACE_MS } from "../src/index.ts";
import { bytes, FakePeer, join, output, request, rig, takeAll } from "./fixtures.ts";

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
      at.clock.ms += RESUME_GRACE_MS;
      at.session.tick();
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
