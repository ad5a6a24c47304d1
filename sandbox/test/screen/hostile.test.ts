// Output that is made to cost the screens' worker as much as possible: only its own session may suffer.

import { OutputLog } from "sandbox-stdio/core";
import { afterEach, expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { SessionScreen } from "../../src/screen/session-screen.ts";
import { ScreenWorkers } from "../../src/screen/workers.ts";
import { Viewer } from "./screen-state.ts";

const KIB = 1024;
const WORKER = new URL("../../src/screen/worker.ts", import.meta.url).href;
const HANGING_WORKER = new URL("./hanging-worker.ts", import.meta.url).href;
const encoder = new TextEncoder();
const HUGE = "2147483647";

const screens: SessionScreen[] = [];
afterEach(() => {
  for (const screen of screens.splice(0)) screen.close();
});

class Session {
  readonly log: OutputLog;
  readonly screen: SessionScreen;

  constructor(workers: ScreenWorkers, size = { cols: 80, rows: 24 }) {
    this.log = new OutputLog(size);
    this.screen = new SessionScreen(this.log, workers);
    screens.push(this.screen);
  }

  write(text: string): void {
    const bytes = encoder.encode(text);
    for (let at = 0; at < bytes.length; at += 60_000) {
      this.log.append(bytes.subarray(at, at + 60_000), 1);
      this.screen.appended();
    }
  }
}

/** A neighbour with more output than a replay is, and what its screen shows. */
function neighbour(workers: ScreenWorkers): { session: Session; text: string } {
  const text = Array.from({ length: 9_000 }, (_, n) => `\x1b[3${n % 8}mneighbour ${n}\x1b[m`).join("\r\n");
  const session = new Session(workers);
  session.write(text);
  return { session, text };
}

async function expectExact({ session, text }: { session: Session; text: string }): Promise<void> {
  const snapshot = await session.screen.snapshot();
  if (snapshot === undefined) throw new Error("The neighbour has no screen");
  expect({ offset: snapshot.offset, isExact: snapshot.isExact }).toEqual({
    offset: session.log.endOffset,
    isExact: true,
  });
  const reference = new Viewer(snapshot, 0);
  reference.write(encoder.encode(text));
  const late = Viewer.of(snapshot);
  expect(late.state(late.scrollback)).toEqual(reference.state(late.scrollback));
}

const FINALS = Array.from({ length: 0x7f - 0x40 }, (_, n) => String.fromCharCode(0x40 + n));

test("35: a session that prints each final byte with the highest count leaves its neighbour's screen exact", async () => {
  const workers = new ScreenWorkers(() => new Worker(WORKER));
  const quiet = neighbour(workers);
  const loud = new Session(workers, { cols: 1000, rows: 500 });
  const random = new Random(35);
  for (const final of FINALS) {
    const marker = ["", "", "", "?", ">", "="][Math.floor(random.next() * 6)];
    const intermediate = ["", "", "", " ", "'", "$"][Math.floor(random.next() * 6)];
    loud.write(
      `x${"y".repeat(2 * KIB)}\x1b[${HUGE}${final}\x9b${marker}${HUGE};${HUGE}:${HUGE}${intermediate}${final}`,
    );
  }
  const [own] = await Promise.all([loud.screen.snapshot(), expectExact(quiet)]);
  expect(own).toMatchObject({ offset: loud.log.endOffset });
});

test("35: output that takes too long is given up, and costs neighbours only the time of their turns", async () => {
  const started: Worker[] = [];
  const workers = new ScreenWorkers(() => {
    const worker = new Worker(WORKER);
    started.push(worker);
    return worker;
  });
  const quiet = neighbour(workers);
  await expectExact(quiet);
  const loud = new Session(workers, { cols: 1000, rows: 500 });
  // Links take part in each scrolling; as much of it as fits.
  loud.write(Array.from({ length: 6_000 }, (_, n) => `\x1b]8;;u:${n}\x07a`).join(""));
  loud.write("\x1b[500S\x1b[500T".repeat(20_000));
  const own = loud.screen.snapshot();
  for (let round = 0; round < 5; round += 1) {
    const more = `\r\nround ${round}`;
    quiet.session.write(more);
    quiet.text += more;
    await expectExact(quiet);
  }
  expect(await own).toBeUndefined();
  // The screen continues behind that output.
  loud.write("\x1b[H\x1b[2Jafter");
  const after = await loud.screen.snapshot();
  expect(after).toMatchObject({ offset: loud.log.endOffset, isExact: false });
  expect(started).toHaveLength(1);
});

test("35: a worker that hangs over one session's output is ended, and only that output is not tried again", async () => {
  const started: Worker[] = [];
  const start = () => {
    const worker = new Worker(HANGING_WORKER);
    started.push(worker);
    return worker;
  };
  // Longer than a busy machine keeps a worker waiting that does not hang.
  const workers = new ScreenWorkers(start, 250);
  const quiet = neighbour(workers);
  await expectExact(quiet);
  const loud = new Session(workers);
  // More often than a screen may cost the worker its life.
  for (let round = 1; round <= 4; round += 1) {
    loud.write(`${"line\r\n".repeat(12_000)}HANG`);
    expect(await loud.screen.snapshot()).toBeUndefined();
    await expectExact(quiet);
  }
  expect(started).toHaveLength(4);
});
