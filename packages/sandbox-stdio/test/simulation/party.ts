// The simulation's clients: the real state machine with a program behind it that writes, reads as fast as it likes, and
// checks every byte that it is given by its position.

import {
  type AttachRequest,
  type ClientOptions,
  type ClientSocket,
  type ClientSocketEvents,
  type Delivery,
  defined,
  type Frame,
  type Hello,
  MAX_KEPT_INPUT_BYTES,
  type OutputStream,
  type Role,
  StdioClient,
} from "../../src/index.ts";
import { inputBytes, isOutput, nameOf, type SimBridge, type Written } from "./bridge.ts";
import type { Chance, Connection, Listener } from "./network.ts";
import { isSnapshot } from "./pattern.ts";

export type PartyPlan = {
  readonly who: number;
  readonly role: Role;
  readonly delivery: Delivery;
  readonly inputBytes: number;
  /** The largest piece that it writes at once, and how long it may wait between two. */
  readonly pieceBytes: number;
  readonly pauseMs: number;
  /** How long it may take to deal with what it is given. */
  readonly dealMs: number;
};

/** How a client reaches a server. */
export type Dial = (
  request: Omit<AttachRequest, "id" | "isResume" | "resume" | "acknowledges">,
  query: ReadonlyMap<string, string>,
  listener: Listener & { opened(): void; isAlive(): boolean },
) => Connection;

/** What clocks say when a run begins: lives are named for the time, and a clock that jumps back says an earlier one. */
export const EPOCH_MS = 1_800_000_000_000;
/** Beyond this a client would hold more output than its window allows, however often its connection broke. */
const MAX_UNDEALT_BYTES = 3 * 512 * 1024;
/** Enough for what may be refused a second (L10) to make up for the largest piece. */
const REFUSED_PAUSE_MS = 3_000;

export class Party {
  readonly plan: PartyPlan;
  readonly tty: boolean;
  client: StdioClient;
  connection: Connection | undefined;
  /** Every id that it was given, newest last. */
  readonly ids: string[] = [];
  exit: { code: number; signal?: string } | undefined;
  hasLeft = false;
  position = 0;
  gapBytes = 0;
  gaps: { from: number; to: number; isReplay: boolean }[] = [];
  errors: string[] = [];
  isInputEnded = false;
  attaches = 0;
  /** Runs of its program. */
  lives = 0;
  #size = { cols: 0, rows: 0 };
  #endedIn: StdioClient | undefined;
  #isFresh = true;
  /** Where the output begins that it asked for in time: until then it reads what happens to be held. */
  #replayEnd = 0;
  /** On a PTY it goes on at a place that needs a snapshot, which has not come. */
  #owesScreen = false;
  /** What was last said of that: that it may have to do without an exact one. */
  #isApproximate = false;
  /** A snapshot that has come and is not dealt with. */
  #undrawnAt: number | undefined;
  /** Bytes of output that it was given and has not dealt with. */
  #unprocessed = 0;
  snapshots = 0;
  approximations = 0;
  #written = 0;
  /** Who writes on while refused, piece after piece, is put out (L10). */
  #refusedUntil = 0;
  #isWriting = false;
  #isInputClosed = false;
  #dealtAt = 0;
  #life = 0;
  #stallUntil = 0;
  #bornAtMs = 0;
  readonly #world: Chance;
  readonly #dial: Dial;
  readonly #bridge: () => SimBridge;
  readonly #sink: Written;

  constructor(world: Chance, plan: PartyPlan, tty: boolean, dial: Dial, sink: Written, bridge: () => SimBridge) {
    this.#bridge = bridge;
    this.#world = world;
    this.plan = plan;
    this.tty = tty;
    this.#dial = dial;
    this.#sink = sink;
    this.client = this.#makeClient();
  }

  start(): void {
    if (!this.hasLeft) this.client.start();
  }

  get isOver(): boolean {
    return this.exit !== undefined || this.hasLeft;
  }

  get isInputWritten(): boolean {
    return this.#written >= this.plan.inputBytes;
  }

  get writtenBytes(): number {
    return this.#written;
  }

