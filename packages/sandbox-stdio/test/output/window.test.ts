// The window on simulated links: what is in flight is to take about the least round trip and 50 ms, whatever the link.

import { describe, expect, test } from "vitest";
import { MAX_WINDOW_BYTES, MIN_WINDOW_BYTES } from "../../src/index.ts";
import { Window } from "../../src/output/window.ts";
import { type Link, LinkRun } from "../simulation/link.ts";

const MB = 1_000_000 / 1000;

/** A flood over such a link after so many ms, measured for 30 s: long enough for two looks at the bare round trip. */
function settled(link: Link, afterMs = 5_000) {
  const run = new LinkRun(link).flood();
  run.run(afterMs);
  return run.run(30_000);
}

describe("on a steady link", () => {
  for (const [name, link, least] of [
    ["100 KB/s with 50 ms each way", { bytesPerMs: 0.1 * MB, delayMs: 50 }, 0.94],
    ["300 KB/s with 5 ms each way", { bytesPerMs: 0.3 * MB, delayMs: 5 }, 0.97],
    ["1 MB/s without delay", { bytesPerMs: MB, delayMs: 0 }, 0.97],
    ["1 MB/s with 50 ms each way", { bytesPerMs: MB, delayMs: 50 }, 0.94],
    ["2 MB/s without delay", { bytesPerMs: 2 * MB, delayMs: 0 }, 0.97],
    ["8 MB/s without delay", { bytesPerMs: 8 * MB, delayMs: 0 }, 0.98],
    ["8 MB/s with 5 ms each way", { bytesPerMs: 8 * MB, delayMs: 5 }, 0.98],
    ["100 MB/s without delay", { bytesPerMs: 100 * MB, delayMs: 0 }, 0.99],
  ] as const) {
    test(`W2: ${name} is used to ${least * 100} percent with acknowledgements after 64 KiB or 50 ms`, () => {
      expect(settled(link).rate / link.bytesPerMs).toBeGreaterThan(least);
    });
  }

  test("W2, W3: where each of a program's small writes is a frame, thousands are in flight, and the window is as good", () => {
    const wide = new LinkRun({ bytesPerMs: MB, delayMs: 50 }, 64).flood();
    wide.run(3_000);
    expect(wide.run(2_000).rate / MB).toBeGreaterThan(0.94);
    const narrow = new LinkRun({ bytesPerMs: 0.3 * MB, delayMs: 5 }, 16).flood();
    narrow.run(3_000);
    expect(narrow.run(2_000).worstQueueMs).toBeLessThan(130);
  });

  test("W3: at 8 MB/s a byte waits less than 70 ms on the way, and mostly less than 60", () => {
    for (const delayMs of [0, 5]) {
      const { queueMs, worstQueueMs } = settled({ bytesPerMs: 8 * MB, delayMs });
      expect(queueMs).toBeLessThan(60);
      expect(worstQueueMs).toBeLessThan(70);
    }
  });

  test("W3: at 1 MB/s a byte waits about 50 ms, and with 50 ms each way what is in flight takes from 150 to 200", () => {
    const near = settled({ bytesPerMs: MB, delayMs: 0 });
    expect(near.queueMs).toBeGreaterThan(30);
    expect(near.queueMs).toBeLessThan(60);
    expect(near.worstQueueMs).toBeLessThan(130);
    const far = settled({ bytesPerMs: MB, delayMs: 50 });
    expect(far.queueMs).toBeGreaterThan(30);
    expect(far.queueMs).toBeLessThan(100);
    expect(far.window / MB).toBeGreaterThan(130);
    expect(far.window / MB).toBeLessThan(230);
  });

  test("W4: where even 500 ms each way are not filled by the largest window, the largest is used", () => {
    const { rate, mostWindow } = settled({ bytesPerMs: MB, delayMs: 500 }, 20_000);
    expect(mostWindow).toBe(MAX_WINDOW_BYTES);
    expect(rate).toBeGreaterThan((0.75 * MAX_WINDOW_BYTES) / 1000);
  });

  test("W4: the window stays from 16 to 512 KiB on every link, however slow or fast", () => {
    for (const bytesPerMs of [0.5, 20, 100, 1_000, 10_000, 100_000]) {
      for (const delayMs of [0, 20, 300]) {
        const run = new LinkRun({ bytesPerMs, delayMs }).flood();
        const { leastWindow, mostWindow } = run.run(bytesPerMs > 1_000 ? 3_000 : 60_000);
        expect(leastWindow).toBeGreaterThanOrEqual(MIN_WINDOW_BYTES);
        expect(mostWindow).toBeLessThanOrEqual(MAX_WINDOW_BYTES);
      }
    }
  });

  test("W4: a link of 20 KB/s comes down to little more than the smallest window", () => {
    expect(settled({ bytesPerMs: 20, delayMs: 200 }, 60_000).mostWindow).toBeLessThan(64 * 1024);
  });
});

