// The one worker in which all sessions' screens are kept: started at the first need, anew when it dies, and ended with the
// last screen. Knows nothing of what is in the messages beyond whose they are.

import type { FromWorker, ToWorker } from "./messages.ts";

/** One session's end. */
export type ScreenClient = {
  received(message: FromWorker): void;
  /** Everything that was sent is lost. */
  lost(): void;
};

/** In the compiled bridge all modules are one, and the worker is its second entry point (scripts/build.ts). */
const isCompiled = import.meta.url.startsWith("file:///$bunfs/");
const WORKER_URL = new URL(isCompiled ? "./src/screen/worker.js" : "./worker.ts", import.meta.url).href;

export class ScreenWorkers {
  readonly #start: () => Worker;
  readonly #clients = new Map<number, ScreenClient>();
  #worker: Worker | undefined;
  #nextId = 1;

  constructor(start: () => Worker = () => new Worker(WORKER_URL)) {
    this.#start = start;
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
    this.#worker?.postMessage({ kind: "close", id } satisfies ToWorker);
    if (this.#clients.size > 0) return;
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.terminate();
  }

  send(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.#worker ??= this.#open();
    this.#worker.postMessage(message, transfer);
  }

  #open(): Worker {
    const worker = this.#start();
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#clients.get(data.id)?.received(data);
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#ended(worker, event.message);
    });
    worker.addEventListener("close", () => this.#ended(worker, "it ended"));
    worker.unref();
    return worker;
  }

  #ended(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    worker.terminate();
    console.error(`The worker that keeps the screens is started anew: ${reason}`);
    for (const client of [...this.#clients.values()]) client.lost();
  }
}

export const screenWorkers = new ScreenWorkers();
