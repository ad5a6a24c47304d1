// The inner hop, both ends and their sessions: what survives its breaks.

import { describe, expect, test } from "vitest";
import { bytes, InnerRig, join, output, takeAll } from "./fixtures.ts";

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
});