describe("on a link of 8 MB/s that holds single frames up by 30 ms, as a radio does", () => {
  test.each([
    [10, 0.4],
    [50, 0.33],
  ])("W5: with %i ms each way, %d of it is used", (delayMs, least) => {
    expect(settled({ bytesPerMs: 8 * MB, delayMs, jitterMs: 30 }).rate / (8 * MB)).toBeGreaterThan(least);
  });
});

describe("when things change", () => {
  const change = (from: number, to: number, delayMs: number, afterMs = 15_000) => {
    const run = new LinkRun({ bytesPerMs: from, delayMs }).flood();
    run.run(afterMs);
    run.link.bytesPerMs = to;
    return run;
  };

  test.each([0, 20])(
    "W5: a link that becomes eight times as fast, with %i ms each way, is used within a second",
    (delayMs) => {
      const run = change(MB, 8 * MB, delayMs);
      run.run(1_000);
      expect(run.run(2_000).rate).toBeGreaterThan(7.5 * MB);
    },
  );

  test.each([0, 50])(
    "W5: one that becomes an eighth as fast, with %i ms each way, queues for no more than a second",
    (delayMs) => {
      const run = change(8 * MB, MB, delayMs);
      run.run(1_000);
      const { queueMs, rate } = run.run(5_000);
      expect(queueMs).toBeLessThan(100);
      expect(rate).toBeGreaterThan(0.9 * MB);
    },
  );

  test("W5: a link that becomes a two-hundredth as fast is noticed by the first bytes that come through", () => {
    // In whatever part of a round it happens.
    for (let ms = 0; ms < 200; ms += 20) {
      const run = change(20 * MB, 0.1 * MB, 10, 15_000 + ms);
      run.run(2_000);
      expect(run.window.bytes).toBeLessThan(64 * 1024);
    }
  });

  test("W5: an hour of typing leaves the window as it was, and a flood after it is as fast as any", () => {
    const run = new LinkRun({ bytesPerMs: MB, delayMs: 50 });
    for (let i = 0; i < 3_600; i += 1) {
      run.type(40);
      run.run(1_000);
    }
    expect(run.window.bytes).toBe(64 * 1024);
    run.flood().run(2_000);
    expect(run.run(5_000).rate).toBeGreaterThan(0.9 * MB);
  });

  test("W5: a window that a flood has found stays through a quiet time", () => {
    const run = new LinkRun({ bytesPerMs: 8 * MB, delayMs: 5 }).flood();
    run.run(5_000);
    run.available = 0;
    for (let i = 0; i < 600; i += 1) {
      run.type(40);
      run.run(1_000);
    }
    expect(run.window.bytes).toBeGreaterThan(400_000);
  });

  test("W5: a client that deals with nothing for two seconds is back at its rate within one", () => {
    const run = new LinkRun({ bytesPerMs: 20 * MB, delayMs: 5 }).flood();
    run.run(5_000);
    run.stallUntil(run.time.now + 2_000);
    run.run(3_000);
    expect(run.run(2_000).rate).toBeGreaterThan(15 * MB);
  });
});

