// The Durable Object's connection to the bridge: opened when it is needed, kept alive, made again when it breaks, and
// closed when no client is left. InnerClient knows what the messages mean.

import {
  backoffMs,
  CLOSE,
  type ClientRecord,
  InnerClient,
  type InnerHello,
  PING_INTERVAL_MS,
  release,
  SILENCE_MS,
  type Trace,
  tracedReceiver,
  tracedSocket,
} from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import type { AttachOutcome } from "./upstream.ts";

export type HopOutcome =
  | { readonly kind: "open"; readonly hello: InnerHello }
  | Exclude<AttachOutcome, { kind: "open" }>;

export interface InnerHopEvents {
  /** Opens a WebSocket to the bridge, for the process that is known or to be made. `signal`: no caller waits any more. */
  attach(signal: AbortSignal): Promise<AttachOutcome>;
  /** Whether a container may have to be started for that, which takes its time. */
  mayStart(): boolean;
  /** The bridge has greeted. */
  hello(hello: InnerHello): void;
  /** The connection began or ended, or a control message came. */
  received(): void;
  /** Output came, maybe thousands of frames a second. */
  receivedOutput(): void;
  /** The bridge keeps the clients' places: this end may go. */
  parked(): void;
  /** The connection broke. @returns Whether it is to be made again. */
  broken(): boolean;
  /** An attempt to make it again ended so. @returns Whether there is to be another. */
  failed(outcome: Exclude<HopOutcome, { kind: "open" }>): boolean;
  clientBye(client: ClientRecord, code: number, reason: string): void;
  /** Says what passes; undefined where the session is not traced. */
  trace?(): Trace | undefined;
}

/** A fault that one end finds in the other, or in itself, it would find again at once. */
const FAULT_RETRY_MS = 1_000;
/** How long a container may take to start: more than the SDK gives it. */
const START_PATIENCE_MS = 150_000;
/** A connection that broke sooner after its greeting than this has brought no progress … */
const SHORT_LIVED_MS = 1_000;
/** … and after so many in a row, the next is waited for: a bridge that greets and hangs up would keep us busy for ever. */
const FREE_SHORT_LIVED = 20;
const MOST_ATTEMPTS = 4;
const GIVEN_UP = { kind: "unreachable", message: "nobody needs the bridge any more", retryAfterSeconds: 1 } as const;
/** Pings go at whole seconds: objects that share a machine wake it together, and the bridge hears many at once. */
const PING_STEP_MS = 1_000;

