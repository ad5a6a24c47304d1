// The terminal's title: what the program calls itself, and beside it who is here; given back afterwards.

import { oneLine } from "../base/plain-text.ts";

/** XTPUSHTITLE and XTPOPTITLE: terminals that don't know them keep the last title. */
const PUSH = "\x1b[22;2t";
const POP = "\x1b[23;2t";

export class TerminalTitle {
  readonly #draw: (text: string) => void;
  readonly #programTitle: () => string;
  #text: string | undefined;
  /** Whether the title that was found is kept by the terminal. */
  #isKept = false;
  #drawn = "";

  /** @param draw Puts text on the terminal, if it may be put there now. @param programTitle The program's own title. */
  constructor(draw: (text: string) => void, programTitle: () => string) {
    this.#draw = draw;
    this.#programTitle = programTitle;
  }

  /** @param text undefined: nothing of ours any more. */
  set(text: string | undefined): void {
    this.#text = text;
    if (text !== undefined) this.follow(true);
    else if (this.#isKept) {
      // The title from before, or the one that the program has made of it since.
      const own = oneLine(this.#programTitle());
      if (own === "") this.#isKept = false;
      this.#draw(own === "" ? POP : `\x1b]2;${own}\x07`);
    }
  }

  /** @returns What is to be drawn before the first title. */
  keep(): string {
    if (this.#isKept) return "";
    this.#isKept = true;
    return PUSH;
  }

  /** Output was drawn: the program may have changed the title. */
  follow(hasChanged = false): void {
    if (this.#text === undefined) return;
    const own = oneLine(this.#programTitle());
    if (!hasChanged && own === this.#drawn) return;
    this.#drawn = own;
    this.#draw(`${this.keep()}\x1b]2;${oneLine(this.#text)}${own === "" ? "" : ` · ${own}`}\x07`);
  }

  /** The sequence that puts back the title that was found. */
  resetSequence(): string {
    return this.#isKept ? POP : "";
  }
}
