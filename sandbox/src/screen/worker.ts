// The thread in which the screens of all sessions are kept. Carries out what it is told; decides nothing.

import { Emulator } from "./emulator.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

declare const self: {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: ArrayBufferLike[]): void;
};

// The emulator says so when tidying up after a change of size took it a few milliseconds longer than it meant to.
console.warn = () => undefined;

const emulators = new Map<number, Emulator>();

self.onmessage = ({ data }) => {
  try {
    carryOut(data);
  } catch (error) {
    // One session's output must not cost the others their screens.
    emulators.delete(data.id);
    self.postMessage({ kind: "failed", id: data.id, reason: String(error) });
  }
};

function carryOut(message: ToWorker): void {
  const { id } = message;
  if (message.kind === "open") {
    emulators.get(id)?.dispose();
    emulators.set(id, new Emulator(message.size, message.offset, message.isExact));
    return;
  }
  const emulator = emulators.get(id);
  if (emulator === undefined) return;
  switch (message.kind) {
    case "write": {
      const start = performance.now();
      const answers = emulator.write(message.bytes, message.size);
      self.postMessage({ kind: "parsed", id, answers, ms: performance.now() - start });
      return;
    }
    case "skip":
      emulator.skip(message.skip);
      return;
    case "draw":
      self.postMessage({ kind: "drawn", id, snapshot: emulator.draw() });
      return;
    case "close":
      emulator.dispose();
      emulators.delete(id);
      return;
  }
}
