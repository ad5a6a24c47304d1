// A program asks for a person: who is told, who may take it, when it ends, and that nothing of a secret is on record.

import { describe, expect, test } from "vitest";
import { ASK_MS, type Ask, type ClientRecord, isSecretFor, openAsk, type Role, whyAwake } from "../../src/index.ts";
import { bytes, join, pass, relayRig, rig } from "../support/fixtures.ts";

class Recorder {
  readonly secret = new Set<string>();
  input(): void {
    // What is on record of input is shown where the record is made.
  }
  paneInput(): void {
    // No panes here.
  }
  storedUpTo = () => Number.MAX_SAFE_INTEGER;
  isBehind = () => false;
  isSecret = (id: string) => this.secret.has(id);
  setSecret(id: string, on: boolean): boolean {
    if (on) this.secret.add(id);
    else this.secret.delete(id);
    return true;
  }
}

function asking(mode: "collaborative" | "exclusive" = "collaborative", asks?: readonly Ask[], holder?: string) {
  const recorder = new Recorder();
  const at = relayRig({ mode, tty: true }, { recorder, asks, ...(holder === undefined ? {} : { holder }) });
  const events: string[] = [];
  at.session.onAsk = ({ id }, event, by) => events.push(`${id} ${event} ${by}`);
  const program = at.session.programs.beginCall({ id: "p", name: "agent", isAdmin: false });
  if (program === undefined) throw new Error("a program was not let in");
  let count = 0;
  const ask = (secret = false, client: ClientRecord = program) => {
    count += 1;
    return openAsk(at.session.state, client, { id: `q${count}`, asker: "P", writer: "api", reason: "sudo", secret });
  };
  const mayType = () =>
    [...at.session.clients].filter(({ id }) => at.session.keyboard.mayDrive(id).ok).map(({ id }) => id);
  return { ...at, recorder, events, program, ask, mayType };
}

const ASK = { type: "ask", id: "q1", writer: "api", reason: "sudo", secret: false };
const told = (peer: { of(...types: ("ask" | "ask_state")[]): unknown[] }) => peer.of("ask", "ask_state");