export class InnerHop {
  readonly client: InnerClient;
  readonly #events: InnerHopEvents;
  #socket: WebSocket | undefined;
  #opening: Promise<HopOutcome> | undefined;
  #settle: ((outcome: HopOutcome) => void) | undefined;
  /** Counts releases: an attempt from before the last one is given up. */
  #era = 0;
  #attempt = 0;
  /** Connections in a row that were short-lived, and when the last greeting came. */
  #shortLived = 0;
  #greetedAtMs = 0;
  #nextPingMs = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(events: InnerHopEvents) {
    this.#events = events;
    this.client = new InnerClient({
      hello: (hello) => {
        this.#attempt = Math.min(MOST_ATTEMPTS, Math.max(0, this.#shortLived - FREE_SHORT_LIVED));
        this.#greetedAtMs = Date.now();
        this.#events.hello(hello);
        this.#greeted({ kind: "open", hello });
      },
      // The close that follows says the same; some proxies lose it.
      bye: (code) => this.#closed(code),
      parked: () => this.#events.parked(),
      clientBye: (client, code, reason) => this.#events.clientBye(client, code, reason),
    });
  }

  get isOpen(): boolean {
    return this.client.isReady;
  }

  /** When a ping or the end of patience is due; undefined while there is no connection. */
  nextTickMs(): number | undefined {
    return this.#socket === undefined ? undefined : Math.min(this.#nextPingMs, this.client.silentAtMs);
  }

  tick(nowMs: number): void {
    if (this.#socket === undefined) return;
    if (this.client.silentAtMs <= nowMs) this.#closed(1006);
    else if (this.#nextPingMs <= nowMs) {
      this.#nextPingMs = pingAfter(nowMs);
      this.client.ping();
    }
  }

  /** Resolves when the bridge has greeted, or has said no. Attempts under way are shared. */
  open(): Promise<HopOutcome> {
    if (this.#retry !== undefined) clearTimeout(this.#retry);
    this.#retry = undefined;
    if (this.#opening !== undefined) return this.#opening;
    const opening = this.#open().finally(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    this.#opening = opening;
    return opening;
  }

  /** A client or a program needs the bridge: opens the connection, unless it is open, being opened or to be opened already. */
  keep(): void {
    const isCared = this.#socket !== undefined || this.#opening !== undefined || this.#retry !== undefined;
    if (!isCared) this.#retryLater();
  }

  /**
   * No client needs the bridge any more: the process goes on without us.
   * @param unheard Called if the connection turns out to be broken: the bridge may have missed what was said last.
   */
  release(unheard?: () => void): void {
    if (unheard !== undefined) {
      this.#socket?.addEventListener("close", ({ code }) => {
        if (code !== CLOSE.normal) unheard();
      });
    }
    if (this.#retry !== undefined) clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#era += 1;
    this.#opening = undefined;
    this.#letGo(CLOSE.normal);
    this.client.giveUpCalls();
    this.#failGreeting(GIVEN_UP.message);
  }

  async #open(): Promise<HopOutcome> {
    const era = this.#era;
    const outcome = await this.#attachInTime(this.#events.mayStart() ? START_PATIENCE_MS : SILENCE_MS);
    if (outcome.kind !== "open") return outcome;
    const { socket } = outcome;
    if (era !== this.#era) {
      // The session that asked for this connection is gone: its offset would be wrong.
      discard(socket);
      return GIVEN_UP;
    }
    socket.accept();
    return this.#use(socket);
  }

  /** Resolves when the bridge has greeted, or the connection has ended. */
  #use(socket: WebSocket): Promise<HopOutcome> {
    const greeted = new Promise<HopOutcome>((resolve) => {
      this.#settle = resolve;
    });
    const now = Date.now();
    this.#socket = socket;
    this.#nextPingMs = pingAfter(now);
    const trace = this.#events.trace?.();
    const own = { send: (frame: string | Uint8Array) => sendQuietly(socket, frame) };
    this.client.opened(tracedSocket(own, trace, "bridge", "object"), now);
    const receive = (frame: string | Uint8Array) => this.client.receive(frame, Date.now());
    const receiveTraced = tracedReceiver(receive, trace, "bridge", "bridge");
    const isCurrent = () => this.#socket === socket;
    socket.addEventListener("message", (event) => {
      if (!isCurrent()) return;
      const { data } = event;
      try {
        receiveTraced(typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer));
      } catch (error) {
        // The runtime would go on without this message. On a new connection both ends say where they stand.
        log.error("the bridge's message could not be dealt with:", error);
        this.#closed(CLOSE.internal);
        return;
      }
      if (typeof data === "string") this.#events.received();
      else this.#events.receivedOutput();
    });
    // An error may follow a close; each counts once.
    socket.addEventListener("close", (event) => isCurrent() && this.#closed(event.code));
    socket.addEventListener("error", () => isCurrent() && this.#closed(1006));
    this.#events.received();
    return greeted;
  }

  /** A bridge that says nothing at all may never do so: the connection may be half open. */
  async #attachInTime(patienceMs: number): Promise<AttachOutcome> {
    const given = new AbortController();
    const attached = this.#events.attach(given.signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tooLate = new Promise<AttachOutcome>((resolve) => {
      timer = setTimeout(() => {
        given.abort();
        resolve({ kind: "unreachable", message: `no answer in ${patienceMs / 1000} s`, retryAfterSeconds: 1 });
        // Should it answer after all, it has come too late.
        attached.then((outcome) => outcome.kind === "open" && discard(outcome.socket), ignore);
      }, patienceMs);
    });
    try {
      return await Promise.race([attached, tooLate]);
    } finally {
      if (timer !== undefined) clearTimeout(timer);
    }
  }

  #closed(code: number): void {
    this.#events.trace?.()?.(`the connection to the bridge ended with ${code}`);
    this.#letGo(CLOSE.goingAway);
    this.#failGreeting(`the bridge closed with ${code}`);
    this.#shortLived = Date.now() - this.#greetedAtMs < SHORT_LIVED_MS ? this.#shortLived + 1 : 0;
    const isFault = code === CLOSE.policy || code === CLOSE.internal;
    if (this.#events.broken()) this.#retryLater(isFault ? FAULT_RETRY_MS : 0);
    this.#events.received();
  }

  #letGo(code: number): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.client.closed();
    closeQuietly(socket, code, "");
  }

  #failGreeting(message: string): void {
    this.#greeted({ kind: "unreachable", message, retryAfterSeconds: 1 });
  }

  /** Tells who waits for the greeting what came of it. */
  #greeted(outcome: HopOutcome): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(outcome);
  }

  /** @param leastMs The least wait: a server before the bridge has asked for it, or a fault calls for it. */
  #retryLater(leastMs = 0): void {
    if (this.#retry !== undefined) return;
    const ms = Math.max(leastMs, this.#attempt === 0 ? 0 : backoffMs(this.#attempt, Math.random()));
    this.#attempt += 1;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      const era = this.#era;
      void this.open().then((outcome) => {
        if (era !== this.#era || outcome.kind === "open") return;
        if (!this.#events.failed(outcome)) return;
        const isAsked = outcome.kind === "unreachable" && outcome.isAskedToWait === true;
        this.#retryLater(isAsked ? outcome.retryAfterSeconds * 1000 : 0);
      });
    }, ms);
  }
}

function discard(socket: WebSocket): void {
  socket.accept();
  closeQuietly(socket, CLOSE.goingAway, "");
}

function ignore(): void {
  // The caller has long been told that there was no answer.
}

/** `frame` may be empty afterwards. */
export function sendQuietly(socket: WebSocket, frame: string | Uint8Array): void {
  try {
    socket.send(frame);
    // The runtime holds the bytes by itself until they are sent.
    if (typeof frame !== "string") release(frame);
  } catch {
    // The socket has just closed: its close event follows, and the next connection resends.
  }
}

function closeQuietly(socket: WebSocket | undefined, code: number, reason: string): void {
  try {
    socket?.close(code, reason);
  } catch {
    // Already closed.
  }
}

/** When the bridge is pinged next. */
function pingAfter(nowMs: number): number {
  return Math.floor((nowMs + PING_INTERVAL_MS) / PING_STEP_MS) * PING_STEP_MS;
}
