// A model of one client's stream over both hops: resume (R), acknowledgement (W, I), parking (H20, H21) and incarnations (R4).
// A byte is its number, so that loss, doubling and order show. Frames carry no offsets, as on the wire: each end counts.
//
// Why it holds for streams of any length, by induction over the window. Of output, in every state:
//   dealt <= recv <= cur <= copy.end <= bridge.end, and bridge.acked <= dealt, and bridge.end - bridge.acked <= window < log.
// Each step keeps this. A cut throws away what lies between two neighbours, and moves the right one back to the left: the client
// asks from recv (a later life from dealt), the session object asks from copy.end, and both still hold the bytes, since a log
// keeps more than a window behind its end. The invariant that carries it is bridge.acked <= dealt: an acknowledgement that runs
// ahead of what was processed lets the process overwrite what a later life asks for. Of input it is the mirror image:
//   client.settled <= bridge.taken <= bridge.received <= copy.received <= client.written,
// the client keeps all behind settled, and a receiver drops bytes before its own count.
//
// A client says in `acked` what it has processed when it resumes (R1). One that does not say so has processed all before `offset`.

import type { Model, Step } from "./checker.ts";

/** Each of these may be broken on purpose. */
export const RULES = [
  "what was received and not processed stays in flight",
  "the process waits for the window",
  "duplicates are dropped",
  "input is sent again after a break of the inner hop",
  "input is settled when it is taken",
  "the exit comes after the last byte",
  "a resume names its incarnation",
  "the copy goes on where it ended",
  "the bridge calls an object that has parked",
  "a later word calls the parking off",
] as const;
export type Rule = (typeof RULES)[number];

export type Bounds = {
  readonly output: number;
  readonly input: number;
  readonly window: number;
  /** More than the window: it may be written a byte ahead. */
  readonly log: number;
  /** Cuts, deaths of the session object and restarts of the client, together. */
  readonly faults: number;
  /** Processes that are lost with their container. */
  readonly losses: number;
};

type Message =
  | { readonly t: "attach"; readonly inc: number; readonly at: number }
  | { readonly t: "hello"; readonly inc: number; readonly at: number; readonly taken: number; readonly acked: number }
  | { readonly t: "out" | "in"; readonly byte: number; readonly at: number }
  | { readonly t: "ack" | "settled" | "here" | "park"; readonly at: number }
  | { readonly t: "exit" | "bye" | "parked" };

type Relay = {
  /** -1: it has not been greeted by a bridge. */
  inc: number;
  hop: "down" | "opening" | "up";
  start: number;
  end: number;
  cur: number;
  acked: number;
  taken: number;
  waiting: number[];
  /** Where the connection's input goes on. */
  inputAt: number;
  isAttached: boolean;
  attempt: { inc: number; at: number } | null;
  hasExited: boolean;
  hasTold: boolean;
  isParked: boolean;
  /** Whether nothing was said to the bridge since it was told that the object is about to go. */
  isParkLast: boolean;
};

export type State = {
  client: {
    inc: number;
    recv: number;
    dealt: number;
    written: number;
    settled: number;
    isConnected: boolean;
    isGreeted: boolean;
    end: "" | "exit" | "lost";
  };
  relay: Relay | null;
  bridge: {
    inc: number;
    end: number;
    acked: number;
    taken: number;
    waiting: number[];
    cur: number;
    hasHop: boolean;
    hasExited: boolean;
    hasTold: boolean;
    parkedAt: number;
  };
  toRelay: Message[];
  toClient: Message[];
  toBridge: Message[];
  fromBridge: Message[];
  faults: number;
  losses: number;
  broken: string;
};

const BRIDGE: State["bridge"] = {
  ...{ inc: 0, end: 0, acked: 0, taken: 0, waiting: [], cur: 0 },
  ...{ hasHop: false, hasExited: false, hasTold: false, parkedAt: -1 },
};

const RELAY: Relay = {
  ...{ inc: -1, hop: "down", start: 0, end: 0, cur: 0, acked: 0, taken: 0, waiting: [], inputAt: 0 },
  ...{ isAttached: false, attempt: null, hasExited: false, hasTold: false, isParked: false },
  isParkLast: false,
};