describe("who is told and who takes it", () => {
  test("K11: persons who drive are told of an ask, also late ones; viewers and plain clients are not", () => {
    const at = asking();
    const a = join(at.session, "a");
    const v = join(at.session, "v", { role: "viewer" });
    const plain = join(at.session, "plain", { acknowledges: false });
    expect(at.ask()).toBeUndefined();
    const late = ["driver", "viewer"].map((role) => join(at.session, `late ${role}`, { role: role as Role }));
    const latePlain = join(at.session, "late plain", { acknowledges: false });
    const all = [a, v, plain, ...late, latePlain].map(({ peer }) => told(peer));
    expect(all).toEqual([[ASK], [], [], [ASK], [], []]);
    at.session.command(a.client, { type: "take_ask", id: "q1" });
    const later = join(at.session, "later", { role: "driver" });
    expect(told(later.peer)).toEqual([ASK, { type: "ask_state", id: "q1", by: "a" }]);
  });

  test("K12: who takes it types alone, in a collaborative session too, until the keyboard is given back", () => {
    const at = asking();
    const [a, b] = [join(at.session, "a"), join(at.session, "b")];
    at.ask();
    expect(at.mayType()).toEqual(["p", "a", "b"]);
    at.session.command(a.client, { type: "take_ask", id: "q1" });
    expect([at.session.keyboard.holder, at.session.keyboard.isLent, at.mayType()]).toEqual(["a", true, ["a"]]);
    expect(at.recorder.isSecret("a")).toBe(false);
    at.session.command(b.client, { type: "take_ask", id: "q1" });
    at.session.command(b.client, { type: "decline_ask", id: "q1" });
    expect(b.peer.of("error").map(({ code }) => code)).toEqual(["ask_taken", "ask_taken"]);
    at.session.command(a.client, { type: "release_stdin" });
    expect([at.session.keyboard.holder, at.mayType()]).toEqual(["", ["p", "a", "b"]]);
    expect(told(b.peer).slice(1)).toEqual([
      { type: "ask_state", id: "q1", by: "a" },
      { type: "ask_state", id: "q1", answer: "done" },
    ]);
    expect(at.events).toEqual(["q1 asked p", "q1 taken a", "q1 done a"]);
  });

  test("K12: a client that knows nothing of asks takes one by asking for the keyboard; a program does not", () => {
    const at = asking();
    const other = at.session.programs.beginCall({ id: "p2", name: "other", isAdmin: false });
    const a = join(at.session, "a");
    at.ask();
    if (other !== undefined) at.session.command(other, { type: "request_stdin" });
    expect(at.session.keyboard.isLent).toBe(false);
    at.session.command(a.client, { type: "request_stdin" });
    expect([at.session.keyboard.holder, at.events.at(-1)]).toEqual(["a", "q1 taken a"]);
  });

  test("K12: in an exclusive session it is the program's keyboard that is lent, and goes back", () => {
    const at = asking("exclusive");
    const [a, b] = [join(at.session, "a"), join(at.session, "b")];
    expect(at.session.keyboard.holder).toBe("p");
    at.ask();
    at.session.command(a.client, { type: "take_ask", id: "q1" });
    at.session.command(a.client, { type: "release_stdin" });
    expect(at.session.keyboard.holder).toBe("p");
    at.session.command(b.client, { type: "request_stdin" });
    at.ask();
    at.session.command(a.client, { type: "take_ask", id: "q2" });
    expect([at.session.keyboard.holder, a.peer.of("error").at(-1)?.code]).toEqual(["b", "not_stdin_holder"]);
    at.session.command(a.client, { type: "decline_ask", id: "q2" });
    expect([at.session.keyboard.holder, at.events.at(-1)]).toEqual(["b", "q2 declined a"]);
  });

  test("K12: a viewer takes and declines nothing, and an unknown ask is told", () => {
    const at = asking();
    const v = join(at.session, "v", { role: "viewer" });
    at.ask();
    at.session.command(v.client, { type: "take_ask", id: "q1" });
    at.session.command(v.client, { type: "decline_ask", id: "q1" });
    at.session.command(v.client, { type: "request_stdin" });
    at.session.command(v.client, { type: "take_ask", id: "x" });
    expect(v.peer.of("error").map(({ code }) => code)).toEqual([
      "not_allowed",
      "not_allowed",
      "not_allowed",
      "no_such_ask",
    ]);
    expect(at.events).toEqual(["q1 asked p"]);
  });

  test("K12: the ask goes with the keyboard to another person; to the program, or by leaving, it is done", () => {
    for (const end of ["grant", "leave"] as const) {
      const at = asking();
      const [a, b] = [join(at.session, "a"), join(at.session, "b")];
      at.ask(true);
      at.session.command(a.client, { type: "take_ask", id: "q1" });
      at.session.command(a.client, { type: "grant_stdin", to: "b" });
      expect([at.mayType(), at.recorder.isSecret("b")]).toEqual([["b"], true]);
      if (end === "grant") at.session.command(b.client, { type: "grant_stdin", to: "p" });
      else at.session.leave(b.client);
      expect([at.events.at(-1), at.session.keyboard.isLent]).toEqual(["q1 done b", false]);
    }
  });
});

