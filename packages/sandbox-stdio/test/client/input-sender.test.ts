// The outbox of a client: crumbs are gathered, each byte is sent once, and again only after a break.

import { expect, test } from "vitest";
import { Random } from "../../../local/src/base/random.ts";
import { InputSender } from "../../src/client/input-sender.ts";
import { MAX_UNACKED_INPUT_BYTES } from "../../src/index.ts";

test("sends a large chunk without copying it", () => {
  const outbox = new InputSender();
  const chunk = new Uint8Array(100_000);
  outbox.write(chunk);
  const frame = outbox.next();
  expect([frame?.length, frame?.buffer === chunk.buffer]).toEqual([65_536, true]);
});

test("sends each byte once, again only after a rewind, however acknowledgements, chunks and breaks fall", () => {
  const seed = 20261120;
  const random = new Random(seed);
  for (let round = 0; round < 5; round += 1) {
    const outbox = new InputSender();
    outbox.rewind(0);
    let [written, taken] = [0, 0];
    /** Where the present connection stands. */
    let wire = 0;
    while (written < 400_000) {
      const length = random.next() < 0.3 ? Math.floor(random.next() * 80_000) : Math.floor(random.next() * 20);
      outbox.write(Uint8Array.from({ length }, (_, i) => (written + i) % 251));
      written += length;
      for (let frame = outbox.next(); frame !== undefined; frame = outbox.next()) {
        if (!frame.every((byte, i) => byte === (wire + i) % 251)) {
          throw new Error(`seed ${seed}, round ${round}: the frame of ${frame.length} bytes at ${wire} is wrong`);
        }
        wire += frame.length;
        if (wire - taken > MAX_UNACKED_INPUT_BYTES) throw new Error(`seed ${seed}, round ${round}: too much is out`);
        if (random.next() < 0.1) break;
      }
      const isBreak = random.next() < 0.2;
      taken += Math.floor(random.next() * (wire - taken + 1));
      if (isBreak) {
        outbox.rewind(taken);
        wire = taken;
      } else outbox.ack(taken);
      expect([outbox.acked, outbox.length, outbox.isAllSent]).toEqual([taken, written - taken, wire === written]);
    }
  }
});

test("L10: what is dropped is what was not sent: the sent half of a chunk is sent again after a break", () => {
  const outbox = new InputSender();
  outbox.rewind(0);
  const chunk = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
  outbox.write(chunk);
  outbox.next();
  expect(outbox.dropUnsent()).toEqual([chunk.subarray(65_536)]);
  outbox.write(new Uint8Array([7]));
  outbox.rewind(0);
  expect(outbox.next()).toEqual(chunk.subarray(0, 65_536));
  expect(outbox.next()).toEqual(new Uint8Array([7]));
});

test("R7: with nothing kept it goes on where other input has ended; over input that is kept it can't", () => {
  const outbox = new InputSender();
  outbox.rewind(0);
  outbox.rewind(6);
  outbox.write(new Uint8Array([1, 2]));
  expect([outbox.acked, outbox.end]).toEqual([6, 8]);
  expect(() => outbox.rewind(9)).toThrow("Cannot continue at 9: input ends at 8");
});

test("R7: what one connection acknowledged before it was sent is not taken from the next, which counts anew", () => {
  const outbox = new InputSender(true);
  outbox.rewind(0);
  outbox.write(new Uint8Array(2));
  outbox.next();
  outbox.ack(9);
  outbox.write(new Uint8Array(10));
  outbox.rewind(2);
  outbox.next();
  expect([outbox.acked, outbox.length, outbox.isAllSent]).toEqual([2, 10, true]);
});

test("gathers crumbs: a quarter of a megabyte of single bytes is sent, and sent again, in no more than a few frames", () => {
  const outbox = new InputSender();
  outbox.rewind(0);
  for (let i = 0; i < MAX_UNACKED_INPUT_BYTES; i += 1) outbox.write(new Uint8Array([i % 251]));
  for (let i = 0; i < 2; i += 1) {
    const lengths = [];
    for (let frame = outbox.next(); frame !== undefined; frame = outbox.next()) lengths.push(frame.length);
    expect(lengths).toEqual([65_536, 65_536, 65_536, 65_536]);
    outbox.rewind(0);
  }
});
