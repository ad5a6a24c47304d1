// The one worker in which all sessions' screens are kept: started at the first need, anew when it dies or does not come back
// from one session's output, and ended with the last screen. Knows nothing of the messages but their session.

import { log } from "../base/log.ts";
import type { FromWorker, SessionMessage, ToWorker } from "./messages.ts";
import { Watch } from "./watch.ts";

/** One session's end. */
export type ScreenClient = {
  received(message: FromWorker): void;
  /** Everything that was sent is lost. `isOwnFault`: the worker died over this session's output, or the cause is not known. */
  lost(isOwnFault: boolean): void;
  /** The same, and parsing this session's output took too long. */
  exceeded(): void;
};

/** In the compiled bridge all modules are one, and the worker is its second entry point (packages/local/src/build/builds.ts). */
const isCompiled = import.meta.url.startsWith("file:///$bunfs/");
const WORKER_URL = new URL(isCompiled ? "./src/screen/worker.js" : "./worker.ts", import.meta.url).href;
/** While the worker has something to do it is looked at so often. */
const LOOK_MS = 500;
/** It is ended when it was found at the same piece of work this many times. Usually a piece takes milliseconds. */
const MAX_LOOKS = 5;

type Running = {
  readonly worker: Worker;
  readonly watch: Watch;
  /** Messages, of sessions. */
  sent: number;
  lastSteps: number;
  /** How often, and since when, it was found at the same piece of work. */
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

  /** @param lookMs How often the worker is looked at while it is busy. */
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
    // Both: this thread may have been held up itself.
    const isStuck = running.looks >= MAX_LOOKS && performance.now() - running.sinceMs >= MAX_LOOKS * this.#lookMs;
    if (!isStuck) this.#armLook();
    else this.#stuck(running, session);
  }

  /** The others' screens are drawn from their logs again. */
  #stuck(running: Running, session: number): void {
    this.#running = undefined;
    running.worker.terminate();
    log.error("The worker that keeps the screens is started anew: one session's output took it too long");
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
    log.error(`The worker that keeps the screens is started anew: ${reason}`);
    for (const [id, client] of [...this.#clients]) client.lost(session === 0 || id === session);
  }
}

export const screenWorkers = new ScreenWorkers();