export function streamModel(bounds: Bounds, brokenRule?: Rule): Model<State> {
  const holds = (rule: Rule) => rule !== brokenRule;
  const start: State = {
    client: {
      ...{ inc: -1, recv: 0, dealt: 0, written: 0, settled: 0 },
      ...{ isConnected: false, isGreeted: false, end: "" },
    },
    relay: null,
    bridge: BRIDGE,
    ...{ toRelay: [], toClient: [], toBridge: [], fromBridge: [] },
    ...{ faults: bounds.faults, losses: bounds.losses, broken: "" },
  };
  const turns = turnsOf(bounds, holds);
  return {
    start,
    broken: (state) => (state.broken === "" ? brokenIn(state, bounds) : state.broken),
    isGoal: ({ client }) => client.end !== "",
    steps: (state) => {
      const steps: Step<State>[] = [];
      if (state.client.end !== "") return steps;
      for (const { name, isFault = false, may, turn } of turns) {
        if (!may(state)) continue;
        const to = copyOf(state);
        turn(to);
        steps.push({ name, isFault, to });
      }
      return steps;
    },
  };
}

/** Copies all that a turn may change. Messages and attempts are shared: no turn changes one. */
function copyOf(state: State): State {
  const { client, relay, bridge } = state;
  return {
    ...state,
    client: { ...client },
    relay: relay === null ? null : { ...relay, waiting: [...relay.waiting] },
    bridge: { ...bridge, waiting: [...bridge.waiting] },
    toRelay: [...state.toRelay],
    toClient: [...state.toClient],
    toBridge: [...state.toBridge],
    fromBridge: [...state.fromBridge],
  };
}

function brokenIn({ client, bridge }: State, bounds: Bounds): string | undefined {
  const isOwn = client.inc === bridge.inc;
  if (isOwn && client.settled > bridge.taken) return "input is settled that was not taken";
  if (client.end === "exit" && isOwn && client.recv !== bounds.output) return "the exit came before the last byte";
  return isOwn && client.recv > bridge.end ? "output that was never written" : undefined;
}

type Turn = {
  readonly name: string;
  readonly isFault?: boolean;
  may(state: State): boolean;
  turn(state: State): void;
};

function turnsOf(bounds: Bounds, holds: (rule: Rule) => boolean): Turn[] {
  return [...clientTurns(bounds), ...relayTurns(bounds, holds), ...bridgeTurns(bounds, holds), ...faultTurns()];
}

// ---- The client --------------------------------------------------------------------------------------------------------

function clientTurns(bounds: Bounds): Turn[] {
  return [
    {
      name: "the client connects",
      may: ({ client }) => !client.isConnected,
      turn: ({ client, toRelay }) => {
        client.isConnected = true;
        toRelay.push({ t: "attach", inc: client.inc, at: client.recv });
      },
    },
    {
      name: "the client types",
      may: ({ client }) => client.written < bounds.input,
      turn: ({ client, toRelay }) => {
        if (client.isGreeted) toRelay.push({ t: "in", byte: client.written, at: 0 });
        client.written += 1;
      },
    },
    {
      name: "the client processes a byte",
      may: ({ client }) => client.dealt < client.recv,
      turn: ({ client, toRelay }) => {
        client.dealt += 1;
        if (client.isGreeted) toRelay.push({ t: "ack", at: client.dealt });
      },
    },
    {
      name: "the client hears",
      may: ({ toClient }) => toClient.length > 0,
      turn: (state) => {
        const message = state.toClient.shift();
        if (message !== undefined) clientHears(state, message);
      },
    },
  ];
}

function clientHears(state: State, message: Message): void {
  const { client, toRelay } = state;
  switch (message.t) {
    case "hello":
      if (message.at !== client.recv) state.broken = "output is lost";
      client.inc = message.inc;
      client.isGreeted = true;
      client.settled = Math.max(client.settled, message.taken);
      if (client.dealt > 0) toRelay.push({ t: "ack", at: client.dealt });
      for (let byte = message.taken; byte < client.written; byte += 1) toRelay.push({ t: "in", byte, at: 0 });
      return;
    case "out":
      if (message.byte !== client.recv)
        state.broken = message.byte > client.recv ? "output is lost" : "output is doubled";
      client.recv += 1;
      return;
    case "settled":
      client.settled = Math.max(client.settled, message.at);
      return;
    case "exit":
    case "bye":
      client.end = message.t === "exit" ? "exit" : "lost";
      if (client.end === "lost" && state.bridge.inc === client.inc)
        state.broken = "a process that lives is called lost";
  }
}

