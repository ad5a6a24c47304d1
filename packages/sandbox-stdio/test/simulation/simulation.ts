// The whole system in virtual time: clients, links that break, a Durable Object that dies, a bridge and its process. A seed
// makes the plan, the plan makes the run, and every run is held to what the protocol promises. No sockets, no clocks.

import { Random } from "../../../local/src/base/random.ts";
import {
  type AttachRequest,
  type BudgetLimits,
  copyBytes,
  DEFAULT_BUDGET,
  defined,
  MAX_KEPT_INPUT_BYTES,
  PLAIN,
  parseAttachQuery,
  ServerConnection,
  type ServerSocket,
  type SessionFacts,
  STDIO,
} from "../../src/index.ts";
import type { SessionCore } from "../../src/session/session-core.ts";
import type { Attempt } from "../../src/wire/attempt.ts";
import { copied, SimBridge, type Written } from "./bridge.ts";
import { type Chance, Connection, type Listener, type Socket } from "./network.ts";
import { type Dial, Party } from "./party.ts";
import { PlainParty } from "./plain-party.ts";
import type { Fault, Plan } from "./plan.ts";
import { checkBounds, checkEnd, takenOf } from "./promises.ts";
import { RecordWitness } from "./recorder.ts";
import { SimRelay, type Store } from "./relay.ts";
import { Scheduler } from "./scheduler.ts";