describe("W5: from one round to the next", () => {
  const [LEAST_MS, PART_BYTES] = [100, 65_536];

  /** Rounds of two acknowledgements, each of which comes so long after the least round trip. @returns The window after a round. */
  function rounds() {
    const window = new Window(0, 1 << 30, "driver", undefined, 2 * PART_BYTES);
    let [start, sentMs] = [0, 0];
    const send = (from: number, nowMs: number) => {
      for (const parts of [1, 2]) window.sent(from + parts * PART_BYTES, nowMs);
      window.noteFull();
    };
    send(0, 0);
    return (firstMs: number, secondMs: number): number => {
      const [middle, end, fromMs] = [start + PART_BYTES, start + 2 * PART_BYTES, sentMs + LEAST_MS];
      window.ack(middle, fromMs + firstMs);
      [start, sentMs] = [end, fromMs + secondMs];
      // The next round is in flight before this one ends.
      send(end, sentMs);
      window.ack(end, sentMs);
      return window.bytes / PART_BYTES;
    };
  }

  test("a window doubles while its bytes queue for less than 50 ms on average, of its own round alone", () => {
    const round = rounds();
    // Every other round still measures the window before.
    expect([round(0, 60), round(0, 60), round(0, 98)]).toEqual([4, 4, 8]);
    expect([round(0, 0), round(0, 100)]).toEqual([8, 10]);
  });

  test("one that grew slowly doubles again after three rounds in which nothing queued", () => {
    const round = rounds();
    expect([round(0, 100), round(0, 0)]).toEqual([2.5, 2.5]);
    const grown = [1, 2, 3].map(() => {
      const bytes = round(0, 0);
      round(0, 0);
      return bytes;
    });
    expect(grown).toEqual([3.125, 3.906_25, 7.8125]);
  });

  test("one in which something queues for 5 ms on average never does", () => {
    const round = rounds();
    for (const secondMs of [100, 0]) round(0, secondMs);
    const grown = [1, 2, 3, 4].map(() => {
      const bytes = round(0, 10);
      round(0, 0);
      return bytes;
    });
    expect(grown).toEqual([3.125, 3.906_25, 4.882_812_5, 6.103_515_625]);
  });

  test("one whose bytes queue for more than four times the target shrinks at once, and once for what was in flight", () => {
    const window = new Window(0, undefined, "driver", undefined, 500_000);
    for (let end = 100_000; end <= 500_000; end += 100_000) window.sent(end, 0);
    window.ack(100_000, LEAST_MS);
    window.noteFull();
    window.sent(600_000, LEAST_MS);
    window.ack(200_000, 5 * (LEAST_MS + 50) - 50);
    expect(window.bytes).toBe(500_000);
    window.ack(300_000, 900);
    expect(window.bytes).toBe(Math.round((500_000 * (LEAST_MS + 50)) / 900));
    window.ack(500_000, 1_000);
    window.ack(600_000, 2_000);
    expect(window.bytes).toBe(Math.round((500_000 * (LEAST_MS + 50)) / 900));
  });

  test("one that is full drains after 10 s, until a round trip without a queue is measured", () => {
    const window = new Window(0, undefined, "driver", undefined, 200_000);
    window.sent(65_536, 0);
    window.ack(65_536, LEAST_MS);
    window.sent(131_072, 9_000);
    window.sent(196_608, 10_000);
    window.ack(131_072, 10_050);
    window.sent(196_708, 10_060);
    window.noteFull();
    window.ack(196_608, 10_200);
    expect([window.room(196_708), window.hasScreenRoom(196_708)]).toEqual([0, false]);
    window.ack(196_708, 10_300);
    expect(window.room(196_708)).toBe(MIN_WINDOW_BYTES);
    window.sent(213_092, 12_000);
    window.ack(213_092, 12_200);
    expect(window.room(213_092)).toBe(window.bytes);
  });
});