// ---- The session object ------------------------------------------------------------------------------------------------

function relayTurns(bounds: Bounds, holds: (rule: Rule) => boolean): Turn[] {
  return [
    {
      name: "the object hears the client",
      may: ({ toRelay }) => toRelay.length > 0,
      turn: (state) => {
        const message = state.toRelay.shift();
        // Nothing counts on a connection after its goodbye.
        if (state.relay === null && message?.t !== "attach") return;
        state.relay ??= { ...RELAY, waiting: [] };
        state.relay.isParked = false;
        if (message !== undefined) relayHears(state, state.relay, message, holds);
      },
    },
    {
      name: "the object opens the inner hop",
      may: ({ relay }) => {
        if (relay === null || relay.hop !== "down" || relay.isParked) return false;
        return !relay.hasExited && (relay.isAttached || relay.attempt !== null || relay.inc >= 0);
      },
      turn: ({ relay, bridge, fromBridge }) => {
        if (relay === null) return;
        relay.hop = "opening";
        bridge.hasHop = true;
        bridge.parkedAt = -1;
        bridge.hasTold = false;
        const asked = relay.inc === bridge.inc && holds("the copy goes on where it ended") ? relay.end : 0;
        bridge.cur = Math.max(asked, bridge.end - bounds.log);
        const { inc, taken, acked } = bridge;
        fromBridge.push({ t: "hello", inc, at: bridge.cur, taken, acked });
      },
    },
    {
      name: "the object hears the bridge",
      may: ({ fromBridge, relay }) => fromBridge.length > 0 && relay !== null,
      turn: (state) => {
        const message = state.fromBridge.shift();
        if (message !== undefined && state.relay !== null) relayHearsBridge(state, state.relay, message, holds);
      },
    },
    {
      name: "the object sends a byte",
      may: ({ relay }) =>
        relay?.isAttached === true && relay.cur < relay.end && relay.cur - relay.acked < bounds.window,
      turn: ({ relay, toClient }) => {
        if (relay === null) return;
        toClient.push({ t: "out", byte: relay.cur, at: 0 });
        relay.cur += 1;
      },
    },
    {
      name: "the object tells the exit",
      may: ({ relay }) => {
        if (relay === null || !relay.isAttached || !relay.hasExited || relay.hasTold) return false;
        return relay.cur === relay.end || !holds("the exit comes after the last byte");
      },
      turn: ({ relay, toClient }) => {
        if (relay === null) return;
        relay.hasTold = true;
        toClient.push({ t: "exit" });
      },
    },
    {
      name: "the object is about to go",
      may: (state) => {
        const isAsked = [...state.toBridge, ...state.fromBridge].some(({ t }) => t === "park" || t === "parked");
        return state.relay !== null && isQuiet(state, state.relay) && !isAsked;
      },
      turn: (state) => {
        if (state.relay !== null) say(state, state.relay, { t: "park", at: state.relay.end });
      },
    },
  ];
}

function isQuiet({ client }: State, relay: Relay): boolean {
  const isAtRest = relay.cur === relay.end && relay.acked === relay.cur && relay.waiting.length === 0;
  return client.isGreeted && relay.isAttached && relay.hop === "up" && isAtRest && !relay.hasExited;
}

function relayHears(state: State, relay: Relay, message: Message, holds: (rule: Rule) => boolean): void {
  switch (message.t) {
    case "attach":
      relay.attempt = { inc: message.inc, at: message.at };
      relay.isAttached = false;
      if (relay.inc >= 0) greet(state, relay, holds);
      return;
    case "in": {
      const at = relay.inputAt;
      relay.inputAt += 1;
      const received = relay.taken + relay.waiting.length;
      if (at < received && holds("duplicates are dropped")) return;
      relay.waiting.push(message.byte);
      if (relay.hop === "up") say(state, relay, { t: "in", byte: message.byte, at: received });
      if (!holds("input is settled when it is taken")) state.toClient.push({ t: "settled", at: received + 1 });
      return;
    }
    case "ack":
      relay.acked = Math.max(relay.acked, message.at);
      if (relay.hop === "up") say(state, relay, { t: "ack", at: relay.acked });
  }
}

