// The terminal's title: the program's own, with the participants beside it. Restored at the end.

import { oneLine } from "../base/plain-text.ts";

/** XTPUSHTITLE and XTPOPTITLE: terminals without them keep our last title. */
const PUSH = "\x1b[22;2t";
const POP = "\x1b[23;2t";

export class TerminalTitle {
  readonly #draw: (text: string) => void;
  readonly #programTitle: () => string;
  #text: string | undefined;
  /** Whether the terminal has saved its earlier title. */
  #isKept = false;
  #drawn = "";

  /** @param draw Writes to the terminal if that is possible now. @param programTitle The program's own title. */
  constructor(draw: (text: string) => void, programTitle: () => string) {
    this.#draw = draw;
    this.#programTitle = programTitle;
  }

  /** @param text undefined removes our part. */
  set(text: string | undefined): void {
    this.#text = text;
    if (text !== undefined) this.follow(true);
    else if (this.#isKept) {
      // The earlier title, or the program's newer one.
      const own = oneLine(this.#programTitle());
      if (own === "") this.#isKept = false;
      this.#draw(own === "" ? POP : `\x1b]2;${own}\x07`);
    }
  }

  /** @returns The sequence that saves the earlier title, once. */
  keep(): string {
    if (this.#isKept) return "";
    this.#isKept = true;
    return PUSH;
  }

  /** Redraws our title if the program changed its own. */
  follow(hasChanged = false): void {
    if (this.#text === undefined) return;
    const own = oneLine(this.#programTitle());
    if (!hasChanged && own === this.#drawn) return;
    this.#drawn = own;
    this.#draw(`${this.keep()}\x1b]2;${oneLine(this.#text)}${own === "" ? "" : ` · ${own}`}\x07`);
  }

  /** The sequence that restores the earlier title. */
  resetSequence(): string {
    return this.#isKept ? POP : "";
  }
}
