// Writes by calls across the inner hop: counted where the process is, typed once, whole or not at all.

import { expect, test } from "vitest";
import type { WriteSpec } from "../../src/hop/hop-state.ts";
import { NO_PROGRAMS } from "../../src/hop/program-calls.ts";
import {
  type InputRecorder,
  MAX_FRAME_BYTES,
  PROGRAM_GRACE_MS,
  type ProgramHost,
  RESUME_GRACE_MS,
  type SessionFacts,
  type WriteOutcome,
} from "../../src/index.ts";
import { WriteIds } from "../../src/programs/writers.ts";
import { encodeAnswer } from "../../src/wire/frames.ts";
import { bytes, InnerRig, join, output, pass, relayRig, takeAll, text } from "../support/fixtures.ts";

const LIVE = { tty: true, delivery: "live" } as const;

function program(hop: InnerRig, id = "p") {
  const client = hop.session.programs.beginCall({ id, name: "agent", isAdmin: false });
  if (client === undefined) throw new Error("too many programs");
  hop.flush();
  return client;
}

/** Both ends, and a program that calls. Of bytes the wish has Latin-1, which is what they travel as. */
function calling(over: Partial<SessionFacts> = {}, ports?: ProgramHost) {
  const hop = new InnerRig(over, ports === undefined ? {} : { ports }).connect().flush();
  const client = program(hop);
  return { hop, client, ask: (wish: WriteSpec) => ask(hop, client, wish) };
}

async function ask(hop: InnerRig, client: ReturnType<typeof program>, wish: WriteSpec): Promise<WriteOutcome> {
  const { answer } = hop.inner.write(client, wish);
  await settle(hop);
  return answer;
}

/** The encoder of keys asks for modes first: what follows comes in a later turn. */
async function settle(hop: InnerRig): Promise<void> {
  for (let i = 0; i < 5; i += 1) {
    hop.flush();
    await Promise.resolve();
  }
}

test("H16: a write is queued whole, and answered with where it stands and where the output stood", async () => {
  const { hop, ask } = calling(LIVE);
  output(hop.bridge, "ready> ");
  hop.flush();
  expect(await ask({ bytes: "ls\xc3\xa9\n" })).toEqual({ type: "written", client: "p", from: 0, to: 5, output: 7 });
  expect(await ask({ bytes: "w\n", at: 5 })).toMatchObject({ type: "written", from: 5, to: 7 });
  const repeated = { type: "written", client: "p", from: 0, to: 7, output: 0, duplicate: true };
  expect(await ask({ bytes: "ls\xc3\xa9\n", at: 0 })).toEqual(repeated);
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("lsé\nw\n");
});

test("H16: only a program writes by calls, one write at a time; each call counts as a use of the session", async () => {
  let calls = 0;
  const { hop, client, ask: called } = calling(LIVE, { ...NO_PROGRAMS, called: () => void calls++ });
  const person = join(hop.session, "a").client;
  hop.flush();
  expect(await ask(hop, person, { bytes: "rm" })).toMatchObject({ type: "unwritten", code: "too_many_writers" });
  hop.server?.receive('{"type":"write","client":"nobody","at":0,"bytes":"rm"}', 0);
  expect(hop.toRelay).toEqual(['{"type":"unwritten","client":"nobody","code":"too_many_writers"}']);
  const { answer } = hop.inner.write(client, { bytes: "ls" });
  expect(() => hop.inner.write(client, { bytes: "twice" })).toThrow("another write");
  hop.flush();
  expect(await answer).toMatchObject({ type: "written", to: 2 });
  expect(await called({ bytes: "x", at: 2 })).toMatchObject({ from: 2 });
  expect([calls, hop.bridge.upstream.of("input").length]).toEqual([4, 2]);
});

test("H16: what the process has taken of a program's input is confirmed at once", async () => {
  const { hop, ask } = calling();
  const settled: number[] = [];
  hop.session.programs.onSettled = (one) => settled.push(hop.session.programs.settledOf(one));
  await ask({ bytes: "abc" });
  takeAll(hop.bridge.session, hop.remote("p"));
  hop.flush();
  expect(settled.at(-1)).toBe(3);
});

test.each([
  ["before", false],
  ["behind", true],
])("H16: a hop that breaks %s the bridge's answer types nothing twice and loses nothing", async (_when, isHeard) => {
  const { hop, client } = calling();
  const told: WriteOutcome[] = [];
  const answer = hop.inner.write(client, { bytes: "once" }).answer.then((outcome) => told.push(outcome));
  if (isHeard) for (const frame of hop.toBridge.splice(0)) hop.server?.receive(frame, 0);
  hop.connect();
  expect(told).toEqual([]);
  hop.flush();
  await answer;
  // The answer is the first one.
  expect(told).toEqual([{ type: "written", client: "p", from: 0, to: 4, output: 0 }]);
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("once");
});

