// The terminal's title, while it says who is here: beside what the program calls itself, and given back afterwards.

import { oneLine } from "./plain-text.ts";

/** XTPUSHTITLE and XTPOPTITLE: terminals that don't know them keep the last title. */
const PUSH = "\x1b[22;2t";
const POP = "\x1b[23;2t";

export class TerminalTitle {
  readonly #draw: (text: string) => void;
  readonly #programTitle: () => string;
  #text: string | undefined;
  #isPushed = false;
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
    else if (this.#isPushed) {
      this.#isPushed = false;
      // The title from before, and then the one that the program has made of it since.
      const own = oneLine(this.#programTitle());
      this.#draw(own === "" ? POP : `${POP}\x1b]2;${own}\x07`);
    }
  }

  /** Output was drawn: the program may have changed the title. */
  follow(hasChanged = false): void {
    if (this.#text === undefined) return;
    const own = oneLine(this.#programTitle());
    if (!hasChanged && own === this.#drawn) return;
    this.#drawn = own;
    const push = this.#isPushed ? "" : PUSH;
    this.#isPushed = true;
    this.#draw(`${push}\x1b]2;${oneLine(this.#text)}${own === "" ? "" : ` · ${own}`}\x07`);
  }

  /** The sequence that puts back the title that was found. */
  resetSequence(): string {
    return this.#isPushed ? POP : "";
  }
}
