// The screens' worker, with a fault: it never comes back from a write in which it finds HANG.

import type { ToWorker } from "../../src/screen/messages.ts";
import { Watch } from "../../src/screen/watch.ts";
import "../../src/screen/worker.ts";

declare const self: { onmessage: (event: MessageEvent<ToWorker>) => void };

const work = self.onmessage;
let watch: Watch | undefined;

self.onmessage = (event) => {
  const { data } = event;
  if (data.kind === "watch") watch = new Watch(data.shared);
  if (data.kind === "write" && Buffer.from(data.bytes).includes("HANG")) {
    watch?.begin(data.id);
    while (true);
  }
  work(event);
};
