// The thread in which the screens of all sessions are kept. Carries out what it is told, each session in turn; decides
// nothing.

import type { FromWorker, ToWorker } from "./messages.ts";
import { Turns } from "./turns.ts";
import { Watch } from "./watch.ts";

declare const self: {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: ArrayBufferLike[]): void;
};

// The emulator says so when tidying up after a change of size took it a few milliseconds longer than it meant to.
console.warn = () => undefined;

let turns: Turns | undefined;
let isScheduled = false;

/** This thread's own processor time. On a busy machine it waits for a processor: no screen is given up for that. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

self.onmessage = ({ data }) => {
  if (data.kind === "watch") {
    turns = new Turns(new Watch(data.shared), workedMs, (message) => self.postMessage(message));
    return;
  }
  turns?.add(data);
  if (!isScheduled) work();
};

/** One turn; then the event loop, in which other sessions may have come. */
function work(): void {
  isScheduled = turns?.take() ?? false;
  if (isScheduled) setImmediate(work);
}
