// What an explored run breaks: both hops in each way that loses and tells something else, restarts of each part, delays, and
// the keyboard.

import type { Connection } from "../simulation/network.ts";
import { EPOCH_MS } from "../simulation/party.ts";
import type { Simulation } from "../simulation/simulation.ts";
import type { Calm, Fault } from "./explorer.ts";

const BOTH = [true, false];
const PAIRS = BOTH.flatMap((a) => BOTH.map((b) => [a, b] as const));

type Link = (world: Simulation) => Connection | undefined;

const outer =
  (party: number): Link =>
  (world) =>
    world.parties[party]?.connection;
const inner: Link = (world) => world.relay?.link;

/** Each direction loses all or none of its frames in flight, and each end hears of the cut or does not. */
function cuts(name: string, link: Link): Fault[] {
  return PAIRS.flatMap((loses) =>
    PAIRS.map(([hearA, hearB]) => ({
      name: `cut ${name} loses ${loses.join()} heard ${hearA},${hearB}`,
      isPlain: loses[0] === loses[1] && hearA === hearB,
      apply: (world: Simulation, calm: Calm) => {
        const connection = link(world);
        if (connection === undefined || connection.isOver) return false;
        calm.script = [...loses];
        calm.always = false;
        connection.cut(hearA, hearB);
        return true;
      },
    })),
  );
}

/** So short that another message overtakes it, and longer than any grace. */
function delays(name: string, link: Link): Fault[] {
  return (["a", "b"] as const).flatMap((end) =>
    [7, 45_000].map((ms) => ({
      name: `delay ${name} to ${end} ${ms}`,
      isPlain: ms < 1_000,
      apply: (world: Simulation) => {
        const connection = link(world);
        if (connection === undefined || connection.isOver) return false;
        connection.delay(end, ms);
        return true;
      },
    })),
  );
}

/** The session object's sockets say goodbye, or break unheard. */
const restartsOfRelay: Fault[] = BOTH.map((isTold) => ({
  name: `restart relay told ${isTold}`,
  isPlain: true,
  apply: (world, calm) => {
    calm.always = isTold;
    world.restartRelay();
    return true;
  },
}));

function restartsOfClient(party: number): Fault[] {
  return PAIRS.map(([isEmpty, isConnectionLeft]) => ({
    name: `restart client ${party} empty ${isEmpty} left ${isConnectionLeft}`,
    isPlain: isEmpty !== isConnectionLeft,
    apply: (world, calm) => {
      const one = world.parties[party];
      if (one === undefined || one.isOver || one.client.resumePoint === undefined) return false;
      calm.lives += 1;
      one.restart(isEmpty, isConnectionLeft);
      return true;
    },
  }));
}

/** Far more than a handshake may be held up (R10). */
const JUMP_MS = 600_000;

/** A page is reloaded, and its clock runs on, jumps either way, or says the very instant of the life before: a machine that was restored. */
export function reloads(party: number): Fault[] {
  const clocks: readonly [string, (now: number, before: number) => number][] = [
    ["runs on", (now) => now],
    ["jumps back", (now) => now - JUMP_MS],
    ["jumps ahead", (now) => now + JUMP_MS],
    ["stands still", (_now, before) => before],
  ];
  return clocks.map(([name, clock]) => ({
    name: `reload ${party}, its clock ${name}`,
    isPlain: true,
    apply: (world, calm) => {
      const one = world.parties[party];
      if (one === undefined || one.isOver || one.client.resumePoint === undefined) return false;
      calm.lives += 1;
      one.reload(clock(EPOCH_MS + world.now, one.bornAtMs));
      return true;
    },
  }));
}

export function keyboardMoves(party: number): Fault[] {
  return (["request_stdin", "release_stdin"] as const).map((type) => ({
    name: `${type} ${party}`,
    isPlain: true,
    apply: (world) => {
      const one = world.parties[party];
      if (one === undefined || one.isOver || one.client.state.phase !== "attached") return false;
      one.client.send({ type });
      return true;
    },
  }));
}

export function allFaults(parties: number): Fault[] {
  const each = Array.from({ length: parties }, (_, party) => [
    ...cuts(`outer ${party}`, outer(party)),
    ...delays(`outer ${party}`, outer(party)),
    ...restartsOfClient(party),
  ]);
  return [...each.flat(), ...cuts("inner", inner), ...delays("inner", inner), ...restartsOfRelay];
}
