// The Worker draws a lost session's screen on from the last that the bridge told: it is what the bridge would have told at the end.

import { OutputLog } from "sandbox-stdio/core";
import { describe, expect, test } from "vitest";
import { redraw, type Screen } from "../../../worker/src/programs/operations/redraw.ts";
import { Emulator } from "../../src/screen/emulator.ts";
import { Generator } from "./generate.ts";
import { type Recording, recordings } from "./screen-state.ts";

const SEEDS = Number(process.env.FUZZ_RUNS ?? 100);
const CUTS = 8;
/** As the session object asks. */
const LOOK = { scrollback: 1_000, runs: true, ansi: true };
const encoder = new TextEncoder();

/** The screen as it is kept, in JSON. */
function lookAt(emulator: Emulator): Screen {
  return JSON.parse(JSON.stringify(emulator.show(LOOK))) as Screen;
}

function without(screen: Screen | undefined, ...names: readonly string[]): Screen {
  return Object.fromEntries(Object.entries(screen ?? {}).filter(([name]) => !names.includes(name)));
}

function bytesFrom(log: OutputLog, from: number): Uint8Array {
  const bytes = new Uint8Array(log.endOffset - from);
  log.copy(from, bytes.length, bytes, 0);
  return bytes;
}

test("S2a: sequences of every kind behind the last look are drawn as the bridge draws them", async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const generator = new Generator(seed);
    const size = { cols: 10 + generator.below(40), rows: 3 + generator.below(15) };
    const texts = generator.pieces(20 + generator.below(200)).map((piece) => ("text" in piece ? piece.text : ""));
    const cut = generator.below(texts.length + 1);
    const log = new OutputLog(size);
    const emulator = new Emulator(size, 0, true);
    for (const text of texts.slice(0, cut)) {
      log.append(encoder.encode(text), 1);
      emulator.write(encoder.encode(text), size);
    }
    const seen = lookAt(emulator);
    for (const text of [...texts.slice(cut), "\x18end"]) log.append(encoder.encode(text), 1);
    // Another drawing has other styles of blanks, and in other pieces the emulator puts joined characters elsewhere.
    const late = new Emulator(size, 0, true);
    late.write(encoder.encode(String(seen.ansi)), size);
    late.write(bytesFrom(log, Number(seen.offset)), size);
    const expected = { ...without(lookAt(late), "ansi", "scrollback", "title"), offset: log.endOffset };
    const drawn = without(await redraw(seen, log), "scrollback", "title");
    expect({ seed, cut, ...drawn }).toEqual({ seed, cut, ...expected });
  }
});

describe.each(recordings())("$name", (recording: Recording) => {
  test("S2a: it is redrawn from wherever it was last looked at", async () => {
    const { bytes, marks } = recording;
    const emulator = new Emulator(recording, 0, true);
    const looks: Screen[] = [];
    const log = new OutputLog(recording);
    const step = Math.ceil(bytes.length / CUTS);
    let size = { cols: recording.cols, rows: recording.rows };
    for (let at = 0; at < bytes.length; ) {
      const mark = marks.find(({ offset }) => offset === at);
      if (mark !== undefined) {
        size = { cols: mark.cols, rows: mark.rows };
        log.markSize(size.cols, size.rows);
      }
      const next = Math.min(
        bytes.length,
        at - (at % step) + step,
        ...marks.map(({ offset }) => offset).filter((offset) => offset > at),
      );
      log.append(bytes.subarray(at, next), 1);
      emulator.write(bytes.subarray(at, next), size);
      at = next;
      looks.push(lookAt(emulator));
    }
    const whole = without(looks.at(-1), "runs", "ansi", "scrollback");
    const lastMark = marks.at(-1)?.offset ?? 0;
    for (const seen of looks.slice(0, -1)) {
      const drawn = without(await redraw(seen, log), "runs", "scrollback");
      // What stands above the screen comes into a larger one.
      if (Number(seen.offset) < lastMark) expect(drawn.offset).toBe(log.endOffset);
      else expect({ from: seen.offset, ...drawn }).toEqual({ from: seen.offset, ...whole, offset: log.endOffset });
    }
  });
});
