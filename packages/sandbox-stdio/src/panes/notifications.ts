// Parses a line of tmux's control mode that does not answer a command.

import { decodeUtf8, encodeUtf8 } from "../text/utf8-text.ts";

/** Panes and windows have tmux's ids: `%3`, `@1`. */
export type Notification =
  /** `ageMs`: how long the bytes had waited, if tmux was asked to report it. */
  | { readonly type: "output"; readonly pane: string; readonly bytes: Uint8Array; readonly ageMs?: number }
  | { readonly type: "layout"; readonly window: string; readonly layout: string; readonly visible: string }
  /** Windows or panes have changed or have new names; a new list is needed. */
  | { readonly type: "changed"; readonly what: string }
  /** tmux is now attached to a session. Earlier commands had none. */
  | { readonly type: "attached"; readonly session: string; readonly name: string }
  /** tmux reports no output of this pane until `continue`; the output between is skipped. */
  | { readonly type: "pause" | "continue"; readonly pane: string }
  | { readonly type: "subscription"; readonly name: string; readonly pane: string; readonly value: string }
  | { readonly type: "exit"; readonly reason: string }
  /** Irrelevant, or from a newer tmux. */
  | { readonly type: "other"; readonly name: string };

const CHANGES: ReadonlySet<string> = new Set([
  "%window-add",
  "%unlinked-window-add",
  "%window-close",
  "%window-renamed",
  "%unlinked-window-close",
  "%window-pane-changed",
  "%session-window-changed",
  "%pane-mode-changed",
]);

const OUTPUT = encodeUtf8("%output ");
const EXTENDED_OUTPUT = encodeUtf8("%extended-output ");
const PANE = /^%\d+$/;
const SUBSCRIPTION = /^(\S+) \S+ \S+ \S+ (\S+) : (.*)$/;

/** @returns undefined if the line is not a notification. Output without escapes is a view of the line. */
export function readNotification(line: Uint8Array): Notification | undefined {
  if (isPrefix(OUTPUT, line)) return readOutput(line.subarray(OUTPUT.length));
  if (isPrefix(EXTENDED_OUTPUT, line)) return readExtended(line.subarray(EXTENDED_OUTPUT.length));
  const text = decodeUtf8(line);
  if (!text.startsWith("%")) return undefined;
  const space = text.indexOf(" ");
  const name = space < 0 ? text : text.slice(0, space);
  return readWords(name, space < 0 ? "" : text.slice(space + 1));
}

function readWords(name: string, rest: string): Notification | undefined {
  if (CHANGES.has(name)) return { type: "changed", what: name.slice(1) };
  const [first = "", second = "", third = ""] = rest.split(" ");
  switch (name) {
    case "%layout-change":
      return { type: "layout", window: first, layout: second, visible: third === "" ? second : third };
    case "%session-changed":
      return { type: "attached", session: first, name: rest.slice(first.length + 1) };
    case "%pause":
    case "%continue":
      return PANE.test(first) ? { type: name === "%pause" ? "pause" : "continue", pane: first } : undefined;
    case "%subscription-changed": {
      const [, subscription = "", pane = "", value = ""] = SUBSCRIPTION.exec(rest) ?? [];
      return { type: "subscription", name: subscription, pane, value };
    }
    case "%exit":
      return { type: "exit", reason: rest };
    default:
      return { type: "other", name };
  }
}

const SPACE = 0x20;
const COLON = 0x3a;

function readOutput(rest: Uint8Array): Notification | undefined {
  const space = rest.indexOf(SPACE);
  const pane = space < 0 ? "" : decodeUtf8(rest.subarray(0, space));
  return PANE.test(pane) ? { type: "output", pane, bytes: unescaped(rest.subarray(space + 1)) } : undefined;
}

/** `%3 150 … : BYTES`. A newer tmux may add fields before the colon. */
function readExtended(rest: Uint8Array): Notification | undefined {
  const colon = rest.indexOf(COLON);
  if (colon < 0 || rest[colon + 1] !== SPACE) return undefined;
  const [pane = "", age = ""] = decodeUtf8(rest.subarray(0, colon)).split(" ");
  if (!PANE.test(pane)) return undefined;
  return { type: "output", pane, bytes: unescaped(rest.subarray(colon + 2)), ageMs: Number(age) };
}

const BACKSLASH = 0x5c;

/** Decodes tmux's escapes: bytes below 32 and backslashes, each written as a backslash and three octal digits. */
export function unescaped(bytes: Uint8Array): Uint8Array {
  const first = bytes.indexOf(BACKSLASH);
  if (first < 0) return bytes;
  const plain = new Uint8Array(bytes.length);
  plain.set(bytes.subarray(0, first));
  let length = first;
  // Byte by byte: each line of output has two escapes, and searching and copying for each takes five times as long.
  for (let at = first; at < bytes.length; at++) {
    let byte = bytes[at] ?? 0;
    if (byte === BACKSLASH) {
      const [a, b, c] = [octal(bytes[at + 1]), octal(bytes[at + 2]), octal(bytes[at + 3])];
      if (a < 4 && b < 8 && c < 8) {
        byte = a * 64 + b * 8 + c;
        at += 3;
      }
    }
    plain[length++] = byte;
  }
  return plain.subarray(0, length);
}

/** Returns 8 or more if not an octal digit. */
function octal(byte = 0): number {
  const digit = byte - 0x30;
  return digit < 0 ? 8 : digit;
}

function isPrefix(prefix: Uint8Array, of: Uint8Array): boolean {
  return of.length >= prefix.length && prefix.every((byte, i) => of[i] === byte);
}