test("K9: what a program types is told to the people that may type, and to nobody else", () => {
  const { hop, client } = calling(LIVE);
  const joined = {
    ann: join(hop.session, "ann", { kind: "person" }),
    viewer: join(hop.session, "viewer", { role: "viewer", kind: "person" }),
    guest: join(hop.session, "guest", { kind: "guest" }),
    plain: join(hop.session, "plain", { acknowledges: false, delivery: "live", kind: "person" }),
  };
  hop.session.programs.recordWrite(client, 0, bytes("ls\n"), "typed");
  // Nor is a call that is repeated told again, or one that ends the input.
  hop.session.programs.recordWrite(client, 0, bytes("no\n"), "resent");
  hop.session.programs.recordWrite(client, 3, bytes(""), "typed");
  const told = Object.entries(joined).map(([name, { peer }]) => [name, peer.of("typed")]);
  expect(Object.fromEntries(told)).toEqual({
    ...{ ann: [{ type: "typed", id: "p", text: "ls⏎" }], viewer: [], guest: [], plain: [] },
  });
});

test("K9, I10: what a program types counts as received and is on record, and a secret is told to nobody", () => {
  let isSecret = false;
  const recorded: string[] = [];
  const recorder: InputRecorder = {
    input: (_client, _received, _offset, piece) => void recorded.push(text(piece)),
    paneInput: () => undefined,
    storedUpTo: () => Number.MAX_SAFE_INTEGER,
    setSecret: () => true,
    isSecret: () => isSecret,
    isBehind: () => false,
  };
  const { session, upstream } = relayRig(LIVE, { recorder });
  const begin = () => session.programs.beginCall({ id: "p", name: "agent", isAdmin: false });
  const client = begin();
  // The program is attached once, whatever it calls.
  expect([begin(), upstream.of("attached").length]).toEqual([client, 1]);
  if (client === undefined) throw new Error("too many programs");
  const { peer } = join(session, "ann");
  session.programs.recordWrite(client, 0, bytes("ls"), "typed");
  isSecret = true;
  session.programs.recordWrite(client, 2, bytes("password"), "typed");
  session.programs.recordWrite(client, 10, bytes(""), "typed");
  expect([client.input.received, recorded]).toEqual([10, ["ls", "password"]]);
  expect(peer.of("typed").map((one) => one.text)).toEqual(["ls"]);
});

test("K2b: a program that has called has had the keyboard: the next driver is not the first", () => {
  const at = relayRig({ ...LIVE, mode: "exclusive" });
  const client = at.session.programs.beginCall({ id: "p", name: "agent", isAdmin: false });
  if (client === undefined) throw new Error("too many programs");
  at.session.programs.endCall(client);
  pass(at, PROGRAM_GRACE_MS);
  join(at.session, "a");
  expect([at.session.keyboard.holder, at.session.creator]).toEqual(["", "p"]);
});

test("of programs that write 64 are known, and one that is known may call again, with other rights, too", () => {
  const { session } = relayRig(LIVE);
  const begin = (id: number, isAdmin = false) => session.programs.beginCall({ id: `p${id}`, name: "", isAdmin });
  const known = Array.from({ length: 64 }, (_, id) => begin(id) !== undefined);
  expect([known.includes(false), begin(64), begin(0)?.isAdmin, begin(0, true)?.isAdmin]).toEqual([
    ...[false, undefined, false, true],
  ]);
});

test("what a program's call has queued counts as received at once", () => {
  const { session } = relayRig();
  const client = session.programs.beginCall({ id: "p", name: "agent", isAdmin: false });
  if (client === undefined) throw new Error("too many programs");
  session.programs.recordWrite(client, 0, bytes("abc"), "typed");
  expect(session.receivedOf("p")).toBe(3);
});

test("a program has its place until 60 s after the last of its calls, also if its rights change between them", () => {
  const at = relayRig(LIVE);
  const begin = (isAdmin: boolean) => at.session.programs.beginCall({ id: "p", name: "agent", isAdmin });
  const phases: unknown[] = [];
  for (const isAdmin of [false, false, true]) begin(isAdmin);
  const client = at.session.client("p");
  if (client === undefined) throw new Error("too many programs");
  for (let left = 3; left > 0; left -= 1) {
    pass(at, PROGRAM_GRACE_MS);
    phases.push(client.presence.phase);
    at.session.programs.endCall(client);
  }
  pass(at, PROGRAM_GRACE_MS - 1);
  phases.push(client.presence.phase);
  pass(at, 1);
  expect([...phases, client.presence.phase]).toEqual([...Array(4).fill("calling"), "absent"]);
});

