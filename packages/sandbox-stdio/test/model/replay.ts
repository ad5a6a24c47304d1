// What a run of the simulation did, replayed in the model: after each step of the client's program and of the process, which states
// can the model be in? None: the model does not allow the step. Steps between, on both hops, are the model's own to choose.

import type { Model } from "./checker.ts";
import { type State, streamModel } from "./stream.ts";

/** Internal steps of the model, which leave no trace outside. */
const HIDDEN = new Set([
  ...["the object hears the client", "the object opens the inner hop", "the object hears the bridge"],
  ...["the object sends a byte", "the object tells the exit", "the bridge sends a byte", "the bridge tells the exit"],
  ...["the bridge hears", "the inner hop breaks", "the object dies"],
]);
const PROCESS = ["the process writes", "the process reads", "the process exits"];
/** A budget of faults that a run never spends: its trace does not count them. */
const MANY = 1_000;
const PARKING = ["the object is about to go", "the bridge calls"];
const HEARS = "the client hears";
const BREAKS = "the outer hop breaks";

type States = Map<string, State>;

export type Traced = {
  readonly output: number;
  readonly input: number;
  /** How far the process may be ahead. Absent: as far as it likes. */
  readonly window?: number;
  readonly log?: number;
  readonly isParked?: boolean;
  /** Whether only the client was watched: what the process did, and how often other parts broke, is not known. */
  readonly isHalfSeen?: boolean;
};

/** A trace of bytes as one of units of so many, each of which is written, heard or processed with its last byte. Its input stays. */
export function inUnits(trace: readonly string[], unit: number): string[] {
  return trace.flatMap((step) => {
    const [what = "", at] = step.split(" ");
    const number = Number(at);
    if (what === "greeted") return [`greeted ${Math.floor(number / unit)}`];
    if (!["writes", "hears", "processes"].includes(what) || at === "exit") return [step];
    return (number + 1) % unit === 0 ? [`${what} ${(number + 1) / unit - 1}`] : [];
  });
}

/** @param hidden How many breaks of the inner hop and deaths of the object there may have been. @throws {Error} The step that is not allowed. */
export function replay(trace: readonly string[], traced: Traced, hidden: number): void {
  const { output, input, window = output + 1, log = output + 2, isParked = false, isHalfSeen = false } = traced;
  const own = new Set([...HIDDEN, ...(isParked ? PARKING : []), ...(isHalfSeen ? PROCESS : [])]);
  // A connection that is made anew, and a program that is, break the outer hop first.
  let visible = trace.filter((step) => step === "connects" || step === "dies").length;
  const bounds = { output, input, window, log, faults: isHalfSeen ? MANY : visible + hidden, losses: 0 };
  const model = streamModel(bounds);
  let states: States = new Map([[JSON.stringify(model.start), model.start]]);
  for (const [i, step] of trace.entries()) {
    if (step === "connects" || step === "dies") visible -= 1;
    states = after(model, closure(model, states, isHalfSeen ? MANY : visible, own), step);
    if (states.size === 0) {
      const before = trace.slice(Math.max(0, i - 8), i).join(", ");
      throw new Error(`the model does not allow: ${step}; before it: ${before}`);
    }
  }
}

/** All states that the model's own steps lead to. */
function closure(model: Model<State>, states: States, faultsToCome: number, own: ReadonlySet<string>): States {
  const all: States = new Map(states);
  for (const state of all.values()) {
    for (const { name, to } of model.steps(state)) {
      const isOwn = own.has(name) || (name === HEARS && state.toClient[0]?.t === "settled");
      if (faultsToCome === MANY) to.faults = MANY;
      if (!isOwn || to.faults < faultsToCome || model.broken(to) !== undefined) continue;
      const key = JSON.stringify(to);
      if (!all.has(key)) all.set(key, to);
    }
  }
  return all;
}

/** The states after a step that was seen. */
function after(model: Model<State>, states: States, seen: string): States {
  const next: States = new Map();
  for (const state of states.values()) {
    for (const to of follow(model, state, seen)) {
      if (state.faults === MANY) to.faults = MANY;
      if (model.broken(to) === undefined) next.set(JSON.stringify(to), to);
    }
  }
  return next;
}

function follow(model: Model<State>, state: State, seen: string): State[] {
  const [what = "", at = ""] = seen.split(" ");
  const number = Number(at);
  const { client, bridge, toClient } = state;
  const by = (name: string, from = state) =>
    model
      .steps(from)
      .filter((step) => step.name === name)
      .map(({ to }) => to);
  const [first] = toClient;
  switch (what) {
    case "connects": {
      const before = client.isConnected ? by(BREAKS) : [state];
      return before.flatMap((one) => by("the client connects", one));
    }
    case "dies":
      return by("the client's program dies");
    case "types":
      // A life that writes again what was kept says nothing new.
      return number < client.written ? [state] : by("the client types");
    case "processes":
      return number < client.dealt ? [state] : by("the client processes a byte");
    case "greeted":
      return first?.t === "hello" && first.at === number ? by(HEARS) : [];
    case "settled":
      return client.settled >= number ? [state] : [];
    case "hears":
      if (at === "exit") return first?.t === "exit" ? by(HEARS) : [];
      return first?.t === "out" && first.byte === number ? by(HEARS) : [];
    case "writes":
      return bridge.end === number ? by("the process writes") : [];
    case "reads":
      return bridge.waiting[0] === number ? by("the process reads") : [];
    case "exits":
      return by("the process exits");
    default:
      throw new Error(`The model has no step for ${seen}`);
  }
}
