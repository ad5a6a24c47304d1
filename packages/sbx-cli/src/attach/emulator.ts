// The emulator that follows the local screen. The build puts it into a separate file, which a fast connection never loads.

import { Terminal } from "@xterm/headless";

export type Emulator = Terminal;

/** Echo is only predicted on the screen itself: no scrollback. */
export function makeEmulator(cols: number, rows: number): Emulator {
  return new Terminal({ cols, rows, scrollback: 0, allowProposedApi: true });
}
