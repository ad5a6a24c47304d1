// A viewer and a driver without the keyboard that say whatever they like, in any order: on their own connections, and, as
// though the Durable Object let everything through, on the inner hop itself. Nothing of it reaches the process.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Dialect, type Frame, PLAIN, SIGNALS, STDIO } from "../../src/index.ts";
import { encodeStdin } from "../../src/wire/frames.ts";
import { anyText } from "../support/any-text.ts";
import { bytes, InnerRig, join, type Rig, rig } from "../support/fixtures.ts";
import { speaking } from "../support/speaking.ts";

const seed = Number(process.env.SEED ?? 6);
const RUNS = Number(process.env.HOSTILE_RUNS ?? 300);

const size = fc.record({ cols: fc.integer({ min: 1, max: 1000 }), rows: fc.integer({ min: 1, max: 500 }) });
const id = fc.constantFrom("holder", "viewer", "other", "nobody", "");
const offset = fc.oneof(fc.nat(40), fc.constantFrom(0, 2 ** 32, Number.MAX_SAFE_INTEGER));
const message: fc.Arbitrary<object> = fc.oneof(
  size.map((one) => ({ type: "resize", ...one })),
  fc.constantFrom(...SIGNALS).map((signal) => ({ type: "signal", signal })),
  offset.map((at) => ({ type: "eof", offset: at })),
  fc.constant({ type: "eof" }),
  fc.constant({ type: "ack", offset: 0 }),
  fc.constantFrom("ping", "request_stdin", "release_stdin", "force_take", "kill").map((type) => ({ type })),
  id.map((to) => ({ type: "grant_stdin", to })),
);
const REPORTS = ["\x1b[1;1R", "\x1b[?1;2c", "\x1b]11;rgb:0000/0000/0000\x07", "\x1b[200~ls\n\x1b[201~"];
const input = fc.oneof(
  anyText(30, 1).map(bytes),
  fc.constantFrom(...REPORTS).map(bytes),
  fc.constant(bytes("rm -rf /\n\x03\x04")),
);
const who = fc.constantFrom("viewer", "other");
const said = fc.record({ who, what: fc.oneof(message, input) });

/** What the process would notice. */
function reached({ upstream }: Rig, from: number): unknown[] {
  return upstream.asked
    .slice(from)
    .filter(
      ([kind, , entry]) =>
        ["signal", "kill", "resize"].includes(String(kind)) || (kind === "input" && entry !== "refused"),
    );
}

function connect(at: Rig, id: string, dialect: Dialect) {
  const role = id === "viewer" ? "viewer" : "driver";
  return speaking(at, { id, role, dialect, delivery: "live", size: { cols: 10, rows: 5 } }).attach();
}

describe.each([
  ["stdio.v1", STDIO],
  ["plain", PLAIN],
] as const)("on their own connections, %s", (_name, dialect) => {
  test.each([
    ["a PTY", true],
    ["pipes", false],
  ])("K3: nothing that they say in any order reaches the process on %s", (_kind, tty) => {
    const property = fc.property(fc.array(said, { minLength: 1, maxLength: 30 }), (all) => {
      const at = rig({ tty, mode: "exclusive", delivery: "live" });
      join(at.session, "holder", { delivery: "live", size: { cols: 80, rows: 24 } });
      const open = new Map(["viewer", "other"].map((name) => [name, connect(at, name, dialect)]));
      const from = at.upstream.asked.length;
      for (const one of all) {
        const frame: Frame = one.what instanceof Uint8Array ? one.what : JSON.stringify(one.what);
        let client = open.get(one.who);
        // Closed for what it said, it comes back: by another name it would only be one more.
        if (client?.closed !== undefined || client === undefined) client = connect(at, one.who, dialect);
        open.set(one.who, client);
        client.hear(frame);
      }
      expect(reached(at, from)).toEqual([]);
      expect(at.session.keyboard.holder).toBe("holder");
    });
    fc.assert(property, { seed, numRuns: RUNS });
  });
});

describe("on the inner hop, past a Durable Object that checks nothing", () => {
  const command: fc.Arbitrary<Frame> = fc.oneof(
    fc.record({ who, what: message }).map((one) => JSON.stringify({ ...one.what, client: one.who })),
    fc
      .record({ who, offset, what: message })
      .map((one) => JSON.stringify({ ...one.what, client: one.who, offset: one.offset })),
    fc
      .record({ slot: fc.constantFrom(1, 2), offset, bytes: input })
      .map((one) => encodeStdin(one.slot, one.offset, one.bytes)),
    fc
      .record({ who, how: fc.constantFrom("left", "vanished") })
      .map((one) => JSON.stringify({ type: "detach", client: one.who, how: one.how })),
  );

  test.each([
    ["a PTY", true],
    ["pipes", false],
  ])("K3: the bridge checks again: nothing of it reaches the process on %s", (_kind, tty) => {
    const property = fc.property(fc.array(command, { minLength: 1, maxLength: 30 }), (all) => {
      const hop = new InnerRig({ tty, mode: "exclusive", delivery: "live" }).connect().flush();
      join(hop.session, "holder", { delivery: "live", size: { cols: 80, rows: 24 } });
      join(hop.session, "viewer", { role: "viewer", delivery: "live", size: { cols: 10, rows: 5 } });
      join(hop.session, "other", { delivery: "live", size: { cols: 10, rows: 5 } });
      hop.flush();
      const from = hop.bridge.upstream.asked.length;
      for (const frame of all) hop.server?.receive(frame, 0);
      expect(reached(hop.bridge, from)).toEqual([]);
      expect(hop.bridge.session.keyboard.holder).toBe("holder");
    });
    fc.assert(property, { seed, numRuns: RUNS });
  });
});