export type Outcome = {
  readonly events: number;
  readonly virtualMs: number;
  readonly faults: number;
  /** Connections of clients that were greeted, and runs of their programs. */
  readonly attaches: number;
  readonly lives: number;
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

function readQuery(query: ReadonlyMap<string, string>) {
  const parsed = parseAttachQuery(new URLSearchParams([...query]));
  if (!parsed.ok) throw new Error(`a client asked for what can't be read: ${parsed.detail}`);
  return parsed.query;
}

export class Simulation {
  readonly plan: Plan;
  readonly #world: Chance;
  readonly #written: Written[] = [0, 1, 2, 3, 4].map(() => ({ end: 0, rebirths: [] }));
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

  constructor(plan: Plan, world: Chance = { time: new Scheduler(), random: new Random(plan.seed ^ 0x5eed) }) {
    this.plan = plan;
    this.#world = world;
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
    const { process, logBytes, screen } = plan;
    const isLoose = plan.mode === "exclusive";
    const shared = { world: this.#world, facts: this.#facts, written: this.#written, isOlder: plan.older === "bridge" };
    this.bridge = new SimBridge({ ...shared, process, logBytes, screen, isLoose });
    const dial: Dial = (request, query, listener) => this.#dial(request, query, listener);
    this.parties = plan.parties.map((party) => {
      const sink = this.#written[party.who];
      if (sink === undefined) throw new Error("Cannot simulate more than four parties");
      return new Party(this.#world, party, plan.process.tty, dial, sink, () => this.bridge);
    });
  }

  /** Runs it to its end. @param isBreach Whether an error is a promise that was broken. @throws {Error} What was broken, and when. */
  run(isBreach: (error: unknown) => boolean = () => true): Outcome {
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
      const dial = (request: AttachRequest, listener: Listener) => this.#dialPlain(request, listener);
      this.#plains.push(new PlainParty(this.#world, plan.process.tty, dial));
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
      checkEnd({ plan, bridge: this.bridge, parties: this.parties, witness: this.#witness });
    } catch (error) {
      if (!isBreach(error)) throw error;
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      throw new Error(`seed ${plan.seed} at ${Math.round(time.now)} ms: ${detail}\n${JSON.stringify(plan)}`);
    }
    const sum = (key: "attaches" | "lives" | "gapBytes" | "snapshots" | "approximations") =>
      this.parties.reduce((all, party) => all + party[key], 0);
    return {
      ...{ events: time.eventCount, virtualMs: Math.round(time.now), faults: this.#faults },
      ...{
        attaches: sum("attaches"),
        lives: sum("lives"),
        heldTurns: this.bridge.process.heldTurns,
        gapBytes: sum("gapBytes"),
      },
      ...{ snapshots: sum("snapshots"), approximations: sum("approximations") },
      ...{ parkings: this.#parkings, evictions: this.#evictions },
    };
  }

  // ---- Connections ---------------------------------------------------------------------------------------------

  #makeRelay(): SimRelay {
    return new SimRelay({
      world: this.#world,
      bridge: this.bridge,
      profile: this.plan.inner,
      logBytes: copyBytes(this.plan),
      store: this.#store,
      parkMs: this.plan.parkMs,
      parked: (relay) => this.#parked(relay),
      facts: this.#facts,
      check: (relay) => {
        if (relay.session !== undefined) checkBounds(relay.session, this.plan);
        checkBounds(this.bridge.session, this.plan);
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
    const { resume: proof, offset, stdin, ...said } = readQuery(query);
    const { acked, attempt } = this.plan.older === "client" ? {} : said;
    const id = proof?.split(":")[1] ?? this.#idOf(attempt);
    const attach: AttachRequest = {
      ...request,
      id,
      acknowledges: true,
      isResume: proof !== undefined,
      resume: `${this.#facts.incarnation}:${id}`,
      ...defined({ offset, acked, attempt, stdin, keeps: this.plan.keeps }),
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
    const life = attempt?.life ?? `unnamed ${this.#nextId}`;
    const id = this.#idsOfLives.get(life) ?? `c${this.#nextId++}`;
    this.#idsOfLives.set(life, id);
    return id;
  }

  #dialPlain(request: AttachRequest, listener: Listener): Connection {
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
    let target: Listener | undefined;
    return {
      use: (end: Socket) => {
        socket = end;
      },
      listener: {
        owner: "relay",
        receive: (frame: string | Uint8Array) => target?.receive(frame),
        closed: (code: number) => target?.closed(code),
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
            checkBounds(this.bridge.session, this.plan);
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
        this.#relay?.link?.cut(hears(), hears());
        return;
      case "restart_relay":
        this.restartRelay();
        return;
      case "restart_client":
        // New input comes on top of what waits: together they must stay within what may wait (I4).
        party.restart(
          random.chance(0.3) && party.furthestWritten - takenOf(this.bridge, party) < 32 * 1024,
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
        const wish = random.pick(wishes);
        // A viewer that was given the keyboard keeps every driver from typing (K15), where each is to have typed all.
        const isShared = this.plan.mode !== "exclusive" && party.plan.role === "viewer";
        if (!(isShared && wish.type === "request_stdin")) party.client.send(wish);
        return;
      }
      case "viewer_leaves":
        if (party.plan.role === "viewer" && !party.isOver && random.chance(0.1)) party.leave();
        return;
    }
  }

  /** The Durable Object dies, and another takes its place. */
  restartRelay(): void {
    if (this.#relay === undefined) return;
    this.#relay.drop();
    this.#relay = this.#makeRelay();
  }

  get now(): number {
    return this.#world.time.now;
  }

  get relay(): SimRelay | undefined {
    return this.#relay;
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
        const taken = takenOf(this.bridge, party);
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

  get #isDone(): boolean {
    return this.parties.every((party) => party.isOver) && this.#plains.every((plain) => plain.isOver);
  }

  #describe(): string {
    const { process, session, log } = this.bridge;
    const lines = this.parties.map((party) => {
      const { phase } = party.client.state;
      return `${party.plan.role} ${party.plan.who} ${party.ids.at(-1)} ${phase} at ${party.position}, written ${party.writtenBytes} of ${party.plan.inputBytes}, taken ${takenOf(this.bridge, party)}, unacked ${party.client.unackedInput}, ended ${party.isInputEnded}, errors ${[...new Set(party.errors)]}`;
    });
    const clientsOf = (one: SessionCore | undefined) =>
      [...(one?.clients ?? [])].map(({ id, role, delivery, presence, acked, windowBytes, input }) => {
        const { taken, received, entries } = input;
        const waiting = entries.map(({ kind }) => kind);
        return `${id} ${role} ${delivery} ${presence.phase} acked ${acked} window ${windowBytes} input ${taken}/${received} ${waiting}`;
      });
    return [
      `process at ${log.endOffset} of ${process.plan.outputBytes}, held ${process.isHeld}, ended ${process.hasEnded}, eofs ${process.eofs}`,
      ...lines,
      `bridge holder "${session.keyboard.holder}" creator ${session.creator}: ${clientsOf(session).join("; ")}`,
      `relay ${this.#relay?.isConnected} end ${this.#relay?.session?.log.endOffset} holder "${this.#relay?.session?.keyboard.holder}": ${clientsOf(this.#relay?.session).join("; ")}`,
      `plain: ${this.#plains.map((plain) => plain.describe()).join("; ")}`,
    ].join("\n");
  }
}
