// The rule for one PTY with many emulators around it: which client's size it has.

import type { Mode } from "../wire/terms.ts";
import type { TerminalSize } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { Keyboard } from "./keyboard.ts";

/** Exclusive: the holder's size. Collaborative: the smallest among drivers that gave one. undefined: no client gave one. */
export function fittedSize(clients: Clients, keyboard: Keyboard, mode: Mode): TerminalSize | undefined {
  const holder = clients.get(keyboard.holder);
  let fitted: TerminalSize | undefined;
  for (const client of clients.present()) {
    if (client.role !== "driver" || client.size === undefined) continue;
    if (mode === "exclusive" && client !== holder) continue;
    fitted =
      fitted === undefined
        ? client.size
        : { cols: Math.min(fitted.cols, client.size.cols), rows: Math.min(fitted.rows, client.size.rows) };
  }
  return fitted;
}
