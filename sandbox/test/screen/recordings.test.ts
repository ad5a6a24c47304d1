// Real programs' output: the screen from a snapshot and what followed it is the screen from all bytes, wherever it is taken.

import { describe, expect, test } from "vitest";
import { MAX_SNAPSHOT_BYTES } from "../../src/screen/draw.ts";
import { Emulator } from "../../src/screen/emulator.ts";
import { expectSame, type Recording, recordings, Viewer } from "./screen-state.ts";

/** How many snapshots of each recording are taken, about. */
const SNAPSHOTS = 40;

/** Feeds the emulator as the session does: no batch crosses a change of size. */
function feed(emulator: Emulator, recording: Recording, from: number, to: number): void {
  for (let at = from; at < to; ) {
    const next = recording.marks.find((mark) => mark.offset > at)?.offset ?? to;
    const end = Math.min(to, next);
    emulator.write(recording.bytes.subarray(at, end), sizeAt(recording, at));
    at = end;
  }
  emulator.write(new Uint8Array(0), sizeAt(recording, to));
}

function sizeAt(recording: Recording, offset: number): { cols: number; rows: number } {
  return recording.marks.findLast((mark) => mark.offset <= offset) ?? recording;
}

describe.each(recordings())("$name", (recording) => {
  const end = recording.bytes.length;
  const step = Math.ceil(end / SNAPSHOTS);

  test("a snapshot at any of 40 places, and what follows, give the screen that all bytes give", () => {
    const final = new Viewer(recording, 0);
    final.play(recording, end);
    const emulator = new Emulator(recording, 0, true);
    const live = new Viewer(recording, 0);
    let largest = 0;
    let fed = 0;
    for (let at = 0; at <= end; at = at === end ? end + 1 : Math.min(end, at + step)) {
      feed(emulator, recording, fed, at);
      fed = at;
      const snapshot = emulator.draw();
      largest = Math.max(largest, snapshot.bytes.length);
      expect(snapshot.isExact).toBe(true);
      expect(at - snapshot.offset).toBeLessThan(4096);
      live.play(recording, snapshot.offset);
      const late = Viewer.of(snapshot);
      expect(late.answers).toEqual([]);
      const kept = late.scrollback;
      if (snapshot.bytes.length < MAX_SNAPSHOT_BYTES - 1_000) expect(kept).toBe(live.scrollback);
      expectSame({ at }, late.state(kept), live.state(kept));
      late.play(recording, end);
      const left = Math.min(late.scrollback, final.scrollback);
      expectSame({ at }, late.state(left), final.state(left));
    }
    expect(largest).toBeLessThanOrEqual(MAX_SNAPSHOT_BYTES);
  });
});