/** The client's attempt is answered. */
function greet(state: State, relay: Relay, holds: (rule: Rule) => boolean): void {
  const { attempt } = relay;
  if (attempt === null) return;
  relay.attempt = null;
  if (attempt.inc >= 0 && attempt.inc !== relay.inc && holds("a resume names its incarnation")) {
    state.toClient.push({ t: "bye" });
    return;
  }
  relay.isAttached = true;
  relay.hasTold = false;
  relay.cur = Math.max(attempt.at, relay.start);
  const isKept = holds("what was received and not processed stays in flight");
  relay.acked = isKept ? Math.min(relay.acked, relay.cur) : relay.cur;
  relay.inputAt = relay.taken;
  const { inc, cur: at, taken, acked } = relay;
  state.toClient.push({ t: "hello", inc, at, taken, acked });
  if (relay.hop === "up") say(state, relay, { t: "here", at: acked });
}

function relayHearsBridge(state: State, relay: Relay, message: Message, holds: (rule: Rule) => boolean): void {
  switch (message.t) {
    case "hello":
      hopIsUp(state, relay, message, holds);
      return;
    case "out":
      if (message.byte !== relay.end) state.broken = "the copy of the log is not the log";
      relay.end += 1;
      return;
    case "settled":
      settle(state, relay, message.at);
      return;
    case "exit":
      relay.hasExited = true;
      return;
    case "parked": {
      if (!isQuiet(state, relay) || (!relay.isParkLast && holds("a later word calls the parking off"))) return;
      // Only stored state survives: no byte of the log, and no input.
      Object.assign(relay, { isParked: true, hop: "down", start: relay.end, waiting: [] });
      state.bridge.hasHop = false;
      Object.assign(state, { toBridge: [], fromBridge: [] });
    }
  }
}

function hopIsUp(
  state: State,
  relay: Relay,
  hello: Extract<Message, { t: "hello" }>,
  holds: (rule: Rule) => boolean,
): void {
  relay.hop = "up";
  if (relay.inc >= 0 && relay.inc !== hello.inc) {
    if (relay.isAttached || relay.attempt !== null) state.toClient.push({ t: "bye" });
    state.relay = null;
    Object.assign(state, { toBridge: [], fromBridge: [] });
    state.bridge.hasHop = false;
    return;
  }
  if (relay.inc < 0) {
    const { inc, at, taken, acked } = hello;
    Object.assign(relay, { inc, start: at, end: at, cur: at, taken, acked, inputAt: taken });
  }
  if (hello.at > relay.end) {
    // What the copy lacks may be gone, if its client has it.
    if (relay.isAttached && relay.cur < hello.at) state.broken = "output is lost";
    Object.assign(relay, { start: hello.at, end: hello.at });
  }
  settle(state, relay, hello.taken);
  if (relay.isAttached) say(state, relay, { t: "here", at: relay.acked });
  if (holds("input is sent again after a break of the inner hop")) {
    for (const [i, byte] of relay.waiting.entries()) say(state, relay, { t: "in", byte, at: relay.taken + i });
  }
  greet(state, relay, holds);
}

function say({ toBridge }: State, relay: Relay, message: Message): void {
  relay.isParkLast = message.t === "park";
  toBridge.push(message);
}

function settle({ toClient }: State, relay: Relay, taken: number): void {
  if (taken <= relay.taken) return;
  relay.waiting.splice(0, taken - relay.taken);
  relay.taken = taken;
  if (relay.isAttached) toClient.push({ t: "settled", at: taken });
}

// ---- The bridge and its process ----------------------------------------------------------------------------------------

