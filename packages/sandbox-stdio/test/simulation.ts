// The whole system in virtual time: clients, links that break, a Durable Object that dies, a bridge and its process. A seed
// makes the plan, the plan makes the run, and every run is held to what the protocol promises. No sockets, no clocks.

import { Random } from "../../local/src/random.ts";
import {
  type AttachRequest,
  type Attempt,
  type BudgetLimits,
  DEFAULT_BUDGET,
  type Delivery,
  MAX_KEPT_INPUT_BYTES,
  MAX_UNACKED_INPUT_BYTES,
  type Mode,
  PLAIN,
  parseAttachQuery,
  ServerConnection,
  type ServerSocket,
  type SessionCore,
  type SessionFacts,
  STDIO,
  Window,
} from "../src/index.ts";
import { copied, type ProcessPlan, type ScreenPlan, SimBridge, type Written } from "./simulation/bridge.ts";
import { type Chance, Connection, type LinkProfile, type Socket } from "./simulation/network.ts";
import { type Dial, Party, type PartyPlan } from "./simulation/party.ts";
import { inputByte } from "./simulation/pattern.ts";
import { PlainParty } from "./simulation/plain-party.ts";
import { RecordWitness } from "./simulation/recorder.ts";
import { SimRelay, type Store } from "./simulation/relay.ts";
import { Scheduler } from "./simulation/scheduler.ts";

export type Fault =
  | "cut_outer"
  | "cut_inner"
  | "restart_relay"
  | "restart_client"
  | "stall"
  | "resize"
  | "keyboard"
  | "viewer_leaves";

const FAULTS: readonly Fault[] = [
  "cut_outer",
  "cut_inner",
  "restart_relay",
  "restart_client",
  "stall",
  "resize",
  "keyboard",
  "viewer_leaves",
];

export type Plan = {
  readonly seed: number;
  /** How much input the first client on pipes keeps, if it says so (I3b). */
  readonly keeps: number | undefined;
  /** 1: clients speak to the bridge itself. 2: through a Durable Object. */
  readonly hops: 1 | 2;
  readonly process: ProcessPlan;
  readonly screen: ScreenPlan;
  readonly mode: Mode;
  readonly delivery: Delivery;
  readonly parties: readonly PartyPlan[];
  readonly plainCount: number;
  readonly outer: LinkProfile;
  readonly inner: LinkProfile;
  readonly logBytes: number;
  /** Faults come until then. */
  readonly faultsUntilMs: number;
  readonly meanFaultMs: number;
  readonly faults: readonly Fault[];
  /** How often an end does not hear that its connection is gone. */
  readonly deafness: number;
  /** Whether the first driver comes as late as the others do. */
  readonly isFirstLate: boolean;
  /** Whether the Durable Object keeps a record of input, and acknowledges only what is in it. */
  readonly isRecorded: boolean;
  /** After so long without anything the Durable Object is parked; absent: never. */
  readonly parkMs?: number;
};

export type Outcome = {
  readonly events: number;
  readonly virtualMs: number;
  readonly faults: number;
  readonly attaches: number;
  readonly heldTurns: number;
  readonly gapBytes: number;
  /** Snapshots that clients drew, and how often they went on without an exact one. */
  readonly snapshots: number;
  readonly approximations: number;
  /** How often the Durable Object was parked, and its memory taken then. */
  readonly parkings: number;
  readonly evictions: number;
};

/** Those who behave stay far within what they have (L10): a tenth of it does. */
const BUDGET: BudgetLimits = { ...DEFAULT_BUDGET, messagesPerSecond: 20, messageBurst: 200 };

/** After the last fault everything must have come to its end within this: two silences, a grace, a backoff, the work. */
const LIVENESS_MS = 400_000;
const SIGNALLED = [
  { code: 143, signal: "SIGTERM" },
  { code: 137, signal: "SIGKILL" },
] as const;