test("H18: of the ends of commands the newest 1,000 are remembered", () => {
  const { session } = relayRig(LIVE);
  for (let to = 0; to < 1_000; to += 1) session.commandEnded({ to });
  const seen = [session.programs.commandEnds.length];
  session.commandEnded({ to: 1_000 });
  expect([...seen, session.programs.commandEnds.length, session.programs.commandEnds[0]]).toEqual([
    ...[1_000, 1_000, { to: 1 }],
  ]);
});

test("D6: of requests for attention the newest 32 are remembered", () => {
  const { session } = relayRig(LIVE);
  for (let offset = 0; offset <= 32; offset += 1) session.attention({ kind: "bell", offset });
  const offsets = session.programs.attentions.map((one) => one.offset);
  expect([offsets.length, offsets[0], offsets.at(-1)]).toEqual([32, 1, 32]);
});

test("a session is attended by a client that is here, or within its grace, and not by a program", () => {
  const { hop } = calling();
  expect(hop.session.isAttended).toBe(false);
  const { client } = join(hop.session, "a");
  hop.session.stdin(client, bytes("x"));
  const seen = [hop.session.isAttended];
  hop.session.vanish(client);
  seen.push(hop.session.isAttended);
  hop.bridge.clock.ms += RESUME_GRACE_MS;
  hop.session.tick();
  seen.push(hop.session.isAttended);
  expect(seen).toEqual([true, true, false]);
});

test("W3: a repeated call after a restart of the Durable Object is a duplicate, whatever its body", async () => {
  const { hop, ask: first } = calling();
  await first({ bytes: "once", at: 0 });
  const again = hop.restarted().connect().flush();
  const client = program(again);
  expect(client.input.received).toBe(4);
  const repeated = await ask(again, client, { bytes: "other", at: 0 });
  expect(repeated).toMatchObject({ type: "written", duplicate: true, from: 0, to: 4, last: 4 });
  const ahead = await ask(again, client, { bytes: "x", at: 9 });
  expect(ahead).toMatchObject({ type: "unwritten", code: "input_gap", expected: 4 });
  expect(takeAll(again.bridge.session, again.remote("p"))).toBe("once");
});

test("W2: a 65th program is refused, and the first is never forgotten", async () => {
  const { hop, client, ask } = calling();
  const writers = [client, ...Array.from({ length: 63 }, (_, i) => program(hop, `p${i}`))];
  await ask({ bytes: "kept" });
  expect(hop.session.programs.beginCall({ id: "p64", name: "late", isAdmin: false })).toBeUndefined();
  for (const writer of writers) hop.session.programs.endCall(writer);
  hop.bridge.clock.ms += PROGRAM_GRACE_MS + 1;
  for (const { session } of [hop.bridge, hop]) session.tick();
  hop.flush();
  // Others come and go, more than are remembered of clients that left.
  for (let i = 0; i < 300; i += 1) hop.session.leave(join(hop.session, `c${i}`).client);
  hop.flush();
  expect([hop.remote("p").presence.phase, hop.remote("p").input.received]).toEqual(["absent", 4]);
  expect(hop.session.isAttended).toBe(false);
});

test("R3: programs take no places, pace nothing and answer no terminal queries", () => {
  const { hop } = calling(LIVE);
  for (const session of [hop.session, hop.bridge.session])
    expect([session.flowLeader, session.attachedCount, session.answerer.id]).toEqual([undefined, 0, ""]);
});

test("R5: a program that holds the keyboard lapses a minute after its last call", () => {
  const { hop, client } = calling({ ...LIVE, mode: "exclusive" });
  expect(hop.bridge.session.keyboard.holder).toBe("p");
  const wait = (ms: number) => {
    hop.bridge.clock.ms += ms;
    hop.session.tick();
    hop.flush();
    return hop.session.keyboard.holder;
  };
  expect(wait(10 * PROGRAM_GRACE_MS)).toBe("p");
  hop.session.programs.endCall(client);
  expect([wait(PROGRAM_GRACE_MS - 1), wait(1), hop.bridge.session.keyboard.holder]).toEqual(["p", "", ""]);
});