function bridgeTurns(bounds: Bounds, holds: (rule: Rule) => boolean): Turn[] {
  return [
    {
      name: "the process writes",
      may: ({ bridge }) => {
        const isHeld = bridge.end - bridge.acked >= bounds.window && holds("the process waits for the window");
        return bridge.end < bounds.output && !isHeld;
      },
      turn: ({ bridge }) => {
        bridge.end += 1;
      },
    },
    {
      name: "the process reads",
      may: ({ bridge }) => bridge.waiting.length > 0,
      turn: (state) => {
        const { bridge } = state;
        const byte = bridge.waiting.shift() ?? 0;
        if (byte !== bridge.taken) state.broken = byte > bridge.taken ? "input is lost" : "input is doubled";
        bridge.taken += 1;
        if (bridge.hasHop) state.fromBridge.push({ t: "settled", at: bridge.taken });
      },
    },
    {
      name: "the process exits",
      may: ({ bridge }) => !bridge.hasExited && bridge.end === bounds.output && bridge.taken === bounds.input,
      turn: ({ bridge }) => {
        bridge.hasExited = true;
      },
    },
    {
      name: "the bridge sends a byte",
      may: ({ bridge }) => bridge.hasHop && bridge.cur < bridge.end,
      turn: ({ bridge, fromBridge }) => {
        fromBridge.push({ t: "out", byte: bridge.cur, at: 0 });
        bridge.cur += 1;
      },
    },
    {
      name: "the bridge tells the exit",
      may: ({ bridge }) => bridge.hasHop && bridge.hasExited && !bridge.hasTold && bridge.cur === bridge.end,
      turn: ({ bridge, fromBridge }) => {
        bridge.hasTold = true;
        fromBridge.push({ t: "exit" });
      },
    },
    {
      name: "the bridge hears",
      may: ({ toBridge }) => toBridge.length > 0,
      turn: (state) => {
        const message = state.toBridge.shift();
        if (message !== undefined) bridgeHears(state, message, holds);
      },
    },
    {
      name: "the bridge calls",
      may: ({ bridge, relay }) => {
        if (relay?.isParked !== true) return false;
        // The platform tells that a bridge has gone.
        const isNews = bridge.parkedAt >= 0 && (bridge.hasExited || bridge.end > bridge.parkedAt);
        return (isNews || bridge.inc !== relay.inc) && holds("the bridge calls an object that has parked");
      },
      turn: ({ relay }) => {
        if (relay !== null) relay.isParked = false;
      },
    },
  ];
}

function bridgeHears(state: State, message: Message, holds: (rule: Rule) => boolean): void {
  const { bridge } = state;
  bridge.parkedAt = -1;
  switch (message.t) {
    case "here":
      bridge.acked = message.at;
      return;
    case "ack":
      bridge.acked = Math.max(bridge.acked, message.at);
      return;
    case "in": {
      const received = bridge.taken + bridge.waiting.length;
      if (message.at < received && holds("duplicates are dropped")) return;
      if (message.at > received) state.broken = "input is lost on the inner hop";
      bridge.waiting.push(message.byte);
      return;
    }
    case "park":
      bridge.parkedAt = message.at;
      state.fromBridge.push({ t: "parked" });
  }
}

// ---- Faults ------------------------------------------------------------------------------------------------------------

/** What was on its way is lost. Messages that arrive before a cut are steps of their own, so each prefix may have arrived. */
function cutOuter({ client, relay, toRelay, toClient }: State): void {
  Object.assign(client, { isConnected: false, isGreeted: false });
  if (relay !== null) Object.assign(relay, { isAttached: false, attempt: null });
  toRelay.length = 0;
  toClient.length = 0;
}

function cutInner({ relay, bridge, toBridge, fromBridge }: State): void {
  if (relay !== null) relay.hop = "down";
  bridge.hasHop = false;
  toBridge.length = 0;
  fromBridge.length = 0;
}

function faultTurns(): Turn[] {
  const fault = (name: string, may: (state: State) => boolean, turn: (state: State) => void): Turn => ({
    name,
    isFault: true,
    may: (state) => state.faults > 0 && may(state),
    turn: (state) => {
      state.faults -= 1;
      turn(state);
    },
  });
  return [
    fault("the outer hop breaks", ({ client }) => client.isConnected, cutOuter),
    fault("the inner hop breaks", ({ bridge }) => bridge.hasHop, cutInner),
    fault(
      "the object dies",
      ({ relay }) => relay !== null,
      (state) => {
        cutOuter(state);
        cutInner(state);
        state.relay = null;
      },
    ),
    fault(
      "the client's program dies",
      ({ client }) => client.inc >= 0,
      (state) => {
        cutOuter(state);
        state.client.recv = state.client.dealt;
      },
    ),
    {
      name: "the process is lost",
      isFault: true,
      may: ({ losses }) => losses > 0,
      turn: (state) => {
        state.losses -= 1;
        cutInner(state);
        state.bridge = { ...BRIDGE, waiting: [], inc: state.bridge.inc + 1 };
      },
    },
  ];
}
