// The waits that are open at one session's object (H21e): each is a socket of the Worker's that outlives the object, with what is
// needed to go on written down beside it. Decides when each is looked at; what it comes to is Waiting's business.

import { httpStatusOf } from "sandbox-stdio/core";
import type { KeptWait } from "sandbox-stdio/programs";
import { log } from "../base/log.ts";
import type { Bounded, Lifetimes } from "../sockets/lifetimes.ts";
import { type ProgramAnswer, refused, type WaitCall } from "./operations/call.ts";
import type { Waiting } from "./operations/wait.ts";
import { type FromObject, type FromWorker, WAIT_TAG } from "./wait-socket.ts";

const NORMAL = 1000;

/** What stands with the socket. */
type Kept = { readonly call: WaitCall; readonly untilMs: number; readonly wait: KeptWait };

export interface PendingWaitsPorts {
  readonly ctx: Pick<DurableObjectState, "acceptWebSocket" | "getWebSockets">;
  readonly lifetimes: Lifetimes;
  /** The wait goes on here. @returns What to answer, where it can't. */
  goOn(call: WaitCall, kept: KeptWait): Promise<Waiting | ProgramAnswer>;
  /** Resolves when what the process said while the inner hop was closed is here, or can't be had. */
  catchUp(): Promise<unknown>;
  /** A wait has ended. */
  ended(): void;
  /** The next deadline, or the reasons to stay in memory, may have changed. */
  changed(): void;
}

export class PendingWaits {
  readonly #ports: PendingWaitsPorts;
  readonly #held = new Map<WebSocket, HeldWait>();
  #comings = 0;

  constructor(ports: PendingWaitsPorts) {
    this.#ports = ports;
  }

  get count(): number {
    return this.#held.size;
  }