/** What a seed stands for. `overrides` narrow it down. */
export function planOf(seed: number, overrides: Partial<Plan> = {}): Plan {
  const random = new Random(seed);
  // Apart from the rest: seeds that are known by number stay what they were.
  const screens = new Random(seed ^ 0x5c4ee);
  const tty = random.chance(0.4);
  const isLive = random.chance(tty ? 0.9 : 0.1);
  const delivery: Delivery = isLive ? "live" : "lossless";
  const isLarge = random.chance(0.1);
  const driverCount = random.pick([1, 1, 1, 1, 2, 2, 3]);
  const viewerCount = random.pick([0, 0, 0, 1, 2]);
  const faultsUntilMs = random.scale(2_000, 120_000);
  /** How long the work is to take: faults that come after it find nothing to break. */
  const workMs = faultsUntilMs * random.pick([0.05, 0.5, 1]);
  const link = (): LinkProfile => ({
    latencyMs: random.pick([0, 1, 5, 50, 100]),
    jitterMs: random.pick([0, 2, 30]),
    bytesPerMs: random.scale(100, 100_000),
  });
  const keeps = seed % 2 === 0 ? MAX_KEPT_INPUT_BYTES : undefined;
  const mostInput = keeps === undefined ? 600_000 : 3_000_000;
  const parties: PartyPlan[] = [];
  for (let i = 0; i < driverCount + viewerCount; i += 1) {
    const role = i < driverCount ? "driver" : "viewer";
    const inputBytes = role === "viewer" ? random.pick([0, 500]) : random.scale(1, isLarge ? mostInput : 60_000);
    const pieceBytes = Math.min(100_000, Math.ceil(inputBytes / random.scale(1, 60)));
    parties.push({
      who: i % 4,
      role,
      delivery: role === "viewer" || random.chance(0.15) ? "live" : delivery,
      inputBytes,
      pieceBytes,
      pauseMs: (workMs * random.pick([0, 0, 0.5, 1]) * pieceBytes) / Math.max(1, inputBytes),
      dealMs: random.pick([0, 5, 40, 300]),
    });
  }
  const outputBytes = random.chance(0.05) ? 0 : random.scale(1, isLarge ? 3_000_000 : 400_000);
  const turns = random.scale(10, 150);
  const input = parties.reduce((sum, party) => sum + party.inputBytes, 0);
  return {
    seed,
    keeps,
    hops: random.chance(0.8) ? 2 : 1,
    process: {
      tty,
      outputBytes,
      chunkBytes: Math.ceil((2 * outputBytes) / turns),
      sleepMs: (workMs * random.pick([0.1, 1, 1])) / turns,
      readBytes: Math.ceil((input / turns) * random.pick([2, 10, 1_000])),
      pipeBytes: Math.max(Math.ceil((2 * input) / turns), random.pick([1, 300, 4_096, 65_536])),
      waitsForEof: random.chance(0.8),
      exit: random.chance(0.2) ? random.pick(SIGNALLED) : { code: random.int(0, 255) },
    },
    screen: {
      delayMs: screens.pick([0, 5, 50, 400]),
      failing: screens.pick([0, 0, 0, 0.1, 1]),
      inexact: screens.pick([0, 0, 0.3]),
    },
    mode: random.chance(0.15) ? "exclusive" : "collaborative",
    delivery,
    parties,
    plainCount: random.pick([0, 0, 0, 1, 2]),
    outer: link(),
    inner: random.chance(0.7) ? { latencyMs: 1, jitterMs: 1, bytesPerMs: 100_000 } : link(),
    // What is live may have a log that it outruns; what is lossless needs one of twice the largest window.
    logBytes:
      isLive && parties.every((party) => party.delivery === "live")
        ? random.pick([4_096, 65_536, 1_048_576])
        : 1_048_576,
    faultsUntilMs,
    meanFaultMs: faultsUntilMs / random.pick([3, 10, 50, 200]),
    faults: FAULTS.filter(() => random.chance(0.7)),
    deafness: random.pick([0, 0.05, 0.3, 0.6]),
    isFirstLate: random.chance(0.15),
    isRecorded: random.chance(0.5),
    ...overrides,
  };
}

function readQuery(query: ReadonlyMap<string, string>) {
  const parsed = parseAttachQuery(new URLSearchParams([...query]));
  if (!parsed.ok) throw new Error(`a client asked for what can't be read: ${parsed.detail}`);
  return parsed.query;
}

export class Simulation {
  readonly plan: Plan;
  readonly #world: Chance;
  readonly #written: Written[] = [0, 1, 2, 3].map(() => ({ end: 0, rebirths: [] }));
  readonly bridge: SimBridge;
  readonly parties: Party[];
  readonly #plains: PlainParty[] = [];
  readonly #facts: SessionFacts;
  readonly #witness: RecordWitness | undefined;
  readonly #store: Store;
  #relay: SimRelay | undefined;
  #faults = 0;
  #parkings = 0;
  #evictions = 0;
  #isFaulty = true;
  #nextId = 0;
  readonly #idsOfLives = new Map<string, string>();

