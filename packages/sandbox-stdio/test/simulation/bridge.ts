// The simulation's container: a process that can be held back and that takes input as it likes, and the shell around the
// session core that the real bridge has in sandbox/src/session/host.ts.

import {
  type ClientRecord,
  type ExitStatus,
  type Frame,
  InnerServer,
  MAX_FRAME_BYTES,
  OutputLog,
  ProcessSession,
  type Role,
  type ServerConnection,
  type SessionFacts,
  WakeupSchedule,
} from "../../src/index.ts";
import type { Chance, Listener, Socket } from "./network.ts";
import { inputByte, isSame, outputBytes, segmentLeft, snapshotBytes, streamAt } from "./pattern.ts";

const ignore = (): void => undefined;

export type ProcessPlan = {
  readonly tty: boolean;
  readonly outputBytes: number;
  /** The largest chunk that it writes at once, and how long it may sleep between two turns. */
  readonly chunkBytes: number;
  readonly sleepMs: number;
  /** What it takes of its input in one turn at most. */
  readonly readBytes: number;
  /** What the pipe or the terminal holds of it. */
  readonly pipeBytes: number;
  /** Whether it waits for the end of its input before it ends. */
  readonly waitsForEof: boolean;
  /** Whether it is looked at after each frame of its log. Absent: now and then, which a small log has no room for. */
  readonly isWatched?: boolean;
  readonly exit: ExitStatus;
};

/** How the model of a screen answers: after how long at most, how often not at all, and how often with a guess only. */
export type ScreenPlan = { readonly delayMs: number; readonly failing: number; readonly inexact: number };

/** How far a party has written, and where its later lives began that had lost their input: what waited before may be lost. */
export type Written = { end: number; readonly rebirths: number[] };

export type BridgeSetup = {
  readonly world: Chance;
  readonly facts: SessionFacts;
  readonly process: ProcessPlan;
  readonly screen: ScreenPlan;
  readonly logBytes: number;
  readonly written: readonly Written[];
  /** Whether input may be refused on the way, so that what comes is only part of what was written. */
  readonly isLoose: boolean;
  /** Whether it does not know of parking, and ignores it as all that is unknown. */
  readonly isOlder: boolean;
};

export class SimProcess {
  readonly plan: ProcessPlan;
  isHeld = false;
  hasEnded = false;
  eofs = 0;
  /** How many bytes of each driver have been taken. */
  readonly taken: number[] = [0, 0, 0, 0];
  /** Offsets in its writers' input at which an end of input came. */
  readonly eofsAt: number[][] = [];
  heldTurns = 0;
  /** When its last byte was written. */
  writtenAtMs: number | undefined;
  #room: number;
  #wasFull = false;
  readonly #setup: BridgeSetup;
  readonly #bridge: SimBridge;

  constructor(setup: BridgeSetup, bridge: SimBridge) {
    this.#setup = setup;
    this.plan = setup.process;
    this.#room = setup.process.pipeBytes;
    this.#bridge = bridge;
    this.#later();
  }