  /** How far any of its lives has written, and whether what a life wrote last was lost with it. */
  get furthestWritten(): number {
    return this.#sink.end;
  }

  mayHaveLost(from: number, to: number): boolean {
    return this.#sink.rebirths.includes(to) && from < to;
  }

  /** Its program stops reading for a while. */
  stall(ms: number): void {
    this.#stallUntil = this.#world.time.now + ms;
  }

  leave(): void {
    this.hasLeft = true;
    this.client.leave();
  }

  /** To be called again for each life: a new one does not know that its input had been ended. */
  endInput(): void {
    this.isInputEnded = true;
    this.#endedIn = this.client;
    this.client.endInput();
  }

  hasEndedIn(client: StdioClient): boolean {
    // A life that has not written what an earlier one wrote in vain is not at its end yet.
    return this.#endedIn === client || !this.isInputWritten || this.client.hello === undefined;
  }

  /** Its program dies and is started again with what it had noted, or with an empty screen. */
  restart(isEmpty: boolean, isConnectionLeft: boolean): void {
    const point = this.client.resumePoint;
    if (point === undefined || this.isOver) return;
    this.#life += 1;
    // Where its connection is left behind, the newer one is to win.
    if (!isConnectionLeft) this.connection?.a.abort();
    this.#isFresh = isEmpty;
    this.#written = 0;
    this.client = this.#makeClient(isEmpty ? { resume: point.resume } : point);
    this.#comeBack(point.offset);
  }

  /** Its page is reloaded: the next life goes on with the input that this one kept (R6b). @param bornAtMs By its clock, which may jump. */
  reload(bornAtMs: number): void {
    const point = this.client.resumePoint;
    if (point === undefined || this.isOver) return;
    this.#life += 1;
    const keptInput = this.client.suspend();
    this.#isFresh = false;
    this.client = this.#makeClient({ ...point, ...defined({ keptInput }), repeatsInput: false, bornAtMs });
    this.#comeBack(point.offset);
  }

  /** When its newest life began, by its own clock. */
  get bornAtMs(): number {
    return this.#bornAtMs;
  }

  #comeBack(offset: number): void {
    this.#note("dies");
    if (this.#undrawnAt !== undefined && offset >= this.#undrawnAt) {
      throw new Error(`would come back at ${offset} without the screen of ${this.#undrawnAt}`);
    }
    this.#undrawnAt = undefined;
    this.#unprocessed = 0;
    this.#owesScreen = false;
    if (!this.#isFresh) this.position = offset;
    this.client.start();
  }