  constructor(plan: Plan) {
    this.plan = plan;
    this.#world = { time: new Scheduler(), random: new Random(plan.seed ^ 0x5eed) };
    this.#facts = {
      sandbox: "dev",
      session: "main",
      incarnation: `i${plan.seed}`,
      tty: plan.process.tty,
      mode: plan.mode,
      delivery: plan.delivery,
      inputWindow: MAX_KEPT_INPUT_BYTES,
    };
    this.#witness = plan.isRecorded && plan.hops === 2 ? new RecordWitness() : undefined;
    this.#store = this.#witness === undefined ? {} : { recorded: this.#witness.recorded };
    const isLoose = plan.mode === "exclusive";
    const { process, logBytes, screen } = plan;
    this.bridge = new SimBridge(this.#world, this.#facts, process, this.#written, isLoose, logBytes, screen);
    const dial: Dial = (request, query, listener) => this.#dial(request, query, listener);
    this.parties = plan.parties.map((party) => {
      const sink = this.#written[party.who];
      if (sink === undefined) throw new Error("Cannot simulate more than four drivers");
      return new Party(
        this.#world,
        party,
        plan.process.tty,
        dial,
        party.role === "viewer" ? { end: 0, rebirths: [] } : sink,
        () => this.bridge,
      );
    });
  }

  /** Runs it to its end. @throws {Error} What was broken, and when. */
  run(): Outcome {
    const { time, random } = this.#world;
    const { plan } = this;
    if (plan.hops === 2) this.#relay = this.#makeRelay();
    this.bridge.onCall = () => this.#relay?.called();
    for (const party of this.parties) {
      // The first one makes the session; the others come whenever they like.
      const isFirst = party === this.parties[0] && !plan.isFirstLate;
      time.after(isFirst ? 0 : random.scale(1, plan.faultsUntilMs), () => party.start());
    }
    for (let i = 0; i < plan.plainCount; i += 1) {
      this.#plains.push(
        new PlainParty(this.#world, plan.process.tty, (request, listener) => this.#dialPlain(request, listener)),
      );
    }
    for (const plain of this.#plains) time.after(random.scale(1, 20_000), () => plain.start());
    if (plan.faults.length > 0) this.#faultLater();
    time.after(plan.faultsUntilMs, () => {
      this.#isFaulty = false;
    });
    this.#watchInput();
    try {
      const { outputBytes, chunkBytes, sleepMs } = plan.process;
      const ownMs = (outputBytes / chunkBytes) * sleepMs; // What the process takes, though nothing holds it.
      const isDone = time.run(Math.max(plan.faultsUntilMs, ownMs) + LIVENESS_MS, () => !this.#isFaulty && this.#isDone);
      if (!isDone) throw new Error(`not done ${LIVENESS_MS} ms after the last fault: ${this.#describe()}`);
      this.#checkEnd();
    } catch (error) {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      throw new Error(`seed ${plan.seed} at ${Math.round(time.now)} ms: ${detail}\n${JSON.stringify(plan)}`);
    }
    return {
      events: time.eventCount,
      virtualMs: Math.round(time.now),
      faults: this.#faults,
      attaches: this.parties.reduce((sum, party) => sum + party.attaches, 0),
      heldTurns: this.bridge.process.heldTurns,
      gapBytes: this.parties.reduce((sum, party) => sum + party.gapBytes, 0),
      snapshots: this.parties.reduce((sum, party) => sum + party.snapshots, 0),
      approximations: this.parties.reduce((sum, party) => sum + party.approximations, 0),
      parkings: this.#parkings,
      evictions: this.#evictions,
    };
  }

  // ---- Connections ---------------------------------------------------------------------------------------------

  #makeRelay(): SimRelay {
    return new SimRelay({
      world: this.#world,
      bridge: this.bridge,
      profile: this.plan.inner,
      logBytes: this.plan.logBytes,
      store: this.#store,
      parkMs: this.plan.parkMs,
      parked: (relay) => this.#parked(relay),
      facts: this.#facts,
      check: (relay) => {
        if (relay.session !== undefined) this.#checkBounds(relay.session);
        this.#checkBounds(this.bridge.session);
      },
    });
  }

  #parked(relay: SimRelay): void {
    const { time, random } = this.#world;
    this.#parkings += 1;
    if (!random.chance(0.8)) return;
    time.after(random.scale(1, 1_000), () => {
      if (this.#relay !== relay || !relay.isParked) return;
      this.#evictions += 1;
      relay.evict();
      this.#relay = this.#makeRelay();
    });
  }

  #dial: Dial = (request, query, listener) => {
    const { time, random } = this.#world;
    const { tty } = this.#facts;
    const { resume: proof, offset, stdin, attempt } = readQuery(query);
    const id = proof?.split(":")[1] ?? this.#idOf(attempt);
    const attach: AttachRequest = {
      ...request,
      id,
      acknowledges: true,
      isResume: proof !== undefined,
      resume: `${this.#facts.incarnation}:${id}`,
      ...(offset === undefined ? {} : { offset }),
      ...(attempt === undefined ? {} : { attempt }),
      ...(stdin === undefined ? {} : { stdin }),
      ...(this.plan.keeps === undefined ? {} : { keeps: this.plan.keeps }),
      ...(tty && random.chance(0.3) ? { size: { cols: random.int(20, 200), rows: random.int(5, 60) } } : {}),
    };
    const server = this.#serverEnd(STDIO, attach);
    const connection = new Connection(this.#world, this.plan.outer, listener, server.listener);
    server.use(connection.b);
    // The upgrade takes a round trip; the server is there half-way. It may be held up on its way for longer than its
    // client waits, and arrive all the same.
    const isHeldUp = this.#isFaulty && random.chance(this.plan.deafness / 10);
    time.after(isHeldUp ? random.scale(1_000, 100_000) : this.plan.outer.latencyMs, () => {
      // Not for longer than its program lives: between two lives the later one to arrive is the newer.
      if (isHeldUp ? !listener.isAlive() : connection.isOver) return;
      server.open();
      time.after(this.plan.outer.latencyMs, () => listener.opened());
    });
    return connection;
  };

  /** The same for all connections of one life, as the shells have it. */
  #idOf(attempt: Attempt | undefined): string {
    const life = attempt?.life ?? "";
    const id = this.#idsOfLives.get(life) ?? `c${this.#nextId++}`;
    this.#idsOfLives.set(life, id);
    return id;
  }

