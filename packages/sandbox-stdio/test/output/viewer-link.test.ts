// A viewer of a flood at the far end of a link: a reader whose frames wait to be whole, and a client that acknowledges in
// one of the ways that clients have.

import { describe, expect, test } from "vitest";
import { ACK_BYTES, ACK_DELAY_MS, OutputLog } from "../../src/index.ts";
import { FrameSource, OutputReader } from "../../src/output/output-reader.ts";
import { Window } from "../../src/output/window.ts";
import { Scheduler } from "../simulation/scheduler.ts";

const MB = 1_000_000 / 1000;
/** How much output is always ahead of the reader. */
const AHEAD_BYTES = 600_000;

/** The share of the link that is used once its window has settled. */
function shareUsed(bytesPerMs: number, delayMs: number, ackBytes: number): number {
  const time = new Scheduler();
  const log = new OutputLog({ cols: 80, rows: 24 });
  const flow = new Window(0, undefined, "viewer");
  const chunk = new Uint8Array(16_384);
  let [dealt, acked, busyUntil] = [0, 0, 0];
  let cancelAck: (() => void) | undefined;

  const reader = new OutputReader(log, new FrameSource(log, false), 0, flow, {
    send: () => undefined,
    sendSnapshot: () => undefined,
    isWritable: () => true,
    sendOutput: (frame) => {
      busyUntil = Math.max(time.now, busyUntil) + frame.length / bytesPerMs;
      time.at(busyUntil + delayMs, () => deal(frame.length - 1));
    },
  });
  const pump = () => {
    while (log.endOffset < reader.cursor + AHEAD_BYTES) log.append(chunk, 1);
    reader.pump(time.now, undefined);
  };
  const deal = (bytes: number) => {
    dealt += bytes;
    if (dealt - acked >= ackBytes) ack();
    else cancelAck ??= time.after(ACK_DELAY_MS, ack);
  };
  const ack = () => {
    cancelAck?.();
    cancelAck = undefined;
    acked = dealt;
    const offset = dealt;
    time.after(delayMs, () => {
      flow.ack(offset, time.now);
      pump();
    });
  };
  pump();
  // A fast link needs less time to be as sure.
  const [fromMs, toMs] = bytesPerMs > 4 * MB ? [3_000, 5_000] : [10_000, 20_000];
  time.run(fromMs, () => false);
  const from = dealt;
  time.run(toMs, () => false);
  return (dealt - from) / (toMs - fromMs) / bytesPerMs;
}

describe.each([
  ["after each frame of full length, as ours do", ACK_BYTES],
  ["after 64 KiB and not before", 64 * 1024],
  ["each frame", 1],
] as const)("W3: a viewer that acknowledges %s uses four fifths of", (_name, ackBytes) => {
  test.each([
    [0.5, 50],
    [1, 5],
    [1, 50],
    [1.5, 100],
    [3, 50],
    [5, 25],
    [20, 5],
  ])("%d MB/s with %d ms each way", (rate, delayMs) => {
    expect(shareUsed(rate * MB, delayMs, ackBytes)).toBeGreaterThan(0.8);
  });
});