describe("how it ends", () => {
  test("K11: after 15 minutes it has expired, and the keyboard is free", () => {
    const at = asking();
    const a = join(at.session, "a");
    at.ask();
    at.session.command(a.client, { type: "take_ask", id: "q1" });
    expect(at.session.nextTickMs).toBe(at.clock.ms + ASK_MS);
    pass(at, ASK_MS - 1);
    expect(at.session.keyboard.holder).toBe("a");
    pass(at, 1);
    expect([at.session.keyboard.holder, at.session.state.asks[0]?.answer]).toEqual(["", "expired"]);
    expect(a.peer.of("stdin_holder").map(({ id }) => id)).toEqual(["a", ""]);
  });

  test("K11, K12: with it the keyboard of an exclusive session goes back to the program, and one that was lent is free", () => {
    const at = asking("exclusive");
    const a = join(at.session, "a");
    at.ask();
    at.session.command(a.client, { type: "take_ask", id: "q1" });
    pass(at, ASK_MS);
    expect(at.session.keyboard.holder).toBe("p");
    const ask = { by: "p", asker: "P", writer: "api", reason: "sudo", secret: false, atMs: 1_000 };
    const both = asking(
      "collaborative",
      [
        { ...ask, id: "q0" },
        { ...ask, id: "q1", takenBy: "a" },
      ],
      "a",
    );
    join(both.session, "a");
    pass(both, ASK_MS);
    expect([both.session.keyboard.holder, both.session.keyboard.isLent]).toEqual(["", false]);
  });

  test("K11: its writer may ask again as soon as its time is over, whether or not anybody has looked", () => {
    const at = asking();
    at.ask();
    at.clock.ms += ASK_MS;
    expect(at.ask()).toBeUndefined();
    expect(at.events).toEqual(["q1 asked p", "q1 expired ", "q2 asked p"]);
  });

  test("K11: with the exit an open ask is no more; one that was answered still says how", () => {
    const at = asking();
    const a = join(at.session, "a");
    at.ask();
    at.session.command(a.client, { type: "decline_ask", id: "q1" });
    at.ask();
    at.session.exited({ code: 0 });
    expect(at.session.state.asks.map(({ id, answer, reason }) => [id, answer, reason])).toEqual([
      ["q1", "declined", ""],
    ]);
    expect(at.events.at(-1)).toBe("q2 exited ");
  });

  test("K11: a writer has one open ask, and ten in an hour; all writers together have sixty", () => {
    const at = asking();
    const a = join(at.session, "a");
    const declined = (id: string) => at.session.command(a.client, { type: "decline_ask", id });
    expect([at.ask(), at.ask()]).toEqual([undefined, "ask_open"]);
    declined("q1");
    for (let i = 3; i <= 11; i += 1) {
      pass(at, 1_000);
      expect(at.ask()).toBeUndefined();
      declined(`q${i}`);
    }
    expect(at.ask()).toBe("too_many_asks");
    for (let i = 1; i <= 51; i += 1) {
      const other = at.session.programs.beginCall({ id: `w${i}`, name: `w${i}`, isAdmin: false });
      if (other === undefined) throw new Error("a writer was not let in");
      expect(at.ask(false, other)).toBe(i <= 50 ? undefined : "too_many_asks");
    }
    // An hour after its first.
    pass(at, 3_600_000 - 9_001);
    expect(at.ask()).toBe("too_many_asks");
    pass(at, 1);
    expect(at.ask()).toBeUndefined();
  });

  test("K11: while it is open its writer keeps its place, and the session is not parked", () => {
    const at = asking("exclusive");
    at.session.programs.endCall(at.program);
    at.ask();
    pass(at, 61_000);
    expect(at.session.keyboard.holder).toBe("p");
    expect(whyAwake(at.session, at.clock.ms, true)).toBe("a person is asked");
    const a = join(at.session, "a");
    at.session.command(a.client, { type: "decline_ask", id: "q1" });
    pass(at, 61_000);
    expect(at.session.keyboard.holder).toBe("");
  });
});

