// B8, B9: text and orders for a pane go by the same rights, limits and record as all other input, and what is lost of them is told.

import { describe, expect, test } from "vitest";
import { type InputRecorder, PLAIN, STDIO } from "../../src/index.ts";
import { join, joined, relayRig, rig, text } from "../support/fixtures.ts";
import { speaking } from "../support/speaking.ts";

const ORDER = { type: "stdin", pane: "left", data: "é\r" } as const;

function recorded(mode: "collaborative" | "exclusive" = "collaborative") {
  const given: string[] = [];
  const recorder: InputRecorder = {
    input: (client, _received, offset, piece, fate) => given.push(`${client.id} ${offset} ${text(piece)} ${fate}`),
    paneInput: (client, pane, piece, fate) => given.push(`${client.id} ${pane}: ${text(piece)} ${fate}`),
    storedUpTo: () => 0,
    setSecret: () => true,
    isSecret: () => false,
    isBehind: () => false,
  };
  return { ...relayRig({ tty: true, mode, delivery: "live" }, { recorder }), given };
}

describe("B9: text for a pane", () => {
  test("goes on its way and on record, in no count of its client's input", () => {
    const { session, upstream, given } = recorded();
    const { client } = join(session, "a");
    session.command(client, ORDER);
    expect(upstream.of("pane")).toEqual([["pane", "a", ORDER]]);
    expect([given, client.input.received]).toEqual([["a left: é\r typed"], 0]);
  });

  test.each([
    ["a viewer", "collaborative", { role: "viewer" }],
    ["a driver without the keyboard of an exclusive session", "exclusive", {}],
  ] as const)("of %s is refused, on record as that, and so is everything else about panes", (_who, mode, over) => {
    const { session, upstream, given } = recorded(mode);
    join(session, "holder");
    const { client, peer } = join(session, "b", over);
    session.command(client, ORDER);
    session.command(client, { type: "pane", action: "close", pane: "left" });
    session.command(client, { type: "resize", pane: "left", cols: 80, rows: 24 });
    expect(upstream.of("pane")).toEqual([]);
    expect(given).toEqual(["b left: é\r refused"]);
    expect(peer.of("error").map(({ code }) => code)).toEqual(Array(3).fill("not_stdin_holder"));
  });

  test("after the exit goes nowhere, and is on record as refused", () => {
    const { session, upstream, given } = recorded();
    const { client } = join(session, "a");
    session.exited({ code: 0 });
    session.command(client, ORDER);
    expect([upstream.of("pane"), given]).toEqual([[], ["a left: é\r refused"]]);
  });

  test.each([
    ["accepted", "driver", "too many messages"],
    ["refused", "viewer", "too much input was refused"],
  ] as const)("L10: that is %s has a budget, in either dialect", (_fate, role, reason) => {
    for (const dialect of [STDIO, PLAIN]) {
      const one = speaking(rig({ tty: true, delivery: "live" }), { dialect, role, delivery: "live" }).attach();
      const frame = JSON.stringify({ ...ORDER, data: "x".repeat(role === "viewer" ? 16_000 : 1) });
      const taken = one.hear(frame, 5_000);
      expect(one.closes).toEqual([[1008, reason]]);
      // No more than the burst, or than a client may have sent before it hears of the refusal.
      expect(taken).toBeLessThan(role === "viewer" ? 40 : 2_001);
    }
  });
});

/** A client over the inner hop, which orders a zoom. */
function ordering() {
  const { hop, peer, client } = joined({ tty: true });
  const errors = () => peer.of("error").map(({ code }) => code);
  return { hop, errors, say: () => hop.session.command(client, { type: "pane", action: "zoom", pane: "%1" }) };
}

test("B8: an order that is lost with the inner hop is refused, once for each, and is not said again", () => {
  const { hop, errors, say } = ordering();
  say();
  say();
  hop.connect().flush();
  expect(errors()).toEqual(["pane_refused", "pane_refused"]);
  hop.cut();
  expect(errors()).toHaveLength(2);
  say();
  expect(errors()).toHaveLength(3);
});

test("B8: an order that came is not told as lost, whatever is lost behind it", () => {
  const { hop, errors, say } = ordering();
  hop.inner.ping();
  say();
  hop.flush();
  say();
  hop.cut();
  expect(errors()).toEqual(["pane_refused"]);
});
