// What every run is held to, while it goes on and at its end.

import { MAX_UNACKED_INPUT_BYTES } from "../../src/index.ts";
import { Window } from "../../src/output/window.ts";
import type { SessionCore } from "../../src/session/session-core.ts";
import type { SimBridge } from "./bridge.ts";
import type { Party } from "./party.ts";
import { inputByte } from "./pattern.ts";
import type { Plan } from "./plan.ts";
import type { RecordWitness } from "./recorder.ts";

type Ended = {
  readonly plan: Plan;
  readonly bridge: SimBridge;
  readonly parties: readonly Party[];
  readonly witness: RecordWitness | undefined;
};

/** How much of its input the process has taken. */
export function takenOf(bridge: SimBridge, party: Party): number {
  return bridge.process.taken[party.plan.who] ?? 0;
}

/** What is kept for its clients, and is on its way to them, stays within its limits. @throws {Error} What does not. */
export function checkBounds(session: SessionCore, plan: Plan): void {
  for (const client of session.clients) {
    const queued = client.input.queuedBytes;
    // Twice: what waits of an earlier life, and what this one may send (L4, I3b).
    const window = plan.keeps ?? MAX_UNACKED_INPUT_BYTES;
    if (queued > 2 * window + 64 * 1024) throw new Error(`${queued} bytes of input wait for ${client.id}`);
    if (client.input.entries.length > 4096) throw new Error(`${client.input.entries.length} entries of input wait`);
    if (client.greeted === undefined) continue;
    const { flow, cursor } = client.greeted.reader;
    const inFlight = flow instanceof Window ? flow.inFlight(cursor) : 0;
    if (inFlight > 512 * 1024) throw new Error(`${inFlight} bytes in flight to ${client.id}`);
  }
}

/** Nothing was lost, doubled or left unsaid. @throws {Error} What was. */
export function checkEnd({ plan, bridge, parties, witness }: Ended): void {
  const { process, log } = bridge;
  const total = log.endOffset;
  if (total !== plan.process.outputBytes) throw new Error(`process wrote ${total} of ${plan.process.outputBytes}`);
  const isAlone = plan.parties.length === 1 && plan.plainCount === 0;
  for (const party of parties) {
    const name = `${party.plan.role} ${party.plan.who}`;
    for (const id of new Set(party.ids)) witness?.check(id, (at) => inputByte(party.plan.who, at));
    if (party.hasLeft) continue;
    if (JSON.stringify(party.exit) !== JSON.stringify(plan.process.exit)) {
      throw new Error(`${name} was told ${JSON.stringify(party.exit)}, not ${JSON.stringify(plan.process.exit)}`);
    }
    if (party.position !== total) throw new Error(`${name} had ${party.position} of ${total} bytes at the exit`);
    const wasKept = party.plan.delivery === "lossless" && party.plan.role === "driver";
    const isExcused = party.ids.some((id) => bridge.departed.has(id)) && !isAlone;
    for (const gap of party.gaps) {
      if (wasKept && !isExcused && !gap.isReplay) {
        throw new Error(`${name} lost output without cause, from ${gap.from} to ${gap.to}`);
      }
    }
    if (!plan.process.waitsForEof) continue;
    checkInput(plan, party, takenOf(bridge, party));
    const mayBeRefused = plan.mode === "exclusive" || party.plan.role === "viewer";
    // What was taken is not stored with the log of a process that has ended.
    const mayBeForgotten = plan.faults.includes("restart_relay");
    if (!mayBeRefused && !mayBeForgotten && party.client.unackedInput > 0) {
      throw new Error(`${name} was not told of ${party.client.unackedInput} bytes`);
    }
  }
  // A life whose input was lost with the one before it ends what it can't know of, and the next one ends it once more.
  const ender = parties.find((party) => party.plan.role === "driver");
  const early = process.eofsAt.slice(0, -1).filter((taken) => {
    return ender?.mayHaveLost(taken[ender.plan.who] ?? 0, ender.plan.inputBytes) !== true;
  });
  if (plan.process.waitsForEof && (process.eofs === 0 || early.length > 0)) {
    throw new Error(`input ended ${process.eofs} times`);
  }
  for (const taken of process.eofsAt) {
    for (const party of parties) checkInput(plan, party, taken[party.plan.who] ?? 0);
  }
}

function checkInput(plan: Plan, party: Party, taken: number): void {
  if (plan.mode === "exclusive" || party.plan.role === "viewer") return;
  const { inputBytes, who } = party.plan;
  if (taken === inputBytes || party.mayHaveLost(taken, inputBytes)) return;
  throw new Error(`process took ${taken} of ${inputBytes} bytes of driver ${who}`);
}