describe("a secret", () => {
  test("K11, K13: of two asks each has its own state, and one of them is secret", () => {
    const at = asking();
    const a = join(at.session, "a");
    const other = at.session.programs.beginCall({ id: "p2", name: "other", isAdmin: false });
    at.ask(true);
    at.ask(false, other);
    expect(isSecretFor(at.session.state, "P")).toBe(true);
    at.session.command(a.client, { type: "decline_ask", id: "q2" });
    expect(at.session.state.asks.map(({ id, answer }) => [id, answer])).toEqual([
      ["q1", undefined],
      ["q2", "declined"],
    ]);
  });

  test("K13: what the taker types is secret, and stays so until the taker says otherwise after the end", () => {
    const at = asking();
    const a = join(at.session, "a");
    at.ask(true);
    expect([isSecretFor(at.session.state, "P"), isSecretFor(at.session.state, "Q")]).toEqual([true, false]);
    at.session.command(a.client, { type: "take_ask", id: "q1" });
    expect([at.recorder.isSecret("a"), a.peer.of("secret")]).toEqual([true, [{ type: "secret", on: true }]]);
    at.session.command(a.client, { type: "secret", on: false });
    expect(at.recorder.isSecret("a")).toBe(true);
    // Of another client nothing is secret for that.
    const b = join(at.session, "b");
    for (const on of [true, false]) at.session.command(b.client, { type: "secret", on });
    expect(at.recorder.isSecret("b")).toBe(false);
    at.session.command(a.client, { type: "release_stdin" });
    expect([at.recorder.isSecret("a"), isSecretFor(at.session.state, "P")]).toEqual([true, false]);
    at.session.command(a.client, { type: "secret", on: false });
    expect(at.recorder.isSecret("a")).toBe(false);
  });

  test("K14: clients are told when the terminal stops echoing, and those who come then", () => {
    const at = asking();
    const a = join(at.session, "a");
    at.session.echoes(true, 0);
    at.session.echoes(false, 7);
    at.session.echoes(false, 9);
    const b = join(at.session, "b");
    at.session.echoes(true, 9);
    expect([a, b].map(({ peer }) => peer.of("echo").map(({ on, offset }) => [on, offset]))).toEqual([
      [
        [false, 7],
        [true, 9],
      ],
      [
        [false, 7],
        [true, 9],
      ],
    ]);
  });
});

describe("over a restart", () => {
  const ASKED: Ask = { id: "q1", by: "p", asker: "P", writer: "api", reason: "sudo", secret: true, atMs: 1_000 };

  test("K11: an ask goes on, with its taker if the bridge knows that it holds the keyboard; else it is open", () => {
    for (const holder of ["a", ""]) {
      const at = asking("collaborative", [{ ...ASKED, takenBy: "a" }], holder);
      const a = join(at.session, "a");
      expect([at.session.keyboard.isLent, at.session.state.asks[0]?.takenBy]).toEqual(
        holder === "a" ? [true, "a"] : [false, undefined],
      );
      expect(told(a.peer).length).toBe(holder === "a" ? 2 : 1);
    }
  });

  test("K12: of several asks one is taken, and by that all are: whoever holds it types alone, and others take none", () => {
    const asks = [
      { ...ASKED, id: "q0", by: "p2" },
      { ...ASKED, takenBy: "a" },
    ];
    const at = asking("collaborative", asks, "a");
    const [a, b] = [join(at.session, "a"), join(at.session, "b")];
    expect([at.session.keyboard.isLent, at.mayType()]).toEqual([true, ["a"]]);
    at.session.command(b.client, { type: "take_ask", id: "q0" });
    expect(b.peer.of("error").map(({ code }) => code)).toEqual(["ask_taken"]);
    // Nor is the keyboard given back with an ask for which it was not taken.
    at.session.command(a.client, { type: "decline_ask", id: "q0" });
    expect([at.session.keyboard.holder, at.mayType()]).toEqual(["a", ["a"]]);
  });

  test("K11: an ask ends though nobody knows its writer any more", () => {
    const at = asking("collaborative", [{ ...ASKED, by: "gone" }]);
    const a = join(at.session, "a");
    at.session.command(a.client, { type: "decline_ask", id: "q1" });
    expect(at.events).toEqual(["q1 declined a"]);
  });

  test("K12: the bridge refuses input of others while the keyboard is lent, and takes it again after that", () => {
    const { session } = rig({ tty: true });
    const [a, b] = [join(session, "a"), join(session, "b")];
    session.setHolder("a", true);
    session.stdin(b.client, bytes("no"), 0);
    session.stdin(a.client, bytes("yes"), 0);
    expect([a.client.input.queuedBytes, b.client.input.queuedBytes]).toEqual([3, 0]);
    session.setHolder("a", false);
    session.stdin(b.client, bytes("now"), 2);
    expect(b.client.input.queuedBytes).toBe(3);
  });
});
