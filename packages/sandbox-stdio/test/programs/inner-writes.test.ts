// Writes by calls across the inner hop: counted where the process is, typed once, whole or not at all.

import { expect, test } from "vitest";
import { type ClientRecord, PROGRAM_GRACE_MS, type WriteOutcome, type WriteWish } from "../../src/index.ts";
import { InnerRig, join, output, pass, takeAll } from "../support/fixtures.ts";

/** Latin-1 is what bytes travel as. */
const typed = (bytes: string): WriteWish => ({ bytes });

function program(hop: InnerRig, id = "p"): ClientRecord {
  const client = hop.session.programs.beginCall({ id, name: "agent", isAdmin: false });
  if (client === undefined) throw new Error("too many programs");
  return client;
}

/** What has been answered so far. */
function answers(): { readonly told: WriteOutcome[]; add(answer: Promise<WriteOutcome>): Promise<WriteOutcome> } {
  const told: WriteOutcome[] = [];
  const add = async (answer: Promise<WriteOutcome>) => {
    const outcome = await answer;
    told.push(outcome);
    return outcome;
  };
  return { told, add };
}

/** The encoder of keys asks for modes first: what follows comes in a later turn. */
async function settle(hop: InnerRig): Promise<void> {
  for (let i = 0; i < 5; i += 1) {
    hop.flush();
    await Promise.resolve();
  }
}

test("H16: a write is queued whole, and answered with where it stands and where the output stood", async () => {
  const hop = new InnerRig({ tty: true, delivery: "live" }).connect().flush();
  output(hop.bridge, "ready> ");
  hop.flush();
  const client = program(hop);
  const answer = hop.inner.write(client, typed("ls\xc3\xa9\n")).answer;
  hop.flush();
  expect(await answer).toEqual({ type: "written", client: "p", from: 0, to: 5, output: 7 });
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("lsé\n");
});

test("H16: what the process has taken of a program's input is confirmed at once", async () => {
  const hop = new InnerRig().connect().flush();
  const client = program(hop);
  const settled: number[] = [];
  hop.session.programs.onSettled = (one) => settled.push(hop.session.programs.settledOf(one));
  const answer = hop.inner.write(client, typed("abc")).answer;
  hop.flush();
  await answer;
  takeAll(hop.bridge.session, hop.remote("p"));
  hop.flush();
  expect(settled.at(-1)).toBe(3);
});

test("H16: a hop that breaks before, or behind, the bridge's answer types nothing twice and loses nothing", async () => {
  for (const isLost of ["on the way", "on the way back"]) {
    const hop = new InnerRig().connect().flush();
    const client = program(hop);
    hop.flush();
    const { told, add } = answers();
    const answer = add(hop.inner.write(client, typed("once")).answer);
    if (isLost === "on the way back") for (const frame of hop.toBridge.splice(0)) hop.server?.receive(frame, 0);
    hop.connect();
    expect(told).toEqual([]);
    hop.flush();
    expect(await answer).toMatchObject({ type: "written", from: 0, to: 4 });
    expect([isLost, takeAll(hop.bridge.session, hop.remote("p"))]).toEqual([isLost, "once"]);
  }
});

test("W3: a repeated call after a restart of the Durable Object is a duplicate, whatever its body", async () => {
  const hop = new InnerRig().connect().flush();
  const first = hop.inner.write(program(hop), { bytes: "once", at: 0 }).answer;
  hop.flush();
  await first;
  const again = hop.restarted().connect().flush();
  const client = program(again);
  again.flush();
  expect(client.input.received).toBe(4);
  const repeated = again.inner.write(client, { bytes: "other", at: 0 }).answer;
  again.flush();
  expect(await repeated).toMatchObject({ type: "written", duplicate: true, from: 0, to: 4, last: 4 });
  const ahead = again.inner.write(client, { bytes: "x", at: 9 }).answer;
  again.flush();
  expect(await ahead).toMatchObject({ type: "unwritten", code: "input_gap", expected: 4 });
  expect(takeAll(again.bridge.session, again.remote("p"))).toBe("once");
});

test("W2: a 65th program is refused, and the first is never forgotten", async () => {
  const hop = new InnerRig().connect().flush();
  const writers = Array.from({ length: 64 }, (_, i) => program(hop, `p${i}`));
  const [first] = writers;
  if (first === undefined) throw new Error("unreachable");
  const answer = hop.inner.write(first, typed("kept")).answer;
  hop.flush();
  await answer;
  expect(hop.session.programs.beginCall({ id: "p64", name: "late", isAdmin: false })).toBeUndefined();
  for (const client of writers) hop.session.programs.endCall(client);
  for (const at of [hop.bridge, hop.relay]) {
    if (at === undefined) continue;
    pass(at, PROGRAM_GRACE_MS + 1);
  }
  hop.flush();
  // Others come and go, more than are remembered of clients that left.
  for (let i = 0; i < 300; i += 1) hop.session.leave(join(hop.session, `c${i}`).client);
  hop.flush();
  expect([hop.remote("p0").presence.phase, hop.remote("p0").input.received]).toEqual(["absent", 4]);
  expect(hop.session.isAttended).toBe(false);
});

