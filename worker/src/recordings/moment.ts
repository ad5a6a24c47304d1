// The screen at a moment of a recording (G4): a key frame, and the output behind it up to there, drawn by the emulator that the page
// and the bridge have.

import type { Terminal } from "@xterm/headless/lib-headless/xterm-headless.mjs";
import { screenFacts, scrolledOff, textsOf, visibleRuns, worstNsPerByte, xtermCoreOf } from "sandbox-stdio/core";
import { EventReader, gapsWithin, type KeyFrame, type RecordedEvent, startFor } from "sandbox-stdio/recording";
import { type ProgramAnswer, refused } from "../programs/operations/call.ts";
import { terminalOf, written } from "../programs/operations/redraw.ts";
import type { RecordingReading } from "./reading.ts";

/** Output behind the last key frame. Where there is none, reading it would take too long. */
const MOST_BYTES = 512 * 1024 * 1024;
/** The same, by the clock. */
const MOST_MS = 5_000;
/** Drawing takes no longer than this before others have their turn, whatever is drawn. */
const TURN_NS = 250_000_000;
const PIECE_BYTES = 65_536;
const LEAST_BYTES = 16;
const MOST_ABOVE = 1_000;

export type Moment = { readonly offset: number; readonly format: "text" | "json"; readonly scrollback: number };

/** @param mostMs How long drawing may take. */
export async function momentOf(reading: RecordingReading, moment: Moment, mostMs = MOST_MS): Promise<ProgramAnswer> {
  const { offset, format, scrollback } = moment;
  const { index, segments } = reading;
  if (!index.isTty) return refused(409, "no_screen", "the process has pipes: there is no screen");
  const { end } = index;
  if (offset > end) return refused(400, "bad_offset", `the recording ends at ${end}`, { end });
  const gap = gapsWithin(segments, 0, end).find(({ from, to }) => to > offset && (from < offset || offset === 0));
  if (gap !== undefined) {
    return refused(410, "gap", `the output from ${gap.from} to ${gap.to} is not in the recording`, gap);
  }
  const start = startFor(segments, offset);
  const behind = offset - (start.frame ?? segments[start.index]?.from ?? 0);
  if (behind > MOST_BYTES) {
    return refused(
      503,
      "no_screen_yet",
      `no screen is kept within ${MOST_BYTES} bytes before ${offset}: ask for another`,
    );
  }
  const untilMs = Date.now() + mostMs;
  let drawing: Drawing | undefined;
  try {
    const frame = (await reading.segment(start.index))?.frames.find((one) => one.offset === start.frame);
    // One piece for each segment: most of a flood scrolls off unseen.
    const events = new EventReader({ from: offset, to: offset, atMs: 0, frame });
    for (let at = start.index; (segments[at]?.from ?? offset + 1) <= offset; at += 1) {
      const segment = await reading.segment(at);
      const { from, to } = segments[at] ?? {};
      if (segment === undefined) return refused(410, "gap", "a segment of the recording is damaged", { from, to });
      drawing ??= new Drawing(frame ?? segment, untilMs);
      await drawing.draw([...events.read(segment), ...events.end()]);
      if (drawing.isLate) return refused(503, "no_screen_yet", "this screen takes too long to draw: ask for another");
    }
    const at = new Date(await reading.timeAt(Math.max(0, offset - 1))).toISOString();
    const more = start.isExact && drawing?.hasFault !== true ? { at } : { at, approximate: true };
    return { status: 200, body: { ...drawing?.told(format, scrollback), offset, ...more } };
  } finally {
    drawing?.dispose();
  }
}

class Drawing {
  readonly #terminal: Terminal;
  hasFault = false;
  readonly #untilMs: number;

  constructor({ cols, rows }: Pick<KeyFrame, "cols" | "rows">, untilMs: number) {
    this.#terminal = terminalOf(cols, rows, MOST_ABOVE);
    this.#untilMs = untilMs;
  }

  /** Whether there was no time to draw all of it. */
  get isLate(): boolean {
    return Date.now() > this.#untilMs;
  }

  async draw(events: readonly RecordedEvent[]): Promise<void> {
    for (const event of events) {
      if (event.kind === "output") await this.#write(event.bytes.subarray(this.#scrolledOff(event.bytes)));
      else if (event.kind === "size") this.#resize(event.cols, event.rows);
    }
  }

  told(format: "text" | "json", scrollback: number): Record<string, unknown> {
    const terminal = this.#terminal;
    const core = xtermCoreOf(terminal);
    const { active } = core.buffers;
    const { modes, ...facts } = screenFacts(core, terminal);
    const { bracketedPaste, applicationCursor, mouse } = modes;
    const above = Math.min(scrollback, active.ybase);
    return {
      ...facts,
      modes: { bracketedPaste, applicationCursor, mouse },
      lines: textsOf(active, active.ybase, terminal.rows, terminal.cols),
      ...(scrollback > 0 ? { scrollback: textsOf(active, active.ybase - above, above, terminal.cols) } : {}),
      ...(format === "json" ? { runs: visibleRuns(active, terminal) } : {}),
    };
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  #resize(cols: number, rows: number): void {
    try {
      this.#terminal.resize(cols, rows);
    } catch {
      this.hasFault = true; // The emulator has faults of its own, with sizes that change.
    }
  }

  #scrolledOff(bytes: Uint8Array): number {
    return scrolledOff(xtermCoreOf(this.#terminal), this.#terminal.rows, bytes, MOST_ABOVE);
  }

  /** In pieces, between which others have their turn. */
  async #write(bytes: Uint8Array): Promise<void> {
    const { cols, rows } = this.#terminal;
    const most = Math.floor(TURN_NS / worstNsPerByte({ cols, rows, markers: [] }));
    const piece = Math.max(LEAST_BYTES, Math.min(PIECE_BYTES, most));
    for (let at = 0; at < bytes.length && !this.isLate; ) {
      let end = Math.min(bytes.length, at + piece);
      // The emulator loses some characters that are cut.
      while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end += 1;
      await written(this.#terminal, bytes.subarray(at, end));
      at = end;
    }
  }
}