describe("counting", () => {
  test("W1: acknowledgements that cross or repeat change nothing", () => {
    const window = new Window(100);
    window.sent(1_100, 0);
    window.ack(600, 10);
    expect([window.acked, window.room(1_100)]).toEqual([600, window.bytes - 500]);
    window.ack(600, 11);
    window.ack(50, 12);
    expect([window.acked, window.room(1_100)]).toEqual([600, window.bytes - 500]);
  });

  test("W6: what a gap skips is not in flight, wherever acknowledgements fall", () => {
    const window = new Window(0);
    window.sent(1_000, 0);
    window.skipped(1_000, 5_000);
    window.sent(5_500, 0);
    window.skipped(5_500, 6_000);
    window.sent(6_100, 0);
    const inFlight = () => window.bytes - window.room(6_100);
    expect(inFlight()).toBe(1_600);
    for (const [offset, left] of [
      [400, 1_200],
      [1_000, 600],
      [3_000, 600],
      [5_000, 600],
      [5_500, 100],
      [6_100, 0],
    ] as const) {
      window.ack(offset, 1);
      expect(inFlight()).toBe(left);
    }
  });

  test("L10a: an acknowledgement is weighty from 16 KiB on, or with a snapshot, however far the output is", () => {
    const window = new Window(0);
    window.sent(60_000, 0);
    expect([16_383, 32_767, 32_768].map((offset) => window.ack(offset, 1))).toEqual([false, true, false]);
    window.drew(32_768, 100);
    expect([window.inFlight(60_000), window.ack(32_768, 2), window.inFlight(60_000)]).toEqual([27_332, true, 27_232]);
  });

  test("W5: a round trip is that of the last bytes, and of the oldest less 50 ms where few are acknowledged", () => {
    const times: number[] = [];
    const window = new Window(0, undefined, "driver", { acknowledged: (ms) => times.push(ms), gap: () => undefined });
    window.sent(30_000, 0);
    window.sent(65_536, 30);
    window.ack(65_536, 40);
    window.sent(65_636, 100);
    window.sent(65_736, 120);
    window.ack(65_736, 160);
    window.ack(65_737, 170);
    expect(times).toEqual([10, 10]);
  });

  test("small runs sent together count as one beyond 128 runs and 4 KiB in flight, and not before", () => {
    const runs = (count: number, bytes: number) => Array.from({ length: count }, (_, i) => (i + 1) * bytes);
    const measured = (ends: readonly number[], ...acks: number[]) => {
      let count = 0;
      const observer = { acknowledged: () => void count++, gap: () => undefined };
      const window = new Window(0, undefined, "driver", observer);
      for (const end of ends) window.sent(end, 0);
      for (const offset of acks) window.ack(offset, 10);
      return count;
    };
    expect([
      measured(runs(129, 100), 12_700, 12_800),
      measured([...runs(129, 31), 4_096], 3_968, 3_999),
      // The last two are one.
      measured(runs(130, 100), 12_800, 12_900),
    ]).toEqual([2, 2, 1]);
  });

  test("nothing waits for a client that has missed output, until 10 s after it acknowledged past the gap", () => {
    const window = new Window(0);
    const keepsUp = (sent: number, sentMs: number, ...atMs: number[]) => {
      window.sent(sent, sentMs);
      window.ack(sent, sentMs + 10);
      return atMs.map((ms) => window.keepsUp(ms));
    };
    expect([window.keepsUp(0), keepsUp(100, 0, 10, 209, 210)]).toEqual([false, [true, true, false]]);
    window.skipped(100, 200);
    expect(window.keepsUp(20)).toBe(false);
    expect(keepsUp(300, 30, 40)).toEqual([false]);
    expect(keepsUp(400, 10_000, 10_039, 10_040)).toEqual([false, true]);
  });

  test("a client keeps up for 200 ms and a round trip, and a snapshot that it acknowledges counts as progress", () => {
    const window = new Window(0);
    window.sent(65_536, 0);
    window.ack(65_536, 100);
    expect([399, 400].map((ms) => window.keepsUp(ms))).toEqual([true, false]);
    window.drew(65_536, 500);
    window.ack(65_536, 1_000);
    expect([1_299, 1_300].map((ms) => window.keepsUp(ms))).toEqual([true, false]);
    // Nothing new is in this one.
    window.ack(65_536, 2_000);
    expect(window.keepsUp(2_001)).toBe(false);
  });

  test("of more than 1024 runs of bytes in flight the oldest are forgotten", () => {
    const window = new Window(0);
    window.sent(1, 0);
    window.ack(1, 0);
    for (let i = 2; i <= 1_025; i += 1) window.sent(i, i <= 513 ? 0 : 1_000);
    expect(window.keepsUp(1_100)).toBe(false);
    window.sent(1_026, 1_000);
    expect(window.keepsUp(1_100)).toBe(true);
  });

  test("W7b: the link's part of a window is the share of the least round trip in that and 50 ms; all, before it is known", () => {
    const window = new Window(0);
    const linkBytes = [window.linkBytes];
    for (const [end, sentMs, atMs] of [
      [100, 0, 150],
      [200, 1_000, 1_060],
    ] as const) {
      window.sent(end, sentMs);
      window.ack(end, atMs);
      linkBytes.push(window.linkBytes);
    }
    expect(linkBytes).toEqual([65_536, Math.ceil((65_536 * 100) / 150), MIN_WINDOW_BYTES]);
  });

  test("F5: a frame is at most an eighth of the window, also a viewer's", () => {
    const [driver, viewer] = [new Window(0), new Window(0, undefined, "viewer")];
    expect([driver.bytes, driver.frameBytes, viewer.frameBytes]).toEqual([65_536, 8_192, 8_192]);
    expect(new Window(0, undefined, "driver", undefined, 100_001).frameBytes).toBe(12_500);
  });

  test("a largest window below the first is kept to", () => {
    const window = new Window(0, 32 * 1024);
    expect([window.bytes, window.room(0)]).toEqual([32 * 1024, 32 * 1024]);
  });
});
