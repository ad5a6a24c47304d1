// Escapes at the start of a line, as in ssh: `~.` detaches, `~I` measures the round trip, `~?` lists the escapes, `~^Z`
// suspends, `~~` sends one tilde. Holds a tilde back until the next key. Pure.

const TILDE = 0x7e;
const LINE_ENDS: ReadonlySet<number> = new Set([0x0d, 0x0a, 0x03, 0x15]);
/** A chunk of pressed keys has at most two bytes; a longer one is text. */
const MAX_PRESSED = 2;
/** A key's release in kitty's protocol, which is between two keys. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is a terminal sequence
const RELEASE = /^\x1b\[[\d:;]*:3[u~A-Z]$/;

export type TildeAction = "detach" | "help" | "round_trip" | "suspend";

export const TILDE_HELP = "~. detach · ~I round trip · ~^Z suspend · ~? help · ~~ send ~ · at the start of a line";

export class TildeReader {
  #isLineStart = true;
  #isHeld = false;

  /** @returns The bytes to send, and the action for this program. */
  read(chunk: Uint8Array): { readonly bytes: Uint8Array; readonly action?: TildeAction } {
    if (RELEASE.test(String.fromCharCode(...chunk.subarray(0, 32)))) return { bytes: chunk };
    const isHeld = this.#isHeld;
    const begins = !isHeld && this.#isLineStart && chunk[0] === TILDE && chunk.length <= MAX_PRESSED;
    if (!isHeld && !begins) return this.#send(chunk);
    const rest = isHeld ? chunk : chunk.subarray(1);
    const key = rest[0];
    this.#isHeld = key === undefined;
    if (key === undefined) return { bytes: rest };
    const action = actionOf(key);
    if (action !== undefined && rest.length === 1) return { bytes: rest.subarray(1), action };
    return this.#send(key === TILDE ? rest : Uint8Array.of(TILDE, ...rest));
  }

  #send(bytes: Uint8Array): { readonly bytes: Uint8Array } {
    const last = bytes.at(-1);
    if (last !== undefined) this.#isLineStart = LINE_ENDS.has(last);
    return { bytes };
  }
}

function actionOf(key: number): TildeAction | undefined {
  if (key === 0x2e) return "detach";
  if (key === 0x3f) return "help";
  if (key === 0x49) return "round_trip";
  return key === 0x1a ? "suspend" : undefined;
}