  #dialPlain(
    request: AttachRequest,
    listener: { receive(frame: string | Uint8Array): void; closed(code: number): void },
  ): Connection {
    const server = this.#serverEnd(PLAIN, { ...request, id: `p${this.#nextId++}` });
    const connection = new Connection(this.#world, this.plan.outer, listener, server.listener);
    server.use(connection.b);
    this.#world.time.after(this.plan.outer.latencyMs, () => {
      if (!connection.isOver) server.open();
    });
    return connection;
  }

  #serverEnd(dialect: typeof STDIO, request: AttachRequest) {
    const { random, time } = this.#world;
    let socket: Socket | undefined;
    let connection: ServerConnection | undefined;
    let isStuffed = false;
    const serverSocket: ServerSocket = {
      send: (frame) => {
        // Without a proof it has kept nothing: it is new, or was held up on its way while its client has come by another.
        if (typeof frame === "string") this.#witness?.told(request.id, frame, request.isResume ? request.stdin : "new");
        socket?.send(copied(frame));
      },
      close: (code) => socket?.close(code),
      isWritable: () => {
        if (!isStuffed && this.plan.faults.length > 0 && random.chance(0.01)) {
          isStuffed = true;
          time.after(random.int(1, 50), () => {
            isStuffed = false;
            connection?.drained();
          });
        }
        return !isStuffed;
      },
    };
    let target: { receive(frame: string | Uint8Array): void; closed(code: number): void } | undefined;
    return {
      use: (end: Socket) => {
        socket = end;
      },
      listener: {
        receive: (frame: string | Uint8Array) => target?.receive(frame),
        closed: (code: number) => {
          target?.closed(code);
        },
      },
      open: () => {
        const make = () => {
          connection = new ServerConnection(dialect, serverSocket, time.now, {}, BUDGET);
          return connection;
        };
        const made = make();
        const relay = this.#relay;
        if (relay !== undefined && socket !== undefined) {
          target = relay.listener(made);
          relay.accept(made, socket, request, (next) => {
            const revived = make();
            target = next.listener(revived);
            return revived;
          });
          return;
        }
        target = {
          receive: (frame) => {
            made.receive(frame, time.now);
            this.bridge.changed();
            this.#checkBounds(this.bridge.session);
          },
          closed: (code) => {
            made.closed(code);
            this.bridge.removeConnection(made);
          },
        };
        this.bridge.addConnection(made);
        made.attach(this.bridge.session, request);
        this.bridge.changed();
      },
    };
  }

  // ---- Faults --------------------------------------------------------------------------------------------------

  #faultLater(): void {
    const { time, random } = this.#world;
    time.after(random.next() * 2 * this.plan.meanFaultMs, () => {
      if (!this.#isFaulty) return;
      this.#fault(random.pick(this.plan.faults));
      this.#faultLater();
    });
  }

  #fault(fault: Fault): void {
    const { random } = this.#world;
    const hears = () => !random.chance(this.plan.deafness);
    const party = random.pick(this.parties);
    this.#faults += 1;
    switch (fault) {
      case "cut_outer":
        if (this.#plains.length > 0 && random.chance(0.2)) random.pick(this.#plains).connection?.cut(hears(), hears());
        else party.connection?.cut(hears(), hears());
        return;
      case "cut_inner":
        this.#relay?.cutInner(hears(), hears());
        return;
      case "restart_relay":
        if (this.#relay === undefined) return;
        this.#relay.drop();
        this.#relay = this.#makeRelay();
        return;
      case "restart_client":
        // New input comes on top of what waits: together they must stay within what may wait (I4).
        party.restart(
          random.chance(0.3) && party.furthestWritten - this.#takenOf(party) < 32 * 1024,
          random.chance(0.3),
        );
        return;
      case "stall":
        party.stall(random.scale(100, 20_000));
        return;
      case "resize":
        party.client.resize(random.int(10, 300), random.int(5, 100));
        return;
      case "keyboard": {
        const to = random.pick(this.parties).ids.at(-1) ?? "nobody";
        const wishes = [{ type: "request_stdin" }, { type: "release_stdin" }, { type: "grant_stdin", to }] as const;
        party.client.send(random.pick(wishes));
        return;
      }
      case "viewer_leaves":
        if (party.plan.role === "viewer" && !party.isOver && random.chance(0.1)) party.leave();
        return;
    }
  }

  // ---- The end of input ----------------------------------------------------------------------------------------

  /** One driver ends the input, when all drivers' input has been taken and the other drivers have left. */
  #watchInput(): void {
    const { time, random } = this.#world;
    const drivers = this.parties.filter((party) => party.plan.role === "driver");
    const [ender, ...others] = drivers;
    if (ender === undefined) throw new Error("Cannot simulate a session without a driver");
    const isAlone = others.length === 0;
    const look = () => {
      if (this.#isDone) return;
      const isTaken = (party: Party) => {
        const { inputBytes } = party.plan;
        const taken = this.#takenOf(party);
        return this.plan.mode === "exclusive" || taken >= inputBytes || party.mayHaveLost(taken, inputBytes);
      };
      for (const party of others) {
        // It has to hear of what was taken, too.
        const isDone = party.isInputWritten && isTaken(party) && party.client.unackedInput === 0;
        if (isDone && !party.isOver) party.leave();
      }
      const mayEnd = isAlone ? ender.isInputWritten : others.every((party) => party.isOver) && ender.isInputWritten;
      const isHolder = ender.ids.at(-1) === this.bridge.session.keyboard.holder;
      if (mayEnd && this.plan.mode === "exclusive" && !isHolder) ender.client.send({ type: "request_stdin" });
      else if (mayEnd && !ender.isInputEnded) ender.endInput();
      else if (ender.isInputEnded && !ender.hasEndedIn(ender.client)) ender.endInput();
      time.after(random.scale(1, 500), look);
    };
    look();
  }

  #takenOf(party: Party): number {
    return this.bridge.process.taken[party.plan.who] ?? 0;
  }

  // ---- What must hold ------------------------------------------------------------------------------------------

  #checkBounds(session: SessionCore): void {
    for (const client of session.clients) {
      const queued = client.input.queuedBytes;
      // Twice: what waits of an earlier life, and what this one may send (L4, I3b).
      const window = this.plan.keeps ?? MAX_UNACKED_INPUT_BYTES;
      if (queued > 2 * window + 64 * 1024) throw new Error(`${queued} bytes of input wait for ${client.id}`);
      if (client.input.entries.length > 4096) throw new Error(`${client.input.entries.length} entries of input wait`);
      if (client.greeted === undefined) continue;
      const { flow, cursor } = client.greeted.reader;
      const inFlight = flow instanceof Window ? flow.inFlight(cursor) : 0;
      if (inFlight > 512 * 1024) throw new Error(`${inFlight} bytes in flight to ${client.id}`);
    }
  }

  get #isDone(): boolean {
    return this.parties.every((party) => party.isOver) && this.#plains.every((plain) => plain.isOver);
  }

  #checkEnd(): void {
    const { process, log } = this.bridge;
    const { plan } = this;
    const total = log.endOffset;
    if (total !== plan.process.outputBytes) throw new Error(`process wrote ${total} of ${plan.process.outputBytes}`);
    const isAlone = plan.parties.length === 1 && plan.plainCount === 0;
    for (const party of this.parties) {
      const name = `${party.plan.role} ${party.plan.who}`;
      for (const id of party.ids) this.#witness?.check(id, (at) => inputByte(party.plan.who, at));
      if (party.hasLeft) continue;
      if (JSON.stringify(party.exit) !== JSON.stringify(plan.process.exit)) {
        throw new Error(`${name} was told ${JSON.stringify(party.exit)}, not ${JSON.stringify(plan.process.exit)}`);
      }
      if (party.position !== total) throw new Error(`${name} had ${party.position} of ${total} bytes at the exit`);
      const wasKept = party.plan.delivery === "lossless" && party.plan.role === "driver";
      const isExcused = party.ids.some((id) => this.bridge.departed.has(id)) && !isAlone;
      for (const gap of party.gaps) {
        if (wasKept && !isExcused && !gap.isReplay) {
          throw new Error(`${name} lost output without cause, from ${gap.from} to ${gap.to}`);
        }
      }
      if (!plan.process.waitsForEof) continue;
      this.#checkInput(party, this.#takenOf(party));
      const mayBeRefused = plan.mode === "exclusive" || party.plan.role === "viewer";
      // What was taken is not stored with the log of a process that has ended.
      const mayBeForgotten = plan.faults.includes("restart_relay");
      if (!mayBeRefused && !mayBeForgotten && party.client.unackedInput > 0) {
        throw new Error(`${name} was not told of ${party.client.unackedInput} bytes`);
      }
    }
    // A life whose input was lost with the one before it ends what it can't know of, and the next one ends it once more.
    const inVain = process.eofsAt.filter((taken) =>
      this.parties.some((party) => party.mayHaveLost(taken[party.plan.who] ?? 0, party.plan.inputBytes)),
    ).length;
    const ends = process.eofs > 1 ? process.eofs - inVain : process.eofs;
    if (plan.process.waitsForEof && ends !== 1) throw new Error(`input ended ${process.eofs} times`);
    for (const taken of process.eofsAt) {
      for (const party of this.parties) this.#checkInput(party, taken[party.plan.who] ?? 0);
    }
  }

  #checkInput(party: Party, taken: number): void {
    if (this.plan.mode === "exclusive" || party.plan.role === "viewer") return;
    const { inputBytes, who } = party.plan;
    if (taken === inputBytes || party.mayHaveLost(taken, inputBytes)) return;
    throw new Error(`process took ${taken} of ${inputBytes} bytes of driver ${who}`);
  }

  #describe(): string {
    const { process, session, log } = this.bridge;
    const lines = this.parties.map((party) => {
      const { phase } = party.client.state;
      return `${party.plan.role} ${party.plan.who} ${party.ids.at(-1)} ${phase} at ${party.position}, written ${party.writtenBytes} of ${party.plan.inputBytes}, taken ${this.#takenOf(party)}, unacked ${party.client.unackedInput}, ended ${party.isInputEnded}, errors ${[...new Set(party.errors)]}`;
    });
    const clients = [...session.clients].map(
      (client) =>
        `${client.id} ${client.role} ${client.delivery} ${client.presence.phase} acked ${client.acked} window ${client.windowBytes} input ${client.input.taken}/${client.input.received}`,
    );
    const relayed = [...(this.#relay?.session?.clients ?? [])].map(
      (client) =>
        `${client.id} ${client.role} ${client.delivery} ${client.presence.phase} acked ${client.acked} window ${client.windowBytes} input ${client.input.taken}/${client.input.received} ${client.input.entries.map((e) => e.kind)}`,
    );
    return [
      `process at ${log.endOffset} of ${process.plan.outputBytes}, held ${process.isHeld}, ended ${process.hasEnded}, eofs ${process.eofs}`,
      ...lines,
      `bridge holder "${session.keyboard.holder}" creator ${session.creator}: ${clients.join("; ")}`,
      `relay ${this.#relay?.isConnected} end ${this.#relay?.session?.log.endOffset} holder "${this.#relay?.session?.keyboard.holder}": ${relayed.join("; ")}`,
      `plain: ${this.#plains.map((plain) => plain.describe()).join("; ")}`,
    ].join("\n");
  }
}