  /** How many have not come to the end of the output: they share the work of searching. */
  get searching(): number {
    let count = 0;
    for (const held of this.#held.values()) if (held.isBehind) count += 1;
    return count;
  }

  /** What changes whenever one comes or goes. */
  get counts(): string {
    return `${this.#comings} ${this.#held.size}`;
  }

  /** Whether one of them needs this object in memory. */
  get isBusy(): boolean {
    for (const held of this.#held.values()) if (held.isBusy) return true;
    return false;
  }

  /** When the last of them is over, as Date.now(). */
  get untilMs(): number {
    return Math.max(0, ...[...this.#held.values()].map(({ untilMs }) => untilMs));
  }

  /** To be called once: an earlier life of this object may have left some. They go on with {@link goOn}. */
  restore(): void {
    for (const socket of this.#ports.ctx.getWebSockets(WAIT_TAG)) {
      const kept = socket.deserializeAttachment() as Kept | null;
      if (kept === null) closeQuietly(socket);
      else this.#add(socket, kept.call, kept.untilMs, kept.wait);
    }
  }

  /** Holds a wait that is not met yet. @param signal Says that the caller is gone before its upgrade was answered. */
  hold(waiting: Waiting, call: WaitCall, signal: AbortSignal): Response {
    const pair = new WebSocketPair();
    const socket = pair[1];
    this.#ports.ctx.acceptWebSocket(socket, [WAIT_TAG]);
    const held = this.#add(socket, call, Date.now() + call.operation.timeoutMs, waiting.kept);
    held.begin(waiting);
    const vanished = () => void this.closed(socket);
    if (signal.aborted) vanished();
    else signal.addEventListener("abort", vanished);
    return new Response(null, { status: 101, webSocket: pair[0] });
  }

  #add(socket: WebSocket, call: WaitCall, untilMs: number, kept: KeptWait): HeldWait {
    const held = new HeldWait(socket, call, untilMs, kept, this.#ports, () => this.#remove(socket));
    this.#held.set(socket, held);
    this.#comings += 1;
    this.#ports.lifetimes.add(held, call.who, call.pass);
    return held;
  }

  #remove(socket: WebSocket): void {
    const held = this.#held.get(socket);
    if (held === undefined) return;
    this.#held.delete(socket);
    this.#ports.lifetimes.remove(held);
    this.#ports.ended();
  }

  /** @returns Whether the socket is one of a wait. */
  message(socket: WebSocket, message: string | ArrayBuffer): boolean {
    const held = this.#held.get(socket);
    if (held === undefined) return false;
    const { type } = JSON.parse(String(message)) as FromWorker;
    void held.told(type === "over");
    return true;
  }

  /** @returns Whether the socket was one of a wait. */
  closed(socket: WebSocket): boolean {
    const held = this.#held.get(socket);
    held?.end();
    if (held !== undefined) closeQuietly(socket);
    return held !== undefined;
  }

  /** Writes down what the next life of this object needs. @returns Whether all of it fits. */
  keep(): boolean {
    return [...this.#held.values()].every((held) => held.keep());
  }

  /** Continues the waits of an earlier life of this object. */
  goOn(): void {
    for (const held of this.#held.values()) held.goOn();
  }
}

class HeldWait implements Bounded {
  isEnded = false;
  readonly untilMs: number;
  readonly #socket: WebSocket;
  readonly #call: WaitCall;
  readonly #ports: PendingWaitsPorts;
  readonly #ended: () => void;
  #kept: KeptWait;
  #waiting: Waiting | undefined;
  #unwatch: () => void = () => undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What it does that takes more than one turn. */
  #underWay = 0;
  #isGoingOn = false;
  #isOver = false;

  constructor(
    socket: WebSocket,
    call: WaitCall,
    untilMs: number,
    kept: KeptWait,
    ports: PendingWaitsPorts,
    ended: () => void,
  ) {
    this.untilMs = untilMs;
    this.#socket = socket;
    this.#call = call;
    this.#kept = kept;
    this.#ports = ports;
    this.#ended = ended;
  }

  get isBusy(): boolean {
    return this.#waiting === undefined || this.#underWay > 0 || this.#timer !== undefined;
  }

  get isBehind(): boolean {
    return this.#waiting?.isBehind === true;
  }

  begin(waiting: Waiting): void {
    this.#waiting = waiting;
    this.keep();
    this.#unwatch = waiting.reached.watch(() => {
      // Otherwise its search looks at this output, too.
      if (this.#timer === undefined || !waiting.isBehind) this.#look();
    }, true);
    if (this.#isOver) waiting.timeOver();
    this.#sayWhenToLook();
    this.#look();
  }

  /** @returns Whether it fits beside the socket. */
  keep(): boolean {
    const wait = this.#waiting?.kept ?? this.#kept;
    const kept: Kept = { call: this.#call, untilMs: this.untilMs, wait };
    try {
      this.#socket.serializeAttachment(kept);
      return true;
    } catch (error) {
      log.warn("a wait can't be kept:", error);
      return false;
    }
  }

  /** Continues a wait of an earlier life of the object, unless it already does. */
  goOn(): void {
    if (this.#waiting !== undefined || this.#isGoingOn || this.isEnded) return;
    this.#isGoingOn = true;
    const leftMs = Math.max(0, this.untilMs - Date.now());
    const call = { ...this.#call, operation: { ...this.#call.operation, timeoutMs: leftMs } };
    this.#ports.goOn(call, this.#kept).then(
      (waiting) => {
        if (this.isEnded) return;
        if ("status" in waiting) this.#answer(waiting);
        else this.begin(waiting);
      },
      (error: unknown) => {
        log.error("a wait could not go on:", error);
        this.#answer(refused(503, "unavailable", "the session can't be reached just now: ask again"));
      },
    );
  }

  /** The Worker says that it is time to look, or that the time is over. */
  async told(isOver: boolean): Promise<void> {
    this.#isOver ||= isOver;
    const waiting = this.#waiting;
    if (waiting === undefined) return; // It looks when it goes on.
    this.#underWay += 1;
    await this.#ports.catchUp().catch((error: unknown) => log.warn("a wait could not catch up:", error));
    this.#underWay -= 1;
    if (this.isEnded) return;
    if (this.#isOver) waiting.timeOver();
    this.#look();
    this.#sayWhenToLook();
    this.#ports.changed();
  }

  dismiss(code: number, reason: string): void {
    const status = httpStatusOf(code);
    this.#answer(refused(status, status === 401 ? "revoked" : "ended", reason));
  }

  /** Nobody waits any more. */
  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.#unwatch();
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#ended();
  }

  #look(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || this.isEnded) return;
    const answer = waiting.look();
    if (answer !== undefined) {
      this.#answer(answer);
      return;
    }
    const { nextMs } = waiting;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    if (nextMs === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#look();
        this.#ports.changed();
      },
      Math.max(0, nextMs - Date.now()),
    );
  }

  #answer(answer: ProgramAnswer): void {
    if (this.isEnded) return;
    this.end();
    // The stored request is void: it has been answered.
    this.#socket.serializeAttachment(null);
    this.#say({ type: "answer", answer });
    closeQuietly(this.#socket);
  }

  /** The Worker reports passing time: a timer here would keep the object in memory. */
  #sayWhenToLook(): void {
    const inMs = this.isEnded ? undefined : this.#waiting?.idleInMs;
    if (inMs !== undefined) this.#say({ type: "look", inMs });
  }

  #say(message: FromObject): void {
    try {
      this.#socket.send(JSON.stringify(message));
    } catch {
      // The socket has just closed: its close event follows.
    }
  }
}

function closeQuietly(socket: WebSocket): void {
  try {
    socket.close(NORMAL, "");
  } catch {
    // The socket has closed.
  }
}
