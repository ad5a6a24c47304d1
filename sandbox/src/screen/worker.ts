// The worker thread that keeps the screens of all sessions.

import type { FromWorker, ToWorker } from "./messages.ts";
import { ScreenScheduler } from "./scheduler.ts";
import { Watch } from "./watch.ts";

declare const self: {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: ArrayBufferLike[]): void;
};

// The emulator warns when its cleanup after a change of size takes a few milliseconds longer than planned.
console.warn = () => undefined;

let scheduler: ScreenScheduler | undefined;
let isScheduled = false;

/** Processor time of this thread: no screen is given up because the thread waited for a processor. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

self.onmessage = ({ data }) => {
  if (data.kind === "watch") {
    scheduler = new ScreenScheduler(new Watch(data.shared), workedMs, (message) => self.postMessage(message));
    return;
  }
  scheduler?.add(data);
  if (!isScheduled) work();
};

/** One turn, and then the event loop: messages of other sessions may have come. */
function work(): void {
  isScheduled = scheduler?.take() ?? false;
  if (isScheduled) setImmediate(work);
}