  #makeClient(earlier: Partial<ClientOptions> = {}): StdioClient {
    const { time, random } = this.#world;
    const { bornAtMs = EPOCH_MS + time.now, repeatsInput: hasItsInput = true } = earlier;
    this.#bornAtMs = bornAtMs;
    this.lives += 1;
    this.#life += 1;
    const life = this.#life;
    const isCurrent = () => this.#life === life;
    this.#isWriting = false;
    let isGreeted = false;
    return new StdioClient(
      { ...earlier, session: "main", bornAtMs },
      {
        connect: (query, events) => this.#connect(query, events, isCurrent),
        setTimer: (ms, callback) => {
          const late = random.chance(0.2) ? random.next() * 5 : 0;
          return time.after(ms + late, () => isCurrent() && callback());
        },
        now: () => time.now,
        random: () => random.next(),
      },
      {
        state: (state) => {
          if (this.exit !== undefined) throw new Error(`state ${state.phase} after the exit`);
          if (state.phase === "attached") {
            this.#greeted(state.hello, isGreeted);
            if (!isGreeted) {
              isGreeted = true;
              if (state.hello.stdin > this.#sink.end) throw new Error("more input taken than was written");
              // Its input goes on where the session stands: what an earlier life wrote and was not taken is written again.
              if (hasItsInput) this.#written = state.hello.stdin;
              if (this.#isFresh && this.ids.length > 1) this.#sink.rebirths.push(this.#written);
              this.#writeLater(life);
            }
          }
          if (state.phase !== "ended") return;
          if (state.end.kind === "exit") {
            this.#goOn();
            const { kind: _, ...exit } = state.end;
            this.#note("hears exit");
            this.exit = exit;
          } else if (state.end.kind === "refused") {
            throw new Error(`party ${this.plan.who} was refused: ${state.end.code} ${state.end.reason}`);
          }
        },
        output: (stream, bytes, end) => this.#output(stream, bytes, end, isCurrent),
        snapshot: (bytes, offset) => this.#snapshot(bytes, offset, isCurrent),
        resize: (cols, rows, offset) => {
          if (offset !== this.position) throw new Error(`size told at ${offset}, not at ${this.position}`);
          this.#size = { cols, rows };
        },
        gap: (from, to) => {
          if (from !== this.position || to <= from) throw new Error(`gap from ${from} to ${to} at ${this.position}`);
          this.gaps.push({ from, to, isReplay: from < this.#replayEnd });
          this.gapBytes += to - from;
          this.position = to;
          if (this.tty) this.#owesScreen = true;
        },
        message: (message) => {
          if (message.type !== "error") return;
          this.errors.push(message.code);
          if (message.code === "stdin_closed") this.#isInputClosed = true;
          if (message.code === "not_stdin_holder") this.#refusedUntil = this.#world.time.now + REFUSED_PAUSE_MS;
        },
        discarded: (bytes) => {
          // What the process takes no more is not written again.
          if (!this.#isInputClosed) this.#written -= bytes.length;
        },
        inputDrained: () => this.#writeLater(life),
      },
    );
  }

  #note(step: string): void {
    this.#world.witness?.noted?.(step);
  }

  /** Notes each byte. Without a witness it makes no names: for millions of bytes they cost more than all else. */
  #noteBytes(what: string, from: number, end: number): void {
    if (this.#world.witness?.noted === undefined) return;
    for (let at = from; at < end; at += 1) this.#note(`${what} ${at}`);
  }

  #noteSettled(text: string): void {
    const settled = /^{"type":"stdin_ack","offset":(\d+)/.exec(text);
    if (settled !== null) this.#note(`settled ${settled[1]}`);
  }

  #connect(query: ReadonlyMap<string, string>, events: ClientSocketEvents, isCurrent: () => boolean): ClientSocket {
    const { role, delivery } = this.plan;
    const request = { name: nameOf(this.plan.who, role), role, isAdmin: false, delivery };
    let hasExited = false;
    this.#note("connects");
    const connection = this.#dial(request, query, {
      owner: request.name,
      opened: () => isCurrent() && events.open(),
      isAlive: isCurrent,
      receive: (frame) => {
        if (!isCurrent()) return;
        if (hasExited) throw new Error(`something came after the exit: ${describe(frame)}`);
        if (typeof frame === "string") {
          hasExited = frame.startsWith('{"type":"exit"');
          this.#noteSettled(frame);
          if (/^{"type":"(hello|gap)"/.test(frame)) this.#isApproximate = frame.includes('"approximate":true');
          events.text(frame);
        } else events.binary(frame);
      },
      closed: (code) => isCurrent() && events.closed(code, ""),
    });
    this.connection = connection;
    return {
      send: (frame) => connection.a.send(typeof frame === "string" ? frame : frame.slice()),
      close: (code) => connection.a.close(code),
      abort: () => connection.a.abort(),
    };
  }

  #greeted(hello: Hello, isGreeted: boolean): void {
    this.attaches += 1;
    this.ids.push(hello.you.id);
    const lost = hello.gap ?? 0;
    this.#note(`greeted ${hello.offset - lost}`);
    this.#note(`settled ${hello.stdin}`);
    // Whoever was greeted at a snapshot that never came has nothing yet, as one that comes for the first time.
    if (this.#isFresh && (!isGreeted || (this.#owesScreen && lost === 0))) {
      this.position = hello.offset - lost;
      this.#replayEnd = hello.live;
      this.#owesScreen = this.tty && hello.offset > 0 && lost === 0;
    }
    if (hello.offset - lost !== this.position) {
      throw new Error(`greeted at ${hello.offset} with a gap of ${lost}, stood at ${this.position}`);
    }
    if (hello.live < hello.offset) throw new Error(`live ${hello.live} before offset ${hello.offset}`);
  }

