// Encodes the bytes of a *write* (W1). Bytes travel as Latin-1 text, one character each, since the hop's messages are JSON.

import { fromLatin1 } from "../text/latin1.ts";
import { encodeUtf8 } from "../text/utf8-text.ts";
import type { InputModes, WriteInput } from "../wire/write-messages.ts";
import { USUAL_MODES } from "./input-modes.ts";
import { encodeEnter, encodeKeys, encodePaste } from "./keys.ts";

export type EncodedWrite =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly code: "bad_key" | "bad_paste" | "no_terminal"; readonly message: string };

/** Whether the bytes depend on the terminal's modes. */
export function needsModes({ keys, paste, enter }: WriteInput): boolean {
  return keys !== undefined || paste !== undefined || enter === true;
}

/** @param modes undefined on pipes: keys are refused, a paste is plain text, and Enter is LF. */
export function encodeWrite(input: WriteInput, modes: InputModes | undefined): EncodedWrite {
  const { bytes = "", keys, paste, enter } = input;
  const typed = modes === undefined ? withoutTerminal(keys, paste) : onTerminal(keys, paste, modes);
  if (!typed.ok) return typed;
  const end = enter !== true ? "" : modes === undefined ? "\n" : encodeEnter(modes);
  const text = encodeUtf8(typed.text + end);
  if (bytes === "") return { ok: true, bytes: text };
  const whole = new Uint8Array(bytes.length + text.length);
  whole.set(fromLatin1(bytes));
  whole.set(text, bytes.length);
  return { ok: true, bytes: whole };
}

type Typed = { readonly ok: true; readonly text: string } | Extract<EncodedWrite, { ok: false }>;

function onTerminal(keys: readonly string[] | undefined, paste: string | undefined, modes: InputModes): Typed {
  if (keys !== undefined) return encodeKeys(keys, modes);
  return paste === undefined ? { ok: true, text: "" } : encodePaste(paste, modes);
}

function withoutTerminal(keys: readonly string[] | undefined, paste: string | undefined): Typed {
  if (keys !== undefined) {
    return { ok: false, code: "no_terminal", message: "keys need a terminal: this process has pipes" };
  }
  const checked = encodePaste(paste ?? "", USUAL_MODES);
  return checked.ok ? { ok: true, text: paste ?? "" } : checked;
}
