// One client's input queue, on both hops, alone.

import { describe, expect, test } from "vitest";
import { InputQueue } from "../../src/input/input-queue.ts";
import { release } from "../../src/input/release.ts";
import { bytes, text } from "../support/fixtures.ts";

/** Takes everything that waits, in pieces of `most` bytes. */
function drain(queue: InputQueue, most = Number.POSITIVE_INFINITY): string {
  let taken = "";
  for (let entry = queue.entries[0]; entry !== undefined; entry = queue.entries[0]) {
    if (entry.kind === "bytes") {
      const count = Math.min(most, entry.bytes.length);
      taken += text(entry.bytes.subarray(0, count));
      queue.take(count);
    } else if (entry.kind === "eof") {
      taken += "^D";
      queue.takeEof();
    } else throw new Error("refused bytes wait where the process is fed");
  }
  return taken;
}

describe("the process's side", () => {
  test("I5: bytes are taken once, whatever is sent again and however the pieces overlap", () => {
    const queue = new InputQueue("process");
    queue.push(0, bytes("abc"));
    expect(queue.push(0, bytes("abc"))).toBeUndefined();
    expect(queue.push(1, bytes("bc"))).toBeUndefined();
    expect(queue.push(2, bytes("cdef"))).toMatchObject({ start: 3, end: 6 });
    expect([queue.received, queue.taken, queue.queuedBytes]).toEqual([6, 0, 6]);
    expect(drain(queue, 2)).toBe("abcdef");
    expect([queue.received, queue.taken, queue.queuedBytes]).toEqual([6, 6, 0]);
    expect(queue.push(4, bytes("efgh"))).toMatchObject({ start: 6, end: 8 });
  });

  test("I7: refused bytes count as taken once everything before them is", () => {
    const queue = new InputQueue("process");
    queue.push(0, bytes("abc"));
    queue.refuse(10);
    queue.push(10, bytes("xyz"));
    expect([queue.received, queue.taken]).toEqual([13, 0]);
    queue.take(3);
    expect(queue.taken).toBe(10);
    expect(drain(queue)).toBe("xyz");
    expect(queue.taken).toBe(13);
  });

  test("I7: what was refused before is refused once, and after an end of input counts when that is applied", () => {
    const queue = new InputQueue("process");
    queue.pushEof(0);
    queue.refuse(5);
    expect([queue.refuse(5), queue.refuse(4), queue.received, queue.taken]).toEqual([undefined, undefined, 5, 0]);
    queue.takeEof();
    expect([queue.taken, queue.entries]).toEqual([5, []]);
  });

  test("L6: of a client that is forgotten nothing waits", () => {
    const queue = new InputQueue("process");
    queue.push(0, bytes("abc"));
    queue.abandon();
    expect([queue.entries, queue.queuedBytes]).toEqual([[], 0]);
  });

  test("I8: an offset ahead of the count sets it: the bytes between were refused", () => {
    const queue = new InputQueue("process");
    queue.push(5, bytes("fgh"));
    expect([queue.received, queue.taken, drain(queue)]).toEqual([8, 5, "fgh"]);
  });

  test("I9: an end of input is applied once for each offset, after what was received before it", () => {
    const queue = new InputQueue("process");
    queue.push(0, bytes("ab"));
    expect(queue.pushEof(2)).toMatchObject({ kind: "eof", end: 2 });
    expect(queue.pushEof(2)).toBeUndefined();
    expect(queue.pushEof(1)).toBeUndefined();
    queue.push(2, bytes("cd"));
    expect(queue.pushEof(4)).toMatchObject({ kind: "eof", end: 4 });
    expect(drain(queue)).toBe("ab^Dcd^D");
    expect(queue.eof).toBe(4);
  });

  test("I9: an end of input beyond what was received ends what was received, and no offset is used up by it", () => {
    const queue = new InputQueue("process");
    queue.push(0, bytes("ab"));
    queue.pushEof(1_000_000);
    for (let i = 0; i < 100; i += 1) expect(queue.pushEof(1_000_001 + i)).toBeUndefined();
    queue.push(2, bytes("c"));
    queue.pushEof(3);
    expect(drain(queue)).toBe("ab^Dc^D");
  });

  test("L5: crumbs that wait are gathered, and written in order with what the process has begun to take", () => {
    const queue = new InputQueue("process");
    let sent = "";
    for (let i = 0; i < 20_000; i += 1) {
      sent += String.fromCharCode(97 + (i % 26));
      queue.push(i, bytes(sent.slice(-1)));
    }
    expect(queue.entries.length).toBeLessThan(10);
    queue.take(7);
    queue.push(20_000, bytes("!"));
    expect([queue.taken, queue.received, queue.queuedBytes]).toEqual([7, 20_001, 19_994]);
    expect(drain(queue, 1000)).toBe(`${sent.slice(7)}!`);
  });

  test("L5: crumbs go on being gathered while the process takes what came before", () => {
    const queue = new InputQueue("process");
    const sent = Array.from({ length: 20_000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join("");
    let taken = "";
    for (let end = 100; end <= sent.length; end += 100) {
      queue.push(end - 100, bytes(sent.slice(end - 100, end)));
      const [oldest] = queue.entries;
      if (oldest?.kind !== "bytes" || end === 100) continue;
      taken += text(oldest.bytes.subarray(0, 100));
      queue.take(100);
    }
    expect([queue.entries.length, taken + drain(queue)]).toEqual([1, sent]);
  });

  test("L5: gathered crumbs do not share memory with what their sender may use again", () => {
    const queue = new InputQueue("process");
    const memory = bytes("ab");
    queue.push(0, bytes("x"));
    queue.push(1, memory);
    memory.fill(0);
    expect(drain(queue)).toBe("xab");
  });

  test("L5: pieces are gathered up to 4 KiB", () => {
    const queue = new InputQueue("process");
    for (const [offset, length] of [
      [0, 4_095],
      [4_095, 1],
      [4_096, 1],
    ] as const)
      queue.push(offset, new Uint8Array(length));
    expect(queue.entries.map(({ start, end }) => [start, end])).toEqual([
      [0, 4_096],
      [4_096, 4_097],
    ]);
  });

  test("what is taken out of turn is our own fault and throws", () => {
    const queue = new InputQueue("process");
    expect(() => queue.take(1)).toThrow(RangeError);
    expect(() => queue.takeEof()).toThrow(RangeError);
    queue.push(0, bytes("a"));
    expect(() => queue.take(2)).toThrow(RangeError);
    expect(() => queue.takeEof()).toThrow(RangeError);
  });
});

describe("the relay's side", () => {
  test("I5: everything is kept until the other side has taken it, and goes again from there", () => {
    const queue = new InputQueue("relay");
    queue.push(0, bytes("abc".repeat(2000)));
    queue.push(6000, bytes("def"));
    queue.takeUpTo(4000);
    expect(queue.entries.map(({ start, end }) => `${start} ${end}`)).toEqual(["4000 6000", "6000 6003"]);
    queue.takeUpTo(100);
    expect(queue.taken).toBe(4000);
    queue.takeUpTo(6003);
    expect([queue.entries, queue.taken, queue.queuedBytes]).toEqual([[], 6003, 0]);
  });

  test("the memory of a long piece is given back once all of it is taken; what is sent again after that is told apart as ever", () => {
    const queue = new InputQueue("relay");
    const [first, second] = [new Uint8Array(40_000).fill(1), new Uint8Array(40_000).fill(2)];
    queue.push(0, first);
    queue.push(40_000, second);
    queue.takeUpTo(39_999);
    expect([first.length, second.length]).toEqual([40_000, 40_000]);
    queue.takeUpTo(40_001);
    expect([first.length, second.length]).toEqual([0, 40_000]);
    // The connection broke before the acknowledgement arrived: all of it comes once more, and more than before.
    const again = new Uint8Array(90_000).fill(2, 40_000, 80_000).fill(3, 80_000);
    expect(queue.push(0, again.slice(0, 40_000))).toBeUndefined();
    expect(queue.push(0, again)).toMatchObject({ start: 80_000, end: 90_000 });
    const waiting = queue.entries.flatMap((entry) => (entry.kind === "bytes" ? [...entry.bytes] : []));
    expect(waiting).toEqual([...again.subarray(40_001)]);
    queue.takeUpTo(90_000);
    expect([second.length, again.length, queue.entries]).toEqual([0, 0, []]);
  });

  test("short memory is given back to nobody: other pieces may share it", () => {
    const lengths = [16_384, 16_385].map((length) => {
      const memory = new Uint8Array(length);
      release(memory);
      return memory.length;
    });
    expect(lengths).toEqual([16_384, 0]);
    const message = bytes("abcdef");
    const queue = new InputQueue("relay");
    queue.push(0, message.subarray(0, 3));
    queue.takeUpTo(3);
    expect(text(message)).toBe("abcdef");
  });

  test("I7, L5: refused bytes wait for the other side to count them too, as one piece", () => {
    const queue = new InputQueue("relay");
    for (let end = 10; end <= 10_000; end += 10) queue.refuse(end);
    const refused = { kind: "refused", start: 0, end: 10_000 };
    expect([queue.taken, queue.entries]).toEqual([0, [refused]]);
    // Of later ones the other side has not heard yet.
    queue.takeUpTo(9_999);
    expect([queue.taken, queue.entries]).toEqual([9_999, [refused]]);
    queue.takeUpTo(10_000);
    expect([queue.taken, queue.entries]).toEqual([10_000, []]);
    queue.takeUpTo(9_999);
    expect(queue.taken).toBe(10_000);
  });

  test("I9: an end of input is let go of when what comes after it is taken, or the other side says that it has it", () => {
    const queue = new InputQueue("relay");
    queue.pushEof(0);
    queue.push(0, bytes("ab"));
    queue.takeUpTo(1);
    expect(queue.entries).toMatchObject([{ kind: "bytes", start: 1, end: 2 }]);
    queue.pushEof(2);
    queue.takeUpTo(2);
    expect(queue.waitingEof).toMatchObject({ end: 2 });
    queue.dropEof(1);
    expect(queue.waitingEof).toMatchObject({ end: 2 });
    queue.dropEof(2);
    expect(queue.entries).toEqual([]);
  });

  test("H7: what only the other side holds is confirmed before what is held here", () => {
    const queue = new InputQueue("relay", 10, undefined, 30);
    expect([queue.taken, queue.received]).toEqual([10, 30]);
    expect(queue.push(10, new Uint8Array(20))).toBeUndefined();
    queue.push(30, bytes("abc"));
    queue.takeUpTo(20);
    expect([queue.taken, queue.queuedBytes]).toEqual([20, 3]);
    queue.takeUpTo(31);
    expect([queue.taken, queue.queuedBytes]).toEqual([31, 2]);
  });

  test("the other side may know of more than was ever received here", () => {
    const queue = new InputQueue("relay");
    queue.push(0, bytes("ab"));
    queue.takeUpTo(9);
    expect([queue.taken, queue.received, queue.entries]).toEqual([9, 9, []]);
  });
});