test("W4: who does not hold the keyboard is told who does, and types nothing", async () => {
  const hop = new InnerRig({ ...LIVE, mode: "exclusive" }).connect().flush();
  join(hop.session, "alice");
  const refusal = { type: "unwritten", client: "p", code: "not_stdin_holder", holder: "alice" };
  expect(await ask(hop, program(hop), { bytes: "rm" })).toEqual(refusal);
  expect(hop.remote("p").input.received).toBe(0);
});

test("W4: an end of input is applied once, and what comes behind it is refused", async () => {
  const { hop, ask } = calling();
  expect(await ask({ bytes: "last", eof: true, at: 0 })).toMatchObject({ type: "written", to: 4 });
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("last^D");
  expect(await ask({ eof: true, at: 4 })).toMatchObject({ type: "written", duplicate: true });
  expect(await ask({ bytes: "x", at: 4 })).toMatchObject({ type: "unwritten", code: "stdin_closed" });
  hop.exited({ code: 0 });
  expect(await ask({ bytes: "x", at: 4 })).toMatchObject({ type: "unwritten", code: "exited" });
});

test("W1: keys need a terminal, and a paste with control characters types nothing", async () => {
  const { hop, ask } = calling();
  expect(await ask({ keys: ["C-c"] })).toMatchObject({ type: "unwritten", code: "no_terminal" });
  expect(await ask({ paste: "a\x1bb" })).toMatchObject({ type: "unwritten", code: "bad_paste" });
  expect(await ask({ paste: "a\nb", enter: true })).toMatchObject({ type: "written", from: 0, to: 4 });
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("a\nb\n");
});

test("W1: keys are encoded by the terminal's modes as they are then, also where those are asked for first", async () => {
  const modes = { applicationCursor: true, applicationKeypad: false, newLine: false, bracketedPaste: true };
  const { hop, ask } = calling({ tty: true }, { ...NO_PROGRAMS, modes: () => Promise.resolve(modes) });
  expect(await ask({ keys: ["Up"] })).toMatchObject({ type: "written", modes });
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("\x1bOA");
});

test("W1: up to 256 KiB of a program's input wait for a process that does not read", async () => {
  const { ask } = calling();
  const bytes = "x".repeat(65_536);
  for (let at = 0; at < 262_144; at += 65_536)
    expect(await ask({ bytes, at })).toMatchObject({ type: "written", from: at, to: at + 65_536 });
  expect(await ask({ bytes: "x", at: 262_144 })).toMatchObject({ type: "unwritten", code: "too_much_input" });
});

test("E5: what is typed once by its id is typed once, whatever is said of it again, whole or not at all", async () => {
  const ports = { ...NO_PROGRAMS, writeIds: new WriteIds() };
  const { hop, ask } = calling({}, ports);
  const once = (id: string, hash: string, whole = 3) => ({ id, hash, whole });
  expect(await ask({ bytes: "abc", once: once("1", "x") })).toMatchObject({ type: "written", from: 0, to: 3 });
  expect(await ask({ bytes: "abc", once: once("1", "x") })).toMatchObject({ type: "written", duplicate: true });
  expect(await ask({ bytes: "abd", once: once("1", "y") })).toMatchObject({ type: "unwritten", code: "other_write" });
  expect(await ask({ bytes: "abc", once: once("2", "x") })).toMatchObject({ from: 3, to: 6 });
  const tooMuch = await ask({ bytes: "ghi", once: once("3", "z", 1024 * 1024) });
  expect(tooMuch).toMatchObject({ type: "unwritten", code: "too_much_input" });
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("abcabc");
  // Where nothing waits, it may be longer than what may wait.
  expect(await ask({ bytes: "ghi", once: once("3", "z", 1024 * 1024 + 1) })).toMatchObject({ from: 6, to: 9 });
});

test("H17: a call before the greeting is sent once, behind it", () => {
  const hop = new InnerRig().connect();
  void hop.inner.ask({ about: "commands" });
  expect(hop.toBridge).toEqual([]);
  for (const frame of hop.toRelay.splice(0)) hop.inner.receive(frame, 0);
  expect(hop.toBridge.filter((frame) => String(frame).includes('"ask"'))).toEqual([
    '{"type":"ask","id":1,"about":"commands"}',
  ]);
});

test("H17: an answer that is longer than a frame comes whole", async () => {
  const text = new Uint8Array(MAX_FRAME_BYTES).fill(7);
  const { hop } = calling({}, { ...NO_PROGRAMS, answer: () => text });
  const { answer } = hop.inner.ask({ about: "commands" });
  await settle(hop);
  expect(hop.byes).toEqual([]);
  expect(Buffer.compare((await answer) ?? text.subarray(1), text)).toBe(0);
});

