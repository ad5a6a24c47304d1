// The ends of a shell's commands, as a wait is told of them (T6), from what a bridge says while it runs and after its exit.
import { OutputLog } from "sandbox-stdio/core";
import { Wait, WorkShare } from "sandbox-stdio/programs";
import { expect, test } from "vitest";
import type { WaitOperation } from "../../src/programs/operations/call.ts";
import { lostReached, type Reached } from "../../src/programs/operations/reached.ts";
import { Waiting } from "../../src/programs/operations/wait.ts";
import { CommandSource, type ProcessPorts } from "../../src/programs/operations/wait-sources.ts";

const json = (value: object) => new TextEncoder().encode(JSON.stringify(value));
const BEGUN = "$ \x1b]133;C\x07out\r\n";
const MARK = "\x1b]133;D\x07";

/** What a wait for a command's end comes to at a shell that is gone, whose commands were these. */
async function waited(output: string, commands: readonly object[], { isKept = true } = {}) {
  const log = new OutputLog({ cols: 80, rows: 24 });
  log.append(new TextEncoder().encode(output), 1);
  const facts = { sandbox: "dev", session: "s", incarnation: "i", tty: true, mode: "collaborative", delivery: "live" };
  const record = { facts } as Parameters<typeof lostReached>[0];
  const reached: Reached = { ...lostReached(record, log), state: "exited", exit: { code: 3 } };
  const last = json({ commands, isMarked: true });
  const kept = { screen: undefined, commands: isKept ? last : json({ commands: [], isMarked: false }) };
  const answer = Promise.resolve(isKept ? undefined : last);
  const hop = { ask: () => ({ answer, forget: () => undefined }) } as unknown as ProcessPorts["hop"];
  const source = await CommandSource.of("commandEnd", reached, { hop, kept: () => kept });
  const wait = new Wait({ until: { kind: "commandEnd" }, log, from: 0, timeoutMs: 500, nowMs: 1_000 });
  expect(source?.refusal).toBe(undefined);
  source?.tell(wait);
  wait.exited({ code: 3 });
  return wait.result;
}

test("T6: a command that ended with its shell is no commandEnd: the wait is exited, with the shell's exit", async () => {
  const end = BEGUN.length;
  expect(await waited(BEGUN, [{ from: 9, to: end }])).toEqual({ outcome: "exited", offset: end, exit: { code: 3 } });
});

test("T6: a command whose end the shell has marked is met, also without a code, and after the shell's exit", async () => {
  const met = { outcome: "met", offset: BEGUN.length };
  expect(await waited(BEGUN + MARK, [{ from: 9, to: BEGUN.length }])).toEqual(met);
  const again = { from: 9, to: (BEGUN + MARK + BEGUN).length };
  expect(await waited(BEGUN + MARK + BEGUN, [{ from: 9, to: BEGUN.length, exit: 1 }, again])).toEqual({
    ...met,
    exit: { code: 1 },
  });
});

test("T6: just after the exit the bridge is asked, where what is kept is from before the shell's first mark", async () => {
  const commands = [{ from: 9, to: BEGUN.length, exit: 4 }];
  const met = { outcome: "met", offset: BEGUN.length, exit: { code: 4 } };
  expect(await waited(BEGUN + MARK, commands, { isKept: false })).toEqual(met);
});

test("T6: just after the exit the bridge is asked once for a wait", async () => {
  const log = new OutputLog({ cols: 80, rows: 24 });
  const facts = { sandbox: "dev", session: "s", incarnation: "i", tty: true, mode: "collaborative", delivery: "live" };
  const record = { facts } as Parameters<typeof lostReached>[0];
  const reached: Reached = { ...lostReached(record, log), state: "exited", exit: { code: 3 } };
  let asks = 0;
  const ask = () => {
    asks += 1;
    return { answer: Promise.resolve(json({ commands: [], isMarked: true })), forget: () => undefined };
  };
  const ports = { hop: { ask }, kept: () => ({ screen: undefined, commands: undefined }) } as unknown as ProcessPorts;
  const asked = { type: "wait", until: { commandEnd: true }, from: 0, timeoutMs: 500 } as WaitOperation;
  const share = new WorkShare(
    () => 0,
    () => 1,
  );
  await Waiting.of({ reached, asked, mayType: () => true, isSecret: () => false, ports, share });
  expect(asks).toBe(1);
});