  get #world(): Chance {
    return this.#setup.world;
  }

  /** Input of party `who`, from `start` of all that it ever wrote. @returns How much is taken now. */
  write(who: number, start: number, bytes: Uint8Array): number {
    if (this.eofs > 0 && !this.plan.tty) throw new Error("input after the end of input");
    const { random } = this.#world;
    let count = Math.min(bytes.length, this.#room);
    if (count > 1 && random.chance(0.2)) count = random.int(1, count);
    this.#take(who, start, bytes.subarray(0, count));
    this.#room -= count;
    if (count < bytes.length) this.#wasFull = true;
    return count;
  }

  closeInput(): void {
    this.eofs += 1;
    this.eofsAt.push([...this.taken]);
  }

  #take(who: number, start: number, bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i += 1) this.#world.witness?.noted?.(`reads ${start + i}`);
    const at = this.taken[who] ?? 0;
    const written = this.#setup.written[who];
    const maySkip = this.#setup.isLoose || written?.rebirths.includes(start) === true;
    if (start !== at && !(maySkip && start > at))
      throw new Error(`input of party ${who} from ${start}, taken to ${at}`);
    if (start + bytes.length > (written?.end ?? 0)) throw new Error(`input of party ${who} that it never wrote`);
    for (let i = 0; i < bytes.length; i += 1) {
      if (bytes[i] !== inputByte(who, start + i)) throw new Error(`wrong input of party ${who} at ${start + i}`);
    }
    this.taken[who] = start + bytes.length;
  }

  #later(): void {
    const { time, random } = this.#world;
    const nap = random.chance(0.02)
      ? Math.max(this.plan.sleepMs, Math.min(50 * this.plan.sleepMs, 5_000))
      : this.plan.sleepMs;
    time.after(random.next() * nap, () => this.#turn());
  }

  #turn(): void {
    if (this.hasEnded) return;
    const { random } = this.#world;
    const { log } = this.#bridge;
    if (random.chance(0.7)) this.#room = Math.min(this.plan.pipeBytes, this.#room + random.int(1, this.plan.readBytes));
    if (this.#wasFull && this.#room > 0) {
      this.#wasFull = false;
      this.#bridge.writable();
    }
    if (this.isHeld) this.heldTurns += 1;
    else {
      let left = Math.min(random.int(1, this.plan.chunkBytes), this.plan.outputBytes - log.endOffset);
      const { isWatched = false } = this.plan;
      while (left > 0 && !(isWatched && this.isHeld)) {
        const offset = log.endOffset;
        const wanted = this.plan.tty ? left : Math.min(left, segmentLeft(offset));
        const memory = log.reserve(Math.min(wanted, isWatched ? log.frameBytes : MAX_FRAME_BYTES));
        memory.set(outputBytes(offset, memory.length));
        log.commit(memory.length, this.plan.tty ? 1 : streamAt(offset));
        for (let i = 0; i < memory.length; i += 1) this.#world.witness?.noted?.(`writes ${offset + i}`);
        left -= memory.length;
        if (isWatched || random.chance(0.5)) this.#bridge.appended();
      }
      this.#bridge.appended();
      if (log.endOffset >= this.plan.outputBytes) this.writtenAtMs ??= this.#world.time.now;
      const isDone = log.endOffset >= this.plan.outputBytes && (!this.plan.waitsForEof || this.eofs > 0);
      if (isDone && random.chance(0.3)) {
        this.hasEnded = true;
        this.#world.witness?.noted?.("exits");
        this.#bridge.ended(this.plan.exit);
        return;
      }
    }
    this.#later();
  }
}

export class SimBridge {
  readonly session: ProcessSession;
  readonly log: OutputLog;
  readonly process: SimProcess;
  snapshots = 0;
  readonly #world: Chance;
  readonly #screen: ScreenPlan;
  readonly #isOlder: boolean;
  readonly #connections = new Set<ServerConnection>();
  readonly #doorbell = new WakeupSchedule();
  /** Calls the session object that has parked. */
  onCall: () => void = () => undefined;
  #inner: InnerServer | undefined;
  #turns: ClientRecord[] = [];
  #isInputClosed = false;
  #cancel: () => void = () => undefined;
  #tickAt = Number.POSITIVE_INFINITY;
  /** Clients whose grace has passed here, or that have left: what they missed may be gone. */
  readonly departed = new Set<string>();
  /** Every size that the PTY had, and from which output byte on. */
  readonly sizes = [{ cols: 80, rows: 24, offset: 0 }];