test("R3: programs take no places, pace nothing and answer no terminal queries", () => {
  const hop = new InnerRig({ tty: true, delivery: "live" }).connect().flush();
  program(hop);
  hop.flush();
  expect(hop.session.pacer).toBeUndefined();
  expect(hop.bridge.session.pacer).toBeUndefined();
  expect([hop.session.attachedCount, hop.bridge.session.attachedCount]).toEqual([0, 0]);
  expect([hop.session.answerer.id, hop.bridge.session.answerer.id]).toEqual(["", ""]);
});

test("R5: a program that holds the keyboard lapses a minute after its last call", () => {
  const hop = new InnerRig({ tty: true, mode: "exclusive", delivery: "live" }).connect().flush();
  const client = program(hop);
  hop.flush();
  expect([hop.session.keyboard.holder, hop.bridge.session.keyboard.holder]).toEqual(["p", "p"]);
  const wait = (ms: number) => {
    hop.bridge.clock.ms += ms;
    hop.session.tick();
    hop.flush();
    return hop.session.keyboard.holder;
  };
  expect(wait(10 * PROGRAM_GRACE_MS)).toBe("p");
  hop.session.programs.endCall(client);
  expect([wait(PROGRAM_GRACE_MS - 1), wait(1)]).toEqual(["p", ""]);
  expect(hop.bridge.session.keyboard.holder).toBe("");
});

test("W4: who does not hold the keyboard is told who does, and types nothing", async () => {
  const hop = new InnerRig({ tty: true, mode: "exclusive", delivery: "live" }).connect().flush();
  join(hop.session, "alice");
  const client = program(hop);
  hop.flush();
  const answer = hop.inner.write(client, typed("rm")).answer;
  hop.flush();
  expect(await answer).toEqual({ type: "unwritten", client: "p", code: "not_stdin_holder", holder: "alice" });
  expect(hop.remote("p").input.received).toBe(0);
});

test("W4: an end of input is applied once, and what comes behind it is refused", async () => {
  const hop = new InnerRig().connect().flush();
  const client = program(hop);
  const ask = async (wish: WriteWish) => {
    const answer = hop.inner.write(client, wish).answer;
    await settle(hop);
    return answer;
  };
  expect(await ask({ bytes: "last", eof: true, at: 0 })).toMatchObject({ type: "written", to: 4 });
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("last^D");
  expect(await ask({ eof: true, at: 4 })).toMatchObject({ type: "written", duplicate: true });
  expect(await ask({ bytes: "x", at: 4 })).toMatchObject({ type: "unwritten", code: "stdin_closed" });
  hop.exited({ code: 0 });
  expect(await ask({ bytes: "x", at: 4 })).toMatchObject({ type: "unwritten", code: "exited" });
});

test("W1: keys need a terminal, and a paste with control characters types nothing", async () => {
  const hop = new InnerRig().connect().flush();
  const client = program(hop);
  const ask = async (wish: WriteWish) => {
    const answer = hop.inner.write(client, wish).answer;
    await settle(hop);
    return answer;
  };
  expect(await ask({ keys: ["C-c"] })).toMatchObject({ type: "unwritten", code: "no_terminal" });
  expect(await ask({ paste: "a\x1bb" })).toMatchObject({ type: "unwritten", code: "bad_paste" });
  expect(await ask({ paste: "a\nb", enter: true })).toMatchObject({ type: "written", from: 0, to: 4 });
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("a\nb\n");
});

test("H17: an answer comes in pieces, is asked for again on a new hop, and has an end", async () => {
  const text = new Uint8Array(150_000).map((_, i) => i % 251);
  const answering = { text };
  const ports = { modes: () => undefined, answer: () => answering.text, isMarked: true, called: () => undefined };
  const hop = new InnerRig({}, { ports }).connect().flush();
  const { answer } = hop.inner.ask({ about: "commands" });
  for (const frame of hop.toBridge.splice(0)) hop.server?.receive(frame, 0);
  await Promise.resolve();
  // One piece comes through before the hop breaks.
  const [piece] = hop.toRelay;
  if (piece !== undefined) hop.inner.receive(piece, 0);
  hop.connect();
  await settle(hop);
  expect(await answer).toEqual(text);
  expect(hop.inner.isMarked).toBe(true);
  answering.text = new Uint8Array(5 * 1024 * 1024);
  const endless = hop.inner.ask({ about: "commands" });
  await settle(hop);
  expect([await endless.answer, hop.byes]).toEqual([undefined, []]);
});

test("N1: attention goes to clients that are here and speak stdio.v1, once", () => {
  const hop = new InnerRig({ tty: true, delivery: "live" }).connect().flush();
  const { peer } = join(hop.session, "a");
  const plain = join(hop.session, "b", { acknowledges: false });
  hop.flush();
  hop.server?.note({ type: "attention", kind: "notify", title: "done", offset: 3 });
  hop.flush();
  const late = join(hop.session, "c");
  hop.flush();
  expect(peer.of("attention")).toEqual([{ type: "attention", kind: "notify", title: "done", offset: 3 }]);
  expect([plain.peer.of("attention"), late.peer.of("attention")]).toEqual([[], []]);
});
