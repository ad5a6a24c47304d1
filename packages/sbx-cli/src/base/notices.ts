// Our own lines on standard error. Knows no protocol.

import type { Output } from "./output.ts";
import { oneLine } from "./plain-text.ts";

/** Where notices go. `draw` writes to a terminal in raw mode, if it is between sequences. */
export type NoticeTarget =
  | { readonly kind: "stream"; readonly output: Output }
  | { readonly kind: "terminal"; readonly draw: (text: string) => void; readonly isAlternate: () => boolean };

const STDERR = 2;
const BELL = "\x07";

export class Notices {
  readonly #isVerbose: boolean;
  readonly #isQuiet: boolean;
  #target: NoticeTarget;

  /** @param isQuiet Prints only {@link last}. */
  constructor(isVerbose: boolean, target: NoticeTarget, isQuiet = false) {
    this.#isVerbose = isVerbose;
    this.#isQuiet = isQuiet;
    this.#target = target;
  }

  aim(target: NoticeTarget): void {
    this.#target = target;
  }

  say(text: string): void {
    if (!this.#isQuiet) this.#print(text);
  }

  /** The final notice, which says why the run ends. Always printed. */
  last(text: string): void {
    this.#print(text);
  }

  #print(text: string): void {
    const line = `sbx-stdio: ${oneLine(text)}`;
    if (this.#target.kind === "stream") {
      this.#target.output.push(STDERR, Buffer.from(`${line}\n`));
    } else if (this.#target.isAlternate()) {
      // In a full-screen program, borrow the last line and put the cursor back.
      this.#target.draw(`\x1b7\x1b[999;1H\x1b[0;7m${line}\x1b[0m\x1b[K\x1b8`);
    } else this.#target.draw(`\r\n${line}\r\n`);
  }

  /** Only with --verbose. */
  detail(text: string): void {
    if (this.#isVerbose) this.say(text);
  }

  bell(): void {
    if (this.#target.kind === "terminal") this.#target.draw(BELL);
  }
}