  constructor(setup: BridgeSetup) {
    const { world, facts } = setup;
    this.#world = world;
    this.#screen = setup.screen;
    this.#isOlder = setup.isOlder;
    this.log = new OutputLog({ cols: 80, rows: 24 }, setup.logBytes);
    this.session = new ProcessSession({
      facts,
      log: this.log,
      now: () => world.time.now,
      reuseFrames: true, // Its sockets copy at once, as Bun's do: see copied().
      screen: facts.tty ? { request: () => this.#drawScreen() } : undefined,
      upstream: {
        attached: () => this.changed(),
        input: (client, { kind }) => {
          const { keyboard } = this.session;
          const isLent = keyboard.isLent && keyboard.holder === client.id;
          if (kind === "bytes" && client.role === "viewer" && !isLent)
            throw new Error(`input of ${client.name} was taken`);
          this.#turns.push(client);
          if (this.#turns.length === 1) this.#pump();
        },
        ...{ pane: ignore, signal: ignore, kill: ignore, holder: ignore },
        resize: (_client, size) => void this.sizes.push({ ...size, offset: this.log.endOffset }),
        acked: () => this.changed(),
        departed: (client) => {
          this.departed.add(client.id);
          this.changed();
        },
        answerer: () => false,
      },
    });
    this.process = new SimProcess(setup, this);
    this.changed();
  }

  // ---- Connections ---------------------------------------------------------------------------------------------

  addConnection(connection: ServerConnection): void {
    this.#connections.add(connection);
    this.changed();
  }

  removeConnection(connection: ServerConnection): void {
    this.#connections.delete(connection);
    this.changed();
  }

  /** Takes the inner hop's connection. @returns What its socket reports to. */
  openInner(socket: () => Socket, asked: number | undefined): { listener: Listener; open: () => void } {
    const inner = new InnerServer(
      this.session,
      {
        send: (frame) => socket().send(copied(frame)),
        close: (code) => socket().close(code),
        isWritable: () => true,
      },
      this.#world.time.now,
    );
    return {
      listener: {
        owner: "bridge",
        receive: (frame) => {
          if (this.#isOlder && typeof frame === "string" && frame.startsWith('{"type":"park"')) return;
          inner.receive(frame, this.#world.time.now);
          this.changed();
        },
        closed: (code) => {
          inner.closed(code);
          if (this.#inner === inner) {
            this.#inner = undefined;
            if (inner.parking !== undefined) this.#doorbell.park(inner.parking, this.#world.time.now);
          }
          this.changed();
        },
      },
      open: () => {
        const old = this.#inner;
        this.#inner = inner;
        this.#doorbell.answered();
        old?.close(4409, "replaced by a newer connection");
        inner.open({ cmd: ["bash"], createdAt: "2026-01-01T00:00:00.000Z" }, asked);
        this.changed();
      },
    };
  }

  /** What SessionScreen does: it is a little behind the log, and it stands between two changes of size or at one. */
  #drawScreen(): void {
    const { time, random } = this.#world;
    if (random.chance(this.#screen.failing) && random.chance(0.5)) return;
    time.after(random.next() * this.#screen.delayMs, () => {
      if (random.chance(this.#screen.failing)) this.session.snapshotReady(undefined);
      else {
        this.snapshots += 1;
        const offset = Math.max(this.log.startOffset, this.log.endOffset - random.pick([0, 0, 1, 700]));
        const isExact = !random.chance(this.#screen.inexact);
        const before = this.sizes.findLast((size) => size.offset < offset);
        const { cols, rows } = before !== undefined && random.chance(0.5) ? before : this.sizeAt(offset);
        this.session.snapshotReady({ offset, cols, rows, isExact, bytes: snapshotBytes(offset, isExact) });
      }
      this.changed();
    });
  }

  /** The PTY's size at the output byte at `offset`, and from which byte on it has another: one that no byte had is none. */
  sizeAt(offset: number): { cols: number; rows: number; until: number } {
    const { cols, rows } = this.sizes.findLast((size) => size.offset <= offset) ?? { cols: 0, rows: 0 };
    const next = this.sizes.find((size, i) => {
      const hasBytes = size.offset !== this.sizes[i + 1]?.offset;
      return hasBytes && size.offset > offset && (size.cols !== cols || size.rows !== rows);
    });
    return { cols, rows, until: next?.offset ?? Number.POSITIVE_INFINITY };
  }

  // ---- Process -------------------------------------------------------------------------------------------------

  appended(): void {
    this.session.appended();
    this.changed();
  }

  writable(): void {
    this.#pump();
    this.changed();
  }

  ended(status: ExitStatus): void {
    this.#isInputClosed = true;
    this.session.closeInput();
    this.#pump();
    this.session.exited(status);
    this.changed();
  }

  #pump(): void {
    let done = 0;
    for (; done < this.#turns.length; done += 1) {
      const client = this.#turns[done];
      const entry = client?.input.entries[0];
      if (client === undefined || entry === undefined) continue;
      if (this.#isInputClosed || (this.process.eofs > 0 && !this.session.facts.tty)) {
        if (entry.kind === "bytes") this.session.wrote(client, entry.bytes.length);
        else this.session.appliedEof(client);
      } else if (entry.kind === "bytes") {
        const count = this.process.write(whoOf(client), entry.start, entry.bytes);
        if (count > 0) this.session.wrote(client, count);
        if (count < entry.bytes.length) break;
      } else if (entry.kind === "eof") {
        this.process.closeInput();
        this.session.appliedEof(client);
      }
    }
    this.#turns.splice(0, done);
  }

  // ---- Time and pace -------------------------------------------------------------------------------------------

  changed(): void {
    // Within the constructor there is no process yet.
    if ((this.process as SimProcess | undefined) === undefined) return;
    this.process.isHeld = this.session.shouldHold;
    const { now } = this.#world.time;
    let next = Math.min(this.session.nextTickMs ?? Number.POSITIVE_INFINITY, this.#doorbell.nextMs(this.#progress));
    for (const connection of this.#connections) next = Math.min(next, connection.silentAtMs ?? next);
    if (this.#inner !== undefined) next = Math.min(next, this.#inner.silentAtMs);
    if (next >= this.#tickAt) return;
    this.#cancel();
    this.#tickAt = next;
    const late = this.#world.random.chance(0.1) ? this.#world.random.next() * 5 : 0;
    this.#cancel = this.#world.time.after(next - now + late, () => this.#tick());
  }

  #tick(): void {
    this.#tickAt = Number.POSITIVE_INFINITY;
    const { now } = this.#world.time;
    for (const connection of [...this.#connections]) {
      if ((connection.silentAtMs ?? Number.POSITIVE_INFINITY) <= now) connection.drop();
    }
    if (this.#inner !== undefined && this.#inner.silentAtMs <= now) {
      const inner = this.#inner;
      this.#inner = undefined;
      inner.close(1001, "nothing was heard");
      if (inner.parking !== undefined) this.#doorbell.park(inner.parking, now);
    }
    if (this.#doorbell.nextMs(this.#progress) <= now) {
      this.#doorbell.called(this.#progress, now);
      // A call may be lost.
      if (!this.#world.random.chance(0.2)) this.#world.time.after(this.#world.random.next() * 20, () => this.onCall());
    }
    this.session.tick();
    this.changed();
  }

  get #progress() {
    return { endOffset: this.log.endOffset, hasEnded: this.session.exit !== undefined };
  }
}

/** What a socket does that copies while it sends. */
export function copied(frame: Frame): Frame {
  return typeof frame === "string" ? frame : frame.slice();
}

/** Whether `bytes` are the output at `offset`, and `stream` is theirs. */
export function isOutput(offset: number, bytes: Uint8Array, stream: number, tty: boolean): boolean {
  for (let done = 0; done < bytes.length; ) {
    const count = Math.min(bytes.length - done, segmentLeft(offset + done));
    if ((tty ? 1 : streamAt(offset + done)) !== stream) return false;
    done += count;
  }
  return isSame(bytes, outputBytes(offset, bytes.length));
}

/** Parties are named by their number; a viewer's number is nobody's among the drivers. */
export function nameOf(who: number, role: Role): string {
  return `${role} ${who}`;
}

function whoOf(client: ClientRecord): number {
  const who = /^(?:driver|viewer) ([0-4])(?: \(\d+\))?$/.exec(client.name)?.[1];
  if (who === undefined) throw new Error(`input of ${client.name} reached the process`);
  return Number(who);
}

export function inputBytes(who: number, from: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) bytes[i] = inputByte(who, from + i);
  return bytes;
}