  #snapshot(bytes: Uint8Array, offset: number, isCurrent: () => boolean): void {
    const { time, random } = this.#world;
    if (!this.#owesScreen) throw new Error(`a snapshot at ${offset} that nothing is missing for`);
    if (offset !== this.position) throw new Error(`a snapshot of ${offset} at ${this.position}`);
    const screen = isSnapshot(bytes, offset);
    if (screen === undefined) throw new Error(`a snapshot of ${bytes.length} bytes that is not that of ${offset}`);
    if (screen.isExact === this.#isApproximate)
      throw new Error(`a snapshot that is said to be exact: ${!screen.isExact}`);
    this.#owesScreen = false;
    this.snapshots += 1;
    this.#undrawnAt = offset;
    this.#dealtAt = Math.max(this.#dealtAt, time.now + random.next() * this.plan.dealMs);
    const client = this.client;
    time.after(this.#dealtAt - time.now, () => {
      if (!isCurrent()) return;
      if (this.#undrawnAt === offset) this.#undrawnAt = undefined;
      client.processed(offset);
    });
  }

  /** Bytes go on: whoever has neither all of them nor a snapshot of where they go on must have been told. */
  #goOn(): void {
    if (!this.#owesScreen) return;
    this.#owesScreen = false;
    if (!this.#isApproximate) throw new Error(`no screen at ${this.position}, and it was not told`);
    this.approximations += 1;
  }

  #output(stream: OutputStream, bytes: Uint8Array, end: number, isCurrent: () => boolean): void {
    const { time, random } = this.#world;
    const from = end - bytes.length;
    this.#noteBytes("hears", from, end);
    this.#goOn();
    if (from !== this.position) throw new Error(`output at ${from}, expected at ${this.position}`);
    const { cols, rows, until } = this.#bridge().sizeAt(from);
    if (this.#size.cols !== cols || this.#size.rows !== rows || until < end) {
      throw new Error(
        `output from ${from} to ${end} at ${this.#size.cols} by ${this.#size.rows}, was at ${cols} by ${rows} until ${until}`,
      );
    }
    if (!isOutput(from, bytes, stream, this.tty)) throw new Error(`wrong bytes at ${from}, ${bytes.length} long`);
    this.position = end;
    this.#unprocessed += bytes.length;
    if (this.#unprocessed > MAX_UNDEALT_BYTES)
      throw new Error(`client holds ${this.#unprocessed} bytes not dealt with`);
    const wish = Math.max(time.now, this.#stallUntil) + random.next() * this.plan.dealMs;
    this.#dealtAt = Math.max(this.#dealtAt, wish);
    const client = this.client;
    time.after(this.#dealtAt - time.now, () => {
      if (!isCurrent()) return;
      this.#unprocessed -= bytes.length;
      this.#noteBytes("processes", from, end);
      client.processed(end);
    });
  }

  #writeLater(life: number): void {
    if (this.#isWriting || this.isInputWritten) return;
    this.#isWriting = true;
    const { time, random } = this.#world;
    const pauseMs = random.next() * this.plan.pauseMs;
    time.after(Math.max(pauseMs, this.#refusedUntil - time.now), () => {
      if (this.#life !== life || this.isOver) return;
      this.#isWriting = false;
      const count = Math.min(random.int(1, this.plan.pieceBytes), this.plan.inputBytes - this.#written);
      const bytes = inputBytes(this.plan.who, this.#written, count);
      this.#noteBytes("types", this.#written, this.#written + count);
      this.#written += count;
      this.#sink.end = Math.max(this.#sink.end, this.#written);
      if (this.client.write(bytes)) this.#writeLater(life);
      if (this.client.unackedInput > MAX_KEPT_INPUT_BYTES + this.plan.pieceBytes) {
        throw new Error(`outbox holds ${this.client.unackedInput} bytes`);
      }
    });
  }
}

function describe(frame: Frame): string {
  return typeof frame === "string" ? frame : `${frame.length} bytes`;
}
