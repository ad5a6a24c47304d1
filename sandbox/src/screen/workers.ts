// The worker of all screens: started when needed, restarted when it dies or hangs in one session's output, and ended with the last
// screen.

import { log } from "../base/log.ts";
import type { FromWorker, SessionMessage, ToWorker } from "./messages.ts";
import { Watch } from "./watch.ts";

/** The screen of a session. */
export type ScreenClient = {
  received(message: FromWorker): void;
  /** Everything that was sent is lost. `isOwnFault`: the worker died in this session's output, or for an unknown reason. */
  lost(isOwnFault: boolean): void;
  /** Everything that was sent is lost, because parsing this session's output took too long. */
  exceeded(): void;
};

/** The compiled bridge is one module with the worker as a second entry point (packages/local/src/build/builds.ts). */
const isCompiled = import.meta.url.startsWith("file:///$bunfs/");
/** A bundle has its worker beside it. */
const own = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js";
const WORKER_URL = new URL(isCompiled ? "./src/screen/worker.js" : own, import.meta.url).href;
/** How often a busy worker is checked. */
const LOOK_MS = 500;
/** The worker is ended if this many checks find the same piece of work. Usually a piece takes milliseconds. */
const MAX_LOOKS = 5;

type Running = {
  readonly worker: Worker;
  readonly watch: Watch;
  /** How many messages were sent. */
  sent: number;
  lastSteps: number;
  /** How many checks have found the same piece of work, and since when. */
  looks: number;
  sinceMs: number;
};

export class ScreenWorkers {
  readonly #start: () => Worker;
  readonly #lookMs: number;
  readonly #clients = new Map<number, ScreenClient>();
  #running: Running | undefined;
  #lookTimer: ReturnType<typeof setTimeout> | undefined;
  #nextId = 1;

  /** @param lookMs How often a busy worker is checked. */
  constructor(start: () => Worker = () => new Worker(WORKER_URL), lookMs = LOOK_MS) {
    this.#start = start;
    this.#lookMs = lookMs;
  }

  /** @returns The `id` for its messages. */
  attach(client: ScreenClient): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#clients.set(id, client);
    return id;
  }

  detach(id: number): void {
    if (!this.#clients.delete(id)) return;
    if (this.#running !== undefined) this.#post(this.#running, { kind: "close", id });
    if (this.#clients.size > 0) return;
    const running = this.#running;
    this.#running = undefined;
    running?.worker.terminate();
  }

  send(message: SessionMessage, transfer: ArrayBuffer[] = []): void {
    this.#running ??= this.#open();
    this.#post(this.#running, message, transfer);
  }

  #post(running: Running, message: SessionMessage, transfer: ArrayBuffer[] = []): void {
    running.sent += 1;
    running.worker.postMessage(message satisfies ToWorker, transfer);
    if (this.#lookTimer === undefined) this.#armLook();
  }

  #open(): Running {
    const worker = this.#start();
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#clients.get(data.id)?.received(data);
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#ended(worker, event.message);
    });
    worker.addEventListener("close", () => this.#ended(worker, "it ended"));
    worker.unref();
    const watch = new Watch();
    worker.postMessage({ kind: "watch", shared: watch.shared } satisfies ToWorker);
    return { worker, watch, sent: 0, lastSteps: 0, looks: 0, sinceMs: 0 };
  }

  #armLook(): void {
    this.#lookTimer = setTimeout(() => this.#look(), this.#lookMs);
    this.#lookTimer.unref();
  }

  #look(): void {
    this.#lookTimer = undefined;
    const running = this.#running;
    if (running === undefined || running.watch.done === running.sent) return;
    const { steps, session } = running.watch;
    if (steps === running.lastSteps && session !== 0) running.looks += 1;
    else {
      running.looks = 0;
      running.sinceMs = performance.now();
    }
    running.lastSteps = steps;
    // Both conditions, as this thread may have been delayed itself.
    const isStuck = running.looks >= MAX_LOOKS && performance.now() - running.sinceMs >= MAX_LOOKS * this.#lookMs;
    if (!isStuck) this.#armLook();
    else this.#stuck(running, session);
  }

  /** The screens of other sessions are parsed again from their logs. */
  #stuck(running: Running, session: number): void {
    this.#running = undefined;
    running.worker.terminate();
    log.error("the worker of the screens is restarted: one session's output took too long to parse");
    for (const [id, client] of [...this.#clients]) {
      if (id === session) client.exceeded();
      else client.lost(false);
    }
  }

  #ended(worker: Worker, reason: string): void {
    if (this.#running?.worker !== worker) return;
    const { session } = this.#running.watch;
    this.#running = undefined;
    worker.terminate();
    log.error(`the worker of the screens is restarted: ${reason}`);
    for (const [id, client] of [...this.#clients]) client.lost(session === 0 || id === session);
  }
}

export const screenWorkers = new ScreenWorkers();