test("H17: an answer has 4 MiB at most, and may be none", async () => {
  const hop = new InnerRig().connect().flush();
  const answered = (bytes: number) => {
    const { answer } = hop.inner.ask({ about: "commands" });
    const id = hop.toBridge.length;
    for (let left = bytes; left > 0; left -= 65_000)
      hop.inner.receive(encodeAnswer(id, new Uint8Array(Math.min(65_000, left))), 0);
    hop.inner.receive(JSON.stringify({ type: "answer", id, ok: bytes > 0 }), 0);
    return answer;
  };
  const all = [4 * 1024 * 1024, 4 * 1024 * 1024 + 1, 1, 0].map(answered);
  const lengths = (await Promise.all(all)).map((answer) => answer?.length);
  expect(lengths).toEqual([4 * 1024 * 1024, undefined, 1, undefined]);
});

test("H17: an answer comes in pieces, is asked for again on a new hop, and has an end", async () => {
  const text = new Uint8Array(150_000).map((_, i) => i % 251);
  const answering = { text };
  const ports = { ...NO_PROGRAMS, answer: () => answering.text, isMarked: true };
  const { hop } = calling({}, ports);
  const { answer } = hop.inner.ask({ about: "commands" });
  for (const frame of hop.toBridge.splice(0)) hop.server?.receive(frame, 0);
  await Promise.resolve();
  // One piece comes through before the hop breaks.
  const [piece] = hop.toRelay;
  if (piece !== undefined) hop.inner.receive(piece, 0);
  hop.connect();
  await settle(hop);
  expect([await answer, hop.inner.isMarked]).toEqual([text, true]);
  answering.text = new Uint8Array(5 * 1024 * 1024);
  const endless = hop.inner.ask({ about: "commands" });
  await settle(hop);
  expect([await endless.answer, hop.byes]).toEqual([undefined, []]);
});

test("N1: attention goes to clients that are here and speak stdio.v1, once", () => {
  const hop = new InnerRig(LIVE).connect().flush();
  const here = [join(hop.session, "a"), join(hop.session, "b", { acknowledges: false })];
  hop.flush();
  const attention = { type: "attention", kind: "notify", title: "done", offset: 3 } as const;
  hop.server?.note(attention);
  hop.flush();
  const late = join(hop.session, "c");
  hop.flush();
  expect([...here, late].map(({ peer }) => peer.of("attention"))).toEqual([[attention], [], []]);
});

test("H16: a write that no hop has carried can be withdrawn and is never typed; one that was sent can't", async () => {
  const { hop, client } = calling();
  hop.cut();
  const first = hop.inner.write(client, { bytes: "one" });
  first.withdraw();
  expect(await first.answer).toEqual({ type: "fault" });
  hop.connect().flush();
  const second = hop.inner.write(client, { bytes: "two" });
  for (const { withdraw } of [first, second]) withdraw();
  await settle(hop);
  expect(await second.answer).toMatchObject({ type: "written", from: 0, to: 3 });
  expect(takeAll(hop.bridge.session, hop.remote("p"))).toBe("two");
});

test("H16, H17: calls that are given up fail at once, and what the bridge answers later counts for nothing", async () => {
  const ports = { ...NO_PROGRAMS, answer: () => bytes("{}") };
  const { hop, client } = calling({}, ports);
  const { answer: typed } = hop.inner.write(client, { bytes: "once" });
  const asked = [hop.inner.ask({ about: "commands" }), hop.inner.ask({ about: "commands" })];
  hop.inner.giveUpCalls();
  expect([await typed, ...(await Promise.all(asked.map(({ answer }) => answer)))]).toEqual([
    ...[{ type: "fault" }, undefined, undefined],
  ]);
  const again = hop.inner.ask({ about: "commands" });
  await settle(hop);
  expect([await again.answer, hop.byes]).toEqual([bytes("{}"), []]);
  // The program may write again, and a new hop repeats nothing of before.
  const next = hop.inner.write(client, { bytes: " more" });
  hop.inner.giveUpCalls();
  expect(await next.answer).toEqual({ type: "fault" });
  hop.connect();
  for (const frame of hop.toRelay.splice(0)) hop.inner.receive(frame, 0);
  expect(hop.toBridge.filter((frame) => /"(write|ask)"/.test(String(frame)))).toEqual([]);
});
